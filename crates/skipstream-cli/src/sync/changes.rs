//! What to write and what to delete: the difference between a store and vectors.

use std::fmt;

use skipstream::{Embeddings, Result};

use super::digest::{Digest, digest};
use super::retries::Retries;
use super::store::{Outcome, Row, Store};
use crate::output::count;

/// The vectors to store, with their digests.
pub struct Wanted<'a> {
    embeddings: &'a Embeddings,
    /// By row; `None` is a word that the store cannot hold.
    digests: Vec<Option<Digest>>,
}

impl<'a> Wanted<'a> {
    pub fn new(embeddings: &'a Embeddings, store: &dyn Store) -> Result<Wanted<'a>> {
        let digest_of = |(row, word)| {
            let vector = embeddings.checked_vector(row)?;
            Ok(store.can_hold(word).then(|| digest(&vector, embeddings.count(row))))
        };
        let digests = embeddings.words().enumerate().map(digest_of).collect::<Result<_>>()?;
        Ok(Wanted { embeddings, digests })
    }

    pub fn dimensions(&self) -> usize {
        self.embeddings.dimensions()
    }

    /// How many words the store cannot hold.
    pub fn n_left_out(&self) -> usize {
        self.digests.iter().filter(|digest| digest.is_none()).count()
    }

    /// The row of exactly this word.
    fn row_of(&self, word: &str) -> Option<(usize, Digest)> {
        // `index_of` also finds other spellings.
        let row = self.embeddings.index_of(word).filter(|&row| self.embeddings.word(row) == word)?;
        Some((row, self.digests[row]?))
    }

    /// A row as it is to be stored.
    pub fn row(&self, row: usize) -> Option<Row<'_>> {
        let digest = self.digests[row]?;
        let vector = self.embeddings.vector_at(row);
        Some(Row { word: self.embeddings.word(row), count: self.embeddings.count(row), vector, digest })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Different,
    Same,
}

/// The difference.
#[derive(Debug, Default)]
pub struct Changes {
    /// Rows to write, the most frequent word first.
    pub rows: Vec<usize>,
    /// Words to delete.
    pub removed: Vec<String>,
    added: usize,
    unchanged: usize,
}

impl Changes {
    /// Compares the vectors with what a store has, or with nothing if there is no table yet.
    pub fn find(wanted: &Wanted<'_>, store: Option<&mut dyn Store>, retries: Retries) -> Outcome<Changes> {
        let absent = || (vec![State::Absent; wanted.digests.len()], Vec::new());
        let (states, removed) = match store {
            None => absent(),
            Some(store) => retries.run(|| {
                let (mut states, mut removed) = absent();
                store.read(&mut |word, stored| match wanted.row_of(&word) {
                    Some((row, digest)) if digest == stored => states[row] = State::Same,
                    Some((row, _)) => states[row] = State::Different,
                    None => removed.push(word),
                })?;
                Ok((states, removed))
            })?,
        };
        let mut changes = Changes { removed, ..Changes::default() };
        for (row, state) in states.into_iter().enumerate() {
            match state {
                _ if wanted.digests[row].is_none() => continue,
                State::Same => changes.unchanged += 1,
                State::Absent => changes.added += 1,
                State::Different => {}
            }
            if state != State::Same {
                changes.rows.push(row);
            }
        }
        Ok(changes)
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.rows.len() - self.added;
        let [added, changed, removed, unchanged] =
            [self.added, changed, self.removed.len(), self.unchanged].map(count);
        write!(formatter, "{added} added, {changed} changed, {removed} removed, {unchanged} unchanged")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;

    use super::*;
    use crate::sync::store::Failure;

    /// Words in memory. The first reading breaks off after a word.
    #[derive(Default)]
    struct Memory {
        words: Vec<(String, Digest)>,
        has_failed: bool,
    }

    impl Store for Memory {
        fn exists(&mut self, _: usize) -> Outcome<bool> {
            Ok(true)
        }

        fn create(&mut self, _: usize) -> Outcome<()> {
            Ok(())
        }

        fn can_hold(&self, word: &str) -> bool {
            !word.contains('\0')
        }

        fn read(&mut self, see: &mut dyn FnMut(String, &[u8])) -> Outcome<()> {
            for (word, digest) in &self.words {
                see(word.clone(), digest);
                if !self.has_failed {
                    self.has_failed = true;
                    return Err(Failure::Temporary(anyhow!("away")));
                }
            }
            Ok(())
        }

        fn write(&mut self, _: &[Row<'_>]) -> Outcome<()> {
            Ok(())
        }

        fn delete(&mut self, _: &[String]) -> Outcome<()> {
            Ok(())
        }
    }

    #[test]
    fn words_are_compared_exactly_and_a_broken_reading_starts_again() {
        let words = [("same", 40), ("moved", 30), ("new", 20), ("no\0thing", 10)];
        let embeddings = Embeddings::new(1, words, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let stored = [("gone", 9.0, 1), ("same", 1.0, 40), ("moved", 2.5, 30), ("Same", 1.0, 40)];
        let words = stored.map(|(word, value, count)| (word.to_owned(), digest(&[value], count))).to_vec();
        let mut store = Memory { words, has_failed: false };
        let wanted = Wanted::new(&embeddings, &store).unwrap();
        assert_eq!(wanted.n_left_out(), 1);
        let retries = Retries { time: Duration::from_secs(5) };
        let Ok(changes) = Changes::find(&wanted, Some(&mut store), retries) else { panic!() };
        assert_eq!(changes.to_string(), "1 added, 1 changed, 2 removed, 1 unchanged");
        assert_eq!(changes.removed, ["gone", "Same"]);
        let words: Vec<&str> = changes.rows.iter().filter_map(|&row| Some(wanted.row(row)?.word)).collect();
        assert_eq!(words, ["moved", "new"]);
    }
}
