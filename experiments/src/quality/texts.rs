//! The text of a setting.

use std::collections::HashMap;
use std::fs;

use anyhow::{Context, Result};

use super::plan::Planned;
use crate::data::{Corpus, Data, Text};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::Setting;
use xtask::text::words;

/// A text, and the numbers of its words.
pub struct SeededText {
    pub setting: Setting,
    pub text: Text,
    pub n_distinct: u32,
    /// Number of words above the minimum count.
    pub n_frequent: u32,
}

impl SeededText {
    /// Writes the text of a setting.
    pub fn prepare(data: &Data, planned: &Planned) -> Result<Self> {
        let text = data.plain_text(Corpus::Wiki2006, planned.n_words)?;
        let content =
            fs::read(&text.path).with_context(|| format!("could not read {}", text.path.display()))?;
        let (n_distinct, n_frequent) = count(&content);
        Ok(Self { setting: planned.setting, text, n_distinct, n_frequent })
    }

    /// A share of the words above the minimum count.
    pub fn n_words(&self, share: f64) -> usize {
        (share * f64::from(self.n_frequent)) as usize
    }
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
    fn frequent_words_are_those_that_the_threshold_keeps() {
        assert_eq!(count(b"a a a a a b b b b\nc c c c c c\n"), (3, 2));
    }
}
