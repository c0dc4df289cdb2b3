//! What was asked for, and what becomes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use indicatif::DecimalBytes;
use serde::Serialize;
use serde_json::{Map, Value};
use skipstream::train::Initial;
use skipstream::{Config, Embeddings, Trainer};

use super::{SettingArgs, SettingsFile};

/// The settings that were asked for, each with where.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    fields: BTreeMap<String, Setting<Value>>,
    memory: Option<Setting<u64>>,
    /// Threads that train, which is no part of a model.
    pub threads: Option<usize>,
}

/// A value, and who asked for it.
#[derive(Clone, Debug)]
struct Setting<T> {
    value: T,
    origin: Origin,
}

/// Who asked for a setting.
#[derive(Clone, Debug)]
enum Origin {
    /// A flag.
    Flag,
    /// A file of settings.
    File(PathBuf),
}

impl Asked {
    /// What was typed, on top of what a file says.
    pub fn new(typed: SettingArgs, file: Option<SettingsFile>) -> Result<Asked> {
        let mut asked = Asked::default();
        if let Some(file) = file {
            asked.overlay(file.settings, &Origin::File(file.path))?;
        }
        asked.overlay(typed, &Origin::Flag)?;
        Ok(asked)
    }

    fn overlay(&mut self, settings: SettingArgs, origin: &Origin) -> Result<()> {
        for (name, value) in [
            ("noise_exponent", settings.noise_exponent),
            ("subsample", settings.subsample),
            ("learning_rate", settings.learning_rate.map(f64::from)),
        ] {
            // JSON, by way of which settings are put together, has no such numbers.
            if let Some(value) = value.filter(|value| !value.is_finite()) {
                bail!("{} is {value}; it must be a finite number", origin.name(name));
            }
        }
        if settings.max_vocabulary.or(settings.table_size).is_some() {
            self.memory = None;
        }
        if let Some(memory) = settings.memory {
            self.fields.retain(|name, _| !["max_vocabulary", "table_size"].contains(&name.as_str()));
            self.memory = Some(Setting { value: memory.into(), origin: origin.clone() });
        }
        self.threads = settings.threads.or(self.threads);
        let fields = SettingArgs { threads: None, memory: None, ..settings };
        for (name, value) in fields_of(&fields).into_iter().filter(|(_, value)| !value.is_null()) {
            self.fields.insert(name, Setting { value, origin: origin.clone() });
        }
        Ok(())
    }

    /// The configuration of a new model: what was asked for, and the defaults.
    ///
    /// Of the memory, so much is left for vectors of `scored_words` words that are copied to be scored.
    pub fn config(&self, scored_words: usize) -> Result<Config> {
        self.config_beside(&Config::default(), 0, scored_words)
    }

    /// The configuration of a new model whose words start with given vectors: these decide on the dimensions if nobody
    /// else does, and take a part of the memory.
    pub fn config_from(&self, initial: &Initial, scored_words: usize) -> Result<Config> {
        let dimensions = initial.vectors.dimensions();
        let config =
            self.config_beside(&Config { dimensions, ..Config::default() }, initial.bytes(), scored_words);
        config.with_context(|| format!("beside {} for the vectors of --init", DecimalBytes(initial.bytes())))
    }

    /// The configuration of a new model whose user takes `bound` bytes in all, the trainer included: of the memory that was
    /// asked for, all of it must fit.
    pub fn config_bounded(&self, bound: &dyn Fn(&Config) -> Result<u64>) -> Result<Config> {
        let Some(memory) = &self.memory else { return self.config(0) };
        let within = |bytes: u64| {
            let asked = Asked { memory: Some(Setting { value: bytes, ..memory.clone() }), ..self.clone() };
            asked.config(0)
        };
        let fits = |config: &Config| Ok::<_, anyhow::Error>(bound(config)? <= memory.value);
        // The bound grows with what the trainer may take.
        let (mut too_little, mut too_much) = (0, memory.value.saturating_add(1));
        let mut best = None;
        while too_much - too_little > 1 {
            let middle = u64::midpoint(too_little, too_much);
            match within(middle) {
                Ok(config) if !fits(&config)? => too_much = middle,
                Ok(config) => {
                    too_little = middle;
                    best = Some(config);
                }
                Err(_) => too_little = middle,
            }
        }
        if let Some(config) = best {
            return Ok(config);
        }
        let smallest = Asked { memory: None, ..self.clone() }.config(0)?;
        let least = bound(&Config { max_vocabulary: 2, ..smallest })?;
        let name = memory.origin.name("memory");
        let (memory, least) = (DecimalBytes(memory.value), DecimalBytes(least));
        bail!("{name} is {memory}; a service with these settings takes {least} even for two words")
    }

    fn config_beside(&self, default: &Config, initial_bytes: u64, scored_words: usize) -> Result<Config> {
        let mut config = fields_of(default);
        for (name, setting) in &self.fields {
            let field = field_mut(&mut config, name);
            *field.expect("a test sees to it that every setting is a field") = setting.value.clone();
        }
        let config = Config { threads: self.threads, ..serde_json::from_value(config.into())? };
        Ok(match &self.memory {
            Some(memory) => {
                let scored =
                    Embeddings::max_bytes(scored_words, config.dimensions, config.text.max_token_bytes);
                config.within_memory(memory.value.saturating_sub(initial_bytes + scored))?
            }
            None => config,
        })
    }

    /// Refuses settings that differ from those of the model, and less memory than it may need.
    pub fn agree_with(&self, model: &Trainer, bound: u64) -> Result<()> {
        let mut config = fields_of(&model.settings().resolved());
        let mut differences = Vec::new();
        for (name, Setting { value, origin }) in &self.fields {
            let field = field_mut(&mut config, name).map(|field| &*field);
            if let Some(field) = field.filter(|field| *field != value) {
                let name = origin.name(name);
                differences.push(format!("{name} is {}, the model's is {}", shown(value), shown(field)));
            }
        }
        if let Some(Setting { value, origin }) = self.memory.as_ref().filter(|memory| memory.value < bound) {
            let (name, memory, bound) = (origin.name("memory"), DecimalBytes(*value), DecimalBytes(bound));
            differences.push(format!("{name} is {memory}, the model may need {bound}"));
        }
        if differences.is_empty() {
            return Ok(());
        }
        bail!(
            "{}; settings are fixed once a model exists, only threads and the text may change: \
             leave the setting out, or make a new model under another name",
            differences.join(", ")
        )
    }
}

impl Origin {
    /// What a person would look for.
    fn name(&self, field: &str) -> String {
        match self {
            Origin::Flag => format!("--{}", field.replace('_', "-")),
            Origin::File(path) => format!("{field} in {}", path.display()),
        }
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
    match value {
        Value::String(name) => name.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};
    use skipstream::Strategy;

    use super::*;
    use skipstream::units::Bytes;

    fn typed(settings: SettingArgs) -> Asked {
        Asked::new(settings, None).unwrap()
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused() {
        let typed = SettingArgs { subsample: Some(f64::NAN), ..SettingArgs::default() };
        let message = Asked::new(typed, None).unwrap_err().to_string();
        assert_eq!(message, "--subsample is NaN; it must be a finite number");
    }

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
        let settings = SettingArgs {
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
        assert_eq!(typed(settings).config(0).unwrap(), expected);
    }

    #[test]
    fn what_was_not_typed_agrees_with_every_model() {
        let model = Config { dimensions: 7, strategy: Strategy::Incremental, ..Config::default() };
        let model = Trainer::new(model).unwrap();
        Asked::default().agree_with(&model, model.memory_bound().total()).unwrap();
    }

    #[test]
    fn a_typed_value_that_is_the_model_s_default_agrees() {
        let model = Trainer::new(Config::default()).unwrap();
        let settings = SettingArgs { learning_rate: Some(0.2), replays: Some(1), ..SettingArgs::default() };
        typed(settings).agree_with(&model, model.memory_bound().total()).unwrap();
    }

    #[test]
    fn every_difference_is_named_with_both_values() {
        let model = Trainer::new(Config::default()).unwrap();
        let settings = SettingArgs {
            dimensions: Some(50),
            learning_rate: Some(0.3),
            strategy: Some(Strategy::Batch),
            seed: Some(1),
            ..SettingArgs::default()
        };
        let message =
            typed(settings).agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
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
        let asked = |bytes| typed(SettingArgs { memory: Some(Bytes(bytes)), ..SettingArgs::default() });
        let model = Trainer::new(asked(1_000_000_000).config(0).unwrap()).unwrap();
        asked(1_000_000_000).agree_with(&model, model.memory_bound().total()).unwrap();
        asked(2_000_000_000).agree_with(&model, model.memory_bound().total()).unwrap();
        let message =
            asked(900_000_000).agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
        assert!(message.starts_with("--memory is 900.00 MB, the model may need 1"), "{message}");
    }

    #[test]
    fn memory_for_more_than_the_trainer_leaves_less_to_the_vocabulary() {
        let asked = typed(SettingArgs { memory: Some(Bytes(1_000_000_000)), ..SettingArgs::default() });
        let trainer_alone =
            |config: &Config| Ok(skipstream::train::MemoryBound::new(&config.clone().check()?).total());
        assert_eq!(asked.config_bounded(&trainer_alone).unwrap(), asked.config(0).unwrap());
        let twice = |config: &Config| Ok(2 * trainer_alone(config)?);
        let config = asked.config_bounded(&twice).unwrap();
        assert!((990_000_000..=1_000_000_000).contains(&twice(&config).unwrap()));
        let message = asked.config_bounded(&|_| Ok(2_000_000_000)).unwrap_err().to_string();
        assert_eq!(
            message,
            "--memory is 1.00 GB; a service with these settings takes 2.00 GB even for two words"
        );
    }

    #[test]
    fn flags_stand_above_the_file_and_a_size_above_the_memory_of_the_file() {
        let file = |settings| Some(SettingsFile { path: "s.toml".into(), settings });
        let default = SettingArgs::default;
        let in_file = SettingArgs { window: Some(3), seed: Some(3), threads: Some(3), ..default() };
        let asked = Asked::new(SettingArgs { window: Some(4), ..default() }, file(in_file)).unwrap();
        let config = asked.config(0).unwrap();
        assert_eq!((config.window, config.seed, config.threads), (4, 3, Some(3)));
        let model = Trainer::new(Config::default()).unwrap();
        let message = asked.agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
        let expected = "seed in s.toml is 3, the model's is 1, --window is 4, the model's is 5; settings";
        assert!(message.starts_with(expected), "{message}");

        let size = SettingArgs { max_vocabulary: Some(77), ..default() };
        let memory = SettingArgs { memory: Some(Bytes(1_000_000_000)), ..default() };
        let asked = Asked::new(size.clone(), file(memory.clone())).unwrap();
        assert_eq!(asked.config(0).unwrap().max_vocabulary, 77);
        let asked = Asked::new(memory, file(size)).unwrap();
        assert!(asked.config(0).unwrap().max_vocabulary > 100_000);
    }
}
