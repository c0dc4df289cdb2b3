//! The log on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use skipstream::corpus::Note;

use super::evaluation::Point;
use super::headline::Headline;
use super::meter::Figures;
use super::summary::Summary;
use crate::output::note;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Warnings only.
    Quiet,
    /// Text: a headline and notes, and a progress line on a terminal.
    Text,
    /// Text, with progress even without a terminal.
    Verbose,
    Json,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    Start(&'a Headline<'a>),
    Progress(&'a Figures),
    /// The model was saved.
    Checkpoint {
        /// Words learned since the model was created.
        words_in_all: u64,
    },
    /// The model was scored.
    Eval(&'a Point<'a>),
    /// A followed file was rotated, truncated or replaced.
    Rotation(&'a Note),
    Warning {
        message: &'a str,
    },
    /// Ctrl-C or a signal arrived.
    Stopping,
    End(&'a Summary),
    /// An error ended the command.
    Error {
        message: &'a str,
    },
}

/// Writes events to standard error. A clone writes to the same place.
#[derive(Clone)]
pub struct Log {
    kind: LogKind,
    began: Instant,
    bar: Option<ProgressBar>,
}

/// An event with its time.
#[derive(Serialize)]
struct Line<'a> {
    /// Seconds since the command started.
    elapsed: f64,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Log {
    /// A log whose clock starts now.
    pub fn new(kind: LogKind) -> Log {
        let at_terminal = matches!(kind, LogKind::Text | LogKind::Verbose) && io::stderr().is_terminal();
        Log { kind, began: Instant::now(), bar: at_terminal.then(ProgressBar::new_spinner) }
    }

    /// The progress interval. Under a second, the figures would be too jumpy to read.
    pub fn interval(&self) -> Option<Duration> {
        match (&self.bar, self.kind) {
            (Some(_), _) => Some(Duration::from_secs(1)),
            (None, LogKind::Json | LogKind::Verbose) => Some(Duration::from_secs(10)),
            (None, LogKind::Text | LogKind::Quiet) => None,
        }
    }

    pub fn tell(&self, event: &Event<'_>) {
        let line = self.line(event, self.began.elapsed());
        match (&self.bar, event) {
            (Some(bar), Event::Progress(figures)) => show(bar, figures),
            // Above the progress line.
            (Some(bar), _) => bar.suspend(|| line.iter().for_each(note)),
            (None, _) => line.iter().for_each(note),
        }
    }

    /// Clears the progress line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The log line of an event, if it has one.
    fn line(&self, event: &Event<'_>, elapsed: Duration) -> Option<String> {
        match self.kind {
            LogKind::Quiet if !matches!(event, Event::Warning { .. }) => None,
            LogKind::Quiet | LogKind::Text | LogKind::Verbose => for_people(event),
            LogKind::Json => {
                let json = serde_json::to_string(&Line { elapsed: elapsed.as_secs_f64(), event });
                Some(json.expect("events are structs of numbers and names"))
            }
        }
    }
}

fn for_people(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Start(headline) => Some(headline.to_string()),
        Event::Progress(figures) => Some(figures.to_string()),
        Event::Rotation(note) => Some(note.to_string()),
        Event::Warning { message } => Some(format!("warning: {message}")),
        Event::Stopping => Some(
            "stopping at the next batch boundary to save; press Ctrl-C again to quit without saving"
                .to_owned(),
        ),
        // Scores, the summary and errors are printed elsewhere. Checkpoints are routine.
        Event::Checkpoint { .. } | Event::Eval(_) | Event::End(_) | Event::Error { .. } => None,
    }
}

/// Updates the progress line.
fn show(bar: &ProgressBar, figures: &Figures) {
    if let Some(bytes) = figures.bytes {
        bar.set_length(bytes);
        bar.set_position(figures.bytes_read.min(bytes));
    }
    let (template, line) = progress_line(figures, Term::stderr().size().1.into());
    bar.set_style(ProgressStyle::with_template(template).expect("the templates are well formed"));
    bar.set_message(line);
    bar.tick();
}

/// The template and the message of a progress line that fits. It has a bar where there is room for one.
fn progress_line(figures: &Figures, columns: usize) -> (&'static str, String) {
    let line = figures.to_string();
    match figures.bytes {
        None => ("{spinner} {msg}", figures.within(columns.saturating_sub(2))),
        Some(_) if line.len() + 12 <= columns => ("{bar:10}  {msg}", line),
        Some(_) => ("{msg}", figures.within(columns)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skipstream::Progress;
    use skipstream::corpus::{Files, Input, Layout, Ledger, Position, Sentence, Source, TextOptions};
    use skipstream::train::Totals;
    use tempfile::TempDir;

    use super::super::meter::Meter;
    use super::*;

    /// A log without a terminal.
    fn log(kind: LogKind) -> Log {
        Log { kind, began: Instant::now(), bar: None }
    }

    /// Four files of ten bytes, each a sentence.
    fn four_files(folder: &TempDir) -> Vec<Input> {
        let paths = ["a", "b", "c", "d"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| std::fs::write(path, "aaaa bbbb\n").unwrap());
        paths.iter().map(Input::from).collect()
    }

    /// The progress lines of a training observed every five seconds for twenty seconds. Between two observations, one
    /// sentence is read and the loss grows.
    fn progress_lines(log: &Log, inputs: Vec<Input>) -> Vec<String> {
        let Some(interval) = log.interval() else { return Vec::new() };
        let plan = Files::plan(inputs, &Ledger::default(), false, &TextOptions::default(), &Layout::Text);
        let mut files = plan.unwrap();
        let mut progress = Progress { tokens: 500, totals: Totals::default(), vocabulary: 80, evictions: 0 };
        let mut meter = Meter::new(interval, files.progress().clone(), 100, progress, log.began);
        let mut lines = Vec::new();
        for look in 0..=4 {
            let elapsed = Duration::from_secs(5 * look);
            if let Some(figures) = meter.read(&progress, log.began + elapsed) {
                lines.extend(log.line(&Event::Progress(&figures), elapsed));
            }
            files.read(&mut Sentence::default()).unwrap();
            progress.tokens += 50_000;
            progress.totals.pairs += 1_000;
            progress.totals.loss += 1_000.0 * (look + 1) as f64;
            progress.evictions += 7;
        }
        lines
    }

    #[test]
    fn verbose_logs_show_progress_every_ten_seconds() {
        let folder = TempDir::new().unwrap();
        assert_eq!(
            progress_lines(&log(LogKind::Verbose), four_files(&folder)),
            [
                "50%  ETA 10s  10,000 words/s  loss 1.500  file 2 of 4  vocabulary 80 of 100  evictions 14",
                "100%  ETA 0s  10,000 words/s  loss 3.500  file 4 of 4  vocabulary 80 of 100  evictions 28",
            ]
        );
        for kind in [LogKind::Text, LogKind::Quiet] {
            assert!(progress_lines(&log(kind), four_files(&folder)).is_empty(), "{kind:?}");
        }
    }

    #[test]
    fn a_progress_line_fits_into_the_terminal() {
        let figures = Figures {
            words_in_all: 1,
            words_per_second: 1_234_567.0,
            pairs_per_second: 9_000.0,
            loss: Some(2.3456),
            vocabulary: 100_000,
            max_vocabulary: 100_000,
            evictions: 1_234_567,
            file: 10,
            files: 17,
            bytes_read: 20,
            bytes: Some(40),
            eta_seconds: Some(4_230),
        };
        let width = |columns: usize| {
            let (template, line) = progress_line(&figures, columns);
            line.len() + if template.starts_with("{bar") { 12 } else { 0 }
        };
        assert!((0..300).all(|columns| width(columns) <= columns));
        assert!((80..100).all(|columns| width(columns) > 60), "the room is used");
        let (template, line) = progress_line(&figures, 80);
        assert_eq!((template, &line[..14]), ("{msg}", "50%  ETA 1h 10"));
        assert_eq!(progress_line(&figures, 150).0, "{bar:10}  {msg}");
        let pipe = Figures { bytes: None, eta_seconds: None, ..figures };
        assert!((2..300).all(|columns| progress_line(&pipe, columns).1.len() + 2 <= columns));
    }

    #[test]
    fn a_pipe_has_neither_percentage_nor_eta() {
        let reader = Box::new("aaaa bbbb\n".as_bytes());
        let pipe =
            Input::Pipe { name: "<stdin>".into(), reader, skip: Position::default(), force_text: false };
        assert_eq!(
            progress_lines(&log(LogKind::Verbose), vec![pipe])[0],
            "10,000 words/s  loss 1.500  vocabulary 80 of 100  evictions 14"
        );
    }

    #[test]
    fn json_logs_show_progress_every_ten_seconds() {
        let folder = TempDir::new().unwrap();
        let lines = progress_lines(&log(LogKind::Json), four_files(&folder));
        let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), 2);
        assert_eq!(
            events[0],
            json!({
                "elapsed": 10.0,
                "event": "progress",
                "words_in_all": 100_500,
                "words_per_second": 10_000.0,
                "pairs_per_second": 200.0,
                "loss": 1.5,
                "vocabulary": 80,
                "max_vocabulary": 100,
                "evictions": 14,
                "file": 2,
                "files": 4,
                "bytes_read": 20,
                "bytes": 40,
                "eta_seconds": 10,
            })
        );
        assert_eq!((&events[1]["elapsed"], &events[1]["loss"]), (&json!(20.0), &json!(3.5)));
    }
}
