//! How far a stream of files was read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How far a stream of files was read; a clone may be watched while a trainer reads.
#[derive(Debug, Clone)]
pub struct FilesProgress {
    bytes_read: Arc<AtomicU64>,
    file: Arc<AtomicUsize>,
    length: Option<u64>,
    files: usize,
}

impl FilesProgress {
    /// Nothing was read, of so many files with so many bytes (`None` where a pipe is among them).
    pub(super) fn new(files: usize, length: Option<u64>) -> FilesProgress {
        FilesProgress { bytes_read: Arc::default(), file: Arc::default(), length, files }
    }

    pub(super) fn set(&self, file: usize, bytes_read: u64) {
        self.file.store(file, Ordering::Relaxed);
        self.bytes_read.store(bytes_read, Ordering::Relaxed);
    }

    /// The raw (perhaps compressed) bytes read so far, those before the start of a continued plain file included.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The raw length of all files when reading was planned; `None` where a pipe is among them.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The file whose turn it is, from 1; 0 where there is none.
    pub fn file(&self) -> usize {
        self.files.min(1 + self.file.load(Ordering::Relaxed))
    }

    /// How many files (and pipes) there are.
    pub fn files(&self) -> usize {
        self.files
    }
}
