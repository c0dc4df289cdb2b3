//! Vectors that the words of a new model start with, from a file.

use std::fs::File;
use std::path::Path;

use super::{load, recognize};
use crate::embeddings::Vectors;
use crate::error::{Error, Result};
use crate::train::{Initial, InitialSource};

impl Initial {
    /// Loads vectors from a file in any [`Format`](crate::formats::Format). Of a model file, it takes the sum of target and
    /// context vectors, which queries use.
    pub fn load(path: impl AsRef<Path>) -> Result<Initial> {
        let path = path.as_ref();
        let format = recognize(path)?;
        let vectors = load(path, Vectors::default())?;
        let mut hasher = blake3::Hasher::new();
        for path in format.files(path) {
            let file = File::open(&path).map_err(Error::io(&path))?;
            hasher.update_reader(file).map_err(Error::io(&path))?;
        }
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let source = InitialSource { file, fingerprint: hasher.finalize().to_hex().to_string() };
        Ok(Initial { vectors, source })
    }
}
