//! Reads text on several threads, with the result of one.
//!
//! ```text
//! cut        this thread cuts whole lines off the text                          Source::cut
//! split      any thread splits them into sentences and hashes their tokens      Passage::split
//! look up    any thread finds their words in the vocabulary, which is at rest   Vocabulary::look_up
//! count      this thread counts them in the order of the text                   the caller
//! ```
//!
//! Text goes through these steps in rounds of several passages. While this thread counts the words of one round, the others
//! split the text of the next. Then all look up its words.
//!
//! Counting changes the vocabulary. So it looks again for a token that had no word, and for one whose word has left since
//! (`Vocabulary::observe_found`), and the result does not depend on when a token was looked up.

use std::sync::{Mutex, PoisonError};

use crate::corpus::{Passage, Source};
use crate::hash::WordHasher;
use crate::vocabulary::{Vocabulary, WordId};

/// The maximum length of a passage: a tenth of a millisecond of work.
const MAX_PASSAGE_BYTES: usize = 32 << 10;

/// The minimum length. A longer line is read by one thread.
const MIN_PASSAGE_BYTES: usize = 256;

/// The number of passages in a round, which is also the maximum number of threads that read: there is no more to gain.
const PASSAGES: usize = 24;

/// Bytes of a word and its space in most languages, until the text tells.
const BYTES_PER_WORD: usize = 6;

/// A passage whose words were looked up.
#[derive(Debug)]
pub(super) struct LookedUp {
    pub passage: Passage,
    hashes: Vec<u64>,
    /// Its words, [`WordId::NONE`] where there was none.
    pub found: Vec<WordId>,
    /// The number of the first token that was looked up.
    pub first: usize,
    /// The number of tokens that had been counted when they were looked up.
    pub since: u64,
}

impl LookedUp {
    fn new(passage: Passage) -> LookedUp {
        LookedUp { passage, hashes: Vec::new(), found: Vec::new(), first: 0, since: 0 }
    }

    fn split(&mut self, hasher: &WordHasher) {
        self.passage.split();
        self.first = self.passage.n_taken();
        self.hashes.reserve_exact(self.passage.n_left());
        self.hashes.extend(self.passage.words().map(|word| hasher.hash(word)));
    }

    fn look_up(&mut self, vocabulary: &Vocabulary) {
        self.found.reserve_exact(self.hashes.len());
        vocabulary.look_up(self.passage.words(), &self.hashes, &mut self.found);
        self.since = vocabulary.tokens();
    }
}

/// The maximum memory for reading batches of this many words.
pub(super) fn max_bytes(words: usize) -> usize {
    // There are two rounds at a time. Lists that grow are of one passage per thread.
    (2 * PASSAGES + PASSAGES) * passage_bytes(words) * Passage::MAX_BYTES_PER_BYTE
}

/// The length of a passage: short enough that a batch has several rounds.
fn passage_bytes(words: usize) -> usize {
    (words * BYTES_PER_WORD / (4 * PASSAGES)).clamp(MIN_PASSAGE_BYTES, MAX_PASSAGE_BYTES)
}

/// Reads passages on several threads, and calls `count` with one after the other as long as words are `wanted`; `count`
/// returns how many still are. Returns false if the source has no passages, so that only `Source::read` gives its next
/// sentence.
pub(super) fn read(
    source: &mut dyn Source,
    vocabulary: &mut Vocabulary,
    mut wanted: usize,
    threads: usize,
    mut count: impl FnMut(&mut Vocabulary, &mut LookedUp) -> usize,
) -> bool {
    let max_bytes = passage_bytes(wanted);
    let hasher = vocabulary.hasher();
    let (mut bytes, mut words) = (BYTES_PER_WORD, 1);
    let (mut round, mut next) = (Vec::<LookedUp>::new(), Vec::<LookedUp>::new());
    let mut bytes_cut = 0;
    let mut left = Vec::new();
    let mut has_passages = false;
    loop {
        // As much as will be needed, so that little is left over at the end of a batch.
        while next.len() < PASSAGES && bytes_cut < wanted.saturating_mul(bytes) / words {
            let Some(passage) = source.cut(max_bytes) else { break };
            bytes_cut += passage.n_bytes();
            next.push(LookedUp::new(passage));
        }
        has_passages |= !next.is_empty();
        share(
            &mut next,
            threads,
            |passage| passage.split(&hasher),
            || {
                for mut passage in round.drain(..) {
                    if wanted > 0 {
                        bytes += passage.passage.n_bytes();
                        words += passage.found.len();
                        bytes_cut -= passage.passage.n_bytes();
                        wanted = count(vocabulary, &mut passage);
                    }
                    if wanted > 0 {
                        source.put_back(passage.passage);
                    } else {
                        left.push(passage.passage);
                    }
                }
            },
        );
        if wanted == 0 || next.is_empty() {
            break;
        }
        share(&mut next, threads, |passage| passage.look_up(vocabulary), || ());
        std::mem::swap(&mut round, &mut next);
    }
    left.extend(next.into_iter().map(|passage| passage.passage));
    left.into_iter().rev().for_each(|passage| source.put_back(passage));
    has_passages
}

/// Calls `work` with all items, on several threads. This one calls `meanwhile` first.
fn share<T: Send>(items: &mut [T], threads: usize, work: impl Fn(&mut T) + Sync, meanwhile: impl FnOnce()) {
    let helpers = threads.saturating_sub(1).min(items.len());
    let items = Mutex::new(items.iter_mut());
    let run = || {
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(item) = next() {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // If the system has no more threads, fewer do the same work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        meanwhile();
        run();
    });
}
