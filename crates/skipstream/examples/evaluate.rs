//! Scores vectors on a word similarity set.

use std::path::Path;

use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::{Config, Result, Trainer};

/// Usually a file such as WS353 or MEN, opened by `TestSet::open`: two words and their similarity, as rated by people.
const PAIRS: &str = "tea\tcoffee\t8.5\nship\tboat\t9.0\ntea\tship\t0.5\ncoffee\tboat\t1.0\n";

fn main() -> Result<()> {
    let mut trainer = Trainer::new(Config { dimensions: 20, subsample: 0.0, ..Config::default() })?;
    for (first, second, contexts) in [("tea", "coffee", "drink hot cup"), ("ship", "boat", "sail blue sea")] {
        let sentences = format!("{first} {contexts}\n{second} {contexts}\n");
        trainer.train_lines(sentences.repeat(500).as_bytes())?;
    }

    let set = TestSet::read(PAIRS.as_bytes(), Path::new("pairs"))?;
    let embeddings = trainer.embeddings()?;
    let evaluator = Evaluator::new(&embeddings, EvalOptions::default())?;
    if let Score::WordPairs(score) = evaluator.score(&set, &|_| {}) {
        println!("Spearman's correlation {:.2?} on {} of {} pairs", score.spearman, score.used, score.total);
    }
    Ok(())
}
