//! The settings of a trainer, checked.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use serde_json::{Map, Value};
use skipstream::Config;

use crate::error::to_python;

/// Settings within their limits.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Settings {
    /// Checked.
    pub config: Config,
}

#[pymethods]
impl Settings {
    /// Checks settings by name. What is not named has its default.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
        let config = config(settings)?;
        let checked = config.check().map_err(|error| to_python(py, error))?;
        Ok(Settings { config: Config { threads: checked.threads, ..(*checked).clone() } })
    }
}

/// The names of the settings that are about text.
const TEXT: [&str; 8] = [
    "tokenizer",
    "lowercase",
    "nfkc",
    "min_token_len",
    "max_token_len",
    "max_sentence_words",
    "max_token_bytes",
    "invalid_utf8",
];

fn config(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Config> {
    let mut config = Map::new();
    let mut text = Map::new();
    let mut threads = None;
    for (name, value) in settings.into_iter().flatten() {
        let name: String = name.extract()?;
        if name == "threads" {
            threads = value.extract()?;
            continue;
        }
        let value = json(&value)?;
        if TEXT.contains(&name.as_str()) { &mut text } else { &mut config }.insert(name, value);
    }
    config.insert("text".to_owned(), Value::Object(text));
    let config: Config = serde_json::from_value(Value::Object(config))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Config { threads, ..config })
}

fn json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(if value.is_none() {
        Value::Null
    } else if let Ok(value) = value.extract::<bool>() {
        Value::Bool(value)
    } else if value.is_instance_of::<PyInt>() {
        Value::from(value.extract::<u64>()?)
    } else if let Ok(value) = value.extract::<f64>() {
        Value::from(value)
    } else {
        Value::String(value.extract()?)
    })
}
