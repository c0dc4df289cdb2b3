//! The trainer.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use skipstream::corpus::{Sentence, Source};

use crate::call::call;
use crate::embeddings::Embeddings;
use crate::settings::Settings;

/// Learns from a stream.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Trainer {
    trainer: Mutex<skipstream::Trainer>,
}

#[pymethods]
impl Trainer {
    /// An empty model.
    #[new]
    fn new(py: Python<'_>, settings: &Settings) -> PyResult<Trainer> {
        let trainer = call(py, || skipstream::Trainer::new(settings.config.clone()))?;
        Ok(Trainer { trainer: Mutex::new(trainer) })
    }

    /// The model in a file.
    #[staticmethod]
    #[pyo3(signature = (path, threads = None))]
    fn load(py: Python<'_>, path: PathBuf, threads: Option<usize>) -> PyResult<Trainer> {
        let trainer = call(py, || skipstream::Trainer::load(path, threads))?;
        Ok(Trainer { trainer: Mutex::new(trainer) })
    }

    /// Writes the whole state to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        call(py, || self.lock().save(path))
    }

    /// Learns lists of tokens.
    fn train(&self, py: Python<'_>, sentences: Vec<Vec<String>>) -> PyResult<()> {
        call(py, || {
            let mut sentences = Lists(sentences.into_iter());
            self.lock().train(&mut sentences, &mut ()).map(drop)
        })
    }

    /// Trains what waits for its replay.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        call(py, || {
            self.lock().finish(&mut ());
            Ok(())
        })
    }

    /// The vectors as they are now.
    #[pyo3(signature = (vectors = "sum"))]
    fn embeddings(&self, py: Python<'_>, vectors: &str) -> PyResult<Embeddings> {
        let embeddings = call(py, || self.lock().embeddings(vectors.parse()?))?;
        Ok(Embeddings::new(embeddings))
    }

    /// The settings in force, as JSON.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || Ok(serde_json::to_string(&self.lock().settings().resolved()).expect("it is plain data")))
    }
}

impl Trainer {
    fn lock(&self) -> MutexGuard<'_, skipstream::Trainer> {
        self.trainer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Lists(std::vec::IntoIter<Vec<String>>);

impl Source for Lists {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<bool> {
        sentence.clear();
        for tokens in self.0.by_ref() {
            if !tokens.is_empty() {
                tokens.iter().for_each(|token| sentence.push(token));
                return Ok(true);
            }
        }
        Ok(false)
    }
}
