//! What a reader met in the text.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// What was read, and what was cut, replaced or left out: nothing disappears without being counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextReport {
    /// Lines that were read to their end, empty ones included.
    pub lines: u64,
    /// Sentences that were returned.
    pub sentences: u64,
    /// Tokens in those sentences.
    pub tokens: u64,
    /// Tokens that were left out because they have fewer than `min_token_len` characters.
    #[serde(default)]
    pub short_tokens: u64,
    /// Tokens that were left out because they have more than `max_token_len` characters or `max_token_bytes` bytes.
    pub long_tokens: u64,
    /// Lines that were cut because they have more than `max_sentence_words` tokens.
    pub cut_lines: u64,
    /// Lines with bytes that are not UTF-8, whatever the policy did with them.
    pub invalid_lines: u64,
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
    }
}

impl Add for TextReport {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
