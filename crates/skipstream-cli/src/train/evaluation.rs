//! Scores over time, while the model learns.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::{Progress, Trainer, Vectors};

/// Number of most frequent words to score: analogies then take a second, not minutes.
pub const WORDS: usize = 30_000;

/// Test sets, and the progress at the last evaluation.
pub struct Evaluation {
    sets: Vec<(PathBuf, TestSet)>,
    began: Instant,
    earlier: Progress,
    is_first: bool,
    /// Files without a usable question at the last evaluation.
    unanswered: Vec<PathBuf>,
}

/// The scores at one point of the stream.
#[derive(Debug, Serialize)]
pub struct Point<'a> {
    /// Words learned since the model was created.
    words: u64,
    /// Seconds since this training started.
    seconds: f64,
    /// Mean loss of the pairs trained since the last evaluation, if any.
    loss: Option<f64>,
    vocabulary: usize,
    /// In command-line order.
    scores: Vec<FileScore<'a>>,
}

#[derive(Debug, Serialize)]
struct FileScore<'a> {
    file: &'a Path,
    #[serde(flatten)]
    score: Score,
}

impl Evaluation {
    /// Reads all test sets.
    pub fn new(files: &[PathBuf], now: Progress) -> Result<Evaluation> {
        let sets = files.iter().map(|path| Ok((path.clone(), TestSet::open(path)?)));
        let sets = sets.collect::<Result<_>>()?;
        Ok(Evaluation { sets, began: Instant::now(), earlier: now, is_first: true, unanswered: Vec::new() })
    }

    /// Scores the model, unless it has not changed since the last evaluation.
    pub fn point(&mut self, trainer: &Trainer) -> Result<Option<Point<'_>>> {
        let now = trainer.progress();
        let trained = now.totals.since(&self.earlier.totals);
        let is_new = self.is_first || trained.pairs > 0 || now.tokens > self.earlier.tokens;
        self.earlier = now;
        self.is_first = false;
        if !is_new {
            return Ok(None);
        }
        let embeddings = trainer.top_embeddings(Vectors::default(), WORDS)?;
        let options = EvalOptions { threads: Some(trainer.settings().threads()), ..EvalOptions::default() };
        let evaluator = Evaluator::new(&embeddings, options)?;
        let scores =
            self.sets.iter().map(|(file, set)| FileScore { file, score: evaluator.score(set, &|_| ()) });
        let scores: Vec<FileScore<'_>> = scores.collect();
        let unanswered = scores.iter().filter(|scored| scored.score.used() == 0);
        self.unanswered = unanswered.map(|scored| scored.file.to_owned()).collect();
        Ok(Some(Point {
            words: now.tokens,
            seconds: self.began.elapsed().as_secs_f64(),
            loss: (trained.pairs > 0).then(|| trained.mean_loss()),
            vocabulary: now.vocabulary,
            scores,
        }))
    }

    /// Warnings about the last scores.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.unanswered.iter().map(|file| {
            format!("{}: no question has all its words among the {WORDS} most frequent", file.display())
        })
    }
}
