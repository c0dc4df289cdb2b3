//! Instructions of each stage, counted by Callgrind: the counts do not depend on the load of the machine.
//!
//! Run by `cargo xtask bench instructions`, which compares them with `instructions.golden`. Valgrind does not support
//! AVX-512, so the kernels are chosen by name: AVX2 and the portable one.

// The code that the macros write.
#![allow(missing_docs, unused_qualifications)]

mod zipf;

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use skipstream::corpus::{Lines, Sentence, Source, TextOptions};
use skipstream::unstable::AdaptiveTable;
use skipstream::unstable::Kernel;
use skipstream::unstable::Random;
use skipstream::vocabulary::{Vocabulary, WordId};
use skipstream::{Config, Embeddings, MiniBatchOptions, Strategy, Trainer};

const WORDS: usize = 10_000;
const DISTINCT: usize = 2_000;

/// Few, because the portable kernel takes many instructions for a fused multiply-add.
const TRAINED_WORDS: usize = 1_000;

fn text() -> String {
    zipf::text(WORDS, DISTINCT)
}

fn short_text() -> String {
    zipf::text(TRAINED_WORDS, DISTINCT)
}

#[library_benchmark]
#[bench::words(text())]
fn corpus(text: String) -> u64 {
    let mut lines = lines(&text, &TextOptions::default());
    let mut sentence = Sentence::default();
    while lines.read(&mut sentence).expect("memory can be read").is_sentence() {
        for token in sentence.tokens() {
            black_box(token);
        }
    }
    lines.report().tokens
}

#[library_benchmark]
#[bench::room_for_all(text(), Vocabulary::new(DISTINCT))]
#[bench::with_eviction(text(), Vocabulary::new(DISTINCT / 20))]
fn vocabulary(text: String, mut vocabulary: Vocabulary) -> Vocabulary {
    for word in text.split_ascii_whitespace() {
        let _ = vocabulary.observe(word);
    }
    vocabulary
}

fn ids() -> Vec<WordId> {
    let (text, mut vocabulary) = (text(), Vocabulary::new(DISTINCT));
    for word in text.split_ascii_whitespace() {
        let _ = vocabulary.observe(word);
    }
    text.split_ascii_whitespace().filter_map(|word| vocabulary.id(word)).collect()
}

#[library_benchmark]
#[bench::words(ids(), AdaptiveTable::new(1_000, 0.75))]
fn noise(ids: Vec<WordId>, mut table: AdaptiveTable) -> AdaptiveTable {
    let mut random = Random::new(1);
    for id in ids {
        table.add(id, &mut random);
        black_box(table.draw(&mut random));
    }
    table
}

/// Without replays, every word is trained once.
fn mini_batch() -> Strategy {
    Strategy::MiniBatch(MiniBatchOptions { replays: 0, ..MiniBatchOptions::default() })
}

/// A trainer of 100 dimensions on one thread, or `None` if the machine lacks the instructions.
fn trainer(strategy: Strategy, kernel: &str) -> Option<Trainer> {
    let kernel = Kernel::named(kernel).ok()?;
    let config =
        Config { strategy, max_vocabulary: DISTINCT, subsample: 0.0, threads: Some(1), ..Config::default() };
    Some(Trainer::with_kernel(config, kernel).expect("the settings are valid"))
}

#[library_benchmark]
#[bench::mini_batch_avx2(short_text(), trainer(mini_batch(), "avx2"))]
#[bench::mini_batch_portable(short_text(), trainer(mini_batch(), "portable"))]
#[bench::incremental_avx2(short_text(), trainer(Strategy::incremental(), "avx2"))]
#[bench::incremental_portable(short_text(), trainer(Strategy::incremental(), "portable"))]
fn train(text: String, mut trainer: Option<Trainer>) -> Option<Trainer> {
    if let Some(trainer) = &mut trainer {
        let mut lines = lines(&text, trainer.settings().text());
        trainer.train_source(&mut lines).expect("memory can be read");
    }
    trainer
}

fn random_embeddings() -> Embeddings {
    let mut random = Random::new(1);
    let values = (0..WORDS * 100).map(|_| random.uniform() as f32 - 0.5).collect();
    let words = (0..WORDS).map(|number| (number.to_string(), 1));
    Embeddings::new(100, words, values).expect("the words are distinct")
}

#[library_benchmark]
#[bench::words(random_embeddings())]
fn embeddings(embeddings: Embeddings) -> Embeddings {
    black_box(embeddings.neighbors("7", 10).expect("7 is one of the words"));
    embeddings
}

fn lines<'text>(text: &'text str, options: &TextOptions) -> Lines<&'text [u8]> {
    Lines::new(text.as_bytes(), "bench", options).expect("the settings are valid")
}

library_benchmark_group!(name = stages; benchmarks = corpus, vocabulary, noise, train, embeddings);
main!(library_benchmark_groups = stages);
