//! The text of the benches: words whose frequencies fall like one over the rank, frequent ones shorter.

/// A text of `n_words` words, at most `n_distinct` of them distinct, with about 20 words per line.
pub fn text(n_words: usize, n_distinct: usize) -> String {
    let mut random = Random(1);
    let mut text = String::new();
    for _ in 0..n_words {
        let uniform = random.below(1 << 31) as f64 / (1u64 << 31) as f64;
        spell((n_distinct as f64).powf(uniform) as usize, &mut text);
        text.push(if random.below(20) == 0 { '\n' } else { ' ' });
    }
    text
}

/// The word of a rank, which no other rank has: a letter of the rank, of a fourth of it, and so on. This makes words
/// of about five letters, as in English.
fn spell(mut rank: usize, text: &mut String) {
    while rank > 0 {
        text.push(char::from(b'a' + (rank % 26) as u8));
        rank /= 4;
    }
}

/// Knuth's linear congruential generator, of which only the high bits are used.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 32) * limit) >> 32
    }
}
