//! Why a text cannot be read or continued.

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum TextError {
    /// A record cannot be parsed.
    #[error("{unit} {number}: {defect}")]
    Record { unit: &'static str, number: u64, defect: String },
    /// A quoted field of a CSV file has no end.
    #[error("line {line}: the record that starts here has a `\"` without a closing one")]
    UnclosedQuote { line: u64 },
    /// A record of a CSV file is too long, perhaps because of an unclosed quote.
    #[error("line {line}: the record that starts here is longer than {limit} bytes")]
    LongRecord { line: u64, limit: usize },
    /// The records have no such column.
    #[error("there is no column `{column}`; the columns are {names}")]
    NoColumn { column: String, names: String },
    /// The column is selected by a number or a name that the first row does not have, and that row is probably a record.
    #[error("the first row does not look like names of columns, so `{column}` is not one of them")]
    NoHeader { column: String },
    /// The columns of a table without a header have only numbers.
    #[error("`{column}` is not the number of a column, and the table has no header with names")]
    NoColumnNumber { column: String },
    /// A column does not hold text, or numbers.
    #[error("the column `{column}` is {found}; expected {expected}")]
    ColumnType { column: String, found: String, expected: &'static str },
    /// A Parquet file is not valid.
    #[error("invalid Parquet file: {0}")]
    Parquet(String),
    /// A Parquet file cannot be read from a pipe, because its index is at its end.
    #[error("Parquet cannot be read from a pipe")]
    ParquetPipe,
    /// Compressed data is damaged or incomplete.
    #[error("the {format} data is damaged or cut short ({reason})")]
    Compressed { format: &'static str, reason: String },
    /// The compression format is recognized but not supported.
    #[error("{format} is not supported; decompress the file first")]
    Compression { format: &'static str },
    /// The library was built without this feature.
    #[error("{what} needs the feature `{feature}`, and this program was built without it")]
    MissingFeature { what: String, feature: &'static str },
    /// The file is not text.
    #[error("this is not text but {what}")]
    Binary { what: &'static str },
    /// A file of a folder or a pattern does not exist, or no longer.
    #[error("the file does not exist; create it, or remove the symlink that leads here")]
    Missing,
    /// The text is UTF-16 without a byte order mark.
    #[error("the text is UTF-16 without a byte order mark; convert it to UTF-8 first")]
    UnmarkedUtf16,
    /// The text is UTF-16.
    #[error("the text starts with the UTF-16 byte order mark {:02X} {:02X}; convert it to UTF-8 first", .mark[0], .mark[1])]
    Utf16 { mark: [u8; 2] },
    /// The text is shorter than the position where reading was to continue.
    #[error("the text ends before {unit} {position}, where reading was to continue")]
    TooShort { unit: &'static str, position: u64 },
    /// A pipe cannot be read a second time, or continued later.
    #[error("a pipe can be read only once")]
    PipeAgain,
    /// A pattern is not valid.
    #[error("invalid pattern: {0}")]
    Pattern(String),
    /// A pattern matches no file.
    #[error("no file matches this pattern")]
    NoMatch,
    /// A folder has no files to read.
    #[error("there are no files in this folder")]
    EmptyFolder,
    /// Folders are nested too deeply, perhaps in a symlink cycle.
    #[error("more than {limit} nested folders; is there a symlink cycle?")]
    TooDeep { limit: usize },
    /// This kind of text cannot be followed.
    #[error("{what} cannot be followed")]
    CannotFollow { what: String },
}

impl TextError {
    /// Whether the file is not text that could be read.
    pub(super) fn is_not_text(&self) -> bool {
        use TextError::{Binary, Compression, UnmarkedUtf16, Utf16};
        matches!(self, Binary { .. } | UnmarkedUtf16 | Utf16 { .. } | Compression { .. })
    }
}

/// How a source that was learned before differs now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum SourceChange {
    /// The file is shorter.
    #[error("this file was learned before and has changed since: it has {now} bytes and had {before}")]
    Shorter { before: u64, now: u64 },
    /// The bytes that were learned are different.
    #[error("this file was learned before and has changed since: its first {bytes} bytes are different")]
    Content { bytes: u64 },
    /// The file is to be read in another way, so its position means something else.
    #[error("this file was learned before as {before}; it cannot be continued as {now}")]
    Layout { before: String, now: String },
}
