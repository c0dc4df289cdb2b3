//! File → state. Every byte is checked before it is believed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use safetensors::Dtype;
use safetensors::tensor::Metadata as Header;

use super::state::Metadata;
use super::{METADATA_KEY, VERSION};
use crate::config::{Config, Settings};
use crate::embeddings::{Embeddings, Vectors};
use crate::error::{Error, Result};
use crate::noise::SavedTable;
use crate::parameters::{Accumulators, LANES, Layout, Matrix, Side};
use crate::train::{Method, ReplayBuffer, Segment, Trainer};
use crate::vocabulary::{SavedWord, Vocabulary, WordId};

/// A header of more bytes is refused, as the safetensors library does.
const MAX_HEADER_BYTES: u64 = 100_000_000;

impl Trainer {
    /// Loads a state that was saved, and goes on from there. `threads` is not a part of it.
    pub fn load(path: impl AsRef<Path>, threads: Option<usize>) -> Result<Trainer> {
        let mut file = ModelFile::open(path.as_ref())?;
        let config = Config { threads, ..file.metadata.config.clone() };
        let mut trainer = Trainer::new(config)?;
        trainer.stream.vocabulary =
            file.vocabulary(trainer.settings.max_vocabulary, trainer.settings.seed)?;
        trainer.stream.vocabulary.reserve()?;
        trainer.stream.totals = file.metadata.totals;
        trainer.ledger = file.metadata.ledger.clone();
        let ids: Vec<WordId> = trainer.stream.vocabulary.ids().collect();
        let layout = trainer.stream.parameters.layout();
        file.side("target", "target_squares", layout, &ids, &mut trainer.stream.parameters.target)?;
        file.side("context", "context_squares", layout, &ids, &mut trainer.stream.parameters.context)?;
        match &mut trainer.method {
            Method::MiniBatch(method) => {
                let replay = file.replay(&trainer.settings, trainer.stream.vocabulary.slots())?;
                method.restore(file.metadata.batches, replay);
            }
            Method::Sentences(method) => {
                let saved = SavedTable {
                    slots: file.tensor::<[u32; 2]>("noise_slots", Dtype::U32)?,
                    generations: file.tensor("noise_generations", Dtype::U32)?,
                    totals: file.metadata.noise_totals.unwrap_or_default(),
                };
                if saved.generations.len() > trainer.stream.vocabulary.slots() {
                    return Err(file.damaged("`noise_generations` has more values than there are slots"));
                }
                let counts = trainer.stream.vocabulary.counts();
                method.noise.restore(saved, counts).map_err(|reason| file.damaged(reason))?;
                let random = file.metadata.random.clone();
                method.random =
                    random.ok_or_else(|| file.damaged("the state of the random numbers is missing"))?;
            }
        }
        Ok(trainer)
    }
}

impl Embeddings {
    /// Loads the vectors of a model, without the state that only training needs.
    pub fn load(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
        let mut file = ModelFile::open(path.as_ref())?;
        let (words, ends) = file.words()?;
        let counts: Vec<u64> = file.tensor("counts", Dtype::U64)?;
        file.expect_length("counts", counts.len(), ends.len())?;
        let dimensions = file.metadata.config.dimensions;
        let values = match vectors {
            Vectors::Target => file.tensor("target", Dtype::F32)?,
            Vectors::Context => file.tensor("context", Dtype::F32)?,
            Vectors::Sum => {
                let mut sum: Vec<f32> = file.tensor("target", Dtype::F32)?;
                let context: Vec<f32> = file.tensor("context", Dtype::F32)?;
                file.expect_length("context", context.len(), sum.len())?;
                sum.iter_mut().zip(context).for_each(|(sum, context)| *sum += context);
                sum
            }
        };
        let words = slices(&words, &ends);
        Embeddings::new(dimensions, words.zip(counts), values)
    }
}

/// A model's file, with its header understood.
struct ModelFile {
    path: PathBuf,
    file: File,
    header: Header,
    metadata: Metadata,
    /// Where the tensors begin.
    start: u64,
}

impl ModelFile {
    fn open(path: &Path) -> Result<ModelFile> {
        let not_a_model = |reason: String| {
            Error::malformed(path, format!("this is not a skipstream model, or it is damaged: {reason}"))
        };
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        let mut length = [0; 8];
        if file_bytes < 8 {
            return Err(not_a_model(format!("it has {file_bytes} bytes")));
        }
        file.read_exact(&mut length).map_err(Error::io(path))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES || length > file_bytes - 8 {
            return Err(not_a_model(format!(
                "its header should have {length} bytes, the file has {file_bytes}"
            )));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(Error::io(path))?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|error| not_a_model(format!("its header: {error}")))?;
        let start = 8 + length;
        let expected = start.saturating_add(header.data_len() as u64);
        if expected != file_bytes {
            return Err(not_a_model(format!("it should have {expected} bytes and has {file_bytes}")));
        }
        let metadata = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA_KEY));
        let metadata =
            metadata.ok_or_else(|| not_a_model(format!("its metadata has no key `{METADATA_KEY}`")))?;
        let version: Version =
            serde_json::from_str(metadata).map_err(|error| not_a_model(error.to_string()))?;
        if version.version != VERSION {
            return Err(Error::malformed(
                path,
                format!("its format is version {}; this program reads version {VERSION}", version.version),
            ));
        }
        let metadata = serde_json::from_str(metadata).map_err(|error| not_a_model(error.to_string()))?;
        Ok(ModelFile { path: path.to_owned(), file, header, metadata, start })
    }

    fn damaged(&self, reason: impl std::fmt::Display) -> Error {
        Error::malformed(&self.path, format!("the model is damaged: {reason}; go back to a copy of it"))
    }

    fn expect_length(&self, name: &str, length: usize, expected: usize) -> Result<()> {
        if length == expected {
            return Ok(());
        }
        Err(self.damaged(format!("`{name}` has {length} values instead of {expected}")))
    }

    /// A whole tensor, its type and checksum verified.
    fn tensor<T: Pod>(&mut self, name: &str, dtype: Dtype) -> Result<Vec<T>> {
        let info = self.header.info(name).ok_or_else(|| self.damaged(format!("`{name}` is missing")))?;
        let (start, end) = info.data_offsets;
        let length = end - start;
        if info.dtype != dtype || length % size_of::<T>() != 0 {
            return Err(self.damaged(format!("`{name}` is {:?} {:?}", info.dtype, info.shape)));
        }
        let expected = self.metadata.checksums.get(name);
        let expected = expected.ok_or_else(|| self.damaged(format!("`{name}` has no checksum")))?.clone();
        // The length was held against the file's when it was opened.
        let mut values = vec![T::zeroed(); length / size_of::<T>()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.file.seek(SeekFrom::Start(self.start + start as u64)).map_err(Error::io(&self.path))?;
        self.file.read_exact(bytes).map_err(Error::io(&self.path))?;
        if blake3::hash(bytes).to_hex().as_str() != expected {
            return Err(self.damaged(format!("the checksum of `{name}` is wrong")));
        }
        Ok(values)
    }

    fn words(&mut self) -> Result<(String, Vec<u64>)> {
        let words =
            String::from_utf8(self.tensor("words", Dtype::U8)?).map_err(|error| self.damaged(error))?;
        let ends: Vec<u64> = self.tensor("word_ends", Dtype::U64)?;
        let in_order = ends.is_sorted() && ends.last().is_none_or(|&end| end == words.len() as u64);
        if !in_order || !ends.iter().all(|&end| words.is_char_boundary(end as usize)) {
            return Err(self.damaged("`word_ends` does not fit `words`"));
        }
        Ok((words, ends))
    }

    fn vocabulary(&mut self, capacity: usize, seed: u64) -> Result<Vocabulary> {
        let (words, ends) = self.words()?;
        let slots: Vec<u32> = self.tensor("slots", Dtype::U32)?;
        let mut columns = Vec::new();
        for name in ["counters", "counts", "births"] {
            let column: Vec<u64> = self.tensor(name, Dtype::U64)?;
            self.expect_length(name, column.len(), ends.len())?;
            columns.push(column);
        }
        self.expect_length("slots", slots.len(), ends.len())?;
        let free: Vec<u32> = self.tensor("free_slots", Dtype::U32)?;
        let saved = slices(&words, &ends).enumerate().map(|(row, word)| SavedWord {
            id: WordId::from_saved(slots[row]),
            word,
            counter: columns[0][row],
            count: columns[1][row],
            birth: columns[2][row],
        });
        let free = free.into_iter().map(WordId::from_saved).collect();
        Vocabulary::restore(capacity, seed, self.metadata.vocabulary, saved, free, self.metadata.slots)
            .map_err(|reason| self.damaged(reason))
    }

    fn side(
        &mut self,
        rows: &'static str,
        squares: &'static str,
        layout: Layout,
        ids: &[WordId],
        side: &mut Side,
    ) -> Result<()> {
        self.rows(rows, layout, ids, &mut side.rows)?;
        match &mut side.accumulators {
            Accumulators::Row(values) => {
                let saved: Vec<f32> = self.tensor(squares, Dtype::F32)?;
                self.expect_length(squares, saved.len(), ids.len())?;
                for (&id, saved) in ids.iter().zip(saved) {
                    if !(saved.is_finite() && saved >= 0.0) {
                        return Err(self.damaged(format!("`{squares}` holds {saved}")));
                    }
                    values[layout.row_in_matrix(id)] = saved;
                }
            }
            Accumulators::Dimension(matrix) => self.rows(squares, layout, ids, matrix)?,
            Accumulators::None => {}
        }
        Ok(())
    }

    fn rows(
        &mut self,
        name: &'static str,
        layout: Layout,
        ids: &[WordId],
        matrix: &mut Matrix,
    ) -> Result<()> {
        let values: Vec<f32> = self.tensor(name, Dtype::F32)?;
        self.expect_length(name, values.len(), ids.len() * layout.dimensions)?;
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(self.damaged(format!("value {bad} of `{name}` is {}", values[bad])));
        }
        for (&id, values) in ids.iter().zip(values.chunks_exact(layout.dimensions)) {
            let row = matrix.row_mut(layout.row_in_matrix(id));
            row.fill([0.0; LANES]);
            row.as_flattened_mut()[..layout.dimensions].copy_from_slice(values);
        }
        Ok(())
    }

    fn replay(&mut self, settings: &Settings, slots: usize) -> Result<ReplayBuffer> {
        let words: Vec<u32> = self.tensor("replay_words", Dtype::U32)?;
        let ends: Vec<u32> = self.tensor("replay_ends", Dtype::U32)?;
        let segments: Vec<[u64; 4]> = self.tensor("replay_segments", Dtype::U64)?;
        let none = WordId::NONE.index() as u32;
        if let Some(word) = words.iter().find(|&&word| word as usize >= slots && word != none) {
            return Err(self.damaged(format!("`replay_words` holds slot {word} of {slots}")));
        }
        let mut replay = ReplayBuffer::default();
        let (mut words, mut ends) = (words.as_slice(), ends.as_slice());
        for [start, n_words, n_ends, remaining] in segments {
            let wrong = || self.damaged("`replay_segments` does not fit");
            let (own_words, others) =
                usize::try_from(n_words).ok().and_then(|n| words.split_at_checked(n)).ok_or_else(wrong)?;
            let (own_ends, other_ends) =
                usize::try_from(n_ends).ok().and_then(|n| ends.split_at_checked(n)).ok_or_else(wrong)?;
            (words, ends) = (others, other_ends);
            let fits = own_ends.is_sorted()
                && own_ends.last().map_or(0, |&end| u64::from(end)) == n_words
                && start.checked_add(n_words).is_some();
            let remaining = u32::try_from(remaining)
                .ok()
                .filter(|&n| (1..=settings.replays()).contains(&n) && fits)
                .ok_or_else(wrong)?;
            replay.push(Segment {
                start,
                words: own_words.iter().map(|&word| WordId::from_saved(word)).collect(),
                ends: own_ends.to_vec(),
                remaining,
            });
        }
        if replay.due() > settings.replay_words * settings.replays() as usize {
            return Err(self.damaged("more old text waits than may"));
        }
        Ok(replay)
    }
}

/// Only the version: the rest may look different in another one.
#[derive(serde::Deserialize)]
struct Version {
    version: u32,
}

/// The words that `ends` cut out of `text`; the ends were checked.
fn slices<'a>(text: &'a str, ends: &'a [u64]) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| &text[start as usize..end as usize])
}
