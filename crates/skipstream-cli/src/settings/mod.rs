//! Typed settings → a new model's configuration, or a comparison with the model that is there.

mod args;

use std::fmt::Display;

use anyhow::{Result, bail};
use serde::Serialize;
use skipstream::corpus::TextOptions;
use skipstream::{Config, Settings};

pub use args::SettingArgs;

impl SettingArgs {
    /// The configuration of a new model: what was typed, and the defaults.
    pub fn config(&self, threads: Option<usize>) -> Config {
        let default = Config::default();
        Config {
            dimensions: self.dimensions.unwrap_or(default.dimensions),
            window: self.window.unwrap_or(default.window),
            window_shape: self.window_shape.unwrap_or(default.window_shape),
            negatives: self.negatives.unwrap_or(default.negatives),
            noise_exponent: self.noise_exponent.unwrap_or(default.noise_exponent),
            subsample: self.subsample.unwrap_or(default.subsample),
            learning_rate: self.learning_rate,
            adagrad: self.adagrad,
            max_vocabulary: self.max_vocabulary.unwrap_or(default.max_vocabulary),
            table_size: self.table_size.unwrap_or(default.table_size),
            batch_words: self.batch_words.unwrap_or(default.batch_words),
            blocks: self.blocks.unwrap_or(default.blocks),
            replays: self.replays,
            replay_words: self.replay_words.unwrap_or(default.replay_words),
            passes: self.passes.unwrap_or(default.passes),
            text: TextOptions {
                max_sentence_words: self.max_sentence_words.unwrap_or(default.text.max_sentence_words),
                max_token_bytes: self.max_token_bytes.unwrap_or(default.text.max_token_bytes),
                invalid_utf8: self.invalid_utf8.unwrap_or(default.text.invalid_utf8),
            },
            seed: self.seed.unwrap_or(default.seed),
            strategy: self.strategy.unwrap_or(default.strategy),
            threads,
        }
    }

    /// Refuses settings that were typed and differ from those of the model.
    pub fn agree_with(&self, model: &Settings) -> Result<()> {
        let mut differences = Differences::default();
        differences.number("dimensions", self.dimensions, model.dimensions);
        differences.number("window", self.window, model.window);
        differences.name("window-shape", self.window_shape, model.window_shape);
        differences.number("negatives", self.negatives, model.negatives);
        differences.number("noise-exponent", self.noise_exponent, model.noise_exponent);
        differences.number("subsample", self.subsample, model.subsample);
        differences.number("learning-rate", self.learning_rate, model.learning_rate());
        differences.name("adagrad", self.adagrad, model.adagrad());
        differences.number("max-vocabulary", self.max_vocabulary, model.max_vocabulary);
        differences.number("table-size", self.table_size, model.table_size);
        differences.number("batch-words", self.batch_words, model.batch_words);
        differences.number("blocks", self.blocks, model.blocks);
        differences.number("replays", self.replays, model.replays());
        differences.number("replay-words", self.replay_words, model.replay_words);
        differences.number("passes", self.passes, model.passes);
        let text = &model.text;
        differences.number("max-sentence-words", self.max_sentence_words, text.max_sentence_words);
        differences.number("max-token-bytes", self.max_token_bytes, text.max_token_bytes);
        differences.name("invalid-utf8", self.invalid_utf8, text.invalid_utf8);
        differences.number("seed", self.seed, model.seed);
        differences.name("strategy", self.strategy, model.strategy);
        if differences.0.is_empty() {
            return Ok(());
        }
        bail!(
            "{}; settings are fixed once a model exists, only --threads and the text may change: \
             leave the setting out, or make a new model under another name",
            differences.0.join(", ")
        )
    }
}

/// The name of a choice, as it is typed.
pub fn name_of(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("a choice is written as its name, not as {other:?}"),
    }
}

/// What was typed and what the model has, where they differ.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn number<T: PartialEq + Display>(&mut self, flag: &str, typed: Option<T>, model: T) {
        if let Some(typed) = typed.filter(|typed| *typed != model) {
            let difference = format!("--{flag} is {typed}, the model's is {model}");
            self.0.push(difference);
        }
    }

    fn name<T: PartialEq + Serialize>(&mut self, flag: &str, typed: Option<T>, model: T) {
        self.number(flag, typed.map(|typed| name_of(&typed)), name_of(&model));
    }
}

#[cfg(test)]
mod tests {
    use skipstream::Strategy;

    use super::*;

    #[test]
    fn what_was_not_typed_agrees_with_every_model() {
        let model = Config { dimensions: 7, strategy: Strategy::Incremental, ..Config::default() };
        let model = model.check().unwrap();
        SettingArgs::default().agree_with(&model).unwrap();
    }

    #[test]
    fn a_typed_value_that_is_the_model_s_default_agrees() {
        let model = Config::default().check().unwrap();
        let typed = SettingArgs { learning_rate: Some(0.2), replays: Some(1), ..SettingArgs::default() };
        typed.agree_with(&model).unwrap();
    }

    #[test]
    fn every_difference_is_named_with_both_values() {
        let model = Config::default().check().unwrap();
        let typed = SettingArgs {
            dimensions: Some(50),
            strategy: Some(Strategy::Batch),
            seed: Some(1),
            ..SettingArgs::default()
        };
        let message = typed.agree_with(&model).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "--dimensions is 50, the model's is 100, --strategy is batch, the model's is mini-batch; settings"
            ),
            "{message}"
        );
    }
}
