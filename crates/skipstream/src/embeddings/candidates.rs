//! Which words may be answers: one rule for every query.

use std::ops::Range;

use super::Embeddings;

/// By default, an answer has occurred at least once per this many tokens, but need not have occurred more than
/// [`HIGHEST_DEFAULT`] times. The vector of a word that was seen a few times is mostly noise, and noise is near to everything.
const TOKENS_PER_OCCURRENCE: u64 = 200_000;
const HIGHEST_DEFAULT: u64 = 20;

impl Embeddings {
    /// The minimum count of an answer where a query does not set one: 1 in a short text, 5 after a million tokens, at most
    /// 20. It is 0 if counts are [not known](Embeddings::has_counts).
    pub fn default_min_count(&self) -> u64 {
        if self.has_counts { (self.n_tokens / TOKENS_PER_OCCURRENCE).clamp(1, HIGHEST_DEFAULT) } else { 0 }
    }

    /// The rows that may be answers, for [`Query::rows`](super::Query::rows): words with at least `min_count` occurrences
    /// (`None` is the [default](Embeddings::default_min_count), 0 is every word), and of these the `top` most frequent.
    /// With a [half-life](crate::HalfLife), older occurrences [count less](Embeddings::recent_count).
    ///
    /// The rule is about answers. The words of a query may be as rare as they are.
    ///
    /// ```
    /// use skipstream::embeddings::{Embeddings, Query};
    ///
    /// let words = [("tea", 900_000), ("coffee", 600_000), ("coffe", 3)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.0, 0.9, 0.1, 0.9, 0.1])?;
    /// assert_eq!(embeddings.default_min_count(), 7);
    /// assert_eq!(embeddings.neighbors("coffe", 9)?.len(), 2);
    /// let all = Query::neighbors(0, 9).among(embeddings.candidates(Some(0), None));
    /// assert_eq!(embeddings.search(&all)?[1].word, "coffe");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn candidates(&self, min_count: Option<u64>, top: Option<usize>) -> Range<usize> {
        let min_count = min_count.unwrap_or_else(|| self.default_min_count());
        let frequent = if self.has_counts { self.with_min_count(min_count).len() } else { self.len() };
        0..frequent.min(top.unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_counts(counts: &[u64]) -> Embeddings {
        let words = counts.iter().enumerate().map(|(row, &count)| (row.to_string(), count));
        Embeddings::new(1, words, vec![1.0; counts.len()]).unwrap()
    }

    #[test]
    fn the_default_grows_with_the_text_up_to_a_limit() {
        for (tokens, default) in [(0, 1), (399_999, 1), (1_000_000, 5), (4_000_000, 20), (1 << 60, 20)] {
            assert_eq!(with_counts(&[tokens]).default_min_count(), default, "{tokens} tokens");
        }
    }

    #[test]
    fn candidates_are_frequent_enough_and_among_the_top() {
        let embeddings = with_counts(&[2_000_000, 10, 9, 1]);
        assert_eq!(embeddings.candidates(None, None), 0..2);
        assert_eq!(embeddings.candidates(Some(9), None), 0..3);
        assert_eq!(embeddings.candidates(Some(0), None), 0..4);
        assert_eq!(embeddings.candidates(Some(0), Some(3)), 0..3);
        assert_eq!(embeddings.candidates(None, Some(1)), 0..1);
        assert_eq!(embeddings.candidates(Some(u64::MAX), None), 0..0);
    }

    #[test]
    fn the_default_of_the_top_words_is_that_of_all() {
        let embeddings = with_counts(&[1_000_000, 1_000_000, 3]);
        assert_eq!(embeddings.top(1).default_min_count(), 10);
        assert_eq!(embeddings.top(1).candidates(Some(0), None), 0..1);
    }

    #[test]
    fn without_counts_every_word_is_a_candidate() {
        let embeddings = with_counts(&[2_000_000, 1]).without_counts();
        assert_eq!((embeddings.default_min_count(), embeddings.candidates(Some(5), None)), (0, 0..2));
    }
}
