//! File → the state of a trainer.

use std::path::Path;

use super::error::ModelFileError;
use super::file::{ModelFile, slices};
use super::metadata::{Contents, TrainingMetadata};
use super::vectors::{INITIAL, PHRASE_PARTS, VECTORS};
use crate::config::{Config, MiniBatchOptions, Settings};
use crate::corpus::Sentence;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::noise::SavedTable;
use crate::parameters::{Accumulators, LANES, Layout, Matrix, Parameters, Side};
use crate::phrases::{PhraseMetadata, Phrases, SavedDiscovery};
use crate::train::{Initial, Method, ReplayBuffer, Segment, Trainer};
use crate::vocabulary::{Controls, SavedWord, Vocabulary, WordId, WordTimes};

impl Trainer {
    /// Loads a saved state, to continue from there. `threads` is not a part of it.
    pub fn load(path: impl AsRef<Path>, threads: Option<usize>) -> Result<Trainer> {
        let trainer = Trainer::load_any(path.as_ref(), threads)?;
        match trainer.method {
            Method::Passes(_) => Err(Error::model_file(path.as_ref(), ModelFileError::TrainedInPasses)),
            _ => Ok(trainer),
        }
    }

    pub(crate) fn load_any(path: &Path, threads: Option<usize>) -> Result<Trainer> {
        let (mut file, metadata) = ModelFile::open(path)?;
        let (mut trainer, ids) = file.trainer(metadata.contents, threads, Parameters::new)?;
        let layout = trainer.stream.parameters.layout();
        file.side("target", "target_squares", layout, &ids, &mut trainer.stream.parameters.target)?;
        file.side("context", "context_squares", layout, &ids, &mut trainer.stream.parameters.context)?;
        Ok(trainer)
    }
}

impl ModelFile {
    /// The trainer of a file, but its rows, and the ids of these rows.
    pub(super) fn trainer(
        &mut self,
        contents: Contents,
        threads: Option<usize>,
        rows: impl FnOnce(&Settings) -> Result<Parameters>,
    ) -> Result<(Trainer, Vec<WordId>)> {
        let file = self;
        let Contents::Training(metadata) = contents else {
            return Err(file.defect(ModelFileError::OnlyVectors));
        };
        let config = Config { threads, ..metadata.config.clone() };
        let mut trainer = Trainer::of_rows(config, Kernel::best(), rows)?;
        if let Some(source) = metadata.initial.clone() {
            trainer = trainer.with_initial(Initial { vectors: file.embeddings(INITIAL)?, source })?;
        }
        let (vocabulary, ids) = file.vocabulary(&metadata, &trainer.settings)?;
        trainer.stream.vocabulary = vocabulary;
        trainer.stream.vocabulary.reserve()?;
        trainer.stream.totals = metadata.totals;
        trainer.ledger = metadata.ledger;
        trainer.notes = metadata.notes;
        if metadata.word_times {
            let times = file.tensor("word_times")?;
            trainer.word_times = Some(WordTimes::restore(&trainer.stream.vocabulary, &ids, &times));
        }
        match &mut trainer.method {
            Method::MiniBatch(method) => {
                let options = trainer.settings.mini_batch();
                let slots = trainer.stream.vocabulary.len();
                let replay = file.replay(options, slots, metadata.replay_weights)?;
                method.restore(metadata.batches, replay);
                let controls = trainer.stream.vocabulary.controls();
                file.phrases(metadata.phrases, &trainer.settings, controls, method.phrases_mut())?;
            }
            Method::Sentences(method) => {
                let saved = SavedTable {
                    slots: file.tensor("noise_slots")?,
                    generations: file.tensor("noise_generations")?,
                    totals: metadata.noise_totals.unwrap_or_default(),
                };
                if saved.generations.len() > trainer.stream.vocabulary.len() {
                    return Err(file.contradiction("`noise_generations` is longer than the number of slots"));
                }
                let counts = trainer.stream.vocabulary.counts();
                method.noise.restore(saved, counts).map_err(|reason| file.contradiction(reason))?;
                method.random = metadata
                    .random
                    .ok_or_else(|| file.contradiction("the state of the random numbers is missing"))?;
            }
            Method::Passes(_) => {}
        }
        Ok((trainer, ids))
    }

    /// The vocabulary, and the id of each row.
    fn vocabulary(
        &mut self,
        metadata: &TrainingMetadata,
        settings: &Settings,
    ) -> Result<(Vocabulary, Vec<WordId>)> {
        let (words, ends) = self.words(VECTORS)?;
        let slots: Vec<u32> = self.tensor("slots")?;
        let counts: Vec<u64> = self.tensor("counts")?;
        let counters: Vec<u64> = self.tensor("counters")?;
        let first_tokens: Vec<u64> = self.tensor("first_tokens")?;
        let last_tokens: Vec<u64> = self.tensor("last_tokens")?;
        let half_life = settings.half_life();
        let frequencies = half_life.map(|_| self.tensor("frequencies")).transpose()?;
        let frequencies: &Vec<u64> = frequencies.as_ref().unwrap_or(&counts);
        let documents = metadata.vocabulary.document.map(|_| self.tensor("document_counts")).transpose()?;
        let documents: Option<Vec<u64>> = documents;
        let ids: Vec<WordId> = slots.into_iter().map(WordId::from_saved).collect();
        let saved = slices(&words, &ends).enumerate().map(|(row, word)| SavedWord {
            id: ids[row],
            word,
            counter: counters[row],
            frequency: frequencies[row],
            count: counts[row],
            birth: first_tokens[row],
            latest: last_tokens[row],
        });
        let saved: Vec<SavedWord<'_>> = saved.collect();
        let restored = Vocabulary::restore(settings.max_vocabulary(), half_life, metadata.vocabulary, &saved);
        let restored = restored.and_then(|mut vocabulary| {
            vocabulary.restore_controls(metadata.controls.clone())?;
            if let Some((current, documents)) = metadata.vocabulary.document.zip(documents) {
                vocabulary.restore_documents(current, &ids, &documents)?;
            }
            Ok(vocabulary)
        });
        Ok((restored.map_err(|reason| self.contradiction(reason))?, ids))
    }

    fn phrases(
        &mut self,
        metadata: PhraseMetadata,
        settings: &Settings,
        controls: &Controls,
        phrases: &mut Phrases,
    ) -> Result<()> {
        let max_bytes = settings.text().max_token_bytes;
        let restored = if settings.phrases().is_some() {
            let (words, ends) = self.words(PHRASE_PARTS)?;
            let counts: Vec<[u64; 4]> = self.tensor("phrase_part_counts")?;
            if counts.len() != ends.len() {
                let reason = "`phrase_part_counts` and `phrase_part_ends` have different lengths";
                return Err(self.contradiction(reason));
            }
            let keys: Vec<[u32; 3]> = self.tensor("phrase_pairs")?;
            let numbers: Vec<[u64; 3]> = self.tensor("phrase_pair_counts")?;
            let found: Vec<[u64; 2]> = self.tensor("phrases")?;
            let parts = (0..).map(WordId::from_saved).zip(slices(&words, &ends)).zip(&counts);
            let parts = parts.map(|((id, word), &[counter, count, birth, latest])| SavedWord {
                id,
                word,
                counter,
                frequency: count,
                count,
                birth,
                latest,
            });
            let parts: Vec<SavedWord<'_>> = parts.collect();
            let saved = SavedDiscovery { parts: &parts, keys: &keys, numbers: &numbers, phrases: &found };
            phrases.restore(metadata, Some(saved), max_bytes, controls)
        } else {
            phrases.restore(metadata, None, max_bytes, controls)
        };
        restored.map_err(|reason| self.contradiction(reason))
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
                let saved = self.numbers(squares, |value| value.is_finite() && value >= 0.0)?;
                for (&id, saved) in ids.iter().zip(saved) {
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
        let values = self.numbers(name, f32::is_finite)?;
        for (&id, values) in ids.iter().zip(values.chunks_exact(layout.dimensions)) {
            let row = matrix.row_mut(layout.row_in_matrix(id));
            row.fill([0.0; LANES]);
            row.as_flattened_mut()[..layout.dimensions].copy_from_slice(values);
        }
        Ok(())
    }

    /// A tensor of numbers that are all valid.
    pub(super) fn numbers(
        &mut self,
        tensor: &'static str,
        is_valid: impl Fn(f32) -> bool,
    ) -> Result<Vec<f32>> {
        let values: Vec<f32> = self.tensor(tensor)?;
        match values.iter().position(|&value| !is_valid(value)) {
            Some(position) => {
                let value = values[position];
                Err(self.defect(ModelFileError::Value { tensor, position, value }))
            }
            None => Ok(values),
        }
    }

    /// The text that waits for its replay.
    pub(super) fn replay(
        &mut self,
        options: MiniBatchOptions,
        slots: usize,
        has_weights: bool,
    ) -> Result<ReplayBuffer> {
        let words: Vec<u32> = self.tensor("replay_words")?;
        let ends: Vec<u32> = self.tensor("replay_ends")?;
        let segments: Vec<[u64; 4]> = self.tensor("replay_segments")?;
        let has_clocks = options.half_life.is_some();
        let clocks: Vec<u64> = if has_clocks { self.tensor("replay_clocks")? } else { Vec::new() };
        if has_clocks && clocks.len() != segments.len() {
            return Err(self.contradiction("`replay_clocks` and `replay_segments` have different lengths"));
        }
        let mut clocks = clocks.into_iter();
        let is_weight = |weight| (0.0..=Sentence::MAX_WEIGHT).contains(&weight);
        let weights = if has_weights { self.numbers("replay_weights", is_weight)? } else { Vec::new() };
        if has_weights && weights.len() != ends.len() {
            return Err(self.contradiction("`replay_weights` and `replay_ends` have different lengths"));
        }
        let none = WordId::NONE.index() as u32;
        if let Some(word) = words.iter().find(|&&word| word as usize >= slots && word != none) {
            return Err(self.contradiction(format!("`replay_words` has slot {word} of {slots}")));
        }
        let mut replay = ReplayBuffer::default();
        let (mut words, mut ends) = (words.as_slice(), ends.as_slice());
        let mut weights = weights.as_slice();
        for [start, n_words, n_ends, remaining] in segments {
            let wrong =
                || self.contradiction("`replay_segments` does not fit `replay_words` and `replay_ends`");
            let (own_words, others) =
                usize::try_from(n_words).ok().and_then(|n| words.split_at_checked(n)).ok_or_else(wrong)?;
            let (own_ends, other_ends) =
                usize::try_from(n_ends).ok().and_then(|n| ends.split_at_checked(n)).ok_or_else(wrong)?;
            (words, ends) = (others, other_ends);
            let own_weights = weights.split_off(..own_ends.len().min(weights.len())).unwrap_or_default();
            let own_weights = if own_weights.iter().all(|&weight| weight == 1.0) { &[] } else { own_weights };
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
                weights: own_weights.to_vec(),
                remaining,
                clock: clocks.next(),
            });
        }
        if replay.due() > options.replay_words * options.replays as usize {
            return Err(self.contradiction("more text waits for its replay than `replay_words` allows"));
        }
        Ok(replay)
    }
}
