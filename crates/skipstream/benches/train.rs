//! Training as a whole, from text in memory to rows, with the default settings.

mod zipf;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use skipstream::corpus::Lines;
use skipstream::{Config, MiniBatchOptions, Trainer};

const DISTINCT: usize = 200_000;

fn mini_batch(criterion: &mut Criterion) {
    // Two batches: while one is trained, the other is read.
    let n_words = 2 * MiniBatchOptions::default().batch_words;
    let text = zipf::text(n_words, DISTINCT);
    let mut group = criterion.benchmark_group("train, mini-batch");
    group.throughput(Throughput::Elements(n_words as u64)).sample_size(10);
    for threads in [1, 2] {
        let config = Config { threads: Some(threads), ..Config::default() };
        let untrained = || Trainer::new(config.clone()).expect("the settings are valid");
        group.bench_function(BenchmarkId::new("threads", threads), |bencher| {
            bencher.iter_batched_ref(untrained, |trainer| train(trainer, &text), BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn train(trainer: &mut Trainer, text: &str) {
    let mut lines =
        Lines::new(text.as_bytes(), "bench", trainer.settings().text()).expect("the settings were checked");
    trainer.train_source(&mut lines).expect("memory can be read");
}

criterion_group!(benches, mini_batch);
criterion_main!(benches);
