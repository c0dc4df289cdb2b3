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
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::datasets::{Kind, Population, Sample};
use self::difference::{Batches, Differences, EXPONENTS};
use self::expansion::Expansion;
use self::independent::{expected, theorem};
use self::moments::{Constants, Moments, Theory};
use self::renewal::{Limits, Renewal};
use self::scores::Scores;
use self::smoothed::Smoothed;
use self::vocabulary::{ReducedText, SIZE};
use crate::data::Data;
use crate::options::Options;
use crate::record::{Record, Rows};
use xtask::text::grouped;

const NAME: &str = "theorems";
const MOMENTS: &str = "moments.csv";
const THEORY: &str = "theory.csv";
const CONSTANTS: &str = "constants.csv";

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
    theta: u64,
    scores: Scores,
    expansions: [Expansion; EXPONENTS.len()],
    /// For the second exponent.
    smoothed: Smoothed,
}

impl Parameters {
    fn new(theta: u64, shares: &[f64], longest: usize) -> Self {
        let scores = Scores::random(SIZE, theta);
        let expansions = EXPONENTS.map(|exponent| Expansion::new(&scores, shares, exponent));
        let smoothed = Smoothed::new(&scores, shares, EXPONENTS[1], longest);
        Self { theta, scores, expansions, smoothed }
    }
}

/// The theory for a kind of dataset.
enum Knowledge<'a> {
    Independent,
    Pieces(&'a Renewal),
    Nothing,
}

struct Files {
    moments: Rows<Moments>,
    theory: Rows<Theory>,
    constants: Rows<Constants>,
}

/// Measures the moments of ΔL for all kinds and sizes of datasets. Theory is recomputed each time.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let (text, source) = ReducedText::read(&Data::new(options)?)?;
    let record = Record::open(options, NAME, &plan, vec![source])?;
    let mut files = Files {
        moments: record.rows(MOMENTS)?,
        theory: recreated(&record, THEORY)?,
        constants: recreated(&record, CONSTANTS)?,
    };
    let population =
        Population { sentences: text.pieces(SENTENCE), paragraphs: text.pieces(PARAGRAPH), text };
    let shares = population.text.shares();
    let longest = plan.sizes.iter().map(|&(n, _)| n).max().unwrap_or(0);
    let mut thetas: Vec<_> =
        plan.thetas.iter().map(|&theta| Parameters::new(theta, &shares, longest)).collect();
    thetas.sort_by(|a, b| {
        let constant = |parameters: &Parameters| parameters.expansions[0].covariance.abs();
        constant(b).total_cmp(&constant(a))
    });
    let (main, others) = thetas.split_first().expect("there are seeds");

    announce(&plan, &population, main);
    let renewal = |pieces| Renewal::new(&population.text, pieces, &main.expansions);
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
fn recreated<Row: Serialize + DeserializeOwned>(record: &Record, name: &str) -> Result<Rows<Row>> {
    let path = record.folder().join(name);
    if path.exists() {
        fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
    }
    record.rows(name)
}

impl Files {
    /// Measures a sample that has no rows yet.
    fn measure(&mut self, population: &Population, parameters: &Parameters, sample: Sample) -> Result<()> {
        let Sample { kind, n, datasets, .. } = sample;
        let theta = parameters.theta;
        let missing: Vec<_> = each_case()
            .filter(|&(_, exponent, _, batch)| {
                !self.moments.rows().iter().any(|row| {
                    (row.theta, row.kind, row.n, row.batch) == (theta, kind, n, batch)
                        && row.exponent == exponent
                })
            })
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let found = differences_of(population, parameters, sample);
        eprintln!(
            "θ {theta}: {} datasets of {} words, {kind:?}: {:.1} s",
            grouped(datasets as u64),
            grouped(n as u64),
            start.elapsed().as_secs_f64()
        );
        for (place, exponent, batch_place, batch) in missing {
            let differences: Vec<_> = found.iter().map(|found| found[place][batch_place]).collect();
            self.moments.push(Moments::new(theta, sample, (exponent, batch), &differences))?;
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
        for (place, exponent, _, batch) in each_case() {
            let expansion = &parameters.expansions[place];
            let second_order = theorem(expansion.covariance + expansion.curvature, n, batch);
            // Orders above the second are computed for independent words and assumed to be the same in pieces.
            let higher_orders = match place {
                0 => 0.0,
                _ => parameters.smoothed.first(n, batch) - second_order,
            };
            let expected = match knowledge {
                Knowledge::Independent => Some(expected(expansion, n, batch)),
                Knowledge::Pieces(renewal) => Some(renewal.expected(place, expansion, n, batch)),
                Knowledge::Nothing => None,
            }
            .map(|expected| expected.with(higher_orders));
            self.theory.push(Theory {
                theta: parameters.theta,
                kind,
                exponent,
                batch,
                n,
                theorem: theorem(expansion.covariance, n, batch),
                second_order,
                first: expected.map(|expected| expected.first),
                linear: expected.map_or(0.0, |expected| expected.linear),
                second: expected.map(|expected| expected.second),
            })?;
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
            let expansion = &parameters.expansions[place];
            let (limits, mean_length) = match knowledge {
                Knowledge::Independent => (Limits::of_independent(expansion), 1.0),
                Knowledge::Pieces(renewal) => (renewal.limits(place, expansion), renewal.mean_length),
                Knowledge::Nothing => continue,
            };
            self.constants.push(Constants {
                theta: parameters.theta,
                kind,
                exponent,
                covariance: expansion.covariance,
                curvature: limits.curvature,
                earlier: limits.earlier,
                later: limits.later,
                cut: limits.cut,
                variance: limits.variance,
                mean_length,
            })?;
        }
        Ok(())
    }
}

/// All exponents and batch sizes, with their indices.
fn each_case() -> impl Iterator<Item = (usize, f64, usize, usize)> {
    EXPONENTS.into_iter().enumerate().flat_map(|(place, exponent)| {
        BATCHES.into_iter().enumerate().map(move |(batch_place, batch)| (place, exponent, batch_place, batch))
    })
}

fn differences_of(population: &Population, parameters: &Parameters, sample: Sample) -> Vec<Differences> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let batches = Batches::new(BATCHES);
    population.differences(sample, &parameters.scores, &parameters.expansions, batches, threads)
}

/// Estimates the duration from a few datasets, and prints it.
fn announce(plan: &Plan, population: &Population, parameters: &Parameters) {
    let sample = Sample { kind: Kind::Sentences, n: 100_000, datasets: 8, seed: 0 };
    let start = Instant::now();
    differences_of(population, parameters, sample);
    let seconds = start.elapsed().as_secs_f64() / (sample.n * sample.datasets) as f64;
    let n_words = plan.n_words();
    eprintln!(
        "{:.0} ns per word, {} words: about {:.1} minutes",
        seconds * 1e9,
        grouped(n_words as u64),
        seconds * n_words as f64 / 60.0
    );
}
