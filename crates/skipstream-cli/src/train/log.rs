//! What is told while a model learns, on standard error.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use skipstream::corpus::Note;

use super::evaluation::Point;
use super::headline::Headline;
use super::meter::Figures;
use super::summary::Summary;

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
        match self.reader {
            Reader::Nobody => {}
            Reader::People | Reader::PatientPeople => self.tell_people(event),
            Reader::Program => self.tell_program(event),
        }
    }

    /// Takes the progress from the screen.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn tell_people(&self, event: &Event<'_>) {
        match event {
            Event::Start(headline) => self.print(&headline.to_string()),
            Event::Progress(figures) => match &self.bar {
                Some(bar) => show(bar, figures),
                None => self.print(&figures.to_string()),
            },
            Event::Rotation(note) => self.print(&note.to_string()),
            Event::Warning { message } => self.print(&format!("warning: {message}")),
            Event::Stopping => {
                self.print("stopping at the next boundary to save; once more to quit without saving");
            }
            // Scores, the summary and errors have places of their own; that a checkpoint was made goes without saying.
            Event::Checkpoint { .. } | Event::Eval(_) | Event::End(_) | Event::Error { .. } => {}
        }
    }

    fn tell_program(&self, event: &Event<'_>) {
        let elapsed = self.began.elapsed().as_secs_f64();
        let json = serde_json::to_string(&Line { elapsed, event });
        self.print(&json.expect("events are structs of numbers and names"));
    }

    /// Prints a line above the progress. (`eprintln!` would panic where standard error is closed.)
    fn print(&self, line: &str) {
        let print = || {
            let _ = writeln!(io::stderr(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
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
