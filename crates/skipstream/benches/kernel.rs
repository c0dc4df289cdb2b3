//! The update of rows with each instruction set of this machine: pairs per second.
//!
//! The kernels are private, so a trainer runs them, on one thread and with few words, so that all rows are in the caches
//! and little time goes into anything else. `mini-batch` trains groups with shared negatives, `incremental` pair by pair.

mod zipf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use skipstream::corpus::Lines;
use skipstream::unstable::Kernel;
use skipstream::{Config, MiniBatchOptions, Strategy, Trainer};

const DISTINCT: usize = 1_000;

/// Without replays, every word is trained once.
fn mini_batch() -> Strategy {
    Strategy::MiniBatch(MiniBatchOptions { replays: 0, ..MiniBatchOptions::default() })
}

fn kernel(criterion: &mut Criterion) {
    for (name, strategy, n_words) in
        [("mini-batch", mini_batch(), 10_000), ("incremental", Strategy::incremental(), 1_000)]
    {
        let text = zipf::text(n_words, DISTINCT);
        let mut group = criterion.benchmark_group(format!("kernel, {name}"));
        group.sample_size(10);
        for dimensions in [100, 400] {
            for kernel in Kernel::available() {
                let config = Config {
                    dimensions,
                    strategy,
                    max_vocabulary: DISTINCT,
                    subsample: 0.0,
                    threads: Some(1),
                    ..Config::default()
                };
                let mut trainer = Trainer::with_kernel(config, kernel).expect("the settings are valid");
                // The number of pairs varies a little from time to time.
                group.throughput(Throughput::Elements(train(&mut trainer, &text)));
                group.bench_function(BenchmarkId::new(kernel.name(), dimensions), |bencher| {
                    bencher.iter(|| train(&mut trainer, &text));
                });
            }
        }
        group.finish();
    }
}

/// Trains, and returns the number of pairs.
fn train(trainer: &mut Trainer, text: &str) -> u64 {
    let before = trainer.progress().totals;
    let mut lines =
        Lines::new(text.as_bytes(), "bench", trainer.settings().text()).expect("the settings were checked");
    trainer.train_source(&mut lines).expect("memory can be read");
    trainer.progress().totals.since(&before).pairs
}

criterion_group!(benches, kernel);
criterion_main!(benches);
