//! Parquet, for data frames and databases: the columns `word`, `count` and `vector`. Write-only.
//!
//! Parquet has no lists of a fixed size, so `vector` is a list. The schema of Arrow that other writers add to the metadata
//! says that all lists have the same length: pyarrow, pandas and polars then read arrays of that length. DuckDB ignores it.
//!
//! The crate `parquet` writes that schema only with Arrow's arrays, which are many crates. So `arrow_schema.rs` writes it.

mod arrow_schema;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// The most numbers and words of a row group, and the bytes of words after which it ends. It is in memory while it is
/// written: about 6 MB.
const GROUP_VALUES: usize = 1 << 18;
const GROUP_WORDS: usize = 1 << 13;
const GROUP_TEXT: usize = 1 << 20;

/// Writes words, counts and vectors. Counts that are unknown are null.
pub(super) fn write(embeddings: &Embeddings, mut writer: impl Write, name: &Path) -> Result<()> {
    let mut write_all = || -> std::result::Result<(), ParquetError> {
        let properties = Arc::new(properties(embeddings.dimensions()));
        // The writer must own what it writes to. So it owns a buffer, which is emptied after each row group.
        let mut file = SerializedFileWriter::new(Vec::new(), schema()?, properties)?;
        let rows = (GROUP_VALUES / embeddings.dimensions()).clamp(1, GROUP_WORDS);
        let mut start = 0;
        while start < embeddings.len() {
            let (mut end, mut text) = (start, 0);
            while end < embeddings.len() && end < start + rows && text < GROUP_TEXT {
                text += embeddings.word(end).len();
                end += 1;
            }
            let mut group = file.next_row_group()?;
            write_group(embeddings, start..end, &mut group)?;
            start = end;
            group.close()?;
            file.flush()?;
            writer.write_all(file.inner())?;
            file.inner_mut().clear();
        }
        writer.write_all(&file.into_inner()?)?;
        Ok(writer.flush()?)
    };
    write_all().map_err(|error| Error::io(name)(into_io(error)))
}

fn schema() -> std::result::Result<TypePtr, ParquetError> {
    let column = |name, kind, logical, repetition| {
        let column = Type::primitive_type_builder(name, kind).with_logical_type(logical);
        column.with_repetition(repetition).build().map(Arc::new)
    };
    let unsigned = Some(LogicalType::Integer { bit_width: 64, is_signed: false });
    let word = column("word", Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)?;
    let count = column("count", Physical::INT64, unsigned, Repetition::OPTIONAL)?;
    let element = column("element", Physical::FLOAT, None, Repetition::REQUIRED)?;
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = list.with_fields(vec![element]).build()?;
    let vector = Type::group_type_builder("vector").with_repetition(Repetition::REQUIRED);
    let vector = vector.with_logical_type(Some(LogicalType::List)).with_fields(vec![list.into()]).build()?;
    let fields = vec![word, count, vector.into()];
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

fn properties(dimensions: usize) -> WriterProperties {
    let values = ["vector", "list", "element"].map(str::to_owned).to_vec();
    let metadata = KeyValue::new("ARROW:schema".to_owned(), arrow_schema::encoded(dimensions));
    WriterProperties::builder()
        .set_created_by(concat!("skipstream ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![metadata]))
        .set_compression(Compression::ZSTD(Default::default()))
        // Words are distinct, and most numbers are.
        .set_dictionary_enabled(false)
        .set_column_encoding(ColumnPath::new(values), Encoding::BYTE_STREAM_SPLIT)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_statistics_enabled("count".into(), EnabledStatistics::Chunk)
        .build()
}

fn write_group(
    embeddings: &Embeddings,
    rows: std::ops::Range<usize>,
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
) -> std::result::Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has three columns".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    let words: Vec<ByteArray> = rows.clone().map(|row| embeddings.word(row).into()).collect();
    column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
    column.close()?;

    let mut column = group.next_column()?.ok_or_else(missing)?;
    // Parquet stores an unsigned number as the signed one with the same bits.
    let counts: Vec<i64> =
        rows.clone().filter_map(|row| embeddings.known_count(row)).map(|count| count as i64).collect();
    let are_known = vec![i16::from(embeddings.has_counts()); rows.len()];
    column.typed::<Int64Type>().write_batch(&counts, Some(&are_known), None)?;
    column.close()?;

    let mut column = group.next_column()?.ok_or_else(missing)?;
    // The first value of a vector begins a list, and the others continue it.
    let (present, mut repeated) = (vec![1; embeddings.dimensions()], vec![1; embeddings.dimensions()]);
    repeated[0] = 0;
    for row in rows {
        column.typed::<FloatType>().write_batch(
            &embeddings.vector_at(row),
            Some(&present),
            Some(&repeated),
        )?;
    }
    column.close()
}

fn into_io(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => *source,
            Err(source) => std::io::Error::other(source),
        },
        error => std::io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, ListAccessor, Row, RowAccessor};

    use super::*;
    use crate::embeddings::testing::random_embeddings;

    fn written(embeddings: &Embeddings) -> SerializedFileReader<Bytes> {
        let mut bytes = Vec::new();
        write(embeddings, &mut bytes, Path::new("v.parquet")).unwrap();
        SerializedFileReader::new(bytes.into()).unwrap()
    }

    fn vector(row: &Row) -> Vec<f32> {
        let list = row.get_list(2).unwrap();
        (0..list.len()).map(|place| list.get_float(place).unwrap()).collect()
    }

    #[test]
    fn the_columns_are_words_counts_and_vectors() {
        let words = [("tea", u64::MAX), ("naïve word", 5)];
        let embeddings = Embeddings::new(2, words, vec![1.0, -0.5, f32::MIN_POSITIVE, 3.0]).unwrap();
        let file = written(&embeddings);
        for (place, row) in file.get_row_iter(None).unwrap().enumerate() {
            let row = row.unwrap();
            assert_eq!(row.get_string(0).unwrap(), words[place].0);
            assert_eq!(row.get_ulong(1).unwrap(), words[place].1);
            assert_eq!(vector(&row), *embeddings.vector_at(place));
        }
        let names = file.metadata().file_metadata().schema().get_fields();
        let names: Vec<&str> = names.iter().map(|field| field.name()).collect();
        assert_eq!(names, ["word", "count", "vector"]);
    }

    #[test]
    fn memory_is_bounded_by_row_groups() {
        let embeddings = random_embeddings(20_000, 20);
        let file = written(&embeddings);
        assert_eq!(file.num_row_groups(), 3);
        for (place, row) in file.get_row_iter(None).unwrap().enumerate() {
            let row = row.unwrap();
            assert_eq!(row.get_string(0).unwrap(), embeddings.word(place));
            assert_eq!(row.get_column_iter().nth(1).unwrap().1, &Field::Null, "counts are unknown");
            assert_eq!(vector(&row), *embeddings.vector_at(place));
        }
        let none = Embeddings::new(3, [("", 0); 0], Vec::new()).unwrap();
        assert_eq!(written(&none).get_row_iter(None).unwrap().count(), 0);
    }

    #[test]
    fn an_error_of_the_writer_is_its_own() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let error = write(&random_embeddings(2, 2), Full, Path::new("v.parquet")).unwrap_err();
        let Error::Io { path, source } = error else { panic!("{error}") };
        assert_eq!(
            (path.as_path(), source.kind()),
            (Path::new("v.parquet"), std::io::ErrorKind::StorageFull)
        );
    }
}
