//! Law 3: memory is bounded by the settings, not by the stream.
//!
//! Every byte of the heap is counted. (The rows are mapped, not on the heap; their size follows from the settings.)

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use skipstream::corpus::{Read, Sentence, Source, TextOptions};
use skipstream::train::MemoryBound;
use skipstream::{
    Config, Embeddings, IncrementalOptions, MiniBatchOptions, PhraseOptions, PhraseScore, Result, Strategy,
    Trainer, Vectors,
};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: everything is handed to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An endless stream in which new, long words keep coming.
struct Endless {
    number: u64,
    left: u64,
}

impl Source for Endless {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        sentence.clear();
        for _ in 0..20.min(self.left) {
            self.left -= 1;
            self.number += 1;
            let word = if self.number.is_multiple_of(3) { self.number } else { self.number % 500 };
            sentence.push(&format!("{word:0>100}"));
        }
        Ok(if sentence.is_empty() { Read::End } else { Read::Sentence })
    }
}

#[test]
fn the_heap_stays_below_the_bound_and_does_not_grow_with_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let mini_batch =
        MiniBatchOptions { batch_words: 10_000, replay_words: 30_000, ..MiniBatchOptions::default() };
    let warmed_up = IncrementalOptions { warm_up_words: 20_000, ..IncrementalOptions::default() };
    let phrases = PhraseOptions {
        score: PhraseScore::Npmi,
        threshold: Some(0.1),
        min_count: Some(2),
        pairs: Some(5_000),
        ..PhraseOptions::default()
    };
    let none = PhraseOptions::default();
    for (strategy, phrases, memory) in [
        (Strategy::MiniBatch(mini_batch), none, 28_000_000),
        (Strategy::MiniBatch(mini_batch), phrases, 32_000_000),
        (Strategy::incremental(), none, 28_000_000),
        (Strategy::Incremental(warmed_up), none, 28_000_000),
    ] {
        let config = Config {
            dimensions: 16,
            subsample: 0.0,
            threads: Some(8),
            strategy,
            phrases,
            // Room for a phrase of two words.
            text: TextOptions { max_token_bytes: 201, ..TextOptions::default() },
            ..Config::default()
        };
        let config = config.within_memory(memory).unwrap();
        let bound = MemoryBound::new(&config.clone().check().unwrap());
        assert!(bound.total() <= memory);
        let allowed = bound.total() - bound.parameters - bound.program;
        let before = NOW.load(Ordering::Relaxed);
        let mut trainer = Trainer::new(config).unwrap();
        let mut source = Endless { number: 0, left: 0 };
        let mut peak_after = |tokens: u64| {
            source.left = tokens;
            PEAK.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
            trainer.train_source(&mut source).unwrap();
            trainer.save(folder.path().join("model")).unwrap();
            PEAK.load(Ordering::Relaxed) - before
        };
        // The warm-up is in the first.
        let first = peak_after(50_000);
        let early = peak_after(100_000);
        let late = peak_after(200_000);
        // The arena of words grows and is compacted in turns, so peaks differ; a leak of evicted words would be several
        // times as large as everything here.
        assert!(late <= early + early / 4, "{strategy:?}: {early} bytes, later {late}");
        for peak in [first, late] {
            assert!((peak as u64) < allowed, "{strategy:?}: {peak} bytes where {allowed} are allowed");
        }
        assert!(trainer.progress().evictions > 5_000);
        assert_eq!(trainer.phrases().is_empty(), phrases == none);

        // Threads that read have buffers, the largest for lines of one letter.
        PEAK.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
        let lines = "a\n".repeat(100_000);
        let before = before + lines.len();
        trainer.train_lines(lines.as_bytes()).unwrap();
        let peak = PEAK.load(Ordering::Relaxed) - before;
        assert!((peak as u64) < allowed, "{strategy:?}: {peak} bytes where {allowed} are allowed");
        drop(lines);

        // The copy for queries has a limit of its own.
        let (dimensions, text) = (trainer.settings().dimensions(), trainer.settings().text());
        let words = 700.min(trainer.vocabulary().len());
        let allowed = Embeddings::max_bytes(words, dimensions, text.max_token_bytes);
        let before = NOW.load(Ordering::Relaxed) + 4 * trainer.vocabulary().len();
        PEAK.store(before, Ordering::Relaxed);
        let embeddings = trainer.top_embeddings(Vectors::Sum, words).unwrap();
        let peak = PEAK.load(Ordering::Relaxed) - before;
        assert!((peak as u64) < allowed, "{words} words: {peak} bytes where {allowed} are allowed");
        assert_eq!(embeddings.len(), words);
    }
}
