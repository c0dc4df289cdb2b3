//! The state of a trainer → file.

use std::path::Path;

use super::metadata::{Contents, TrainingMetadata};
use super::tensor::{Named, Tensor, word_tensors, write_file};
use super::vectors::{INITIAL, vectors_tensors};
use crate::error::{Error, Result};
use crate::parameters::{Accumulators, Layout, Matrix, Side};
use crate::phrases::Phrases;
use crate::train::{Method, ReplayBuffer, Stream, Trainer};
use crate::vocabulary::{WordId, WordTimes};

impl Trainer {
    /// Saves the whole state. The old file stays in place until the new one is complete and on disk.
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
        let ids = self.ids_by_frequency(usize::MAX);
        write_file(path.as_ref(), self.tensors(&ids), Contents::Training(Box::new(self.metadata())))
    }

    /// A diverged model must not replace a good one.
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

    pub(super) fn metadata(&self) -> TrainingMetadata {
        let Trainer { settings, stream, method, ledger, notes, .. } = self;
        let mut metadata = TrainingMetadata {
            config: settings.resolved(),
            vocabulary: stream.vocabulary.totals(),
            totals: stream.totals,
            ledger: ledger.clone(),
            controls: stream.vocabulary.controls().clone(),
            phrases: self.phrases_of_stream().map(Phrases::metadata).unwrap_or_default(),
            notes: notes.clone(),
            initial: stream.initial.as_ref().map(|initial| initial.source.clone()),
            word_times: self.current_word_times().is_some(),
            replay_weights: false,
            rows_in_shards: false,
            batches: 0,
            random: None,
            noise_totals: None,
        };
        match method {
            Method::MiniBatch(method) => {
                metadata.batches = method.batches();
                metadata.replay_weights = method.replay().has_weights();
            }
            Method::Sentences(method) => {
                metadata.random = Some(method.random.clone());
                metadata.noise_totals = Some(method.noise.totals());
            }
            Method::Passes(_) => {}
        }
        metadata
    }

    /// The times when words were seen, unless text without times was learned since.
    fn current_word_times(&self) -> Option<&WordTimes> {
        self.word_times.as_ref().filter(|times| times.is_current(&self.stream.vocabulary))
    }

    /// The tensors, with a row for each of the ids.
    pub(super) fn tensors<'a>(&'a self, ids: &'a [WordId]) -> Vec<Named<'a>> {
        let parameters = &self.stream.parameters;
        let layout = parameters.layout();
        let mut tensors = self.state_tensors(ids);
        for (rows, squares, side) in [
            ("target", "target_squares", &parameters.target),
            ("context", "context_squares", &parameters.context),
        ] {
            tensors.push((rows, matrix_tensor(layout, &side.rows, ids)));
            tensors.extend(squares_tensor(layout, side, ids).map(|tensor| (squares, tensor)));
        }
        tensors
    }

    /// The tensors without the rows.
    pub(super) fn state_tensors<'a>(&'a self, ids: &'a [WordId]) -> Vec<Named<'a>> {
        let Stream { vocabulary, initial, .. } = &self.stream;
        let saved = ids.iter().map(|&id| vocabulary.saved(id));
        let [words, ends] = word_tensors(saved.clone().map(|saved| saved.word));
        let mut tensors = vec![
            ("words", words),
            ("word_ends", ends),
            ("slots", Tensor::list(indices(ids))),
            ("counts", Tensor::list(saved.clone().map(|saved| saved.count))),
            ("counters", Tensor::list(saved.clone().map(|saved| saved.counter))),
            ("first_tokens", Tensor::list(saved.clone().map(|saved| saved.birth))),
            ("last_tokens", Tensor::list(saved.clone().map(|saved| saved.latest))),
        ];
        if self.settings.half_life().is_some() {
            tensors.push(("frequencies", Tensor::list(saved.map(|saved| saved.frequency))));
            tensors.push(("recent_counts", Tensor::list(ids.iter().map(|&id| vocabulary.recent_count(id)))));
        }
        if vocabulary.has_documents() {
            let documents = ids.iter().map(|&id| vocabulary.document_count(id));
            tensors.push(("document_counts", Tensor::list(documents)));
        }
        if let Some(times) = self.current_word_times() {
            tensors.push(("word_times", Tensor::list(ids.iter().map(|&id| times.of(vocabulary, id)))));
        }
        if let Some(initial) = initial {
            tensors.extend(vectors_tensors(&initial.vectors, INITIAL));
        }
        match &self.method {
            Method::MiniBatch(method) => {
                tensors.extend(replay_tensors(method.replay(), self.settings.half_life().is_some()));
                tensors.extend(phrase_tensors(method.phrases()));
            }
            Method::Sentences(method) => {
                let slots: &[[u32; 2]] = bytemuck::cast_slice(method.noise.saved_slots());
                tensors.push(("noise_slots", Tensor::borrowed(slots)));
                tensors.push(("noise_generations", Tensor::list(method.noise.generations().into_iter())));
            }
            Method::Passes(_) => {}
        }
        tensors
    }
}

fn indices(ids: &[WordId]) -> impl Iterator<Item = u32> {
    ids.iter().map(|id| id.index() as u32)
}

fn replay_tensors(replay: &ReplayBuffer, has_clocks: bool) -> Vec<Named<'static>> {
    let segments = replay.segments();
    let words = segments.iter().flat_map(|segment| indices(&segment.words));
    let ends = segments.iter().flat_map(|segment| segment.ends.iter().copied());
    let table = segments.iter().map(|segment| {
        let [words, ends] = [segment.words.len() as u64, segment.ends.len() as u64];
        [segment.start, words, ends, u64::from(segment.remaining)]
    });
    let mut tensors = vec![
        ("replay_words", Tensor::list(words)),
        ("replay_ends", Tensor::list(ends)),
        ("replay_segments", Tensor::list(table)),
    ];
    if has_clocks {
        let clocks = segments.iter().map(|segment| segment.clock.unwrap_or(0));
        tensors.push(("replay_clocks", Tensor::list(clocks)));
    }
    if replay.has_weights() {
        let weights = segments.iter().flat_map(|segment| segment.sentences().map(|sentence| sentence.weight));
        tensors.push(("replay_weights", Tensor::list(weights)));
    }
    tensors
}

/// What is counted to find phrases, if they are found.
fn phrase_tensors(phrases: &Phrases) -> Vec<Named<'_>> {
    let Some(discovery) = phrases.discovery() else { return Vec::new() };
    let parts = discovery.parts();
    let [words, ends] = word_tensors(parts.ids().map(|id| parts.word(id)));
    let counts = || {
        let saved = parts.ids().map(|id| parts.saved(id));
        saved.map(|saved| [saved.counter, saved.count, saved.birth, saved.latest])
    };
    let n_pairs = discovery.saved_keys().len();
    vec![
        ("phrase_parts", words),
        ("phrase_part_ends", ends),
        ("phrase_part_counts", Tensor::values(parts.len(), counts)),
        ("phrase_pairs", Tensor::values(n_pairs, || discovery.saved_keys())),
        ("phrase_pair_counts", Tensor::values(n_pairs, || discovery.saved_numbers())),
        ("phrases", Tensor::list(discovery.saved_phrases())),
    ]
}

fn matrix_tensor<'a>(layout: Layout, matrix: &'a Matrix, ids: &'a [WordId]) -> Tensor<'a> {
    Tensor::rows([ids.len(), layout.dimensions], move |to| {
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
            Some(Tensor::list(values))
        }
        Accumulators::None => None,
    }
}
