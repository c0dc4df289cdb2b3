//! How far is the paper's Algorithm 1 behind batch training, why, and does a warm-up close the gap?
//!
//! The gap is measured with skipstream on texts of growing size. Its causes are separated with `reference.rs`, which can
//! switch each of them on alone. Target and context vectors are added, as in the paper.

mod reference;

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use skipstream::corpus::{Lines, Source};
use skipstream::train::MultiPass;
use skipstream::{Config, Embeddings, IncrementalOptions, MiniBatchOptions, Strategy, Trainer, Vectors};

use self::reference::{Cause, Corpus as ReferenceText};
use crate::data::{Corpus, Data, Text};
use crate::options::Options;
use crate::record::{self, Rows};
use crate::scores::{Measure, N_FREQUENT, Set, SetScore, score};

const SETS: [Set; 4] = [Set::Ws353, Set::Men, Set::SimLex, Set::Google];

/// The experiment. It is written into the manifest.
#[derive(Serialize)]
struct Plan {
    texts: Vec<Excerpt>,
    /// Words of the first text with which causes are separated.
    cause_words: u64,
    cause_seeds: u64,
    /// Words of the warm-up, and of what counts as the start of a text.
    start_words: usize,
    scored_words: usize,
}

/// A text to learn, with seeds from 1.
#[derive(Serialize)]
struct Excerpt {
    #[serde(skip)]
    corpus: Corpus,
    n_words: u64,
    n_seeds: u64,
}

/// A way to learn a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    /// `gap` or `causes`.
    part: Part,
    text: String,
    words: u64,
    method: String,
    seed: u64,
}

/// What learns a text.
#[derive(Clone, Copy)]
enum Learner {
    Reference(Cause),
    Engine(Strategy),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    Causes,
    Gap,
}

impl Plan {
    fn new(quick: bool) -> Plan {
        let excerpt = |corpus, n_words, n_seeds| Excerpt { corpus, n_words, n_seeds };
        let texts = if quick {
            vec![excerpt(Corpus::Wiki2006, 100_000, 1), excerpt(Corpus::Wiki2006, 300_000, 1)]
        } else {
            vec![
                excerpt(Corpus::Wiki2006, 1_000_000, 3),
                excerpt(Corpus::Wiki2006, 4_000_000, 3),
                excerpt(Corpus::Wiki2006, 12_577_299, 3),
                excerpt(Corpus::Wiki2014, 40_000_000, 1),
            ]
        };
        let (cause_words, cause_seeds, start_words) =
            if quick { (200_000, 1, 10_000) } else { (3_000_000, 3, 100_000) };
        Plan { texts, cause_words, cause_seeds, start_words, scored_words: N_FREQUENT }
    }

    fn strategies(&self) -> [Strategy; 5] {
        let incremental = |warm_up_words| {
            Strategy::Incremental(IncrementalOptions { warm_up_words, ..IncrementalOptions::default() })
        };
        let algorithm_2 = MiniBatchOptions { replays: 0, ..MiniBatchOptions::default() };
        [
            Strategy::batch(),
            incremental(0),
            incremental(self.start_words),
            incremental(10 * self.start_words),
            Strategy::MiniBatch(algorithm_2),
        ]
    }
}

/// Trains and scores every missing cell, one at a time.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let small = data.plain_text(Corpus::Wiki2006, plan.cause_words)?;
    let mut texts = Vec::new();
    for excerpt in &plan.texts {
        match data.plain_text(excerpt.corpus, excerpt.n_words) {
            Ok(text) => texts.push((excerpt, text)),
            Err(error) => eprintln!("missing: {error:#}"),
        }
    }
    let sources =
        [&small].into_iter().chain(texts.iter().map(|(_, text)| text)).map(|text| text.source.clone());
    let record = record::open(options, "warm-up", &plan, sources.collect())?;
    let mut bench = Bench { rows: Rows::open(record.join("scores.csv"))?, eval: &eval };

    let content = fs::read_to_string(&small.path)
        .with_context(|| format!("could not read {}", small.path.display()))?;
    let reference = ReferenceText::new(&content);
    let mut cells = Vec::new();
    for seed in 1..=plan.cause_seeds {
        cells.extend(Cause::ALL.map(|cause| (&small, seed, Learner::Reference(cause))));
    }
    for (excerpt, text) in &texts {
        for seed in 1..=excerpt.n_seeds {
            cells.extend(
                plan.strategies().into_iter().map(|strategy| (text, seed, Learner::Engine(strategy))),
            );
        }
    }
    // Quick cells first, so that an interrupted run has something to show.
    cells.sort_by_key(|(text, seed, _)| seed * text.source.words);
    for (text, seed, learner) in cells {
        let embeddings = || match learner {
            Learner::Reference(cause) => reference.learn(cause, plan.start_words, seed),
            Learner::Engine(strategy) => learn(&text.path, strategy, seed),
        };
        bench.score(Cell::new(&learner, text, seed), embeddings)?;
    }
    Ok(())
}

/// Learns a text with skipstream, on one thread.
fn learn(path: &Path, strategy: Strategy, seed: u64) -> Result<Embeddings> {
    let config = Config { strategy, seed, threads: Some(1), ..Config::default() };
    let mut open = || -> skipstream::Result<Box<dyn Source>> {
        let file = File::open(path).map_err(|source| skipstream::Error::Io { path: path.into(), source })?;
        Ok(Box::new(Lines::new(BufReader::new(file), path, &config.text)?))
    };
    if strategy.passes().is_some() {
        let mut passes = MultiPass::new(config.clone())?;
        passes.train(&mut open, &mut ())?;
        return Ok(passes.model().embeddings_of(Vectors::Sum)?);
    }
    let mut trainer = Trainer::new(config.clone())?;
    trainer.train_source(&mut *open()?)?;
    Ok(trainer.embeddings_of(Vectors::Sum)?)
}

impl Cell {
    fn new(learner: &Learner, text: &Text, seed: u64) -> Cell {
        let record::Source { name, words, .. } = &text.source;
        let part = match learner {
            Learner::Reference(_) => Part::Causes,
            Learner::Engine(_) => Part::Gap,
        };
        Cell { part, text: name.clone(), words: *words, method: learner.name(), seed }
    }
}

impl Learner {
    fn name(&self) -> String {
        match self {
            Learner::Reference(cause) => cause.name().to_owned(),
            Learner::Engine(Strategy::Incremental(options)) if options.warm_up_words > 0 => {
                format!("incremental, warm-up of {}", options.warm_up_words)
            }
            Learner::Engine(strategy) => strategy.name().to_string(),
        }
    }
}

struct Bench<'a> {
    rows: Rows<Cell>,
    eval: &'a Path,
}

impl Bench<'_> {
    /// Writes the scores of a cell, unless the file has them.
    fn score(&mut self, cell: Cell, learn: impl FnOnce() -> Result<Embeddings>) -> Result<()> {
        if self.rows.contains(&cell) {
            return Ok(());
        }
        let scores = score(N_FREQUENT, &learn()?, self.eval, &SETS)?;
        let shown = scores.iter().filter(|score| score.measure != Measure::CosMul);
        let shown: Vec<String> = shown
            .map(|SetScore { set, score, .. }| format!("{set:?} {:.1}", score.unwrap_or(f64::NAN)))
            .collect();
        eprintln!("{}, {}, seed {}: {}", cell.text, cell.method, cell.seed, shown.join(", "));
        self.rows.push(cell.clone(), scores.into_iter().map(|score| (cell.clone(), score)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_name_of_its_own() {
        let plan = Plan::new(false);
        let mut names: Vec<String> =
            plan.strategies().map(|strategy| Learner::Engine(strategy).name()).into();
        assert_eq!(
            names[2..],
            ["incremental, warm-up of 100000", "incremental, warm-up of 1000000", "mini-batch"]
        );
        names.extend(Cause::ALL.map(|cause| Learner::Reference(cause).name()));
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        // `batch` and `incremental` are in both parts.
        assert_eq!(names.len(), n_names - 2);
    }
}
