//! Looking words up and counting them.

mod zipf;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use skipstream::vocabulary::Vocabulary;

const WORDS: usize = 1_000_000;
const DISTINCT: usize = 200_000;

fn vocabulary(criterion: &mut Criterion) {
    let text = zipf::text(WORDS, DISTINCT);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut group = criterion.benchmark_group("vocabulary");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(20);
    for (name, capacity, evicts) in
        [("observe, room for all", DISTINCT, false), ("observe, with eviction", DISTINCT / 20, true)]
    {
        let observe_all = |vocabulary: &mut Vocabulary| {
            for word in &words {
                let _ = black_box(vocabulary.observe(word));
            }
            vocabulary.totals().evictions
        };
        let empty = || Vocabulary::new(capacity);
        assert_eq!(observe_all(&mut empty()) > 0, evicts);
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(empty, observe_all, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, vocabulary);
criterion_main!(benches);
