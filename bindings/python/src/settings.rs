//! Checked settings of a trainer.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use skipstream::Bytes;
use skipstream::train::{AnyTrainer, Initial};
use skipstream::{Config, HalfLife, Setting, SettingKind, SettingValues};

use crate::error::to_python;

/// Checked settings.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Settings {
    config: Config,
    /// The memory limit, from which the vocabulary size follows.
    memory: Option<u64>,
    /// A file of vectors that words start from.
    init: Option<PathBuf>,
}

#[pymethods]
impl Settings {
    /// Checks settings by name. A setting that is missing or None has its default.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
        let (mut values, mut memory, mut init) = (Map::new(), None, None);
        for (name, value) in settings.into_iter().flatten() {
            let name = name.extract::<String>()?;
            match Setting::ALL.iter().find(|setting| setting.name == name) {
                _ if value.is_none() => {}
                Some(setting) => {
                    values.insert(name, read(setting, &value)?);
                }
                None if name == "memory" => memory = Some(bytes(&value)?),
                None if name == "init" => init = Some(value.extract::<PathBuf>()?),
                None => return Err(PyTypeError::new_err(format!("unknown setting {name:?}"))),
            }
        }
        let values: SettingValues = serde_json::from_value(Value::Object(values))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let config = values.config().and_then(|config| {
            let config = match (memory, &init) {
                (Some(bytes), None) => config.within_memory(bytes)?,
                _ => config,
            };
            config.clone().check()?;
            Ok(config)
        });
        let config = config.map_err(to_python)?;
        Ok(Settings { config, memory, init })
    }

    /// All settings, resolved, as JSON.
    fn resolved(&self) -> PyResult<String> {
        let settings = self.config.clone().check().map_err(to_python)?;
        Ok(serde_json::to_string(&settings.resolved()).expect("it is plain data"))
    }

    /// The names that each choice can have, as JSON.
    #[staticmethod]
    fn choices() -> String {
        let choice = |setting: &Setting| match &setting.kind {
            SettingKind::Choice(names) => Some((setting.name.to_owned(), Value::from(names.to_vec()))),
            _ => None,
        };
        Value::Object(Setting::ALL.iter().filter_map(choice).collect()).to_string()
    }

    /// The settings for sequences of items, as JSON.
    #[staticmethod]
    fn for_items() -> String {
        Value::Object(SettingValues::for_items().given()).to_string()
    }

    /// The names of all settings.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        Setting::ALL.iter().map(|setting| setting.name).chain(["memory", "init"]).collect()
    }
}

impl Settings {
    /// The settings of a model that starts from no vectors.
    pub fn without_vectors(&self) -> PyResult<Config> {
        match &self.init {
            Some(_) => Err(PyValueError::new_err("init cannot be used with several workers")),
            None => Ok(self.config.clone()),
        }
    }

    /// A trainer with these settings.
    pub fn trainer(&self) -> skipstream::Result<AnyTrainer> {
        let config = self.config.clone();
        let Some(path) = &self.init else {
            return AnyTrainer::new(config);
        };
        let initial = Initial::load(path)?;
        let config = match self.memory {
            Some(bytes) => config.within_memory(bytes.saturating_sub(initial.bytes()))?,
            None => config,
        };
        AnyTrainer::starting_from(config, initial)
    }
}

fn read(setting: &Setting, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let name = setting.name;
    match &setting.kind {
        SettingKind::Whole(range) => {
            let number = whole(name, value)?.filter(|number| range.contains(number));
            number.map(Value::from).ok_or_else(|| outside(name, shown(value), range))
        }
        SettingKind::Age(range) => age(name, value, range),
        SettingKind::Number(range) => {
            let number = number(name, value)?;
            if range.contains(&number) { Ok(number.into()) } else { Err(outside(name, number, range)) }
        }
        SettingKind::Choice(names) => choice(name, value, names),
        SettingKind::Bool => truth(name, value).map(Value::from),
        kind => unreachable!("a setting of the kind {kind:?}"),
    }
}

fn outside<T: Display>(name: &str, value: impl Display, range: &RangeInclusive<T>) -> PyErr {
    let message = format!("{name} is {value}; it must be from {} to {}", range.start(), range.end());
    PyValueError::new_err(message)
}

/// An int; None if it is negative or too large.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if is_truth(value) {
        return Err(wrong_type(name, value, "an int"));
    }
    match value.extract() {
        Ok(number) => Ok(Some(number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(None),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, value, "an int"))
        }
        Err(error) => Err(error),
    }
}

/// An int, or text such as `20M` or `30d`.
fn age(name: &str, value: &Bound<'_, PyAny>, range: &RangeInclusive<u64>) -> PyResult<Value> {
    if let Ok(text) = value.extract::<String>() {
        let checked: Result<HalfLife, String> = text.parse();
        return checked
            .map(|_| text.into())
            .map_err(|reason| PyValueError::new_err(format!("{name}: {reason}")));
    }
    let expected = "an int or a str such as \"20M\" or \"30d\"";
    let number = whole(name, value).map_err(|_| wrong_type(name, value, expected))?;
    let number = number.filter(|number| range.contains(number));
    number.map(Value::from).ok_or_else(|| outside(name, shown(value), range))
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if is_truth(value) || value.is_instance_of::<PyString>() {
        return Err(wrong_type(name, value, "a number"));
    }
    match value.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, value, "a number"))
        }
        // An int too large for a float is too large for every setting.
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(f64::INFINITY),
        read => read,
    }
}

fn truth(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_truth(value) { value.is_truthy() } else { Err(wrong_type(name, value, "True or False")) }
}

/// A bool of Python or NumPy.
fn is_truth(value: &Bound<'_, PyAny>) -> bool {
    let kind = value.get_type();
    value.is_instance_of::<PyBool>()
        || kind.module().is_ok_and(|module| module == "numpy")
            && kind.name().is_ok_and(|name| name == "bool" || name == "bool_")
}

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
    let memory = whole("memory", value);
    let memory = memory.map_err(|_| wrong_type("memory", value, "an int or a size such as \"2G\""))?;
    if memory.is_none() && value.lt(0)? {
        let written = shown(value);
        return Err(PyValueError::new_err(format!(
            "memory is {written}; it must be a number of bytes or a size such as \"2G\""
        )));
    }
    Ok(memory.unwrap_or(u64::MAX))
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
