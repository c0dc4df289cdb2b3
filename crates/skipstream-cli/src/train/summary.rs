//! The final report of a training.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skipstream::corpus::{Location, TextReport};

use crate::output::count;

/// How the training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All text was learned.
    Complete,
    /// There was no new text.
    NothingNew,
    /// Stopped by a signal; the model holds what was learned until then.
    Interrupted,
    /// Stopped by an error; the model holds what was learned until then.
    Failed,
}

/// The final report: text for people, JSON for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub model: PathBuf,
    pub outcome: Outcome,
    pub saved: bool,
    /// Words learned by this command.
    pub words: u64,
    /// Words learned since the model was created.
    pub words_in_all: u64,
    /// Words of past text replayed by this command.
    pub replayed: u64,
    /// Words of past text still waiting for replay.
    pub waiting: u64,
    pub seconds: f64,
    /// Words per second; every pass counts.
    pub words_per_second: f64,
    /// Mean loss of the pairs trained by this command.
    pub loss: f64,
    pub vocabulary: usize,
    /// Maximum vocabulary size.
    pub max_vocabulary: usize,
    /// Words evicted by this command.
    pub evictions: u64,
    pub text: TextReport,
    /// Files skipped because they were learned before.
    pub skipped_files: Vec<PathBuf>,
    pub files_without_words: Vec<PathBuf>,
    /// Messages skipped because they are invalid, by broker.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub invalid_messages: BTreeMap<String, u64>,
    /// The kept model as it was before this command.
    pub previous: Option<PathBuf>,
    /// How to resume after an interruption.
    #[serde(skip)]
    pub resume: &'static str,
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.display();
        if self.outcome == Outcome::Failed {
            return match self.saved {
                true => writeln!(
                    out,
                    "{model}: saved with {} learned before the error; to resume once it is fixed, {}",
                    counted(self.words, "word"),
                    self.resume
                ),
                false => writeln!(out, "{model}: nothing was saved"),
            };
        }
        if !self.skipped_files.is_empty() {
            writeln!(out, "skipped   {}, learned before", counted(self.skipped_files.len(), "file"))?;
        }
        if self.outcome == Outcome::NothingNew {
            writeln!(out, "learned   nothing new; {} in all", counted(self.words_in_all, "word"))?;
        } else {
            self.write_figures(out)?;
        }
        for note in self.notes() {
            writeln!(out, "note      {note}")?;
        }
        match (self.saved, self.outcome) {
            (false, Outcome::NothingNew) => writeln!(out, "model     {model} (unchanged)")?,
            (false, _) => writeln!(out, "model     not saved")?,
            (true, _) => writeln!(out, "model     {model}")?,
        }
        if let Some(previous) = &self.previous {
            writeln!(
                out,
                "previous  {}; `skipstream rollback --model {model}` returns to it",
                previous.display()
            )?;
        }
        if self.outcome == Outcome::Interrupted {
            return writeln!(out, "resume    {}", self.resume);
        }
        if self.vocabulary == 0 {
            return Ok(());
        }
        writeln!(out, "try       skipstream neighbors --model {model} WORD")
    }
}

impl Summary {
    /// What was lost of the text, or looks wrong in it.
    pub fn warnings(&self) -> Vec<String> {
        let TextReport { long_tokens, invalid_lines, nul_lines, bad_records, ref first, .. } = self.text;
        let mut warnings: Vec<String> = [
            remark(
                long_tokens,
                "word",
                "longer than --max-token-len or --max-token-bytes left out",
                &first.long_token,
            ),
            remark(
                invalid_lines,
                "line",
                "with bytes that are not UTF-8 (see --invalid-utf8)",
                &first.invalid_line,
            ),
            remark(bad_records, "record", "that could not be read left out", &first.bad_record),
            remark(nul_lines, "line", "with NUL bytes, which were read as spaces", &first.nul_line),
        ]
        .into_iter()
        .flatten()
        .collect();
        match &self.files_without_words[..] {
            [] => {}
            [file] => warnings.push(format!("no words in {}", file.display())),
            [first, rest @ ..] => {
                let others = counted(rest.len(), "other file");
                warnings.push(format!("no words in {} and {others}", first.display()));
            }
        }
        let skipped = self.invalid_messages.iter();
        warnings
            .extend(skipped.map(|(url, n)| format!("{} of {url} skipped", counted(*n, "invalid message"))));
        if self.outcome == Outcome::Complete && self.loss == 0.0 {
            warnings.push(
                "no pair of words was trained; for a small text, --subsample 0 keeps all words".to_owned(),
            );
        }
        warnings
    }

    /// What the settings did to the text.
    fn notes(&self) -> impl Iterator<Item = String> {
        let TextReport { short_tokens, cut_lines, urls, emails, emoji, numbers, ref first, .. } = self.text;
        let short = remark(short_tokens, "word", "shorter than --min-token-len left out", &None);
        let cut = remark(cut_lines, "line", "longer than --max-sentence-words split", &first.cut_line);
        let left_out = [(urls, "URL"), (emails, "e-mail address"), (emoji, "emoji"), (numbers, "number")];
        let left_out = left_out.into_iter().filter_map(|(n, noun)| remark(n, noun, "left out", &None));
        short.into_iter().chain(cut).chain(left_out)
    }

    fn write_figures(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = if self.seconds < 10.0 {
            format!("{:.1}s", self.seconds)
        } else {
            humantime::format_duration(Duration::from_secs(self.seconds as u64)).to_string()
        };
        writeln!(
            out,
            "learned   {} in {duration} ({} words/s); {} in all",
            counted(self.words, "word"),
            count(self.words_per_second as u64),
            count(self.words_in_all)
        )?;
        if self.replayed + self.waiting > 0 {
            write!(out, "replayed  {}", counted(self.replayed, "word"))?;
            if self.waiting > 0 {
                write!(out, "; {} waiting for more text or for --finish", count(self.waiting))?;
            }
            writeln!(out)?;
        }
        if self.loss > 0.0 {
            writeln!(out, "loss      {:.4} per pair", self.loss)?;
        }
        let (words, most) = (counted(self.vocabulary, "word"), count(self.max_vocabulary));
        write!(out, "knows     {words} of at most {most}")?;
        if self.evictions > 0 {
            let evictions = counted(self.evictions, "eviction");
            write!(out, "; {evictions}, counting a word each time it left")?;
        }
        writeln!(out)
    }
}

/// A sentence about a number of things, with the place of the first; none if there are none.
fn remark(number: u64, noun: &str, what: &str, first: &Option<Location>) -> Option<String> {
    let place = match first {
        Some(place) if number == 1 => format!(", at {place}"),
        Some(place) => format!(", the first at {place}"),
        None => String::new(),
    };
    (number > 0).then(|| format!("{} {what}{place}", counted(number, noun)))
}

fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = count(number);
    let plural = match noun {
        _ if number == "1" || noun == "emoji" => "",
        "e-mail address" => "es",
        _ => "s",
    };
    format!("{number} {noun}{plural}")
}
