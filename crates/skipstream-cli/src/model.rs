//! The model or vectors file that a command reads.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use skipstream::formats::{self, Format};
use skipstream::{Embeddings, Result, Vectors};

use crate::args::one_of;

/// Larger files are memory-mapped, because reading them takes longer than answering. Their checksums are not verified for the
/// same reason; `inspect` does that.
const LARGEST_LOADED: u64 = 256_000_000;

/// For a few questions, larger files are memory-mapped. Up to [`LARGEST_LOADED`] they are verified, which takes a tenth of a second at most.
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
    /// `joined` is the target vector followed by the context vector, each minus three quarters of the mean of
    /// its kind. It is twice as long, and better at analogies.
    #[arg(long, value_name = "NAME", default_value_t, value_parser = one_of::<Vectors>(&Vectors::NAMES))]
    pub vectors: Vectors,
}

impl ModelArgs {
    /// Loads the vectors or, of a large file, memory-maps them. Verifies checksums, except in a file above [`LARGEST_LOADED`].
    pub fn load(&self) -> Result<Embeddings> {
        self.load_up_to(LARGEST_LOADED)
    }

    /// The same for a few questions: all but small files are memory-mapped.
    pub fn load_for_questions(&self) -> Result<Embeddings> {
        self.load_up_to(LARGEST_LOADED_FOR_A_QUESTION)
    }

    fn load_up_to(&self, largest: u64) -> Result<Embeddings> {
        let bytes = fs::metadata(&self.model).map_or(0, |metadata| metadata.len());
        if bytes <= largest || formats::recognize(&self.model)? != Format::Safetensors {
            formats::load(&self.model, self.vectors)
        } else if bytes <= LARGEST_LOADED {
            Embeddings::open_verified(&self.model, self.vectors)
        } else {
            Embeddings::open(&self.model, self.vectors)
        }
    }
}
