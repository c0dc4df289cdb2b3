//! What a file holds: text, or records with a field of text.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bytes::Compression;

/// What is read of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Layout {
    /// All of it is text.
    #[default]
    Text,
    /// It holds records, and one field of them is text: one or more lines, each a sentence.
    Records {
        /// The field, and the format of the records.
        field: RecordField,
        /// What to do with a record that cannot be read.
        bad_records: BadRecords,
    },
}

/// A field of text in the records of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordField {
    /// The format of the records.
    pub format: RecordFormat,
    /// The field's name. In JSON, `user.text` is the field `text` of the object `user`; in CSV and TSV, a number from 1
    /// selects a column if no column has that name.
    pub field: String,
    /// Whether the first row of a table is a record and does not name the columns, which have numbers from 1 then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_header: bool,
    /// The field with the weight of a record, a number from 0 to 10: how many times it is trained, on average. `None`: each
    /// is trained once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

impl RecordField {
    /// A field of records that all have the weight 1, in a table with a header.
    pub fn new(format: RecordFormat, field: &str) -> RecordField {
        RecordField { format, field: field.to_owned(), no_header: false, weight: None }
    }
}

/// A format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordFormat {
    /// JSON lines: one object per line. The field is a string, or an array of strings.
    Jsonl,
    /// Values separated by commas, quoted by `"` if they contain a comma or a newline. The first row names the columns,
    /// unless a [field](RecordField::no_header) says otherwise.
    Csv,
    /// Values separated by tabs, never quoted. The first row names the columns.
    Tsv,
    /// Apache Parquet: the field is a column of strings, or of lists of strings.
    Parquet,
}

/// What to do with a record that is damaged, lacks the field, or has something other than text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadRecords {
    /// Stop with an error that names it.
    #[default]
    Error,
    /// Leave it out and count it.
    Skip,
}

/// The format of a file, as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// Text.
    Text,
    /// JSON lines.
    Jsonl,
    /// Values separated by commas.
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// Parquet.
    Parquet,
}

/// What the user said about the files. The rest follows from their names, or has to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutRequest {
    /// Their format.
    pub format: Option<FileFormat>,
    /// The field that is text.
    pub field: Option<String>,
    /// What to do with a record that cannot be read.
    pub bad_records: Option<BadRecords>,
    /// Whether the first row of a table is a record and does not name the columns.
    pub no_header: bool,
    /// The field with the weight of a record.
    pub weight: Option<String>,
}

/// What the user has to say, because guessing would do harm.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say what their fields are")]
pub enum LayoutError {
    /// A field, or a policy for records, was given for text, which has no records.
    NoRecords,
    /// A header was ruled out for a format that has none.
    NoTable { format: RecordFormat },
    /// The file's name says that it holds records, and no field was given: nobody wants the syntax of JSON among their words.
    NamedAsRecords { path: PathBuf, format: RecordFormat },
    /// No field was given for records of this format.
    NoField { format: RecordFormat },
}

impl LayoutRequest {
    /// The layout of the files, or what the user has to say.
    ///
    /// ```
    /// use skipstream::corpus::{LayoutRequest, Layout, RecordFormat, LayoutError};
    ///
    /// assert_eq!(LayoutRequest::default().of_files(["news.txt"]), Ok(Layout::Text));
    /// let path = "news.jsonl".into();
    /// let unclear = LayoutError::NamedAsRecords { path, format: RecordFormat::Jsonl };
    /// assert_eq!(LayoutRequest::default().of_files(["news.jsonl"]), Err(unclear));
    /// ```
    pub fn of_files(self, files: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Layout, LayoutError> {
        let format = match self.format {
            Some(FileFormat::Jsonl) => RecordFormat::Jsonl,
            Some(FileFormat::Csv) => RecordFormat::Csv,
            Some(FileFormat::Tsv) => RecordFormat::Tsv,
            Some(FileFormat::Parquet) => RecordFormat::Parquet,
            Some(FileFormat::Text) | None => {
                if self.field.is_some()
                    || self.bad_records.is_some()
                    || self.no_header
                    || self.weight.is_some()
                {
                    return Err(LayoutError::NoRecords);
                }
                let named = files.into_iter().filter(|_| self.format.is_none()).find_map(|path| {
                    let path = path.as_ref();
                    Some((path.to_owned(), RecordFormat::by_name(path)?))
                });
                return match named {
                    Some((path, format)) => Err(LayoutError::NamedAsRecords { path, format }),
                    None => Ok(Layout::Text),
                };
            }
        };
        let Some(field) = self.field else { return Err(LayoutError::NoField { format }) };
        if self.no_header && !matches!(format, RecordFormat::Csv | RecordFormat::Tsv) {
            return Err(LayoutError::NoTable { format });
        }
        let field = RecordField { format, field, no_header: self.no_header, weight: self.weight };
        Ok(Layout::Records { field, bad_records: self.bad_records.unwrap_or_default() })
    }
}

impl RecordFormat {
    /// The format that a file extension says, before that of a compression.
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

#[cfg(not(feature = "parquet"))]
impl RecordFormat {
    /// The error that a file of this format needs a feature of the library.
    pub(super) fn missing(self, name: &Path) -> crate::Error {
        let feature = if self == RecordFormat::Parquet { "parquet" } else { "records" };
        crate::Error::text(name, super::TextError::MissingFeature { what: self.to_string(), feature })
    }
}

impl Layout {
    /// The field, if there are records.
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
        let header = if self.no_header { " without a header" } else { "" };
        write!(out, "the field `{}` of {}{header}", self.field, self.format)?;
        self.weight.iter().try_for_each(|weight| write!(out, " with the weight `{weight}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_believed_and_what_is_not_clear_is_asked() {
        let asked = |format, field: Option<&str>| LayoutRequest {
            format,
            field: field.map(str::to_owned),
            ..LayoutRequest::default()
        };
        let files = ["a.txt", "b.csv"];
        let named = LayoutError::NamedAsRecords { path: "b.csv".into(), format: RecordFormat::Csv };
        assert_eq!(asked(None, None).of_files(files), Err(named));
        assert_eq!(asked(Some(FileFormat::Text), None).of_files(files), Ok(Layout::Text));
        assert_eq!(asked(None, Some("text")).of_files(files), Err(LayoutError::NoRecords));
        let no_field = LayoutError::NoField { format: RecordFormat::Tsv };
        assert_eq!(asked(Some(FileFormat::Tsv), None).of_files(files), Err(no_field));
        let layout = asked(Some(FileFormat::Tsv), Some("text")).of_files(files).unwrap();
        assert_eq!(layout.field().unwrap().to_string(), "the field `text` of tsv");
        let skip = LayoutRequest { bad_records: Some(BadRecords::Skip), ..LayoutRequest::default() };
        assert_eq!(skip.of_files(["a.txt"]), Err(LayoutError::NoRecords));
    }

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
