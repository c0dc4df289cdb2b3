//! A followed pipe, whose reader reports when no text is available.

use std::io::{self, Cursor, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    has_ended: Arc<AtomicBool>,
    /// How far it was read, or where reading is to start.
    position: Position,
    recorded: Position,
    /// The number of words since the last entry in the ledger.
    words: u64,
}

/// The stages of opening a pipe. Each may take long, because the pipe may be silent.
enum Stage {
    /// Its first bytes have not arrived.
    Unknown(Pauses),
    /// This number of bytes is still to skip.
    Skipping(Box<dyn io::Read + Send>, u64),
    /// It is read.
    Open(Box<TextStream>),
    /// An error occurred.
    Failed,
}

/// Bytes that end where there are none now, as those of a growing file do. `has_ended` tells whether more may come.
struct Pauses {
    reader: Box<dyn io::Read + Send>,
    has_ended: Arc<AtomicBool>,
}

impl io::Read for Pauses {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Ok(0) if !buffer.is_empty() => {
                self.has_ended.store(true, Ordering::Relaxed);
                Ok(0)
            }
            other => other,
        }
    }
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
        let has_ended = Arc::default();
        FollowedPipe {
            name,
            options: options.clone(),
            layout: layout.clone(),
            stage: Stage::Unknown(Pauses { reader, has_ended: Arc::clone(&has_ended) }),
            has_ended,
            position: skip,
            recorded: skip,
            words: 0,
        }
    }

    /// Reads the next sentence, if there is one now. It is an error if the pipe ends within the text to skip.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        if !matches!(self.stage, Stage::Open(_)) {
            let stage = std::mem::replace(&mut self.stage, Stage::Failed);
            self.stage = self.next_stage(stage)?;
        }
        if let Stage::Open(stream) = &mut self.stage {
            let is_sentence = stream.read(sentence)?.is_sentence();
            self.words += sentence.len() as u64;
            self.position = if is_sentence { stream.position() } else { stream.end() };
            if is_sentence {
                return Ok(Read::Sentence);
            }
        }
        match self.stage {
            _ if !self.has_ended.load(Ordering::Relaxed) => Ok(Read::Pending),
            Stage::Unknown(_) | Stage::Skipping(..) if self.position.offset > 0 => {
                Err(too_short(&self.name, self.position))
            }
            _ => Ok(Read::End),
        }
    }

    pub fn record_position(&mut self, ledger: &mut Ledger) {
        if self.words > 0 {
            let bytes = self.position.offset - self.recorded.offset;
            ledger.record_piped(self.words, bytes, self.position);
            self.recorded = self.position;
            self.words = 0;
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
