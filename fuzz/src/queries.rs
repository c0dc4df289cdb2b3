//! What people type: expressions, words, numbers with units.

use skipstream::embeddings::{AnalogyRule, Expression};
use skipstream::{Bytes, unstable};

use crate::evaluation::EMBEDDINGS;

pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = unstable::count(text);
    let _ = text.parse::<Bytes>();
    let embeddings = &*EMBEDDINGS;
    assert!(embeddings.suggestions(text, 3).len() <= 3);
    let words: Vec<&str> = text.split_whitespace().collect();
    if let Ok(ranked) = embeddings.odd_one_out(&words) {
        assert!(ranked.iter().all(|neighbor| neighbor.similarity.is_finite()));
    }
    if let Ok(expression) = text.parse::<Expression>() {
        assert_eq!(expression.to_string().parse::<Expression>().ok().as_ref(), Some(&expression));
        for rule in [AnalogyRule::Add, AnalogyRule::Multiply] {
            let Ok(answers) = embeddings.solve(&expression, 3, rule) else { continue };
            assert!(answers.iter().all(|answer| answer.similarity.is_finite()), "{answers:?}");
        }
    }
}
