//! Tokens → words of the vocabulary, for text that is read and not learned: phrases are joined and merged words are
//! replaced as in training, but nothing is counted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::discovery::Discovery;
use super::given::GivenPhrases;
use super::link::{MAX_CONNECTORS, append, connectors};
use super::pairs::PairKey;
use super::{JOINER_TEXT, Phrases, join};
use crate::config::Connectors;
use crate::corpus::{Sentence, TextOptions};
use crate::vocabulary::Controls;

/// How a model reads text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub text: TextOptions,
    given: GivenPhrases,
    found: HashSet<String>,
    connectors: Connectors,
    merged: BTreeMap<String, String>,
}

/// What a vectors file says about how its model reads text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReadingMetadata {
    /// How text is split into tokens, if that changes words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextOptions>,
    /// Phrases that were given.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub given_phrases: BTreeSet<String>,
    /// Phrases that were found in the text.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub found_phrases: BTreeSet<String>,
    /// Words that found phrases may have inside.
    #[serde(skip_serializing_if = "is_none")]
    pub phrase_connectors: Connectors,
    /// Words that count as another word.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub merged_words: BTreeMap<String, String>,
}

fn is_none(connectors: &Connectors) -> bool {
    *connectors == Connectors::None
}

impl Reading {
    /// How text is read without phrases and merged words.
    pub fn of_text(text: &TextOptions) -> Reading {
        Reading { text: text.clone(), ..Reading::default() }
    }

    /// How a stream reads text now.
    pub fn of_stream(text: &TextOptions, phrases: Option<&Phrases>, controls: &Controls) -> Reading {
        let discovery = phrases.and_then(|phrases| phrases.discovery.as_ref());
        let found = discovery.map_or(&[][..], Discovery::phrases);
        Reading {
            text: text.clone(),
            given: phrases.map(|phrases| phrases.given.clone()).unwrap_or_default(),
            found: found.iter().map(|phrase| phrase.text.clone()).collect(),
            connectors: discovery.map(Discovery::connectors).unwrap_or_default(),
            merged: controls.merged.clone(),
        }
    }

    /// How a model reads text, or what is wrong with the metadata.
    pub fn restore(metadata: ReadingMetadata, controls: &Controls) -> Result<Reading, String> {
        let ReadingMetadata { text, given_phrases, found_phrases, phrase_connectors, merged_words } =
            metadata;
        let text = text.unwrap_or_default();
        let mut given = GivenPhrases::default();
        given.restore(given_phrases, usize::MAX, controls)?;
        let found = found_phrases.into_iter().collect();
        Ok(Reading { text, given, found, connectors: phrase_connectors, merged: merged_words })
    }

    pub fn metadata(&self) -> ReadingMetadata {
        ReadingMetadata {
            text: (!self.text.is_plain()).then(|| self.text.clone()),
            given_phrases: self.given.joined().map(str::to_owned).collect(),
            found_phrases: self.found.iter().cloned().collect(),
            phrase_connectors: self.connectors,
            merged_words: self.merged.clone(),
        }
    }

    /// Whether words are just what is between white space.
    pub fn is_plain(&self) -> bool {
        self.text.is_plain() && self.given.is_empty() && self.found.is_empty() && self.merged.is_empty()
    }

    pub fn joiner(&self) -> Joiner<'_> {
        Joiner {
            given: Some(&self.given).filter(|given| !given.is_empty()),
            found: Found::Known(&self.found),
            connectors: self.connectors.words(),
            merged: &self.merged,
        }
    }
}

/// Makes words of tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joiner<'a> {
    given: Option<&'a GivenPhrases>,
    found: Found<'a>,
    connectors: &'static [&'static str],
    merged: &'a BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug)]
enum Found<'a> {
    /// The phrases that a model had found when its vectors were copied or saved.
    Known(&'a HashSet<String>),
    /// Those of a stream, now.
    Stream(&'a Discovery),
    Nothing,
}

/// No merged words.
static NONE: BTreeMap<String, String> = BTreeMap::new();

impl<'a> Joiner<'a> {
    /// Leaves tokens as they are.
    pub const NOTHING: Joiner<'static> =
        Joiner { given: None, found: Found::Nothing, connectors: &[], merged: &NONE };

    /// Of a stream, as it is now.
    pub fn of_stream(phrases: Option<&'a Phrases>, controls: &'a Controls) -> Joiner<'a> {
        let discovery = phrases.and_then(|phrases| phrases.discovery.as_ref());
        Joiner {
            given: phrases.map(|phrases| &phrases.given).filter(|given| !given.is_empty()),
            found: discovery.map_or(Found::Nothing, Found::Stream),
            connectors: discovery.map_or(&[], |discovery| discovery.connectors().words()),
            merged: &controls.merged,
        }
    }

    /// The word that this one counts as: itself, unless it was merged.
    pub fn meaning<'b>(&self, word: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.merged.get(word).map_or(word, String::as_str)
    }

    /// Calls `each` with the words of a sentence, in order, and the places of their tokens: several tokens for a phrase.
    pub fn words<E>(
        &self,
        sentence: &Sentence,
        mut each: impl FnMut(&str, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut text, mut scratch) = (String::new(), String::new());
        // The tokens of the word or phrase in `text`, which may grow. Connectors are between them and `place`.
        let mut open = 0..0;
        let mut close = |text: &str, open: Range<usize>, end: usize| {
            let connectors = open.end..end;
            if !open.is_empty() {
                each(self.meaning(text), open)?;
            }
            connectors
                .into_iter()
                .try_for_each(|place| each(self.meaning(sentence.token(place)), place..place + 1))
        };
        let mut place = 0;
        while place < sentence.len() {
            let length = self.given.map_or(0, |given| given.longest(sentence, place, &mut scratch));
            if length > 0 {
                close(&text, open, place)?;
                open = place..place + length;
                text = join(open.clone().map(|place| sentence.token(place)));
                place += length;
                if self.connectors.contains(&sentence.token(place - 1)) {
                    close(&text, open, place)?;
                    open = place..place;
                }
                continue;
            }
            let token = sentence.token(place);
            if self.connectors.contains(&token) {
                if open.is_empty() {
                    close("", place..place, place + 1)?;
                    open = place + 1..place + 1;
                }
                place += 1;
                continue;
            }
            let word = self.meaning(token);
            if !open.is_empty() && place - open.end <= MAX_CONNECTORS {
                let length = text.len();
                let between = open.end..place;
                for part in between.map(|place| sentence.token(place)).chain([word]) {
                    text.push_str(JOINER_TEXT);
                    text.push_str(part);
                }
                if self.is_found(&text) {
                    open.end = place + 1;
                    place += 1;
                    continue;
                }
                text.truncate(length);
            }
            close(&text, open, place)?;
            open = place..place + 1;
            text.clear();
            text.push_str(word);
            place += 1;
        }
        close(&text, open, place)
    }

    fn is_found(&self, text: &str) -> bool {
        match self.found {
            Found::Known(found) => found.contains(text),
            Found::Stream(discovery) => discovery.has(text),
            Found::Nothing => false,
        }
    }
}

/// The text of a pair of saved parts; `None` if its key is invalid.
pub(crate) fn saved_text(
    parts: &[&str],
    [left, right, link]: PairKey,
    connector: Connectors,
) -> Option<String> {
    let [left, right] = [left, right].map(|part| parts.get(part as usize).copied());
    let between = connectors(link);
    if between.iter().any(|&number| usize::from(number) >= connector.words().len()) {
        return None;
    }
    let mut text = left?.to_owned();
    append(&mut text, &between, right?, connector);
    Some(text)
}
