//! The text of a training session, read to its end or followed.

use std::cell::{RefCell, RefMut};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::bail;
use skipstream::corpus::{
    Files, FilesProgress, Follow, Input, Ledger, Note, Passage, Position, Read, Sentence, Source, TextReport,
};
use skipstream::{Result, Trainer};

use super::job::{Job, Text};
use super::pipe::{Pipe, STDIN};
use super::stop::Stop;

/// The text of a training session.
pub enum Reading {
    ToTheEnd(Shared),
    Followed(Box<Follow>),
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
        let inputs = job.texts.iter().map(|text| match text {
            Text::File(path) | Text::Found(path) if args.text.force_text => Input::Forced(path.clone()),
            Text::File(path) => Input::File(path.clone()),
            Text::Found(path) => Input::Found(path.clone()),
            Text::Stdin => Input::Pipe {
                name: STDIN.into(),
                reader: Box::new(Pipe::stdin(stop.clone(), args.follow)),
                skip: if args.skip_learned { trainer.ledger().last_pipe } else { Position::default() },
                force_text: args.text.force_text,
            },
        });
        let (ledger, options) = (trainer.ledger(), trainer.settings().text());
        if !args.follow {
            let files = Files::plan(inputs, ledger, args.again, options, &job.layout)?;
            return Ok(Reading::ToTheEnd(Shared(Rc::new(RefCell::new(files)))));
        }
        if trainer.settings().strategy().passes().is_some() {
            let strategy = trainer.settings().strategy().name();
            bail!(
                "--follow: the strategy {strategy} reads all its text several times, and text that is followed has no end"
            );
        }
        let follow = Follow::plan(inputs, ledger, args.again, options, &job.layout)?;
        Ok(Reading::Followed(Box::new(follow)))
    }

    /// What happened to followed files since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        match self {
            Reading::ToTheEnd(_) => Vec::new(),
            Reading::Followed(follow) => follow.take_notes(),
        }
    }

    /// Records how far it was read.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        match self {
            Reading::ToTheEnd(files) => files.files().record_positions(ledger),
            Reading::Followed(follow) => follow.record_positions(ledger),
        }
    }

    pub fn report(&self) -> TextReport {
        match self {
            Reading::ToTheEnd(files) => files.files().report(),
            Reading::Followed(follow) => follow.report(),
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
            Reading::Followed(follow) => follow.progress().clone(),
        }
    }
}

impl Source for Reading {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        match self {
            Reading::ToTheEnd(files) => files.read(sentence),
            Reading::Followed(follow) => follow.read(sentence),
        }
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        match self {
            Reading::ToTheEnd(files) => files.cut(max_bytes),
            Reading::Followed(follow) => follow.cut(max_bytes),
        }
    }

    fn put_back(&mut self, passage: Passage) {
        match self {
            Reading::ToTheEnd(files) => files.put_back(passage),
            Reading::Followed(follow) => follow.put_back(passage),
        }
    }
}
