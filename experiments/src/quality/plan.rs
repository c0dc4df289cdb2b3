//! The plan of the experiment.

use serde::Serialize;

use super::{Cell, FREQUENT, Method, SHARED};
use crate::peers::contender::MIN_COUNT;
use crate::peers::setting::Setting;

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
    dimensions: u32,
    window: u32,
    negatives: u32,
    subsample: &'static str,
    noise_exponent: f64,
}

impl Plan {
    /// A third and a sixth of the text: five passes over all of it would take many hours.
    pub fn new(quick: bool) -> Self {
        let (small, paper) = if quick { (300_000, 100_000) } else { (4_192_000, 2_096_000) };
        Self {
            settings: vec![Planned::new(Setting::Small, small), Planned::new(Setting::Paper, paper)],
            seeds: vec![1, 2, 3],
            min_count: MIN_COUNT,
            scored_shares: [SHARED, FREQUENT],
        }
    }

    /// Quick cells first, for all seeds, so that an interrupted run has something to show.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &seed in &self.seeds {
            for planned in &self.settings {
                cells.extend(Method::ALL.map(|method| Cell { setting: planned.setting, method, seed }));
            }
        }
        cells.sort_by_key(|cell| (cell.method.passes() > 1).then_some(cell.setting.dimensions()));
        cells
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_there_once_and_the_slow_ones_come_last() {
        let plan = Plan::new(false);
        let cells = plan.cells();
        assert_eq!(cells.len(), 2 * 3 * Method::ALL.len());
        for (place, cell) in cells.iter().enumerate() {
            assert!(!cells[..place].contains(cell));
        }
        assert!(cells[..78].iter().all(|cell| cell.method.passes() == 1));
        assert!(cells[87..].iter().all(|cell| cell.setting == Setting::Paper));
    }
}
