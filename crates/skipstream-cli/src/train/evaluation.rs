//! Scores over time: what the model is worth while it learns.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::{Progress, Trainer, Vectors};

/// Only so many words, the most frequent ones, are scored: analogies then take a second and not minutes.
pub const WORDS: usize = 30_000;

/// Test sets, and the model as it was when it was last held against them.
pub struct Evaluation {
    sets: Vec<(PathBuf, TestSet)>,
    began: Instant,
    earlier: Progress,
    is_first: bool,
    /// Files of which no question could be asked the last time.
    unanswered: Vec<PathBuf>,
}

/// The scores at one point of the stream.
#[derive(Debug, Serialize)]
pub struct Point<'a> {
    /// Words learned since the model was made.
    words: u64,
    /// Since this training began.
    seconds: f64,
    /// The mean loss of the pairs that were trained since the point before; nothing where there were none.
    loss: Option<f64>,
    /// Words that the model knows.
    vocabulary: usize,
    /// In the order in which the files were named.
    scores: Vec<FileScore<'a>>,
}

#[derive(Debug, Serialize)]
struct FileScore<'a> {
    file: &'a Path,
    #[serde(flatten)]
    score: Score,
}

impl Evaluation {
    /// Reads the test sets, all of them before anything is learned.
    pub fn new(files: &[PathBuf], now: Progress) -> Result<Evaluation> {
        let sets = files.iter().map(|path| Ok((path.clone(), TestSet::open(path)?)));
        let sets = sets.collect::<Result<_>>()?;
        Ok(Evaluation { sets, began: Instant::now(), earlier: now, is_first: true, unanswered: Vec::new() })
    }

    /// Scores the model; nothing if it was scored as it is.
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

    /// What should be said of the last scores.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.unanswered.iter().map(|file| {
            format!("{}: no question has all its words among the {WORDS} most frequent", file.display())
        })
    }
}
