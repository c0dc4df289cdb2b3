//! Requested settings: merged from flags and a file, turned into a configuration, or compared with a model.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use indicatif::DecimalBytes;
use serde_json::Value;
use skipstream::train::Initial;
use skipstream::{Config, Embeddings, Quality, SettingValues, Trainer, Vectors};

use super::{SettingArgs, SettingsFile};

/// The requested settings, each with its origin.
#[derive(Clone, Debug, Default)]
pub struct RequestedSettings {
    fields: BTreeMap<String, (Value, Origin)>,
    memory: Option<(u64, Origin)>,
    /// The name that sets some of the fields, as it was given: an error is about it and not about them.
    quality: Option<Quality>,
    /// Number of training threads, which is not part of a model.
    pub threads: Option<usize>,
}

/// The origin of a setting.
#[derive(Clone, Debug)]
enum Origin {
    Flag,
    /// The settings of `--for items`.
    Items,
    File(PathBuf),
}

impl RequestedSettings {
    /// Merges flags and a file; flags take precedence.
    pub fn new(typed: SettingArgs, file: Option<SettingsFile>) -> RequestedSettings {
        let mut requested = RequestedSettings::default();
        if typed.for_items {
            let values = SettingValues::for_items();
            requested.overlay(SettingArgs { values, ..SettingArgs::default() }, &Origin::Items);
        }
        if let Some(file) = file {
            requested.overlay(file.settings, &Origin::File(file.path));
        }
        requested.overlay(typed, &Origin::Flag);
        requested
    }

    fn overlay(&mut self, settings: SettingArgs, origin: &Origin) {
        let SettingArgs { mut values, memory, .. } = settings;
        if values.max_vocabulary.or(values.table_size).is_some() {
            self.memory = None;
        }
        if let Some(memory) = memory {
            self.fields.retain(|name, _| !["max_vocabulary", "table_size"].contains(&name.as_str()));
            self.memory = Some((memory.into(), origin.clone()));
        }
        self.threads = values.threads.take().or(self.threads);
        self.quality = values.quality.or(self.quality);
        self.fields.extend(values.given().into_iter().map(|(name, value)| (name, (value, origin.clone()))));
    }

    /// The configuration of a new model: the requested settings and the defaults.
    ///
    /// Initial vectors set the default dimensions. The memory limit covers them, a copy of the vectors of `scored_words`
    /// words, and `source_bytes` for messages.
    pub fn config(
        &self,
        initial: Option<&Initial>,
        scored_words: usize,
        source_bytes: u64,
    ) -> Result<Config> {
        let mut config = self.config_without_memory()?;
        if let Some(initial) = initial.filter(|_| !self.fields.contains_key("dimensions")) {
            config.dimensions = initial.vectors.dimensions();
        }
        let Some((memory, _)) = self.memory else { return Ok(config) };
        let dimensions = Vectors::default().dimensions(config.dimensions);
        let scored = Embeddings::max_bytes(scored_words, dimensions, config.text.max_token_bytes);
        let initial_bytes = initial.map_or(0, Initial::bytes);
        let config = config.within_memory(memory.saturating_sub(initial_bytes + scored + source_bytes));
        let others = [(initial_bytes, "the vectors of --init"), (source_bytes, "the messages of --source")];
        let others = others.into_iter().filter(|(bytes, _)| *bytes > 0);
        let others: Vec<String> =
            others.map(|(bytes, what)| format!("{} for {what}", DecimalBytes(bytes))).collect();
        if others.is_empty() {
            return Ok(config?);
        }
        config.with_context(|| format!("with {}", others.join(" and ")))
    }

    fn config_without_memory(&self) -> Result<Config> {
        let values = self.fields.iter().map(|(name, (value, _))| (name.clone(), value.clone()));
        let values: SettingValues = serde_json::from_value(Value::Object(values.collect()))?;
        let values = SettingValues { quality: self.quality, ..values };
        Ok(Config { threads: self.threads, ..values.config()? })
    }

    /// The largest configuration whose total memory, given by `bound`, fits the requested limit.
    #[cfg_attr(not(feature = "serve"), expect(dead_code))]
    pub fn config_bounded(&self, bound: &dyn Fn(&Config) -> Result<u64>) -> Result<Config> {
        let config = self.config_without_memory()?;
        let Some((memory, origin)) = &self.memory else { return Ok(config) };
        // Bisection: the bound grows with the trainer's memory.
        let (mut too_little, mut too_much) = (0, memory.saturating_add(1));
        let mut best = None;
        while too_much - too_little > 1 {
            let middle = u64::midpoint(too_little, too_much);
            match config.clone().within_memory(middle) {
                Ok(config) if bound(&config)? > *memory => too_much = middle,
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
        let least = DecimalBytes(bound(&Config { max_vocabulary: 2, ..config })?);
        let (name, memory) = (origin.name("memory"), DecimalBytes(*memory));
        bail!("{name} is {memory}; a service with these settings needs {least} even for two words")
    }

    /// Whether any of the settings that make words of the text was requested. Items are not prose.
    pub fn choose_text(&self) -> bool {
        let are_items = self.fields.values().any(|(_, origin)| matches!(origin, Origin::Items));
        are_items
            || ["text", "tokenizer", "lowercase", "nfkc"].iter().any(|name| self.fields.contains_key(*name))
    }

    /// Refuses settings that differ from the model's, and a memory limit below its bound.
    pub fn agree_with(&self, model: &Trainer, bound: u64) -> Result<()> {
        let model = SettingValues::from(model.settings().resolved()).given();
        let mut differences = Vec::new();
        for (name, (value, origin)) in &self.fields {
            let own = model.get(name);
            if own != Some(value) {
                let own = own.map_or_else(|| "none".to_owned(), shown);
                differences.push(format!("{} is {}, the model's is {own}", origin.name(name), shown(value)));
            }
        }
        if let Some((memory, origin)) = self.memory.as_ref().filter(|(memory, _)| *memory < bound) {
            let (name, memory, bound) = (origin.name("memory"), DecimalBytes(*memory), DecimalBytes(bound));
            differences.push(format!("{name} is {memory}, the model may need {bound}"));
        }
        if differences.is_empty() {
            return Ok(());
        }
        bail!(
            "{}; settings are fixed once a model exists, except threads: \
             omit the setting, or create a new model under another name",
            differences.join(", ")
        )
    }
}

impl Origin {
    /// The name as the user wrote it.
    fn name(&self, field: &str) -> String {
        match self {
            Origin::Flag => format!("--{}", field.replace('_', "-")),
            Origin::Items => format!("{field} of --for items"),
            Origin::File(path) => format!("{field} in {}", path.display()),
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skipstream::{IncrementalOptions, MiniBatchOptions, Strategy};

    use super::*;
    use skipstream::Bytes;

    fn values(values: Value) -> SettingArgs {
        SettingArgs { values: serde_json::from_value(values).unwrap(), ..SettingArgs::default() }
    }

    fn memory(bytes: u64) -> SettingArgs {
        SettingArgs { memory: Some(Bytes(bytes)), ..SettingArgs::default() }
    }

    fn typed(settings: SettingArgs) -> RequestedSettings {
        RequestedSettings::new(settings, None)
    }

    fn incremental() -> Config {
        Config { dimensions: 7, strategy: Strategy::incremental(), ..Config::default() }
    }

    #[test]
    fn requested_settings_are_set_and_the_others_are_the_defaults() {
        let settings = values(json!({
            "dimensions": 7, "learning_rate": 0.3, "strategy": "incremental", "table_size": 2000,
            "max_token_bytes": 9, "threads": 3,
        }));
        let options = IncrementalOptions { table_size: 2_000, ..IncrementalOptions::default() };
        let mut expected = Config {
            learning_rate: Some(0.3),
            strategy: Strategy::Incremental(options),
            threads: Some(3),
            ..incremental()
        };
        expected.text.max_token_bytes = 9;
        assert_eq!(typed(settings).config(None, 0, 0).unwrap(), expected);
    }

    #[test]
    fn a_setting_of_another_strategy_is_an_error() {
        let settings = typed(values(json!({ "strategy": "incremental", "replays": 2 })));
        assert_eq!(
            settings.config(None, 0, 0).unwrap_err().to_string(),
            "replays is 2; it must be left out with the strategy incremental: it is for mini-batch"
        );
    }

    #[test]
    fn quality_of_another_strategy_is_an_error_about_quality() {
        let file = SettingsFile {
            path: "s.toml".into(),
            settings: values(json!({ "quality": "best" })),
            serve: Default::default(),
        };
        let requested =
            RequestedSettings::new(values(json!({ "strategy": "incremental", "seed": 3 })), Some(file));
        assert_eq!(
            requested.config(None, 0, 0).unwrap_err().to_string(),
            "quality is best; it must be left out with the strategy incremental: it is for mini-batch"
        );
    }

    #[test]
    fn no_request_agrees_with_every_model() {
        let model = Trainer::new(incremental()).unwrap();
        RequestedSettings::default().agree_with(&model, model.memory_bound().total()).unwrap();
    }

    #[test]
    fn a_typed_value_that_is_the_model_s_default_agrees() {
        let model = Trainer::new(Config::default()).unwrap();
        let settings = values(json!({ "learning_rate": 0.15, "replays": 2, "subsample": 1e-4 }));
        typed(settings).agree_with(&model, model.memory_bound().total()).unwrap();
    }

    #[test]
    fn quality_agrees_with_the_settings_that_it_stands_for() {
        let strategy = Strategy::MiniBatch(MiniBatchOptions::best());
        let model = Trainer::new(Config { strategy, ..Config::default() }).unwrap();
        let bound = model.memory_bound().total();
        typed(values(json!({ "quality": "best" }))).agree_with(&model, bound).unwrap();
        let message = typed(values(json!({ "quality": "balanced" }))).agree_with(&model, bound);
        let message = message.unwrap_err().to_string();
        assert!(message.contains("--replays is 2, the model's is 4"), "{message}");
    }

    #[test]
    fn every_difference_is_named_with_both_values() {
        let model = Trainer::new(Config::default()).unwrap();
        let settings =
            values(json!({ "dimensions": 50, "learning_rate": 0.3, "strategy": "batch", "seed": 1 }));
        let message =
            typed(settings).agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "--dimensions is 50, the model's is 100, --learning-rate is 0.3, the model's is 0.15, \
                 --strategy is batch, the model's is mini-batch; settings"
            ),
            "{message}"
        );
    }

    #[test]
    fn memory_must_be_enough_for_an_existing_model() {
        let requested = |bytes| typed(memory(bytes));
        let model = Trainer::new(requested(1_000_000_000).config(None, 0, 0).unwrap()).unwrap();
        requested(1_000_000_000).agree_with(&model, model.memory_bound().total()).unwrap();
        requested(2_000_000_000).agree_with(&model, model.memory_bound().total()).unwrap();
        let message =
            requested(900_000_000).agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
        assert!(message.starts_with("--memory is 900.00 MB, the model may need 1000.00 MB"), "{message}");
    }

    #[test]
    fn memory_for_more_than_the_trainer_leaves_less_to_the_vocabulary() {
        let requested = typed(memory(1_000_000_000));
        let trainer_alone =
            |config: &Config| Ok(skipstream::train::MemoryBound::new(&config.clone().check()?).total());
        assert_eq!(requested.config_bounded(&trainer_alone).unwrap(), requested.config(None, 0, 0).unwrap());
        let twice = |config: &Config| Ok(2 * trainer_alone(config)?);
        let config = requested.config_bounded(&twice).unwrap();
        assert!((990_000_000..=1_000_000_000).contains(&twice(&config).unwrap()));
        let message = requested.config_bounded(&|_| Ok(2_000_000_000)).unwrap_err().to_string();
        assert_eq!(
            message,
            "--memory is 1.00 GB; a service with these settings needs 2.00 GB even for two words"
        );
    }

    #[test]
    fn flags_take_precedence_over_the_file_and_a_size_over_its_memory() {
        let file =
            |settings| Some(SettingsFile { path: "s.toml".into(), settings, serve: Default::default() });
        let in_file = values(json!({ "window": 3, "seed": 3, "threads": 3 }));
        let requested = RequestedSettings::new(values(json!({ "window": 4 })), file(in_file));
        let config = requested.config(None, 0, 0).unwrap();
        assert_eq!((config.window, config.seed, config.threads), (4, 3, Some(3)));
        let model = Trainer::new(Config::default()).unwrap();
        let message = requested.agree_with(&model, model.memory_bound().total()).unwrap_err().to_string();
        let expected = "seed in s.toml is 3, the model's is 1, --window is 4, the model's is 5; settings";
        assert!(message.starts_with(expected), "{message}");

        let size = values(json!({ "max_vocabulary": 77 }));
        let requested = RequestedSettings::new(size.clone(), file(memory(1_000_000_000)));
        assert_eq!(requested.config(None, 0, 0).unwrap().max_vocabulary, 77);
        let requested = RequestedSettings::new(memory(1_000_000_000), file(size));
        assert!(requested.config(None, 0, 0).unwrap().max_vocabulary > 100_000);
    }
}
