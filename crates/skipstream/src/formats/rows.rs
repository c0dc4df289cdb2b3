//! The words and values that every reader collects, checked one by one.

use std::io::{self, Write};

use super::error::Defect;
use crate::Result;
use crate::embeddings::{Embeddings, VectorsError, WordList};

/// The maximum number of dimensions that the readers accept.
pub const MAX_DIMENSIONS: usize = 1 << 16;

/// The maximum length of a word that the readers accept, in bytes.
pub const MAX_WORD_BYTES: usize = 1 << 16;

/// The maximum length of a value in a line of text: enough for any `f32`, even a subnormal one without an exponent.
pub(super) const MAX_VALUE_BYTES: usize = 64;

/// Something read, or its defect: the caller knows the place and adds it.
pub(super) type Checked<T> = std::result::Result<T, Defect>;

pub(super) struct Rows {
    dimensions: usize,
    words: WordList,
    counts: Vec<u64>,
    vectors: Vec<f32>,
}

impl Rows {
    pub(super) fn new(dimensions: usize) -> Checked<Rows> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(Defect::Dimensions { found: dimensions });
        }
        Ok(Rows { dimensions, words: WordList::default(), counts: Vec::new(), vectors: Vec::new() })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn push_word(&mut self, word: &str) -> Checked<()> {
        check_word(word)?;
        let repeated = |first| Defect::RepeatedWord { word: word.to_owned(), first: first + 1 };
        self.words.push(word).map_err(repeated)
    }

    /// The count of the next word. A file has counts for all of its words or for none.
    pub(super) fn push_count(&mut self, count: u64) {
        self.counts.push(count);
    }

    pub(super) fn push_value(&mut self, value: f32) -> Checked<()> {
        if !value.is_finite() {
            let place = self.vectors.len();
            let (word, position) = (place / self.dimensions + 1, place % self.dimensions + 1);
            return Err(Defect::NotFinite { word, position, value });
        }
        self.vectors.push(value);
        Ok(())
    }

    /// Values that are written as numbers.
    pub(super) fn push_fields<'line>(&mut self, fields: impl Iterator<Item = &'line str>) -> Checked<()> {
        fields.enumerate().try_for_each(|(place, field)| self.push_value(parse(place, field)?))
    }

    /// The values of a row that was pushed before.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let start = row * self.dimensions;
        &mut self.vectors[start..start + self.dimensions]
    }

    /// The embeddings. Without counts, words get the counts n, n − 1, … 1, as in gensim: the order of the file, which is
    /// by frequency in all programs we know, stays the order of the rows.
    pub(super) fn finish(self) -> Result<Embeddings> {
        let n_words = self.words.len();
        match self.counts.len() {
            0 => {
                let places: Vec<u64> = (1..=n_words as u64).rev().collect();
                let embeddings =
                    Embeddings::from_list(self.dimensions, self.words, places.into(), self.vectors)?;
                Ok(embeddings.without_counts())
            }
            n_counts if n_counts == n_words => {
                Embeddings::from_list(self.dimensions, self.words, self.counts.into(), self.vectors)
            }
            n_counts => Err(VectorsError::Counts { counts: n_counts, words: n_words }.into()),
        }
    }
}

pub(super) fn check_word(word: &str) -> Checked<()> {
    if word.is_empty() || word.contains('\n') {
        return Err(Defect::NotAWord { word: word.to_owned() });
    }
    if word.len() > MAX_WORD_BYTES {
        return Err(Defect::LongWord);
    }
    Ok(())
}

fn parse(place: usize, field: &str) -> Checked<f32> {
    field.parse().map_err(|_| Defect::NotANumber { position: place + 1, text: field.to_owned() })
}

/// Writes the values of a vector, each with the fewest digits that give it back exactly.
pub(super) fn write_values(writer: &mut impl Write, vector: &[f32], separator: &str) -> io::Result<()> {
    for (place, value) in vector.iter().enumerate() {
        let separator = if place == 0 { "" } else { separator };
        write!(writer, "{separator}{value}")?;
    }
    Ok(())
}

/// The parts of a line between spaces and tabs. Other white space belongs to words, as in word2vec.
pub(super) fn fields(line: &str) -> impl DoubleEndedIterator<Item = &str> {
    line.split([' ', '\t']).filter(|field| !field.is_empty())
}
