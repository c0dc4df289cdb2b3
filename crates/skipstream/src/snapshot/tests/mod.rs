//! One test for each way in which a file can be wrong. The laws test that a good file restores the trainer.

mod golden;
mod opening;
mod phrases;
mod quantized;
mod training;
mod vectors;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::corpus::Lines;
use crate::{Config, Trainer};

/// A place for a model.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    (folder, path)
}

fn small_trainer() -> Trainer {
    let config = Config { dimensions: 5, subsample: 0.0, ..Config::default() };
    let mut lines =
        Lines::new(&b"to be or not to be that is the question\n"[..], "text", &config.text).unwrap();
    let mut trainer = Trainer::new(config).unwrap();
    trainer.train_source(&mut lines).unwrap();
    trainer
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Flips a bit in the middle of a tensor.
fn flip_a_bit(bytes: &mut [u8], tensor: &str) {
    let data = safetensors::SafeTensors::deserialize(bytes).unwrap().tensor(tensor).unwrap().data();
    let at = data.as_ptr() as usize - bytes.as_ptr() as usize + data.len() / 2;
    bytes[at] ^= 1;
}

/// Replaces bytes of the header by as many others, with a checksum that fits.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    let length = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let checksum = blake3::hash(&bytes[..length]);
    *bytes.last_chunk_mut().unwrap() = *checksum.as_bytes();
}
