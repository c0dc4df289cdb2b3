//! What a model file contains, without loading it: memory does not grow with the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use serde::Serialize;

use super::HEADER_CHECKSUM;
use super::file::{ModelFile, slices};
use super::metadata::{Contents, Metadata, TrainingMetadata};
use super::norms::{Norms, floats, norm};
use super::vectors::VECTORS;
use crate::config::{Config, Strategy};
use crate::corpus::Ledger;
use crate::embeddings::{Origin, Quantization};
use crate::error::{Error, Result};
use crate::train::InitialSource;
use crate::vocabulary::{Controls, VocabularyTotals};

const PIECE_BYTES: usize = 1 << 20;

/// What a model file contains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub file_bytes: u64,
    /// The kind of file.
    pub contents: FileKind,
    /// The version of its format.
    pub version: u32,
    /// The program that wrote it.
    pub program: String,
    /// Where the vectors of a vectors file came from, if that is known.
    pub origin: Option<Origin>,
    /// The number of words.
    pub words: usize,
    /// The length of a vector.
    pub dimensions: usize,
    /// How the vectors are stored in fewer bytes, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantization: Option<Quantization>,
    /// The training state; nothing in a vectors file.
    pub training: Option<TrainingState>,
    /// The lengths of the vectors, for each matrix.
    pub norms: Vec<Norms>,
    /// Every tensor, in the order of the file.
    pub tensors: Vec<TensorReport>,
    /// The defects of the file; empty if it is intact.
    pub problems: Vec<String>,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A model file: the whole state of a trainer.
    Training,
    /// A vectors file: words, counts and vectors.
    Vectors,
}

/// A training state.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrainingState {
    /// Every setting except the number of threads.
    pub settings: Config,
    /// The file whose vectors words started with, if there was one.
    pub initial: Option<InitialSource>,
    /// Tokens, evictions and cancellations.
    pub vocabulary: VocabularyTotals,
    /// Pairs trained.
    pub pairs: u64,
    /// The mean loss of all pairs so far.
    pub mean_loss: f64,
    /// Batches trained (`mini-batch`).
    pub batches: u64,
    /// Tokens that were trained again.
    pub replayed: u64,
    /// Tokens that wait to be trained again, each counted once per training, as [`Trainer::waiting`](crate::Trainer::waiting)
    /// counts them; `None` if that part of the file is damaged.
    pub waiting: Option<usize>,
    /// Where negatives come from.
    pub noise: Noise,
    /// The sources that were learned.
    pub ledger: Ledger,
    /// Number of phrases, found and given, if the model has any or looks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phrases: Option<usize>,
    /// Words that are pinned, blocked or merged.
    #[serde(skip_serializing_if = "Controls::is_empty")]
    pub controls: Controls,
    /// What other programs keep in the file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// Where negatives come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Noise {
    /// The counts at the start of each batch.
    Counts,
    /// The paper's adaptive unigram table, which follows every word.
    AdaptiveTable {
        /// Slots in use.
        filled: usize,
        /// The maximum number of slots.
        table_size: usize,
        /// The weight of all words that were ever added: Σ count ^ `noise_exponent`.
        weight: f64,
        /// The weight of words that have left.
        dead_weight: f64,
    },
}

/// A tensor of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TensorReport {
    /// Its name.
    pub name: String,
    /// The type of its values, as safetensors calls it.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its size.
    pub bytes: u64,
    /// Whether its bytes have the checksum of the metadata.
    pub checksum: Checksum,
}

/// The result of comparing a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// The bytes are those that were written.
    Verified,
    /// The bytes are not those that were written, or no checksum was written.
    Wrong,
}

/// A word of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WordEntry {
    /// The word.
    pub word: String,
    /// Occurrences since it was admitted, if they are known.
    pub count: Option<u64>,
    /// The Misra–Gries counter, which decides which words stay; nothing in a vectors file. With a half-life, it is in
    /// tokens of now.
    pub counter: Option<u64>,
    /// With a half-life, the count where older occurrences count less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_count: Option<u64>,
}

/// The kind of a model file, from its header alone.
pub fn kind(path: impl AsRef<Path>) -> Result<FileKind> {
    Ok(ModelFile::open(path.as_ref())?.1.kind())
}

/// Reads a model file or vectors file, verifies all checksums, and reports what it contains.
///
/// A wrong checksum is a [problem](Inspection::problems) and not an error, so that the rest can be seen. It is an error if
/// the file is not a model file or does not have the tensors that it must have.
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
    let (mut norms, mut tensors) = (Vec::new(), Vec::new());
    for name in file.names() {
        let (report, row_norms) = file.report(&name)?;
        tensors.push(report);
        norms.extend(Norms::new(&name, row_norms));
    }
    let damaged = tensors.iter().filter(|tensor: &&TensorReport| tensor.checksum == Checksum::Wrong);
    let problems = damaged.map(|tensor| format!("the checksum of `{}` is wrong", tensor.name)).collect();
    let contents = metadata.kind();
    let (training, origin, quantization) = match metadata.contents {
        Contents::Training(metadata) => (Some(TrainingState::new(*metadata, &mut file)), None, None),
        Contents::Vectors(metadata) => (None, metadata.origin, metadata.quantization),
    };
    Ok(Inspection {
        path: path.to_owned(),
        file_bytes: std::fs::metadata(path).map_err(Error::io(path))?.len(),
        contents,
        version: metadata.version,
        program: metadata.program,
        origin,
        words: file.sizes.words,
        dimensions: file.sizes.dimensions,
        quantization,
        training,
        norms,
        tensors,
        problems,
    })
}

/// The words of a model file or vectors file, the most frequent first and equal counts in alphabetical order.
pub fn words(path: impl AsRef<Path>) -> Result<Vec<WordEntry>> {
    let (mut file, metadata) = ModelFile::open(path.as_ref())?;
    let (text, ends) = file.words(VECTORS)?;
    let counts = file.counts(VECTORS)?;
    let (counters, has_counts): (Option<Vec<u64>>, bool) = match metadata.contents {
        Contents::Training(metadata) => {
            let half_life = metadata.config.half_life().zip(metadata.vocabulary.clock);
            let weight = half_life.map_or(1, |(half_life, clock)| half_life.weight(clock));
            let counters: Vec<u64> = file.tensor("counters")?;
            (Some(counters.into_iter().map(|counter| counter / weight).collect()), true)
        }
        Contents::Vectors(metadata) => (None, !metadata.counts_are_places),
    };
    let entry = |(row, word): (usize, &str)| WordEntry {
        word: word.to_owned(),
        count: has_counts.then_some(counts.all[row]),
        recent_count: counts.recent.as_ref().map(|counts| counts[row]),
        counter: counters.as_ref().map(|counters| counters[row]),
    };
    Ok(slices(&text, &ends).enumerate().map(entry).collect())
}

impl Metadata {
    fn kind(&self) -> FileKind {
        match self.contents {
            Contents::Training(_) => FileKind::Training,
            Contents::Vectors(_) => FileKind::Vectors,
        }
    }
}

impl TrainingState {
    fn new(metadata: TrainingMetadata, file: &mut ModelFile) -> TrainingState {
        let found = metadata.config.phrases.settings().map_or(0, |_| file.info("phrases").shape[0]);
        let phrases = Some(found + metadata.phrases.given.len());
        let (waiting, noise) = match metadata.config.strategy {
            Strategy::MiniBatch(options) => {
                let replay = file.replay(options, file.sizes.words, metadata.replay_weights);
                (replay.ok().map(|replay| replay.due()), Noise::Counts)
            }
            Strategy::Batch(_) | Strategy::Word2vec(_) => (Some(0), Noise::Counts),
            Strategy::Incremental(options) => {
                let [weight, dead_weight] = metadata.noise_totals.unwrap_or_default();
                let table_size = options.table_size;
                let filled = file.info("noise_slots").shape[0];
                (Some(0), Noise::AdaptiveTable { filled, table_size, weight, dead_weight })
            }
        };
        TrainingState {
            initial: metadata.initial,
            vocabulary: metadata.vocabulary,
            pairs: metadata.totals.pairs,
            mean_loss: metadata.totals.mean_loss(),
            batches: metadata.batches,
            replayed: metadata.totals.replayed,
            waiting,
            noise,
            ledger: metadata.ledger,
            phrases: phrases.filter(|_| !metadata.phrases.is_empty()),
            controls: metadata.controls,
            notes: metadata.notes,
            settings: metadata.config,
        }
    }
}

impl ModelFile {
    /// Reads a tensor once, for its checksum and, of a matrix of vectors, the lengths of the rows.
    fn report(&mut self, name: &str) -> Result<(TensorReport, Vec<f64>)> {
        let info = self.info(name).clone();
        let mut hasher = blake3::Hasher::new();
        let mut norms = Vec::new();
        let is_matrix = matches!(name, "target" | "context" | "vectors");
        let row_bytes = if is_matrix { self.sizes.dimensions * info.dtype.bitsize() / 8 } else { 1 };
        self.pieces(name, (PIECE_BYTES / row_bytes).max(1) * row_bytes, |piece| {
            hasher.update(piece);
            if is_matrix {
                norms.extend(piece.chunks_exact(row_bytes).map(|row| norm(row, info.dtype)));
            }
        })?;
        if is_matrix && info.dtype == Dtype::I8 {
            let mut norms = norms.iter_mut();
            self.pieces("scales", PIECE_BYTES, |piece| {
                floats(piece).zip(norms.by_ref()).for_each(|(scale, norm)| *norm *= scale);
            })?;
        }
        let report = TensorReport {
            name: name.to_owned(),
            dtype: format!("{:?}", info.dtype),
            bytes: (info.data_offsets.1 - info.data_offsets.0) as u64,
            shape: info.shape,
            // The header was verified when the file was opened.
            checksum: match self.checksum(name) == Some(hasher.finalize().to_hex().as_str())
                || name == HEADER_CHECKSUM
            {
                true => Checksum::Verified,
                false => Checksum::Wrong,
            },
        };
        Ok((report, norms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Lines;
    use crate::{Embeddings, MiniBatchOptions, Trainer};

    fn train(path: &Path, strategy: Strategy) {
        let config = Config { dimensions: 5, subsample: 0.0, strategy, ..Config::default() };
        let text = &b"to be or not to be that is the question\n"[..];
        let mut lines = Lines::new(text, "text", &config.text).unwrap();
        let mut trainer = Trainer::new(config).unwrap();
        trainer.train_source(&mut lines).unwrap();
        trainer.save(path).unwrap();
    }

    fn model(strategy: Strategy) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        train(&path, strategy);
        (folder, path)
    }

    #[test]
    fn a_training_state_is_reported() {
        let (_folder, path) = model(Strategy::mini_batch());
        let found = inspect(&path).unwrap();
        assert_eq!((found.words, found.dimensions, found.contents), (8, 5, FileKind::Training));
        assert_eq!(found.file_bytes, std::fs::metadata(&path).unwrap().len());
        let training = found.training.unwrap();
        assert_eq!((training.vocabulary.tokens, training.waiting, training.batches), (10, Some(0), 1));
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
    fn text_waits_as_the_trainer_counts_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        // Nothing is replayed before the buffer is full: each of 600 words waits four times.
        let strategy = Strategy::MiniBatch(MiniBatchOptions::best());
        let mut trainer = Trainer::new(Config { dimensions: 5, strategy, ..Config::default() }).unwrap();
        trainer.train_lines("to be or not to be\n".repeat(100).as_bytes()).unwrap();
        trainer.save(&path).unwrap();
        let waiting = inspect(&path).unwrap().training.unwrap().waiting;
        assert_eq!((waiting, trainer.waiting()), (Some(2_400), 2_400));

        let mut bytes = std::fs::read(&path).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let first =
            tensors.tensor("replay_segments").unwrap().data().as_ptr() as usize - bytes.as_ptr() as usize;
        bytes[first] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let found = inspect(&path).unwrap();
        assert_eq!(found.problems, ["the checksum of `replay_segments` is wrong"]);
        assert_eq!(found.training.unwrap().waiting, None);
    }

    #[test]
    fn an_adaptive_table_reports_how_full_it_is() {
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
        assert_eq!((found.contents, found.training.is_none()), (FileKind::Vectors, true));
        let norms = &found.norms[0];
        assert_eq!((norms.min, norms.median, norms.mean, norms.max), (0.0, 27.5, 27.5, 55.0));
        let bands: Vec<_> = norms.by_rank.iter().map(|band| (band.first, band.last, band.mean)).collect();
        assert_eq!(bands, [(1, 10, 22.5), (11, 12, 52.5)]);
    }

    #[test]
    fn a_damaged_tensor_is_a_problem_and_the_rest_is_reported() {
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
    fn a_file_that_is_not_a_model_is_an_error() {
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
        let entry = |word: &str, n| WordEntry {
            word: word.to_owned(),
            count: Some(n),
            counter: Some(n),
            recent_count: None,
        };
        assert_eq!(found[..3], [entry("be", 2), entry("to", 2), entry("is", 1)]);
        assert_eq!(found.len(), 8);
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
