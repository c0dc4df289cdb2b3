//! Sentences that were tokenized elsewhere.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::options::{InvalidUtf8, TextOptions};
use super::report::{Location, TextReport};
use super::sentence::{Read, Sentence, Source};
use super::words::has_right_length;
use crate::{Error, Result};

/// Lists of tokens that were made elsewhere. Each list is a sentence, and its tokens are taken as they are.
///
/// They are not normalized, but the limits apply as for text: a list of more than `max_sentence_words` tokens is cut,
/// tokens that are too short (above all empty ones) or too long are left out, and all of that is counted. Tokens stay in
/// memory until they are read.
///
/// ```
/// use skipstream::corpus::{Sentence, Source, TextOptions, TokenLists};
///
/// let mut lists = TokenLists::new("lists", &TextOptions::default())?;
/// lists.push("New York");
/// lists.push("");
/// lists.end_list();
/// let mut sentence = Sentence::default();
/// assert!(lists.read(&mut sentence)?.is_sentence());
/// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["New York"]);
/// assert_eq!(lists.report().short_tokens, 1);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct TokenLists {
    name: PathBuf,
    options: TextOptions,
    /// The tokens' bytes, one after the other.
    text: String,
    /// Where each token ends.
    ends: Vec<usize>,
    /// Where each sentence ends, in tokens, and its weight.
    sentences: VecDeque<(usize, f32)>,
    next: usize,
    open: OpenList,
    report: TextReport,
}

#[derive(Debug)]
struct OpenList {
    /// Its first token that is not in a sentence yet.
    start: usize,
    sentences: u64,
    is_invalid: bool,
    weight: f32,
}

impl OpenList {
    fn at(start: usize) -> OpenList {
        OpenList { start, sentences: 0, is_invalid: false, weight: 1.0 }
    }
}

impl TokenLists {
    /// No lists yet; errors call them `name`.
    pub fn new(name: impl AsRef<Path>, options: &TextOptions) -> Result<TokenLists> {
        options.check()?;
        Ok(TokenLists {
            name: name.as_ref().to_owned(),
            options: options.clone(),
            text: String::new(),
            ends: Vec::new(),
            sentences: VecDeque::new(),
            next: 0,
            open: OpenList::at(0),
            report: TextReport::default(),
        })
    }

    /// Gives the open list a [weight](Sentence::weight), from 0 to [`Sentence::MAX_WEIGHT`].
    pub fn set_weight(&mut self, weight: f32) {
        self.open.weight = weight;
    }

    /// Adds a token to the open list.
    #[inline]
    pub fn push(&mut self, token: &str) {
        if !has_right_length(token, &self.options, &mut self.report) {
            if self.report.first.long_token.is_none() && self.report.long_tokens > 0 {
                self.report.first.long_token = Some(self.place());
            }
            return;
        }
        // Only now is it known that the list has more tokens than a sentence may have.
        if self.ends.len() - self.open.start == self.options.max_sentence_words {
            self.end_sentence();
            if self.open.sentences == 1 {
                self.report.cut_lines += 1;
                let place = self.place();
                self.report.first.cut_line.get_or_insert(place);
            }
        }
        self.text.push_str(token);
        self.ends.push(self.text.len());
    }

    /// Adds a token whose bytes may not be UTF-8, and applies the policy if they are not.
    ///
    /// The policy `skip` drops this token and the tokens of the open list that are not in a sentence yet.
    pub fn push_bytes(&mut self, token: &[u8]) -> Result<()> {
        let error = match std::str::from_utf8(token) {
            Ok(token) => {
                self.push(token);
                return Ok(());
            }
            Err(error) => error,
        };
        if !self.open.is_invalid {
            self.open.is_invalid = true;
            self.report.invalid_lines += 1;
            let place = self.place();
            self.report.first.invalid_line.get_or_insert(place);
        }
        match self.options.invalid_utf8 {
            InvalidUtf8::Replace => self.push(&String::from_utf8_lossy(token)),
            InvalidUtf8::Skip => self.drop_open(),
            InvalidUtf8::Error => {
                self.drop_open();
                let (path, line) = (self.name.clone(), self.report.lines + 1);
                return Err(Error::InvalidUtf8 { path, line, offset: error.valid_up_to() as u64 });
            }
        }
        Ok(())
    }

    /// Ends the list, which is a sentence if it has a token.
    pub fn end_list(&mut self) {
        if self.has_open() {
            self.end_sentence();
        }
        self.report.lines += 1;
        self.open = OpenList::at(self.ends.len());
    }

    /// Drops the tokens of the open list that are not in a sentence yet.
    pub fn drop_open(&mut self) {
        self.ends.truncate(self.open.start);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Whether the open list has tokens that are not in a sentence yet.
    pub fn has_open(&self) -> bool {
        self.ends.len() > self.open.start
    }

    /// The number of tokens to read.
    pub fn waiting(&self) -> usize {
        self.ends.len() - self.next
    }

    /// What was added and read so far.
    pub fn report(&self) -> &TextReport {
        &self.report
    }

    fn end_sentence(&mut self) {
        self.sentences.push_back((self.ends.len(), self.open.weight));
        self.open.start = self.ends.len();
        self.open.sentences += 1;
    }

    /// The open list, by its number.
    fn place(&self) -> Location {
        Location { path: self.name.clone(), line: self.report.lines + 1, offset: 0 }
    }

    /// Drops what was read. Only the open list may be left, at most a sentence of it.
    fn compact(&mut self) {
        let bytes = self.next.checked_sub(1).map_or(0, |last| self.ends[last]);
        self.text.drain(..bytes);
        self.ends.drain(..self.next);
        self.ends.iter_mut().for_each(|end| *end -= bytes);
        self.open.start -= self.next;
        self.next = 0;
    }
}

impl Source for TokenLists {
    /// Reads the next sentence, or finds none now: more may be added.
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        sentence.clear();
        let Some((end, weight)) = self.sentences.pop_front() else {
            self.compact();
            return Ok(Read::Pending);
        };
        let mut start = self.next.checked_sub(1).map_or(0, |before| self.ends[before]);
        for &token_end in &self.ends[self.next..end] {
            sentence.push(&self.text[start..token_end]);
            start = token_end;
        }
        self.next = end;
        sentence.set_weight(weight);
        self.report.sentences += 1;
        self.report.tokens += sentence.len() as u64;
        Ok(Read::Sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(options: &TextOptions) -> TokenLists {
        TokenLists::new("lists", options).unwrap()
    }

    fn put(lists: &mut TokenLists, tokens: &[&str]) {
        tokens.iter().for_each(|token| lists.push(token));
        lists.end_list();
    }

    fn read_all(lists: &mut TokenLists) -> Vec<String> {
        let mut sentence = Sentence::default();
        let mut sentences = Vec::new();
        while lists.read(&mut sentence).unwrap().is_sentence() {
            sentences.push(sentence.tokens().collect::<Vec<_>>().join("|"));
        }
        sentences
    }

    #[test]
    fn a_weight_is_that_of_one_list() {
        let mut lists = lists(&TextOptions { max_sentence_words: 2, ..TextOptions::default() });
        lists.set_weight(2.5);
        put(&mut lists, &["a", "b", "c"]);
        put(&mut lists, &["d"]);
        let (mut sentence, mut weights) = (Sentence::default(), Vec::new());
        while lists.read(&mut sentence).unwrap().is_sentence() {
            weights.push(sentence.weight());
        }
        assert_eq!(weights, [2.5, 2.5, 1.0]);
    }

    #[test]
    fn lists_are_sentences_and_empty_ones_are_passed_over() {
        let mut lists = lists(&TextOptions { lowercase: true, ..TextOptions::default() });
        put(&mut lists, &["New York", "IS", "a\ncity"]);
        put(&mut lists, &[]);
        put(&mut lists, &["", ""]);
        put(&mut lists, &["naïve"]);
        assert_eq!(lists.waiting(), 4);
        assert_eq!(read_all(&mut lists), ["New York|IS|a\ncity", "naïve"]);
        put(&mut lists, &["more"]);
        assert_eq!(read_all(&mut lists), ["more"]);
        let report = lists.report();
        assert_eq!((report.lines, report.sentences, report.tokens, report.short_tokens), (5, 3, 5, 2));
    }

    #[test]
    fn long_lists_are_cut_once_they_are_too_long() {
        let mut lists = lists(&TextOptions { max_sentence_words: 2, ..TextOptions::default() });
        put(&mut lists, &["a", "b"]);
        ["a", "b", "c", "d", "e"].iter().for_each(|token| lists.push(token));
        assert_eq!(read_all(&mut lists), ["a|b", "a|b", "c|d"]);
        assert!(lists.has_open());
        put(&mut lists, &["f", "g"]);
        assert_eq!(read_all(&mut lists), ["e|f", "g"]);
        assert_eq!(lists.report().cut_lines, 1);
        assert_eq!(lists.report().first.cut_line.as_ref().unwrap().line, 2);
    }

    #[test]
    fn tokens_outside_the_limits_are_left_out_and_counted() {
        let options = TextOptions {
            min_token_len: 2,
            max_token_len: Some(3),
            max_token_bytes: 6,
            ..TextOptions::default()
        };
        let mut lists = lists(&options);
        put(&mut lists, &["a", "bc", "abcd", "日日日", "éé"]);
        assert_eq!(read_all(&mut lists), ["bc|éé"]);
        assert_eq!((lists.report().short_tokens, lists.report().long_tokens), (1, 2));
        assert_eq!(lists.report().first.long_token.as_ref().unwrap().line, 1);
    }

    #[test]
    fn the_policy_decides_on_bytes_that_are_not_utf_8() {
        for (policy, expected) in [
            (InvalidUtf8::Replace, vec!["a|\u{FFFD}b|c", "d"]),
            (InvalidUtf8::Skip, vec!["c", "d"]),
            (InvalidUtf8::Error, vec!["d"]),
        ] {
            let mut lists = lists(&TextOptions { invalid_utf8: policy, ..TextOptions::default() });
            lists.push("a");
            let bad = lists.push_bytes(b"\xFFb");
            if policy == InvalidUtf8::Error {
                let message = bad.unwrap_err().to_string();
                assert!(message.starts_with("lists, line 1: byte 0 is not valid UTF-8"), "{message}");
            } else {
                bad.unwrap();
                lists.push("c");
            }
            lists.end_list();
            put(&mut lists, &["d"]);
            assert_eq!(read_all(&mut lists), expected);
            assert_eq!(lists.report().invalid_lines, 1);
        }
    }

    #[test]
    fn a_dropped_list_leaves_nothing_behind() {
        let mut lists = lists(&TextOptions::default());
        put(&mut lists, &["a"]);
        lists.push("b");
        lists.drop_open();
        assert_eq!(read_all(&mut lists), ["a"]);
        put(&mut lists, &["c"]);
        assert_eq!(read_all(&mut lists), ["c"]);
    }
}
