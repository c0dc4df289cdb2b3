//! What was asked for, and what becomes of it.

use anyhow::{Result, bail};
use indicatif::DecimalBytes;
use serde::Serialize;
use serde_json::{Map, Value};
use skipstream::train::MemoryBound;
use skipstream::{Config, Settings};

use super::SettingArgs;

/// The settings that were asked for, by their names.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    fields: Map<String, Value>,
    /// Threads that train, which is no part of a model.
    pub threads: Option<usize>,
    memory: Option<u64>,
}

impl From<SettingArgs> for Asked {
    fn from(typed: SettingArgs) -> Asked {
        let (threads, memory) = (typed.threads, typed.memory.map(u64::from));
        let typed = SettingArgs { threads: None, memory: None, ..typed };
        let mut fields = fields_of(&typed);
        fields.retain(|_, value| !value.is_null());
        Asked { fields, threads, memory }
    }
}

impl Asked {
    /// The configuration of a new model: what was asked for, and the defaults.
    pub fn config(&self) -> Result<Config> {
        let mut config = fields_of(&Config::default());
        for (name, value) in &self.fields {
            let field = field_mut(&mut config, name);
            *field.expect("a test sees to it that every setting is a field") = value.clone();
        }
        let config = Config { threads: self.threads, ..serde_json::from_value(config.into())? };
        Ok(match self.memory {
            Some(bytes) => config.within_memory(bytes)?,
            None => config,
        })
    }

    /// Refuses settings that differ from those of the model.
    pub fn agree_with(&self, model: &Settings) -> Result<()> {
        let mut config = fields_of(&model.resolved());
        let mut differences = Vec::new();
        for (name, value) in &self.fields {
            let field = field_mut(&mut config, name).map(|field| &*field);
            if let Some(field) = field.filter(|field| *field != value) {
                let flag = name.replace('_', "-");
                differences.push(format!("--{flag} is {}, the model's is {}", shown(value), shown(field)));
            }
        }
        let bound = MemoryBound::new(model).total();
        if let Some(memory) = self.memory.filter(|&memory| memory < bound) {
            let (memory, bound) = (DecimalBytes(memory), DecimalBytes(bound));
            differences.push(format!("--memory is {memory}, the model may need {bound}"));
        }
        if differences.is_empty() {
            return Ok(());
        }
        bail!(
            "{}; settings are fixed once a model exists, only --threads and the text may change: \
             leave the setting out, or make a new model under another name",
            differences.join(", ")
        )
    }
}

/// The fields of a struct, by their names.
///
/// By way of text: a float then has the digits that a person would type, also where it is an `f32`.
fn fields_of(settings: &impl Serialize) -> Map<String, Value> {
    let text = serde_json::to_string(settings).expect("settings are numbers and names");
    serde_json::from_str(&text).expect("this was written as a struct just now")
}

/// The field of a configuration with this name; the text's are one level further down.
fn field_mut<'a>(config: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Value> {
    if config.contains_key(name) { config.get_mut(name) } else { config.get_mut("text")?.get_mut(name) }
}

/// As it is typed.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};
    use skipstream::Strategy;

    use super::*;
    use crate::units::Bytes;

    #[test]
    fn every_setting_is_a_field_of_the_configuration_and_the_other_way_round() {
        let command = SettingArgs::augment_args(Command::new("train"));
        let mut config = fields_of(&Config::default());
        let flags: Vec<String> = command.get_arguments().map(|flag| flag.get_id().to_string()).collect();
        for flag in flags.iter().filter(|flag| !["threads", "memory"].contains(&flag.as_str())) {
            assert!(field_mut(&mut config, flag).is_some(), "{flag}");
        }
        let text = config["text"].as_object().unwrap().clone();
        for field in config.keys().chain(text.keys()).filter(|field| *field != "text") {
            assert!(flags.contains(field), "{field}");
        }
    }

    #[test]
    fn what_was_asked_for_is_set_and_the_rest_is_as_by_default() {
        let typed = SettingArgs {
            dimensions: Some(7),
            learning_rate: Some(0.3),
            strategy: Some(Strategy::Incremental),
            max_token_bytes: Some(9),
            threads: Some(3),
            ..SettingArgs::default()
        };
        let mut expected = Config {
            dimensions: 7,
            learning_rate: Some(0.3),
            strategy: Strategy::Incremental,
            threads: Some(3),
            ..Config::default()
        };
        expected.text.max_token_bytes = 9;
        assert_eq!(Asked::from(typed).config().unwrap(), expected);
    }

    #[test]
    fn what_was_not_typed_agrees_with_every_model() {
        let model = Config { dimensions: 7, strategy: Strategy::Incremental, ..Config::default() };
        let model = model.check().unwrap();
        Asked::default().agree_with(&model).unwrap();
    }

    #[test]
    fn a_typed_value_that_is_the_model_s_default_agrees() {
        let model = Config::default().check().unwrap();
        let typed = SettingArgs { learning_rate: Some(0.2), replays: Some(1), ..SettingArgs::default() };
        Asked::from(typed).agree_with(&model).unwrap();
    }

    #[test]
    fn every_difference_is_named_with_both_values() {
        let model = Config::default().check().unwrap();
        let typed = SettingArgs {
            dimensions: Some(50),
            learning_rate: Some(0.3),
            strategy: Some(Strategy::Batch),
            seed: Some(1),
            ..SettingArgs::default()
        };
        let message = Asked::from(typed).agree_with(&model).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "--dimensions is 50, the model's is 100, --learning-rate is 0.3, the model's is 0.2, \
                 --strategy is batch, the model's is mini-batch; settings"
            ),
            "{message}"
        );
    }

    #[test]
    fn memory_must_be_enough_for_the_model_that_is_there() {
        let asked = |bytes| Asked::from(SettingArgs { memory: Some(Bytes(bytes)), ..SettingArgs::default() });
        let model = asked(1_000_000_000).config().unwrap().check().unwrap();
        asked(1_000_000_000).agree_with(&model).unwrap();
        asked(2_000_000_000).agree_with(&model).unwrap();
        let message = asked(900_000_000).agree_with(&model).unwrap_err().to_string();
        assert!(message.starts_with("--memory is 900.00 MB, the model may need 1"), "{message}");
    }
}
