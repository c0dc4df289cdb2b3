//! The model that a command reads.

use std::path::PathBuf;

use clap::Args;
use skipstream::{Embeddings, Result, Vectors};

use crate::args::one_of;

/// Which vectors of which model.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model's file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Which vectors to take: of words as targets, as contexts, or their sum
    #[arg(long, value_name = "NAME", default_value = "sum", value_parser = one_of::<Vectors>(&["sum", "target", "context"]))]
    pub vectors: Vectors,
}

impl ModelArgs {
    /// The vectors.
    pub fn load(&self) -> Result<Embeddings> {
        Embeddings::load(&self.model, self.vectors)
    }
}
