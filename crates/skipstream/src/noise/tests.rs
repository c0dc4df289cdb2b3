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
fn a_recount_draws_by_the_new_counts_and_words_can_still_be_added() {
    let counts = [40u64, 0, 7, 1_500, 1, 300];
    let mut random = Random::new(7);
    let mut table = AdaptiveTable::new(100_000, 0.75);
    // What it knew before does not matter.
    (0..100).for_each(|_| table.add(WordId::from_saved(1), &mut random));
    table.recount(&counts, &mut random);
    let mut seen = vec![0; counts.len()];
    for _ in 0..100_000 {
        seen[table.draw(&mut random).unwrap().index()] += 1;
    }
    let weights: Vec<f64> = counts.iter().map(|&count| weight(count, 0.75)).collect();
    // A word has a whole number of slots: its weight, rounded.
    for ((&seen, weight), count) in seen.iter().zip(&weights).zip(counts) {
        let total: f64 = weights.iter().sum();
        let (least, most) = ((weight - 1.0).max(0.0) / total * 1e5, (weight + 1.0) / total * 1e5);
        let margin = 5.0 * most.sqrt();
        let seen = seen as f64;
        assert!(seen >= least - margin && seen <= most + margin, "{count}: {seen}, not {least} to {most}");
        assert!(count > 0 || seen == 0.0);
    }
    let total = table.totals()[0];
    table.add(WordId::from_saved(4), &mut random);
    assert!((table.totals()[0] - total - (weight(2, 0.75) - 1.0)).abs() < 1e-9);
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

/// The number of evictions of an id has 32 bits and wraps: with a vocabulary of two words, that can happen in hours. A
/// dead slot would be taken for a live one only if it stayed in the table over 2³² evictions of its id; but each eviction
/// adds dead weight, and the table is rebuilt when a quarter of it is dead.
#[test]
fn the_generation_of_an_id_may_wrap() {
    let [first, second] = [0, 1].map(WordId::from_saved);
    let saved = SavedTable {
        slots: [[0, u32::MAX], [1, 7]].repeat(20),
        generations: vec![u32::MAX, 7],
        totals: [1_000.0, 0.0],
    };
    let mut table = AdaptiveTable::new(40, 0.75);
    table.restore(saved, [500, 500].into_iter()).unwrap();
    let mut random = Random::new(3);
    table.forget(first);
    assert_eq!(table.generations(), [0, 7]);
    let draws = |table: &AdaptiveTable, random: &mut Random| -> Vec<WordId> {
        (0..200).map(|_| table.draw(random).unwrap()).collect()
    };
    assert!(draws(&table, &mut random).iter().all(|id| *id == second), "the word that left is dead");
    (0..2_000).for_each(|_| table.add(first, &mut random));
    let drawn = draws(&table, &mut random);
    assert!(drawn.contains(&first) && drawn.contains(&second), "the new word of the id is alive");
}

/// Weights are sums in 64-bit floats. The weight of one more occurrence is lost in the total once a word has occurred
/// about 2⁵² times; until then the table follows the stream.
#[test]
fn the_total_weight_grows_up_to_2_to_the_52_occurrences() {
    for (bits, grows) in [(40, true), (50, true), (60, false)] {
        let count = 1u64 << bits;
        let mut table = AdaptiveTable::new(10, 0.75);
        let saved = SavedTable {
            slots: vec![[0, 0]; 10],
            generations: vec![0],
            totals: [(count as f64).powf(0.75), 0.0],
        };
        table.restore(saved, [count].into_iter()).unwrap();
        let [before, _] = table.totals();
        let mut random = Random::new(1);
        (0..100).for_each(|_| table.add(WordId::from_saved(0), &mut random));
        let [after, _] = table.totals();
        assert!(after.is_finite() && after >= before);
        assert_eq!(after > before, grows, "{bits} bits: {before} and {after}");
        assert_eq!(table.draw(&mut random), Some(WordId::from_saved(0)));
    }
}
