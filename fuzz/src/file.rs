//! Files for the readers that take paths.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    /// One folder for all runs: creating one takes longer than most runs.
    static FOLDER: TempDir = tempfile::tempdir().expect("temporary folders can be created");
}

/// A file with these bytes, at the same path in every run.
pub fn holding(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    fs::write(&path, bytes).expect("temporary files can be written");
    path
}

/// A path in the folder.
pub fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(Path::new(name)))
}
