//! Tokens → [`WordId`]s and counts: at most m words, the frequent ones (section 3.2.1 of the paper).
//!
//! The Misra–Gries summary with m slots. A known word increments its counter; a new one takes a free slot. If no slot is
//! free, the new token and one count of every word cancel each other. Each cancellation uses up m + 1 tokens, so after n
//! tokens true count − n/(m + 1) ≤ counter ≤ true count.
//!
//! In the summary, a word whose counter is 0 has left. Here it stays in its slot until a new word needs the slot, the least
//! frequent word first. If it occurs before that, its counter is 1 again, as if it had been evicted and admitted, but it
//! keeps its count and its vectors. So the counters are those of the summary, and a vocabulary that was full once stays full.
//!
//! The counter decides which words stay. Each word also has its frequency, between the counter and the true count: the
//! number of its occurrences since it was admitted. Noise and subsampling use that.
//!
//! With a [half-life](HalfLife), tokens have weights, and counters, frequencies and n are sums of them; see `fading.rs`. A
//! new token then cancels as much of its weight as the smallest counter has, and enters with the rest. The bound is the
//! same, with weights for counts (and less than two units of weight more, because halves are rounded).
//!
//! `control.rs` has words that are pinned, blocked, merged or forgotten.
//!
//! Invariant: this module knows nothing of vectors. [`Observed`] tells the owner of the rows that an id has a new word.

mod arena;
mod control;
mod documents;
mod fading;
mod word_times;

use std::cmp::Reverse;

use hashbrown::HashTable;

use crate::error::Error;
use crate::half_life::HalfLife;
use crate::hash::WordHasher;
use arena::{Arena, Span};
pub(crate) use control::Moves;
#[cfg(test)]
pub(crate) use control::testing;
pub use control::{Control, ControlError, Controlled, Controls};
use control::{Rules, Ruling};
use documents::Documents;
use fading::Fading;
pub use word_times::WordTimes;

/// A word of the vocabulary: the number of its slot. Only the vocabulary makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::NoUninit)]
#[repr(transparent)]
pub struct WordId(u32);

impl WordId {
    /// A token without a word.
    pub(crate) const NONE: WordId = WordId(u32::MAX);

    /// The slot's number, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn from_saved(index: u32) -> WordId {
        WordId(index)
    }
}

/// What happened to a token.
#[derive(Debug)]
#[must_use]
pub enum Observed {
    /// The word was known, and is counted.
    Known(WordId),
    /// The word took a slot, whose rows may hold the values of another word until they are reset.
    Admitted(FreshWord),
    /// The token has no word: no slot was free, and it and as much of every counter cancelled each other, or the word is
    /// blocked.
    Rejected,
}

/// An id that has just been given to a new word. The only way to the id is [`FreshWord::reset`], so that no caller
/// forgets to reset the rows of the id.
#[derive(Debug)]
#[must_use]
pub struct FreshWord {
    id: WordId,
    birth: u64,
    evicts: bool,
}

impl FreshWord {
    /// The id, if another word had it and was evicted.
    pub fn evicted(&self) -> Option<WordId> {
        self.evicts.then_some(self.id)
    }

    /// Resets the rows of the id with `reset`, and returns the id.
    ///
    /// `reset` gets the id, and the word's birth: the number of the token that admitted it.
    pub fn reset(self, reset: impl FnOnce(WordId, u64)) -> WordId {
        reset(self.id, self.birth);
        self.id
    }
}

/// The known words, each in a slot.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    capacity: usize,
    hasher: WordHasher,
    index: HashTable<Link>,
    entries: Vec<Entry>,
    /// The bytes of each word. Apart from the entries, so that looking words up visits less memory.
    spans: Vec<Span>,
    /// The words whose counter was 0 after the last cancellation, and that have not been evicted. The last is the next to
    /// go, unless its counter has risen. Empty with a half-life.
    leaving: Vec<WordId>,
    arena: Arena,
    rules: Rules,
    /// With a half-life.
    fading: Option<Fading>,
    /// If the text has documents.
    documents: Option<Documents>,
    totals: VocabularyTotals,
}

/// An entry of the hash table. It has half of the hash, so that entries of other words need not be visited.
#[derive(Clone, Copy, Debug)]
struct Link {
    hash: u32,
    id: WordId,
}

/// The half of a hash that the table does not use to place it.
fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[derive(Clone, Debug)]
struct Entry {
    /// Misra–Gries' counter; 0 if a new word may have the slot. With a half-life, see [`Fading::cancelled`].
    counter: u64,
    /// Occurrences since admission.
    count: u64,
    /// The number of the token that admitted the word.
    birth: u64,
    /// The number of the word's last token.
    latest: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedWord<'a> {
    pub id: WordId,
    pub word: &'a str,
    pub counter: u64,
    pub frequency: u64,
    pub count: u64,
    pub birth: u64,
    pub latest: u64,
}

/// The totals of a vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VocabularyTotals {
    /// Tokens seen.
    pub tokens: u64,
    /// Words that were evicted.
    pub evictions: u64,
    /// Tokens that found no free slot.
    pub cancellations: u64,
    /// The weight of all tokens, with a half-life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<u64>,
    /// The clock at the start of the last batch, with a half-life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<u64>,
    /// The number of the last document and its first token, if the text has documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<[u64; 2]>,
}

impl Vocabulary {
    /// An empty vocabulary of at most `capacity` words.
    pub fn new(capacity: usize) -> Vocabulary {
        Vocabulary {
            capacity,
            hasher: WordHasher::new(),
            index: HashTable::new(),
            entries: Vec::new(),
            spans: Vec::new(),
            leaving: Vec::new(),
            arena: Arena::default(),
            rules: Rules::default(),
            fading: None,
            documents: None,
            totals: VocabularyTotals::default(),
        }
    }

    /// An empty vocabulary whose tokens count less as they get older.
    pub(crate) fn with_half_life(capacity: usize, half_life: Option<HalfLife>) -> Vocabulary {
        let fading = half_life.map(|half_life| Fading::new(half_life, 0, 0, 0));
        Vocabulary { fading, ..Vocabulary::new(capacity) }
    }

    /// Allocates the memory that it will need. (The hash table gets twice the capacity, so that it cleans up after
    /// evictions in place instead of growing.)
    pub fn reserve(&mut self) -> Result<(), Error> {
        let Vocabulary { capacity, index, entries, spans, arena, hasher, fading, .. } = self;
        let more = *capacity - entries.len();
        let reserved = entries.try_reserve_exact(more).is_ok()
            && spans.try_reserve_exact(more).is_ok()
            && fading.as_mut().is_none_or(|fading| fading.try_reserve(*capacity).is_ok());
        let hash = |link: &Link| hasher.hash(arena.bytes(spans[link.id.index()]));
        if reserved && index.try_reserve(2 * *capacity - index.len(), hash).is_ok() {
            return Ok(());
        }
        let fading = fading.as_ref().map_or(0, |_| Fading::BYTES_PER_WORD);
        let bytes = *capacity * (size_of::<Entry>() + size_of::<Span>() + 2 * size_of::<Link>() + fading);
        Err(Error::out_of_memory(format!("{capacity} words"), bytes))
    }

    /// Maximum memory of a vocabulary in bytes, with words of at most `max_word_bytes`.
    pub fn max_bytes(capacity: usize, half_life: Option<HalfLife>, max_word_bytes: usize) -> u64 {
        let links = (2 * capacity * 8 / 7 + 16).next_power_of_two() * (size_of::<Link>() + 1);
        let fading = half_life.map_or(0, |_| Fading::BYTES_PER_WORD);
        (capacity * (size_of::<Entry>() + size_of::<Span>() + size_of::<WordId>() + fading) + links) as u64
            + Arena::max_bytes(capacity * max_word_bytes)
    }

    /// Counts a token.
    #[inline]
    pub fn observe(&mut self, word: &str) -> Observed {
        let number = self.totals.tokens;
        self.totals.tokens += 1;
        self.observe_as(word, number)
    }

    /// Gives numbers to tokens without a word.
    pub(crate) fn pass(&mut self, tokens: u32) {
        self.totals.tokens += u64::from(tokens);
    }

    /// Counts the token with this number as a token of `word`.
    #[inline]
    fn observe_as(&mut self, word: &str, number: u64) -> Observed {
        let hash = self.hasher.hash(word.as_bytes());
        if let Some(id) = self.find(hash, word) {
            let mut weight = 1;
            if let Some(fading) = &mut self.fading {
                weight = fading.weight;
                fading.frequencies[id.index()] += weight;
            }
            let entry = &mut self.entries[id.index()];
            if let Some(documents) = &mut self.documents {
                documents.count(id, entry);
            }
            entry.counter += weight;
            entry.count += 1;
            entry.latest = number;
            return Observed::Known(id);
        }
        self.observe_new(hash, word, number)
    }

    /// Hashes words as [`Vocabulary::look_up`] needs them.
    pub(crate) fn hasher(&self) -> WordHasher {
        self.hasher.clone()
    }

    /// Finds the words of tokens as they are now, [`WordId::NONE`] for those that have none, for
    /// [`Vocabulary::observe_found`] to count.
    ///
    /// A few tokens go through each step together: the loads of a step do not depend on each other, so the processor waits
    /// for many of them at once.
    pub(crate) fn look_up<'a>(
        &self,
        mut tokens: impl Iterator<Item = &'a [u8]>,
        hashes: &[u64],
        found: &mut Vec<WordId>,
    ) {
        const TOGETHER: usize = 32;
        for hashes in hashes.chunks(TOGETHER) {
            let start = found.len();
            found.extend(hashes.iter().map(|&hash| {
                let link = self.index.find(hash, |link| link.hash == half(hash));
                link.map_or(WordId::NONE, |link| link.id)
            }));
            for (id, token) in found[start..].iter_mut().zip(&mut tokens) {
                // If another word has the same half of the hash, the token is looked up again when it is counted.
                if *id != WordId::NONE && !self.is_word(*id, token) {
                    *id = WordId::NONE;
                }
            }
        }
    }

    /// Counts tokens that were [looked up](Self::look_up) when `since` tokens had been seen, up to the first one that had
    /// no word then or whose word has left since. Returns how many it counted. The next token is for
    /// [`Vocabulary::observe`]. They are of no document.
    pub(crate) fn observe_found(&mut self, found: &[WordId], since: u64) -> usize {
        let weight = self.weight();
        let Vocabulary { entries, totals, fading, .. } = self;
        let mut number = totals.tokens;
        for id in found {
            let Some(entry) = entries.get_mut(id.index()).filter(|entry| entry.birth < since) else { break };
            entry.counter += weight;
            entry.count += 1;
            entry.latest = number;
            number += 1;
        }
        let known = (number - std::mem::replace(&mut totals.tokens, number)) as usize;
        if let Some(fading) = fading {
            found[..known].iter().for_each(|id| fading.frequencies[id.index()] += weight);
        }
        known
    }

    /// What a token of this batch weighs.
    fn weight(&self) -> u64 {
        self.fading.as_ref().map_or(1, |fading| fading.weight)
    }

    #[cold]
    fn observe_new(&mut self, hash: u64, word: &str, birth: u64) -> Observed {
        match self.rules.of(hash, word) {
            Ruling::Admit => {}
            Ruling::Reject => return Observed::Rejected,
            Ruling::CountAs(word) => {
                let word = word.to_owned();
                return self.observe_as(&word, birth);
            }
        }
        let weight = self.weight();
        let evicts = self.entries.len() == self.capacity;
        let (id, counter) = if evicts {
            let least = self.next_to_leave();
            let cancelled = least.map_or(weight, |id| self.counter(id).min(weight));
            if cancelled > 0 {
                self.cancel(cancelled);
            }
            let Some(id) = least.filter(|_| cancelled < weight) else { return Observed::Rejected };
            self.evict(id);
            (id, weight - cancelled)
        } else {
            (WordId(self.entries.len() as u32), weight)
        };
        let span = self.arena.add(word);
        let counter = counter + self.cancelled();
        self.insert(id, hash, span, Entry { counter, count: 1, birth, latest: birth }, weight);
        Observed::Admitted(FreshWord { id, birth, evicts })
    }

    /// The word with the smallest counter, and of these the least frequent; of two that are as frequent, the one that was
    /// not seen for longer. Without a half-life, none if no counter is 0.
    fn next_to_leave(&mut self) -> Option<WordId> {
        if self.fading.is_some() {
            return Some(self.lowest_rank());
        }
        loop {
            let id = self.leaving.pop()?;
            if self.counter(id) == 0 {
                return Some(id);
            }
        }
    }

    /// Takes a word out of the index.
    fn evict(&mut self, id: WordId) {
        let span = self.spans[id.index()];
        let hash = self.hasher.hash(self.arena.bytes(span));
        if let Ok(link) = self.index.find_entry(hash, |link| link.id == id) {
            link.remove();
        }
        self.arena.release(span);
        self.totals.evictions += 1;
        if self.arena.wants_compaction() {
            let live = (0u32..).zip(&mut self.spans).filter(|(slot, _)| WordId(*slot) != id);
            self.arena.compact(live.map(|(_, span)| span));
        }
    }

    fn insert(&mut self, id: WordId, hash: u64, span: Span, entry: Entry, frequency: u64) {
        let occurred = u64::from(entry.count > 0);
        set(&mut self.entries, id, entry);
        set(&mut self.spans, id, span);
        if let Some(fading) = &mut self.fading {
            set(&mut fading.frequencies, id, frequency);
        }
        if let Some(documents) = &mut self.documents {
            set(&mut documents.counts, id, occurred);
        }
        let Vocabulary { index, spans, arena, hasher, .. } = self;
        let link = Link { hash: half(hash), id };
        index.insert_unique(hash, link, |link| hasher.hash(arena.bytes(spans[link.id.index()])));
    }

    /// Takes this weight from the counter of every word that is not pinned.
    fn cancel(&mut self, weight: u64) {
        self.totals.cancellations += 1;
        if let Some(fading) = &mut self.fading {
            fading.cancelled += weight;
            return;
        }
        self.rules.pinned.iter().for_each(|id| self.entries[id.index()].counter += weight);
        self.entries.iter_mut().for_each(|entry| entry.counter -= weight);
        self.list_leaving();
    }

    /// Lists the words that are not pinned and whose counter is 0, the least frequent last; of two that are as frequent, the
    /// one that was not seen for longer. With a half-life, ranks do that.
    fn list_leaving(&mut self) {
        let Vocabulary { entries, leaving, rules, fading, .. } = self;
        if let Some(fading) = fading {
            fading.forget_ranks();
            return;
        }
        leaving.clear();
        let at_zero = |id: &WordId| entries[id.index()].counter == 0 && !rules.is_pinned(*id);
        leaving.extend((0..entries.len() as u32).map(WordId).filter(at_zero));
        leaving.sort_unstable_by_key(|id| {
            let Entry { count, latest, .. } = entries[id.index()];
            Reverse((count, latest))
        });
    }

    #[inline]
    fn find(&self, hash: u64, word: &str) -> Option<WordId> {
        let is_word = |link: &Link| link.hash == half(hash) && self.is_word(link.id, word.as_bytes());
        self.index.find(hash, is_word).map(|link| link.id)
    }

    #[inline]
    fn is_word(&self, id: WordId, word: &[u8]) -> bool {
        self.arena.bytes(self.spans[id.index()]) == word
    }

    /// The word's id.
    pub fn id(&self, word: &str) -> Option<WordId> {
        self.find(self.hasher.hash(word.as_bytes()), word)
    }

    /// The id's word.
    pub fn word(&self, id: WordId) -> &str {
        self.arena.get(self.spans[id.index()])
    }

    /// Occurrences since the word was admitted.
    #[inline]
    pub fn count(&self, id: WordId) -> u64 {
        self.entries[id.index()].count
    }

    /// f(w), which decides on noise and subsampling: the [count](Vocabulary::count), or with a half-life the weight of
    /// these occurrences. Only its ratio to the [others](Vocabulary::total_frequency) means something.
    #[inline]
    pub fn frequency(&self, id: WordId) -> u64 {
        match &self.fading {
            Some(fading) => fading.frequencies[id.index()],
            None => self.count(id),
        }
    }

    /// The frequency of all tokens.
    pub fn total_frequency(&self) -> u64 {
        let tokens = self.tokens();
        self.fading.as_ref().map_or(tokens, |fading| fading.total(tokens))
    }

    /// The word's frequency in tokens of now: the count, or with a half-life less, because older occurrences count less.
    pub fn recent_count(&self, id: WordId) -> u64 {
        match &self.fading {
            Some(fading) => fading.recent(fading.frequencies[id.index()]),
            None => self.count(id),
        }
    }

    /// Misra–Gries' counter: true frequency − n/(m + 1) ≤ counter ≤ true frequency, where n is the frequency of all tokens.
    pub fn counter(&self, id: WordId) -> u64 {
        let counter = self.entries[id.index()].counter;
        if self.rules.is_pinned(id) { counter } else { counter - self.cancelled() }
    }

    /// Whether the id has belonged to one word since the token with the given number.
    #[inline]
    pub fn is_same_word_since(&self, id: WordId, token: u64) -> bool {
        self.entries[id.index()].birth <= token
    }

    /// The number of the token that brought the word into the vocabulary, from 0.
    pub fn first_token(&self, id: WordId) -> u64 {
        self.entries[id.index()].birth
    }

    /// The number of its last token, from 0.
    pub fn last_token(&self, id: WordId) -> u64 {
        self.entries[id.index()].latest
    }

    /// The words that are known now, in the order of their ids.
    pub fn ids(&self) -> impl Iterator<Item = WordId> + Clone {
        (0..self.entries.len() as u32).map(WordId)
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no word is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Maximum number of words.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Tokens seen, n.
    pub fn tokens(&self) -> u64 {
        self.totals.tokens
    }

    /// The counts of all words, in the order of their ids.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(|entry| entry.count)
    }

    /// The frequencies of all words, in the order of their ids.
    pub(crate) fn frequencies(&self) -> impl Iterator<Item = u64> {
        self.ids().map(|id| self.frequency(id))
    }

    /// The clock at the start of the batch, with a half-life.
    pub(crate) fn clock(&self) -> Option<u64> {
        self.fading.as_ref().map(Fading::clock)
    }

    /// The totals that are saved and reported.
    pub fn totals(&self) -> VocabularyTotals {
        let weight = self.fading.as_ref().map(|fading| fading.total(self.tokens()));
        let document = self.documents.as_ref().map(Documents::current);
        VocabularyTotals { weight, clock: self.clock(), document, ..self.totals }
    }

    pub(crate) fn saved(&self, id: WordId) -> SavedWord<'_> {
        let Entry { count, birth, latest, .. } = self.entries[id.index()];
        let (counter, frequency) = (self.counter(id), self.frequency(id));
        SavedWord { id, word: self.word(id), counter, frequency, count, birth, latest }
    }

    /// A vocabulary that was saved at the end of a batch, or what is wrong with it.
    pub(crate) fn restore(
        capacity: usize,
        half_life: Option<HalfLife>,
        totals: VocabularyTotals,
        words: &[SavedWord<'_>],
    ) -> Result<Vocabulary, String> {
        let n_words = words.len();
        if n_words > capacity {
            return Err(format!("{n_words} words where {capacity} are possible"));
        }
        if [totals.weight, totals.clock].iter().any(|total| total.is_some() != half_life.is_some()) {
            return Err("a half-life, the weight of all tokens and the clock belong together".to_owned());
        }
        let clock = totals.clock.unwrap_or(0);
        let most = totals.weight.unwrap_or(totals.tokens);
        let mut vocabulary = Vocabulary::new(capacity);
        vocabulary.fading = half_life.map(|half_life| Fading::new(half_life, clock, totals.tokens, most));
        if let Some(fading) = &mut vocabulary.fading {
            fading.frequencies.resize(n_words, 0);
        }
        vocabulary.spans.resize(n_words, vocabulary.arena.add(""));
        const EMPTY: u64 = u64::MAX;
        vocabulary.entries.resize(n_words, Entry { counter: 0, count: 0, birth: EMPTY, latest: 0 });
        for &SavedWord { id, word, counter, frequency, count, birth, latest } in words {
            let Some(entry) = vocabulary.entries.get(id.index()) else {
                return Err(format!("`{word}` has slot {} of {n_words}", id.0));
            };
            // A pinned word may not have occurred yet: `restore_controls` checks that it is pinned.
            let occurred = count > 0;
            let in_order = counter <= frequency
                && frequency <= most
                && (frequency > 0) == occurred
                && count <= totals.tokens
                && birth <= latest
                && latest < totals.tokens + u64::from(!occurred);
            if !in_order || totals.tokens.max(most) >= 1 << 60 {
                return Err(format!("the numbers of `{word}` contradict each other"));
            }
            if entry.birth != EMPTY || word.len() >= 1 << 16 {
                return Err(format!("slot {} is given twice, or to nothing", id.0));
            }
            let hash = vocabulary.hasher.hash(word.as_bytes());
            if vocabulary.find(hash, word).is_some() {
                return Err(format!("`{word}` is there twice"));
            }
            let span = vocabulary.arena.add(word);
            vocabulary.insert(id, hash, span, Entry { counter, count, birth, latest }, frequency);
        }
        vocabulary.list_leaving();
        vocabulary.totals = VocabularyTotals { weight: None, clock: None, document: None, ..totals };
        Ok(vocabulary)
    }
}

/// Sets the value of a slot, which may be the next one.
fn set<T>(values: &mut Vec<T>, id: WordId, value: T) {
    match values.get_mut(id.index()) {
        Some(slot) => *slot = value,
        None => values.push(value),
    }
}

#[cfg(test)]
mod tests;
