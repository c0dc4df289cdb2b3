//! A column of text of a Parquet file, and one of weights.

mod bounds;

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use self::bounds::{PageFile, Pages};
use super::{MAX_RECORD_BYTES, Record, Records, no_column};
use crate::corpus::error::TextError;
use crate::corpus::layout::RecordField;
use crate::corpus::position::Position;
use crate::corpus::progress::RawProgress;
use crate::{Error, Result};

/// Reads a column of strings or of lists of strings, row by row, and a column of weights. Its positions count rows, not
/// bytes.
pub(super) struct Rows {
    text: Column<ByteArrayType>,
    weight: Option<(Weights, String)>,
    rows: u64,
    progress: RawProgress,
}

/// A column of numbers.
enum Weights {
    Int32(Column<Int32Type>),
    Int64(Column<Int64Type>),
    Float(Column<FloatType>),
    Double(Column<DoubleType>),
}

/// Reads a column, row by row.
struct Column<T: DataType> {
    file: Arc<PageFile>,
    metadata: Arc<ParquetMetaData>,
    path: PathBuf,
    column: usize,
    /// How often a value can repeat in a row, and how it is marked as present.
    max_repetition: i16,
    max_definition: i16,
    /// The next row group, and the values of the current one.
    next_group: usize,
    values: Option<ColumnReaderImpl<T>>,
    /// Values that the current row may still have.
    room: Arc<AtomicU64>,
    row: u64,
    /// The values of the current row.
    batch: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl Rows {
    pub(super) fn new(
        file: File,
        position: Position,
        path: &Path,
        field: &RecordField,
        progress: RawProgress,
    ) -> Result<Rows> {
        let metadata = guarded(path, || {
            bounds::check_footer(&file)?;
            ParquetMetaDataReader::new().parse_and_finish(&file)
        })?;
        let (file, metadata) = (Arc::new(PageFile::new(file)), Arc::new(metadata));
        let schema = metadata.file_metadata().schema_descr();
        let wrong = |cause| Error::text(path, cause);
        let start = position.offset;
        let text = find_text(schema, &field.field).map_err(wrong)?;
        let text = Column::new(&file, &metadata, text, path, start)?;
        let weights = |field: &String| -> Result<(Weights, String)> {
            let column = find(schema, field).map_err(wrong)?;
            let weights = match schema.column(column).physical_type() {
                _ if schema.column(column).max_rep_level() > 0 => None,
                Type::INT32 => Some(Weights::Int32(Column::new(&file, &metadata, column, path, start)?)),
                Type::INT64 => Some(Weights::Int64(Column::new(&file, &metadata, column, path, start)?)),
                Type::FLOAT => Some(Weights::Float(Column::new(&file, &metadata, column, path, start)?)),
                Type::DOUBLE => Some(Weights::Double(Column::new(&file, &metadata, column, path, start)?)),
                _ => None,
            };
            let found = schema.column(column).physical_type().to_string();
            let expected = "numbers";
            let no_numbers = || wrong(TextError::ColumnType { column: field.clone(), found, expected });
            Ok((weights.ok_or_else(no_numbers)?, field.clone()))
        };
        let weight = field.weight.as_ref().map(weights).transpose()?;
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        Ok(Rows { text, weight, rows, progress })
    }
}

impl Records for Rows {
    fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<Record>> {
        let start = self.position();
        if !self.text.next_row()? {
            return Ok(None);
        }
        let mut record = Record::new(start);
        self.progress.set_share(self.text.row, self.rows);
        text.clear();
        if let Some((weights, field)) = &mut self.weight {
            let weight = weights.read()?;
            record.weigh(field, weight.ok_or_else(|| "is null".to_owned()));
        }
        let values = &self.text.batch;
        if values.iter().map(ByteArray::len).sum::<usize>() > MAX_RECORD_BYTES {
            record.defect = Some(format!("the text is longer than {MAX_RECORD_BYTES} bytes"));
        } else if values.is_empty() && self.text.max_repetition == 0 {
            record.defect = Some("the column is null".to_owned());
        }
        if record.defect.is_none() {
            for value in values {
                text.extend_from_slice(value.data());
                text.push(b'\n');
            }
        }
        Ok(Some(record))
    }

    fn position(&self) -> Position {
        Position { offset: self.text.row, lines: self.text.row, words: 0 }
    }
}

impl Weights {
    /// The number of the next row; `None` if it is null.
    fn read(&mut self) -> Result<Option<f64>> {
        Ok(match self {
            Weights::Int32(column) => column.next_number()?.map(f64::from),
            Weights::Int64(column) => column.next_number()?.map(|number| number as f64),
            Weights::Float(column) => column.next_number()?.map(f64::from),
            Weights::Double(column) => column.next_number()?,
        })
    }
}

impl<T: DataType> Column<T> {
    fn new(
        file: &Arc<PageFile>,
        metadata: &Arc<ParquetMetaData>,
        column: usize,
        path: &Path,
        start: u64,
    ) -> Result<Column<T>> {
        let description = metadata.file_metadata().schema_descr().column(column);
        let mut column = Column {
            path: path.to_owned(),
            column,
            max_repetition: description.max_rep_level(),
            max_definition: description.max_def_level(),
            next_group: 0,
            values: None,
            row: 0,
            batch: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
            room: Arc::default(),
            file: file.clone(),
            metadata: metadata.clone(),
        };
        column.skip(start)?;
        Ok(column)
    }

    fn skip(&mut self, rows: u64) -> Result<()> {
        while self.row < rows {
            let Some(group) = self.metadata.row_groups().get(self.next_group) else {
                return Err(Error::text(&self.path, TextError::TooShort { unit: "row", position: rows }));
            };
            let in_group = u64::try_from(group.num_rows()).unwrap_or(0);
            if in_group <= rows - self.row {
                self.next_group += 1;
                self.row += in_group;
                continue;
            }
            self.open_group()?;
            let wanted = usize::try_from(rows - self.row).unwrap_or(usize::MAX);
            let Some(values) = &mut self.values else { continue };
            // Rows that are skipped are not held in memory.
            self.room.store(u64::MAX, Ordering::Relaxed);
            let skipped = guarded(&self.path, || values.skip_records(wanted))?;
            self.row += skipped as u64;
            if skipped < wanted {
                return Err(invalid(&self.path, "a row group is shorter than the metadata says"));
            }
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<()> {
        let reader = guarded(&self.path, || {
            let group = self.metadata.row_group(self.next_group);
            let column = group.column(self.column);
            let rows = usize::try_from(group.num_rows())?;
            let pages = Pages::new(&self.file, column, rows, &self.room)?;
            Ok(get_column_reader(column.column_descr_ptr(), Box::new(pages)))
        })?;
        let Some(values) = T::get_column_reader(reader) else {
            return Err(invalid(&self.path, "the column changes its type between row groups"));
        };
        self.next_group += 1;
        self.values = Some(values);
        Ok(())
    }

    /// Reads the values of one row. Returns false at the end of the row group.
    fn read_row(&mut self) -> Result<bool> {
        self.batch.clear();
        self.definitions.clear();
        self.repetitions.clear();
        let Some(values) = &mut self.values else {
            return Ok(false);
        };
        let definitions = (self.max_definition > 0).then_some(&mut self.definitions);
        let repetitions = (self.max_repetition > 0).then_some(&mut self.repetitions);
        let batch = &mut self.batch;
        self.room.store(bounds::MAX_VALUES, Ordering::Relaxed);
        let (rows, ..) = guarded(&self.path, || values.read_records(1, definitions, repetitions, batch))?;
        Ok(rows > 0)
    }

    /// Reads the values of the next row. Returns false at the end of the file.
    fn next_row(&mut self) -> Result<bool> {
        while !self.read_row()? {
            if self.next_group == self.metadata.num_row_groups() {
                return Ok(false);
            }
            self.open_group()?;
        }
        self.row += 1;
        Ok(true)
    }

    /// The value of the next row, if it is not null.
    fn next_number(&mut self) -> Result<Option<T::T>> {
        if !self.next_row()? {
            return Err(invalid(&self.path, "the columns have different numbers of rows"));
        }
        Ok(self.batch.pop())
    }
}

/// The column with this name, or the list with it.
fn find(schema: &SchemaDescriptor, field: &str) -> std::result::Result<usize, TextError> {
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let is_in_list = |column: &ColumnDescriptor, name: &str| {
        column.max_rep_level() == 1 && name.strip_prefix(field).is_some_and(|rest| rest.starts_with('.'))
    };
    let found = (0..names.len())
        .find(|&place| names[place] == field || is_in_list(&schema.column(place), &names[place]));
    found.ok_or_else(|| no_column(field, names.iter().map(String::as_str), names.len()))
}

/// The column of strings, or of lists of strings, with this name.
fn find_text(schema: &SchemaDescriptor, field: &str) -> std::result::Result<usize, TextError> {
    let place = find(schema, field)?;
    let column = schema.column(place);
    let is_text = column.physical_type() == Type::BYTE_ARRAY
        && matches!(
            column.logical_type_ref(),
            None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
        )
        && matches!(
            column.converted_type(),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
        )
        && column.max_rep_level() <= 1;
    if !is_text {
        let found = column.physical_type().to_string();
        let expected = "strings or lists of strings";
        return Err(TextError::ColumnType { column: field.to_owned(), found, expected });
    }
    Ok(place)
}

/// Calls the parquet crate, which panics at some kinds of damage. Nothing of it is used after an error.
fn guarded<T>(path: &Path, call: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    static QUIET_HOOK: Once = Once::new();
    thread_local! {
        static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    }
    // The error is all that is to be seen of such a panic. Any other panic goes to the hook that was there.
    QUIET_HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                report(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    IS_GUARDED.set(false);
    let reason = match result {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it is damaged".to_owned(),
    };
    Err(invalid(path, reason))
}

fn invalid(path: &Path, reason: impl Into<String>) -> Error {
    Error::text(path, TextError::Parquet(reason.into()))
}

#[cfg(test)]
mod tests {
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::corpus::{BadRecords, Layout, RecordFormat, Sentence, Source, TextOptions, open_at};

    const SCHEMA: &str = "message m {
        required int64 id;
        optional binary text (STRING);
        optional group tags (LIST) { repeated group list { required binary element (STRING); } }
    }";

    /// Two groups of rows: `one two`, null, and `three⏎four`, `five`; the second row of each has two tags, the first none.
    fn written(compression: Compression) -> Vec<u8> {
        let mut bytes = Vec::new();
        let properties = WriterProperties::builder().set_compression(compression).build();
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
        for (texts, definitions) in [(vec!["one two"], [1, 0]), (vec!["three\nfour", "five"], [1, 1])] {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[1, 2], None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let values: Vec<ByteArray> = texts.into_iter().map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&definitions), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let tags = ["red", "green"].map(ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&tags, Some(&[1, 2, 2]), Some(&[0, 0, 1])).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.close().unwrap();
        bytes
    }

    fn read(
        bytes: &[u8],
        field: &str,
        at: Position,
        bad_records: BadRecords,
    ) -> (Vec<(String, Position)>, Option<String>) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, bytes).unwrap();
        let field = RecordField::new(RecordFormat::Parquet, field);
        let layout = Layout::Records { field, bad_records };
        let shorter = |error: Error| error.to_string().replace(&format!("{}/", folder.path().display()), "");
        let mut stream = match open_at(&path, at, &TextOptions::default(), &layout) {
            Ok(stream) => stream,
            Err(error) => return (Vec::new(), Some(shorter(error))),
        };
        let mut sentences = Vec::new();
        let mut sentence = Sentence::default();
        loop {
            match stream.read(&mut sentence) {
                Ok(crate::corpus::Read::Sentence) => {
                    sentences.push((sentence.tokens().collect::<Vec<_>>().join(" "), stream.position()))
                }
                Ok(_) => return (sentences, None),
                Err(error) => return (sentences, Some(shorter(error))),
            }
        }
    }

    #[test]
    fn a_column_of_numbers_is_the_weight() {
        let schema = "message m {
            required binary text (STRING); optional double w; required int32 n; required binary s (STRING);
        }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
        for _ in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            let texts = ["a", "b\nc", "d"].map(ByteArray::from);
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(&[0.5, 2.0], Some(&[1, 1, 0]), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[1, 0, 7], None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.close().unwrap();
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, bytes).unwrap();
        let weights = |weight: &str, at| -> Result<Vec<f32>> {
            let field = RecordField {
                weight: Some(weight.to_owned()),
                ..RecordField::new(RecordFormat::Parquet, "text")
            };
            let layout = Layout::Records { field, bad_records: BadRecords::Error };
            let mut stream = open_at(&path, Position::at(at), &TextOptions::default(), &layout)?;
            let (mut sentence, mut weights) = (Sentence::default(), Vec::new());
            while stream.read(&mut sentence)?.is_sentence() {
                weights.push(sentence.weight());
            }
            Ok(weights)
        };
        assert_eq!(weights("n", 0).unwrap(), [1.0, 0.0, 0.0, 7.0, 1.0, 0.0, 0.0, 7.0]);
        assert_eq!(weights("n", 4).unwrap(), [0.0, 0.0, 7.0]);
        let error = weights("w", 0).unwrap_err().to_string();
        assert!(error.ends_with("row 3: the weight `w` is null; it must be a number"), "{error}");
        let error = weights("s", 0).unwrap_err().to_string();
        assert!(error.ends_with("the column `s` is BYTE_ARRAY; expected numbers"), "{error}");
    }

    fn texts(bytes: &[u8], field: &str) -> Vec<String> {
        let (sentences, error) = read(bytes, field, Position::default(), BadRecords::Skip);
        assert_eq!(error, None);
        sentences.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn a_column_of_strings_or_lists_is_read_whatever_the_compression() {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for compression in
            [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(Default::default()), zstd]
        {
            let bytes = written(compression);
            assert_eq!(texts(&bytes, "text"), ["one two", "three", "four", "five"]);
            assert_eq!(texts(&bytes, "tags"), ["red", "green", "red", "green"]);
        }
    }

    #[test]
    fn every_position_is_a_place_to_go_on() {
        let bytes = written(Compression::SNAPPY);
        for field in ["text", "tags"] {
            let (sentences, _) = read(&bytes, field, Position::default(), BadRecords::Skip);
            for (index, &(_, position)) in sentences.iter().enumerate() {
                assert_eq!(read(&bytes, field, position, BadRecords::Skip).0, sentences[index + 1..]);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bytes = written(Compression::SNAPPY);
        let error =
            |bytes: &[u8], field: &str| read(bytes, field, Position::default(), BadRecords::Error).1.unwrap();
        assert_eq!(error(&bytes, "text"), "a.parquet: row 2: the column is null");
        assert_eq!(
            error(&bytes, "body"),
            "a.parquet: there is no column `body`; the columns are id, text, tags.list.element"
        );
        assert_eq!(
            error(&bytes, "id"),
            "a.parquet: the column `id` is INT64; expected strings or lists of strings"
        );
        for keep in [0, 3, bytes.len() / 2, bytes.len() - 1] {
            let message = error(&bytes[..keep], "text");
            assert!(message.starts_with("a.parquet: invalid Parquet file: "), "{message}");
        }
        let message = read(&bytes, "text", Position::at(9), BadRecords::Error).1.unwrap();
        assert!(message.contains("the text ends before row 9"), "{message}");
    }

    /// A file of the fuzz targets.
    fn found(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet");
        std::fs::read(folder.join(name)).unwrap()
    }

    #[track_caller]
    fn assert_refused(bytes: &[u8], reason: &str) {
        let (sentences, error) = read(bytes, "text", Position::default(), BadRecords::Skip);
        let error = error.unwrap_or_else(|| panic!("{sentences:?}"));
        assert!(error.contains(reason), "{error}");
    }

    #[test]
    fn files_of_other_programs_are_read_whatever_the_encoding() {
        for name in ["plain", "snappy", "gzip", "zstd", "delta"] {
            assert_eq!(texts(&found(name), "text"), ["one two", "three", "four", "five"], "{name}");
            assert_eq!(texts(&found(name), "tags"), ["a b", "c", "d"], "{name}");
        }
    }

    #[test]
    fn lists_in_the_footer_that_are_longer_than_it_are_refused() {
        assert_refused(&found("row-groups-that-are-not-there"), "its footer is damaged");
        assert_refused(&found("schema-that-is-not-there"), "its footer is damaged");
        assert_refused(&found("schema-with-too-many-children"), "its footer is damaged");
    }

    #[test]
    fn a_dictionary_of_more_strings_than_its_page_can_hold_is_refused() {
        assert_refused(&found("dictionary-of-64-gib"), "a dictionary of 2147483647 strings has 33 bytes");
    }

    #[test]
    fn the_size_that_a_page_claims_is_not_believed() {
        assert_refused(&found("page-of-2-gib"), "Invalid page header");
    }

    #[test]
    fn a_page_that_unpacks_to_more_than_its_limit_is_refused() {
        let schema = Arc::new(parse_message_type("message m { required binary text (STRING); }").unwrap());
        for compression in [Compression::GZIP(GzipLevel::default()), Compression::ZSTD(ZstdLevel::default())]
        {
            let mut bytes = Vec::new();
            let properties =
                WriterProperties::builder().set_compression(compression).set_dictionary_enabled(false);
            let properties = Arc::new(properties.set_statistics_enabled(EnabledStatistics::None).build());
            let mut writer = SerializedFileWriter::new(&mut bytes, schema.clone(), properties).unwrap();
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let value = ByteArray::from(vec![b'a'; 129 << 20]);
            column.typed::<ByteArrayType>().write_batch(&[value], None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
            writer.close().unwrap();
            assert!(bytes.len() < 1 << 20);
            assert_refused(&bytes, "a page has more than 134217728 bytes");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn damaged_bytes_end_with_sentences_or_an_error(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = written(Compression::SNAPPY);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            read(&bytes, "text", Position::default(), BadRecords::Skip);
            read(&bytes, "tags", Position::default(), BadRecords::Skip);
        }
    }
}
