//! The state of a trainer → file.

use std::cmp::Reverse;
use std::path::Path;

use safetensors::Dtype;

use super::metadata::{Checksums, Contents, TrainingMetadata};
use super::tensor::{Tensor, word_tensors, write_file};
use super::vectors::{INITIAL, vectors_tensors};
use super::{PROGRAM, VERSION};
use crate::error::{Error, Result};
use crate::parameters::{Accumulators, Layout, Matrix, Side};
use crate::train::{Method, ReplayBuffer, Stream, Trainer};
use crate::vocabulary::{Vocabulary, WordId};

impl Trainer {
    /// Saves the whole state. The file is the old one until the new one is complete and on disk.
    ///
    /// ```
    /// # use skipstream::{Config, Trainer};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// let trainer = Trainer::new(Config::default())?;
    /// trainer.save(&path)?;
    /// let same = Trainer::load(&path, None)?;
    /// assert_eq!(same.settings().dimensions(), 100);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.check_finite()?;
        let ids = by_frequency(&self.stream.vocabulary);
        write_file(path.as_ref(), self.tensors(&ids), |checksums| self.metadata(checksums))
    }

    /// A model that has diverged must not take the place of a good one.
    fn check_finite(&self) -> Result<()> {
        let Stream { vocabulary, parameters, totals, .. } = &self.stream;
        let diverged = |id| {
            let rows = [parameters.target(id), parameters.context(id)];
            rows.into_iter().flatten().any(|value| !value.is_finite())
        };
        if totals.loss.is_finite() && !vocabulary.ids().any(diverged) {
            return Ok(());
        }
        Err(Error::Diverged { learning_rate: self.settings.learning_rate() })
    }

    pub(super) fn metadata(&self, checksums: Checksums) -> TrainingMetadata {
        let Trainer { settings, stream, method, ledger, notes, .. } = self;
        let mut metadata = TrainingMetadata {
            version: VERSION,
            kind: Contents::Training,
            program: PROGRAM.to_owned(),
            config: settings.resolved(),
            vocabulary: stream.vocabulary.totals(),
            slots: stream.vocabulary.slots(),
            totals: stream.totals,
            ledger: ledger.clone(),
            notes: notes.clone(),
            initial: stream.initial.as_ref().map(|initial| initial.source.clone()),
            batches: 0,
            random: None,
            noise_totals: None,
            checksums,
        };
        match method {
            Method::MiniBatch(method) => metadata.batches = method.batches(),
            Method::Sentences(method) => {
                metadata.random = Some(method.random.clone());
                metadata.noise_totals = Some(method.noise.totals());
            }
        }
        metadata
    }

    /// The tensors, with a row for each of the ids.
    pub(super) fn tensors<'a>(&'a self, ids: &'a [WordId]) -> Vec<(&'static str, Tensor<'a>)> {
        let Stream { vocabulary, parameters, .. } = &self.stream;
        let saved = ids.iter().map(|&id| vocabulary.saved(id));
        let mut tensors = Vec::from(word_tensors(saved.clone().map(|saved| saved.word)));
        tensors.extend([
            ("slots", Tensor::list(Dtype::U32, indices(ids))),
            ("counts", Tensor::list(Dtype::U64, saved.clone().map(|saved| saved.count))),
            ("counters", Tensor::list(Dtype::U64, saved.clone().map(|saved| saved.counter))),
            ("births", Tensor::list(Dtype::U64, saved.clone().map(|saved| saved.birth))),
            ("latest", Tensor::list(Dtype::U64, saved.map(|saved| saved.latest))),
            ("free_slots", Tensor::list(Dtype::U32, indices(vocabulary.free_slots()))),
        ]);
        let layout = parameters.layout();
        for (rows, squares, side) in [
            ("target", "target_squares", &parameters.target),
            ("context", "context_squares", &parameters.context),
        ] {
            tensors.push((rows, matrix_tensor(layout, &side.rows, ids)));
            tensors.extend(squares_tensor(layout, side, ids).map(|tensor| (squares, tensor)));
        }
        if let Some(initial) = &self.stream.initial {
            tensors.extend(vectors_tensors(&initial.vectors, INITIAL));
        }
        match &self.method {
            Method::MiniBatch(method) => replay_tensors(method.replay(), &mut tensors),
            Method::Sentences(method) => {
                let slots = method.noise.saved_slots();
                tensors.push((
                    "noise_generations",
                    Tensor::list(Dtype::U32, method.noise.generations().into_iter()),
                ));
                tensors.push(("noise_slots", Tensor::borrowed(Dtype::U32, vec![slots.len() / 2, 2], slots)));
            }
        }
        tensors
    }
}

/// The words in the order of the file's rows: the most frequent first, equally frequent ones by their letters.
fn by_frequency(vocabulary: &Vocabulary) -> Vec<WordId> {
    let mut ids: Vec<WordId> = vocabulary.ids().collect();
    ids.sort_unstable_by_key(|&id| (Reverse(vocabulary.count(id)), vocabulary.word(id)));
    ids
}

fn indices(ids: &[WordId]) -> impl Iterator<Item = u32> {
    ids.iter().map(|id| id.index() as u32)
}

fn replay_tensors(replay: &ReplayBuffer, tensors: &mut Vec<(&'static str, Tensor<'_>)>) {
    let segments = replay.segments();
    let words = segments.iter().flat_map(|segment| indices(&segment.words));
    let ends = segments.iter().flat_map(|segment| segment.ends.iter().copied());
    let table = segments.iter().map(|segment| {
        let [words, ends] = [segment.words.len() as u64, segment.ends.len() as u64];
        [segment.start, words, ends, u64::from(segment.remaining)]
    });
    tensors.push(("replay_words", Tensor::list(Dtype::U32, words)));
    tensors.push(("replay_ends", Tensor::list(Dtype::U32, ends)));
    tensors.push(("replay_segments", Tensor::table(Dtype::U64, table.collect())));
}

fn matrix_tensor<'a>(layout: Layout, matrix: &'a Matrix, ids: &'a [WordId]) -> Tensor<'a> {
    Tensor::rows(vec![ids.len(), layout.dimensions], move |to| {
        ids.iter().try_for_each(|&id| {
            let row = matrix.row(layout.row_in_matrix(id)).as_flattened();
            to.write_all(bytemuck::cast_slice(&row[..layout.dimensions]))
        })
    })
}

/// AdaGrad's sums, if there are any.
fn squares_tensor<'a>(layout: Layout, side: &'a Side, ids: &'a [WordId]) -> Option<Tensor<'a>> {
    match &side.accumulators {
        Accumulators::Dimension(matrix) => Some(matrix_tensor(layout, matrix, ids)),
        Accumulators::Row(values) => {
            let values = ids.iter().map(|&id| values[layout.row_in_matrix(id)]);
            Some(Tensor::list(Dtype::F32, values))
        }
        Accumulators::None => None,
    }
}
