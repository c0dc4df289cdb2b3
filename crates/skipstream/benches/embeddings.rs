//! Exact neighbors: a word is compared with all others.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skipstream::Embeddings;
use skipstream::unstable::Random;

const WORDS: usize = 100_000;
const DIMENSIONS: usize = 100;

fn neighbors(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let values = (0..WORDS * DIMENSIONS).map(|_| random.uniform() as f32 - 0.5).collect();
    let words = (0..WORDS).map(|number| (number.to_string(), 1));
    let embeddings = Embeddings::new(DIMENSIONS, words, values).expect("the words are distinct");

    let mut group = criterion.benchmark_group("embeddings");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(20);
    group.bench_function("10 neighbors", |bencher| bencher.iter(|| embeddings.neighbors("7", 10)));
    group.finish();
}

criterion_group!(benches, neighbors);
criterion_main!(benches);
