//! What the metadata holds, beside the tensors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::VERSION;
use crate::config::Config;
use crate::corpus::Ledger;
use crate::embeddings::Origin;
use crate::random::Random;
use crate::train::{InitialSource, Totals};
use crate::vocabulary::VocabularyTotals;

/// A count above this is damage: nobody sees so many words, and counts below it can be added up without a thought.
const MAX_COUNT: u64 = 1 << 60;

/// What is counted in the metadata of a trainer's state.
const COUNTS: [&str; 5] = ["batches", "ledger", "slots", "totals", "vocabulary"];

/// BLAKE3 of each tensor, in hexadecimal.
pub(super) type Checksums = BTreeMap<String, String>;

/// The metadata of either kind of file.
#[derive(Debug)]
pub(super) enum Metadata {
    Training(Box<TrainingMetadata>),
    Vectors(VectorsMetadata),
}

impl Metadata {
    /// Understands the JSON, or says why not.
    pub fn parse(json: &str) -> Result<Metadata, String> {
        let wrong =
            |error| format!("this is not a skipstream model, or it is damaged: its metadata: {error}");
        let kind: Kind = serde_json::from_str(json).map_err(wrong)?;
        if kind.version != VERSION {
            let version = kind.version;
            return Err(format!("its format is version {version}; this program reads version {VERSION}"));
        }
        match kind.kind {
            Contents::Training => {
                check_counts(&serde_json::from_str(json).map_err(wrong)?)?;
                serde_json::from_str(json).map(Metadata::Training)
            }
            Contents::Vectors => serde_json::from_str(json).map(Metadata::Vectors),
        }
        .map_err(wrong)
    }

    pub fn checksums(&self) -> &Checksums {
        match self {
            Metadata::Training(metadata) => &metadata.checksums,
            Metadata::Vectors(metadata) => &metadata.checksums,
        }
    }
}

/// Refuses metadata with a count that cannot be. No checksum covers them.
fn check_counts(metadata: &Value) -> Result<(), String> {
    match COUNTS.iter().find_map(|name| excess(name, metadata.get(name)?)) {
        Some((name, value)) => Err(format!(
            "the model is damaged: `{name}` is {value}; it must be at most {MAX_COUNT}; go back to a copy of it"
        )),
        None => Ok(()),
    }
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

/// What decides how the rest is to be understood.
#[derive(Deserialize)]
struct Kind {
    version: u32,
    #[serde(default)]
    kind: Contents,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// The whole state of a trainer. The first files do not say so.
    #[default]
    Training,
    /// Words, counts and vectors.
    Vectors,
}

/// The metadata of a trainer's state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrainingMetadata {
    pub version: u32,
    #[serde(default)]
    pub kind: Contents,
    /// The program that wrote the file.
    pub program: String,
    pub config: Config,
    pub vocabulary: VocabularyTotals,
    /// Slots that were ever used.
    pub slots: usize,
    pub totals: Totals,
    pub ledger: Ledger,
    /// What other programs keep in the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Where the vectors came from with which words start.
    #[serde(default)]
    pub initial: Option<InitialSource>,
    /// Batches trained (`mini-batch`).
    pub batches: u64,
    /// The state of the pair-by-pair strategies.
    pub random: Option<Random>,
    /// The adaptive table's total weight, and the dead part of it.
    pub noise_totals: Option<[f64; 2]>,
    pub checksums: Checksums,
}

/// The metadata of vectors.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VectorsMetadata {
    pub version: u32,
    pub kind: Contents,
    /// The program that wrote the file.
    pub program: String,
    /// Where the vectors came from, if that is known.
    pub origin: Option<Origin>,
    /// Whether the counts only keep the order, because nobody knows how often words were seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_are_places: bool,
    pub checksums: Checksums,
}
