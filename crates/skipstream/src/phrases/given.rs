//! Phrases that were given, and not found.

use std::collections::{BTreeSet, HashMap};

use super::{JOINER, JOINER_TEXT, word_of};
use crate::corpus::{Sentence, TextOptions};
use crate::error::{Error, Result};
use crate::vocabulary::Controls;

/// Bytes that all given phrases may take, so that a model's header stays readable.
const MAX_BYTES: usize = 8 << 20;

/// Words that a phrase may have, because every beginning of it is stored.
const MAX_WORDS: usize = 32;

/// What a phrase takes besides its own bytes, and those of its beginnings.
const BYTES_PER_PHRASE: usize = 64;

/// Phrases that are always joined.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenPhrases {
    /// As words: `new_york_city`.
    phrases: BTreeSet<String>,
    /// Every beginning of a phrase, `new` and `new_york`, and whether it is a phrase itself.
    beginnings: HashMap<String, bool>,
}

impl GivenPhrases {
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    pub fn phrases(&self) -> &BTreeSet<String> {
        &self.phrases
    }

    /// The phrases that are joined: those without a blocked word.
    pub fn joined(&self) -> impl Iterator<Item = &str> {
        self.phrases.iter().map(String::as_str).filter(|&phrase| self.beginnings.get(phrase) == Some(&true))
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let beginnings = self.beginnings.keys().map(|text| text.len() + BYTES_PER_PHRASE);
        bytes(&self.phrases) + beginnings.sum::<usize>()
    }

    /// Adds phrases, all or none.
    pub fn add(&mut self, phrases: BTreeSet<String>, controls: &Controls) -> Result<()> {
        let all: BTreeSet<String> = self.phrases.union(&phrases).cloned().collect();
        check(&all).map_err(|bytes| {
            Error::setting(
                "phrases",
                format!("given in {bytes} bytes"),
                format!("given in at most {MAX_BYTES} bytes"),
            )
        })?;
        self.phrases = all;
        self.follow(controls);
        Ok(())
    }

    /// Takes over saved phrases, or returns what is wrong with them.
    pub fn restore(
        &mut self,
        phrases: BTreeSet<String>,
        max_bytes: usize,
        controls: &Controls,
    ) -> Result<(), String> {
        check(&phrases).map_err(|bytes| format!("the given phrases take {bytes} bytes"))?;
        if let Some(phrase) = phrases
            .iter()
            .find(|phrase| phrase.len() > max_bytes || !(2..=MAX_WORDS).contains(&n_words(phrase)))
        {
            return Err(format!("`{phrase}` is not a phrase"));
        }
        self.phrases = phrases;
        self.follow(controls);
        Ok(())
    }

    pub fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.phrases.retain(|phrase| stays(phrase));
    }

    /// A phrase that is blocked, or has a word that is, is not joined.
    pub fn follow(&mut self, controls: &Controls) {
        self.beginnings.clear();
        for phrase in &self.phrases {
            if controls.is_blocked(phrase) || phrase.split(JOINER).any(|part| controls.is_blocked(part)) {
                continue;
            }
            for (end, _) in phrase.match_indices(JOINER) {
                self.beginnings.entry(phrase[..end].to_owned()).or_default();
            }
            self.beginnings.insert(phrase.clone(), true);
        }
    }

    /// The number of tokens of the longest phrase that begins with this token; 0 if there is none. `text` is memory that is
    /// used again.
    pub fn longest(&self, sentence: &Sentence, start: usize, text: &mut String) -> usize {
        let mut longest = 0;
        text.clear();
        for place in start..sentence.len() {
            if place > start {
                text.push_str(JOINER_TEXT);
            }
            text.push_str(sentence.token(place));
            match self.beginnings.get(text.as_str()) {
                // A token may have the joiner in it; one token is no phrase.
                Some(true) if place > start => longest = place + 1 - start,
                Some(_) => {}
                None => break,
            }
        }
        longest
    }
}

/// Words of a phrase, and of words with the joiner in them.
fn n_words(phrase: &str) -> usize {
    phrase.split(JOINER).count()
}

fn bytes(phrases: &BTreeSet<String>) -> usize {
    phrases.iter().map(|phrase| phrase.len() + BYTES_PER_PHRASE).sum()
}

fn check(phrases: &BTreeSet<String>) -> Result<(), usize> {
    let bytes = bytes(phrases);
    if bytes > MAX_BYTES { Err(bytes) } else { Ok(()) }
}

/// The word of a phrase, or why it is not one.
pub(super) fn word(phrase: &str, text: &TextOptions) -> Result<String> {
    let refuse = |limit: String| Error::setting("phrase", format!("`{phrase}`"), limit);
    let word = word_of(phrase, text);
    let word = word.ok_or_else(|| {
        refuse("two words or more, each a single token by the text settings of the model".to_owned())
    })?;
    if n_words(&word) > MAX_WORDS {
        return Err(refuse(format!("at most {MAX_WORDS} words long")));
    }
    if word.len() > text.max_token_bytes {
        return Err(refuse(format!("at most {} bytes long, which is max_token_bytes", text.max_token_bytes)));
    }
    Ok(word)
}
