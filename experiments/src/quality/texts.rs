//! The texts, one per setting.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::plan::Plan;
use crate::data::{Corpus, Data, Text};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::Setting;
use crate::record::Source;
use xtask::text::words;

pub struct Texts {
    texts: Vec<(Setting, SeededText)>,
}

/// A text, and a rotated copy for each seed.
pub struct SeededText {
    text: Text,
    rotated: Vec<(u32, PathBuf)>,
    pub n_distinct: u32,
    /// Number of words above the minimum count.
    pub n_frequent: u32,
}

impl Texts {
    /// Writes all texts.
    pub fn prepare(data: &Data, plan: &Plan) -> Result<Self> {
        let mut texts = Vec::new();
        for planned in &plan.settings {
            let text = data.plain_text(Corpus::Wiki2006, Some(planned.n_words))?;
            texts.push((planned.setting, SeededText::prepare(text, &plan.seeds)?));
        }
        Ok(Self { texts })
    }

    pub fn sources(&self) -> Vec<Source> {
        self.texts.iter().map(|(_, text)| text.text.source.clone()).collect()
    }

    pub fn of(&self, setting: Setting) -> &SeededText {
        let found = self.texts.iter().find(|(other, _)| *other == setting);
        &found.expect("the plan's settings were prepared").1
    }
}

impl SeededText {
    fn prepare(text: Text, seeds: &[u32]) -> Result<Self> {
        let content =
            fs::read(&text.path).with_context(|| format!("could not read {}", text.path.display()))?;
        let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
        let mut rotated = Vec::new();
        for (place, &seed) in seeds.iter().enumerate() {
            let path = text.path.with_extension(format!("seed-{seed}.txt"));
            fs::write(&path, rotate(&lines, place * lines.len() / seeds.len()).concat())
                .with_context(|| format!("could not write {}", path.display()))?;
            rotated.push((seed, path));
        }
        let (n_distinct, n_frequent) = count(&content);
        Ok(Self { rotated, n_distinct, n_frequent, text })
    }

    /// A share of the words above the minimum count.
    pub fn n_words(&self, share: f64) -> usize {
        (share * f64::from(self.n_frequent)) as usize
    }

    /// The text as it is, for programs that take a seed.
    pub fn in_order(&self) -> &Path {
        &self.text.path
    }

    /// The text starting at another position for each seed, for programs that take no seed.
    pub fn rotated(&self, seed: u32) -> &Path {
        let found = self.rotated.iter().find(|(other, _)| *other == seed);
        &found.expect("the plan's seeds were prepared").1
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
