//! Why a test set cannot be used.

/// A defect of a test set. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum TestSetError {
    /// The file has no word pairs and no analogies.
    #[error("the file has no word pairs and no analogies")]
    Empty,
    /// The file is too large for a test set.
    #[error("the file is larger than {} MiB", limit >> 20)]
    TooLarge { limit: u64 },
    /// The file is not text.
    #[error("line {line}: not valid UTF-8")]
    NotUtf8 { line: usize },
    /// A line is neither a word pair nor an analogy.
    #[error("line {line}: expected two words and a score, or four words")]
    UnknownKind { line: usize },
    /// A line is not a word pair.
    #[error("line {line}: expected two words and a score")]
    NoWordPair { line: usize },
    /// The score of a word pair is not a number.
    #[error("line {line}: the score is `{score}`; it must be a finite number")]
    InvalidScore { line: usize, score: String },
    /// A line is not an analogy.
    #[error("line {line}: expected 4 words, found {words}")]
    NoAnalogy { line: usize, words: usize },
    /// The set is not of the expected kind.
    #[error("expected {expected}, found {found}")]
    WrongKind { expected: &'static str, found: &'static str },
}
