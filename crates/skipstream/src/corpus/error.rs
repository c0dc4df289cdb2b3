//! Why a text cannot be read, or not be continued.

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A record cannot be parsed.
    #[error("{unit} {number}: {defect}")]
    Record {
        /// What is counted: `line` or `row`.
        unit: &'static str,
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        defect: String,
    },
    /// A quoted field of a CSV file has no end.
    #[error("line {line}: the record that starts here has a `\"` without a closing one")]
    UnclosedQuote {
        /// The line, from 1.
        line: u64,
    },
    /// A record of a CSV file is too long, perhaps because of an unclosed quote.
    #[error("line {line}: the record that starts here is longer than {limit} bytes")]
    LongRecord {
        /// The line, from 1.
        line: u64,
        /// The maximum length.
        limit: usize,
    },
    /// This kind of text cannot be followed.
    #[error("{what} cannot be followed")]
    CannotFollow {
        /// What it is, for instance `a compressed file`.
        what: String,
    },
}

/// How a source that was learned before differs now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceChange {
    /// The file is shorter.
    #[error("this file was learned before and has changed since: it has {now} bytes and had {before}")]
    Shorter {
        /// Its length when it was learned.
        before: u64,
        /// Its length now.
        now: u64,
    },
    /// The bytes that were learned are different.
    #[error("this file was learned before and has changed since: its first {bytes} bytes are different")]
    Content {
        /// The number of bytes compared.
        bytes: u64,
    },
    /// The file is to be read in another way, so its position means something else.
    #[error("this file was learned before as {before}; it cannot be continued as {now}")]
    Layout {
        /// How it was read before.
        before: String,
        /// How it is to be read now.
        now: String,
    },
}
