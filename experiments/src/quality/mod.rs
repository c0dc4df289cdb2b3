//! Section 5.2 of the paper: are vectors learned from a stream as good as those of conventional programs?
//!
//! Every method learns the same text with the same settings and is scored on the same words. A cell is one method with
//! one setting and one seed; cells are independent, and each runs on one thread, which rules out races between
//! threads.

mod method;
mod plan;
mod texts;

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use skipstream::{Vectors, formats};

use crate::data::Data;
use crate::options::Options;
use crate::peers::contender::{Contender, Job};
use crate::peers::installed::Installed;
use crate::peers::setting::Setting;
use crate::record::{Record, Rows, work_folder};
use crate::scores::{Measure, Set, SetScore, score_among};
pub use method::Method;
use plan::Plan;
use texts::Texts;
use xtask::command::{build_skipstream, run_logged};

const SCORES: &str = "scores.csv";

/// Share of the words above the minimum count that every method with the whole vocabulary bound knows. A Misra–Gries
/// summary is smaller than its bound after evictions, by a quarter at some points of the stream.
const SHARED: f64 = 0.6;

/// Share that the methods with the smallest bound know, too.
const FREQUENT: f64 = 0.3;

/// One score of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub setting: Setting,
    pub method: Method,
    pub seed: u32,
    /// Vocabulary bound, if the method has one.
    pub max_vocabulary: Option<u32>,
    /// Number of words known in the end.
    pub vocabulary: usize,
    /// The scored words, the most frequent ones: as a share of those above the minimum count, and their number.
    pub scored_share: f64,
    pub scored_words: usize,
    /// `target`, or the `sum` of target and context.
    pub vectors: Vectors,
    pub set: Set,
    pub measure: Measure,
    pub score: Option<f64>,
    pub used: usize,
    pub total: usize,
}

/// A method with a setting and a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    setting: Setting,
    method: Method,
    seed: u32,
}

/// Trains and scores all cells that have no rows yet.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let texts = Texts::prepare(&data, &plan)?;
    let record = Record::open(options, "quality", &plan, texts.sources())?;
    let rows = record.rows(SCORES)?;
    let installed = Installed::prepare(build_skipstream()?, &work_folder()?);

    let cells: VecDeque<Cell> = plan.cells().into_iter().filter(|cell| !is_done(&rows, cell)).collect();
    let bench = Bench { texts, installed, eval, folder: work_folder()?.join("quality") };
    fs::create_dir_all(&bench.folder)?;
    bench.run(cells, rows)
}

fn is_done(rows: &Rows<Row>, cell: &Cell) -> bool {
    let is_of_cell =
        |row: &Row| (row.setting, row.method, row.seed) == (cell.setting, cell.method, cell.seed);
    rows.rows().iter().any(is_of_cell)
}

/// Everything that a cell needs.
struct Bench {
    texts: Texts,
    installed: Installed,
    eval: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// Runs the cells, one per core at a time. A failed cell is reported and skipped.
    fn run(&self, cells: VecDeque<Cell>, rows: Rows<Row>) -> Result<()> {
        let n_cells = cells.len();
        let queue = Mutex::new(cells);
        let rows = Mutex::new(rows);
        let unlocked = PoisonError::into_inner;
        let work = || -> Result<()> {
            loop {
                let (cell, n_left) = {
                    let mut queue = queue.lock().unwrap_or_else(unlocked);
                    let Some(cell) = queue.pop_front() else { return Ok(()) };
                    (cell, queue.len())
                };
                let Some(contender) = cell.method.contender(&self.installed) else { continue };
                let name = format!("{}, {}, seed {}", cell.setting.name(), cell.method.name(), cell.seed);
                match self.cell(&cell, &contender) {
                    Ok(scored) => {
                        eprintln!("{} of {n_cells}: {name}: {}", n_cells - n_left, summary(&scored));
                        rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(scored)?;
                    }
                    Err(error) => eprintln!("{name} failed: {error:#}"),
                }
            }
        };
        let n_workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
        })
    }

    fn cell(&self, cell: &Cell, contender: &Contender) -> Result<Vec<Row>> {
        let text = self.texts.of(cell.setting);
        let max_vocabulary = cell.method.max_vocabulary(text.n_distinct, text.n_frequent);
        let name = format!("{} {} {}", cell.setting.name(), cell.method.name(), cell.seed);
        let folder = self.folder.join(name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"));
        // An existing model would be continued.
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let output = folder.join("trained.model");
        let job = Job {
            text: if contender.takes_seed() { text.in_order() } else { text.rotated(cell.seed) },
            output: &output,
            setting: cell.setting,
            threads: 1,
            seed: cell.seed,
            max_vocabulary: max_vocabulary.unwrap_or_default(),
            keeps_contexts: true,
        };
        run_logged(&mut contender.train(&job), &folder.join("log"))?;

        let mut rows = Vec::new();
        let kinds: &[Vectors] =
            if contender.has_contexts() { &[Vectors::Sum, Vectors::Target] } else { &[Vectors::Target] };
        for &vectors in kinds {
            let embeddings = formats::load(contender.vectors(&job, vectors)?, Vectors::default())
                .with_context(|| format!("the vectors of {}", contender.name()))?;
            for scored_share in [SHARED, FREQUENT] {
                let n_words = text.n_words(scored_share);
                for SetScore { set, measure, score, used, total } in
                    score_among(n_words, &embeddings, &self.eval, &Set::ALL)?
                {
                    rows.push(Row {
                        setting: cell.setting,
                        method: cell.method,
                        seed: cell.seed,
                        max_vocabulary,
                        vocabulary: embeddings.len(),
                        scored_share,
                        scored_words: n_words,
                        vectors,
                        set,
                        measure,
                        score,
                        used,
                        total,
                    });
                }
            }
        }
        fs::remove_dir_all(&folder)?;
        Ok(rows)
    }
}

/// The scores of a cell by the measures of the paper.
fn summary(rows: &[Row]) -> String {
    let is_first = |row: &&Row| {
        row.vectors == rows[0].vectors
            && row.scored_share == rows[0].scored_share
            && row.measure == row.set.measure()
    };
    let first = rows.iter().filter(is_first);
    let shown = first.map(|row| match row.score {
        Some(score) => format!("{} {score:.1}", row.set.name()),
        None => format!("{} –", row.set.name()),
    });
    shown.collect::<Vec<_>>().join(", ")
}
