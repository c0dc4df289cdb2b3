//! Words under control: pinned, blocked, merged and forgotten.
//!
//! A blocked or merged word is never in the index, so [`Vocabulary::observe`] finds it like any unknown word and looks at
//! the controls only then: known words cost nothing. A token of a blocked word has a number and no word, and cancels
//! nothing.
//!
//! A pinned word never leaves, and its counter takes no part in cancellations. So the others are a Misra–Gries summary with
//! m − p slots, where p is the largest number of pinned words there has been. If a new pin needs the slot of another word,
//! the smallest counter is taken off all of them first, which is how summaries are merged (Agarwal et al., PODS 2012):
//! this uses up (m − p + 1) tokens for each count, and the bound holds with m − p.
//!
//! A word that leaves does not leave a hole: the slots after it move down. [`Moves`] tells the owners of rows and ids. The
//! order stays, so two controls give the same slots together and one after the other.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use super::{Entry, Link, Vocabulary, WordId, half};
use crate::hash::WordHasher;

/// Bytes that all words under control may take, so that a model's header stays readable.
const MAX_BYTES: usize = 8 << 20;

/// What a word takes besides its own bytes.
const BYTES_PER_WORD: usize = 64;

/// An order about a word.
///
/// Controls act between two batches. Repeating one changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// Keep the word in the vocabulary for good. If it has not occurred yet, it gets a slot and vectors now.
    Pin {
        /// The word.
        word: String,
    },
    /// Undo [`Control::Pin`]: the word may leave like any other, and leaves now if it never occurred.
    Unpin {
        /// The word.
        word: String,
    },
    /// Keep the word out of the vocabulary: it leaves now, and the text is learned as if the word were not in it.
    Block {
        /// The word.
        word: String,
    },
    /// Undo [`Control::Block`] and [`Control::Forget`]'s `keep_out`: the word is learned from its next occurrence on.
    Unblock {
        /// The word.
        word: String,
    },
    /// Count and train every further token of `word` as `into`. `word` leaves now, with what was learned of it.
    Merge {
        /// The word that leaves.
        word: String,
        /// The word that its tokens count as.
        into: String,
    },
    /// Undo [`Control::Merge`]: further tokens of the word are its own again.
    Unmerge {
        /// The word.
        word: String,
    },
    /// Delete the word and everything that was kept of it: vectors, counts, its occurrences in text that waits for its
    /// replay, its initial vector, and other controls of it.
    Forget {
        /// The word.
        word: String,
        /// Whether the word stays out if it occurs again. The model then keeps a hash of it. Otherwise, it is learned as a
        /// new word. A word that was blocked stays out in any case.
        #[serde(default)]
        keep_out: bool,
    },
}

impl Control {
    /// The word that it is about.
    pub fn word(&self) -> &str {
        match self {
            Control::Pin { word }
            | Control::Unpin { word }
            | Control::Block { word }
            | Control::Unblock { word }
            | Control::Merge { word, .. }
            | Control::Unmerge { word }
            | Control::Forget { word, .. } => word,
        }
    }

    /// The same about words that `write` writes in another way.
    pub(crate) fn try_map<E>(self, mut write: impl FnMut(String) -> Result<String, E>) -> Result<Control, E> {
        Ok(match self {
            Control::Pin { word } => Control::Pin { word: write(word)? },
            Control::Unpin { word } => Control::Unpin { word: write(word)? },
            Control::Block { word } => Control::Block { word: write(word)? },
            Control::Unblock { word } => Control::Unblock { word: write(word)? },
            Control::Merge { word, into } => Control::Merge { word: write(word)?, into: write(into)? },
            Control::Unmerge { word } => Control::Unmerge { word: write(word)? },
            Control::Forget { word, keep_out } => Control::Forget { word: write(word)?, keep_out },
        })
    }
}

/// What a [`Control`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Controlled {
    /// The word, as the text settings write it.
    pub word: String,
    /// Whether anything changed.
    pub changed: bool,
    /// The count that the word had, if it has left the vocabulary.
    pub left: Option<u64>,
}

/// Why a [`Control`] is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum ControlError {
    /// The text settings do not make one token of it.
    #[error("`{text}` is not a single token by the text settings of this model")]
    NotAToken { text: String },
    /// Pinned words would leave too few slots for the others.
    #[error("{pinned} words would be pinned; at most {limit} can be, half of max_vocabulary")]
    TooManyPinned { pinned: usize, limit: usize },
    /// The lists would be too long.
    #[error("the words under control take {bytes} bytes; at most {limit} are possible")]
    TooMany { bytes: usize, limit: usize },
    /// A pinned word cannot leave.
    #[error("`{word}` is pinned: unpin it first")]
    IsPinned { word: String },
    /// A blocked word cannot be in the vocabulary.
    #[error("`{word}` is blocked: unblock it first")]
    IsBlocked { word: String },
    /// A merged word has no slot of its own.
    #[error("`{word}` is merged into `{into}`: unmerge it first")]
    IsMerged { word: String, into: String },
    /// Other words are merged into the word.
    #[error("`{from}` is merged into `{word}`: unmerge it first")]
    IsTarget { word: String, from: String },
    /// A word cannot be merged into itself.
    #[error("`{word}` cannot be merged into itself")]
    MergedIntoItself { word: String },
}

/// The words under control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Controls {
    /// Words that never leave.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pinned: BTreeSet<String>,
    /// Words that never enter.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub blocked: BTreeSet<String>,
    /// Hashes of forgotten words that never enter, in hexadecimal.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub kept_out: BTreeSet<String>,
    /// Words whose tokens count as another word.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub merged: BTreeMap<String, String>,
}

impl Controls {
    /// Whether no word is under control.
    pub fn is_empty(&self) -> bool {
        let Controls { pinned, blocked, kept_out, merged } = self;
        pinned.is_empty() && blocked.is_empty() && kept_out.is_empty() && merged.is_empty()
    }

    /// Whether the word may not enter.
    pub fn is_blocked(&self, word: &str) -> bool {
        self.blocked.contains(word) || (!self.kept_out.is_empty() && self.kept_out.contains(&digest(word)))
    }

    /// The word that tokens of this one count as: itself, unless it was merged.
    pub fn meaning<'a>(&'a self, word: &'a str) -> &'a str {
        self.merged.get(word).map_or(word, String::as_str)
    }

    /// Memory of the lists and of what [`Rules`] makes of them, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Controls { pinned, blocked, kept_out, merged } = self;
        let words = pinned.iter().chain(blocked).chain(kept_out).chain(merged.keys()).chain(merged.values());
        words.map(|word| word.len() + BYTES_PER_WORD).sum()
    }

    /// The words of all lists; those that are kept out are not known.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let Controls { pinned, blocked, merged, .. } = self;
        let words = pinned.iter().chain(blocked).chain(merged.keys()).chain(merged.values());
        words.map(String::as_str)
    }

    /// Whether one of the lists has the word.
    fn mentions(&self, word: &str) -> bool {
        let Controls { pinned, blocked, merged, .. } = self;
        pinned.contains(word)
            || blocked.contains(word)
            || merged.iter().any(|(from, into)| from == word || into == word)
    }

    /// Changes the lists, and returns whether that made a difference.
    fn change(&mut self, control: &Control) -> Result<bool, ControlError> {
        Ok(match control {
            Control::Pin { word } => {
                self.check_not_blocked(word)?;
                self.check_not_merged(word)?;
                self.pinned.insert(word.clone())
            }
            Control::Unpin { word } => self.pinned.remove(word),
            Control::Block { word } => {
                self.check_not_pinned(word)?;
                self.check_not_merged(word)?;
                self.check_not_target(word)?;
                !self.is_blocked(word) && self.blocked.insert(word.clone())
            }
            Control::Unblock { word } => self.blocked.remove(word) | self.kept_out.remove(&digest(word)),
            Control::Merge { word, into } => {
                if word == into {
                    return Err(ControlError::MergedIntoItself { word: word.clone() });
                }
                self.check_not_pinned(word)?;
                self.check_not_blocked(word)?;
                self.check_not_target(word)?;
                self.check_not_blocked(into)?;
                // No chains: so there are no cycles, and one look-up finds the meaning.
                self.check_not_merged(into)?;
                self.merged.insert(word.clone(), into.clone()).is_none_or(|before| before != *into)
            }
            Control::Unmerge { word } => self.merged.remove(word).is_some(),
            Control::Forget { word, keep_out } => {
                let n_merged = self.merged.len();
                self.merged.retain(|from, into| from != word && into != word);
                let was_blocked = self.blocked.remove(word);
                let was_listed = was_blocked | self.pinned.remove(word) | (self.merged.len() < n_merged);
                was_listed | ((was_blocked || *keep_out) && self.kept_out.insert(digest(word)))
            }
        })
    }

    /// Checks the limits of a vocabulary of this size.
    fn check(&self, capacity: usize) -> Result<(), ControlError> {
        let (pinned, limit) = (self.pinned.len(), capacity / 2);
        if pinned > limit {
            return Err(ControlError::TooManyPinned { pinned, limit });
        }
        let (bytes, limit) = (self.bytes(), MAX_BYTES);
        if bytes > limit { Err(ControlError::TooMany { bytes, limit }) } else { Ok(()) }
    }

    fn check_not_pinned(&self, word: &str) -> Result<(), ControlError> {
        match self.pinned.contains(word) {
            true => Err(ControlError::IsPinned { word: word.to_owned() }),
            false => Ok(()),
        }
    }

    fn check_not_blocked(&self, word: &str) -> Result<(), ControlError> {
        match self.is_blocked(word) {
            true => Err(ControlError::IsBlocked { word: word.to_owned() }),
            false => Ok(()),
        }
    }

    fn check_not_merged(&self, word: &str) -> Result<(), ControlError> {
        match self.merged.get(word) {
            Some(into) => Err(ControlError::IsMerged { word: word.to_owned(), into: into.clone() }),
            None => Ok(()),
        }
    }

    fn check_not_target(&self, word: &str) -> Result<(), ControlError> {
        match self.merged.iter().find(|(_, into)| *into == word) {
            Some((from, _)) => Err(ControlError::IsTarget { word: word.to_owned(), from: from.clone() }),
            None => Ok(()),
        }
    }
}

/// The hash of a word that must not be stored. There is no secret in it: a reader of the file can test a guess.
fn digest(word: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("skipstream forgotten words");
    hasher.update(word.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The controls, for looking up tokens and slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub controls: Controls,
    /// The blocked and the merged words.
    table: HashTable<Rule>,
    /// The slots of pinned words, sorted.
    pub pinned: Vec<WordId>,
}

#[derive(Clone, Debug)]
struct Rule {
    word: String,
    /// The word that its tokens count as; none if it is blocked.
    into: Option<String>,
}

/// What to do with a token that has no slot.
pub(super) enum Ruling<'a> {
    Admit,
    Reject,
    CountAs(&'a str),
}

impl Rules {
    fn new(controls: Controls, hasher: &WordHasher) -> Rules {
        let mut table = HashTable::new();
        let blocked = controls.blocked.iter().map(|word| Rule { word: word.clone(), into: None });
        let merged = controls.merged.iter();
        let merged = merged.map(|(word, into)| Rule { word: word.clone(), into: Some(into.clone()) });
        for rule in blocked.chain(merged) {
            let hash = |rule: &Rule| hasher.hash(rule.word.as_bytes());
            table.insert_unique(hash(&rule), rule, hash);
        }
        Rules { controls, table, pinned: Vec::new() }
    }

    pub fn of(&self, hash: u64, word: &str) -> Ruling<'_> {
        match self.table.find(hash, |rule| rule.word == word) {
            Some(Rule { into: Some(into), .. }) => Ruling::CountAs(into),
            Some(Rule { into: None, .. }) => Ruling::Reject,
            None if !self.controls.kept_out.is_empty() && self.controls.is_blocked(word) => Ruling::Reject,
            None => Ruling::Admit,
        }
    }

    pub fn is_pinned(&self, id: WordId) -> bool {
        self.pinned.binary_search(&id).is_ok()
    }
}

/// Where the words of the slots came from.
#[derive(Debug)]
pub(crate) struct Moves {
    /// The slot that each slot's word had before; none for a new word.
    origins: Vec<Option<WordId>>,
    /// The number of slots before.
    before: usize,
}

impl Moves {
    /// The slot of each slot's word before; none for a new word. A word never moves up.
    pub fn origins(&self) -> impl Iterator<Item = (WordId, Option<WordId>)> {
        (0u32..).map(WordId).zip(self.origins.iter().copied())
    }

    /// The id of each former slot's word, [`WordId::NONE`] if it has left.
    pub fn ids(&self) -> Vec<WordId> {
        let mut ids = vec![WordId::NONE; self.before];
        for (id, origin) in self.origins() {
            if let Some(origin) = origin {
                ids[origin.index()] = id;
            }
        }
        ids
    }

    /// Whether every word is where it was, and there are no others.
    pub fn is_empty(&self) -> bool {
        self.before == self.origins.len() && self.origins().all(|(id, origin)| origin == Some(id))
    }
}

impl Vocabulary {
    /// The words under control.
    pub fn controls(&self) -> &Controls {
        &self.rules.controls
    }

    /// Whether the word is in the vocabulary or one of the lists, as it is written.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        self.id(word).is_some() || self.controls().mentions(word)
    }

    /// Carries out controls, all or none.
    pub(crate) fn control(&mut self, controls: &[Control]) -> Result<(Vec<Controlled>, Moves), ControlError> {
        let mut next = self.controls().clone();
        let changed: Vec<bool> =
            controls.iter().map(|control| next.change(control)).collect::<Result<_, _>>()?;
        next.check(self.capacity)?;
        // What was cancelled depends on which words are pinned.
        self.settle();
        let before = self.entries.len();
        let mut moves = Moves { origins: self.ids().map(Some).collect(), before };
        let mut leaving = BTreeSet::new();
        let mut report = Vec::with_capacity(controls.len());
        for (control, changed) in controls.iter().zip(changed) {
            let word = control.word();
            let id = self.id(word).filter(|id| !leaving.contains(id));
            let mut one = Controlled { word: word.to_owned(), changed, left: None };
            match control {
                Control::Pin { .. } => {
                    self.remove(&std::mem::take(&mut leaving), &mut moves);
                    self.add_pinned(word, &mut moves);
                }
                Control::Block { .. } | Control::Merge { .. } | Control::Forget { .. } => {
                    one.left = id.map(|id| self.count(id));
                    one.changed |= id.is_some();
                    leaving.extend(id);
                    self.unpin(id);
                }
                Control::Unpin { .. } => {
                    self.unpin(id);
                    // A word that never occurred was there only because it was pinned.
                    leaving.extend(id.filter(|&id| self.count(id) == 0));
                }
                Control::Unblock { .. } | Control::Unmerge { .. } => {}
            }
            report.push(one);
        }
        self.remove(&leaving, &mut moves);
        let pinned = std::mem::take(&mut self.rules.pinned);
        self.rules = Rules { pinned, ..Rules::new(next, &self.hasher) };
        self.list_leaving();
        Ok((report, moves))
    }

    /// Takes over saved controls, or returns why they are not this vocabulary's.
    pub(crate) fn restore_controls(&mut self, controls: Controls) -> Result<(), String> {
        controls.check(self.capacity).map_err(|error| error.to_string())?;
        let mut rules = Rules::new(controls, &self.hasher);
        let Controls { pinned, blocked, merged, .. } = &rules.controls;
        if let Some(word) = blocked.iter().chain(merged.keys()).find(|word| self.id(word).is_some()) {
            return Err(format!("`{word}` is in the vocabulary, and blocked or merged"));
        }
        if let Some(into) = merged.values().find(|into| merged.contains_key(*into) || blocked.contains(*into))
        {
            return Err(format!("a word is merged into `{into}`, which is blocked or merged"));
        }
        for word in pinned {
            let id = self.id(word).ok_or_else(|| format!("`{word}` is pinned, but not in the vocabulary"))?;
            rules.pinned.push(id);
        }
        rules.pinned.sort_unstable();
        self.rules = rules;
        let uncounted = self.ids().find(|&id| self.count(id) == 0 && !self.rules.is_pinned(id));
        if let Some(id) = uncounted {
            return Err(format!("`{}` has no count", self.word(id)));
        }
        self.list_leaving();
        Ok(())
    }

    /// Gives a pinned word a slot, if it has none.
    fn add_pinned(&mut self, word: &str, moves: &mut Moves) {
        let id = self.id(word).unwrap_or_else(|| {
            let id = if self.entries.len() < self.capacity {
                moves.origins.push(None);
                WordId(self.entries.len() as u32)
            } else {
                let id = self.make_room();
                moves.origins[id.index()] = None;
                id
            };
            let birth = self.totals.tokens;
            let hash = self.hasher.hash(word.as_bytes());
            let span = self.arena.add(word);
            self.insert(id, hash, span, Entry { counter: 0, count: 0, birth, latest: birth }, 0);
            id
        });
        if let Err(place) = self.rules.pinned.binary_search(&id) {
            self.rules.pinned.insert(place, id);
        }
    }

    fn unpin(&mut self, id: Option<WordId>) {
        self.rules.pinned.retain(|&pinned| Some(pinned) != id);
    }

    /// Evicts a word from a full vocabulary, and returns its slot.
    fn make_room(&mut self) -> WordId {
        let rules = &self.rules;
        let others = (0u32..).map(WordId).zip(&mut self.entries).filter(|(id, _)| !rules.is_pinned(*id));
        let mut others: Vec<&mut Entry> = others.map(|(_, entry)| entry).collect();
        let least = others.iter().map(|entry| entry.counter).min().unwrap_or(0);
        others.iter_mut().for_each(|entry| entry.counter -= least);
        self.list_leaving();
        let id = self
            .next_to_leave()
            .expect("at most half of the words are pinned, and one of the others is at 0");
        self.evict(id);
        id
    }

    /// Takes words out. Those after them move down.
    fn remove(&mut self, leaving: &BTreeSet<WordId>, moves: &mut Moves) {
        if leaving.is_empty() {
            return;
        }
        let Vocabulary { entries, spans, arena, index, hasher, rules, fading, documents, .. } = self;
        leaving.iter().for_each(|id| arena.release(spans[id.index()]));
        retain(entries, leaving);
        retain(spans, leaving);
        if let Some(fading) = fading {
            retain(&mut fading.frequencies, leaving);
        }
        if let Some(documents) = documents {
            retain(&mut documents.counts, leaving);
        }
        retain(&mut moves.origins, leaving);
        for id in &mut rules.pinned {
            id.0 -= leaving.range(..*id).count() as u32;
        }
        // The bytes of the words go too.
        arena.compact(spans.iter_mut());
        index.clear();
        for (slot, span) in (0u32..).zip(spans.iter()) {
            let hash = hasher.hash(arena.bytes(*span));
            let link = Link { hash: half(hash), id: WordId(slot) };
            index.insert_unique(hash, link, |link| hasher.hash(arena.bytes(spans[link.id.index()])));
        }
    }
}

/// Keeps the items of the slots that stay.
fn retain<T>(items: &mut Vec<T>, leaving: &BTreeSet<WordId>) {
    let mut slot = 0;
    items.retain(|_| {
        slot += 1;
        !leaving.contains(&WordId(slot - 1))
    });
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
