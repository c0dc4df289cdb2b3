//! The metadata of a file: everything that is not a tensor.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ModelFileError;
use super::{PROGRAM, VERSION};
use crate::config::Config;
use crate::corpus::Ledger;
use crate::embeddings::{Origin, Quantization};
use crate::phrases::{PhraseMetadata, ReadingMetadata};
use crate::random::Random;
use crate::train::{InitialSource, Totals};
use crate::vocabulary::{Controls, VocabularyTotals};

/// A larger count is damage: no stream has as many words, and smaller counts can be added without overflow.
const MAX_COUNT: u64 = 1 << 60;

/// The counts in the metadata of a training state.
const COUNTS: [&str; 5] = ["batches", "ledger", "phrases", "totals", "vocabulary"];

/// BLAKE3 of each tensor, in hexadecimal.
pub(super) type Checksums = BTreeMap<String, String>;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Metadata {
    pub version: u32,
    /// The program that wrote the file.
    pub program: String,
    pub contents: Contents,
    pub checksums: Checksums,
}

/// What a file is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contents {
    Training(Box<TrainingMetadata>),
    Vectors(VectorsMetadata),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrainingMetadata {
    pub config: Config,
    pub vocabulary: VocabularyTotals,
    pub totals: Totals,
    pub ledger: Ledger,
    /// Words that are pinned, blocked or merged.
    #[serde(default, skip_serializing_if = "Controls::is_empty")]
    pub controls: Controls,
    /// Phrases that were given, and how much text was searched for others.
    #[serde(default, skip_serializing_if = "PhraseMetadata::is_empty")]
    pub phrases: PhraseMetadata,
    /// What other programs keep in the file.
    pub notes: BTreeMap<String, String>,
    /// The file whose vectors words started with.
    pub initial: Option<InitialSource>,
    /// Whether the file has the times when words were seen.
    pub word_times: bool,
    /// Whether it has weights of the sentences that wait for their replay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay_weights: bool,
    /// Whether the rows are in other files, those of the workers of a cluster.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rows_in_shards: bool,
    /// Batches trained (`mini-batch`).
    pub batches: u64,
    /// The state of the random numbers (`incremental`).
    pub random: Option<Random>,
    /// The adaptive table's total weight, and the part of words that left (`incremental`).
    pub noise_totals: Option<[f64; 2]>,
}

/// The metadata of a file with the rows of some blocks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RowsMetadata {
    pub version: u32,
    /// The program that wrote the file.
    pub program: String,
    pub shard: RowsOfBlocks,
    pub checksums: Checksums,
}

/// Which rows a file has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowsOfBlocks {
    pub dimensions: usize,
    /// The number of all blocks.
    pub of_blocks: usize,
    /// The blocks in the file, with their numbers of rows.
    pub rows: BTreeMap<usize, usize>,
}

impl RowsMetadata {
    pub fn new(shard: RowsOfBlocks, checksums: Checksums) -> RowsMetadata {
        RowsMetadata { version: VERSION, program: PROGRAM.to_owned(), shard, checksums }
    }

    pub fn parse(json: &str) -> Result<RowsMetadata, ModelFileError> {
        Metadata::of_this_version(json)?;
        serde_json::from_str(json).map_err(invalid)
    }

    /// The tensors that there must be.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let RowsOfBlocks { dimensions, rows, .. } = &self.shard;
        let tensors = rows.iter().flat_map(|(&block, &rows)| {
            let [target, context, target_squares, context_squares] = row_names(block);
            let matrices = [target, context].map(|name| (name, vec![rows, *dimensions]));
            let lists = [target_squares, context_squares].map(|name| (name, vec![rows]));
            matrices.into_iter().chain(lists)
        });
        tensors.collect()
    }
}

/// The names of the rows of a block, and of AdaGrad's sums.
pub(super) fn row_names(block: usize) -> [String; 4] {
    ["target", "context", "target_squares", "context_squares"].map(|name| format!("block.{block}.{name}"))
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VectorsMetadata {
    /// Where the vectors came from, if that is known.
    pub origin: Option<Origin>,
    /// Whether the counts only keep the order, because the real ones are unknown.
    pub counts_are_places: bool,
    /// Whether the file has recent counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recent_counts: bool,
    /// Whether the file has numbers of documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub document_counts: bool,
    /// How the vectors are stored in fewer bytes, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<Quantization>,
    /// How the model reads text.
    #[serde(flatten)]
    pub reading: ReadingMetadata,
}

impl Metadata {
    pub fn new(contents: Contents, checksums: Checksums) -> Metadata {
        Metadata { version: VERSION, program: PROGRAM.to_owned(), contents, checksums }
    }

    /// Whether this is a vectors file with this quantization.
    pub fn is_vectors(&self, quantization: Option<Quantization>) -> bool {
        matches!(&self.contents, Contents::Vectors(vectors) if vectors.quantization == quantization)
    }

    /// The JSON of a file of this version.
    pub fn of_this_version(json: &str) -> Result<Value, ModelFileError> {
        let value: Value = serde_json::from_str(json).map_err(invalid)?;
        let version = value.get("version").and_then(Value::as_u64).unwrap_or(0) as u32;
        if version != VERSION {
            return Err(ModelFileError::Version { found: version, supported: VERSION });
        }
        Ok(value)
    }

    pub fn parse(json: &str) -> Result<Metadata, ModelFileError> {
        let value = Metadata::of_this_version(json)?;
        if value.get("shard").is_some() {
            return Err(ModelFileError::Shard);
        }
        // A checksum finds damage and not intent: the rest is checked all the same.
        if let Some(training) = value.pointer("/contents/training")
            && let Some((field, value)) = COUNTS.iter().find_map(|name| excess(name, training.get(name)?))
        {
            return Err(ModelFileError::Count { field, value, limit: MAX_COUNT });
        }
        serde_json::from_str(json).map_err(invalid)
    }
}

fn invalid(error: serde_json::Error) -> ModelFileError {
    ModelFileError::Metadata { reason: error.to_string() }
}

/// The first number above the maximum, with its name.
fn excess(name: &str, value: &Value) -> Option<(String, u64)> {
    match value {
        Value::Number(number) => {
            let value = number.as_u64().filter(|&value| value > MAX_COUNT)?;
            Some((name.to_owned(), value))
        }
        Value::Array(items) => items.iter().find_map(|item| excess(name, item)),
        Value::Object(fields) => {
            fields.iter().find_map(|(field, value)| excess(&format!("{name}.{field}"), value))
        }
        _ => None,
    }
}
