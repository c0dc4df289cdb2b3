//! What a file is: text, or records with a field of text.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bytes::Compression;

/// What is read of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Layout {
    /// All of it is text.
    #[default]
    Text,
    /// It is made of records, and one field of them is text: one or more lines, of which each is a sentence.
    Records {
        /// Which field, of which kind of records.
        field: RecordField,
        /// What becomes of a record that cannot be read.
        bad_records: BadRecords,
    },
}

/// A field of text in the records of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordField {
    /// The kind of records.
    pub format: RecordFormat,
    /// The field's name. In JSON, `user.text` is the field `text` of the object `user`; in CSV and TSV, a number from 1
    /// is a column where no column has that name.
    pub field: String,
}

/// A kind of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordFormat {
    /// A JSON object a line. The field is a string, or an array of strings.
    Jsonl,
    /// Values between commas, quoted by `"` where they hold a comma or a line's end; the first row names the columns.
    Csv,
    /// Values between tabs, never quoted; the first row names the columns.
    Tsv,
    /// Apache Parquet: the field is a column of strings, or of lists of strings.
    Parquet,
}

/// What becomes of a record that cannot be read: one that is damaged, or lacks the field, or has something else in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadRecords {
    /// Reading ends with an error that names it.
    #[default]
    Error,
    /// It is left out and counted.
    Skip,
}

impl RecordFormat {
    /// What the ending of a name says, before that of a compression.
    ///
    /// ```
    /// use skipstream::corpus::RecordFormat;
    ///
    /// assert_eq!(RecordFormat::by_name("news.jsonl.gz"), Some(RecordFormat::Jsonl));
    /// assert_eq!(RecordFormat::by_name("news.txt"), None);
    /// ```
    pub fn by_name(path: impl AsRef<Path>) -> Option<RecordFormat> {
        let path = path.as_ref();
        let plain = match Compression::by_name(path) {
            Compression::None => path,
            _ => Path::new(path.file_stem()?),
        };
        match plain.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(RecordFormat::Jsonl),
            "csv" => Some(RecordFormat::Csv),
            "tsv" => Some(RecordFormat::Tsv),
            "parquet" => Some(RecordFormat::Parquet),
            _ => None,
        }
    }
}

impl Layout {
    /// The field, where there are records.
    pub fn field(&self) -> Option<&RecordField> {
        match self {
            Layout::Text => None,
            Layout::Records { field, .. } => Some(field),
        }
    }
}

impl fmt::Display for RecordFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            RecordFormat::Jsonl => "jsonl",
            RecordFormat::Csv => "csv",
            RecordFormat::Tsv => "tsv",
            RecordFormat::Parquet => "parquet",
        })
    }
}

impl fmt::Display for RecordField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the field `{}` of {}", self.field, self.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_tells() {
        for (name, format) in [
            ("a.ndjson", Some(RecordFormat::Jsonl)),
            ("folder.txt/a.CSV", Some(RecordFormat::Csv)),
            ("a.tsv.zst", Some(RecordFormat::Tsv)),
            ("a.parquet", Some(RecordFormat::Parquet)),
            ("a.jsonl.txt", None),
            ("jsonl", None),
            (".gz", None),
            ("", None),
        ] {
            assert_eq!(RecordFormat::by_name(name), format, "{name}");
        }
    }
}
