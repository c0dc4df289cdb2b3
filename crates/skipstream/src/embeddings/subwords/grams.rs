//! The rows of a word's n-grams, as floret and spaCy number them.

use super::SubwordOptions;
use super::murmur;

/// floret's default, which spaCy reads from the header of a table.
pub(crate) const HASH_SEED: u32 = 2_166_136_261;

/// Rows per n-gram. floret allows up to four. With two, RW was the same at twice the time; twice the rows gained a point.
pub(crate) const HASHES: usize = 1;

/// Marks of the beginning and the end of a word.
pub(crate) const BEGIN: char = '<';
pub(crate) const END: char = '>';

/// Calls `visit` with the rows of a word: of the whole word between its marks, then of its n-grams of `min` to `max`
/// characters, the shorter ones first. A row may occur several times. An empty word has none.
pub(super) fn for_each_row(word: &str, options: &SubwordOptions, mut visit: impl FnMut(usize)) {
    if word.is_empty() {
        return;
    }
    let mut marked = String::with_capacity(word.len() + 2);
    marked.push(BEGIN);
    marked.push_str(word);
    marked.push(END);
    let mut visit_rows = |gram: &str| {
        let hashes = murmur::hash(gram.as_bytes(), HASH_SEED);
        hashes[..HASHES].iter().for_each(|&hash| visit(hash as usize % options.buckets));
    };
    visit_rows(&marked);
    let starts: Vec<usize> = marked.char_indices().map(|(start, _)| start).chain([marked.len()]).collect();
    for length in options.min..=options.max.min(starts.len() - 1) {
        for bounds in starts.windows(length + 1) {
            visit_rows(&marked[bounds[0]..bounds[length]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(word: &str, buckets: usize, min: usize, max: usize) -> Vec<usize> {
        let mut rows = Vec::new();
        for_each_row(word, &SubwordOptions { buckets, min, max }, |row| rows.push(row));
        rows
    }

    /// The values of spaCy 3.8: `Vectors._get_ngrams` and `_get_ngram_hashes`, modulo the number of rows.
    #[test]
    fn rows_are_those_of_spacy() {
        assert_eq!(rows("cat", 100000, 3, 6), [26587, 96102, 58861, 32173, 87821, 60326, 26587]);
        assert_eq!(rows("stra\u{df}e", 1000, 4, 5), [387, 892, 442, 382, 17, 810, 537, 996, 325, 367]);
        assert_eq!(
            rows("\u{1f9c0}e\u{301}", 997, 1, 3),
            [995, 683, 481, 694, 145, 918, 168, 428, 471, 446, 535, 684, 360]
        );
        assert_eq!(
            rows("unbelievably-long-compound-word", 50000, 5, 5),
            [
                10348, 46106, 22419, 18572, 8837, 3632, 48992, 20923, 6977, 831, 6887, 9649, 3975, 21685,
                18544, 1754, 21883, 20550, 21548, 44975, 39828, 14739, 38674, 31968, 46596, 45666, 13879,
                42319, 48426, 28574
            ]
        );
    }

    #[test]
    fn a_short_word_is_also_its_own_n_gram_and_an_empty_one_has_none() {
        assert_eq!(rows("a", 1 << 20, 3, 6), [rows("a", 1 << 20, 9, 9)[0]; 2]);
        assert!(rows("", 10, 1, 6).is_empty());
        assert_eq!(rows("ab", 1, 1, 2), [0; 8]);
    }

    #[test]
    fn a_long_word_has_as_many_n_grams_as_characters() {
        assert_eq!(rows(&"é".repeat(10_000), 100, 3, 3).len(), 10_001);
    }
}
