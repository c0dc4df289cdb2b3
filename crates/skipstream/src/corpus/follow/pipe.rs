//! A pipe that is followed: its reader says when it is silent.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use crate::bytes::{Compression, read_magic};
use crate::corpus::ledger::Ledger;
use crate::corpus::open::{TextStream, from_reader_at};
use crate::corpus::{Layout, Position, Sentence, Source, TextOptions, TextReport};
use crate::{Error, Result};

/// A pipe, which is opened when its first bytes have come: they tell whether it is compressed.
pub(super) struct FollowedPipe {
    name: PathBuf,
    options: TextOptions,
    layout: Layout,
    reader: Option<Box<dyn Read + Send>>,
    stream: Option<TextStream>,
    position: Position,
    settled: Position,
    /// Words since the ledger was told.
    words: u64,
}

impl FollowedPipe {
    /// Begins behind what is to be passed over.
    pub fn new(
        name: PathBuf,
        reader: Box<dyn Read + Send>,
        skip: Position,
        options: &TextOptions,
        layout: &Layout,
    ) -> FollowedPipe {
        FollowedPipe {
            name,
            options: options.clone(),
            layout: layout.clone(),
            reader: Some(reader),
            stream: None,
            position: skip,
            settled: skip,
            words: 0,
        }
    }

    /// Reads the next sentence, if there is one now.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        if let Some(mut reader) = self.reader.take() {
            let magic = read_magic(&mut reader).map_err(Error::io(&self.name))?;
            if magic.is_empty() {
                self.reader = Some(reader);
                return Ok(false);
            }
            if Compression::of(&magic) != Compression::None {
                let name = self.name.display();
                return Err(Error::Unsupported(format!(
                    "{name}: it is compressed, and compressed text cannot be followed; decompress it, or leave --follow out"
                )));
            }
            let reader = Cursor::new(magic).chain(reader);
            self.stream =
                Some(from_reader_at(&self.name, reader, self.position, &self.options, &self.layout)?);
        }
        let Some(stream) = &mut self.stream else { return Ok(false) };
        let more = stream.read(sentence)?;
        self.words += sentence.len() as u64;
        self.position = if more { stream.position() } else { stream.end() };
        Ok(more)
    }

    pub fn settle(&mut self, ledger: &mut Ledger) {
        if self.words > 0 {
            let bytes = self.position.offset - self.settled.offset;
            ledger.record_piped(self.words, bytes, self.position);
            self.settled = self.position;
            self.words = 0;
        }
    }

    pub fn report(&self) -> TextReport {
        self.stream.as_ref().map(|stream| stream.report().clone()).unwrap_or_default()
    }
}
