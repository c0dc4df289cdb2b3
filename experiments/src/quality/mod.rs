//! Section 5.2 of the paper: are vectors learned from a stream as good as those of conventional programs?
//!
//! Every method learns the same text with the same settings and is scored on the same words. A cell is one method with
//! one setting and one seed; cells are independent, and each runs on one thread, which rules out races between
//! threads.

mod method;
mod plan;
mod texts;

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use skipstream::{Vectors, formats};

use self::method::Method;
use self::plan::Plan;
use self::texts::SeededText;
use crate::data::Data;
use crate::options::Options;
use crate::parallel::{in_parallel, n_cores};
use crate::peers::contender::{Contender, Job};
use crate::peers::installed::Installed;
use crate::peers::setting::Setting;
use crate::record::{self, Rows, work_folder};
use crate::scores::{Set, SetScore, score};
use xtask::command::run_logged;

/// Share of the words above the minimum count that every method with the whole vocabulary bound knows. A Misra–Gries
/// summary is smaller than its bound after evictions, by a quarter at some points of the stream.
const SHARED: f64 = 0.6;

/// Share that the methods with the smallest bound know, too.
const FREQUENT: f64 = 0.3;

/// A method with a setting and a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    setting: Setting,
    method: String,
    seed: u32,
}

/// The scored vectors of a cell.
#[derive(Clone, Copy, Serialize)]
struct Scored {
    /// Vocabulary bound, if the method has one.
    max_vocabulary: Option<u32>,
    /// Number of words known in the end.
    vocabulary: usize,
    /// The scored words, the most frequent ones: as a share of those above the minimum count, and their number.
    scored_share: f64,
    scored_words: usize,
    /// `target`, or the `sum` of target and context.
    vectors: Vectors,
}

/// Trains and scores all cells that have no rows yet, one per core at a time. A failed cell is reported and skipped.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let prepare = |planned| SeededText::prepare(&data, planned);
    let texts = plan.settings.iter().map(prepare).collect::<Result<Vec<_>>>()?;
    let sources = texts.iter().map(|text| text.text.source.clone()).collect();
    let record = record::open(options, "quality", &plan, sources)?;
    let rows: Rows<Cell> = Rows::open(record.join("scores.csv"))?;
    let missing = |(setting, method, seed): &(Setting, &Method, u32)| {
        !rows.contains(&Cell { setting: *setting, method: method.name.into(), seed: *seed })
    };
    let cells: Vec<_> = plan.cells().into_iter().filter(missing).collect();
    let programs: Vec<_> = cells.iter().map(|(_, method, _)| method.program).collect();
    let installed = Installed::prepare(options.program.clone(), &programs, &work_folder()?)?;
    let bench = Bench { eval, n_seeds: plan.seeds.len() as u32, folder: work_folder()?.join("quality") };
    fs::create_dir_all(&bench.folder)?;
    let rows = Mutex::new(rows);
    let done = in_parallel(n_cores(), cells.len(), |number| {
        let (setting, method, seed) = cells[number];
        let text = texts.iter().find(|text| text.setting == setting);
        let Some((text, path)) = text.zip(installed.path(method.program)) else { return Ok(()) };
        let Method { program, rate, passes, .. } = *method;
        let contender = Contender { program, path, rate, passes };
        let cell = Cell { setting, method: method.name.into(), seed };
        let name = format!("{}, {}, seed {seed}", setting.name(), method.name);
        match bench.score(&cell, method, &contender, text) {
            Ok(scored) => {
                eprintln!("{} of {}: {name}: {}", number + 1, cells.len(), summary(&scored));
                let scored = scored.into_iter().map(|(scored, score)| (cell.clone(), scored, score));
                rows.lock().unwrap_or_else(PoisonError::into_inner).push(cell.clone(), scored)
            }
            Err(error) => {
                eprintln!("{name} failed: {error:#}");
                Ok(())
            }
        }
    });
    done.into_iter().collect()
}

/// Where cells are trained and scored.
struct Bench {
    eval: PathBuf,
    n_seeds: u32,
    folder: PathBuf,
}

impl Bench {
    fn score(
        &self,
        cell: &Cell,
        method: &Method,
        contender: &Contender,
        text: &SeededText,
    ) -> Result<Vec<(Scored, SetScore)>> {
        let max_vocabulary = method.max_vocabulary(text.n_distinct, text.n_frequent);
        let name = format!("{} {} {}", cell.setting.name(), cell.method, cell.seed);
        let folder = self.folder.join(name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"));
        // An existing model would be continued.
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let text_path = if method.program.takes_seed() {
            text.text.path.clone()
        } else {
            text.text.rotated(cell.seed, self.n_seeds)?
        };
        let job = Job {
            text: &text_path,
            output: &folder.join("trained.model"),
            setting: cell.setting,
            threads: 1,
            seed: cell.seed,
            max_vocabulary: max_vocabulary.unwrap_or_default(),
            keeps_contexts: true,
        };
        run_logged(&mut contender.train(&job), &folder.join("log"))?;

        let mut rows = Vec::new();
        let kinds: &[Vectors] =
            if method.program.has_contexts() { &[Vectors::Sum, Vectors::Target] } else { &[Vectors::Target] };
        for &vectors in kinds {
            let embeddings = formats::load(contender.vectors(&job, vectors)?, Vectors::default())
                .with_context(|| format!("the vectors of {}", contender.name()))?;
            for scored_share in [SHARED, FREQUENT] {
                let scored_words = text.n_words(scored_share);
                let vocabulary = embeddings.len();
                let scored = Scored { max_vocabulary, vocabulary, scored_share, scored_words, vectors };
                let scores = score(scored_words, &embeddings, &self.eval, &Set::ALL)?;
                rows.extend(scores.into_iter().map(|score| (scored, score)));
            }
        }
        fs::remove_dir_all(&folder)?;
        Ok(rows)
    }
}

/// The first scores of a cell by the measures of the paper.
fn summary(rows: &[(Scored, SetScore)]) -> String {
    let scores = rows.iter().map(|(_, score)| score).filter(|score| score.measure == score.set.measure());
    let shown = scores.take(Set::ALL.len()).map(|SetScore { set, score, .. }| match score {
        Some(score) => format!("{set:?} {score:.1}"),
        None => format!("{set:?} –"),
    });
    shown.collect::<Vec<_>>().join(", ")
}
