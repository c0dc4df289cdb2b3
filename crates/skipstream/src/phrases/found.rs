//! The phrases that were found, by their text.

use hashbrown::HashTable;

use super::pairs::PairKey;
use crate::hash::WordHasher;

/// A phrase that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPhrase {
    pub text: String,
    /// Its pair, at the end of the last batch.
    pub key: PairKey,
    pub count: u64,
    pub score: f64,
    /// Words of the text before it was found.
    pub found_at: u64,
}

/// The phrases by their text.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundPhrases {
    pub phrases: Vec<FoundPhrase>,
    index: HashTable<u32>,
}

impl FoundPhrases {
    pub fn get(&self, text: &str) -> Option<&FoundPhrase> {
        let phrase = |&place: &u32| &self.phrases[place as usize];
        self.index.find(hash(text), |place| phrase(place).text == text).map(phrase)
    }

    pub fn add(&mut self, phrase: FoundPhrase) {
        let FoundPhrases { phrases, index } = self;
        phrases.push(phrase);
        let place = (phrases.len() - 1) as u32;
        let hash_of = |&place: &u32| hash(&phrases[place as usize].text);
        index.insert_unique(hash_of(&place), place, hash_of);
    }
}

fn hash(text: &str) -> u64 {
    WordHasher::new().hash(text.as_bytes())
}
