//! What a reader found in a text.

use std::fmt;
use std::ops::{Add, AddAssign};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What was read, and what was cut, replaced or left out: nothing disappears without being counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextReport {
    /// Lines that were read to their end, including empty ones.
    pub lines: u64,
    /// Sentences that were returned.
    pub sentences: u64,
    /// Tokens in those sentences.
    pub tokens: u64,
    /// Tokens left out because they have fewer than `min_token_len` characters.
    #[serde(default)]
    pub short_tokens: u64,
    /// Tokens left out because they have more than `max_token_len` characters or `max_token_bytes` bytes.
    pub long_tokens: u64,
    /// Lines cut because they have more than `max_sentence_words` tokens.
    pub cut_lines: u64,
    /// Lines with bytes that are not UTF-8, whatever the policy.
    pub invalid_lines: u64,
    /// Lines with NUL bytes, which separate words like white space.
    #[serde(default)]
    pub nul_lines: u64,
    /// Records left out because they cannot be read.
    #[serde(default)]
    pub bad_records: u64,
    /// URLs left out of prose.
    #[serde(default)]
    pub urls: u64,
    /// E-mail addresses left out of prose.
    #[serde(default)]
    pub emails: u64,
    /// Emoji and other pictographs left out of prose.
    #[serde(default)]
    pub emoji: u64,
    /// Numbers left out of prose.
    #[serde(default)]
    pub numbers: u64,
    /// Where each of these occurred first.
    #[serde(default)]
    pub first: FirstLocations,
    /// Whether text that was read as tokens is prose.
    #[serde(skip)]
    pub prose: ProseSigns,
}

/// How many tokens at the start of a text look like those of prose. Only text that is just split at white space is examined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProseSigns {
    /// Tokens that were examined.
    pub tokens: u64,
    /// Those of them that have a capital letter, or punctuation at their end.
    pub marked: u64,
}

impl ProseSigns {
    pub(super) fn examine<'a>(&mut self, tokens: impl Iterator<Item = &'a str>) {
        for token in tokens {
            let is_marked = || {
                token.contains(char::is_uppercase)
                    || token.ends_with([',', '.', ';', ':', '!', '?', ')', '"', '”', '…'])
                        && token.contains(char::is_alphanumeric)
            };
            self.tokens += 1;
            self.marked += u64::from(is_marked());
        }
    }
}

impl TextReport {
    /// Whether the text was read as tokens although at least a tenth of its first megabyte has capital letters or
    /// punctuation.
    pub fn looks_like_prose(&self) -> bool {
        self.prose.tokens >= 100 && 10 * self.prose.marked >= self.prose.tokens
    }
}

/// The first occurrence of each kind of text that is cut, replaced or left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstLocations {
    /// A token that is too long.
    pub long_token: Option<Location>,
    /// A line that is cut.
    pub cut_line: Option<Location>,
    /// A line with bytes that are not UTF-8.
    pub invalid_line: Option<Location>,
    /// A line with NUL bytes.
    pub nul_line: Option<Location>,
    /// A record that cannot be read.
    pub bad_record: Option<Location>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file, or a name for it (`<stdin>`).
    pub path: PathBuf,
    /// The line, or the row of a Parquet file, from 1.
    pub line: u64,
    /// A byte of the (decompressed) text in that line, from 0: the invalid one if there is one.
    pub offset: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} line {}", self.path.display(), self.line)
    }
}

impl FirstLocations {
    /// These, or the other's where one is missing.
    fn or(self, other: FirstLocations) -> FirstLocations {
        FirstLocations {
            long_token: self.long_token.or(other.long_token),
            cut_line: self.cut_line.or(other.cut_line),
            invalid_line: self.invalid_line.or(other.invalid_line),
            nul_line: self.nul_line.or(other.nul_line),
            bad_record: self.bad_record.or(other.bad_record),
        }
    }
}

impl AddAssign for TextReport {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.sentences += other.sentences;
        self.tokens += other.tokens;
        self.short_tokens += other.short_tokens;
        self.long_tokens += other.long_tokens;
        self.cut_lines += other.cut_lines;
        self.invalid_lines += other.invalid_lines;
        self.nul_lines += other.nul_lines;
        self.bad_records += other.bad_records;
        self.urls += other.urls;
        self.emails += other.emails;
        self.emoji += other.emoji;
        self.numbers += other.numbers;
        self.prose.tokens += other.prose.tokens;
        self.prose.marked += other.prose.marked;
        self.first = std::mem::take(&mut self.first).or(other.first);
    }
}

impl Add for TextReport {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
