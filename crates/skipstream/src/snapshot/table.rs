//! Every tensor of a file: name, type, shape, owner and condition. Reading, writing and the documentation follow it.

use std::fmt;

use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};

use super::HEADER_CHECKSUM;
use super::error::ModelFileError;
use super::metadata::{Contents, Metadata, TrainingMetadata};
use crate::config::{AdaGrad, Strategy};
use crate::embeddings::Quantization;

/// What a file can have under one name.
pub(super) struct TensorSpec {
    pub name: &'static str,
    pub dtype: Dtype,
    pub shape: &'static [Dim],
    pub when: When,
    /// The module whose state it is.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documentation, which a test compares"))]
    pub owner: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documentation, which a test compares"))]
    pub meaning: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum Dim {
    /// The number of words, n.
    Words,
    /// The length of a vector, d.
    Dimensions,
    /// The number of initial vectors, v.
    Initial,
    /// Any number.
    Any,
    Exactly(usize),
}

/// The files that have a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Vectors in full precision.
    Vectors,
    Quantized(Quantization),
    Training,
    /// With AdaGrad rates of this kind.
    Rates(AdaGrad),
    MiniBatch,
    /// With weights of sentences that wait for their replay.
    ReplayWeights,
    /// With the adaptive unigram table.
    NoiseTable,
    /// With vectors that words start with.
    Initial,
    /// With the times when words were seen.
    WordTimes,
    /// With a half-life.
    HalfLife,
    /// Of a model with a half-life, vectors included.
    RecentCounts,
    /// Of a model of text with documents, vectors included.
    DocumentCounts,
    /// With phrases that are found in the text.
    Phrases,
    /// Of a state whose rows are not in other files.
    Rows,
}

use Dim::{Any, Dimensions, Exactly, Initial, Words};

const fn row(
    name: &'static str,
    dtype: Dtype,
    shape: &'static [Dim],
    when: When,
    owner: &'static str,
    meaning: &'static str,
) -> TensorSpec {
    TensorSpec { name, dtype, shape, when, owner, meaning }
}

#[rustfmt::skip]
pub(super) const TENSORS: [TensorSpec; 39] = [
    row("words", Dtype::U8, &[Any], When::Always, "vocabulary", "the words in UTF-8, without separators"),
    row("word_ends", Dtype::U64, &[Words], When::Always, "vocabulary", "where each word ends in `words`"),
    row("counts", Dtype::U64, &[Words], When::Always, "vocabulary", "occurrences since the word was admitted"),
    row("recent_counts", Dtype::U64, &[Words], When::RecentCounts, "vocabulary", "the same, where older occurrences count less"),
    row("document_counts", Dtype::U64, &[Words], When::DocumentCounts, "vocabulary", "the number of documents with the word since it was admitted"),
    row("vectors", Dtype::F32, &[Words, Dimensions], When::Vectors, "embeddings", "the vectors"),
    row("vectors", Dtype::F16, &[Words, Dimensions], When::Quantized(Quantization::F16), "embeddings", "the vectors, in half precision"),
    row("vectors", Dtype::I8, &[Words, Dimensions], When::Quantized(Quantization::Int8), "embeddings", "the vectors, each divided by its scale"),
    row("scales", Dtype::F32, &[Words], When::Quantized(Quantization::Int8), "embeddings", "the scale of each vector"),
    row("target", Dtype::F32, &[Words, Dimensions], When::Rows, "parameters", "target vectors"),
    row("context", Dtype::F32, &[Words, Dimensions], When::Rows, "parameters", "context vectors"),
    row("target_squares", Dtype::F32, &[Words], When::Rates(AdaGrad::Row), "parameters", "AdaGrad's sums, one per row"),
    row("context_squares", Dtype::F32, &[Words], When::Rates(AdaGrad::Row), "parameters", "AdaGrad's sums, one per row"),
    row("target_squares", Dtype::F32, &[Words, Dimensions], When::Rates(AdaGrad::Dimension), "parameters", "AdaGrad's sums, one per value"),
    row("context_squares", Dtype::F32, &[Words, Dimensions], When::Rates(AdaGrad::Dimension), "parameters", "AdaGrad's sums, one per value"),
    row("slots", Dtype::U32, &[Words], When::Training, "vocabulary", "the id of each word"),
    row("counters", Dtype::U64, &[Words], When::Training, "vocabulary", "Misra–Gries counters; with a half-life, sums of weights"),
    row("first_tokens", Dtype::U64, &[Words], When::Training, "vocabulary", "the number of the token that admitted the word"),
    row("last_tokens", Dtype::U64, &[Words], When::Training, "vocabulary", "the number of the word's last token"),
    row("frequencies", Dtype::U64, &[Words], When::HalfLife, "vocabulary", "the weights of its occurrences, with more digits than `recent_counts`"),
    row("word_times", Dtype::I64, &[Words, Exactly(2)], When::WordTimes, "vocabulary", "when the word was first and last seen, in microseconds since 1970"),
    row("replay_words", Dtype::U32, &[Any], When::MiniBatch, "train", "ids of the tokens that wait for their replay; 2³² − 1 for none"),
    row("replay_ends", Dtype::U32, &[Any], When::MiniBatch, "train", "where sentences end within their segment"),
    row("replay_segments", Dtype::U64, &[Any, Exactly(4)], When::MiniBatch, "train", "first token, tokens, sentences, replays that remain"),
    row("replay_clocks", Dtype::U64, &[Any], When::HalfLife, "train", "the clock at the start of each segment's batch: words, or a time plus 2⁵⁹ microseconds"),
    row("replay_weights", Dtype::F32, &[Any], When::ReplayWeights, "train", "the weights of these sentences"),
    row("phrase_parts", Dtype::U8, &[Any], When::Phrases, "phrases", "words and phrases that are counted before they are joined, in UTF-8"),
    row("phrase_part_ends", Dtype::U64, &[Any], When::Phrases, "phrases", "where each of them ends"),
    row("phrase_part_counts", Dtype::U64, &[Any, Exactly(4)], When::Phrases, "phrases", "their counters, counts, first and last tokens"),
    row("phrase_pairs", Dtype::U32, &[Any, Exactly(3)], When::Phrases, "phrases", "pairs: left part, right part, what is between them"),
    row("phrase_pair_counts", Dtype::U64, &[Any, Exactly(3)], When::Phrases, "phrases", "their counters and counts, and the parts counted before them"),
    row("phrases", Dtype::U64, &[Any, Exactly(2)], When::Phrases, "phrases", "the pairs that are phrases, and the words before they were found"),
    row("noise_slots", Dtype::U32, &[Any, Exactly(2)], When::NoiseTable, "noise", "the adaptive table: id, generation"),
    row("noise_generations", Dtype::U32, &[Any], When::NoiseTable, "noise", "the generation of each id"),
    row("initial_words", Dtype::U8, &[Any], When::Initial, "train", "the words that start with a given vector"),
    row("initial_word_ends", Dtype::U64, &[Initial], When::Initial, "train", "where each of them ends"),
    row("initial_counts", Dtype::U64, &[Initial], When::Initial, "train", "their counts"),
    row("initial", Dtype::F32, &[Initial, Dimensions], When::Initial, "train", "their vectors"),
    row(HEADER_CHECKSUM, Dtype::U8, &[Exactly(blake3::OUT_LEN)], When::Always, "snapshot", "BLAKE3 of everything before the tensors; the last bytes of the file"),
];

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub words: usize,
    pub dimensions: usize,
    initial: usize,
}

/// Compares the header of a file with the table, so that readers need not check again.
pub(super) fn check(header: &Header, metadata: &Metadata) -> Result<Sizes, ModelFileError> {
    let size = |name, axis: usize| header.info(name).and_then(|info| info.shape.get(axis)).copied();
    let sizes = Sizes {
        words: size("word_ends", 0).unwrap_or(0),
        dimensions: match &metadata.contents {
            Contents::Training(training) => training.config.dimensions,
            Contents::Vectors(_) => size("vectors", 1).unwrap_or(0).max(1),
        },
        initial: size("initial_word_ends", 0).unwrap_or(0),
    };
    let expected = || TENSORS.iter().filter(|spec| spec.when.holds(metadata));
    for spec in expected() {
        let info = header.info(spec.name).ok_or(ModelFileError::Missing { tensor: spec.name })?;
        spec.check(info, sizes)?;
    }
    match header.tensors().into_keys().find(|name| !expected().any(|spec| spec.name == name)) {
        Some(tensor) => Err(ModelFileError::Unexpected { tensor }),
        None => Ok(sizes),
    }
}

impl TensorSpec {
    fn check(&self, info: &TensorInfo, sizes: Sizes) -> Result<(), ModelFileError> {
        let fits = |(&dim, &size): (&Dim, &usize)| dim.size(sizes).is_none_or(|expected| expected == size);
        let is_right = info.dtype == self.dtype
            && info.shape.len() == self.shape.len()
            && self.shape.iter().zip(&info.shape).all(fits);
        if is_right {
            return Ok(());
        }
        let shape: Vec<String> = self
            .shape
            .iter()
            .map(|dim| dim.size(sizes).map_or_else(|| dim.to_string(), |size| size.to_string()))
            .collect();
        Err(ModelFileError::Shape {
            tensor: self.name,
            found: format!("{:?} {:?}", info.dtype, info.shape),
            expected: format!("{:?} [{}]", self.dtype, shape.join(", ")),
        })
    }
}

impl Dim {
    fn size(self, sizes: Sizes) -> Option<usize> {
        match self {
            Words => Some(sizes.words),
            Dimensions => Some(sizes.dimensions),
            Initial => Some(sizes.initial),
            Exactly(size) => Some(size),
            Any => None,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Words => f.write_str("n"),
            Dimensions => f.write_str("d"),
            Initial => f.write_str("v"),
            Any => f.write_str("…"),
            Exactly(size) => write!(f, "{size}"),
        }
    }
}

impl When {
    fn holds(self, metadata: &Metadata) -> bool {
        let training = match &metadata.contents {
            Contents::Training(training) => Some(&**training),
            Contents::Vectors(_) => None,
        };
        let in_training = |holds: fn(&TrainingMetadata) -> bool| training.is_some_and(holds);
        match self {
            When::Always => true,
            When::Vectors => metadata.is_vectors(None),
            When::Quantized(quantization) => metadata.is_vectors(Some(quantization)),
            When::Training => training.is_some(),
            When::Rows => in_training(|training| !training.rows_in_shards),
            When::Rates(kind) => {
                let has_rows = |training: &&TrainingMetadata| !training.rows_in_shards;
                training
                    .filter(has_rows)
                    .is_some_and(|training| training.config.strategy.adagrad() == Some(kind))
            }
            When::MiniBatch => {
                in_training(|training| matches!(training.config.strategy, Strategy::MiniBatch(_)))
            }
            When::ReplayWeights => in_training(|training| training.replay_weights),
            When::NoiseTable => {
                in_training(|training| matches!(training.config.strategy, Strategy::Incremental(_)))
            }
            When::Initial => in_training(|training| training.initial.is_some()),
            When::WordTimes => in_training(|training| training.word_times),
            When::HalfLife => in_training(|training| training.config.half_life().is_some()),
            When::RecentCounts => match &metadata.contents {
                Contents::Training(training) => training.config.half_life().is_some(),
                Contents::Vectors(vectors) => vectors.recent_counts,
            },
            When::DocumentCounts => match &metadata.contents {
                Contents::Training(training) => training.vocabulary.document.is_some(),
                Contents::Vectors(vectors) => vectors.document_counts,
            },
            When::Phrases => in_training(|training| training.config.phrases.settings().is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition, for the documentation.
    fn condition(when: When) -> &'static str {
        match when {
            When::Always => "always",
            When::Vectors => "vectors file",
            When::Quantized(Quantization::F16) => "vectors file, `f16`",
            When::Quantized(Quantization::Int8) => "vectors file, `int8`",
            When::Training | When::Rows => "model file",
            When::Rates(AdaGrad::Row) => "model file, rates by row",
            When::Rates(AdaGrad::Dimension) => "model file, rates by dimension",
            When::MiniBatch => "model file, `mini-batch`",
            When::ReplayWeights => "model file, sentences with weights",
            When::NoiseTable => "model file, `incremental`",
            When::Initial => "model file, started from vectors",
            When::WordTimes => "model file, text with times",
            When::HalfLife => "model file, with a half-life",
            When::RecentCounts => "with a half-life",
            When::DocumentCounts => "text with documents",
            When::Phrases => "model file, with `phrases`",
        }
    }

    #[test]
    fn the_documentation_lists_every_tensor() {
        let mut table =
            "//! | tensor | type | shape | file | owner | meaning |\n//! |---|---|---|---|---|---|\n"
                .to_owned();
        for spec in &TENSORS {
            let shape: Vec<String> = spec.shape.iter().map(Dim::to_string).collect();
            table += &format!(
                "//! | `{}` | {} | {} | {} | `{}` | {} |\n",
                spec.name,
                format!("{:?}", spec.dtype).to_lowercase(),
                shape.join(" × "),
                condition(spec.when),
                spec.owner,
                spec.meaning
            );
        }
        assert!(include_str!("mod.rs").contains(&table), "paste into snapshot/mod.rs:\n{table}");
    }
}
