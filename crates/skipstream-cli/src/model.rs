//! The model that a command reads.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use skipstream::formats::{self, Format};
use skipstream::{Embeddings, Result, Vectors};

use crate::args::one_of;

/// Larger files are looked at in place: to read them whole would take longer than to answer.
const LARGEST_LOADED: u64 = 256_000_000;

/// Which vectors of which model.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model's file, or vectors of another program
    ///
    /// These are read: word2vec's text and binary, fastText's .vec, GloVe's and yskip's text, .npy, finalfusion and folders for
    /// the projector, told apart by their content.
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Which vectors to take: of words as targets, as contexts, or their sum
    #[arg(long, value_name = "NAME", default_value = "sum", value_parser = one_of::<Vectors>(&["sum", "target", "context"]))]
    pub vectors: Vectors,
}

impl ModelArgs {
    /// The vectors, with their checksums verified unless the file is large.
    pub fn load(&self) -> Result<Embeddings> {
        let is_large = fs::metadata(&self.model).is_ok_and(|metadata| metadata.len() > LARGEST_LOADED);
        if is_large && formats::recognize(&self.model)? == Format::Safetensors {
            Embeddings::open(&self.model, self.vectors)
        } else {
            formats::load(&self.model, self.vectors)
        }
    }
}
