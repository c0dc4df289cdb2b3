//! How phrases are found and joined: this page is the definition. Everything is a list, and nothing is hashed.
//!
//! Words and phrases are parts. A part has a slot of a Misra–Gries summary, and so has a pair, whose parts it knows by their
//! slots. It is forgotten if a part that is younger has one of these slots.

use std::cmp::Reverse;

use crate::config::{PhraseScore, PhraseSettings, Settings};

struct Part {
    text: String,
    counter: u64,
    count: u64,
    birth: u64,
    latest: u64,
}

struct Pair {
    left: usize,
    right: usize,
    connectors: Vec<String>,
    /// Whether the left part is a phrase.
    is_longer: bool,
    counter: u64,
    count: u64,
    birth: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NaivePhrase {
    pub text: String,
    pub count: u64,
    pub score: f64,
    pub found_at: u64,
}

/// A token of a part.
#[derive(Clone, Copy)]
struct Token {
    slot: usize,
    number: u64,
}

pub(crate) struct Naive {
    settings: PhraseSettings,
    max_parts: usize,
    max_bytes: usize,
    words: u64,
    tokens: u64,
    parts: Vec<Part>,
    pairs: Vec<Pair>,
    pub phrases: Vec<NaivePhrase>,
}

impl Naive {
    pub fn new(settings: &Settings) -> Option<Naive> {
        Some(Naive {
            settings: settings.phrases()?,
            max_parts: settings.max_vocabulary(),
            max_bytes: settings.text().max_token_bytes,
            words: 0,
            tokens: 0,
            parts: Vec::new(),
            pairs: Vec::new(),
            phrases: Vec::new(),
        })
    }

    /// Counts the words of a sentence and the pairs of words that are next to each other, connectors aside, and joins what
    /// is a phrase, from left to right. Returns the tokens, each with the number of its words.
    pub fn join(&mut self, sentence: &[&str]) -> Vec<(String, usize)> {
        let connectors = self.settings.connectors.words();
        let mut joined: Vec<String> = Vec::new();
        // The last word or phrase, which may grow, with its tokens as a phrase and of its last word.
        let mut open: Option<(String, Option<Token>, Token)> = None;
        let mut between: Vec<String> = Vec::new();
        for &word in sentence {
            self.words += 1;
            if connectors.contains(&word) {
                match open {
                    Some(_) => between.push(word.to_owned()),
                    None => joined.push(word.to_owned()),
                }
                continue;
            }
            let token = self.observe(word);
            if let (Some((_, phrase, last)), Some(token)) = (&open, token) {
                self.observe_pair(Some(*last), &between, token, false);
                self.observe_pair(*phrase, &between, token, true);
            }
            let longer = open
                .as_ref()
                .map(|(text, ..)| [std::slice::from_ref(text), &between[..], &[word.to_owned()]].concat());
            let longer = longer.map(|parts| parts.join("_"));
            let is_phrase = |text: &String| self.phrases.iter().any(|phrase| phrase.text == *text);
            if let (Some(longer), Some(token), true) = (longer.filter(is_phrase), token, between.len() <= 2) {
                between.clear();
                open = Some((longer.clone(), self.observe(&longer), token));
                continue;
            }
            joined.extend(open.take().map(|(text, ..)| text));
            joined.append(&mut between);
            match token {
                Some(token) => open = Some((word.to_owned(), None, token)),
                None => joined.push(word.to_owned()),
            }
        }
        joined.extend(open.map(|(text, ..)| text));
        joined.append(&mut between);
        // The text of these tests has no joiner in it.
        joined.into_iter().map(|token| (token.clone(), token.split('_').count())).collect()
    }

    /// Misra and Gries, as in the vocabulary.
    fn observe(&mut self, text: &str) -> Option<Token> {
        let number = self.tokens;
        self.tokens += 1;
        if let Some(slot) = self.parts.iter().position(|part| part.text == text) {
            let part = &mut self.parts[slot];
            part.counter += 1;
            part.count += 1;
            part.latest = number;
            return Some(Token { slot, number });
        }
        let part = Part { text: text.to_owned(), counter: 1, count: 1, birth: number, latest: number };
        if self.parts.len() < self.max_parts {
            self.parts.push(part);
            return Some(Token { slot: self.parts.len() - 1, number });
        }
        let empty = (0..self.parts.len()).filter(|&slot| self.parts[slot].counter == 0);
        let Some(slot) = empty.min_by_key(|&slot| (self.parts[slot].count, self.parts[slot].latest)) else {
            self.parts.iter_mut().for_each(|part| part.counter -= 1);
            return None;
        };
        self.parts[slot] = part;
        Some(Token { slot, number })
    }

    fn observe_pair(&mut self, left: Option<Token>, connectors: &[String], right: Token, is_longer: bool) {
        // A part may have left while the sentence was counted.
        let left = left.filter(|left| self.parts[left.slot].birth <= left.number);
        let Some(left) = left.filter(|_| connectors.len() <= 2) else { return };
        let (left, right, connectors) = (left.slot, right.slot, connectors.to_vec());
        let birth = self.tokens;
        let new = Pair { left, right, connectors, is_longer, counter: 1, count: 1, birth };
        let same = |pair: &Pair| {
            (pair.left, pair.right, &pair.connectors, pair.is_longer)
                == (left, right, &new.connectors, is_longer)
        };
        if let Some(slot) = self.pairs.iter().position(same) {
            if self.is_forgotten(&self.pairs[slot]) {
                self.pairs[slot] = new;
            } else {
                self.pairs[slot].counter += 1;
                self.pairs[slot].count += 1;
            }
        } else if self.pairs.len() < self.settings.pairs {
            self.pairs.push(new);
        } else {
            let empty = (0..self.pairs.len()).filter(|&slot| self.pairs[slot].counter == 0);
            match empty.min_by_key(|&slot| (self.pairs[slot].count, slot)) {
                Some(slot) => self.pairs[slot] = new,
                None => self.pairs.iter_mut().for_each(|pair| pair.counter -= 1),
            }
        }
    }

    fn is_forgotten(&self, pair: &Pair) -> bool {
        self.parts[pair.left].birth >= pair.birth || self.parts[pair.right].birth >= pair.birth
    }

    fn score(&self, pair: &Pair) -> f64 {
        let [left, right] =
            [pair.left, pair.right].map(|slot| self.parts[slot].count as f64 / self.words as f64);
        let share = pair.count as f64 / self.words as f64;
        match self.settings.score {
            PhraseScore::Npmi => (share / (left * right)).ln() / -share.ln(),
            _ => (pair.count - self.settings.min_count) as f64 / (left * right) / self.words as f64,
        }
    }

    /// At the end of a batch: pairs with a score above the threshold become phrases, and phrases below 0.8 of it are
    /// dissolved. There are at most half as many as words: the most frequent. The left part of a longer phrase must be one.
    pub fn end_batch(&mut self) {
        let mut candidates: Vec<(usize, String, f64)> = Vec::new();
        for (slot, pair) in self.pairs.iter().enumerate() {
            if pair.count < self.settings.min_count || self.is_forgotten(pair) {
                continue;
            }
            let [left, right] = [pair.left, pair.right].map(|slot| self.parts[slot].text.clone());
            let text = [&[left], &pair.connectors[..], &[right]].concat().join("_");
            let was_found = self.phrases.iter().any(|phrase| phrase.text == text);
            let least = self.settings.threshold * if was_found { 0.8 } else { 1.0 };
            if self.score(pair) > least && text.len() <= self.max_bytes {
                candidates.push((slot, text, self.score(pair)));
            }
        }
        candidates.sort_by_key(|(slot, ..)| (Reverse(self.pairs[*slot].count), *slot));
        candidates.truncate(self.max_parts / 2);
        candidates.sort_by_key(|(slot, text, _)| (text.len(), *slot));
        let mut phrases: Vec<NaivePhrase> = Vec::new();
        for (slot, text, score) in candidates {
            let pair = &self.pairs[slot];
            let left = &self.parts[pair.left].text;
            let is_reached = !pair.is_longer || phrases.iter().any(|phrase| phrase.text == *left);
            if is_reached && phrases.iter().all(|phrase| phrase.text != text) {
                let before = self.phrases.iter().find(|phrase| phrase.text == text);
                let found_at = before.map_or(self.words, |phrase| phrase.found_at);
                phrases.push(NaivePhrase { text, count: pair.count, score, found_at });
            }
        }
        self.phrases = phrases;
    }
}
