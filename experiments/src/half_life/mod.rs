//! What a half-life gains when the text changes, and what it costs when it does not.
//!
//! A model learns the first part of a text, and then text that is different:
//! - *stationary*: nothing follows. Scores say what the half-life costs.
//! - *loss*: another text follows. The loss of each stretch is measured while it is trained, pair by pair before its
//!   update, without replays.
//! - *swaps*: the second part of the same text follows, in which pairs of words have changed places (`swaps.rs`). At each
//!   look, the ten nearest words of each are compared with those in a model of the new text alone. Other words do not occur
//!   any more: how many of them does the vocabulary still have?
//! - *new text*: how far two models of the new text alone, of different seeds, agree. More cannot be expected of a model that
//!   has learned the old text too.

mod swaps;

use std::fs;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skipstream::corpus::Lines;
use skipstream::{Config, HalfLife, MiniBatchOptions, Strategy, Trainer, Vectors};

use self::swaps::Swaps;
use crate::data::{Corpus, Data};
use crate::options::Options;
use crate::portions::LinedText;
use crate::record::{self, Rows};
use crate::scores::{Measure, N_FREQUENT, Set, score};

const SETS: [Set; 3] = [Set::Ws353, Set::Men, Set::Google];

/// New words per batch, with or without replay, so that a look at the model is at the end of a batch.
const NEW_WORDS: u64 = 100_000;

/// Added to a seed for a second model of the same text.
const OTHER_SEED: u64 = 100;

/// The size of the experiment.
#[derive(Serialize)]
struct Scale {
    first_words: u64,
    /// Words that follow.
    streamed_words: u64,
    /// Words between two looks.
    words_a_look: u64,
    /// Half-lives in words; 0 is none.
    half_lives: &'static [u64],
    /// For the swaps: so small that words are evicted.
    max_vocabulary: usize,
    seeds: &'static [u64],
}

const FULL: Scale = Scale {
    first_words: 4_000_000,
    streamed_words: 8_000_000,
    words_a_look: 400_000,
    half_lives: &[0, 1_000_000, 2_000_000, 7_000_000, 20_000_000],
    max_vocabulary: 20_000,
    seeds: &[1, 2, 3],
};
const QUICK: Scale = Scale {
    first_words: 500_000,
    streamed_words: 400_000,
    words_a_look: 200_000,
    half_lives: &[0, 200_000],
    max_vocabulary: 5_000,
    seeds: &[1],
};

/// A model.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Variant {
    part: String,
    half_life: u64,
    seed: u64,
}

/// A measurement after some words of the text that follows.
#[derive(Serialize)]
struct Look {
    streamed_words: u64,
    measure: String,
    value: f64,
}

/// Measures every model, and writes the rows.
pub fn measure(options: &Options) -> Result<()> {
    let scale = if options.quick { QUICK } else { FULL };
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let first = data.plain_text(Corpus::Wiki2006, scale.first_words + scale.streamed_words)?;
    let other = data.plain_text(data.first_of(&[Corpus::WikiRecent, Corpus::Sotu])?, scale.streamed_words)?;
    let (text, other_text) = (LinedText::read(&first.path)?, LinedText::read(&other.path)?);
    let settings = json!({
        "scale": scale,
        "new_words_a_batch": NEW_WORDS,
        "n_frequent": N_FREQUENT,
        "config": config(0, 2, 1),
    });
    let record = record::open(options, "half-life", &settings, vec![first.source, other.source])?;
    let mut rows: Rows<Variant> = Rows::open(record.join("half-life.csv"))?;

    let first_part = text.batches(text.all(), scale.first_words).swap_remove(0);
    let old = text.lines(&first_part);
    let second_part = first_part.end..text.all().end;
    let swaps = Swaps::of(old);
    let swapped = LinedText::new(swaps.apply(text.lines(&second_part)));
    let small =
        |half_life, seed| Config { max_vocabulary: scale.max_vocabulary, ..config(half_life, 2, seed) };
    for &seed in scale.seeds {
        let new = swaps.nearest_in(&trained(small(0, seed), swapped.lines(&swapped.all()))?)?;
        for &half_life in scale.half_lives {
            for part in ["stationary", "loss", "swaps", "new text"] {
                let variant = Variant { part: part.into(), half_life, seed };
                if rows.contains(&variant) || (part == "new text" && half_life > 0) {
                    continue;
                }
                eprintln!("{part}: half-life {half_life}, seed {seed}");
                let looks = match part {
                    "stationary" => {
                        let trainer = trained(config(half_life, 2, seed), old)?;
                        let embeddings = trainer.embeddings_of(Vectors::Sum)?;
                        let found = score(N_FREQUENT, &embeddings, &eval, &SETS)?;
                        let found = found.into_iter().filter(|found| found.measure != Measure::CosAdd);
                        let look =
                            |set, value| Look { streamed_words: 0, measure: format!("{set:?}"), value };
                        found.filter_map(|found| Some(look(found.set, found.score?))).collect()
                    }
                    "loss" => {
                        losses(trained(config(half_life, 0, seed), old)?, &other_text, scale.words_a_look)?
                    }
                    "swaps" => {
                        let trainer = trained(small(half_life, seed), old)?;
                        swaps.follow(trainer, &new, &swapped, scale.words_a_look)?
                    }
                    _ => {
                        let other = trained(small(0, OTHER_SEED + seed), swapped.lines(&swapped.all()))?;
                        let value = swaps.overlap(&new, &other)?;
                        vec![Look { streamed_words: scale.streamed_words, measure: "overlap".into(), value }]
                    }
                };
                rows.push(variant.clone(), looks.into_iter().map(|look| (&variant, look)))?;
            }
        }
    }
    fs::write(record.join("swaps.txt"), swaps.to_string())?;
    Ok(())
}

fn config(half_life: u64, replays: u32, seed: u64) -> Config {
    let options = MiniBatchOptions {
        replays,
        batch_words: NEW_WORDS as usize * (1 + replays as usize),
        half_life: (half_life > 0).then_some(HalfLife::Words(half_life)),
        ..MiniBatchOptions::default()
    };
    Config { strategy: Strategy::MiniBatch(options), seed, ..Config::default() }
}

fn trained(config: Config, text: &[u8]) -> Result<Trainer> {
    let mut trainer = Trainer::new(config)?;
    learn(&mut trainer, text)?;
    Ok(trainer)
}

fn learn(trainer: &mut Trainer, text: &[u8]) -> Result<()> {
    let options = trainer.settings().text().clone();
    trainer.train_source(&mut Lines::new(text, "text", &options)?)?;
    Ok(())
}

/// The mean loss of a pair in each stretch of a text.
fn losses(mut trainer: Trainer, text: &LinedText, words_a_look: u64) -> Result<Vec<Look>> {
    let mut looks = Vec::new();
    for lines in text.batches(text.all(), words_a_look) {
        let before = trainer.progress().totals;
        learn(&mut trainer, text.lines(&lines))?;
        let value = trainer.progress().totals.since(&before).mean_loss();
        looks.push(Look { streamed_words: text.n_words(&(0..lines.end)), measure: "loss".into(), value });
    }
    Ok(looks)
}
