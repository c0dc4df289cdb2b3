//! What the metadata holds, beside the tensors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::corpus::Ledger;
use crate::random::Random;
use crate::train::Totals;
use crate::vocabulary::VocabularyTotals;

/// The metadata of a model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Metadata {
    pub version: u32,
    /// The program that wrote the file.
    pub program: String,
    pub config: Config,
    pub vocabulary: VocabularyTotals,
    /// Slots that were ever used.
    pub slots: usize,
    pub totals: Totals,
    pub ledger: Ledger,
    /// Batches trained (`mini-batch`).
    pub batches: u64,
    /// The state of the pair-by-pair strategies.
    pub random: Option<Random>,
    /// The adaptive table's total weight, and the dead part of it.
    pub noise_totals: Option<[f64; 2]>,
    /// BLAKE3 of each tensor, in hexadecimal.
    pub checksums: BTreeMap<String, String>,
}
