//! The two settings of the comparison.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The numbers that every program of a comparison is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// What people use: 100 dimensions, window 5, 5 negatives, subsampling at 1e-4
    Small,
    /// What the paper used: 400 dimensions, window 10, 10 negatives, subsampling at 1e-5
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

    /// The length of a vector.
    pub fn dimensions(self) -> u32 {
        match self {
            Self::Small => 100,
            Self::Paper => 400,
        }
    }

    /// How far a context may be from its centre.
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

    /// The relative frequency from which words are thinned out, as it is typed.
    pub fn subsample(self) -> &'static str {
        match self {
            Self::Small => "1e-4",
            Self::Paper => "1e-5",
        }
    }
}
