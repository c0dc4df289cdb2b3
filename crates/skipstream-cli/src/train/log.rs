//! What is told while a model learns, on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use skipstream::corpus::Note;

use super::evaluation::Point;
use super::headline::Headline;
use super::meter::Figures;
use super::summary::Summary;
use crate::output::note;

/// Who reads standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Nobody.
    Nobody,
    /// People: a headline and notes, and progress at the foot of a terminal.
    People,
    /// People who want progress also where there is no terminal.
    PatientPeople,
    /// A program: JSON lines.
    Program,
}

/// Something that happened.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// Training begins.
    Start(&'a Headline<'a>),
    /// How it goes.
    Progress(&'a Figures),
    /// The model was saved.
    Checkpoint {
        /// Words learned since the model was made.
        words_in_all: u64,
    },
    /// The model was scored.
    Eval(&'a Point<'a>),
    /// Something happened to a file that is followed.
    Rotation(&'a Note),
    /// Something that a person should know.
    Warning {
        /// What.
        message: &'a str,
    },
    /// Ctrl-C or a signal came.
    Stopping,
    /// Training is over.
    End(&'a Summary),
    /// An error ended the command.
    Error {
        /// What went wrong.
        message: &'a str,
    },
}

/// Tells what happens. A clone tells it to the same readers.
#[derive(Clone)]
pub struct Log {
    reader: Reader,
    began: Instant,
    bar: Option<ProgressBar>,
}

/// An event with its time.
#[derive(Serialize)]
struct Line<'a> {
    /// Seconds since the command began.
    elapsed: f64,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Log {
    /// A log that begins now.
    pub fn new(reader: Reader) -> Log {
        let at_terminal =
            matches!(reader, Reader::People | Reader::PatientPeople) && io::stderr().is_terminal();
        Log { reader, began: Instant::now(), bar: at_terminal.then(ProgressBar::new_spinner) }
    }

    /// How often figures are worth telling. Over less than a second they would jump too much to be read.
    pub fn interval(&self) -> Option<Duration> {
        match (&self.bar, self.reader) {
            (Some(_), _) => Some(Duration::from_secs(1)),
            (None, Reader::Program | Reader::PatientPeople) => Some(Duration::from_secs(10)),
            (None, Reader::People | Reader::Nobody) => None,
        }
    }

    /// Tells an event to who wants to know it.
    pub fn tell(&self, event: &Event<'_>) {
        if let (Some(bar), Event::Progress(figures)) = (&self.bar, event) {
            show(bar, figures);
        } else if let Some(line) = self.line(event, self.began.elapsed()) {
            self.print(&line);
        }
    }

    /// Takes the progress from the screen.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// What the reader is told of an event, if anything.
    fn line(&self, event: &Event<'_>, elapsed: Duration) -> Option<String> {
        match self.reader {
            Reader::Nobody => None,
            Reader::People | Reader::PatientPeople => for_people(event),
            Reader::Program => {
                let json = serde_json::to_string(&Line { elapsed: elapsed.as_secs_f64(), event });
                Some(json.expect("events are structs of numbers and names"))
            }
        }
    }

    /// Prints a line above the progress.
    fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }
}

fn for_people(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Start(headline) => Some(headline.to_string()),
        Event::Progress(figures) => Some(figures.to_string()),
        Event::Rotation(note) => Some(note.to_string()),
        Event::Warning { message } => Some(format!("warning: {message}")),
        Event::Stopping => {
            Some("stopping at the next boundary to save; once more to quit without saving".to_owned())
        }
        // Scores, the summary and errors have places of their own; that a checkpoint was made goes without saying.
        Event::Checkpoint { .. } | Event::Eval(_) | Event::End(_) | Event::Error { .. } => None,
    }
}

/// Puts the figures at the foot of the terminal.
fn show(bar: &ProgressBar, figures: &Figures) {
    let template = match figures.bytes {
        Some(bytes) => {
            bar.set_length(bytes);
            bar.set_position(figures.bytes_read.min(bytes));
            "{bar:10}  {wide_msg}"
        }
        None => "{spinner} {wide_msg}",
    };
    bar.set_style(ProgressStyle::with_template(template).expect("the templates are well formed"));
    bar.set_message(figures.to_string());
    bar.tick();
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

    /// A log as it is where standard error is no terminal.
    fn log(reader: Reader) -> Log {
        Log { reader, began: Instant::now(), bar: None }
    }

    /// Four files of ten bytes, each a sentence.
    fn four_files(folder: &TempDir) -> Vec<Input> {
        let paths = ["a", "b", "c", "d"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| std::fs::write(path, "aaaa bbbb\n").unwrap());
        paths.iter().map(Input::from).collect()
    }

    /// What is told of a training that is looked at every five seconds, for twenty. Between two looks a sentence is
    /// read, and the loss of what is trained becomes worse.
    fn told(log: &Log, inputs: Vec<Input>) -> Vec<String> {
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
    fn people_who_want_it_are_told_every_ten_seconds_how_it_goes() {
        let folder = TempDir::new().unwrap();
        assert_eq!(
            told(&log(Reader::PatientPeople), four_files(&folder)),
            [
                "50%  ETA 10s  10,000 words/s  loss 1.500  file 2 of 4  vocabulary 80 of 100  evictions 14",
                "100%  ETA 0s  10,000 words/s  loss 3.500  file 4 of 4  vocabulary 80 of 100  evictions 28",
            ]
        );
        for reader in [Reader::People, Reader::Nobody] {
            assert!(told(&log(reader), four_files(&folder)).is_empty(), "{reader:?}");
        }
    }

    #[test]
    fn of_a_pipe_neither_the_share_nor_the_rest_is_known() {
        let reader = Box::new("aaaa bbbb\n".as_bytes());
        let pipe = Input::Pipe { name: "<stdin>".into(), reader, skip: Position::default() };
        assert_eq!(
            told(&log(Reader::PatientPeople), vec![pipe])[0],
            "10,000 words/s  loss 1.500  vocabulary 80 of 100  evictions 14"
        );
    }

    #[test]
    fn programs_are_told_every_ten_seconds_how_it_goes() {
        let folder = TempDir::new().unwrap();
        let lines = told(&log(Reader::Program), four_files(&folder));
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
