//! How far a stream, or a stream of files, was read.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many of the raw (perhaps compressed) bytes were read. A clone can be watched from another thread.
#[derive(Debug, Clone)]
pub struct RawProgress {
    read: Arc<AtomicU64>,
    length: Option<u64>,
}

/// How far a stream of files was read. A clone can be watched during training.
#[derive(Debug, Clone)]
pub struct FilesProgress {
    bytes_read: Arc<AtomicU64>,
    file: Arc<AtomicUsize>,
    length: Option<u64>,
    files: usize,
}

impl RawProgress {
    /// The number of raw bytes read, and their total (`None` for a pipe).
    pub(super) fn new(read: u64, length: Option<u64>) -> Self {
        Self { read: Arc::new(AtomicU64::new(read)), length }
    }

    pub(super) fn count<R: Read>(&self, inner: R) -> Counted<R> {
        Counted { inner, read: Arc::clone(&self.read) }
    }

    /// Counts a share of all bytes as read, for bytes that are not read in order.
    #[cfg(feature = "parquet")]
    pub(super) fn set_share(&self, part: u64, whole: u64) {
        let length = self.length.unwrap_or(0);
        let read = length as f64 * part as f64 / whole.max(part).max(1) as f64;
        self.read.store(read as u64, Ordering::Relaxed);
    }

    /// The raw bytes read so far, including those before the start of a continued plain file.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The raw length of the file when it was opened; `None` for a pipe.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

pub(super) struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

impl FilesProgress {
    /// Nothing was read yet of this number of files with this total length (`None` if there is a pipe among them).
    pub(super) fn new(files: usize, length: Option<u64>) -> FilesProgress {
        FilesProgress { bytes_read: Arc::default(), file: Arc::default(), length, files }
    }

    pub(super) fn set(&self, file: usize, bytes_read: u64) {
        self.file.store(file, Ordering::Relaxed);
        self.bytes_read.store(bytes_read, Ordering::Relaxed);
    }

    /// The raw (perhaps compressed) bytes read so far, including those before the start of a continued plain file.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The raw length of all files when reading was planned; `None` if there is a pipe among them.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The current file, from 1; 0 if there are none.
    pub fn file(&self) -> usize {
        self.files.min(1 + self.file.load(Ordering::Relaxed))
    }

    /// The number of files and pipes.
    pub fn files(&self) -> usize {
        self.files
    }
}
