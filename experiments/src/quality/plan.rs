//! The plan of the experiment.

use serde::Serialize;

use super::method::{METHODS, Method};
use super::{FREQUENT, SHARED};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::{Hyperparameters, Setting};

/// The whole experiment. It is written into the manifest.
#[derive(Serialize)]
pub struct Plan {
    pub settings: Vec<Planned>,
    pub seeds: Vec<u32>,
    /// Minimum count; the vocabulary bound of the others is the number of words above it.
    min_count: u64,
    /// The scored shares of that number, most frequent words first.
    scored_shares: [f64; 2],
}

/// A setting and its text.
#[derive(Serialize)]
pub struct Planned {
    pub setting: Setting,
    pub n_words: u64,
    #[serde(flatten)]
    hyperparameters: Hyperparameters,
    noise_exponent: f64,
}

impl Plan {
    /// A third and a sixth of the text: five passes over all of it would take many hours.
    pub fn new(quick: bool) -> Self {
        let (small, paper) = if quick { (300_000, 100_000) } else { (4_192_000, 2_096_000) };
        let settings = [(Setting::Small, small), (Setting::Paper, paper)].map(|(setting, n_words)| Planned {
            setting,
            n_words,
            hyperparameters: setting.hyperparameters(),
            noise_exponent: 0.75,
        });
        Self {
            settings: settings.into(),
            seeds: vec![1, 2, 3],
            min_count: MIN_COUNT,
            scored_shares: [SHARED, FREQUENT],
        }
    }

    /// Quick cells first, for all seeds, so that an interrupted run has something to show.
    pub fn cells(&self) -> Vec<(Setting, &'static Method, u32)> {
        let mut cells = Vec::new();
        for &seed in &self.seeds {
            for planned in &self.settings {
                cells.extend(METHODS.iter().map(|method| (planned.setting, method, seed)));
            }
        }
        cells.sort_by_key(|(setting, method, _)| {
            (method.passes > 1).then_some(setting.hyperparameters().dimensions)
        });
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_there_once_and_the_slow_ones_come_last() {
        let plan = Plan::new(false);
        let cells = plan.cells();
        assert_eq!(cells.len(), 2 * 3 * METHODS.len());
        let names: Vec<_> =
            cells.iter().map(|(setting, method, seed)| (setting, method.name, seed)).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name));
        }
        assert!(cells[..78].iter().all(|(_, method, _)| method.passes == 1));
        assert!(cells[87..].iter().all(|(setting, ..)| *setting == Setting::Paper));
    }
}
