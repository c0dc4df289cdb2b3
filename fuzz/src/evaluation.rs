//! Test sets: word pairs and analogies.

use std::sync::LazyLock;

use skipstream::Embeddings;
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};

pub fn run(bytes: &[u8]) {
    let Ok(set) = TestSet::read(bytes, "set".as_ref()) else { return };
    let options = EvalOptions { threads: Some(1), ..EvalOptions::default() };
    let evaluator = Evaluator::new(&EMBEDDINGS, options).expect("the options are valid");
    let score = evaluator.score(&set, &|_| ());
    assert!(score.used() <= set.len());
    if let Score::WordPairs(score) = &score {
        let is_correlation = |value: f64| (-1.0..=1.0).contains(&value);
        assert!(score.spearman.is_none_or(is_correlation), "{score:?}");
        assert!(score.pearson.is_none_or(is_correlation), "{score:?}");
    }
    evaluator.compare(&evaluator, &set, &|_| ());
}

/// A few words, some of them hard to write.
pub static EMBEDDINGS: LazyLock<Embeddings> = LazyLock::new(|| {
    let words = ["a", "b", "c", "d", "tea", "Tea", "-", "+x", "käse", "\u{130}", "0"];
    let counted = words.iter().zip((1..).map(|place: u64| 100 / place));
    let vectors = (0..words.len() * 3).map(|place| ((place * 7 % 11) as f32 - 5.0) / 4.0).collect();
    Embeddings::new(3, counted, vectors).expect("the words are distinct and the values finite")
});
