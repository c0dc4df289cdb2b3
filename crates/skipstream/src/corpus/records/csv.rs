//! Tables of values between commas or tabs.

use std::io::{self, BufRead, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::{MAX_RECORD_BYTES, Record, Records};
use crate::bytes::read_error;
use crate::corpus::layout::{RecordField, RecordFormat};
use crate::corpus::marks::take_mark;
use crate::corpus::position::Position;
use crate::{Error, Result};

/// The most columns whose names a message lists.
const LISTED_COLUMNS: usize = 20;

/// Reads a column.
pub(super) struct Table {
    reader: Reader<Limited>,
    name: PathBuf,
    /// The bytes before the reader's first.
    origin: u64,
    column: usize,
    row: ByteRecord,
    /// What the reader may still take for one row.
    left: Arc<AtomicUsize>,
}

impl Table {
    /// Reads the names of the columns, and passes over the rows before the position.
    pub(super) fn new(
        mut reader: Box<dyn BufRead + Send>,
        position: Position,
        name: &Path,
        field: &RecordField,
    ) -> Result<Table> {
        let mark = take_mark(&mut reader, name)?;
        let left = Arc::new(AtomicUsize::new(MAX_RECORD_BYTES));
        let inner =
            Limited { inner: Box::new(Cursor::new(mark.text).chain(reader)), left: Arc::clone(&left) };
        let mut builder = ReaderBuilder::new();
        if field.format == RecordFormat::Tsv {
            // A quote is a quote: text with an odd number of them would swallow the lines that follow.
            builder.delimiter(b'\t').quoting(false);
        }
        let mut table = Table {
            reader: builder.from_reader(inner),
            name: name.to_owned(),
            origin: mark.bytes - mark.text.len() as u64,
            column: 0,
            row: ByteRecord::new(),
            left,
        };
        let names = match table.reader.byte_headers() {
            Ok(names) => names.clone(),
            Err(error) => return Err(table.failure(error)),
        };
        if !names.is_empty() {
            table.column = column(&names, &field.field).map_err(|reason| Error::malformed(name, reason))?;
        }
        while table.position().offset < position.offset {
            if table.read(&mut Vec::new())?.is_none() {
                break;
            }
        }
        Ok(table)
    }

    /// An error that ends all reading.
    fn failure(&self, error: csv::Error) -> Error {
        match error.into_kind() {
            ErrorKind::Io(error) if error.get_ref().is_some_and(|cause| cause.is::<TooLong>()) => {
                let line = self.position().lines + 1;
                let reason = format!(
                    "line {line}: the record that begins here is longer than {MAX_RECORD_BYTES} bytes; \
                     is there a `\"` without its other half? (`--format tsv` knows no quotes)"
                );
                Error::malformed(&self.name, reason)
            }
            ErrorKind::Io(error) => read_error(&self.name, error),
            other => Error::malformed(&self.name, format!("{other:?}")),
        }
    }
}

impl Records for Table {
    fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<Record>> {
        self.left.store(MAX_RECORD_BYTES, Ordering::Relaxed);
        text.clear();
        let mut record = Record { start: self.position(), invalid: None, defect: None };
        match self.reader.read_byte_record(&mut self.row) {
            Ok(false) => return Ok(None),
            Ok(true) => text.extend_from_slice(self.row.get(self.column).unwrap_or_default()),
            Err(error) => match *error.kind() {
                ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    let reason = format!("this row has {len} columns, and the first row has {expected_len}");
                    record.defect = Some(reason);
                }
                _ => return Err(self.failure(error)),
            },
        }
        if let Some(start) = self.row.position() {
            record.start = Position {
                offset: self.origin + start.byte(),
                lines: start.line().saturating_sub(1),
                words: 0,
            };
        }
        Ok(Some(record))
    }

    fn position(&self) -> Position {
        let position = self.reader.position();
        Position { offset: self.origin + position.byte(), lines: position.line().saturating_sub(1), words: 0 }
    }
}

/// The place of a column, by its name or by its number.
fn column(names: &ByteRecord, field: &str) -> std::result::Result<usize, String> {
    if let Some(column) = names.iter().position(|name| name == field.as_bytes()) {
        return Ok(column);
    }
    if let Ok(number) = field.parse::<usize>()
        && (1..=names.len()).contains(&number)
    {
        return Ok(number - 1);
    }
    let listed: Vec<_> = names.iter().take(LISTED_COLUMNS).map(String::from_utf8_lossy).collect();
    let rest = if names.len() > LISTED_COLUMNS { " …" } else { "" };
    Err(format!("there is no column `{field}`; the first row names {}{rest}", listed.join(", ")))
}

/// Bytes of which a single row may take only so many.
struct Limited {
    inner: Box<dyn Read + Send>,
    left: Arc<AtomicUsize>,
}

/// Why a [`Limited`] gives no more.
#[derive(Debug, thiserror::Error)]
#[error("the record is too long")]
struct TooLong;

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::other(TooLong));
        }
        let length = self.inner.read(buffer)?;
        self.left.store(left.saturating_sub(length), Ordering::Relaxed);
        Ok(length)
    }
}
