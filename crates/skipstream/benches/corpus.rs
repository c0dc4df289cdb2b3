//! Reading text: from bytes in memory to tokens.

mod zipf;

use std::hint::black_box;
use std::io::BufReader;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skipstream::corpus::{Lines, Sentence, Source, TextOptions};

const WORDS: usize = 100_000;
const DISTINCT: usize = 200_000;

fn read_all(text: &str) -> u64 {
    let reader = BufReader::with_capacity(64 << 10, text.as_bytes());
    let mut lines = Lines::new(reader, "bench", &TextOptions::default()).expect("the defaults are valid");
    let mut sentence = Sentence::default();
    while lines.read(&mut sentence).expect("memory can be read").is_sentence() {
        for token in sentence.tokens() {
            black_box(token);
        }
    }
    lines.report().tokens
}

/// The same text in an alphabet whose first letter is given.
fn transliterate(text: &str, first: char) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' => char::from_u32(first as u32 + letter as u32 - 'a' as u32).expect("a letter"),
        space => space,
    };
    text.chars().map(letter).collect()
}

fn corpus(criterion: &mut Criterion) {
    let ascii = zipf::text(WORDS, DISTINCT);
    let texts = [
        ("one line", ascii.replace('\n', " ")),
        ("cyrillic", transliterate(&ascii, 'а')),
        ("kana", transliterate(&ascii, 'あ')),
        ("ascii", ascii),
    ];
    let mut group = criterion.benchmark_group("corpus");
    group.throughput(Throughput::Elements(WORDS as u64)).sample_size(20);
    for (name, text) in texts {
        assert_eq!(read_all(&text), WORDS as u64);
        group.bench_function(name, |bencher| bencher.iter(|| read_all(&text)));
    }
    group.finish();
}

criterion_group!(benches, corpus);
criterion_main!(benches);
