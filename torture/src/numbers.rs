//! Extreme settings: refused with a reason, or trained to finite vectors. Never a panic, an overflow, or memory that the
//! settings do not explain.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use skipstream::snapshot::inspect;
use skipstream::{Embeddings, Setting, SettingKind, StrategyName, Vectors};

use crate::random::Random;
use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Address space of the program in GiB, so that absurd allocations fail
    #[arg(long, default_value = "8")]
    memory: u64,
}

/// Values that are never valid, or only just.
const STRANGE: [&str; 12] =
    ["", " ", "-1", "-0", "0x10", "1e400", "NaN", "inf", "-inf", "18446744073709551616", "1e-400", "ä"];

const STRATEGIES: [StrategyName; 4] =
    [StrategyName::MiniBatch, StrategyName::Incremental, StrategyName::Batch, StrategyName::Word2vec];

/// At their extremes, these leave no words to train.
const LIMITS_OF_WORDS: [&str; 3] = ["min_token_len", "max_token_len", "max_token_bytes"];

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("text");
    fs::write(&text, words(&mut Random::new(torture.seed, 0)))?;
    let attack = Attack { torture, text: &text, model: &folder.path().join("model"), memory: options.memory };
    for strategy in STRATEGIES {
        // The others share their settings with these two.
        if torture.short && !matches!(strategy, StrategyName::MiniBatch | StrategyName::Incremental) {
            continue;
        }
        for setting in Setting::ALL.iter().filter(|setting| setting.applies_to(strategy)) {
            let mut refused = 0;
            let mut trained = 0;
            let mut problems = Vec::new();
            let values = extremes(&setting.kind, torture.short);
            if values.is_empty() {
                continue;
            }
            for value in values {
                let is_valid = is_valid(&setting.kind, &value);
                match attack.try_settings(strategy, &[(setting.name, value.clone())])? {
                    Outcome::Trained if is_valid == Some(false) => {
                        problems.push(format!("{value:?} accepted"))
                    }
                    Outcome::Trained => trained += 1,
                    Outcome::Refused(_) => refused += 1,
                    Outcome::Broken(how) => problems.push(format!("{value:?}: {how}")),
                }
            }
            let seen = format!("{refused} values refused, {trained} trained; {}", problems.join("; "));
            let attack = format!("{} with extreme {}", strategy.as_str(), setting.name);
            report.check(&attack, problems.is_empty(), seen.trim_end_matches("; "));
        }
        for (name, end) in [("least", 0), ("greatest", 1)] {
            let flags: Vec<(&str, String)> = Setting::ALL
                .iter()
                .filter(|setting| setting.applies_to(strategy) && !LIMITS_OF_WORDS.contains(&setting.name))
                .filter_map(|setting| Some((setting.name, limits(&setting.kind)?[end].clone())))
                .collect();
            let outcome = attack.try_settings(strategy, &flags)?;
            let attack = format!("{} with the {name} value of every setting", strategy.as_str());
            match outcome {
                Outcome::Broken(how) => report.check(&attack, false, how),
                Outcome::Refused(reason) => report.check(&attack, true, reason.trim_end()),
                Outcome::Trained => report.check(&attack, true, "trained"),
            }
        }
    }
    Ok(())
}

/// What became of an attempt.
enum Outcome {
    /// An error that says what is wrong.
    Refused(String),
    /// A model whose vectors are finite.
    Trained,
    Broken(String),
}

struct Attack<'a> {
    torture: &'a Torture,
    text: &'a Path,
    model: &'a Path,
    memory: u64,
}

impl Attack<'_> {
    fn try_settings(&self, strategy: StrategyName, flags: &[(&str, String)]) -> Result<Outcome> {
        if self.model.exists() {
            fs::remove_file(self.model)?;
        }
        let train = self.torture.program.command("train --quiet");
        // `ulimit` is a part of the shell, and a time limit is a part of coreutils.
        let limit = format!("ulimit -v {}; exec timeout 120 \"$0\" \"$@\"", self.memory << 20);
        let mut command = Command::new("sh");
        command.arg("-c").arg(limit).arg(train.get_program()).args(train.get_args());
        command.arg(format!("--strategy={}", strategy.as_str()));
        for (name, value) in flags {
            let flag = name.replace('_', "-");
            command.arg(format!("--{flag}={value}"));
        }
        let output = command.arg("--model").arg(self.model).arg(self.text).output();
        let output = output.context("could not start a shell")?;
        let message = String::from_utf8_lossy(&output.stderr);
        if message.contains("panicked") || message.contains("overflow") {
            return Ok(Outcome::Broken(message.into_owned()));
        }
        Ok(match output.status.code() {
            Some(0) => self.look(),
            Some(2) if !message.trim().is_empty() => Outcome::Refused(message.into_owned()),
            _ => Outcome::Broken(format!("{}: {message}", output.status)),
        })
    }

    /// Whether the model is whole and its vectors finite.
    fn look(&self) -> Outcome {
        let problems = match inspect(self.model) {
            Ok(inspection) => inspection.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            Err(error) => vec![error.to_string()],
        };
        if !problems.is_empty() {
            return Outcome::Broken(problems.join(", "));
        }
        // Loading refuses values that are not finite.
        match Embeddings::load(self.model, Vectors::Joined) {
            Ok(_) => Outcome::Trained,
            Err(error) => Outcome::Broken(error.to_string()),
        }
    }
}

/// The limits of a setting that is a number.
fn limits(kind: &SettingKind) -> Option<[String; 2]> {
    match kind {
        SettingKind::Whole(range) => Some([range.start().to_string(), range.end().to_string()]),
        SettingKind::Number(range) => Some([range.start().to_string(), range.end().to_string()]),
        _ => None,
    }
}

/// Whether a number is within its limits; nothing for values that are rounded, or no numbers.
fn is_valid(kind: &SettingKind, value: &str) -> Option<bool> {
    match kind {
        SettingKind::Whole(range) => Some(range.contains(&value.parse().ok()?)),
        SettingKind::Number(range) => {
            let number: f64 = value.parse().ok()?;
            // A rate is an `f32`, so that the next number beyond a limit is the limit.
            let is_near = |limit: f64| (number - limit).abs() <= 1e-6 * limit.abs();
            Some(range.contains(&number) || is_near(*range.start()) || is_near(*range.end()))
        }
        _ => None,
    }
}

/// Values at and beyond the limits of a setting, and some that are no values at all.
fn extremes(kind: &SettingKind, short: bool) -> Vec<String> {
    let mut values: Vec<String> = limits(kind).into_iter().flatten().collect();
    match kind {
        SettingKind::Whole(range) => {
            let beyond = [range.start().checked_sub(1), range.end().checked_add(1), Some(u64::MAX)];
            values.extend(beyond.into_iter().flatten().map(|value| value.to_string()));
        }
        SettingKind::Number(range) => {
            let (start, end) = (*range.start(), *range.end());
            let beyond =
                [start.next_down(), end.next_up(), start.next_up(), end.next_down(), f64::MAX, 5e-324];
            values.extend(beyond.map(|value| format!("{value:e}")));
        }
        _ => {}
    }
    if !short {
        values.extend(STRANGE.map(str::to_owned));
    }
    values
}

/// A text with a word in every second place, and words of all frequencies.
fn words(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..200 {
        for _ in 0..1 + random.below(15) {
            let most = 1 + random.below(60);
            text.push_str(&format!("w{} the ", random.below(most)));
        }
        text.push('\n');
    }
    text
}
