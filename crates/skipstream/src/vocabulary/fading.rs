//! Words whose old tokens count less.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, TryReserveError};

use super::{Entry, Vocabulary, WordId};
use crate::half_life::HalfLife;

/// The weight of all tokens at which it is halved whatever the clock shows: a model file has numbers below 2⁶⁰. The longest
/// half-life in words stays below half of it.
const FULL: u64 = 1 << 59;

/// What a vocabulary with a half-life has in addition.
///
/// Frequencies and counters are sums of weights, so they have the same unit. Only ratios mean something, and
/// [`Fading::recent`] counts in tokens of now.
///
/// Counters differ by fractions of a token, so a cancellation rarely brings more than one of them to 0. That is too few for
/// a walk over all of them: what is cancelled is one number, and a heap finds the smallest counter.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    half_life: HalfLife,
    /// The clock at the start of the batch.
    clock: u64,
    /// The first token of the batch.
    start: u64,
    /// The weight of a token of the batch.
    pub weight: u64,
    /// The weight of all tokens before the batch.
    total: u64,
    /// The weight of each slot's word since it was admitted.
    pub frequencies: Vec<u64>,
    /// What was cancelled of the counters of words that are not pinned. Their entries do not have it subtracted.
    pub cancelled: u64,
    /// The words that are not pinned, the next to leave first; empty until a word has to leave. A rank is too low if the
    /// word was seen since.
    ranks: BinaryHeap<Reverse<Rank>>,
}

/// The order in which words leave. Every field rises when the word is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    counter: u64,
    frequency: u64,
    latest: u64,
    id: WordId,
}

impl Fading {
    pub const BYTES_PER_WORD: usize = size_of::<u64>() + size_of::<Rank>();

    /// The state at the end of a batch that began at a clock, after this many tokens in all.
    pub fn new(half_life: HalfLife, clock: u64, tokens: u64, total: u64) -> Fading {
        Fading {
            half_life,
            clock,
            start: tokens,
            weight: half_life.weight(clock),
            total,
            frequencies: Vec::new(),
            cancelled: 0,
            ranks: BinaryHeap::new(),
        }
    }

    /// Allocates the memory for this many words.
    pub fn try_reserve(&mut self, words: usize) -> Result<(), TryReserveError> {
        self.frequencies.try_reserve_exact(words - self.frequencies.len())?;
        self.ranks.try_reserve_exact(words - self.ranks.len())
    }

    /// The weight of all tokens.
    pub fn total(&self, tokens: u64) -> u64 {
        self.total + self.weight * (tokens - self.start)
    }

    /// The clock at the start of the batch.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// A sum of weights as a number of tokens of the batch.
    pub fn recent(&self, sum: u64) -> u64 {
        (sum + self.weight / 2) / self.weight
    }

    /// Other words may leave, or in another order.
    pub fn forget_ranks(&mut self) {
        self.ranks.clear();
    }
}

impl Vocabulary {
    /// Begins a batch with text of this time: from now on, a token weighs more than one of the batch before. Returns what is
    /// left of a weight since then. Without a half-life, this does nothing.
    pub(crate) fn begin_batch(&mut self, time: Option<i64>) -> Option<f64> {
        let tokens = self.tokens();
        let fading = self.fading.as_mut()?;
        let (half_life, before) = (fading.half_life, fading.clock);
        // Text that is older than the text before it makes nothing younger.
        let clock = half_life.clock(tokens, time).max(before);
        let total = fading.total(tokens);
        // The time of the text may stand still for hundreds of billions of tokens.
        let is_full = u64::from(total >= FULL);
        let halvings = (half_life.halvings(clock) - half_life.halvings(before)).max(is_full);
        (fading.clock, fading.start, fading.weight) = (clock, tokens, half_life.weight(clock));
        fading.total = halved(total, halvings).max(total.min(1));
        if halvings > 0 {
            // A word that has occurred keeps a little, so that it can be a noise word.
            fading.frequencies.iter_mut().for_each(|sum| *sum = halved(*sum, halvings).max((*sum).min(1)));
            self.settle();
            self.entries.iter_mut().for_each(|entry| entry.counter = halved(entry.counter, halvings));
        }
        Some(half_life.left_after(clock - before))
    }

    /// What was cancelled of the counters of words that are not pinned, without being subtracted.
    pub(super) fn cancelled(&self) -> u64 {
        self.fading.as_ref().map_or(0, |fading| fading.cancelled)
    }

    /// Subtracts what was cancelled.
    pub(super) fn settle(&mut self) {
        let Vocabulary { entries, rules, fading: Some(fading), .. } = self else { return };
        fading.forget_ranks();
        let cancelled = std::mem::take(&mut fading.cancelled);
        for (id, entry) in (0u32..).map(WordId).zip(entries) {
            if !rules.is_pinned(id) {
                entry.counter -= cancelled;
            }
        }
    }

    /// The word with the lowest rank.
    pub(super) fn lowest_rank(&mut self) -> WordId {
        let Vocabulary { entries, rules, fading: Some(fading), .. } = self else {
            unreachable!("words have ranks only with a half-life")
        };
        let Fading { frequencies, ranks, .. } = fading;
        let rank = |id: WordId| {
            let Entry { counter, latest, .. } = entries[id.index()];
            Rank { counter, frequency: frequencies[id.index()], latest, id }
        };
        if ranks.is_empty() {
            let mut all = std::mem::take(ranks).into_vec();
            let others = (0..entries.len() as u32).map(WordId).filter(|&id| !rules.is_pinned(id));
            all.extend(others.map(|id| Reverse(rank(id))));
            *ranks = all.into();
        }
        loop {
            let mut first = ranks.peek_mut().expect("at most half of the words are pinned");
            let now = rank(first.0.id);
            if first.0 == now {
                return now.id;
            }
            // The word was seen since, or has the slot of one that left. It moves to its place.
            first.0 = now;
        }
    }
}

/// A sum of weights after this many halvings, rounded down.
fn halved(sum: u64, halvings: u64) -> u64 {
    sum.checked_shr(halvings.min(u64::BITS.into()) as u32).unwrap_or(0)
}
