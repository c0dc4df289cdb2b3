//! Tokens → tokens, of which some are phrases: *new york* becomes the word `new_york`.
//!
//! This stage is between the text and the vocabulary, for which a phrase is a word like any other. `discovery.rs` finds
//! phrases in the stream: it counts words and pairs in bounded summaries before anything is joined, as gensim does, and
//! decides at the end of each batch which pairs are phrases in the next. `pairs.rs` is the summary of pairs, `link.rs` says what
//! is between their parts, `score.rs` how strongly these belong together, and `found.rs` has the phrases. `given.rs` has those
//! that were given. `reading.rs` joins the phrases of text that is not learned.
//!
//! Tokens are joined greedily from left to right. A phrase is a left part for longer ones: `new_york` and *city*.
//!
//! Invariant: the vocabulary does not know of phrases, and its bound does not depend on them.
//! Invariant: the phrases of a batch are those that the batches before it decided on.

mod discovery;
mod found;
mod given;
mod link;
mod pairs;
mod reading;
mod score;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::Settings;
use crate::corpus::{Sentence, TextOptions};
use crate::error::{Error, Result};
use crate::vocabulary::{Control, Controls, Vocabulary, VocabularyTotals};
use discovery::Discovery;
pub(crate) use discovery::SavedDiscovery;
use given::GivenPhrases;
pub(crate) use reading::{Joiner, Reading, ReadingMetadata, saved_text};

/// What is between the words of a phrase.
pub const JOINER: char = '_';

pub(crate) const JOINER_TEXT: &str = "_";

/// Words that are learned as one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Phrase {
    /// The phrase as people write it: `new york`.
    pub phrase: String,
    /// The word of the vocabulary: `new_york`.
    pub word: String,
    /// How often its parts occurred next to each other since they are counted together. Of a phrase that was given and not
    /// found: the count of the word.
    pub count: u64,
    /// The score, if it was found.
    pub score: Option<f64>,
    /// The number of words of the text before which it was found; none if it was given.
    pub found_at: Option<u64>,
}

/// The phrases of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Phrases {
    given: GivenPhrases,
    discovery: Option<Discovery>,
    joined: Joined,
}

/// The tokens of a sentence, joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    tokens: Sentence,
    /// The number of words of each.
    words: Vec<u32>,
    /// A possible phrase, as text.
    text: String,
}

impl Joined {
    fn push(&mut self, token: &str, words: usize) {
        self.tokens.push(token);
        self.words.push(words as u32);
    }
}

/// What a model file has besides tensors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PhraseMetadata {
    /// Phrases that were given.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub given: BTreeSet<String>,
    /// Words of the text, if phrases are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// The totals of the counted parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<VocabularyTotals>,
}

impl PhraseMetadata {
    pub fn is_empty(&self) -> bool {
        *self == PhraseMetadata::default()
    }
}

impl Phrases {
    pub fn new(settings: &Settings) -> Result<Phrases> {
        let discovery = settings.phrases().map(|phrases| Discovery::new(phrases, settings)).transpose()?;
        Ok(Phrases { given: GivenPhrases::default(), discovery, joined: Joined::default() })
    }

    /// Maximum memory in bytes, without given phrases.
    pub fn max_bytes(settings: &Settings) -> u64 {
        settings.phrases().map_or(0, |phrases| Discovery::max_bytes(phrases, settings))
    }

    /// Maximum memory of what a model file has of them.
    pub fn max_saved_bytes(settings: &Settings) -> u64 {
        settings.phrases().map_or(0, |phrases| Discovery::max_saved_bytes(phrases, settings))
    }

    /// Memory of the given phrases in bytes.
    pub fn given_bytes(&self) -> usize {
        self.given.bytes()
    }

    /// Whether tokens can change.
    pub fn is_on(&self) -> bool {
        self.discovery.is_some() || !self.given.is_empty()
    }

    /// Counts the tokens of a sentence and joins those that are phrases. Returns the tokens, each with the number of its
    /// words.
    pub fn join(&mut self, sentence: &Sentence) -> impl Iterator<Item = (&str, u32)> {
        let Phrases { given, discovery, joined } = self;
        joined.tokens.clear();
        joined.words.clear();
        let mut place = 0;
        while place < sentence.len() {
            let length = if given.is_empty() { 0 } else { given.longest(sentence, place, &mut joined.text) };
            let end = place + length.max(1);
            let tokens = (place..end).map(|place| sentence.token(place));
            match (discovery.as_mut(), length) {
                (Some(discovery), 0) => discovery.take(sentence.token(place), joined),
                (Some(discovery), _) => discovery.take_given(tokens, joined),
                (None, 0) => joined.push(sentence.token(place), 1),
                (None, _) => joined.push(&join(tokens), length),
            }
            place = end;
        }
        if let Some(discovery) = discovery {
            discovery.end_sentence(joined);
        }
        self.joined.tokens.tokens().zip(self.joined.words.iter().copied())
    }

    /// Decides which pairs are phrases from now on.
    pub fn end_batch(&mut self) {
        if let Some(discovery) = &mut self.discovery {
            discovery.end_batch(|phrase| self.given.phrases().contains(phrase));
        }
    }

    /// Adds phrases that are always joined, all or none. Returns how many are new.
    pub fn give<'a>(
        &mut self,
        phrases: impl Iterator<Item = &'a str>,
        text: &TextOptions,
        controls: &Controls,
    ) -> Result<usize> {
        let phrases = phrases.map(|phrase| given::word(phrase, text)).collect::<Result<BTreeSet<_>>>()?;
        let before = self.given.phrases().len();
        self.given.add(phrases, controls)?;
        Ok(self.given.phrases().len() - before)
    }

    /// The phrases, the most frequent first.
    pub fn list(&self, vocabulary: &Vocabulary) -> Vec<Phrase> {
        let found = self.discovery.iter().flat_map(Discovery::phrases);
        let found = found.map(|found| Phrase {
            phrase: spaced(&found.text),
            word: found.text.clone(),
            count: found.count,
            score: Some(found.score),
            found_at: Some(found.found_at),
        });
        let mut phrases: Vec<Phrase> = found.collect();
        let others = self.given.phrases().iter();
        let others = others.filter(|word| self.discovery.as_ref().is_none_or(|found| !found.has(word)));
        let others: Vec<Phrase> = others
            .map(|word| Phrase {
                phrase: spaced(word),
                word: word.clone(),
                count: vocabulary.id(word).map_or(0, |id| vocabulary.count(id)),
                score: None,
                found_at: None,
            })
            .collect();
        phrases.extend(others);
        phrases.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.word.cmp(&other.word)));
        phrases
    }

    /// The words of the vocabulary and parts of pairs that contain one of these words.
    pub fn containing(&self, words: &BTreeSet<&str>, vocabulary: &Vocabulary) -> BTreeSet<String> {
        if words.is_empty() || !self.is_on() {
            return BTreeSet::new();
        }
        let parts = self.discovery.as_ref().map(Discovery::parts);
        let all = [Some(vocabulary), parts].into_iter().flatten();
        let all = all.flat_map(|vocabulary| vocabulary.ids().map(|id| vocabulary.word(id)));
        let all = all.chain(vocabulary.controls().words());
        let contain = |word: &&str| word.contains(JOINER) && contains_any(word, words);
        all.filter(contain).map(str::to_owned).collect()
    }

    /// Whether the word or a phrase that contains it is kept, apart from words of the vocabulary.
    pub fn mentions(&self, word: &str) -> bool {
        let parts = self.discovery.iter().map(Discovery::parts);
        let mut parts = parts.flat_map(|parts| parts.ids().map(|id| parts.word(id)));
        self.given.phrases().iter().any(|phrase| contains(phrase, word))
            || parts.any(|part| contains(part, word))
    }

    /// Carries out controls that the vocabulary has carried out.
    pub fn control(&mut self, controls: &[Control], all: &Controls) {
        let forgotten: BTreeSet<&str> = controls
            .iter()
            .filter(|control| matches!(control, Control::Forget { .. }))
            .map(Control::word)
            .collect();
        self.given.retain(|phrase| !contains_any(phrase, &forgotten));
        self.given.follow(all);
        if let Some(discovery) = &mut self.discovery {
            let given = self.given.phrases();
            discovery.control(controls, &forgotten, |phrase| given.contains(phrase));
        }
    }

    pub fn metadata(&self) -> PhraseMetadata {
        let discovery = self.discovery.as_ref();
        PhraseMetadata {
            given: self.given.phrases().clone(),
            words: discovery.map(Discovery::words),
            parts: discovery.map(|discovery| discovery.parts().totals()),
        }
    }

    pub fn discovery(&self) -> Option<&Discovery> {
        self.discovery.as_ref()
    }

    /// Takes over a saved state, or returns what is wrong with it.
    pub fn restore(
        &mut self,
        metadata: PhraseMetadata,
        saved: Option<SavedDiscovery<'_>>,
        max_bytes: usize,
        controls: &Controls,
    ) -> Result<(), String> {
        let PhraseMetadata { given, words, parts } = metadata;
        self.given.restore(given, max_bytes, controls)?;
        match (&mut self.discovery, saved, words, parts) {
            (Some(discovery), Some(saved), Some(words), Some(parts)) => {
                let is_given = |phrase: &str| self.given.phrases().contains(phrase);
                discovery.restore(saved, words, parts, controls, is_given)
            }
            (None, None, None, None) => Ok(()),
            _ => Err("phrases and their counts belong together".to_owned()),
        }
    }
}

/// Whether a word, which may be a phrase, is another word or a part of it.
///
/// ```
/// use skipstream::phrases::contains;
///
/// assert!(contains("new_york_city", "york") && contains("new_york_city", "york_city"));
/// assert!(!contains("new_york_city", "yo"));
/// ```
pub fn contains(word: &str, part: &str) -> bool {
    let mut from = 0;
    while let Some(found) = word[from..].find(part) {
        let (start, end) = (from + found, from + found + part.len());
        if (start == 0 || word[..start].ends_with(JOINER))
            && (end == word.len() || word[end..].starts_with(JOINER))
        {
            return true;
        }
        let Some(first) = word[start..].chars().next() else { break };
        from = start + first.len_utf8();
    }
    false
}

fn contains_any(word: &str, parts: &BTreeSet<&str>) -> bool {
    parts.iter().any(|part| contains(word, part))
}

fn join<'a>(tokens: impl Iterator<Item = &'a str>) -> String {
    tokens.collect::<Vec<_>>().join(JOINER_TEXT)
}

fn spaced(word: &str) -> String {
    word.replace(JOINER, " ")
}

/// The word of a phrase of two words or more as the text settings write it: `New York` is `new_york` in a model of text in
/// lower case.
pub fn word_of(phrase: &str, text: &TextOptions) -> Option<String> {
    let parts = phrase.split_whitespace().map(|part| text.only_token(part));
    let parts = parts.collect::<Option<Vec<String>>>()?;
    (parts.len() > 1).then(|| parts.join(JOINER_TEXT))
}

/// The error of phrases with a strategy that has none.
pub(crate) fn refuse_strategy(strategy: impl std::fmt::Display) -> Error {
    Error::setting("phrases", "given", format!("left out with the strategy {strategy}: it is for mini-batch"))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::naive;
