//! The words' times ↔ a file beside the model.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `skstimes` |
//! | 8 | the version, 1 |
//! | 8 | the number of tokens that were learned |
//! | 16 a slot | the first and the last time, in microseconds since 1970 |
//! | 32 | BLAKE3 of all that stands before |
//!
//! All numbers are little-endian and have 64 bits.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use skipstream::bytes::replace;
use skipstream::vocabulary::Vocabulary;

use super::position::Position;
use super::times::Times;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"skstimes";
const VERSION: u64 = 1;
const HASH_BYTES: usize = 32;

/// The file for a model at this place.
pub fn path(folder: &Path, position: Position) -> PathBuf {
    folder.join(format!("times-{}-{}", position.line, position.sentences))
}

/// Writes settled times.
pub fn save(path: &Path, times: &Times, tokens: u64) -> Result<()> {
    let mut bytes = Vec::with_capacity(24 + 16 * times.slots().len() + HASH_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&tokens.to_le_bytes());
    bytes.extend(times.slots().as_flattened().iter().flat_map(|time| time.to_le_bytes()));
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    replace(path, |file| {
        file.write_all(&bytes).map_err(|source| skipstream::Error::Io { path: path.to_owned(), source })
    })?;
    Ok(())
}

/// Reads what was saved with a model of this vocabulary.
pub fn load(path: &Path, vocabulary: &Vocabulary) -> Result<Times> {
    let wrong = |reason: &str| Error::Data { path: path.to_owned(), reason: reason.to_owned() };
    let bytes = fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    let (content, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or_else(|| wrong("the file is cut"))?;
    if blake3::hash(content) != *hash {
        return Err(wrong("the checksum does not agree: the file is damaged"));
    }
    let rest = content.strip_prefix(MAGIC).ok_or_else(|| wrong("these are no times of words"))?;
    let (numbers, rest) = rest.as_chunks();
    let numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let [VERSION, tokens, times @ ..] = &numbers[..] else {
        return Err(wrong("the file has another version"));
    };
    let slots: Vec<[i64; 2]> =
        times.as_chunks().0.iter().map(|&[first, last]| [first as i64, last as i64]).collect();
    let fits = rest.is_empty()
        && times.len() % 2 == 0
        && slots.len() == vocabulary.slots()
        && *tokens == vocabulary.tokens();
    if !fits {
        return Err(wrong("the times are not those of the model"));
    }
    Ok(Times::restored(slots, *tokens))
}

/// Removes the files of other models than the one at this place, and those that a killed process left half written. What cannot be removed only takes room.
pub fn remove_others(folder: &Path, position: Position) {
    let keep = path(folder, position);
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let is_ours = file.file_name().to_str().is_some_and(|name| {
            name.starts_with("times-") || (name.starts_with(".times-") && name.ends_with(".partial"))
        });
        if is_ours && file.path() != keep {
            let _ = fs::remove_file(file.path());
        }
    }
}
