//! The same text in one piece and in many, with the model saved and loaded in between: it must be the same model.
//!
//! If a piece ends with a sentence (`incremental`) or with a batch (`mini-batch`), the file is the same byte for byte.
//! Elsewhere `mini-batch` trains a partial batch, and the model differs as with another seed.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use skipstream::corpus::Lines;
use skipstream::{Config, MiniBatchOptions, Strategy, StrategyName, Trainer};

use crate::data::{Corpus, Data};
use crate::options::Options;
use crate::portions::{LinedText, evenly};
use crate::record::{self, Rows, work_folder};
use crate::scores::{N_FREQUENT, Set, score};

const PIECES: [usize; 3] = [1, 10, 100];

/// The size of the experiment.
#[derive(Serialize)]
struct Scale {
    n_words: u64,
    /// Far fewer than the default, so that the file is saved quickly hundreds of times, and so that words are evicted.
    max_vocabulary: usize,
    /// Few enough that there are more batches than pieces.
    batch_words: &'static [usize],
    /// Far fewer words than the text has, or nothing would be replayed.
    replay_words: usize,
    seeds: &'static [u64],
    /// The number of seeds that are also interrupted at boundaries: a single difference would be a defect.
    boundary_seeds: usize,
}

const FULL: Scale = Scale {
    n_words: 2_100_000,
    max_vocabulary: 20_000,
    batch_words: &[20_000],
    replay_words: 200_000,
    seeds: &[1, 2, 3],
    boundary_seeds: 1,
};
const QUICK: Scale = Scale {
    n_words: 200_000,
    max_vocabulary: 10_000,
    batch_words: &[4_000],
    replay_words: 20_000,
    seeds: &[1, 2],
    boundary_seeds: 1,
};

/// Where the text is cut.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// After a sentence, which is a boundary for `incremental`.
    Sentences,
    /// After a full batch of `mini-batch`.
    Batches,
    /// After a sentence in the middle of a batch.
    Anywhere,
}

/// One way to learn the text.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
struct Plan {
    strategy: StrategyName,
    cut: Cut,
    /// `None` for `incremental`, which has no batches.
    batch_words: Option<usize>,
    pieces: usize,
    seed: u64,
}

/// A model that learned the text.
#[derive(Serialize)]
struct Learned {
    words: u64,
    /// Of the whole model file: vectors, counts, AdaGrad's sums, noise, replay buffer.
    model_blake3: String,
}

/// Learns the text in each way and writes the rows.
pub fn measure(options: &Options) -> Result<()> {
    let scale = if options.quick { QUICK } else { FULL };
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let text = data.plain_text(Corpus::Wiki2006, scale.n_words)?;
    let config = scale.config();
    let settings = json!({"scale": scale, "pieces": PIECES, "config": config, "vectors": "sum"});
    let record = record::open(options, "pieces", &settings, vec![text.source])?;
    let text = LinedText::read(&text.path)?;
    let mut rows: Rows<Plan> = Rows::open(record.join("pieces.csv"))?;
    let model = work_folder()?.join("pieces.model");
    for plan in scale.plans() {
        if rows.contains(&plan) {
            continue;
        }
        let Some(pieces) = plan.pieces(&config, &text) else { continue };
        let Plan { strategy, cut, pieces: n_pieces, seed, .. } = plan;
        eprintln!("{} in {n_pieces} pieces, cut: {cut:?}, seed {seed}", strategy.as_str());
        let trainer = train(&plan.config(&config), &text, &pieces, &model)?;
        let learned = Learned { words: text.n_words(&text.all()), model_blake3: checksum(&model)? };
        let scores = score(N_FREQUENT, &trainer.embeddings()?, &eval, &Set::ALL)?;
        rows.push(plan, scores.into_iter().map(|score| (plan, &learned, score)))?;
    }
    if model.exists() {
        fs::remove_file(&model)?;
    }
    Ok(())
}

impl Scale {
    /// What all plans have in common.
    fn config(&self) -> Config {
        let Self { max_vocabulary, replay_words, .. } = *self;
        let strategy = Strategy::MiniBatch(MiniBatchOptions { replay_words, ..Default::default() });
        Config { max_vocabulary, strategy, ..Config::default() }
    }

    fn plans(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for (place, &seed) in self.seeds.iter().enumerate() {
            for pieces in PIECES {
                let boundaries = pieces == 1 || place < self.boundary_seeds;
                if boundaries {
                    let (strategy, cut) = (StrategyName::Incremental, Cut::Sentences);
                    plans.push(Plan { strategy, cut, batch_words: None, pieces, seed });
                }
                for &batch_words in self.batch_words {
                    let (strategy, batch_words) = (StrategyName::MiniBatch, Some(batch_words));
                    let plan = |cut| Plan { strategy, cut, batch_words, pieces, seed };
                    if boundaries {
                        plans.push(plan(Cut::Batches));
                    }
                    if pieces > 1 {
                        plans.push(plan(Cut::Anywhere));
                    }
                }
            }
        }
        plans
    }
}

impl Plan {
    fn config(&self, common: &Config) -> Config {
        let strategy = match (self.strategy, common.strategy) {
            (StrategyName::MiniBatch, Strategy::MiniBatch(options)) => {
                let batch_words = self.batch_words.unwrap_or(options.batch_words);
                Strategy::MiniBatch(MiniBatchOptions { batch_words, ..options })
            }
            _ => Strategy::incremental(),
        };
        Config { strategy, seed: self.seed, ..common.clone() }
    }

    /// The lines of each piece; `None` if there are fewer batches than pieces.
    fn pieces(&self, common: &Config, text: &LinedText) -> Option<Vec<Range<usize>>> {
        let lines = text.all();
        let settings = self.config(common).check().ok()?;
        let batches = text.batches(lines.clone(), settings.new_words_per_batch(0) as u64);
        let parts = evenly(if self.cut == Cut::Batches { batches.len() } else { lines.end }, self.pieces);
        // Moves a cut at the end of a batch by a line.
        let moved = |cut: usize| {
            let at_batch = batches.iter().any(|batch| batch.end == cut);
            if at_batch && cut < lines.end { cut + 1 } else { cut }
        };
        let piece = |part: Range<usize>| match self.cut {
            Cut::Sentences => part,
            Cut::Batches => batches[part.start].start..batches[part.end - 1].end,
            Cut::Anywhere => moved(part.start)..moved(part.end),
        };
        let is_possible = self.cut != Cut::Batches || batches.len() >= self.pieces;
        is_possible.then(|| parts.into_iter().map(piece).collect())
    }
}

/// Learns the pieces in order, saving and loading the model in between, and saves the last state as `model`.
fn train(config: &Config, text: &LinedText, pieces: &[Range<usize>], model: &Path) -> Result<Trainer> {
    let mut trainer = Trainer::new(config.clone())?;
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            trainer.save(model)?;
            drop(trainer);
            trainer = Trainer::load(model, config.threads)?;
        }
        trainer.train_source(&mut Lines::new(text.lines(piece), "text", &config.text)?)?;
    }
    trainer.save(model)?;
    Ok(trainer)
}

fn checksum(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of ten words; low numbers are frequent.
    fn text() -> LinedText {
        let word = |n: usize| format!("w{}", (n * n * 7 + n / 3) % 89 % (1 + n % 53));
        let line = |line: usize| (0..10).map(|n| word(10 * line + n)).collect::<Vec<_>>().join(" ") + "\n";
        LinedText::new((0..400).map(line).collect::<String>().into_bytes())
    }

    /// What all plans have in common here.
    fn common() -> Config {
        Config {
            dimensions: 8,
            max_vocabulary: 40,
            strategy: Strategy::MiniBatch(MiniBatchOptions { replay_words: 300, ..Default::default() }),
            subsample: 1e-2,
            ..Config::default()
        }
    }

    fn model(plan: &Plan) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let pieces = plan.pieces(&common(), &text()).unwrap();
        train(&plan.config(&common()), &text(), &pieces, &path).unwrap();
        checksum(&path).unwrap()
    }

    #[test]
    fn pieces_that_end_at_a_boundary_give_the_same_model() {
        for (strategy, cut, batch_words) in [
            (StrategyName::Incremental, Cut::Sentences, None),
            (StrategyName::MiniBatch, Cut::Batches, Some(300)),
        ] {
            let plan = |pieces, seed| Plan { strategy, cut, batch_words, pieces, seed };
            let whole = model(&plan(1, 1));
            assert!(model(&plan(7, 1)) == whole && model(&plan(40, 1)) == whole, "{strategy:?}");
            assert!(model(&plan(1, 2)) != whole, "{strategy:?}");
        }
    }

    #[test]
    fn a_batch_that_is_not_full_gives_another_model() {
        let plan = |cut, pieces| Plan {
            strategy: StrategyName::MiniBatch,
            cut,
            batch_words: Some(300),
            pieces,
            seed: 1,
        };
        assert!(model(&plan(Cut::Anywhere, 7)) != model(&plan(Cut::Batches, 1)));
        // Even tenths would end with batches.
        let pieces = plan(Cut::Anywhere, 10).pieces(&common(), &text()).unwrap();
        assert_eq!((pieces[0].clone(), pieces[1].clone(), pieces[9].clone()), (0..41, 41..81, 361..400));
    }

    #[test]
    fn more_pieces_than_batches_are_not_tried() {
        let plan = |pieces| Plan {
            strategy: StrategyName::MiniBatch,
            cut: Cut::Batches,
            batch_words: Some(300),
            pieces,
            seed: 1,
        };
        let n_pieces = |pieces| plan(pieces).pieces(&common(), &text()).map(|pieces| pieces.len());
        // Of 300 words of a batch, 100 are new: ten lines.
        assert_eq!((n_pieces(40), n_pieces(41)), (Some(40), None));
        assert_eq!(plan(40).pieces(&common(), &text()).unwrap()[1], 10..20);
    }

    #[test]
    fn words_are_replayed_and_have_to_leave() {
        for scale in [FULL, QUICK] {
            let n_words = scale.n_words as usize;
            for plan in scale.plans() {
                let config = plan.config(&scale.config());
                assert!(10 * scale.replay_words <= n_words && 10 * config.max_vocabulary <= n_words);
            }
        }
    }
}
