//! Tables of values separated by commas or tabs.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufRead, Cursor, Read};
use std::path::{Path, PathBuf};

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::{LISTED_COLUMNS, MAX_RECORD_BYTES, Record, Records, no_column};
use crate::bytes::read_error;
use crate::corpus::error::TextError;
use crate::corpus::layout::{RecordField, RecordFormat};
use crate::corpus::marks::take_mark;
use crate::corpus::position::Position;
use crate::{Error, Result};

/// The number of characters of a wrong value that an error shows.
const LISTED_CHARACTERS: usize = 40;

/// The maximum number of bytes of a value that are taken at once.
const PART_BYTES: usize = 4096;

/// Reads a column. The others are not kept, so memory is bounded by the text whatever the number of columns.
pub(super) struct Table {
    reader: Box<dyn BufRead + Send>,
    parser: Reader,
    name: PathBuf,
    position: Position,
    column: usize,
    /// The column of weights, with its name.
    weight: Option<(usize, String)>,
    /// The number of columns of the first row.
    columns: usize,
}

impl Table {
    /// Reads the names of the columns, and skips the rows before the position.
    pub(super) fn new(
        mut reader: Box<dyn BufRead + Send>,
        position: Position,
        name: &Path,
        field: &RecordField,
    ) -> Result<Table> {
        let mark = take_mark(&mut reader, name)?;
        let mut parser = ReaderBuilder::new();
        if field.format == RecordFormat::Tsv {
            // In TSV a quote is only a quote: text with an odd number of them would swallow the lines that follow.
            parser.delimiter(b'\t').quoting(false);
        }
        let mut table = Table {
            reader: Box::new(Cursor::new(mark.text).chain(reader)),
            parser: parser.build(),
            name: name.to_owned(),
            position: Position::at(mark.bytes - mark.text.len() as u64),
            column: 0,
            weight: None,
            columns: 0,
        };
        let fields: Vec<&str> =
            std::iter::once(&field.field).chain(&field.weight).map(String::as_str).collect();
        let columns = if field.no_header { table.numbers(&fields)? } else { table.read_names(&fields)? };
        table.column = columns[0];
        table.weight = field.weight.as_ref().map(|weight| (columns[1], weight.clone()));
        table.skip_line_ends()?;
        while table.position.offset < position.offset {
            let Some(columns) = table.read_row(|_, _| ())? else { break };
            table.see_columns(columns)?;
            table.skip_line_ends()?;
        }
        Ok(table)
    }

    /// The columns with these numbers, which count from 1.
    fn numbers(&self, fields: &[&str]) -> Result<Vec<usize>> {
        let number = |field: &&str| {
            let number = field.parse().ok().and_then(|number: usize| number.checked_sub(1));
            let wrong = || TextError::NoColumnNumber { column: (*field).to_owned() };
            number.ok_or_else(|| Error::text(&self.name, wrong()))
        };
        fields.iter().map(number).collect()
    }

    /// Reads the first row, and finds columns by their names or by their numbers.
    fn read_names(&mut self, fields: &[&str]) -> Result<Vec<usize>> {
        self.skip_line_ends()?;
        let mut first_names: Vec<Vec<u8>> = Vec::new();
        let mut name = Vec::new();
        let mut current = 0;
        let mut named = vec![None; fields.len()];
        let mut end_name = |name: &mut Vec<u8>, column| {
            for (named, field) in named.iter_mut().zip(fields) {
                if name == field.as_bytes() {
                    named.get_or_insert(column);
                }
            }
            if first_names.len() < LISTED_COLUMNS {
                first_names.push(name.clone());
            }
            name.clear();
        };
        let columns = self.read_row(|column, part| {
            if column > current {
                end_name(&mut name, current);
                current = column;
            }
            name.extend_from_slice(part);
        })?;
        let Some(columns) = columns else {
            return Ok(vec![0; fields.len()]);
        };
        end_name(&mut name, current);
        self.columns = columns;
        let mut names = first_names.iter().map(|name| String::from_utf8_lossy(name));
        let find = |(field, named): (&&str, Option<usize>)| {
            if named.is_none() && !looks_like_header(names.clone()) {
                return Err(TextError::NoHeader { column: (*field).to_owned() });
            }
            let numbered = || field.parse().ok().filter(|number| (1..=columns).contains(number));
            named.or_else(|| Some(numbered()? - 1)).ok_or_else(|| no_column(field, &mut names, columns))
        };
        let found: std::result::Result<_, TextError> = fields.iter().zip(named).map(find).collect();
        found.map_err(|cause| Error::text(&self.name, cause))
    }

    /// Takes the number of columns from the first row, if no header did.
    fn see_columns(&mut self, columns: usize) -> Result<()> {
        if self.columns == 0 {
            self.columns = columns;
            let wanted = self.weight.as_ref().map_or(self.column, |(weight, _)| self.column.max(*weight));
            if wanted >= columns {
                let (column, names) = ((wanted + 1).to_string(), format!("1 to {columns}"));
                return Err(Error::text(&self.name, TextError::NoColumn { column, names }));
            }
        }
        Ok(())
    }

    /// Goes to the first byte of the next row, so that the position of a row is where it starts. The parser would skip the
    /// line ends itself, but as a part of the row.
    fn skip_line_ends(&mut self) -> Result<()> {
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&self.name, error)),
            };
            let ends = chunk.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if ends == 0 {
                return Ok(());
            }
            self.position = after(self.position, &chunk[..ends]);
            self.reader.consume(ends);
        }
    }

    /// Reads a row and passes on each part of each value, with the index of its column. Returns the number of columns, or
    /// `None` at the end.
    fn read_row(&mut self, mut take: impl FnMut(usize, &[u8])) -> Result<Option<usize>> {
        let start = self.position;
        let mut part = [0; PART_BYTES];
        let mut column = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&self.name, error)),
            };
            if chunk.is_empty() && self.position.offset > start.offset {
                // The last line needs no end, except after an open quote.
                if let (ReadFieldResult::InputEmpty, ..) = self.parser.read_field(b"\n", &mut part) {
                    return Err(Error::text(&self.name, TextError::UnclosedQuote { line: start.lines + 1 }));
                }
                return Ok(Some(column + 1));
            }
            let (met, read, written) = self.parser.read_field(chunk, &mut part);
            self.position = after(self.position, &chunk[..read]);
            self.reader.consume(read);
            if self.position.offset - start.offset > MAX_RECORD_BYTES as u64 {
                let cause = TextError::LongRecord { line: start.lines + 1, limit: MAX_RECORD_BYTES };
                return Err(Error::text(&self.name, cause));
            }
            take(column, &part[..written]);
            match met {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end: false } => column += 1,
                ReadFieldResult::Field { record_end: true } => return Ok(Some(column + 1)),
                ReadFieldResult::End => return Ok(None),
            }
        }
    }
}

impl Records for Table {
    fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<Record>> {
        text.clear();
        self.skip_line_ends()?;
        let mut record = Record::new(self.position);
        let wanted = self.column;
        let weighed = self.weight.as_ref().map(|(column, _)| *column);
        let mut weight = Vec::new();
        let read = self.read_row(|column, part| {
            if column == wanted {
                text.extend_from_slice(part);
            }
            if Some(column) == weighed {
                weight.extend_from_slice(part);
            }
        });
        let Some(columns) = read? else {
            return Ok(None);
        };
        self.see_columns(columns)?;
        if let Some((_, field)) = &self.weight {
            let value = String::from_utf8_lossy(&weight);
            let number = value.trim().parse().map_err(|_| match value.trim() {
                "" => "is empty".to_owned(),
                other => format!("is `{}`", other.chars().take(LISTED_CHARACTERS).collect::<String>()),
            });
            record.weigh(field, number);
        }
        if columns != self.columns {
            let expected = self.columns;
            let reason = format!("this row has {columns} columns, and the first row has {expected}");
            record.defect = Some(reason);
        }
        Ok(Some(record))
    }

    fn position(&self) -> Position {
        self.position
    }
}

/// Whether the values of a first row may be names: single words that are short, different, and no numbers. A column of row
/// numbers has an empty name. A name of several words is not recognized, but such a column can be named.
fn looks_like_header<'a>(mut values: impl Iterator<Item = Cow<'a, str>>) -> bool {
    let mut seen = HashSet::new();
    values.all(|value| {
        let value = value.trim();
        let is_name =
            value.len() <= 64 && !value.contains(char::is_whitespace) && value.parse::<f64>().is_err();
        value.is_empty() || is_name && seen.insert(value.to_owned())
    })
}

fn after(position: Position, bytes: &[u8]) -> Position {
    Position {
        offset: position.offset + bytes.len() as u64,
        lines: position.lines + memchr::memchr_iter(b'\n', bytes).count() as u64,
        words: 0,
    }
}
