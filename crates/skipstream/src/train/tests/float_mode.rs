//! Training in a host that flushes denormal numbers to zero.

use crate::corpus::Lines;
use crate::kernel::FloatMode;
use crate::train::testing::{bytes, learn};
use crate::train::{Initial, InitialSource, MultiPass};
use crate::{BatchOptions, Config, Embeddings, MiniBatchOptions, Strategy, Trainer};

const TEXT: &str = "tea with milk and sugar\ncoffee with milk\n";

fn config(strategy: Strategy, threads: usize) -> Config {
    let threads = Some(threads);
    Config { dimensions: 5, max_vocabulary: 12, subsample: 0.0, strategy, threads, ..Config::default() }
}

/// Vectors of denormal numbers.
fn initial() -> Initial {
    let words = [("tea", 4), ("with", 3), ("milk", 2), ("coffee", 1)];
    let vectors = Embeddings::new(5, words, (1..=20).map(|n| f32::from_bits(n << 16)).collect()).unwrap();
    Initial { vectors, source: InitialSource { file: "v.txt".to_owned(), fingerprint: "0".repeat(64) } }
}

#[track_caller]
fn assert_same(train: impl Fn() -> Vec<u8>) {
    let expected = train();
    let _mode = FloatMode::flushing();
    let denormal = std::hint::black_box(1e-40f32);
    assert_eq!(denormal * std::hint::black_box(1.0), 0.0, "the mode of the host");
    assert!(train() == expected);
    assert_eq!(denormal * std::hint::black_box(1.0), 0.0, "the host has its mode back");
}

#[test]
fn the_bytes_of_a_model_are_those_of_any_other_host() {
    let options = MiniBatchOptions { batch_words: 20, blocks: 4, ..Default::default() };
    for (strategy, threads) in
        [(Strategy::MiniBatch(options), 1), (Strategy::MiniBatch(options), 3), (Strategy::incremental(), 1)]
    {
        assert_same(|| {
            let mut trainer = Trainer::starting_from(config(strategy, threads), initial()).unwrap();
            learn(&mut trainer, &TEXT.repeat(3));
            trainer.finish();
            bytes(&trainer)
        });
    }
    assert_same(|| {
        let config = config(Strategy::Batch(BatchOptions::default()), 1);
        let mut passes = MultiPass::starting_from(config.clone(), initial()).unwrap();
        let open = || Ok(Box::new(Lines::new(TEXT.as_bytes(), "text", &config.text)?) as _);
        passes.train(&mut { open }, &mut ()).unwrap();
        bytes(passes.model())
    });
}
