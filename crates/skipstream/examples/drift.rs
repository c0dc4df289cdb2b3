//! Watches words change their meaning between two snapshots.

use skipstream::eval::{Drift, DriftOptions};
use skipstream::{Config, Result, Trainer};

/// Sentences about fruit and about computers; `apple` is in one of the two.
fn text(apple: &str) -> String {
    let topics =
        [("fruit", ["pear", "plum", "juice", "tree"]), ("computer", ["phone", "screen", "chip", "code"])];
    let mut text = String::new();
    for number in 0..4_000 {
        for (topic, words) in &topics {
            let word = |n: usize| words[(number / (n + 1) + n) % words.len()];
            text += &format!("{topic} {} {}", word(0), word(1));
            text += if apple == *topic { " apple\n" } else { "\n" };
        }
    }
    text
}

fn main() -> Result<()> {
    let mut trainer = Trainer::new(Config { dimensions: 16, subsample: 0.0, ..Config::default() })?;
    trainer.train_lines(text("fruit").as_bytes())?;
    let old = trainer.embeddings()?;
    trainer.train_lines(text("computer").as_bytes())?;
    let new = trainer.embeddings()?;

    let drift = Drift::between(&old, &new, &DriftOptions { neighbors: 3, ..DriftOptions::default() })?;
    for moved in drift.moved.iter().take(3) {
        let (before, after) = (moved.neighbors_before.join(", "), moved.neighbors_after.join(", "));
        println!("{}: cosine {:.2}, {before} -> {after}", moved.movement.word, moved.movement.cosine);
    }
    Ok(())
}
