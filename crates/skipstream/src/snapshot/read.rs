//! File → the state of a trainer.

use std::path::Path;

use safetensors::Dtype;

use super::error::ModelFileError;
use super::file::{ModelFile, slices};
use super::metadata::{Metadata, TrainingMetadata};
use super::vectors::INITIAL;
use crate::config::{Config, MiniBatchOptions, Settings};
use crate::error::{Error, Result};
use crate::noise::SavedTable;
use crate::parameters::{Accumulators, LANES, Layout, Matrix, Side};
use crate::train::{Initial, Method, ReplayBuffer, Segment, Trainer};
use crate::vocabulary::{SavedWord, Vocabulary, WordId};

impl Trainer {
    /// Loads a state that was saved, and goes on from there. `threads` is not a part of it.
    pub fn load(path: impl AsRef<Path>, threads: Option<usize>) -> Result<Trainer> {
        let path = path.as_ref();
        let (mut file, metadata) = ModelFile::open(path)?;
        let metadata = match metadata {
            Metadata::Training(metadata) => *metadata,
            Metadata::Vectors(_) => return Err(Error::model_file(path, ModelFileError::OnlyVectors)),
        };
        let config = Config { threads, ..metadata.config.clone() };
        let mut trainer = match metadata.initial.clone() {
            Some(source) => {
                Trainer::starting_from(config, Initial { vectors: file.embeddings(INITIAL)?, source })?
            }
            None => Trainer::new(config)?,
        };
        let (vocabulary, ids) = file.vocabulary(&metadata, &trainer.settings)?;
        trainer.stream.vocabulary = vocabulary;
        trainer.stream.vocabulary.reserve()?;
        trainer.stream.totals = metadata.totals;
        trainer.ledger = metadata.ledger;
        trainer.notes = metadata.notes;
        let layout = trainer.stream.parameters.layout();
        file.side("target", "target_squares", layout, &ids, &mut trainer.stream.parameters.target)?;
        file.side("context", "context_squares", layout, &ids, &mut trainer.stream.parameters.context)?;
        match &mut trainer.method {
            Method::MiniBatch(method) => {
                let replay = file.replay(trainer.settings.mini_batch(), trainer.stream.vocabulary.slots())?;
                method.restore(metadata.batches, replay);
            }
            Method::Sentences(method) => {
                let saved = SavedTable {
                    slots: file.tensor::<[u32; 2]>("noise_slots", Dtype::U32)?,
                    generations: file.tensor("noise_generations", Dtype::U32)?,
                    totals: metadata.noise_totals.unwrap_or_default(),
                };
                if saved.generations.len() > trainer.stream.vocabulary.slots() {
                    return Err(file.damaged("`noise_generations` has more values than there are slots"));
                }
                let counts = trainer.stream.vocabulary.counts();
                method.noise.restore(saved, counts).map_err(|reason| file.damaged(reason))?;
                method.random = metadata
                    .random
                    .ok_or_else(|| file.damaged("the state of the random numbers is missing"))?;
            }
        }
        Ok(trainer)
    }
}

impl ModelFile {
    /// The vocabulary, and the id of each row: rows may stand in any order.
    fn vocabulary(
        &mut self,
        metadata: &TrainingMetadata,
        settings: &Settings,
    ) -> Result<(Vocabulary, Vec<WordId>)> {
        let (words, ends) = self.words()?;
        let slots: Vec<u32> = self.tensor("slots", Dtype::U32)?;
        let mut columns: Vec<Vec<u64>> = Vec::new();
        for name in ["counters", "counts", "births", "latest"] {
            if name == "latest" && !self.has(name) {
                // The first models had none. A word was seen last when it was seen first, or later.
                columns.push(columns[2].clone());
                continue;
            }
            let column = self.tensor(name, Dtype::U64)?;
            self.expect_length(name, column.len(), ends.len())?;
            columns.push(column);
        }
        self.expect_length("slots", slots.len(), ends.len())?;
        let free: Vec<u32> = self.tensor("free_slots", Dtype::U32)?;
        let ids: Vec<WordId> = slots.into_iter().map(WordId::from_saved).collect();
        let saved = slices(&words, &ends).enumerate().map(|(row, word)| SavedWord {
            id: ids[row],
            word,
            counter: columns[0][row],
            count: columns[1][row],
            birth: columns[2][row],
            latest: columns[3][row],
        });
        let free = free.into_iter().map(WordId::from_saved).collect();
        let (max_vocabulary, seed) = (settings.max_vocabulary(), settings.seed());
        let vocabulary =
            Vocabulary::restore(max_vocabulary, seed, metadata.vocabulary, saved, free, metadata.slots);
        Ok((vocabulary.map_err(|reason| self.damaged(reason))?, ids))
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

    fn replay(&mut self, options: MiniBatchOptions, slots: usize) -> Result<ReplayBuffer> {
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
                .filter(|&n| (1..=options.replays).contains(&n) && fits)
                .ok_or_else(wrong)?;
            replay.push(Segment {
                start,
                words: own_words.iter().map(|&word| WordId::from_saved(word)).collect(),
                ends: own_ends.to_vec(),
                remaining,
            });
        }
        if replay.due() > options.replay_words * options.replays as usize {
            return Err(self.damaged("more old text waits than may"));
        }
        Ok(replay)
    }
}
