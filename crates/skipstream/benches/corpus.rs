//! Reading and splitting text: nanoseconds a word, from bytes in memory to tokens that were looked at.

use std::hint::black_box;
use std::io::BufReader;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skipstream::corpus::{Lines, Sentence, Source, TextOptions};

const WORDS: u64 = 100_000;

/// Words whose frequencies fall like one over the rank, about 20 a line.
struct ZipfText {
    state: u64,
}

impl ZipfText {
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.state >> 33
    }

    /// Frequent words are short: the rank in base 26, in the letters of one alphabet.
    fn generate(letters: &[char; 26], line_ends: bool) -> String {
        let mut source = Self { state: 1 };
        let mut text = String::new();
        for _ in 0..WORDS {
            let uniform = source.random() as f64 / (1u64 << 31) as f64;
            let mut rank = 200_000f64.powf(uniform) as usize;
            for _ in 0..1 + source.random() % 3 {
                text.push(letters[source.random() as usize % 26]);
            }
            while rank > 0 {
                text.push(letters[rank % 26]);
                rank /= 26;
            }
            let end_of_line = line_ends && source.random().is_multiple_of(20);
            text.push(if end_of_line { '\n' } else { ' ' });
        }
        text
    }
}

fn read_all(text: &str) -> u64 {
    let reader = BufReader::with_capacity(64 << 10, text.as_bytes());
    let mut lines = Lines::new(reader, "bench", &TextOptions::default()).expect("the defaults are valid");
    let mut sentence = Sentence::default();
    while lines.read(&mut sentence).expect("memory can be read") {
        for token in sentence.tokens() {
            black_box(token);
        }
    }
    lines.report().tokens
}

fn reading(criterion: &mut Criterion) {
    let latin: [char; 26] = std::array::from_fn(|index| char::from(b'a' + index as u8));
    let cyrillic = latin.map(|letter| char::from_u32(letter as u32 - 97 + 0x430).expect("a letter"));
    let kana = latin.map(|letter| char::from_u32(letter as u32 - 97 + 0x3042).expect("a letter"));

    let mut group = criterion.benchmark_group("corpus");
    group.throughput(Throughput::Elements(WORDS)).sample_size(20);
    for (name, letters, line_ends) in [
        ("ascii", latin, true),
        ("ascii, one line", latin, false),
        ("cyrillic", cyrillic, true),
        ("kana", kana, true),
    ] {
        let text = ZipfText::generate(&letters, line_ends);
        assert_eq!(read_all(&text), WORDS);
        group.bench_function(name, |bencher| bencher.iter(|| read_all(&text)));
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
