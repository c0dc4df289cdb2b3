//! Emerging words: new ones, and ones that became more frequent.

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Embeddings;
use utoipa::ToSchema;

use super::store::SnapshotInfo;
use crate::published::Published;

/// Threshold for words that were known before; by chance, one in a million exceeds it.
const SMALLEST_SCORE: f64 = 24.0;

/// An emerging word
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Emerging {
    /// The word
    pub word: String,
    /// Occurrences since it entered the vocabulary
    pub count: u64,
    /// Occurrences before; 0 for a new word
    pub before: u64,
    /// Whether it entered the vocabulary since then
    pub new: bool,
    /// Occurrences per million tokens since then
    pub rate: f64,
    /// Dunning's log-likelihood ratio; without a snapshot to compare with, occurrences since then
    pub score: f64,
    /// Time of the first line that contained it
    pub first_seen: Timestamp,
    /// Time of the last line that contained it
    pub last_seen: Timestamp,
}

/// The words whose share of the text rose most significantly since a snapshot.
///
/// The text before the snapshot and the text after it are two samples. Dunning's (1993) ratio says how much better two
/// rates explain a word's counts than one does: with k₁ of n₁ tokens after and k₂ of n₂ before,
/// 2 Σ kᵢ ln(kᵢ/nᵢ / p) + (nᵢ − kᵢ) ln((1 − kᵢ/nᵢ) / (1 − p)) with p = (k₁ + k₂) / (n₁ + n₂). Unlike a quotient of rates,
/// it does not favor the rarest words, and a frequent word that keeps its share scores about 1. Words that fell, or that
/// occurred fewer than `min_count` times since, are left out.
///
/// A snapshot has only the most frequent words. Any other word that was known is assumed to have been as frequent as the
/// last of them, which is the most it can have been. Without a snapshot, words that entered since the time are listed by
/// count.
pub fn emerging(
    published: &Published,
    since: Timestamp,
    snapshot: Option<(&SnapshotInfo, &Embeddings)>,
    min_count: u64,
    n: usize,
) -> Vec<Emerging> {
    let embeddings = &published.embeddings;
    let words_since = published.progress.tokens.saturating_sub(snapshot.map_or(0, |(info, _)| info.words));
    // Upper bound of the old count of words that the snapshot leaves out.
    let left_out = snapshot.filter(|(info, old)| old.len() < info.vocabulary);
    let left_out = left_out.and_then(|(_, old)| Some(old.count(old.len().checked_sub(1)?)));
    // The score, the row, and the old count if the word was known.
    let candidate = |row: usize| {
        let (count, first_seen) = (embeddings.count(row), published.seen[row].first);
        let old_count = match snapshot {
            Some((info, old)) if first_seen <= info.time => {
                old.index_of(embeddings.word(row)).map(|row| old.count(row)).or(left_out)
            }
            // A word that left and returned is new, and its count started at 0.
            Some(_) => None,
            None if first_seen >= since => None,
            None => return None,
        };
        let before = old_count.unwrap_or(0).min(count);
        let gained = count - before;
        if gained < min_count.max(1) {
            return None;
        }
        let score = match snapshot {
            Some((info, _)) => log_likelihood([gained, before], [words_since, info.words])?,
            None => count as f64,
        };
        (old_count.is_none() || score >= SMALLEST_SCORE).then_some((score, row, old_count))
    };
    let mut rising: Vec<_> = (0..embeddings.len()).filter_map(candidate).collect();
    // Ties are broken by frequency.
    rising.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    rising.truncate(n);
    let describe = |(score, row, old_count): (f64, usize, Option<u64>)| {
        let count = embeddings.count(row);
        let before = old_count.unwrap_or(0).min(count);
        Emerging {
            word: embeddings.word(row).to_owned(),
            count,
            before,
            new: old_count.is_none(),
            rate: (count - before) as f64 * 1e6 / words_since.max(1) as f64,
            score,
            first_seen: published.seen[row].first,
            last_seen: published.seen[row].last,
        }
    };
    rising.into_iter().map(describe).collect()
}

/// Dunning's ratio of a word with these `counts` among this many `words`; `None` if its rate did not rise from the second
/// sample to the first.
fn log_likelihood(counts: [u64; 2], words: [u64; 2]) -> Option<f64> {
    // Word totals may lag behind the exact counts.
    let [k, n] = [counts, [words[0].max(counts[0]), words[1].max(counts[1])]]
        .map(|pair| pair.map(|value| value as f64));
    let rate = |count: f64, words: f64| if words > 0.0 { count / words } else { 0.0 };
    let [rate_since, rate_before] = [rate(k[0], n[0]), rate(k[1], n[1])];
    if rate_since <= rate_before {
        return None;
    }
    let both = rate(k[0] + k[1], n[0] + n[1]);
    let term = |count: f64, rate: f64, both: f64| if count > 0.0 { count * (rate / both).ln() } else { 0.0 };
    let side = |k: f64, n: f64, rate: f64| term(k, rate, both) + term(n - k, 1.0 - rate, 1.0 - both);
    Some(2.0 * (side(k[0], n[0], rate_since) + side(k[1], n[1], rate_before)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::{of_embeddings, published_at};

    fn time(hour: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + hour * 3_600).unwrap()
    }

    fn embeddings(words: &[(&str, u64)]) -> Embeddings {
        Embeddings::new(1, words.iter().copied(), vec![1.0; words.len()]).unwrap()
    }

    fn info(words: u64, old: &Embeddings) -> SnapshotInfo {
        let name = crate::change::SnapshotName::new("a").unwrap();
        SnapshotInfo { name, time: time(10), seq: 1, vocabulary: old.len(), words, pinned: false }
    }

    #[test]
    fn the_ratio_is_dunnings() {
        // 30 of 100 words and 10 of 100, both together 0.2.
        let by_hand = 2.0
            * (30.0 * (0.3f64 / 0.2).ln()
                + 70.0 * (0.7f64 / 0.8).ln()
                + 10.0 * (0.1f64 / 0.2).ln()
                + 90.0 * (0.9f64 / 0.8).ln());
        assert!((log_likelihood([30, 10], [100, 100]).unwrap() - by_hand).abs() < 1e-9);
        assert_eq!(log_likelihood([10, 10], [100, 100]), None);
        assert_eq!(log_likelihood([5, 10], [100, 100]), None);
        assert!(log_likelihood([5, 0], [100, 100]).unwrap() > 6.0);
        assert!(log_likelihood([100, 0], [100, 100]).unwrap().is_finite());
        assert_eq!(log_likelihood([5, 0], [5, 0]), Some(0.0));
        assert_eq!(log_likelihood([0, 0], [0, 0]), None);
    }

    #[test]
    fn planted_words_come_first_and_steady_ones_not_at_all() {
        // Ten thousand words before and as many since: a hundred steady words, one that is new, one that rises, one that
        // falls, one that is too rare to tell.
        let names: Vec<String> = (0..100).map(|number| format!("steady{number}")).collect();
        let steady = |factor: u64| names.iter().map(move |name| (name.as_str(), 90 * factor));
        let old: Vec<(&str, u64)> = steady(1).chain([("rises", 20), ("falls", 300)]).collect();
        let old = embeddings(&old);
        let now: Vec<(&str, u64)> =
            steady(2).chain([("rises", 220), ("falls", 310), ("new", 150), ("rare", 3)]).collect();
        let mut published = of_embeddings(time(20), 2, embeddings(&now), time(0));
        for (row, word) in
            published.embeddings.words().map(str::to_owned).collect::<Vec<_>>().iter().enumerate()
        {
            if word == "new" || word == "rare" {
                published.seen[row].first = time(15);
            }
        }
        let snapshot = info(9_320, &old);
        let rising = emerging(&published, time(10), Some((&snapshot, &old)), 5, 20);
        let words: Vec<&str> = rising.iter().map(|rising| rising.word.as_str()).collect();
        assert_eq!(words, ["new", "rises"]);
        assert_eq!((rising[0].new, rising[0].before, rising[0].count), (true, 0, 150));
        assert_eq!((rising[1].new, rising[1].before, rising[1].count), (false, 20, 220));
        let words_since = published.progress.tokens - 9_320;
        assert_eq!(rising[0].rate, 150.0 * 1e6 / words_since as f64);
        let with_rare = emerging(&published, time(10), Some((&snapshot, &old)), 1, 20);
        assert_eq!(with_rare.last().unwrap().word, "rare");
        assert_eq!(emerging(&published, time(10), Some((&snapshot, &old)), 5, 1).len(), 1);
    }

    #[test]
    fn a_word_too_rare_for_the_snapshot_is_not_new() {
        let old = embeddings(&[("the", 900), ("tea", 50)]);
        let now =
            of_embeddings(time(20), 2, embeddings(&[("the", 1800), ("tea", 100), ("ink", 60)]), time(0));
        // It may have been seen 50 times before, so ten since are nothing.
        let snapshot = SnapshotInfo { vocabulary: 3, ..info(1_000, &old) };
        assert!(emerging(&now, time(10), Some((&snapshot, &old)), 5, 9).is_empty());
        // Had the snapshot all words, it would be new.
        let rising = emerging(&now, time(10), Some((&info(1_000, &old), &old)), 5, 9);
        assert_eq!((rising[0].word.as_str(), rising[0].new), ("ink", true));
    }

    #[test]
    fn without_a_snapshot_new_words_are_listed_by_count() {
        let words =
            [("old", 90, [1.0; 2]), ("new", 30, [1.0; 2]), ("newer", 40, [1.0; 2]), ("rare", 2, [1.0; 2])];
        let mut published = published_at(time(20), 2, &words);
        // In the order of frequency: old, newer, new, rare.
        for row in 1..4 {
            published.seen[row].first = time(12);
        }
        let rising = emerging(&published, time(12), None, 5, 9);
        let listed: Vec<(&str, f64, bool)> =
            rising.iter().map(|rising| (rising.word.as_str(), rising.score, rising.new)).collect();
        assert_eq!(listed, [("newer", 40.0, true), ("new", 30.0, true)]);
        assert!(emerging(&published, time(13), None, 5, 9).is_empty());
    }
}
