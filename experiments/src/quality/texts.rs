//! The text of a setting.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::plan::{Plan, Planned};
use crate::data::{Corpus, Data, Text};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::Setting;
use xtask::text::words;

/// A text, and a rotated copy for each seed.
pub struct SeededText {
    pub setting: Setting,
    pub text: Text,
    pub n_distinct: u32,
    /// Number of words above the minimum count.
    pub n_frequent: u32,
}

impl SeededText {
    /// Writes the text of a setting, and its copies.
    pub fn prepare(data: &Data, plan: &Plan, planned: &Planned) -> Result<Self> {
        let text = data.plain_text(Corpus::Wiki2006, planned.n_words)?;
        let content =
            fs::read(&text.path).with_context(|| format!("could not read {}", text.path.display()))?;
        let (n_distinct, n_frequent) = count(&content);
        let seeded = Self { setting: planned.setting, text, n_distinct, n_frequent };
        let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
        for (place, &seed) in plan.seeds.iter().enumerate() {
            let path = seeded.rotated(seed);
            fs::write(&path, rotate(&lines, place * lines.len() / plan.seeds.len()).concat())
                .with_context(|| format!("could not write {}", path.display()))?;
        }
        Ok(seeded)
    }

    /// A share of the words above the minimum count.
    pub fn n_words(&self, share: f64) -> usize {
        (share * f64::from(self.n_frequent)) as usize
    }

    /// The text starting at another position for each seed, for programs that take no seed.
    pub fn rotated(&self, seed: u32) -> PathBuf {
        self.text.path.with_extension(format!("seed-{seed}.txt"))
    }
}

fn rotate<'a>(lines: &[&'a [u8]], start: usize) -> Vec<&'a [u8]> {
    [&lines[start..], &lines[..start]].concat()
}

/// The number of distinct words, and of those above the minimum count.
fn count(text: &[u8]) -> (u32, u32) {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    for word in words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let n_frequent = counts.values().filter(|&&count| count >= MIN_COUNT).count();
    (counts.len() as u32, n_frequent as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_text_has_the_same_lines() {
        let lines: [&[u8]; 3] = [b"a\n", b"b\n", b"c\n"];
        assert_eq!(rotate(&lines, 0).concat(), b"a\nb\nc\n");
        assert_eq!(rotate(&lines, 2).concat(), b"c\na\nb\n");
    }

    #[test]
    fn frequent_words_are_those_that_the_threshold_keeps() {
        assert_eq!(count(b"a a a a a b b b b\nc c c c c c\n"), (3, 2));
    }
}
