mod plain;

use plain::PlainTable;

use super::*;
use crate::random::Random;
use crate::vocabulary::{Observed, Vocabulary, WordId};

const DRAWS: usize = 200_000;
/// Tables from which one word each is drawn: enough to notice an exponent that is 7 % too small.
const TABLES: u64 = 10_000;

/// Pearson's statistic of `seen` against shares ∝ `weights`, and its degrees of freedom.
fn chi_square(seen: &[u64], weights: &[f64]) -> (f64, f64) {
    let (draws, total) = (seen.iter().sum::<u64>() as f64, weights.iter().sum::<f64>());
    let mut statistic = 0.0;
    let mut cells = 0.0;
    for (&seen, &weight) in seen.iter().zip(weights) {
        if weight == 0.0 {
            assert_eq!(seen, 0, "an index without weight was drawn");
            continue;
        }
        let expected = draws * weight / total;
        statistic += (seen as f64 - expected).powi(2) / expected;
        cells += 1.0;
    }
    (statistic, cells - 1.0)
}

/// The statistic has mean k and variance 2k: five standard deviations are passed once in millions of runs.
fn assert_fits(seen: &[u64], weights: &[f64]) {
    let (statistic, freedom) = chi_square(seen, weights);
    assert!(
        statistic < freedom + 5.0 * (2.0 * freedom).sqrt(),
        "chi-square {statistic} at {freedom} degrees of freedom: {seen:?}"
    );
}

/// A word's number, from a distribution like that of words.
fn zipf(words: usize, random: &mut Random) -> usize {
    ((words as f64 + 1.0).powf(random.uniform()) - 1.0) as usize
}

#[test]
fn alias_draws_follow_the_weights() {
    let weights: Vec<f64> = (0..50).map(|i| if i % 7 == 3 { 0.0 } else { 1.0 / f64::from(i + 1) }).collect();
    let mut table = AliasTable::default();
    table.rebuild(weights.iter().copied());
    let mut random = Random::new(11);
    let mut seen = vec![0; weights.len()];
    for _ in 0..DRAWS {
        seen[table.draw(&mut random).unwrap() as usize] += 1;
    }
    assert_fits(&seen, &weights);
}

#[test]
fn alias_tables_without_weight_draw_nothing() {
    let mut table = AliasTable::default();
    assert_eq!(table.draw(&mut Random::new(1)), None);
    table.rebuild([0.0, 0.0].into_iter());
    assert_eq!(table.draw(&mut Random::new(1)), None);
    table.rebuild([0.0, 1e-300, 0.0].into_iter());
    assert_eq!(table.draw(&mut Random::new(1)), Some(1));
}

/// Feeds the same words to many plain and many adaptive tables: both must hold each word with probability q.
#[test]
fn plain_and_efficient_tables_hold_each_word_with_probability_q() {
    for exponent in [1.0, 0.75, 0.4] {
        const WORDS: usize = 12;
        const SIZE: usize = 60;
        let mut stream = Random::new(5);
        let words: Vec<usize> = (0..400).map(|_| zipf(WORDS, &mut stream)).collect();
        let mut plain_seen = vec![0; WORDS];
        let mut adaptive_seen = vec![0; WORDS];
        let mut counts = [0u64; WORDS];
        for seed in 0..TABLES {
            let mut random = Random::new(seed);
            let mut plain = PlainTable::new(SIZE, exponent);
            let mut adaptive = AdaptiveTable::new(SIZE, exponent);
            counts.fill(0);
            for &word in &words {
                counts[word] += 1;
                plain.add(word as u32, counts[word], &mut random);
                adaptive.add(WordId::from_saved(word as u32), &mut random);
            }
            // One draw from each table: the slots of a table depend on each other, because a word is copied at once.
            plain_seen[plain.slots()[random.below(plain.slots().len())] as usize] += 1;
            adaptive_seen[adaptive.draw(&mut random).unwrap().index()] += 1;
        }
        let weights: Vec<f64> = counts.iter().map(|&n| weight(n, exponent)).collect();
        assert_fits(&plain_seen, &weights);
        assert_fits(&adaptive_seen, &weights);
    }
}

/// Follows a vocabulary with evictions, as the trainer does.
fn follow(words: &[usize], capacity: usize, size: usize, random: &mut Random) -> (Vocabulary, AdaptiveTable) {
    let mut vocabulary = Vocabulary::new(capacity);
    let mut table = AdaptiveTable::new(size, 0.75);
    for word in words {
        let id = match vocabulary.observe(&format!("w{word}")) {
            Observed::Known(id) => id,
            Observed::Admitted(fresh) => {
                fresh.evicted().inspect(|&id| table.forget(id));
                table.refresh(random);
                fresh.reset(|_, _| ())
            }
            Observed::Rejected => continue,
        };
        table.add(id, random);
    }
    (vocabulary, table)
}

#[test]
fn the_noise_is_exact_under_eviction_and_reuse() {
    const CAPACITY: usize = 12;
    let mut stream = Random::new(9);
    let words: Vec<usize> = (0..400).map(|_| zipf(40, &mut stream)).collect();
    for size in [50, 100_000] {
        let mut seen = vec![0; CAPACITY];
        let mut weights = vec![0.0; CAPACITY];
        let mut evictions = 0;
        for seed in 0..TABLES {
            let mut random = Random::new(seed);
            let (vocabulary, table) = follow(&words, CAPACITY, size, &mut random);
            evictions = vocabulary.totals().evictions;
            weights.fill(0.0);
            for id in vocabulary.ids() {
                weights[id.index()] = weight(vocabulary.count(id), 0.75);
            }
            seen[table.draw(&mut random).unwrap().index()] += 1;
        }
        assert!(evictions > 40, "{evictions}");
        assert_fits(&seen, &weights);
    }
}

#[test]
fn a_word_that_left_is_never_drawn() {
    let mut random = Random::new(2);
    let mut table = AdaptiveTable::new(1_000, 1.0);
    let [a, b] = [0, 1].map(WordId::from_saved);
    for _ in 0..500 {
        table.add(a, &mut random);
        table.add(b, &mut random);
    }
    table.forget(a);
    assert!((0..1_000).all(|_| table.draw(&mut random) == Some(b)));
    // The id goes to another word, which starts without any mass.
    table.forget(a);
    assert!((0..1_000).all(|_| table.draw(&mut random) == Some(b)));
    table.forget(b);
    assert_eq!(table.draw(&mut random), None);
}

#[test]
fn increments_do_not_vanish_at_large_counts() {
    // In float32, 5·10⁷ + 1 is 5·10⁷.
    let count = 60_000_000;
    assert!(increment(count, 1.0) == 1.0);
    let exact = 0.75 * (count as f64).powf(-0.25);
    assert!((increment(count, 0.75) / exact - 1.0).abs() < 1e-6);
}

#[test]
fn usual_exponents_agree_with_powf() {
    for count in [0u64, 1, 2, 3, 10, 12_345, 1 << 40] {
        for exponent in [0.75, 1.0] {
            let expected = (count as f64).powf(exponent);
            assert!((weight(count, exponent) - expected).abs() <= 1e-12 * expected);
        }
    }
}
