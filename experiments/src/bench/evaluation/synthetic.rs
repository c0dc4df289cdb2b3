//! Synthetic vectors and questions, as large as the real ones, for anyone without data.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use skipstream::Embeddings;
use skipstream::unstable::Random;

use super::{Material, N_WORDS};

const DIMENSIONS: usize = 100;
const SECTIONS: usize = 14;
/// Each section combines every pair with every other: 14 · 38 · 37 = 19,684 questions; Google has 19,544.
const PAIRS_A_SECTION: usize = 38;
const N_WORD_PAIRS: usize = 1_000;

/// Writes test sets into `dir`. In a section, the second word of a pair is the first plus an offset
/// common to the section plus noise, so that some questions are answered correctly and some are not.
pub fn material(dir: &Path) -> Result<Material> {
    let mut random = Random::new(1);
    let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
    let mut vectors: Vec<f32> = (0..N_WORDS * DIMENSIONS).map(|_| normal() as f32).collect();
    let mut questions = String::new();
    for section in 0..SECTIONS {
        writeln!(questions, ": section-{section}")?;
        let offset: Vec<f32> = (0..DIMENSIONS).map(|_| 0.7 * normal() as f32).collect();
        let pairs: Vec<[usize; 2]> = (0..PAIRS_A_SECTION)
            .map(|pair| 2 * (section * PAIRS_A_SECTION + pair))
            .map(|row| [row, row + 1])
            .collect();
        for &[from, to] in &pairs {
            for (dimension, offset) in offset.iter().enumerate() {
                let moved = vectors[from * DIMENSIONS + dimension] + offset + 0.9 * normal() as f32;
                vectors[to * DIMENSIONS + dimension] = moved;
            }
        }
        for [a, b] in &pairs {
            for [c, d] in pairs.iter().filter(|[c, _]| c != a) {
                writeln!(questions, "W{a} W{b} W{c} W{d}")?;
            }
        }
    }
    let words = (0..N_WORDS).map(|row| (format!("w{row}"), (N_WORDS - row) as u64));
    let embeddings = Embeddings::new(DIMENSIONS, words, vectors)?;

    let mut pairs = String::new();
    for pair in 0..N_WORD_PAIRS {
        let (first, second) = (format!("w{pair}"), format!("w{}", pair + 1));
        let score = f64::from(embeddings.similarity(&first, &second)?) + 0.1 * normal();
        writeln!(pairs, "{first}\t{second}\t{score:.3}")?;
    }
    let [pairs_path, questions_path] =
        ["evaluation-pairs.tsv", "evaluation-questions.txt"].map(|name| dir.join(name));
    fs::write(&pairs_path, pairs)?;
    fs::write(&questions_path, questions)?;
    Ok(Material { embeddings, pairs: vec![pairs_path], analogies: vec![questions_path] })
}
