//! What a model's file holds, told without loading it: memory does not grow with the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use serde::Serialize;

use super::file::{ModelFile, slices};
use super::metadata::{Contents, Metadata, TrainingMetadata};
use crate::config::{Config, Strategy};
use crate::corpus::Ledger;
use crate::embeddings::Origin;
use crate::error::{Error, Result};
use crate::train::InitialSource;
use crate::vocabulary::VocabularyTotals;

/// What a model's file holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub file_bytes: u64,
    /// What it is for.
    pub contents: Contents,
    /// The version of its format.
    pub version: u32,
    /// The program that wrote it.
    pub program: String,
    /// Where vectors to read were taken from, if that is known.
    pub origin: Option<Origin>,
    /// The number of words.
    pub words: usize,
    /// The length of a vector.
    pub dimensions: usize,
    /// What only a model that can be trained has.
    pub training: Option<Training>,
    /// How long the vectors are, of each matrix.
    pub norms: Vec<Norms>,
    /// Every tensor, in the order of the file.
    pub tensors: Vec<TensorReport>,
    /// What is wrong with the file; nothing if it is whole.
    pub problems: Vec<String>,
}

/// The state of a training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Training {
    /// Every setting but the threads.
    pub settings: Config,
    /// The file whose vectors words started with, if there was one.
    pub initial: Option<InitialSource>,
    /// Tokens, evictions and cancellations.
    pub vocabulary: VocabularyTotals,
    /// Pairs of a center and a context that were trained.
    pub pairs: u64,
    /// The mean loss of all pairs so far.
    pub mean_loss: f64,
    /// Batches trained (`mini-batch`).
    pub batches: u64,
    /// Tokens of old text that were trained again.
    pub replayed: u64,
    /// Tokens of old text that wait to be trained again.
    pub waiting: usize,
    /// Where negatives come from.
    pub noise: Noise,
    /// What was learned of which file, and of pipes.
    pub ledger: Ledger,
    /// What other programs keep in the file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// Where negatives come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Noise {
    /// The counts, taken anew for each batch.
    Counts,
    /// The paper's adaptive table, which follows every word.
    AdaptiveTable {
        /// Slots that are filled.
        filled: usize,
        /// Slots at the most.
        table_size: usize,
        /// The weight of all words that were ever put in: Σ count ^ `noise_exponent`.
        weight: f64,
        /// The part of it whose words have left.
        dead_weight: f64,
    },
}

/// How long the vectors of a matrix are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Norms {
    /// The name of the matrix.
    pub tensor: String,
    /// The shortest.
    pub min: f64,
    /// Half of them are shorter.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// The means of words of about the same frequency, the most frequent first.
    pub by_rank: Vec<Band>,
}

/// Words of about the same frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The rank of the most frequent one, from 1.
    pub first: usize,
    /// The rank of the rarest one.
    pub last: usize,
    /// The mean length of their vectors.
    pub mean: f64,
}

/// A tensor of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorReport {
    /// Its name.
    pub name: String,
    /// The type of its values, as safetensors calls it.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its size.
    pub bytes: u64,
    /// Whether its bytes are those that were written.
    pub checksum: Checksum,
}

/// Whether a tensor's bytes are those that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// They are.
    Verified,
    /// They are not.
    Wrong,
    /// The file does not say.
    Missing,
}

/// A word of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordEntry {
    /// The word.
    pub word: String,
    /// Its occurrences since it was admitted, if they are known.
    pub count: Option<u64>,
    /// Misra–Gries' counter, which decides who stays; nothing in a file of vectors.
    pub counter: Option<u64>,
}

/// What a model's file holds, by its header alone.
pub fn contents(path: impl AsRef<Path>) -> Result<Contents> {
    Ok(match ModelFile::open(path.as_ref())?.1 {
        Metadata::Training(_) => Contents::Training,
        Metadata::Vectors(_) => Contents::Vectors,
    })
}

/// What other programs keep in a model's file ([`Trainer::notes`](crate::Trainer::notes)), by its header alone; nothing in a
/// file of vectors.
pub fn notes(path: impl AsRef<Path>) -> Result<BTreeMap<String, String>> {
    Ok(match ModelFile::open(path.as_ref())?.1 {
        Metadata::Training(metadata) => metadata.notes,
        Metadata::Vectors(_) => BTreeMap::new(),
    })
}

/// Reads a model's file of either kind, verifies all its checksums, and says what is in it.
///
/// Damaged tensors are [problems](Inspection::problems) and not errors, so that the rest can be seen. It is an error if the
/// file is no model, or not as long as its header says.
///
/// ```
/// # use skipstream::{Config, Trainer};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// Trainer::new(Config::default())?.save(&path)?;
/// let inspection = skipstream::snapshot::inspect(&path)?;
/// assert!(inspection.problems.is_empty());
/// assert_eq!(inspection.dimensions, 100);
/// # Ok::<(), skipstream::Error>(())
/// ```
pub fn inspect(path: impl AsRef<Path>) -> Result<Inspection> {
    let path = path.as_ref();
    let (mut file, metadata) = ModelFile::open(path)?;
    let mut problems = Vec::new();
    let mut norms = Vec::new();
    let mut tensors = Vec::new();
    for name in file.names() {
        let report = file.report(&name, &mut norms)?;
        match report.checksum {
            Checksum::Verified => {}
            Checksum::Wrong => problems.push(format!("the checksum of `{name}` is wrong")),
            Checksum::Missing => problems.push(format!("`{name}` has no checksum")),
        }
        tensors.push(report);
    }
    let matrix = ["target", "vectors"].iter().find_map(|name| file.shape(name));
    let (words, dimensions) = match matrix {
        Some([words, dimensions]) => (*words, *dimensions),
        _ => {
            problems.push("the matrix of vectors is missing, or is none".to_owned());
            (0, 0)
        }
    };
    let (version, contents, program) = match &metadata {
        Metadata::Training(metadata) => (metadata.version, metadata.kind, metadata.program.clone()),
        Metadata::Vectors(metadata) => (metadata.version, metadata.kind, metadata.program.clone()),
    };
    let (training, origin) = match metadata {
        Metadata::Training(metadata) => (Some(Training::new(*metadata, &file)), None),
        Metadata::Vectors(metadata) => (None, metadata.origin),
    };
    Ok(Inspection {
        path: path.to_owned(),
        file_bytes: std::fs::metadata(path).map_err(Error::io(path))?.len(),
        contents,
        version,
        program,
        origin,
        words,
        dimensions,
        training,
        norms,
        tensors,
        problems,
    })
}

/// The words of a model of either kind, the most frequent first and equal counts by word.
pub fn words(path: impl AsRef<Path>) -> Result<Vec<WordEntry>> {
    let (mut file, metadata) = ModelFile::open(path.as_ref())?;
    let (text, ends) = file.words()?;
    let counts: Vec<u64> = file.tensor("counts", Dtype::U64)?;
    file.expect_length("counts", counts.len(), ends.len())?;
    let (counters, has_counts): (Option<Vec<u64>>, bool) = match metadata {
        Metadata::Training(_) => (Some(file.tensor("counters", Dtype::U64)?), true),
        Metadata::Vectors(metadata) => (None, !metadata.counts_are_places),
    };
    if let Some(counters) = &counters {
        file.expect_length("counters", counters.len(), ends.len())?;
    }
    let entry = |(row, word): (usize, &str)| WordEntry {
        word: word.to_owned(),
        count: has_counts.then_some(counts[row]),
        counter: counters.as_ref().map(|counters| counters[row]),
    };
    let mut words: Vec<WordEntry> = slices(&text, &ends).enumerate().map(entry).collect();
    // The first versions wrote rows in another order, and always had counts.
    if has_counts {
        words.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.word.cmp(&right.word)));
    }
    Ok(words)
}

impl Training {
    fn new(metadata: TrainingMetadata, file: &ModelFile) -> Training {
        let length = |name: &str| file.shape(name).and_then(|shape| shape.first().copied()).unwrap_or(0);
        let noise = match metadata.config.strategy {
            Strategy::MiniBatch(_) | Strategy::Batch(_) | Strategy::Word2vec(_) => Noise::Counts,
            Strategy::Incremental(options) => {
                let [weight, dead_weight] = metadata.noise_totals.unwrap_or_default();
                Noise::AdaptiveTable {
                    filled: length("noise_slots"),
                    table_size: options.table_size,
                    weight,
                    dead_weight,
                }
            }
        };
        Training {
            initial: metadata.initial,
            vocabulary: metadata.vocabulary,
            pairs: metadata.totals.pairs,
            mean_loss: metadata.totals.mean_loss(),
            batches: metadata.batches,
            replayed: metadata.totals.replayed,
            waiting: length("replay_words"),
            noise,
            ledger: metadata.ledger,
            notes: metadata.notes,
            settings: metadata.config,
        }
    }
}

impl ModelFile {
    /// Reads a tensor once, for its checksum and, of a matrix of vectors, the norms.
    fn report(&mut self, name: &str, norms: &mut Vec<Norms>) -> Result<TensorReport> {
        let (dtype, shape) = self.kind(name);
        let mut hasher = blake3::Hasher::new();
        let mut row_norms = Vec::new();
        let bytes = match (name, &shape[..]) {
            // Without rows a shape may claim any number of dimensions, as the file need not have room for one.
            ("target" | "context" | "vectors", &[rows, dimensions])
                if dtype == Dtype::F32 && rows > 0 && dimensions > 0 =>
            {
                let row_bytes = dimensions * size_of::<f32>();
                let bytes = self.pieces(name, row_bytes, |piece| {
                    hasher.update(piece);
                    row_norms.extend(piece.chunks_exact(row_bytes).map(norm));
                })?;
                norms.extend(Norms::new(name, row_norms));
                bytes
            }
            _ => self.pieces(name, 1, |piece| {
                hasher.update(piece);
            })?,
        };
        let found = hasher.finalize().to_hex();
        let checksum = match self.checksum(name) {
            Some(expected) if expected == found.as_str() => Checksum::Verified,
            Some(_) => Checksum::Wrong,
            None => Checksum::Missing,
        };
        Ok(TensorReport { name: name.to_owned(), dtype: format!("{dtype:?}"), shape, bytes, checksum })
    }
}

/// The length of a vector that is given by its bytes.
fn norm(row: &[u8]) -> f64 {
    let values = row.as_chunks::<4>().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
    values.map(|value| value * value).sum::<f64>().sqrt()
}

impl Norms {
    /// Of a matrix with its rows in the order of frequency; nothing of no rows.
    fn new(tensor: &str, mut norms: Vec<f64>) -> Option<Norms> {
        let mean = |norms: &[f64]| norms.iter().sum::<f64>() / norms.len() as f64;
        let mut by_rank = Vec::new();
        let mut first = 0;
        // The first ten words, up to the hundredth, up to the thousandth.
        for last in (1..).map(|digits| norms.len().min(10usize.saturating_pow(digits))) {
            if first == norms.len() {
                break;
            }
            by_rank.push(Band { first: first + 1, last, mean: mean(&norms[first..last]) });
            first = last;
        }
        let all = mean(&norms);
        norms.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*norms.first()?, *norms.last()?);
        let middle = norms.len() / 2;
        let median =
            if norms.len() % 2 == 1 { norms[middle] } else { (norms[middle - 1] + norms[middle]) / 2.0 };
        Some(Norms { tensor: tensor.to_owned(), min, median, mean: all, max, by_rank })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Lines;
    use crate::{Embeddings, Trainer};

    fn train(path: &Path, strategy: Strategy) {
        let config = Config { dimensions: 5, subsample: 0.0, strategy, ..Config::default() };
        let text = &b"to be or not to be that is the question\n"[..];
        let mut lines = Lines::new(text, "text", &config.text).unwrap();
        let mut trainer = Trainer::new(config).unwrap();
        trainer.train(&mut lines, &mut ()).unwrap();
        trainer.save(path).unwrap();
    }

    fn model(strategy: Strategy) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        train(&path, strategy);
        (folder, path)
    }

    #[test]
    fn a_model_s_state_is_told() {
        let (_folder, path) = model(Strategy::mini_batch());
        let found = inspect(&path).unwrap();
        assert_eq!((found.words, found.dimensions, found.contents), (8, 5, Contents::Training));
        assert_eq!(found.file_bytes, std::fs::metadata(&path).unwrap().len());
        let training = found.training.unwrap();
        assert_eq!((training.vocabulary.tokens, training.waiting, training.batches), (10, 10, 1));
        assert_eq!(training.noise, Noise::Counts);
        assert!(training.mean_loss > 0.0 && training.pairs > 0);
        assert!(found.problems.is_empty());
        assert!(found.tensors.iter().all(|tensor| tensor.checksum == Checksum::Verified));
        let names: Vec<&str> = found.norms.iter().map(|norms| norms.tensor.as_str()).collect();
        assert_eq!(names, ["context", "target"]);
        let bytes: u64 = found.tensors.iter().map(|tensor| tensor.bytes).sum();
        assert!(bytes < found.file_bytes);
    }

    #[test]
    fn an_adaptive_table_has_a_fill() {
        let (_folder, path) = model(Strategy::incremental());
        let training = inspect(&path).unwrap().training.unwrap();
        let Noise::AdaptiveTable { filled, table_size, weight, dead_weight } = training.noise else {
            panic!("{training:?}");
        };
        assert_eq!((table_size, dead_weight), (1_000_000, 0.0));
        assert!((1..=20).contains(&filled), "{filled}");
        // Six words once, two twice.
        assert!((weight - (6.0 + 2.0 * 2f64.powf(0.75))).abs() < 1e-9, "{weight}");
    }

    #[test]
    fn norms_are_those_of_the_rows_by_rank() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let words = (0..12u64).map(|row| (row.to_string(), 100 - row));
        let vectors = (0..12).flat_map(|row| [3.0 * row as f32, 4.0 * row as f32]).collect();
        Embeddings::new(2, words, vectors).unwrap().save(&path).unwrap();
        let found = inspect(&path).unwrap();
        assert_eq!((found.contents, found.training.is_none()), (Contents::Vectors, true));
        let norms = &found.norms[0];
        assert_eq!((norms.min, norms.median, norms.mean, norms.max), (0.0, 27.5, 27.5, 55.0));
        let bands: Vec<_> = norms.by_rank.iter().map(|band| (band.first, band.last, band.mean)).collect();
        assert_eq!(bands, [(1, 10, 22.5), (11, 12, 52.5)]);
    }

    #[test]
    fn a_damaged_tensor_is_a_problem_and_the_rest_is_told() {
        let (_folder, path) = model(Strategy::mini_batch());
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(4).rposition(|window| window == b"ques").unwrap();
        bytes[at] = b'Q';
        std::fs::write(&path, bytes).unwrap();
        let found = inspect(&path).unwrap();
        assert_eq!(found.problems, ["the checksum of `words` is wrong"]);
        assert_eq!(found.words, 8);
        assert!(words(&path).unwrap_err().to_string().contains("the checksum of `words` is wrong"));
    }

    #[test]
    fn what_is_no_model_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "to be or not to be").unwrap();
        assert!(inspect(&path).unwrap_err().to_string().contains("not a skipstream model"));
        assert!(inspect(folder.path().join("none")).is_err());
    }

    #[test]
    fn words_have_counts_and_counters() {
        let (_folder, path) = model(Strategy::mini_batch());
        let found = words(&path).unwrap();
        let entry = |word: &str, n| WordEntry { word: word.to_owned(), count: Some(n), counter: Some(n) };
        assert_eq!(found[..3], [entry("be", 2), entry("to", 2), entry("is", 1)]);
        assert_eq!(found.len(), 8);
    }

    #[test]
    fn dimensions_of_no_rows_are_not_multiplied() {
        let (_folder, path) = model(Strategy::mini_batch());
        let trained = std::fs::read(&path).unwrap();
        let length = u64::from_le_bytes(trained[..8].try_into().unwrap()) as usize;
        let mut header: serde_json::Value = serde_json::from_slice(&trained[8..8 + length]).unwrap();
        let no_rows = serde_json::json!({ "dtype": "F32", "shape": [0, 1u64 << 62], "data_offsets": [0, 0] });
        header["vectors"] = no_rows;
        let header = header.to_string();
        let bytes =
            [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &trained[8 + length..]].concat();
        std::fs::write(&path, bytes).unwrap();
        let found = inspect(&path).unwrap();
        let vectors = found.tensors.iter().find(|tensor| tensor.name == "vectors").unwrap();
        assert_eq!((vectors.bytes, &vectors.shape[..]), (0, &[0, 1 << 62][..]));
        assert_eq!(found.problems, ["`vectors` has no checksum"]);
    }

    #[test]
    fn an_empty_model_has_no_norms() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        Trainer::new(Config::default()).unwrap().save(&path).unwrap();
        let found = inspect(&path).unwrap();
        assert_eq!((found.words, found.dimensions), (0, 100));
        assert!(found.norms.is_empty() && found.problems.is_empty());
        assert!(words(&path).unwrap().is_empty());
    }
}
