//! The two settings of the comparisons.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::options::name_of;

/// The name of some hyperparameters, which are the same for every program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Common values: 100 dimensions, window 5, 5 negatives, subsampling at 1e-4
    Small,
    /// The paper's: 400 dimensions, window 10, 10 negatives, subsampling at 1e-5
    Paper,
}

#[derive(Serialize)]
pub struct Hyperparameters {
    pub dimensions: u32,
    pub window: u32,
    pub negatives: u32,
    /// As it is typed.
    pub subsample: &'static str,
}

impl Setting {
    /// The name in tables.
    pub fn name(self) -> String {
        name_of(&self)
    }

    pub fn hyperparameters(self) -> Hyperparameters {
        match self {
            Self::Small => Hyperparameters { dimensions: 100, window: 5, negatives: 5, subsample: "1e-4" },
            Self::Paper => Hyperparameters { dimensions: 400, window: 10, negatives: 10, subsample: "1e-5" },
        }
    }
}
