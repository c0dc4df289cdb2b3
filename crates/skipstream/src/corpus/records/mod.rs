//! Records with a field of text, read as sentences.
//!
//! Each format returns the text of its records one by one. [`Lines`] reads that text like any other, so limits, policies
//! and reports are the same for all formats.

mod csv;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;

use std::borrow::Borrow;
#[cfg(feature = "parquet")]
use std::fs::File;
use std::io::{BufRead, Cursor};
use std::path::PathBuf;

use super::error::TextError;
use super::layout::{BadRecords, RecordField, RecordFormat};
use super::lines::Lines;
use super::open::{Sentences, Start};
use super::options::InvalidUtf8;
use super::position::Position;
#[cfg(feature = "parquet")]
use super::progress::RawProgress;
use super::report::{Location, TextReport};
use super::sentence::{Read, Sentence, Source};
use crate::{Error, Result};

/// The maximum length of a record. A longer one is not a record of text, or its end is missing.
pub(super) const MAX_RECORD_BYTES: usize = 64 << 20;

const LISTED_COLUMNS: usize = 20;

trait Records: Send {
    /// Replaces `text` with the text of the next record, one sentence per line. `None` at the end.
    fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<Record>>;

    /// The position after the last record that was read.
    fn position(&self) -> Position;
}

/// A record, or what was found instead.
struct Record {
    /// Where it starts; `lines` counts the lines (or rows) before it.
    start: Position,
    /// The first byte that is not UTF-8, if it had to be replaced to parse the record.
    invalid: Option<u64>,
    weight: f32,
    /// Why there is no text, or no weight.
    defect: Option<String>,
}

impl Record {
    fn new(start: Position) -> Record {
        Record { start, invalid: None, weight: 1.0, defect: None }
    }

    /// Sets the weight, or says why it is none.
    fn weigh(&mut self, field: &str, weight: std::result::Result<f64, String>) {
        let limit = Sentence::MAX_WEIGHT;
        match weight {
            Ok(weight) if (0.0..=f64::from(limit)).contains(&weight) => self.weight = weight as f32,
            Ok(weight) => {
                self.defect =
                    Some(format!("the weight `{field}` is {weight:?}; it must be from 0 to {limit}"));
            }
            Err(found) => self.defect = Some(format!("the weight `{field}` {found}; it must be a number")),
        }
    }
}

struct RecordLines {
    records: Box<dyn Records>,
    text: Vec<u8>,
    field: RecordField,
    bad_records: BadRecords,
    invalid_utf8: InvalidUtf8,
    name: PathBuf,
    /// The lines of the record that is being read.
    lines: Lines<Cursor<Vec<u8>>>,
    weight: f32,
    position: Position,
    /// The number of words of the first record to skip.
    skip_words: u64,
    /// What `lines` does not count.
    report: TextReport,
}

/// Reads records from bytes. A reader of JSON lines must be at the position; one of tables at the start, which names the
/// columns.
pub(super) fn from_bytes(
    reader: Box<dyn BufRead + Send>,
    start: Start<'_>,
    field: &RecordField,
    bad_records: BadRecords,
) -> Result<Box<dyn Sentences>> {
    let Start { name, position, .. } = start;
    let records: Box<dyn Records> = match field.format {
        RecordFormat::Jsonl => Box::new(jsonl::JsonLines::new(reader, position, name, field)),
        RecordFormat::Csv | RecordFormat::Tsv => Box::new(csv::Table::new(reader, position, name, field)?),
        #[cfg(feature = "parquet")]
        RecordFormat::Parquet => return Err(Error::text(name, TextError::ParquetPipe)),
        #[cfg(not(feature = "parquet"))]
        RecordFormat::Parquet => return Err(field.format.missing(name)),
    };
    Ok(Box::new(RecordLines::new(records, start, field, bad_records)?))
}

#[cfg(feature = "parquet")]
pub(super) fn from_parquet(
    file: File,
    start: Start<'_>,
    field: &RecordField,
    bad_records: BadRecords,
    progress: &RawProgress,
) -> Result<Box<dyn Sentences>> {
    let rows = parquet::Rows::new(file, start.position, start.name, field, progress.clone())?;
    Ok(Box::new(RecordLines::new(Box::new(rows), start, field, bad_records)?))
}

impl RecordLines {
    fn new(
        records: Box<dyn Records>,
        Start { name, position, options, .. }: Start<'_>,
        field: &RecordField,
        bad_records: BadRecords,
    ) -> Result<RecordLines> {
        Ok(RecordLines {
            records,
            text: Vec::new(),
            field: field.clone(),
            bad_records,
            invalid_utf8: options.invalid_utf8,
            name: name.to_owned(),
            lines: Lines::of_records(name, options)?,
            weight: 1.0,
            position,
            skip_words: position.words,
            report: TextReport::default(),
        })
    }

    /// Starts the next record that can be read, if there is one. More records may follow the end later.
    fn next_record(&mut self) -> Result<bool> {
        if self.position.words > self.skip_words {
            self.position = self.records.position();
        }
        while let Some(record) = self.records.read(&mut self.text)? {
            let skip_words = std::mem::take(&mut self.skip_words);
            if self.is_kept(&record)? {
                self.position = Position { words: skip_words, ..record.start };
                self.weight = record.weight;
                self.lines.begin_record(&self.text, record.start, skip_words);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the policies accept a record. One that they do not is counted, or an error.
    fn is_kept(&mut self, record: &Record) -> Result<bool> {
        let line = record.start.lines + 1;
        let place = |offset| Location { path: self.name.clone(), line, offset };
        if let Some(offset) = record.invalid {
            self.report.invalid_lines += 1;
            self.report.first.invalid_line.get_or_insert_with(|| place(offset));
            match self.invalid_utf8 {
                InvalidUtf8::Replace => {}
                InvalidUtf8::Skip => return Ok(false),
                InvalidUtf8::Error => {
                    return Err(Error::InvalidUtf8 { path: self.name.clone(), line, offset });
                }
            }
        }
        let Some(defect) = &record.defect else {
            return Ok(true);
        };
        match self.bad_records {
            BadRecords::Skip => {
                self.report.bad_records += 1;
                self.report.first.bad_record.get_or_insert_with(|| place(record.start.offset));
                Ok(false)
            }
            BadRecords::Error => {
                let unit = if self.field.format == RecordFormat::Parquet { "row" } else { "line" };
                Err(Error::text(
                    &self.name,
                    TextError::Record { unit, number: line, defect: defect.to_string() },
                ))
            }
        }
    }
}

impl Sentences for RecordLines {
    /// Records that were skipped since come after this position: the last of them may not be complete yet.
    fn position(&self) -> Position {
        self.position
    }

    fn end(&self) -> Position {
        self.records.position()
    }

    fn report(&self) -> TextReport {
        self.lines.report().clone() + self.report.clone()
    }
}

impl Source for RecordLines {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        loop {
            if self.lines.read(sentence)?.is_sentence() {
                self.position.words += sentence.len() as u64;
                sentence.set_weight(self.weight);
                return Ok(Read::Sentence);
            }
            if !self.next_record()? {
                return Ok(Read::End);
            }
        }
    }
}

/// The error that there is no such column among `columns`, of which `names` are all or the first.
fn no_column<S: Borrow<str>>(field: &str, names: impl Iterator<Item = S>, columns: usize) -> TextError {
    let listed = names.take(LISTED_COLUMNS).collect::<Vec<S>>().join(", ");
    let rest = if columns > LISTED_COLUMNS { " …" } else { "" };
    TextError::NoColumn { column: field.to_owned(), names: format!("{listed}{rest}") }
}

#[cfg(test)]
mod tests;
