//! The words that a model knew at some point, and whether it lost them.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use skipstream::vocabulary::Vocabulary;
use skipstream::{Embeddings, Trainer};

/// The most frequent words of a model at some point.
pub struct Known {
    /// The most frequent first.
    words: Vec<KnownWord>,
}

struct KnownWord {
    word: String,
    count: u64,
    /// The count at the last look; `None` once the word was evicted, even if it returned.
    last: Option<u64>,
}

impl Known {
    /// The `most` most frequent words of a vocabulary.
    pub fn of(vocabulary: &Vocabulary, most: usize) -> Self {
        let word = |id| {
            let (word, count) = (vocabulary.word(id).to_owned(), vocabulary.count(id));
            KnownWord { word, count, last: Some(count) }
        };
        let mut words: Vec<KnownWord> = vocabulary.ids().map(word).collect();
        words.sort_by(|one, other| (Reverse(one.count), &one.word).cmp(&(Reverse(other.count), &other.word)));
        words.truncate(most);
        Self { words }
    }

    /// Records evictions since the last look. A word that was evicted and returned has a lower count, because counting
    /// restarts.
    pub fn look_at(&mut self, vocabulary: &Vocabulary) {
        for known in &mut self.words {
            let count = vocabulary.id(&known.word).map(|id| vocabulary.count(id));
            known.last = known.last.and_then(|last| count.filter(|&count| count >= last));
        }
    }

    /// Sums of target and context of the words that are still known, in the order of their first counts.
    pub fn embeddings(&self, trainer: &Trainer) -> Result<Embeddings> {
        let (vocabulary, parameters) = (trainer.vocabulary(), trainer.parameters());
        let mut words = Vec::new();
        let mut values = Vec::new();
        for known in &self.words {
            if let Some(id) = vocabulary.id(&known.word) {
                words.push((known.word.as_str(), known.count));
                let rows = parameters.target(id).iter().zip(parameters.context(id));
                values.extend(rows.map(|(target, context)| target + context));
            }
        }
        Ok(Embeddings::new(trainer.settings().dimensions(), words, values)?)
    }

    /// The number of words of a test set that were known, and of those that were evicted since, even if they returned.
    pub fn in_set(&self, set: &Path) -> Result<(usize, usize)> {
        let text = fs::read_to_string(set).with_context(|| format!("could not read {}", set.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with([':', '#']));
        let fields = lines.flat_map(str::split_ascii_whitespace);
        let in_set: HashSet<String> = fields.map(str::to_lowercase).collect();
        let known = self.words.iter().filter(|known| in_set.contains(&known.word));
        Ok((known.clone().count(), known.filter(|known| known.last.is_none()).count()))
    }
}
