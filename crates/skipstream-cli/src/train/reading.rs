//! The text of a training session, read to its end or followed.

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::bail;
use skipstream::corpus::{
    Files, FilesProgress, Follow, Input, InterruptiblePipe, Ledger, Note, Passage, Position, Read, Sentence,
    Source, TextReport,
};
use skipstream::{Result, Trainer};

use super::followed::Followed;
use super::job::{Job, STDIN, Text};
use super::stop::Stop;

/// The text of a training session.
pub enum Reading {
    ToTheEnd(Shared),
    Followed(Box<Followed>),
}

/// Files that are read from the start in each pass over the corpus.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<Files>>);

impl Shared {
    pub fn files(&self) -> RefMut<'_, Files> {
        self.0.borrow_mut()
    }
}

impl Source for Shared {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.files().read(sentence)
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.files().cut(max_bytes)
    }

    fn put_back(&mut self, passage: Passage) {
        self.files().put_back(passage);
    }
}

impl Reading {
    /// Checks all texts before any of them is read.
    pub fn plan(job: &Job, trainer: &Trainer, stop: &Stop) -> anyhow::Result<Reading> {
        let args = &job.args;
        let check = || {
            let stop = stop.clone();
            move || if stop.is_asked() { Err(io::Error::other("stopped")) } else { Ok(()) }
        };
        let stdin = || {
            let pipe = InterruptiblePipe::new(|| Ok(io::stdin()), check());
            if args.follow { pipe.followed() } else { pipe }
        };
        let inputs = job.texts.iter().map(|text| match text {
            Text::File(path) | Text::Found(path) if args.text.force_text => Input::Forced(path.clone()),
            Text::File(path) => Input::File(path.clone()),
            Text::Found(path) => Input::Found(path.clone()),
            Text::Stdin => Input::Pipe {
                name: STDIN.into(),
                reader: Box::new(stdin()),
                skip: if args.skip_learned { trainer.ledger().last_pipe } else { Position::default() },
                force_text: args.text.force_text,
            },
        });
        let (ledger, options) = (trainer.ledger(), trainer.settings().text());
        if !args.follow {
            let inputs = inputs.map(|input| input.interruptible(check()));
            let files = Files::plan(inputs, ledger, args.again, options, &job.layout)?;
            return Ok(Reading::ToTheEnd(Shared(Rc::new(RefCell::new(files)))));
        }
        if trainer.settings().strategy().passes().is_some() {
            let strategy = trainer.settings().strategy().name();
            bail!(
                "--follow: the strategy {strategy} reads all its text several times, and text that is followed has no end"
            );
        }
        let files = Follow::plan(inputs, ledger, args.again, options, &job.layout)?;
        Ok(Reading::Followed(Box::new(Followed::start(files, args, trainer)?)))
    }

    /// What happened to followed files since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        match self {
            Reading::ToTheEnd(_) => Vec::new(),
            Reading::Followed(followed) => followed.files.take_notes(),
        }
    }

    /// Problems of brokers that are new since the last call.
    pub fn take_problems(&mut self) -> Vec<String> {
        match self {
            Reading::ToTheEnd(_) => Vec::new(),
            Reading::Followed(followed) => {
                followed.messages.iter_mut().filter_map(|messages| messages.take_problem()).collect()
            }
        }
    }

    /// The number of invalid messages that were skipped, by broker.
    pub fn invalid_messages(&self) -> BTreeMap<String, u64> {
        match self {
            Reading::ToTheEnd(_) => BTreeMap::new(),
            Reading::Followed(followed) => {
                let counts = followed.messages.iter().map(|messages| messages.invalid());
                let counts = counts.filter(|(_, invalid)| *invalid > 0);
                counts.map(|(url, invalid)| (url.to_owned(), invalid)).collect()
            }
        }
    }

    /// Records how far it was read.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        match self {
            Reading::ToTheEnd(files) => files.files().record_positions(ledger),
            Reading::Followed(followed) => followed.record_positions(ledger),
        }
    }

    pub fn report(&self) -> TextReport {
        match self {
            Reading::ToTheEnd(files) => files.files().report(),
            Reading::Followed(followed) => followed.report(),
        }
    }

    /// Files that were learned before, and are not read.
    pub fn skipped(&self) -> Vec<PathBuf> {
        match self {
            Reading::ToTheEnd(files) => files.files().skipped().to_vec(),
            Reading::Followed(_) => Vec::new(),
        }
    }

    /// Files of folders and patterns that are not text, with the reason.
    pub fn left_out(&self) -> Vec<String> {
        match self {
            Reading::ToTheEnd(files) => {
                let files = files.files();
                files
                    .left_out()
                    .iter()
                    .map(|(path, reason)| format!("{}: {reason}", path.display()))
                    .collect()
            }
            Reading::Followed(_) => Vec::new(),
        }
    }

    /// Files that were read to their end and have no words.
    pub fn without_words(&self) -> Vec<PathBuf> {
        match self {
            Reading::ToTheEnd(files) => files.files().without_words().map(Path::to_owned).collect(),
            Reading::Followed(_) => Vec::new(),
        }
    }

    /// How far it was read.
    pub fn progress(&self) -> FilesProgress {
        match self {
            Reading::ToTheEnd(files) => files.files().progress().clone(),
            Reading::Followed(followed) => followed.files.progress().clone(),
        }
    }
}

impl Source for Reading {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        match self {
            Reading::ToTheEnd(files) => files.read(sentence),
            Reading::Followed(followed) => followed.read(sentence),
        }
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        match self {
            Reading::ToTheEnd(files) => files.cut(max_bytes),
            Reading::Followed(followed) => followed.cut(max_bytes),
        }
    }

    fn put_back(&mut self, passage: Passage) {
        match self {
            Reading::ToTheEnd(files) => files.put_back(passage),
            Reading::Followed(followed) => followed.put_back(passage),
        }
    }
}
