//! How text is split into sentences and tokens.

use serde::{Deserialize, Serialize};

use crate::config::{check_whole, in_range};
use crate::{Error, Result};

/// The maximum size of a sentence that the limits allow, so that 32-bit offsets suffice.
const MAX_SENTENCE_BYTES: usize = 1 << 30;

const MAX_TOKEN_BYTES: usize = 65_535;

/// What a token is, the limits of sentences and tokens, and the policy for invalid UTF-8.
///
/// Each line is split at white space. What is between is normalized (`nfkc`), lowercased (`lowercase`) and split into
/// tokens (`tokenizer`); then tokens that are too short or too long are left out. Normalization comes first because a
/// letter such as `𝐀` has a lower case only once it is `A`, and `㎏` is a word only once it is `kg`. White space can
/// come before it because no letter is composed or lowercased depending on a letter beyond it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextOptions {
    /// What the text is. Default `tokens`; [`TextOptions::prose`] has the other.
    #[serde(rename = "text")]
    pub kind: TextKind,
    /// What a token is. Default `whitespace`.
    pub tokenizer: Tokenizer,
    /// Lowercase tokens, by Unicode's full mapping. Default `false`.
    pub lowercase: bool,
    /// Normalize text to Unicode's NFKC, in which `ﬁ` is `fi` and `Ａ` is `A`. Default `false`.
    pub nfkc: bool,
    /// Minimum characters of a token; shorter ones are left out and counted. Default 1, from 1 to 65,535.
    pub min_token_len: usize,
    /// Maximum characters of a token; longer ones are left out and counted. Default none, from `min_token_len` to 65,535.
    pub max_token_len: Option<usize>,
    /// Maximum tokens of a sentence; longer lines are cut into several. Default 1000, from 2 to 1,000,000.
    pub max_sentence_words: usize,
    /// Maximum bytes of a token; longer ones are left out and counted. Default 128, from 1 to 65,535.
    pub max_token_bytes: usize,
    /// What to do with a line that is not UTF-8. Default `replace`.
    pub invalid_utf8: InvalidUtf8,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextKind {
    /// Tokens that were prepared for training: each is learned as it is.
    #[default]
    Tokens,
    /// Ordinary text, as people write it.
    ///
    /// - A sentence ends with its mark (`.`, `!`, `?` and those of other scripts) or its line. A full stop after an
    ///   initial, an ordinal number or one of a few abbreviations, or before a lower-case letter, does not end one.
    /// - All apostrophes are the same character. Soft hyphens and other invisible characters are removed, and so are
    ///   underscores around a word.
    /// - URLs, e-mail addresses and emoji are left out and counted. So are numbers, except whole ones of up to four
    ///   digits, which may be years.
    Prose,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tokenizer {
    /// Text between white space.
    #[default]
    Whitespace,
    /// A word by Unicode's boundaries (UAX #29) that contains a letter or a number: punctuation is left out, and scripts
    /// without spaces are split into characters.
    Unicode,
}

/// What to do with a line that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InvalidUtf8 {
    /// Replace each invalid sequence by U+FFFD, like [`String::from_utf8_lossy`].
    #[default]
    Replace,
    /// Leave the line out and count it; of a line that is cut, only the invalid piece.
    Skip,
    /// Stop with [`Error::InvalidUtf8`].
    Error,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            kind: TextKind::Tokens,
            tokenizer: Tokenizer::Whitespace,
            lowercase: false,
            nfkc: false,
            min_token_len: 1,
            max_token_len: None,
            max_sentence_words: 1000,
            max_token_bytes: 128,
            invalid_utf8: InvalidUtf8::Replace,
        }
    }
}

impl TextOptions {
    /// The options for ordinary text: [`TextKind::Prose`], words by Unicode's rules, in lower case and NFKC.
    ///
    /// ```
    /// use skipstream::corpus::{Lines, Sentence, Source, TextOptions};
    ///
    /// let text = "“Don’t panic!” she said. It’s 1984 (see https://example.com).";
    /// let mut lines = Lines::new(text.as_bytes(), "example", &TextOptions::prose())?;
    /// let mut sentence = Sentence::default();
    /// lines.read(&mut sentence)?;
    /// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["don't", "panic", "she", "said"]);
    /// lines.read(&mut sentence)?;
    /// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["it's", "1984", "see"]);
    /// assert_eq!(lines.report().urls, 1);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn prose() -> Self {
        Self {
            kind: TextKind::Prose,
            tokenizer: Tokenizer::Unicode,
            lowercase: true,
            nfkc: true,
            ..Self::default()
        }
    }

    /// Checks that all values are within their limits.
    pub fn check(&self) -> Result<()> {
        check_whole("max_sentence_words", self.max_sentence_words)?;
        check_whole("max_token_bytes", self.max_token_bytes)?;
        check_whole("min_token_len", self.min_token_len)?;
        if let Some(max_token_len) = self.max_token_len {
            in_range("max_token_len", max_token_len, &(self.min_token_len..=MAX_TOKEN_BYTES))?;
        }
        let most_words = MAX_SENTENCE_BYTES / self.max_token_bytes;
        if self.max_sentence_words > most_words {
            let limit = format!("at most {most_words} where max_token_bytes is {}", self.max_token_bytes);
            return Err(Error::setting("max_sentence_words", self.max_sentence_words, limit));
        }
        Ok(())
    }

    /// Whether tokens are just split at white space.
    pub fn is_plain(&self) -> bool {
        self.kind == TextKind::Tokens
            && self.tokenizer == Tokenizer::Whitespace
            && !self.lowercase
            && !self.nfkc
            && self.min_token_len == 1
            && self.max_token_len.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(options: TextOptions) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_within_the_limits() {
        TextOptions::default().check().unwrap();
    }

    #[test]
    fn a_sentence_of_one_word_is_refused() {
        let options = TextOptions { max_sentence_words: 1, ..TextOptions::default() };
        assert_eq!(message(options), "max_sentence_words is 1; it must be from 2 to 1000000");
    }

    #[test]
    fn tokens_of_no_bytes_are_refused() {
        let options = TextOptions { max_token_bytes: 0, ..TextOptions::default() };
        assert_eq!(message(options), "max_token_bytes is 0; it must be from 1 to 65535");
    }

    #[test]
    fn a_longest_token_that_is_shorter_than_the_shortest_is_refused() {
        let options = TextOptions { min_token_len: 3, max_token_len: Some(2), ..TextOptions::default() };
        assert_eq!(message(options), "max_token_len is 2; it must be from 3 to 65535");
        let options = TextOptions { min_token_len: 0, ..TextOptions::default() };
        assert_eq!(message(options), "min_token_len is 0; it must be from 1 to 65535");
    }

    #[test]
    fn a_sentence_that_could_pass_a_gibibyte_is_refused() {
        let options =
            TextOptions { max_sentence_words: 1_000_000, max_token_bytes: 65_535, ..TextOptions::default() };
        assert_eq!(
            message(options),
            "max_sentence_words is 1000000; it must be at most 16384 where max_token_bytes is 65535"
        );
    }

    #[test]
    fn the_policy_is_written_in_kebab_case_and_missing_fields_are_defaults() {
        let options: TextOptions = serde_json::from_str(r#"{"invalid_utf8":"skip"}"#).unwrap();
        assert_eq!(options.invalid_utf8, InvalidUtf8::Skip);
        assert_eq!(options.max_sentence_words, 1000);
    }
}
