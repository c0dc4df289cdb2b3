//! The trainer.
//!
//! `turns.rs` lets one thread at a time use it, `run.rs` is a call of `train`, `watch.rs` its observer, and `polite.rs` ends
//! batches early if the text arrives slowly.
//!
//! Invariant: a thread that waits for a trainer does not hold the GIL, and no thread uses a trainer without a turn. So a
//! training that needs the GIL to read more text always gets it.

mod polite;
mod run;
mod turns;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use skipstream::train::AnyTrainer;
use skipstream::vocabulary::Control;
use skipstream::{StopReason, Vectors};

use crate::call::call;
use crate::embeddings::Embeddings;
use crate::ending::Inside;
use crate::error::to_python;
use crate::means;
use crate::settings::Settings;
use crate::text::{self, FileOptions, Request};
use turns::{Turn, Turns};
use watch::Watch;

pub use run::{Told, summary};

/// The error for a thread that uses a trainer while feeding it, or in a signal handler.
const BUSY: &str = "this trainer is training and waiting for more text; use it from a callback or from another \
    thread. In a signal handler, set a flag and act on it in a callback";

/// The same for strategies where callbacks cannot use it either.
const BUSY_IN_PASSES: &str = "this trainer is training, and with the strategies batch and word2vec it can be used \
    only after training returns: there is no model before the end of the last pass. To end training, raise an \
    exception in a callback";

/// The error for a thread that starts a training within a training.
const TRAINS: &str = "this trainer is already training in this thread; wait until that call returns";

/// The error for every use of a trainer after a panic.
const DEAD: &str = "this trainer is dead: the engine failed while it changed the model, which may be half updated, so it can \
    neither be used nor saved; go on with the model that was saved last, as in Trainer.load(path)";

/// Learns from a stream.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Trainer {
    trainer: Mutex<AnyTrainer>,
    /// The error for a thread that already has a turn.
    busy: &'static str,
    /// Turns at using it.
    turns: Turns,
    /// Turns at training it, each of several turns at using it.
    trainings: Turns,
}

#[pymethods]
impl Trainer {
    /// An empty model.
    #[new]
    fn new(py: Python<'_>, settings: &Settings) -> PyResult<Trainer> {
        call(py, || settings.trainer()).map(Trainer::from)
    }

    /// The model in a file.
    #[staticmethod]
    #[pyo3(signature = (path, threads = None))]
    fn load(py: Python<'_>, path: PathBuf, threads: Option<usize>) -> PyResult<Trainer> {
        call(py, || AnyTrainer::load(path, threads)).map(Trainer::from)
    }

    /// Writes the whole state to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |trainer| trainer.model().save(path))
    }

    /// Learns sentences: strings, or lists of tokens.
    #[pyo3(signature = (sentences, weights = None, callback = None, interval = 1.0))]
    fn train(
        &self,
        py: Python<'_>,
        sentences: Py<PyAny>,
        weights: Option<Py<PyAny>>,
        callback: Option<Py<PyAny>>,
        interval: f64,
    ) -> PyResult<Told> {
        text::refuse_wrong_iterables(sentences.bind(py))?;
        let interval = checked_interval(interval)?;
        self.run(py, &Request::Sentences(sentences, weights), callback.as_ref(), interval)
    }

    /// Learns files, folders and patterns.
    fn train_file(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        options: FileOptions<'_>,
        callback: Option<Py<PyAny>>,
        interval: f64,
    ) -> PyResult<Told> {
        let interval = checked_interval(interval)?;
        let files = Request::files(py, &paths, &options)?;
        self.run(py, &files, callback.as_ref(), interval)
    }

    /// Waits for running training to end.
    fn wait_for_training(&self, py: Python<'_>) -> PyResult<()> {
        self.trainings.wait(py, TRAINS)?;
        self.check_alive()
    }

    /// Empties the replay buffer.
    #[pyo3(signature = (callback = None, interval = 1.0))]
    fn finish(&self, py: Python<'_>, callback: Option<Py<PyAny>>, interval: f64) -> PyResult<Told> {
        let _inside = Inside::enter()?;
        let interval = checked_interval(interval)?;
        let _training = self.trainings.wait(py, TRAINS)?;
        let before = self.with(py, |trainer| Ok(trainer.model().progress()))?;
        let mut watch = Watch::new(&self.turns, callback.as_ref(), interval, before);
        loop {
            let (outcome, now, waiting) = self.with(py, |trainer| {
                let outcome = match trainer {
                    AnyTrainer::Stream(trainer) => trainer.finish_observed(&mut watch),
                    AnyTrainer::Passes(_) => StopReason::EndOfText,
                };
                Ok((outcome, trainer.model().progress(), trainer.model().waiting()))
            })?;
            if let Some(error) = watch.take_error() {
                return Err(error);
            }
            if outcome == StopReason::Paused {
                watch.tell_if_due(py, &now, None)?;
                continue;
            }
            watch.tell(py, &now, Some(1.0))?;
            return Ok(summary(&before, &now, waiting, watch.elapsed(), 1, None));
        }
    }

    /// Pins, blocks, merges or forgets words: a JSON list of controls, and what they did as JSON.
    fn control(&self, py: Python<'_>, controls: &str) -> PyResult<String> {
        let _training = self.trainings.wait(py, TRAINS)?;
        let controls: Vec<Control> =
            serde_json::from_str(controls).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.with(py, |trainer| Ok(json!(trainer.control(controls)?).to_string()))
    }

    /// The words under control, as JSON.
    fn controls(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |trainer| Ok(json!(trainer.model().controls()).to_string()))
    }

    /// The phrases that are joined now, as JSON.
    fn phrases(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |trainer| Ok(json!(trainer.model().phrases()).to_string()))
    }

    /// Adds phrases that are always joined.
    fn add_phrases(&self, py: Python<'_>, phrases: Vec<String>) -> PyResult<usize> {
        self.with(py, |trainer| trainer.add_phrases(phrases))
    }

    /// The current vectors, optionally of the most frequent words only.
    #[pyo3(signature = (vectors, top = None))]
    fn embeddings(&self, py: Python<'_>, vectors: &str, top: Option<usize>) -> PyResult<Embeddings> {
        let top = top.unwrap_or(usize::MAX);
        self.with(py, |trainer| trainer.model().top_embeddings(vectors.parse()?, top)).map(Embeddings::new)
    }

    /// The vectors of words, one row each.
    fn vectors_of<'py>(
        &self,
        py: Python<'py>,
        words: Vec<String>,
        vectors: &str,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (dimensions, rows) = self.with(py, |trainer| {
            let live = trainer.model().live(vectors.parse()?);
            let mut rows = Vec::with_capacity(words.len() * live.dimensions());
            for word in &words {
                let unknown = || skipstream::Error::UnknownWord { word: word.clone() };
                rows.extend(live.vector(word).ok_or_else(unknown)?);
            }
            Ok((live.dimensions(), rows))
        })?;
        PyArray1::from_vec(py, rows).reshape([words.len(), dimensions])
    }

    /// The vector of each text, one row each. Unknown words are estimated by the subwords of some embeddings.
    #[pyo3(signature = (texts, vectors, weighting, normalize, subwords))]
    fn mean_vectors<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        vectors: &str,
        weighting: &Bound<'_, PyAny>,
        normalize: bool,
        subwords: Option<&Embeddings>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let _inside = Inside::enter()?;
        let vectors: Vectors = vectors.parse().map_err(to_python)?;
        let (dimensions, text) = self.with(py, |trainer| {
            let settings = trainer.model().settings();
            Ok((vectors.dimensions(settings.dimensions()), settings.text().clone()))
        })?;
        let options = means::options(weighting, normalize, subwords, dimensions)?;
        means::of_texts(py, texts, dimensions, &text, |texts, rows| {
            self.with(py, |trainer| {
                let live = trainer.model().live(vectors);
                means::append(texts, dimensions, &text, rows, |source, mean| {
                    live.mean_vector(source, &options, mean)
                })
            })
        })
    }

    /// The count of a word, if it is known.
    fn count(&self, py: Python<'_>, word: &str) -> PyResult<Option<u64>> {
        self.with(py, |trainer| Ok(trainer.model().count(word)))
    }

    /// Sets the number of training threads.
    #[pyo3(signature = (threads))]
    fn set_threads(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
        self.with(py, |trainer| trainer.set_threads(threads))
    }

    /// Sets the number of replays for new text.
    fn set_replays(&self, py: Python<'_>, replays: u32) -> PyResult<()> {
        self.with(py, |trainer| match trainer {
            AnyTrainer::Stream(trainer) => trainer.set_replays(replays),
            AnyTrainer::Passes(_) => {
                let (value, limit) =
                    (replays.to_string(), "left out where a text is read in passes".to_owned());
                Err(skipstream::Error::Setting { field: "replays", value, limit })
            }
        })
    }

    /// Notes stored with the model, by name.
    fn notes(&self, py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
        self.with(py, |trainer| Ok(trainer.model().notes().clone()))
    }

    /// Stores a note with the model.
    fn set_note(&self, py: Python<'_>, name: String, text: String) -> PyResult<()> {
        self.with(py, |trainer| {
            trainer.set_note(name, text);
            Ok(())
        })
    }

    /// Training statistics, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |trainer| {
            let model = trainer.model();
            let (now, settings, bound) = (model.progress(), model.settings(), model.memory_bound());
            let stats = json!({
                "words": now.tokens,
                "pairs": now.totals.pairs,
                "loss": run::finite(now.totals.mean_loss()),
                "vocabulary": now.vocabulary,
                "max_vocabulary": settings.max_vocabulary(),
                "evictions": now.evictions,
                "replayed": now.totals.replayed,
                "waiting": model.waiting(),
                "dimensions": settings.dimensions(),
                "threads": settings.threads(),
                "kernel": model.instruction_set(),
                "memory_bound": bound,
                "memory_bound_total": bound.total(),
            });
            Ok(stats.to_string())
        })
    }

    /// The resolved settings, as JSON.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |trainer| {
            Ok(serde_json::to_string(&trainer.model().settings().resolved()).expect("it is plain data"))
        })
    }
}

impl From<AnyTrainer> for Trainer {
    fn from(trainer: AnyTrainer) -> Trainer {
        Trainer {
            busy: if matches!(trainer, AnyTrainer::Passes(_)) { BUSY_IN_PASSES } else { BUSY },
            trainer: Mutex::new(trainer),
            turns: Turns::default(),
            trainings: Turns::default(),
        }
    }
}

impl Trainer {
    /// Uses the trainer when it is this thread's turn.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut AnyTrainer) -> skipstream::Result<T> + Send,
    ) -> PyResult<T> {
        let _turn = self.turn(py)?;
        call(py, || work(&mut self.lock()))
    }

    /// Waits for a turn.
    fn turn(&self, py: Python<'_>) -> PyResult<Turn<'_>> {
        let turn = self.turns.wait(py, self.busy)?;
        self.check_alive()?;
        Ok(turn)
    }

    /// Waits for a turn without handling signals, to finish what was started.
    fn turn_anyway(&self, py: Python<'_>) -> PyResult<Turn<'_>> {
        let turn = self.turns.wait_anyway(py, self.busy)?;
        self.check_alive()?;
        Ok(turn)
    }

    /// Fails after a panic that left the model half updated.
    fn check_alive(&self) -> PyResult<()> {
        if self.trainer.is_poisoned() { Err(PyRuntimeError::new_err(DEAD)) } else { Ok(()) }
    }

    /// Requires a turn.
    fn lock(&self) -> MutexGuard<'_, AnyTrainer> {
        self.trainer.lock().expect("nobody gets a turn after a panic")
    }
}

fn checked_interval(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!("interval is {seconds}; it must be a number of seconds, 0 or more"))
    })
}
