//! Exact neighbors: a word is compared with all others. And the fit of n-grams to all words.

use std::collections::BTreeSet;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skipstream::Embeddings;
use skipstream::embeddings::{SubwordOptions, Subwords};
use skipstream::unstable::Random;

const WORDS: usize = 100_000;
const DIMENSIONS: usize = 100;

/// Random vectors for these words.
fn random_vectors(words: impl Iterator<Item = String>, random: &mut Random) -> Embeddings {
    let values = (0..WORDS * DIMENSIONS).map(|_| random.uniform() as f32 - 0.5).collect();
    let counted = words.zip(1..).map(|(word, rank)| (word, 1_000_000 / rank));
    Embeddings::new(DIMENSIONS, counted, values).expect("the words are distinct")
}

fn neighbors(criterion: &mut Criterion) {
    let embeddings = random_vectors((0..WORDS).map(|number| number.to_string()), &mut Random::new(1));
    let mut group = criterion.benchmark_group("embeddings");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(20);
    group.bench_function("10 neighbors", |bencher| bencher.iter(|| embeddings.neighbors("7", 10)));
    group.finish();
}

/// What a publication of the service costs in the background: 100,000 words, and as many rows for their n-grams.
fn subwords(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let mut words: BTreeSet<String> = BTreeSet::new();
    while words.len() < WORDS {
        // Eight letters on average, as in the vocabulary of an English text.
        let letters = 4 + random.below(9);
        words.insert((0..letters).map(|_| (b'a' + random.below(26) as u8) as char).collect());
    }
    let embeddings = random_vectors(words.into_iter(), &mut random);
    let options = SubwordOptions { buckets: 100_000, ..SubwordOptions::default() };

    let mut group = criterion.benchmark_group("embeddings");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(10);
    group.bench_function("fit n-grams", |bencher| {
        bencher.iter(|| Subwords::fit(&embeddings, &options, None).expect("the options are valid"));
    });
    group.finish();
}

criterion_group!(benches, neighbors, subwords);
criterion_main!(benches);
