//! Emerging words: new ones, and ones that became more frequent.

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Embeddings;
use utoipa::ToSchema;

use super::store::SnapshotInfo;
use crate::published::{Published, recent_tokens};

/// Threshold of the score. By chance one word in a million exceeds it, so of a list over 50,000 words that did not change,
/// fewer than one in 20 has any.
const MIN_SCORE: f64 = 24.0;

/// Words that became a little more frequent are not emerging, however certain that is.
const MIN_FACTOR: f64 = 1.5;

/// The quantile of the normal distribution for the lower end of a 95 % interval.
const DEVIATIONS: f64 = 1.96;

/// Words of about the same frequency whose variation is measured together.
const GROUP: usize = 200;

/// With fewer words, the variation is that of all words.
const MIN_GROUP: usize = 50;

/// The median of the square of a standard normal variable.
const MEDIAN_SQUARE: f64 = 0.455;

/// An emerging word
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Emerging {
    /// The word
    pub word: String,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// Lines that contained it since then; for a known word that the snapshot left out, the least possible number
    pub documents: u64,
    /// Occurrences before; 0 for a new word. With a half-life, older ones count less
    pub before: u64,
    /// Whether it entered the vocabulary since then
    pub new: bool,
    /// How many times as frequent it is as before, at least: the lower end of the 95 % interval; null without a snapshot
    pub factor: Option<f64>,
    /// Share of the tokens since then, from 0 to 1
    pub share: f64,
    /// Share of the tokens before, from 0 to 1
    pub share_before: f64,
    /// Dunning's log-likelihood ratio, divided by how much more words of its frequency vary than by chance; null without a
    /// snapshot
    pub score: Option<f64>,
    /// Time of the first line that contained it
    pub first_seen: Timestamp,
    /// Time of the last line that contained it
    pub last_seen: Timestamp,
}

/// The counts of a word in the text since a snapshot and in the text before it. With a half-life, older text counts less
/// in the second.
#[derive(Clone, Copy, Debug)]
struct Counts {
    row: usize,
    since: u64,
    before: u64,
    /// Lines with the word since the snapshot.
    documents: u64,
    is_new: bool,
}

/// The words that became much more frequent since a snapshot, those with the largest factor first, and after them those that
/// occurred in one line only.
///
/// The text before the snapshot and the text after it are two samples. Dunning's (1993) ratio says how much better two
/// rates explain a word's counts than one does: with k₁ of n₁ tokens after and k₂ of n₂ before,
/// 2 Σ kᵢ ln(kᵢ/nᵢ / p) + (nᵢ − kᵢ) ln((1 − kᵢ/nᵢ) / (1 − p)) with p = (k₁ + k₂) / (n₁ + n₂). It takes tokens for
/// independent, but texts have topics and styles: the share of any word varies from one to the next, by more than the counts
/// of a frequent word could by chance, so that *of* would lead every list. How much words vary is measured, as the typical
/// size of the logarithm of the quotient of the two shares among words of about the same frequency, and the ratio is divided
/// by what exceeds chance. Words are listed if the result exceeds a threshold, and if they are at least half as frequent
/// again as before, at the lower end of the 95 % interval. They are sorted by that end, which favors neither rare words nor
/// frequent ones. A word that occurs 40 times in one line is news of that line alone, however certain its rise: such words
/// are listed after all others.
///
/// With a half-life, the text before is weighted as it was at the time of the snapshot, so a word that was frequent long
/// ago and returns is emerging too.
///
/// A snapshot has only the most frequent words. Any other word that was known is assumed to have been as frequent as the
/// last of them, each time in a line of its own, which is the most it can have been. Without a snapshot, new words are listed
/// by count, unless all words are new.
pub fn emerging(
    published: &Published,
    since: Timestamp,
    snapshot: Option<(&SnapshotInfo, &Embeddings)>,
    min_gain: u64,
    n: usize,
) -> Vec<Emerging> {
    let words: Vec<Counts> = match snapshot {
        Some((info, old)) => counts_since(published, info, old),
        None => new_words(published, since),
    };
    let words_before = snapshot.map_or(0, |(info, _)| info.words);
    let words_since = published.progress.tokens.saturating_sub(words_before);
    let words_before = snapshot.map_or(0, |(_, old)| recent_tokens(old, words_before));
    let variation = Variation::measure(&words, [words_since, words_before]);
    let describe = |counts: &Counts| {
        let Counts { row, since, before, documents, is_new } = *counts;
        let (score, factor) = match snapshot {
            Some(_) => {
                let change = Change::new([since, before], [words_since, words_before]);
                let variance = variation.of(row);
                let factor = change.least_factor(variance);
                let score = change.log_likelihood / (1.0 + variance / change.chance);
                if score < MIN_SCORE || factor < MIN_FACTOR {
                    return None;
                }
                (Some(score), Some(factor))
            }
            None => (None, None),
        };
        let embeddings = &published.embeddings;
        (since >= min_gain.max(1)).then(|| Emerging {
            word: embeddings.word(row).to_owned(),
            count: embeddings.count(row),
            documents,
            before,
            new: is_new,
            factor,
            share: share(since, words_since),
            share_before: share(before, words_before),
            score,
            first_seen: published.seen[row].first,
            last_seen: published.seen[row].last,
        })
    };
    let mut rising: Vec<Emerging> = words.iter().filter_map(describe).collect();
    // Without factors, the order is that of the counts.
    let factor = |word: &Emerging| word.factor.unwrap_or(0.0);
    let is_in_one_line = |word: &Emerging| word.documents <= 1;
    rising.sort_by(|left, right| {
        is_in_one_line(left).cmp(&is_in_one_line(right)).then(factor(right).total_cmp(&factor(left)))
    });
    rising.truncate(n);
    rising
}

fn counts_since(published: &Published, info: &SnapshotInfo, old: &Embeddings) -> Vec<Counts> {
    let embeddings = &published.embeddings;
    // Upper bound of the old recent count of words that the snapshot leaves out.
    let left_out = (old.len() < info.vocabulary).then(|| old.len().checked_sub(1)).flatten();
    let left_out = left_out.map(|last| old.recent_count(last));
    let counts = |row: usize| {
        let (count, recent) = (embeddings.count(row), embeddings.recent_count(row));
        // A word that left and returned is new, and its count started at 0.
        let was_known = published.seen[row].first <= info.time;
        let documents = embeddings.document_count(row);
        let known = || match old.index_of(embeddings.word(row)) {
            Some(row) => Some((
                old.recent_count(row),
                count.saturating_sub(old.count(row)),
                documents.saturating_sub(old.document_count(row)),
            )),
            // The recent count has risen by the occurrences since then at most.
            None => left_out.map(|before| {
                (before, recent.saturating_sub(before), documents.saturating_sub(before).max(1))
            }),
        };
        let before = was_known.then(known).flatten();
        let is_new = before.is_none();
        let (before, since, documents) = before.unwrap_or((0, count, documents));
        Counts { row, since, before: before.min(count), documents, is_new }
    };
    (0..embeddings.len()).map(counts).collect()
}

fn new_words(published: &Published, since: Timestamp) -> Vec<Counts> {
    let is_new = |row: &usize| published.seen[*row].first >= since;
    let rows: Vec<usize> = (0..published.embeddings.len()).filter(is_new).collect();
    if rows.len() == published.embeddings.len() {
        return Vec::new();
    }
    let embeddings = &published.embeddings;
    let counts = |row| Counts {
        row,
        since: embeddings.count(row),
        before: 0,
        documents: embeddings.document_count(row),
        is_new: true,
    };
    rows.into_iter().map(counts).collect()
}

/// How a word's share of the text changed.
struct Change {
    /// Dunning's ratio; 0 if the share did not rise.
    log_likelihood: f64,
    /// The logarithm of the quotient of the two shares.
    log_factor: f64,
    /// The variance of that logarithm if tokens were independent.
    chance: f64,
}

impl Change {
    fn new(counts: [u64; 2], words: [u64; 2]) -> Change {
        // Half an occurrence more, so that a word that did not occur has a share.
        let [since, before] = counts.map(|count| count as f64 + 0.5);
        let [words_since, words_before] = words.map(|words| words.max(1) as f64);
        Change {
            log_likelihood: log_likelihood(counts, words).unwrap_or(0.0),
            log_factor: (since / words_since / (before / words_before)).ln(),
            chance: 1.0 / since + 1.0 / before,
        }
    }

    /// The lower end of the 95 % interval of the factor.
    fn least_factor(&self, variance: f64) -> f64 {
        (self.log_factor - DEVIATIONS * (self.chance + variance).sqrt()).exp()
    }
}

/// How much the shares of words vary from text to text, beyond chance, by frequency.
struct Variation {
    /// The variance of the logarithm of the factor in each group of rows.
    groups: Vec<f64>,
}

impl Variation {
    fn measure(words: &[Counts], totals: [u64; 2]) -> Variation {
        let all = variance(words, totals).unwrap_or(0.0);
        Variation {
            groups: words.chunks(GROUP).map(|group| variance(group, totals).unwrap_or(all)).collect(),
        }
    }

    fn of(&self, row: usize) -> f64 {
        self.groups.get(row / GROUP).copied().unwrap_or(0.0)
    }
}

/// The variance beyond chance, from medians, which a few emerging words do not change; `None` if there are too few words.
fn variance(words: &[Counts], totals: [u64; 2]) -> Option<f64> {
    let is_frequent = |word: &&Counts| word.since >= 5 && word.before >= 5;
    let changes: Vec<Change> =
        words.iter().filter(is_frequent).map(|word| Change::new([word.since, word.before], totals)).collect();
    if changes.len() < MIN_GROUP {
        return None;
    }
    let median = |mut values: Vec<f64>| {
        let middle = values.len() / 2;
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    // Topics that the whole text left behind make the others more frequent, without anything having emerged.
    let center = median(changes.iter().map(|change| change.log_factor).collect());
    let squares = changes.iter().map(|change| (change.log_factor - center).powi(2)).collect();
    let chance = median(changes.iter().map(|change| change.chance).collect());
    Some((median(squares) / MEDIAN_SQUARE - chance).max(0.0))
}

fn share(count: u64, words: u64) -> f64 {
    count as f64 / words.max(count).max(1) as f64
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
    use skipstream::corpus::{Read, Sentence, Source};
    use skipstream::unstable::Random;

    use super::*;
    use crate::change::testing::{of_embeddings, published_at};

    fn time(hour: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + hour * 3_600).unwrap()
    }

    fn embeddings<S: AsRef<str>>(words: &[(S, u64)]) -> Embeddings {
        let named = words.iter().map(|(word, count)| (word.as_ref(), *count));
        Embeddings::new(1, named, vec![1.0; words.len()]).unwrap()
    }

    fn info(words: u64, old: &Embeddings) -> SnapshotInfo {
        let name = crate::change::SnapshotName::new("a").unwrap();
        SnapshotInfo {
            name,
            time: time(10),
            seq: 1,
            vocabulary: old.len(),
            words,
            pinned: false,
            state: false,
        }
    }

    /// The number of events with this mean.
    fn poisson(random: &mut Random, mean: f64) -> u64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * normal(random)).max(0.0).round() as u64;
        }
        let (limit, mut product, mut events) = ((-mean).exp(), random.uniform(), 0);
        while product > limit {
            product *= random.uniform();
            events += 1;
        }
        events
    }

    fn normal(random: &mut Random) -> f64 {
        (-2.0 * (1.0 - random.uniform()).ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
    }

    /// A text of 2,000 words whose frequencies fall as in a language, then as much text again, in which the share of each
    /// word varies by a quarter, and those of `planted` words by a factor.
    fn two_texts(seed: u64, planted: &[(&str, f64)]) -> (SnapshotInfo, Embeddings, Published) {
        let mut random = Random::new(seed);
        let (mut old, mut now) = (Vec::new(), Vec::new());
        for number in 0..2_000u32 {
            let name = format!("w{number}");
            let mean = 30_000.0 / f64::from(number + 1);
            let before = poisson(&mut random, mean);
            let factor = planted.iter().find(|(word, _)| *word == name).map_or(1.0, |(_, factor)| *factor);
            let varied = mean * factor * (0.25 * normal(&mut random)).exp();
            let since = poisson(&mut random, varied);
            old.extend((before > 0).then(|| (name.clone(), before)));
            now.extend((before + since > 0).then(|| (name, before + since)));
        }
        let old = embeddings(&old);
        let info = info((0..old.len()).map(|row| old.count(row)).sum(), &old);
        (info, old, of_embeddings(time(20), 2, embeddings(&now), time(0)))
    }

    #[test]
    fn texts_without_a_change_have_no_emerging_words() {
        let lists = 100;
        let is_alarm = |seed: &u64| {
            let (info, old, published) = two_texts(*seed, &[]);
            !emerging(&published, time(10), Some((&info, &old)), 5, 20).is_empty()
        };
        let alarms = (0..lists).filter(is_alarm).count();
        assert!(alarms <= 5, "{alarms} of {lists} lists");
    }

    #[test]
    fn planted_changes_are_found_and_frequent_words_do_not_lead() {
        for seed in 0..20 {
            // The most frequent word becomes a third more frequent, which is far beyond chance.
            let planted = [("w0", 1.35), ("w1", 1.35), ("w60", 6.0), ("w300", 8.0), ("w500", 0.1)];
            let (info, old, published) = two_texts(seed, &planted);
            let rising = emerging(&published, time(10), Some((&info, &old)), 5, 20);
            let mut words: Vec<&str> = rising.iter().map(|rising| rising.word.as_str()).collect();
            words.sort_unstable();
            assert_eq!(words, ["w300", "w60"], "seed {seed}");
            assert!(
                rising.windows(2).all(|pair| pair[0].factor >= pair[1].factor),
                "sorted by what is shown"
            );
            let factor = rising.iter().find(|word| word.word == "w60").unwrap().factor.unwrap();
            assert!((1.5..6.0).contains(&factor), "{factor} is at the lower end");
        }
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
    fn new_words_come_first_and_steady_ones_not_at_all() {
        // Ten thousand words before and as many since: a hundred steady words, one that is new, one that rises, one that
        // falls, one that is too rare to tell.
        let names: Vec<String> = (0..100).map(|number| format!("steady{number}")).collect();
        let steady = |factor: u64| names.iter().map(move |name| (name.as_str(), 90 * factor));
        let old: Vec<(&str, u64)> = steady(1).chain([("rises", 20), ("falls", 300)]).collect();
        let old = embeddings(&old);
        let now: Vec<(&str, u64)> =
            steady(2).chain([("rises", 220), ("falls", 310), ("new", 150), ("rare", 8)]).collect();
        let mut published = of_embeddings(time(20), 2, embeddings(&now), time(0));
        for row in 0..published.embeddings.len() {
            if ["new", "rare"].contains(&published.embeddings.word(row)) {
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
        assert_eq!((rising[0].share, rising[0].share_before), (150.0 / words_since as f64, 0.0));
        assert_eq!(emerging(&published, time(10), Some((&snapshot, &old)), 5, 1).len(), 1);
        assert_eq!(emerging(&published, time(10), Some((&snapshot, &old)), 200, 9).len(), 1);
    }

    /// Two hundred lines before and fifty since, of steady words; besides, one word in each of sixteen lines, and one that
    /// occurs 40 times in a single line.
    #[test]
    fn a_burst_in_one_line_comes_after_words_in_several() {
        let mut trainer =
            skipstream::Trainer::new(skipstream::Config { dimensions: 2, ..Default::default() }).unwrap();
        let steady = || (0..20).map(|word| format!("w{word}"));
        let mut lines = Lines::default();
        (0..200).for_each(|_| lines.push(steady()));
        trainer.train_source(&mut lines).unwrap();
        let old = trainer.embeddings().unwrap();
        let info = info(trainer.progress().tokens, &old);
        (0..50).for_each(|line| lines.push(steady().chain((line < 16).then(|| "spread".to_owned()))));
        lines.push((0..40).map(|_| "burst".to_owned()));
        lines.push((0..400).map(|_| "w7".to_owned()));
        trainer.train_source(&mut lines).unwrap();
        let now = of_embeddings(time(20), 2, trainer.embeddings().unwrap(), time(0));
        let rising = emerging(&now, time(10), Some((&info, &old)), 5, 9);
        let listed: Vec<(&str, u64)> =
            rising.iter().map(|rising| (rising.word.as_str(), rising.documents)).collect();
        // The known word is in all other lines too.
        assert_eq!(listed, [("spread", 16), ("w7", 51), ("burst", 1)]);
        assert!(rising[2].factor > rising[0].factor, "although it rose more");
        // Of a known word that the snapshot left out, each occurrence before may have been in a line of its own.
        let rising = emerging(&now, time(10), Some((&info, &old.top(10))), 5, 9);
        assert_eq!((rising[0].word.as_str(), rising[0].documents), ("w7", 251 - 200));
    }

    /// Lines that wait, each of them a document.
    #[derive(Default)]
    struct Lines {
        waiting: std::collections::VecDeque<Vec<String>>,
        read: u64,
    }

    impl Lines {
        fn push(&mut self, line: impl Iterator<Item = String>) {
            self.waiting.push_back(line.collect());
        }
    }

    impl Source for Lines {
        fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
            sentence.clear();
            let Some(line) = self.waiting.pop_front() else { return Ok(Read::End) };
            line.iter().for_each(|word| sentence.push(word));
            self.read += 1;
            sentence.set_document(self.read);
            Ok(Read::Sentence)
        }
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

    /// A word that was in every line long ago, and is again since the snapshot.
    #[test]
    fn a_word_that_returns_is_emerging_if_the_past_is_forgotten() {
        let learn = |half_life: Option<u64>| {
            let strategy = skipstream::Strategy::MiniBatch(skipstream::MiniBatchOptions {
                half_life: half_life.map(skipstream::HalfLife::Words),
                batch_words: 300,
                ..Default::default()
            });
            let config = skipstream::Config { dimensions: 2, strategy, ..Default::default() };
            let mut trainer = skipstream::Trainer::new(config).unwrap();
            let mut random = Random::new(1);
            // Lines of a hundred steady words.
            let mut text = |lines: usize, comets: usize| {
                let mut line = || -> Vec<String> {
                    let steady = (0..100 - comets).map(|_| format!("w{}", random.below(100)));
                    steady.chain((0..comets).map(|_| "comet".to_owned())).collect()
                };
                (0..lines).map(|_| line()).collect::<Vec<_>>()
            };
            trainer.train(text(200, 2)).unwrap();
            trainer.train(text(200, 0)).unwrap();
            let old = trainer.embeddings().unwrap();
            let info = info(trainer.progress().tokens, &old);
            trainer.train(text(100, 1)).unwrap();
            let published = of_embeddings(time(20), 2, trainer.embeddings().unwrap(), time(0));
            assert_eq!(published.progress.tokens, 50_000);
            emerging(&published, time(10), Some((&info, &old)), 5, 9)
        };
        assert!(learn(None).is_empty(), "as frequent as in all the text before");
        let rising = learn(Some(2_000));
        assert_eq!(rising.len(), 1);
        assert_eq!((rising[0].word.as_str(), rising[0].count, rising[0].before), ("comet", 500, 0));
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
        let listed: Vec<(&str, u64, bool)> =
            rising.iter().map(|rising| (rising.word.as_str(), rising.count, rising.new)).collect();
        assert_eq!(listed, [("newer", 40, true), ("new", 30, true)]);
        assert!(emerging(&published, time(13), None, 5, 9).is_empty());
        // If all words are new, the most frequent ones say nothing.
        published.seen[0].first = time(12);
        assert!(emerging(&published, time(12), None, 5, 9).is_empty());
    }
}
