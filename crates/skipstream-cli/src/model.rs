//! The model or vectors file that a command reads.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use skipstream::formats::{self, Format};
use skipstream::{Embeddings, Result, Vectors};

use crate::args::one_of;

/// Larger files are memory-mapped, because reading them takes longer than answering.
const LARGEST_LOADED: u64 = 256_000_000;

/// The same for a few questions.
const LARGEST_LOADED_FOR_A_QUESTION: u64 = 8_000_000;

/// Which vectors of which file.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Model file, or another program's vectors
    ///
    /// Supported formats, detected by content: skipstream models, word2vec text and binary, fastText .vec, GloVe and yskip
    /// text, .npy, finalfusion, and TensorFlow projector folders.
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Which vectors to use: target, context, their sum, or both joined
    ///
    /// `joined` is the target vector followed by the context vector, each minus the mean of its kind. It is twice as long, and
    /// better at analogies.
    #[arg(long, value_name = "NAME", default_value_t, value_parser = one_of::<Vectors>(&Vectors::NAMES))]
    pub vectors: Vectors,
}

impl ModelArgs {
    /// Loads the vectors and verifies checksums; memory-maps a large file without verifying.
    pub fn load(&self) -> Result<Embeddings> {
        self.load_up_to(LARGEST_LOADED)
    }

    /// The same for a few questions: all but small files are memory-mapped.
    pub fn load_for_questions(&self) -> Result<Embeddings> {
        self.load_up_to(LARGEST_LOADED_FOR_A_QUESTION)
    }

    fn load_up_to(&self, largest: u64) -> Result<Embeddings> {
        let is_large = fs::metadata(&self.model).is_ok_and(|metadata| metadata.len() > largest);
        if is_large && formats::recognize(&self.model)? == Format::Safetensors {
            Embeddings::open(&self.model, self.vectors)
        } else {
            formats::load(&self.model, self.vectors)
        }
    }
}
