//! The two noise samplers: the table that follows the stream word by word, and the one that is built from counts.

mod zipf;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skipstream::unstable::Random;
use skipstream::unstable::{AdaptiveTable, AliasTable, weight};
use skipstream::vocabulary::{Vocabulary, WordId};

const WORDS: usize = 1_000_000;
const DISTINCT: usize = 100_000;
const SLOTS: usize = 1_000_000;
const EXPONENT: f64 = 0.75;

fn noise(criterion: &mut Criterion) {
    let text = zipf::text(WORDS, DISTINCT);
    let mut vocabulary = Vocabulary::new(DISTINCT);
    for word in text.split_whitespace() {
        let _ = vocabulary.observe(word);
    }
    let ids: Vec<WordId> = text.split_whitespace().filter_map(|word| vocabulary.id(word)).collect();
    assert_eq!(ids.len(), WORDS);
    adaptive_table(criterion, &ids);
    alias_table(criterion, &vocabulary);
}

fn adaptive_table(criterion: &mut Criterion, ids: &[WordId]) {
    let mut group = criterion.benchmark_group("noise, adaptive");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(20);
    let mut random = Random::new(1);
    let mut table = AdaptiveTable::new(SLOTS, EXPONENT);
    // In an endless stream the table is full.
    while table.len() < SLOTS {
        ids.iter().for_each(|&id| table.add(id, &mut random));
    }
    group.bench_function("add", |bencher| {
        bencher.iter(|| ids.iter().for_each(|&id| table.add(id, &mut random)));
    });
    group.bench_function("draw", |bencher| {
        bencher.iter(|| {
            for _ in 0..WORDS {
                black_box(table.draw(&mut random));
            }
        });
    });
    group.finish();
}

fn alias_table(criterion: &mut Criterion, vocabulary: &Vocabulary) {
    let mut group = criterion.benchmark_group("noise, alias");
    group.sample_size(20);
    let mut random = Random::new(1);
    let mut table = AliasTable::default();
    let weights = || vocabulary.ids().map(|id| weight(vocabulary.count(id), EXPONENT));
    group.throughput(Throughput::Elements(vocabulary.len() as u64));
    group.bench_function("rebuild", |bencher| {
        bencher.iter(|| table.rebuild(weights()));
    });
    group.throughput(Throughput::Elements(WORDS as u64));
    group.bench_function("draw", |bencher| {
        bencher.iter(|| {
            for _ in 0..WORDS {
                black_box(table.draw(&mut random));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, noise);
criterion_main!(benches);
