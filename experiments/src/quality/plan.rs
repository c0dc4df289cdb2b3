//! What is trained, with how much text and how often.

use serde::Serialize;

use super::{Cell, Method};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::Setting;
use crate::scores::N_FREQUENT;

/// The whole experiment. It is written into the manifest.
#[derive(Serialize)]
pub struct Plan {
    pub settings: Vec<Planned>,
    pub seeds: Vec<u32>,
    /// What the programs with a threshold leave out; the bound of the others is the number of words that this keeps.
    min_count: u64,
    /// Scores look at so many words, the most frequent ones.
    scored_words: usize,
}

/// A setting, and the text that is learned with it.
#[derive(Serialize)]
pub struct Planned {
    pub setting: Setting,
    pub n_words: u64,
    dimensions: u32,
    window: u32,
    negatives: u32,
    subsample: &'static str,
    noise_exponent: f64,
}

impl Plan {
    /// A part of the text only: five passes with 400 dimensions over all of it would take a day.
    pub fn new(quick: bool) -> Self {
        let (small, paper) = if quick { (300_000, 100_000) } else { (6_288_000, 3_144_000) };
        Self {
            settings: vec![Planned::new(Setting::Small, small), Planned::new(Setting::Paper, paper)],
            seeds: vec![1, 2, 3],
            min_count: MIN_COUNT,
            scored_words: N_FREQUENT,
        }
    }

    /// Seed by seed, so that a run that is interrupted has all methods.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.seeds.iter().flat_map(move |&seed| {
            self.settings.iter().flat_map(move |planned| {
                Method::ALL.into_iter().map(move |method| Cell { setting: planned.setting, method, seed })
            })
        })
    }
}

impl Planned {
    fn new(setting: Setting, n_words: u64) -> Self {
        Self {
            setting,
            n_words,
            dimensions: setting.dimensions(),
            window: setting.window(),
            negatives: setting.negatives(),
            subsample: setting.subsample(),
            noise_exponent: 0.75,
        }
    }
}
