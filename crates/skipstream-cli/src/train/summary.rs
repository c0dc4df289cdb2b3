//! The final report of a training.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skipstream::corpus::TextReport;

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
    /// How to resume after an interruption.
    #[serde(skip)]
    pub resume: &'static str,
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.skipped_files.len();
        if skipped > 0 {
            writeln!(out, "skipped   {}, learned before", counted(skipped, "file"))?;
        }
        let model = self.model.display();
        if self.outcome == Outcome::NothingNew {
            writeln!(out, "learned   nothing new; {} in all", counted(self.words_in_all, "word"))?;
        } else {
            self.write_figures(out)?;
        }
        self.write_left_out(out)?;
        match (self.saved, self.outcome) {
            (false, Outcome::NothingNew) => writeln!(out, "model     {model} (unchanged)")?,
            (false, _) => writeln!(out, "model     not saved")?,
            (true, _) => writeln!(out, "model     {model}")?,
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
                let waiting = count(self.waiting);
                write!(out, "; {waiting} waiting for more text or for --finish")?;
            }
            writeln!(out)?;
        }
        if self.loss > 0.0 {
            writeln!(out, "loss      {:.4} per pair", self.loss)?;
        } else {
            writeln!(
                out,
                "note      no pair of words was trained; for a small text, --subsample 0 keeps all words"
            )?;
        }
        writeln!(
            out,
            "knows     {} of at most {}; {} evicted",
            counted(self.vocabulary, "word"),
            count(self.max_vocabulary),
            count(self.evictions)
        )
    }

    fn write_left_out(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextReport {
            short_tokens,
            long_tokens,
            cut_lines,
            invalid_lines,
            nul_lines,
            bad_records,
            ref first,
            ..
        } = self.text;
        let notes = [
            (short_tokens, "word", "shorter than --min-token-len left out", &None, ""),
            (
                long_tokens,
                "word",
                "longer than --max-token-len or --max-token-bytes left out",
                &first.long_token,
                "",
            ),
            (cut_lines, "line", "longer than --max-sentence-words split", &first.cut_line, ""),
            (
                invalid_lines,
                "line",
                "with bytes that are not UTF-8",
                &first.invalid_line,
                " (see --invalid-utf8)",
            ),
            (bad_records, "record", "that could not be read left out", &first.bad_record, ""),
            (nul_lines, "line", "with NUL bytes, which were read as spaces", &first.nul_line, ""),
        ];
        for (number, noun, what, first, advice) in notes {
            if number == 0 {
                continue;
            }
            write!(out, "note      {} {what}", counted(number, noun))?;
            match first {
                Some(place) if number == 1 => write!(out, ", at {place}")?,
                Some(place) => write!(out, ", the first at {place}")?,
                None => {}
            }
            writeln!(out, "{advice}")?;
        }
        match &self.files_without_words[..] {
            [] => {}
            [file] => writeln!(out, "note      no words in {}", file.display())?,
            [first, rest @ ..] => {
                let others = counted(rest.len(), "other file");
                writeln!(out, "note      no words in {} and {others}", first.display())?;
            }
        }
        Ok(())
    }
}

fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = count(number);
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
