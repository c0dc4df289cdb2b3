//! Similar spellings of an unknown word.

use unicode_normalization::UnicodeNormalization;

use super::Embeddings;

impl Embeddings {
    /// At most `n` words with a similar spelling, the most similar first, and of those the most frequent.
    ///
    /// First come other cases and Unicode forms of the same letters. Then come words with one typo, and for words of five
    /// letters and more those with two: a letter too many, too few or wrong, or two letters swapped. The word itself is not
    /// included.
    ///
    /// ```
    /// # use skipstream::embeddings::Embeddings;
    /// let words = [("bernie", 9), ("berlin", 5), ("Berlni", 1), ("paris", 8)];
    /// let embeddings = Embeddings::new(1, words, vec![1.0; 4])?;
    /// assert_eq!(embeddings.suggestions("berlni", 3), ["Berlni", "berlin", "bernie"]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn suggestions(&self, word: &str, n: usize) -> Vec<&str> {
        let sought = folded(word);
        let letters = sought.chars().count();
        let Some(typos) = max_typos(letters) else { return Vec::new() };
        let marks = letter_marks(&sought);
        // Rows are sorted by frequency, so each list is too.
        let mut found: [Vec<&str>; MAX_TYPOS + 1] = Default::default();
        for other in self.words() {
            // Most words differ in length or in their letters, which is cheaper to compare than their distance.
            if other.is_ascii() && other.len().abs_diff(letters) > typos {
                continue;
            }
            if (marks ^ letter_marks(other)).count_ones() as usize > 2 * typos {
                continue;
            }
            let distance = strsim::osa_distance(&sought, &folded(other));
            if distance <= typos && found[distance].len() < n && other != word {
                found[distance].push(other);
            }
        }
        found.into_iter().flatten().take(n).collect()
    }
}

const MAX_TYPOS: usize = 2;

/// In a short word a typo leads to too many others. A very long word would take too long to compare.
fn max_typos(letters: usize) -> Option<usize> {
    match letters {
        0 | 1 => Some(0),
        2..=4 => Some(1),
        5..=100 => Some(MAX_TYPOS),
        _ => None,
    }
}

/// A word without differences of case and Unicode form.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        word.to_ascii_lowercase()
    } else {
        word.nfc().flat_map(char::to_lowercase).collect()
    }
}

/// A bit for each letter that occurs, in either case. A typo changes at most two bits.
fn letter_marks(word: &str) -> u64 {
    if word.is_ascii() {
        return word.bytes().fold(0, |marks, byte| marks | 1 << (byte.to_ascii_lowercase() % 64));
    }
    let letters = word.nfc().flat_map(char::to_lowercase);
    letters.fold(0, |marks, letter| marks | 1 << (u32::from(letter) % 64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn embeddings(words: &[&str]) -> Embeddings {
        let counts = (0..words.len() as u64).rev();
        Embeddings::new(1, words.iter().copied().zip(counts), vec![1.0; words.len()]).unwrap()
    }

    #[test]
    fn nearer_spellings_come_first_and_then_frequent_ones() {
        let embeddings = embeddings(&["merlin", "bern", "berlin", "berliner", "paris", "Berlin"]);
        assert_eq!(embeddings.suggestions("berlin", 9), ["Berlin", "merlin", "bern", "berliner"]);
        assert_eq!(embeddings.suggestions("berlin", 2), ["Berlin", "merlin"]);
        assert!(embeddings.suggestions("zzzzzz", 9).is_empty());
        assert!(embeddings.suggestions("berlin", 0).is_empty());
    }

    #[test]
    fn other_cases_and_forms_of_the_same_letters_are_found() {
        let embeddings = embeddings(&["москва", "käse", "ÉCOLE"]);
        assert_eq!(embeddings.suggestions("МОСКВА", 1), ["москва"]);
        assert_eq!(embeddings.suggestions("ka\u{308}se", 1), ["käse"]);
        assert_eq!(embeddings.suggestions("école", 1), ["ÉCOLE"]);
    }

    #[test]
    fn short_words_must_be_nearer() {
        let embeddings = embeddings(&["a", "I", "the", "then"]);
        assert_eq!(embeddings.suggestions("i", 9), ["I"]);
        assert_eq!(embeddings.suggestions("teh", 9), ["the"]);
        assert!(embeddings.suggestions("", 9).is_empty());
        assert!(embeddings.suggestions(&"the".repeat(100_000), 9).is_empty());
    }

    proptest! {
        #[test]
        fn the_quick_looks_lose_nothing(
            words in proptest::collection::btree_set("[abcABCäÄa\u{308}é]{1,7}", 1..30),
            word in "[abcABCäÄa\u{308}é]{1,7}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let near = |other: &&&str| {
                **other != word && strsim::osa_distance(&folded(&word), &folded(other)) <= max_typos(folded(&word).chars().count()).unwrap()
            };
            let mut expected: Vec<&str> = words.iter().filter(near).copied().collect();
            let embeddings = embeddings(&words);
            let mut found = embeddings.suggestions(&word, 99);
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
