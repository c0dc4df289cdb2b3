//! Section 5.1 of the paper: the moments of ΔL(θ), the difference between the objectives of batch and incremental
//! training, compared with the theorems.
//!
//! Modules are in reading order.

mod vocabulary;

mod scores;

mod expansion;

mod difference;

mod independent;

mod smoothed;

mod sums;

mod renewal;

mod datasets;

mod moments;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::datasets::{Kind, Population, Sample};
use self::difference::{Differences, EXPONENTS};
use self::expansion::Theta;
use self::independent::{expected, theorem};
use self::moments::{Case, Constant, Moments, Theory};
use self::renewal::{Limits, Renewal};
use self::smoothed::Smoothed;
use self::vocabulary::{ReducedText, SIZE};
use crate::data::Data;
use crate::options::Options;
use crate::parallel::n_cores;
use crate::record::{self, Rows};
use xtask::text::grouped;

const SENTENCE: usize = 25;
const PARAGRAPH: usize = 250;
const BATCHES: [usize; 4] = [1, 10, 100, 1000];

#[derive(Serialize)]
struct Plan {
    vocabulary: usize,
    exponents: [f64; EXPONENTS.len()],
    batches: [usize; 4],
    longest_sentence: usize,
    longest_paragraph: usize,
    /// Words of a dataset, and the number of datasets of each kind.
    sizes: Vec<(usize, usize)>,
    seed: u64,
    /// The seeds of θ. Most cases use the one whose first moment is the largest by Theorem 1: others are nearly zero and
    /// drown in noise.
    thetas: Vec<u64>,
    /// Words per dataset and number of datasets for the comparison of all θ.
    thetas_size: (usize, usize),
}

impl Plan {
    fn new(quick: bool) -> Self {
        let datasets = if quick { [5_000, 2_000, 200, 20, 3] } else { [10_000, 10_000, 3_000, 300, 40] };
        let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
        Self {
            vocabulary: SIZE,
            exponents: EXPONENTS,
            batches: BATCHES,
            longest_sentence: SENTENCE,
            longest_paragraph: PARAGRAPH,
            sizes: sizes.into_iter().zip(datasets).collect(),
            seed: 1,
            thetas: (1..=6).collect(),
            thetas_size: (10_000, if quick { 2_000 } else { 10_000 }),
        }
    }

    fn n_words(&self) -> usize {
        let of_kind: usize = self.sizes.iter().map(|(n, datasets)| n * datasets).sum();
        of_kind * Kind::ALL.len() + (self.thetas.len() - 1) * self.thetas_size.0 * self.thetas_size.1
    }
}

/// One θ and its derived quantities.
struct Parameters {
    seed: u64,
    theta: Theta,
    /// For the second exponent.
    smoothed: Smoothed,
}

impl Parameters {
    fn new(seed: u64, shares: &[f64], longest: usize) -> Self {
        let theta = Theta::random(SIZE, seed, shares);
        let smoothed = Smoothed::new(&theta.scores, shares, EXPONENTS[1], longest);
        Self { seed, theta, smoothed }
    }
}

/// The theory for a kind of dataset.
enum Knowledge<'a> {
    Independent,
    /// For each exponent.
    Pieces(&'a [Renewal; EXPONENTS.len()]),
    Nothing,
}

struct Files {
    moments: Rows<Case>,
    theory: Rows<Case>,
    constants: Rows<Constant>,
}

/// Measures the moments of ΔL for all kinds and sizes of datasets. Theory is recomputed each time.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let (text, source) = ReducedText::read(&Data::new(options)?)?;
    let record = record::open(options, "theorems", &plan, vec![source])?;
    let mut files = Files {
        moments: Rows::open(record.join("moments.csv"))?,
        theory: recreated(&record.join("theory.csv"))?,
        constants: recreated(&record.join("constants.csv"))?,
    };
    let population =
        Population { sentences: text.pieces(SENTENCE), paragraphs: text.pieces(PARAGRAPH), text };
    let shares = population.text.shares();
    let longest = plan.sizes.iter().map(|&(n, _)| n).max().unwrap_or(0);
    let mut thetas: Vec<_> =
        plan.thetas.iter().map(|&seed| Parameters::new(seed, &shares, longest)).collect();
    thetas.sort_by(|a, b| {
        let constant = |parameters: &Parameters| parameters.theta.expansions[0].covariance.abs();
        constant(b).total_cmp(&constant(a))
    });
    let (main, others) = thetas.split_first().expect("there are seeds");

    announce(&plan, &population, &main.theta);
    let renewal =
        |pieces| main.theta.expansions.each_ref().map(|one| Renewal::new(&population.text, pieces, one));
    let (sentences, paragraphs) = (renewal(&population.sentences), renewal(&population.paragraphs));
    let knowledge = |kind: Kind| match kind {
        Kind::Independent => Knowledge::Independent,
        Kind::Sentences => Knowledge::Pieces(&sentences),
        Kind::Paragraphs => Knowledge::Pieces(&paragraphs),
        Kind::Consecutive => Knowledge::Nothing,
    };
    for kind in Kind::ALL {
        files.note_constants(main, kind, knowledge(kind))?;
    }
    for &(n, datasets) in &plan.sizes {
        for kind in Kind::ALL {
            files.note_theory(main, kind, n, knowledge(kind))?;
            files.measure(&population, main, Sample { kind, n, datasets, seed: plan.seed })?;
        }
    }
    let (n, datasets) = plan.thetas_size;
    for parameters in others {
        let kind = Kind::Independent;
        files.note_constants(parameters, kind, knowledge(kind))?;
        files.note_theory(parameters, kind, n, knowledge(kind))?;
        files.measure(&population, parameters, Sample { kind, n, datasets, seed: plan.seed })?;
    }
    Ok(())
}

/// A file whose rows are not kept from run to run.
fn recreated<Key: PartialEq + DeserializeOwned>(path: &Path) -> Result<Rows<Key>> {
    if path.exists() {
        fs::remove_file(path).with_context(|| format!("could not remove {}", path.display()))?;
    }
    Rows::open(path.into())
}

impl Files {
    /// Measures a sample that has no rows yet.
    fn measure(&mut self, population: &Population, parameters: &Parameters, sample: Sample) -> Result<()> {
        let Sample { kind, n, datasets, .. } = sample;
        let theta = parameters.seed;
        let missing: Vec<_> =
            cases(theta, kind, n).filter(|(case, ..)| !self.moments.contains(case)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let found = differences_of(population, &parameters.theta, sample);
        eprintln!(
            "θ {theta}: {} datasets of {} words, {kind:?}: {:.1} s",
            grouped(datasets as u64),
            grouped(n as u64),
            start.elapsed().as_secs_f64()
        );
        for (case, exponent, batch) in missing {
            let differences: Vec<_> = found.iter().map(|found| found[exponent][batch]).collect();
            self.moments.push(case, [(case, Moments::new(&differences))])?;
        }
        Ok(())
    }

    fn note_theory(
        &mut self,
        parameters: &Parameters,
        kind: Kind,
        n: usize,
        knowledge: Knowledge<'_>,
    ) -> Result<()> {
        for (case, place, _) in cases(parameters.seed, kind, n) {
            let expansion = &parameters.theta.expansions[place];
            let second_order = theorem(expansion.covariance + expansion.curvature, n, case.batch);
            // Orders above the second are computed for independent words and assumed to be the same in pieces.
            let higher_orders = match place {
                0 => 0.0,
                _ => parameters.smoothed.first(n, case.batch) - second_order,
            };
            let expected = match knowledge {
                Knowledge::Independent => Some(expected(expansion, n, case.batch)),
                Knowledge::Pieces(renewal) => Some(renewal[place].expected(n, case.batch)),
                Knowledge::Nothing => None,
            }
            .map(|expected| expected.with(higher_orders));
            let theory = Theory {
                theorem: theorem(expansion.covariance, n, case.batch),
                second_order,
                first: expected.map(|expected| expected.first),
                linear: expected.map_or(0.0, |expected| expected.linear),
                second: expected.map(|expected| expected.second),
            };
            self.theory.push(case, [(case, theory)])?;
        }
        Ok(())
    }

    fn note_constants(
        &mut self,
        parameters: &Parameters,
        kind: Kind,
        knowledge: Knowledge<'_>,
    ) -> Result<()> {
        for (place, exponent) in EXPONENTS.into_iter().enumerate() {
            let limits = match knowledge {
                Knowledge::Independent => Limits::of_independent(&parameters.theta.expansions[place]),
                Knowledge::Pieces(renewal) => renewal[place].limits,
                Knowledge::Nothing => continue,
            };
            let constant = Constant { theta: parameters.seed, kind, exponent };
            self.constants.push(constant, [(constant, limits)])?;
        }
        Ok(())
    }
}

/// All exponents and batch sizes, with their indices.
fn cases(theta: u64, kind: Kind, n: usize) -> impl Iterator<Item = (Case, usize, usize)> {
    (0..EXPONENTS.len() * BATCHES.len()).map(move |number| {
        let (place, batch_place) = (number / BATCHES.len(), number % BATCHES.len());
        let (exponent, batch) = (EXPONENTS[place], BATCHES[batch_place]);
        (Case { theta, kind, exponent, batch, n }, place, batch_place)
    })
}

fn differences_of(population: &Population, theta: &Theta, sample: Sample) -> Vec<Differences> {
    population.differences(sample, theta, BATCHES, n_cores())
}

/// Estimates the duration from a few datasets, and prints it.
fn announce(plan: &Plan, population: &Population, theta: &Theta) {
    let sample = Sample { kind: Kind::Sentences, n: 100_000, datasets: 8, seed: 0 };
    let start = Instant::now();
    differences_of(population, theta, sample);
    let seconds = start.elapsed().as_secs_f64() / (sample.n * sample.datasets) as f64;
    let n_words = plan.n_words();
    eprintln!(
        "{:.0} ns per word, {} words: about {:.1} minutes",
        seconds * 1e9,
        grouped(n_words as u64),
        seconds * n_words as f64 / 60.0
    );
}
