//! The settings of a trainer, checked.

use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use skipstream::train::Initial;
use skipstream::units::Bytes;
use skipstream::{Config, Error};

use crate::error::to_python;

/// Settings within their limits.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Settings {
    /// Checked.
    config: Config,
    /// Bytes that decide on the vocabulary.
    memory: Option<u64>,
    /// A file of vectors with which words start.
    init: Option<PathBuf>,
}

#[pymethods]
impl Settings {
    /// Checks settings by name. What is not named has its default.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
        let mut asked = Asked::default();
        for (name, value) in settings.into_iter().flatten() {
            asked.set(&name.extract::<String>()?, &value)?;
        }
        asked.check(py)
    }

    /// All settings with every choice spelled out, as JSON.
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.config.clone().check().map_err(|error| to_python(py, error))?;
        Ok(serde_json::to_string(&settings.resolved()).expect("it is plain data"))
    }
}

impl Settings {
    /// A trainer with these settings.
    pub fn trainer(&self) -> skipstream::Result<skipstream::Trainer> {
        let config = self.config.clone();
        let Some(path) = &self.init else {
            return skipstream::Trainer::new(config);
        };
        let initial = Initial::load(path)?;
        let config = match self.memory {
            Some(bytes) => config.within_memory(bytes.saturating_sub(initial.bytes()))?,
            None => config,
        };
        skipstream::Trainer::starting_from(config, initial)
    }
}

/// Settings that were asked for.
#[derive(Default)]
struct Asked {
    config: Config,
    memory: Option<u64>,
    init: Option<PathBuf>,
    /// Numbers that their fields cannot hold, as they were written. In the field is the largest that it can: that is
    /// beyond the limits too, so that the engine names them.
    beyond: Vec<(String, String)>,
}

impl Asked {
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Asked { config, memory, init, beyond } = self;
        let text = &mut config.text;
        let mut whole = Whole { name, beyond };
        match name {
            "dimensions" => config.dimensions = whole.read(value, usize::MAX)?,
            "window" => config.window = whole.read(value, usize::MAX)?,
            "window_shape" => config.window_shape = choice(name, value, &["shrinking", "fixed"])?,
            "negatives" => config.negatives = whole.read(value, usize::MAX)?,
            "noise_exponent" => config.noise_exponent = number(name, value)?,
            "subsample" => config.subsample = number(name, value)?,
            "learning_rate" => {
                config.learning_rate = optional(value, |value| Ok(number(name, value)? as f32))?;
            }
            "adagrad" => {
                config.adagrad = optional(value, |value| choice(name, value, &["row", "dimension"]))?;
            }
            "max_vocabulary" => config.max_vocabulary = whole.read(value, usize::MAX)?,
            "table_size" => config.table_size = whole.read(value, usize::MAX)?,
            "batch_words" => config.batch_words = whole.read(value, usize::MAX)?,
            "blocks" => config.blocks = whole.read(value, usize::MAX)?,
            "replays" => config.replays = optional(value, |value| whole.read(value, u32::MAX))?,
            "replay_words" => config.replay_words = whole.read(value, usize::MAX)?,
            "passes" => config.passes = whole.read(value, u32::MAX)?,
            "strategy" => {
                let choices = ["mini-batch", "incremental", "batch", "word2vec"];
                config.strategy = choice(name, value, &choices)?;
            }
            "tokenizer" => text.tokenizer = choice(name, value, &["whitespace", "unicode"])?,
            "lowercase" => text.lowercase = truth(name, value)?,
            "nfkc" => text.nfkc = truth(name, value)?,
            "min_token_len" => text.min_token_len = whole.read(value, usize::MAX)?,
            "max_token_len" => text.max_token_len = optional(value, |value| whole.read(value, usize::MAX))?,
            "max_sentence_words" => text.max_sentence_words = whole.read(value, usize::MAX)?,
            "max_token_bytes" => text.max_token_bytes = whole.read(value, usize::MAX)?,
            "invalid_utf8" => text.invalid_utf8 = choice(name, value, &["replace", "skip", "error"])?,
            "seed" => {
                config.seed = whole.read(value, u64::MAX)?;
                if let Some((_, seed)) = beyond.iter().find(|(name, _)| name == "seed") {
                    let message = format!("seed is {seed}; it must be from 0 to {}", u64::MAX);
                    return Err(PyValueError::new_err(message));
                }
            }
            "threads" => config.threads = optional(value, |value| whole.read(value, usize::MAX))?,
            "memory" => *memory = optional(value, bytes)?,
            "init" => *init = optional(value, |value| value.extract::<PathBuf>())?,
            _ => return Err(PyTypeError::new_err(format!("there is no setting {name:?}"))),
        }
        Ok(())
    }

    fn check(self, py: Python<'_>) -> PyResult<Settings> {
        let Asked { config, memory, init, beyond } = self;
        let checked = match (memory, &init) {
            (Some(bytes), None) => config.within_memory(bytes),
            _ => Ok(config),
        };
        let checked = checked.and_then(|config| Ok((config.clone().check()?, config)));
        match checked {
            Ok((_, config)) => Ok(Settings { config, memory, init }),
            Err(Error::Setting { field, value, limit }) => {
                let written = beyond.into_iter().find(|(name, _)| name == field);
                let value = written.map_or(value, |(_, written)| written);
                Err(to_python(py, Error::Setting { field, value, limit }))
            }
            Err(error) => Err(to_python(py, error)),
        }
    }
}

/// Reads whole numbers.
struct Whole<'a> {
    name: &'a str,
    beyond: &'a mut Vec<(String, String)>,
}

impl Whole<'_> {
    fn read<T>(&mut self, value: &Bound<'_, PyAny>, largest: T) -> PyResult<T>
    where
        T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
    {
        if is_truth(value) {
            return Err(wrong_type(self.name, value, "an int"));
        }
        match value.extract() {
            Ok(number) => Ok(number),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                self.beyond.push((self.name.to_owned(), shown(value)));
                Ok(largest)
            }
            Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
                Err(wrong_type(self.name, value, "an int"))
            }
            Err(error) => Err(error),
        }
    }
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if is_truth(value) || value.is_instance_of::<PyString>() {
        return Err(wrong_type(name, value, "a number"));
    }
    match value.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, value, "a number"))
        }
        // A whole number that is too large for a float is too large for every setting.
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(f64::INFINITY),
        read => read,
    }
}

fn truth(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_truth(value) { value.is_truthy() } else { Err(wrong_type(name, value, "True or False")) }
}

/// Whether it is `True` or `False`, of Python or of NumPy.
fn is_truth(value: &Bound<'_, PyAny>) -> bool {
    let kind = value.get_type();
    value.is_instance_of::<PyBool>()
        || kind.module().is_ok_and(|module| module == "numpy")
            && kind.name().is_ok_and(|name| name == "bool" || name == "bool_")
}

/// One of several names.
pub fn choice<T: DeserializeOwned>(name: &str, value: &Bound<'_, PyAny>, choices: &[&str]) -> PyResult<T> {
    let Ok(chosen) = value.extract::<String>() else {
        return Err(wrong_type(name, value, "a str"));
    };
    let known = choices.contains(&chosen.as_str());
    known.then(|| serde_json::from_value(Value::String(chosen.clone())).ok()).flatten().ok_or_else(|| {
        let (last, others) = choices.split_last().expect("there are choices");
        let choices = format!("{} or {last}", others.join(", "));
        PyValueError::new_err(format!("{name} is {chosen:?}; it must be {choices}"))
    })
}

/// A number of bytes, or a size such as `2G`.
fn bytes(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(size) = value.extract::<String>() {
        let size: Bytes =
            size.parse().map_err(|reason| PyValueError::new_err(format!("memory: {reason}")))?;
        return Ok(size.0);
    }
    let mut beyond = Vec::new();
    let memory = Whole { name: "memory", beyond: &mut beyond }.read(value, 0);
    let memory = memory.map_err(|_| wrong_type("memory", value, "an int or a size such as \"2G\""))?;
    match beyond.first() {
        Some((_, written)) if written.starts_with('-') => Err(PyValueError::new_err(format!(
            "memory is {written}; it must be a number of bytes or a size such as \"2G\""
        ))),
        Some(_) => Ok(u64::MAX),
        None => Ok(memory),
    }
}

pub fn optional<T>(
    value: &Bound<'_, PyAny>,
    read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    if value.is_none() { Ok(None) } else { read(value).map(Some) }
}

fn wrong_type(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "something".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} is {}, of type {kind}; it must be {wanted}", shown(value)))
}

/// A value as Python writes it, if it is short.
fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    let Ok(shown) = value.repr() else { return "what cannot be shown".to_owned() };
    let shown = shown.to_string_lossy();
    match shown.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}
