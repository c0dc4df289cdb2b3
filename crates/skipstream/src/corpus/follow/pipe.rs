//! A followed pipe, whose reader says when it has nothing now.

use std::io::{self, Cursor, Read as _};
use std::path::PathBuf;

use crate::bytes::{Compression, read_magic};
use crate::corpus::error::TextError;
use crate::corpus::ledger::Ledger;
use crate::corpus::open::{TextStream, plain_at, too_short};
use crate::corpus::{Layout, Position, Read, Sentence, Source, TextOptions, TextReport};
use crate::{Error, Result};

/// A pipe. Its first bytes tell whether it is compressed, so it is opened when they have arrived.
pub(super) struct FollowedPipe {
    name: PathBuf,
    options: TextOptions,
    layout: Layout,
    stage: Stage,
    /// How far it was read, or where reading is to start.
    position: Position,
    recorded: Position,
    /// The number of words since the last entry in the ledger.
    words: u64,
}

/// The stages of opening a pipe. Each may take long, because the pipe may be silent.
enum Stage {
    /// Its first bytes have not arrived.
    Unknown(Box<dyn io::Read + Send>),
    /// This number of bytes is still to skip.
    Skipping(Box<dyn io::Read + Send>, u64),
    /// It is read.
    Open(Box<TextStream>),
    /// An error occurred.
    Failed,
}

impl FollowedPipe {
    /// Starts after the text to skip.
    pub fn new(
        name: PathBuf,
        reader: Box<dyn io::Read + Send>,
        skip: Position,
        options: &TextOptions,
        layout: &Layout,
    ) -> FollowedPipe {
        FollowedPipe {
            name,
            options: options.clone(),
            layout: layout.clone(),
            stage: Stage::Unknown(reader),
            position: skip,
            recorded: skip,
            words: 0,
        }
    }

    /// Reads the next sentence, if there is one now.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        if !matches!(self.stage, Stage::Open(_)) {
            let stage = std::mem::replace(&mut self.stage, Stage::Failed);
            self.stage = self.next_stage(stage)?;
        }
        let Stage::Open(stream) = &mut self.stage else { return Ok(Read::Pending) };
        let is_sentence = stream.read(sentence)?.is_sentence();
        self.words += sentence.len() as u64;
        self.position = if is_sentence { stream.position() } else { stream.end() };
        Ok(if is_sentence { Read::Sentence } else { Read::Pending })
    }

    pub fn record_position(&mut self, ledger: &mut Ledger) {
        if self.words > 0 {
            let bytes = self.position.offset - self.recorded.offset;
            ledger.record_piped(self.words, bytes, self.position);
            self.recorded = self.position;
            self.words = 0;
        }
    }

    /// Declares the end, which is an error before the position where reading is to start.
    pub fn end(&self) -> Result<()> {
        match self.stage {
            Stage::Unknown(_) | Stage::Skipping(..) if self.position.offset > 0 => {
                Err(too_short(&self.name, self.position))
            }
            _ => Ok(()),
        }
    }

    pub fn report(&self) -> TextReport {
        match &self.stage {
            Stage::Open(stream) => stream.report(),
            _ => TextReport::default(),
        }
    }

    /// Advances to the next stage if there are enough bytes.
    fn next_stage(&self, stage: Stage) -> Result<Stage> {
        let (mut reader, left) = match stage {
            Stage::Unknown(mut reader) => {
                let magic = read_magic(&mut reader).map_err(Error::io(&self.name))?;
                if magic.is_empty() {
                    return Ok(Stage::Unknown(reader));
                }
                if Compression::of(&magic) != Compression::None {
                    let what = "compressed text".to_owned();
                    return Err(Error::text(&self.name, TextError::CannotFollow { what }));
                }
                (Box::new(Cursor::new(magic).chain(reader)) as Box<dyn io::Read + Send>, self.position.offset)
            }
            Stage::Skipping(reader, left) => (reader, left),
            Stage::Open(_) | Stage::Failed => return Ok(stage),
        };
        let skipped = io::copy(&mut reader.by_ref().take(left), &mut io::sink());
        match left - skipped.map_err(Error::io(&self.name))? {
            0 => {
                let stream = plain_at(&self.name, reader, self.position, &self.options, &self.layout)?;
                Ok(Stage::Open(Box::new(stream)))
            }
            left => Ok(Stage::Skipping(reader, left)),
        }
    }
}
