//! A coordinator and its workers, for `skipstream.ray`: messages cross the boundary as arrays of bytes.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use skipstream::snapshot::{Shard, ShardedModel};
use skipstream::train::cluster::{self, BatchMessages, Cluster, Session, WorkerBound};
use skipstream::unstable::{Lock as FileLock, create_folder};
use skipstream::{Config, Error, Observer, Progress, StopReason};

use crate::call::call;
use crate::ending::Inside;
use crate::settings::Settings;
use crate::text::{FileOptions, Model, Request, Shared, refuse_wrong_iterables};
use crate::trainer::{Told, summary};

type Bytes<'py> = PyReadonlyArray1<'py, u8>;

/// The rows of some blocks.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Worker(Mutex<cluster::Worker>);

#[pymethods]
impl Worker {
    /// Worker `number` of `workers`. The settings are those of the coordinator, as JSON.
    #[new]
    fn new(
        py: Python<'_>,
        settings: &str,
        number: usize,
        workers: usize,
        session: (u64, u64),
        threads: usize,
    ) -> PyResult<Worker> {
        let config: Config =
            serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let config = Config { threads: Some(threads), ..config };
        call(py, || cluster::Worker::new(config, number, workers, to_session(session)))
            .map(|worker| Worker(Mutex::new(worker)))
    }

    /// Loads its rows from a sharded model or a model file.
    fn load(&self, py: Python<'_>, model: PathBuf) -> PyResult<()> {
        call(py, || lock(&self.0).load(model))
    }

    /// Begins a batch.
    fn begin<'py>(&self, py: Python<'py>, batch: Bytes<'py>, own: Bytes<'py>) -> PyResult<Vec<Array<'py>>> {
        let (batch, own) = (batch.as_slice()?, own.as_slice()?);
        Ok(arrays(py, call(py, || lock(&self.0).begin(batch, own))?))
    }

    /// Trains the first part with its own contexts, and lends contexts.
    fn lend<'py>(&self, py: Python<'py>, needs: Vec<Bytes<'py>>) -> PyResult<Vec<Array<'py>>> {
        let needs = needs.iter().map(|bytes| bytes.as_slice()).collect::<Result<Vec<_>, _>>()?;
        Ok(arrays(py, call(py, || lock(&self.0).lend(&needs))?))
    }

    /// Trains with the contexts of another worker.
    #[pyo3(signature = (lent, passed = None))]
    fn visit<'py>(
        &self,
        py: Python<'py>,
        lent: Bytes<'py>,
        passed: Option<Bytes<'py>>,
    ) -> PyResult<Vec<Array<'py>>> {
        let lent = lent.as_slice()?;
        let passed = passed.as_ref().map(|bytes| bytes.as_slice()).transpose()?;
        Ok(arrays(py, call(py, || lock(&self.0).visit(lent, passed))?.into()))
    }

    /// Ends a batch.
    fn finish<'py>(&self, py: Python<'py>, returned: Vec<Bytes<'py>>) -> PyResult<Array<'py>> {
        let returned = returned.iter().map(|bytes| bytes.as_slice()).collect::<Result<Vec<_>, _>>()?;
        Ok(PyArray1::from_vec(py, call(py, || lock(&self.0).finish(&returned))?))
    }

    /// Saves its rows as a file of a checkpoint, which is described as JSON.
    fn save(&self, py: Python<'_>, folder: PathBuf, checkpoint: &str) -> PyResult<String> {
        call(py, || lock(&self.0).save(folder, checkpoint)).map(|shard| json!(shard).to_string())
    }
}

/// A trainer without rows.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Coordinator(Mutex<State>);

struct State {
    coordinator: cluster::Coordinator,
    feed: Option<Shared>,
    first: Progress,
    began: Instant,
    earlier: Progress,
    since: Instant,
}

#[pymethods]
impl Coordinator {
    /// An empty model.
    #[new]
    fn new(
        py: Python<'_>,
        settings: &Settings,
        workers: usize,
        session: (u64, u64),
    ) -> PyResult<Coordinator> {
        let config = settings.without_vectors()?;
        call(py, || cluster::Coordinator::new(config, workers, to_session(session))).map(Coordinator::of)
    }

    /// The state of a sharded model or a model file.
    #[staticmethod]
    fn load(py: Python<'_>, model: PathBuf, workers: usize, session: (u64, u64)) -> PyResult<Coordinator> {
        call(py, || cluster::Coordinator::load(model, workers, to_session(session), None))
            .map(Coordinator::of)
    }

    /// Opens the files to learn.
    fn open_files(&self, py: Python<'_>, paths: Vec<PathBuf>, options: FileOptions<'_>) -> PyResult<()> {
        self.open(py, &Request::files(py, &paths, &options)?)
    }

    /// Opens an iterable of sentences.
    fn open_sentences(&self, py: Python<'_>, sentences: Py<PyAny>) -> PyResult<()> {
        refuse_wrong_iterables(sentences.bind(py))?;
        self.open(py, &Request::Sentences(sentences, None))
    }

    /// Trains for about as many seconds. Returns whether the text has ended.
    fn step(&self, py: Python<'_>, cluster: Py<PyAny>, seconds: f64) -> PyResult<bool> {
        self.run(py, cluster, seconds, |state, workers, until| {
            let Some(feed) = &state.feed else { return Ok(StopReason::EndOfText) };
            let stopped = state.coordinator.train(&mut feed.clone(), workers, until);
            let recorded = feed.feed().record_positions(state.coordinator.ledger_mut());
            stopped.and_then(|stopped| recorded.map(|()| stopped))
        })
    }

    /// Trains the text that waits for its replay, for about as many seconds. Returns whether none is left.
    fn finish(&self, py: Python<'_>, cluster: Py<PyAny>, seconds: f64) -> PyResult<bool> {
        self.run(py, cluster, seconds, |state, workers, until| state.coordinator.finish(workers, until))
    }

    /// Saves the state as a file of a checkpoint, which is described as JSON.
    fn save(&self, py: Python<'_>, folder: PathBuf, checkpoint: &str) -> PyResult<String> {
        call(py, || lock(&self.0).coordinator.save(folder, checkpoint)).map(|shard| json!(shard).to_string())
    }

    /// The progress since the last call, as JSON.
    fn progress(&self) -> String {
        let mut state = lock(&self.0);
        let now = state.coordinator.progress();
        let trained = now.totals.since(&state.earlier.totals);
        let figures = json!({
            "words": now.tokens - state.first.tokens,
            "words_per_second": (now.tokens - state.earlier.tokens) as f64
                / state.since.elapsed().as_secs_f64().max(1e-9),
            "loss": (trained.pairs > 0).then(|| trained.mean_loss()).filter(|loss| loss.is_finite()),
            "vocabulary": now.vocabulary,
            "evictions": now.evictions,
            "seconds": state.began.elapsed().as_secs_f64(),
            "fraction": state.feed.as_ref().and_then(|feed| feed.feed().fraction()),
        });
        (state.earlier, state.since) = (now, Instant::now());
        figures.to_string()
    }

    /// What was learned.
    fn summary(&self) -> Told {
        let state = lock(&self.0);
        let now = state.coordinator.progress();
        let waiting = state.coordinator.waiting();
        let feed = state.feed.as_ref().map(Shared::feed);
        summary(&state.first, &now, waiting, state.began.elapsed(), 1, feed.as_deref())
    }

    /// Batches that were trained.
    fn batches(&self) -> u64 {
        lock(&self.0).coordinator.batches()
    }

    /// The resolved settings, as JSON.
    fn settings(&self) -> String {
        json!(lock(&self.0).coordinator.settings().resolved()).to_string()
    }

    /// The memory bounds of the coordinator and of a worker, in bytes.
    fn memory(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let state = lock(&self.0);
        let coordinator = &state.coordinator;
        let worker = call(py, || WorkerBound::new(coordinator.settings(), coordinator.workers()))?;
        Ok((coordinator.memory_bound().total(), worker.total()))
    }
}

impl Coordinator {
    fn of(coordinator: cluster::Coordinator) -> Coordinator {
        let (now, began) = (coordinator.progress(), Instant::now());
        let state = State { coordinator, feed: None, first: now, began, earlier: now, since: began };
        Coordinator(Mutex::new(state))
    }

    fn open(&self, py: Python<'_>, request: &Request) -> PyResult<()> {
        let model = {
            let state = lock(&self.0);
            let options = state.coordinator.settings().text().clone();
            Model { options, ledger: state.coordinator.ledger().clone(), in_passes: false }
        };
        let feed = Shared::new(request.open(py, &model)?);
        lock(&self.0).feed = Some(feed);
        Ok(())
    }

    fn run(
        &self,
        py: Python<'_>,
        cluster: Py<PyAny>,
        seconds: f64,
        work: impl FnOnce(&mut State, &mut Workers, &mut Until) -> skipstream::Result<StopReason> + Send,
    ) -> PyResult<bool> {
        let _inside = Inside::enter()?;
        let until = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let mut until = Until(Instant::now() + until);
        let mut workers = Workers { cluster, error: None };
        let stopped = call(py, || work(&mut lock(&self.0), &mut workers, &mut until));
        if let Some(error) = workers.error.take() {
            return Err(error);
        }
        let taken = lock(&self.0).feed.as_ref().and_then(|feed| feed.feed().take_error());
        taken.map_or(stopped, Err).map(|stopped| stopped == StopReason::EndOfText)
    }
}

/// Asks for a pause after some time.
struct Until(Instant);

impl Observer for Until {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if Instant::now() >= self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Workers that a Python object reaches.
struct Workers {
    cluster: Py<PyAny>,
    error: Option<PyErr>,
}

impl Workers {
    fn attempt<T>(&mut self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> skipstream::Result<T> {
        let done = Python::try_attach(|py| work(self.cluster.bind(py)));
        let ended = "the interpreter is shutting down".to_owned();
        done.ok_or(Error::Cluster { reason: ended })?.map_err(|error| {
            let reason = error.to_string();
            self.error = Some(error);
            Error::Cluster { reason }
        })
    }
}

impl Cluster for Workers {
    fn start(&mut self, messages: BatchMessages) -> skipstream::Result<()> {
        self.attempt(|cluster| {
            let py = cluster.py();
            let own = arrays(py, messages.own);
            cluster.call_method1("start", (PyArray1::from_vec(py, messages.batch), own)).map(drop)
        })
    }

    fn wait(&mut self) -> skipstream::Result<Vec<Vec<u8>>> {
        self.attempt(|cluster| {
            let results: Vec<Bound<'_, PyArray1<u8>>> = cluster.call_method0("wait")?.extract()?;
            results.iter().map(|bytes| bytes.to_vec().map_err(PyErr::from)).collect()
        })
    }
}

/// An exclusive lock, until it is released or the process ends.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Lock(Mutex<Option<FileLock>>);

#[pymethods]
impl Lock {
    /// Takes the lock on a folder, which is created; it is not held if another process has it.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Lock> {
        let taken = call(py, || {
            create_folder(&folder)?;
            FileLock::take(folder.join(".lock"))
        });
        taken.map(|lock| Lock(Mutex::new(lock)))
    }

    /// Whether the lock was taken.
    #[getter]
    fn is_held(&self) -> bool {
        lock(&self.0).is_some()
    }

    /// Releases the lock.
    fn release(&self) {
        drop(lock(&self.0).take());
    }
}

/// Whether a folder has a sharded model.
#[pyfunction]
pub fn is_sharded(folder: PathBuf) -> bool {
    ShardedModel::is_at(folder)
}

/// Deletes what is left of interrupted checkpoints.
#[pyfunction]
pub fn clean_shards(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    call(py, || ShardedModel::clean(folder))
}

/// Makes files, as they were described, the model of a folder.
#[pyfunction]
pub fn commit_shards(py: Python<'_>, folder: PathBuf, shards: Vec<String>) -> PyResult<()> {
    let shards = shards.iter().map(|shard| serde_json::from_str(shard)).collect::<Result<Vec<Shard>, _>>();
    let shards = shards.map_err(|error| PyValueError::new_err(error.to_string()))?;
    call(py, || ShardedModel::commit(folder, &shards))
}

/// Writes a sharded model as one file.
#[pyfunction]
pub fn join_shards(py: Python<'_>, folder: PathBuf, path: PathBuf) -> PyResult<()> {
    call(py, || ShardedModel::open(folder)?.join(path))
}

/// Writes a vectors file of the most frequent words of a sharded model.
#[pyfunction]
#[pyo3(signature = (folder, path, vectors, top = None))]
pub fn publish_shards(
    py: Python<'_>,
    folder: PathBuf,
    path: PathBuf,
    vectors: &str,
    top: Option<usize>,
) -> PyResult<()> {
    call(py, || {
        let model = ShardedModel::open(folder)?;
        model.embeddings(vectors.parse()?, top.unwrap_or(usize::MAX))?.save(path)
    })
}

type Array<'py> = Bound<'py, PyArray1<u8>>;

fn arrays(py: Python<'_>, messages: Vec<Vec<u8>>) -> Vec<Array<'_>> {
    messages.into_iter().map(|message| PyArray1::from_vec(py, message)).collect()
}

fn to_session((epoch, attempt): (u64, u64)) -> Session {
    Session { epoch, attempt }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
