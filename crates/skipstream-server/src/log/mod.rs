//! Lines → numbered lines on disk.

use std::ops::RangeInclusive;
use std::path::Path;

use jiff::Timestamp;

use crate::error::Result;
use crate::published::Seq;

/// Lines that are to be logged together, or that were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The lines, each with its end `\n`.
    pub text: Vec<u8>,
    /// When each of them was written, as who sent it says; the time of arrival where that is not known. Empty where it is
    /// not known of any.
    pub times: Vec<Option<Timestamp>>,
}

/// The text that was accepted and is not in a checkpoint yet.
#[derive(Debug)]
pub struct Log {}

impl Log {
    /// Opens the log in a folder, or makes it.
    pub fn open(folder: &Path, queue_bytes: u64) -> Result<Log> {
        let _ = (folder, queue_bytes);
        Ok(Log {})
    }

    /// Accepts lines: the answer is their numbers, and comes when they are safe on disk.
    pub async fn append(&self, chunk: Chunk) -> Result<RangeInclusive<Seq>> {
        let _ = chunk;
        Err(crate::Error::Stopping)
    }

    /// The last line that is safe on disk; 0 before the first.
    pub fn last(&self) -> Seq {
        0
    }

    /// Bytes of text that wait to be learned.
    pub fn waiting_bytes(&self) -> u64 {
        0
    }

    /// Wakes whoever waits for text.
    pub fn wake(&self) {}
}
