//! The two settings of the comparisons.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Hyperparameters, the same for every program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Common values: 100 dimensions, window 5, 5 negatives, subsampling at 1e-4
    Small,
    /// The paper's: 400 dimensions, window 10, 10 negatives, subsampling at 1e-5
    Paper,
}

impl Setting {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Paper => "paper",
        }
    }

    /// Dimensions of a vector.
    pub fn dimensions(self) -> u32 {
        match self {
            Self::Small => 100,
            Self::Paper => 400,
        }
    }

    /// Maximum distance between a center and a context.
    pub fn window(self) -> u32 {
        match self {
            Self::Small => 5,
            Self::Paper => 10,
        }
    }

    /// Noise words for each pair.
    pub fn negatives(self) -> u32 {
        match self {
            Self::Small => 5,
            Self::Paper => 10,
        }
    }

    /// Relative frequency above which words are subsampled.
    pub fn subsample(self) -> &'static str {
        match self {
            Self::Small => "1e-4",
            Self::Paper => "1e-5",
        }
    }
}
