//! Finds phrases in the stream.
//!
//! ```text
//! each token        count the word, and the pair of it and the word before it       Discovery::count
//!                   join it to what is open, if that is a phrase                     Discovery::take
//! end of a batch    the pairs with a high score are the phrases of the next batch    Discovery::end_batch
//! ```
//!
//! Words are counted before they are joined: *new* in `new_york` is a *new*, and the pair is still counted, so that the
//! phrase can be dissolved. A phrase is a part of longer pairs, so it is counted too. Words and phrases are *parts*: they
//! are counted in a vocabulary of their own, and their ids are the keys of pairs.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::found::{FoundPhrase, FoundPhrases};
use super::link::{JOINED, MAX_CONNECTORS, append, connectors, link};
use super::pairs::{Pair, PairKey, PairTable};
use super::score::{PairCounts, score};
use super::{Joined, contains_any, join};
use crate::config::{Connectors, PhraseSettings, Settings};
use crate::error::Result;
use crate::vocabulary::{Control, Controls, Observed, SavedWord, Vocabulary, VocabularyTotals, WordId};

/// A phrase is dissolved when its score falls below this share of the threshold, and not as soon as it is below it.
const STAYS: f64 = 0.8;

#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    settings: PhraseSettings,
    /// Maximum length of a phrase.
    max_bytes: usize,
    /// Maximum number of phrases: more would leave no room in the vocabulary for words.
    max_phrases: usize,
    /// Words of the text.
    words: u64,
    parts: Vocabulary,
    pairs: PairTable,
    found: FoundPhrases,
    sentence: OpenSentence,
}

/// What was read of a sentence and not passed on yet.
#[derive(Clone, Debug, Default)]
struct OpenSentence {
    /// The word or phrase that may grow; empty if there is none.
    text: String,
    /// The number of its words.
    words: usize,
    /// Its part, if it is a phrase.
    phrase: Option<Part>,
    /// The last word, with which `text` ends.
    last: Option<Part>,
    /// Connectors after it.
    connectors: Vec<u8>,
}

/// A word or phrase of a token.
#[derive(Clone, Copy, Debug)]
struct Part {
    id: WordId,
    /// The number of its token among those of parts.
    number: u64,
}

/// The state of a file: of each part its word and numbers, of each pair its key and numbers (counter, count, birth), and of
/// each phrase the slot of its pair and the words before it was found.
pub(crate) struct SavedDiscovery<'a> {
    pub parts: &'a [SavedWord<'a>],
    pub keys: &'a [PairKey],
    pub numbers: &'a [[u64; 3]],
    pub phrases: &'a [[u64; 2]],
}

impl Discovery {
    pub fn new(phrases: PhraseSettings, settings: &Settings) -> Result<Discovery> {
        let mut parts = Vocabulary::new(settings.max_vocabulary());
        parts.reserve()?;
        Ok(Discovery {
            settings: phrases,
            max_bytes: settings.text().max_token_bytes,
            max_phrases: max_phrases(settings),
            words: 0,
            parts,
            pairs: PairTable::new(phrases.pairs)?,
            found: FoundPhrases::default(),
            sentence: OpenSentence::default(),
        })
    }

    pub fn max_bytes(phrases: PhraseSettings, settings: &Settings) -> u64 {
        let word = settings.text().max_token_bytes;
        // The phrases of two batches, with their places in an index.
        let found = 2 * max_phrases(settings) * (size_of::<FoundPhrase>() + word + 16);
        let candidates = phrases.pairs * size_of::<Candidate>();
        Vocabulary::max_bytes(settings.max_vocabulary(), None, word)
            + PairTable::max_bytes(phrases.pairs)
            + (found + candidates) as u64
    }

    pub fn max_saved_bytes(phrases: PhraseSettings, settings: &Settings) -> u64 {
        let part = settings.text().max_token_bytes + 5 * 8;
        let pair = size_of::<PairKey>() + 3 * 8;
        (settings.max_vocabulary() * (part + 16) + phrases.pairs * pair) as u64
    }

    /// Takes the next token of a sentence, and passes on what can no longer grow.
    pub fn take(&mut self, token: &str, joined: &mut Joined) {
        if let Some(connector) = self.connector(token) {
            self.words += 1;
            if self.sentence.last.is_some() {
                self.sentence.connectors.push(connector);
            } else {
                joined.push(token, 1);
            }
            return;
        }
        let Some(part) = self.count(token) else {
            // A blocked word, or one that is too rare to have a part.
            self.end_sentence(joined);
            joined.push(token, 1);
            return;
        };
        let merged = self.parts.controls().merged.get(token).cloned();
        let word = merged.as_deref().unwrap_or(token);
        let OpenSentence { text, words, connectors, .. } = &mut self.sentence;
        if !text.is_empty() {
            let end = text.len();
            append(text, connectors, word, self.settings.connectors);
            if connectors.len() <= MAX_CONNECTORS && self.found.get(text).is_some() {
                *words += connectors.len() + 1;
                connectors.clear();
                self.sentence.phrase = observe(&mut self.parts, &self.sentence.text);
                self.sentence.last = Some(part);
                return;
            }
            text.truncate(end);
            self.end_sentence(joined);
        }
        self.sentence.text.push_str(word);
        self.sentence.words = 1;
        self.sentence.last = Some(part);
    }

    /// Takes the tokens of a given phrase.
    pub fn take_given<'a>(&mut self, tokens: impl Iterator<Item = &'a str> + Clone, joined: &mut Joined) {
        let before = self.sentence.clone();
        self.end_sentence(joined);
        // The pair of the word before it and its first word counts too.
        self.sentence = OpenSentence { text: String::new(), ..before };
        for token in tokens.clone() {
            if let Some(connector) = self.connector(token) {
                self.words += 1;
                self.sentence.connectors.push(connector);
            } else {
                let last = self.count(token);
                self.sentence = OpenSentence { last, ..OpenSentence::default() };
            }
        }
        let (words, text) = (tokens.clone().count(), join(tokens));
        let OpenSentence { last, connectors, .. } = std::mem::take(&mut self.sentence);
        if let Some(last) = last.filter(|_| connectors.is_empty()) {
            let phrase = observe(&mut self.parts, &text);
            self.sentence = OpenSentence { text, words, phrase, last: Some(last), connectors };
        } else {
            joined.push(&text, words);
        }
    }

    /// Passes on what is left of a sentence.
    pub fn end_sentence(&mut self, joined: &mut Joined) {
        let OpenSentence { text, words, phrase, last, connectors } = &mut self.sentence;
        if !text.is_empty() {
            joined.push(text, *words);
        }
        let words = self.settings.connectors.words();
        connectors.iter().for_each(|&connector| joined.push(words[usize::from(connector)], 1));
        text.clear();
        connectors.clear();
        (*phrase, *last) = (None, None);
    }

    /// Counts a word, and the pairs that end with it. Returns nothing if it has no part.
    fn count(&mut self, token: &str) -> Option<Part> {
        self.words += 1;
        let part = observe(&mut self.parts, token)?;
        let OpenSentence { phrase, last, connectors, .. } = &self.sentence;
        let Some(link) = link(connectors) else { return Some(part) };
        for (left, link) in [(last, link), (phrase, link | JOINED)] {
            let Some(left) = left.filter(|left| self.parts.is_same_word_since(left.id, left.number)) else {
                continue;
            };
            let key = [left.id.index() as u32, part.id.index() as u32, link];
            self.pairs.observe(key, self.parts.tokens(), |pair| is_stale(pair, &self.parts));
        }
        Some(part)
    }

    /// The number of a connector that is not blocked.
    fn connector(&self, token: &str) -> Option<u8> {
        let number = self.settings.connectors.words().iter().position(|&word| word == token)?;
        (!self.parts.controls().is_blocked(token)).then_some(number as u8)
    }

    /// Decides which pairs are phrases in the next batch.
    pub fn end_batch(&mut self, is_given: impl Fn(&str) -> bool) {
        let candidates = self.candidates();
        let mut found = FoundPhrases::default();
        for Candidate { slot, count, score, .. } in candidates {
            let pair = &self.pairs.pairs()[slot as usize];
            let text = self.text(pair.key);
            if self.is_reached(pair.key, &found, &is_given) && found.get(&text).is_none() {
                let before = self.found.get(&text);
                let found_at = before.map_or(self.words, |phrase| phrase.found_at);
                found.add(FoundPhrase { text, key: pair.key, count, score, found_at });
            }
        }
        self.found = found;
    }

    /// The pairs with a high score, at most as many as there may be phrases, in the order in which they can be joined.
    fn candidates(&self) -> Vec<Candidate> {
        let least = self.settings.threshold * STAYS;
        let mut candidates = Vec::new();
        for (slot, pair) in (0..).zip(self.pairs.pairs()) {
            if pair.count < self.settings.min_count || is_stale(pair, &self.parts) {
                continue;
            }
            let score = self.score(pair);
            if score <= least {
                continue;
            }
            let text = self.text(pair.key);
            let stays = score > self.settings.threshold || self.found.get(&text).is_some();
            if stays && text.len() <= self.max_bytes && !self.is_blocked(pair.key, &text) {
                candidates.push(Candidate { slot, count: pair.count, score, bytes: text.len() as u32 });
            }
        }
        if candidates.len() > self.max_phrases {
            candidates.sort_unstable_by_key(|candidate| (Reverse(candidate.count), candidate.slot));
            candidates.truncate(self.max_phrases);
        }
        // A phrase is shorter than those that it is a part of.
        candidates.sort_unstable_by_key(|candidate| (candidate.bytes, candidate.slot));
        candidates
    }

    fn score(&self, pair: &Pair) -> f64 {
        let [left, right] = [pair.key[0], pair.key[1]].map(|id| self.parts.count(part_of(id)));
        score(self.settings, PairCounts { pair: pair.count, left, right, words: self.words })
    }

    fn text(&self, [left, right, link]: PairKey) -> String {
        let mut text = self.parts.word(part_of(left)).to_owned();
        append(&mut text, &connectors(link), self.parts.word(part_of(right)), self.settings.connectors);
        text
    }

    /// Whether its left part is a word, or a phrase that is joined.
    fn is_reached(&self, key: PairKey, found: &FoundPhrases, is_given: impl Fn(&str) -> bool) -> bool {
        let left = self.parts.word(part_of(key[0]));
        key[2] & JOINED == 0 || found.get(left).is_some() || is_given(left)
    }

    fn is_blocked(&self, key: PairKey, text: &str) -> bool {
        let (controls, words) = (self.parts.controls(), self.settings.connectors.words());
        let is_blocked = |&connector: &u8| controls.is_blocked(words[usize::from(connector)]);
        controls.is_blocked(text) || connectors(key[2]).iter().any(is_blocked)
    }

    /// Carries out controls. `forgotten` are the words that some of them forget; words that contain them are forgotten by
    /// others.
    pub fn control(
        &mut self,
        controls: &[Control],
        forgotten: &BTreeSet<&str>,
        is_given: impl Fn(&str) -> bool,
    ) {
        if !forgotten.is_empty() {
            // Before parts move: a pair may have the text of a forgotten word, or a connector.
            let pairs = self.pairs.pairs().iter();
            let leaving: Vec<bool> =
                pairs.map(|pair| contains_any(&self.text(pair.key), forgotten)).collect();
            let mut leaving = leaving.into_iter();
            self.pairs.retain(|pair| leaving.next().is_some_and(|leaves| !leaves).then_some(pair.key));
        }
        // Pins are about rows.
        let is_pin = |control: &&Control| matches!(control, Control::Pin { .. } | Control::Unpin { .. });
        let controls: Vec<Control> = controls.iter().filter(|control| !is_pin(control)).cloned().collect();
        let (_, moves) =
            self.parts.control(&controls).expect("the vocabulary has the same controls, and pins");
        let ids = moves.ids();
        let moved = |[left, right, link]: PairKey| {
            let [left, right] = [left, right].map(|id| ids[id as usize]);
            let stays = left != WordId::NONE && right != WordId::NONE;
            stays.then(|| [left.index() as u32, right.index() as u32, link])
        };
        if !moves.is_empty() {
            self.pairs.retain(|pair| moved(pair.key));
        }
        let mut found = FoundPhrases::default();
        for phrase in std::mem::take(&mut self.found.phrases) {
            let key = moved(phrase.key).filter(|&key| self.pairs.slot(key).is_some());
            let key = key.filter(|&key| !self.is_blocked(key, &phrase.text));
            if let Some(key) = key.filter(|&key| self.is_reached(key, &found, &is_given)) {
                found.add(FoundPhrase { key, ..phrase });
            }
        }
        self.found = found;
    }

    pub fn phrases(&self) -> &[FoundPhrase] {
        &self.found.phrases
    }

    pub fn has(&self, text: &str) -> bool {
        self.found.get(text).is_some()
    }

    /// Words that a phrase may have inside.
    pub fn connectors(&self) -> Connectors {
        self.settings.connectors
    }

    pub fn words(&self) -> u64 {
        self.words
    }

    pub fn parts(&self) -> &Vocabulary {
        &self.parts
    }

    /// The keys of the pairs, by slot.
    pub fn saved_keys(&self) -> impl ExactSizeIterator<Item = PairKey> {
        self.pairs.pairs().iter().map(|pair| pair.key)
    }

    /// The numbers of the pairs, by slot.
    pub fn saved_numbers(&self) -> impl Iterator<Item = [u64; 3]> {
        self.pairs.pairs().iter().map(|pair| [pair.counter.into(), pair.count, pair.birth])
    }

    /// Of each phrase the slot of its pair, and the words before it was found.
    pub fn saved_phrases(&self) -> impl Iterator<Item = [u64; 2]> {
        let slot = |key| self.pairs.slot(key).expect("phrases are pairs at the end of a batch");
        self.found.phrases.iter().map(move |phrase| [slot(phrase.key) as u64, phrase.found_at])
    }

    pub fn restore(
        &mut self,
        saved: SavedDiscovery<'_>,
        words: u64,
        totals: VocabularyTotals,
        controls: &Controls,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let SavedDiscovery { parts, keys, numbers, phrases } = saved;
        self.parts = Vocabulary::restore(self.parts.capacity(), None, totals, parts)?;
        let controls = Controls { pinned: BTreeSet::new(), ..controls.clone() };
        self.parts.restore_controls(controls)?;
        // A phrase is counted besides its words.
        if totals.tokens > words.saturating_mul(2) {
            return Err("the numbers of words and of their parts contradict each other".to_owned());
        }
        self.words = words;
        let n_parts = self.parts.len();
        let is_valid = |(&[left, right, link], &[counter, count, birth]): (&PairKey, &[u64; 3])| {
            let known = |number: &u8| usize::from(*number) < self.settings.connectors.words().len();
            [left, right].iter().all(|&id| (id as usize) < n_parts)
                && connectors(link).iter().all(known)
                && super::link::link(&connectors(link)) == Some(link & !JOINED)
                && counter <= count.min(u32::MAX.into())
                && (1..=words).contains(&count)
                && birth <= totals.tokens
        };
        if keys.len() != numbers.len() {
            return Err("`phrase_pairs` and `phrase_pair_counts` have different lengths".to_owned());
        }
        if let Some(slot) = keys.iter().zip(numbers).position(|pair| !is_valid(pair)) {
            return Err(format!("the numbers of pair {slot} contradict each other"));
        }
        let pairs = keys.iter().zip(numbers).map(|(&key, &[counter, count, birth])| Pair {
            key,
            counter: counter as u32,
            count,
            birth,
        });
        self.pairs.restore(pairs)?;
        self.restore_phrases(phrases, is_given)
    }

    fn restore_phrases(
        &mut self,
        phrases: &[[u64; 2]],
        is_given: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let mut found = FoundPhrases::default();
        for &[slot, found_at] in phrases {
            let pair = usize::try_from(slot).ok().and_then(|slot| self.pairs.pairs().get(slot));
            let pair = pair.filter(|pair| found_at <= self.words && !is_stale(pair, &self.parts));
            let pair = pair.ok_or_else(|| format!("`phrases` has pair {slot}, which is not one"))?;
            let text = self.text(pair.key);
            let is_reached = self.is_reached(pair.key, &found, &is_given);
            if !is_reached || text.len() > self.max_bytes || found.get(&text).is_some() {
                return Err(format!("`{text}` cannot be a phrase, or is one twice"));
            }
            let (count, score) = (pair.count, self.score(pair));
            found.add(FoundPhrase { text, key: pair.key, count, score, found_at });
        }
        if found.phrases.len() > self.max_phrases {
            return Err(format!("{} phrases where {} are possible", found.phrases.len(), self.max_phrases));
        }
        self.found = found;
        Ok(())
    }
}

/// A pair with a high score.
struct Candidate {
    slot: u32,
    /// The length of its text.
    bytes: u32,
    count: u64,
    score: f64,
}

fn max_phrases(settings: &Settings) -> usize {
    settings.max_vocabulary() / 2
}

fn part_of(id: u32) -> WordId {
    WordId::from_saved(id)
}

/// Whether another word has one of its ids now.
fn is_stale(pair: &Pair, parts: &Vocabulary) -> bool {
    [pair.key[0], pair.key[1]].iter().any(|&id| parts.first_token(part_of(id)) >= pair.birth)
}

/// Counts a token of a part.
fn observe(parts: &mut Vocabulary, text: &str) -> Option<Part> {
    let number = parts.tokens();
    let id = match parts.observe(text) {
        Observed::Known(id) => id,
        Observed::Admitted(part) => part.reset(|_, _| ()),
        Observed::Rejected => return None,
    };
    Some(Part { id, number })
}
