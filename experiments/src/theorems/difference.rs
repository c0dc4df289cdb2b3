//! ΔL(θ) of a dataset, computed exactly with running sums.
//!
//! ΔL = L_B − L_I = (2ck/n) Σ_i Σ_v (q_b(v) − q_n(v)) ψ_{w_i,v}, where b = b(i, M) is the end of the mini-batch of
//! position i: i itself for M = 1, the incremental case. With S(w) = Σ_v f(v)^e ψ_{w,v} and z = Σ_v f(v)^e over the
//! words so far, the inner sum is S(w_i)/z at b minus S(w_i)/z at n. A word u raises f(u) by one, which adds one row of
//! the table of scores to S, times f^e − (f − 1)^e.
//!
//! Two things make this fast. Rows are added for a block of words at once, equal words merged, so that S is loaded and
//! stored once per block; within a block, S at a position is S at the start of the block plus the few scores of the pairs
//! between. And the loop is compiled for AVX-512 and AVX2 as well as for the baseline. The order of the operations is
//! the same in all of them, so the result has the same bits.
//!
//! The same pass computes the linear part of ΔL (see [`Expansion`](super::expansion::Expansion)): (2ck/n) Σ_i Σ_v (Y_b(v) − Y_n(v)) h_v with
//! Y_i(v) = f_i(v)/i.

use super::expansion::Theta;
use super::scores::{LANES, Scores};

/// The exponents of the noise.
pub const EXPONENTS: [f64; 2] = [1.0, 0.75];

/// The number of batch sizes.
pub const N_BATCHES: usize = 4;

/// 2ck with c = 5 and k = 5.
pub const PAIRS: f64 = 50.0;

/// The sizes of the mini-batches: one word, which is the incremental case, and multiples of the second size.
pub type Batches = [usize; N_BATCHES];

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    pub whole: f64,
    pub linear: f64,
}

/// The differences for each exponent and batch size.
pub type Differences = [[Difference; N_BATCHES]; EXPONENTS.len()];

/// The end of the batch of a position, counted from one.
pub fn batch_end(position: usize, batch: usize, n: usize) -> usize {
    position.next_multiple_of(batch).min(n)
}

/// ΔL of a dataset and its linear part, for all exponents and batch sizes.
pub fn differences(theta: &Theta, words: &[u16], batches: Batches) -> Differences {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor supports these instructions.
            return unsafe { with_avx512(theta, words, batches) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor supports these instructions.
            return unsafe { with_avx2(theta, words, batches) };
        }
    }
    portable(theta, words, batches)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn with_avx512(theta: &Theta, words: &[u16], batches: Batches) -> Differences {
    portable(theta, words, batches)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(theta: &Theta, words: &[u16], batches: Batches) -> Differences {
    portable(theta, words, batches)
}

/// A row of scores to add, with its factor for each exponent.
#[derive(Clone, Copy)]
struct Term {
    word: u16,
    factors: [f64; EXPONENTS.len()],
}

/// Sums over the words so far.
struct Running {
    /// S for each exponent, in lanes.
    sums: Vec<[[f64; LANES]; EXPONENTS.len()]>,
    counts: Vec<u32>,
    /// f^e for the exponent that is not one.
    powers: Vec<f64>,
    /// z for each exponent.
    totals: [f64; EXPONENTS.len()],
    /// Σ h(w_j) for each exponent.
    directions: [f64; EXPONENTS.len()],
}

#[inline(always)]
fn portable(Theta { scores, expansions }: &Theta, words: &[u16], batches: Batches) -> Differences {
    assert!(batches[0] == 1 && batches[1..].iter().all(|size| size.is_multiple_of(batches[1])));
    let n = words.len();
    let directions = [&expansions[0].direction[..], &expansions[1].direction[..]];
    let mut running = Running {
        sums: vec![Default::default(); scores.size().div_ceil(LANES)],
        counts: vec![0; scores.size()],
        powers: vec![0.0; scores.size()],
        totals: [0.0; EXPONENTS.len()],
        directions: [0.0; EXPONENTS.len()],
    };
    let mut found = Differences::default();
    let mut terms: Vec<Term> = Vec::with_capacity(batches[1]);
    let mut merged: Vec<Term> = Vec::with_capacity(batches[1]);
    for (block_index, block) in words.chunks(batches[1]).enumerate() {
        terms.clear();
        for &word in block {
            let term = running.count(word, directions);
            terms.push(term);
            let mut sums = running.at(word);
            for term in &terms {
                let score = scores.of(usize::from(word), usize::from(term.word));
                sums[0] += term.factors[0] * score;
                sums[1] += term.factors[1] * score;
            }
            for (exponent, sum) in sums.into_iter().enumerate() {
                let difference = &mut found[exponent][0];
                difference.whole += sum / running.totals[exponent];
                difference.linear += running.directions[exponent] / running.totals[0];
            }
        }
        merge(&terms, &mut merged);
        running.add(scores, &merged);

        let end = block_index * batches[1] + block.len();
        for (place, &batch) in batches.iter().enumerate().skip(1) {
            if end.is_multiple_of(batch) || end == n {
                let start = (end - 1) / batch * batch;
                let sums = running.sum_over(&words[start..end]);
                for (exponent, sum) in sums.into_iter().enumerate() {
                    let difference = &mut found[exponent][place];
                    difference.whole += sum / running.totals[exponent];
                    difference.linear += (end - start) as f64 * running.directions[exponent] / end as f64;
                }
            }
        }
    }

    let last = running.sum_over(words);
    for (exponent, differences) in found.iter_mut().enumerate() {
        for difference in differences {
            difference.whole -= last[exponent] / running.totals[exponent];
            difference.linear -= running.directions[exponent];
            difference.whole *= PAIRS / n as f64;
            difference.linear *= PAIRS / n as f64;
        }
    }
    found
}

impl Running {
    /// Counts a word and returns what it adds to S.
    #[inline(always)]
    fn count(&mut self, word: u16, directions: [&[f64]; EXPONENTS.len()]) -> Term {
        let index = usize::from(word);
        self.counts[index] += 1;
        let power = f64::from(self.counts[index]).powf(EXPONENTS[1]);
        let factors = [1.0, power - self.powers[index]];
        self.powers[index] = power;
        for (exponent, factor) in factors.into_iter().enumerate() {
            self.totals[exponent] += factor;
            self.directions[exponent] += directions[exponent][index];
        }
        Term { word, factors }
    }

    #[inline(always)]
    fn at(&self, word: u16) -> [f64; EXPONENTS.len()] {
        let word = usize::from(word);
        let lanes = &self.sums[word / LANES];
        [lanes[0][word % LANES], lanes[1][word % LANES]]
    }

    /// Σ S(w) over words.
    #[inline(always)]
    fn sum_over(&self, words: &[u16]) -> [f64; EXPONENTS.len()] {
        let mut sums = [0.0; EXPONENTS.len()];
        for &word in words {
            let at = self.at(word);
            sums[0] += at[0];
            sums[1] += at[1];
        }
        sums
    }

    /// Adds rows to S.
    #[inline(always)]
    fn add(&mut self, scores: &Scores, terms: &[Term]) {
        for (index, sums) in self.sums.iter_mut().enumerate() {
            let [mut first, mut second] = *sums;
            for term in terms {
                let row = scores.lanes(usize::from(term.word), index);
                for lane in 0..LANES {
                    let score = f64::from(row[lane]);
                    first[lane] = term.factors[0].mul_add(score, first[lane]);
                    second[lane] = term.factors[1].mul_add(score, second[lane]);
                }
            }
            *sums = [first, second];
        }
    }
}

/// Merges equal words of a block.
#[inline(always)]
fn merge(terms: &[Term], merged: &mut Vec<Term>) {
    merged.clear();
    for term in terms {
        match merged.iter_mut().find(|other| other.word == term.word) {
            Some(other) => {
                other.factors[0] += term.factors[0];
                other.factors[1] += term.factors[1];
            }
            None => merged.push(*term),
        }
    }
}

#[cfg(test)]
mod tests {
    use skipstream::unstable::Random;

    use super::*;

    const SIZE: usize = 21;

    /// The definition: O(n · |V|) for each position.
    fn by_definition(theta: &Theta, words: &[u16], batch: usize, place: usize) -> Difference {
        let (scores, direction, exponent) =
            (&theta.scores, &theta.expansions[place].direction, EXPONENTS[place]);
        let n = words.len();
        let shares = |n: usize, exponent: f64| {
            let mut shares = vec![0f64; scores.size()];
            for &word in &words[..n] {
                shares[usize::from(word)] += 1.0;
            }
            for share in &mut shares {
                *share = if *share > 0.0 { share.powf(exponent) } else { 0.0 };
            }
            let total: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / total).collect::<Vec<_>>()
        };
        let mut difference = Difference::default();
        for position in 1..=n {
            let end = batch_end(position, batch, n);
            let (noise, last) = (shares(end, exponent), shares(n, exponent));
            let (unigrams, last_unigrams) = (shares(end, 1.0), shares(n, 1.0));
            let center = usize::from(words[position - 1]);
            for context in 0..scores.size() {
                difference.whole += (noise[context] - last[context]) * scores.of(center, context);
                difference.linear += (unigrams[context] - last_unigrams[context]) * direction[context];
            }
        }
        difference.whole *= PAIRS / n as f64;
        difference.linear *= PAIRS / n as f64;
        difference
    }

    #[test]
    fn running_sums_agree_with_the_definition() {
        let mut random = Random::new(5);
        let shares: Vec<f64> = (1..=SIZE).map(|rank| 1.0 / rank as f64).collect();
        let total: f64 = shares.iter().sum();
        let shares: Vec<f64> = shares.into_iter().map(|share| share / total).collect();
        let theta = Theta::random(SIZE, 9, &shares);
        for (n, sizes) in
            [(1, [1, 2, 4, 6]), (97, [1, 3, 9, 12]), (240, [1, 10, 20, 50]), (5, [1, 10, 20, 50])]
        {
            let words: Vec<u16> = (0..n).map(|_| random.below(SIZE).min(random.below(SIZE)) as u16).collect();
            let found = differences(&theta, &words, sizes);
            assert_eq!(found, portable(&theta, &words, sizes));
            for (place, exponent) in EXPONENTS.into_iter().enumerate() {
                for (found, batch) in found[place].into_iter().zip(sizes) {
                    let expected = by_definition(&theta, &words, batch, place);
                    let where_ = format!("{n} words, exponent {exponent}, batches of {batch}");
                    assert!((found.whole - expected.whole).abs() < 1e-11, "{where_}: {found:?} {expected:?}");
                    assert!(
                        (found.linear - expected.linear).abs() < 1e-11,
                        "{where_}: {found:?} {expected:?}"
                    );
                }
            }
        }
    }
}
