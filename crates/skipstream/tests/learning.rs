//! Does it learn? Planted structure, found by every strategy, with stated margins.

// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

use skipstream::corpus::{Lines, Source};
use skipstream::train::AnyTrainer;
use skipstream::{
    Config, Embeddings, IncrementalOptions, MiniBatchOptions, Result, Strategy, Trainer, Word2vecOptions,
};

/// Sentences of ten words, each from one of the topics; every topic has 20 words of its own, and all share 20.
fn topics(names: &[&str], sentences: usize, seed: u64) -> String {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::new();
    for _ in 0..sentences {
        let topic = names[below(names.len() as u64) as usize];
        for _ in 0..10 {
            match below(3) {
                0 => text.push_str(&format!("common{} ", below(20))),
                _ => text.push_str(&format!("{topic}{} ", below(20))),
            }
        }
        text.push('\n');
    }
    text
}

fn config(strategy: Strategy) -> Config {
    Config { dimensions: 20, subsample: 0.0, strategy, ..Config::default() }
}

fn mini_batch(replays: u32) -> Strategy {
    Strategy::MiniBatch(MiniBatchOptions { batch_words: 5_000, replays, ..MiniBatchOptions::default() })
}

fn learn(trainer: &mut Trainer, text: &str) {
    trainer.train_lines(text.as_bytes()).unwrap();
}

/// The vectors that a strategy learns from the text.
fn learned(config: Config, text: &str) -> Embeddings {
    let options = config.text.clone();
    match AnyTrainer::new(config).unwrap() {
        AnyTrainer::Stream(mut trainer) => {
            learn(&mut trainer, text);
            trainer.embeddings().unwrap()
        }
        AnyTrainer::Passes(mut passes) => {
            let bytes: &'static [u8] = text.to_owned().into_bytes().leak();
            let mut open =
                || -> Result<Box<dyn Source>> { Ok(Box::new(Lines::new(bytes, "text", &options)?)) };
            passes.train(&mut open, &mut ()).unwrap();
            passes.model().embeddings().unwrap()
        }
    }
}

/// The share of a topic's words among the ten nearest of each of its words.
fn purity(embeddings: &Embeddings, topic: &str) -> f64 {
    let own = (0..20).map(|i| {
        let neighbors = embeddings.neighbors(&format!("{topic}{i}"), 10).unwrap();
        neighbors.iter().filter(|neighbor| neighbor.word.starts_with(topic)).count()
    });
    own.sum::<usize>() as f64 / 200.0
}

/// By chance a neighbor is of the topic in 19 of 79 cases, 0.24.
#[test]
fn every_strategy_finds_planted_topics() {
    let names = ["sport", "law", "music"];
    let text = topics(&names, 4_000, 1);
    let word2vec = Strategy::Word2vec(Word2vecOptions { passes: 5 });
    let warmed_up = IncrementalOptions { warm_up_words: 5_000, ..IncrementalOptions::default() };
    let warmed_up = Strategy::Incremental(warmed_up);
    for strategy in [mini_batch(1), Strategy::incremental(), warmed_up, Strategy::batch(), word2vec] {
        let embeddings = learned(config(strategy), &text);
        for name in names {
            let purity = purity(&embeddings, name);
            assert!(purity > 0.9, "{strategy:?}: {purity} of the neighbors in {name} are its own");
        }
    }
}

/// What batch training cannot do: a later topic is learned, and the earlier ones are kept.
#[test]
fn a_new_topic_is_learned_without_losing_the_old_ones() {
    for strategy in [mini_batch(1), Strategy::incremental()] {
        let mut trainer = Trainer::new(config(strategy)).unwrap();
        learn(&mut trainer, &topics(&["sport", "law"], 3_000, 2));
        assert!(trainer.vocabulary().id("virus0").is_none());
        learn(&mut trainer, &topics(&["sport", "virus"], 3_000, 3));
        let embeddings = trainer.embeddings().unwrap();
        for name in ["sport", "law", "virus"] {
            let purity = purity(&embeddings, name);
            assert!(purity > 0.85, "{strategy:?}: {purity} of the neighbors in {name} are its own");
        }
    }
}

/// A row that is reused keeps nothing of its former word.
#[test]
fn a_reused_slot_starts_afresh() {
    for strategy in [mini_batch(0), Strategy::incremental()] {
        // Capacity for all words except those of one topic.
        let mut trainer = Trainer::new(Config { max_vocabulary: 60, ..config(strategy) }).unwrap();
        learn(&mut trainer, &topics(&["old", "sport"], 600, 4));
        learn(&mut trainer, &topics(&["new", "sport"], 6_000, 5));
        let embeddings = trainer.embeddings().unwrap();
        assert!(trainer.progress().evictions >= 20, "{strategy:?}");
        assert!(embeddings.words().all(|word| !word.starts_with("old")), "{strategy:?}");
        let purity = purity(&embeddings, "new");
        assert!(purity > 0.9, "{strategy:?}: {purity}");
    }
}

/// The reported loss starts at that of an untrained model, (1 + k) log 2 per pair, and falls.
#[test]
fn the_loss_starts_at_ignorance_and_falls() {
    let text = topics(&["sport", "law"], 6_000, 6);
    for strategy in [mini_batch(1), Strategy::incremental()] {
        let mut trainer = Trainer::new(config(strategy)).unwrap();
        let mut losses = Vec::new();
        let mut last = trainer.progress().totals;
        for part in text.as_bytes().chunks(text.len() / 20) {
            let part = String::from_utf8_lossy(part).into_owned();
            learn(&mut trainer, &part);
            let totals = trainer.progress().totals;
            losses.push(totals.since(&last).mean_loss());
            last = totals;
        }
        let ignorance = 6.0 * std::f64::consts::LN_2;
        let (first, end) = (losses[0], losses[losses.len() - 2]);
        assert!(first < 1.3 * ignorance && end < 0.75 * ignorance && end < first, "{strategy:?}: {losses:?}");
    }
}
