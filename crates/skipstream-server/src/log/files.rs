//! The files of the log, which somebody may delete, replace or overwrite while they are open.
//!
//! SQLite does not notice: it writes to a deleted file and trusts the pages in its cache, so text would be accepted and lost.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The database and the write-ahead log, as they were opened. The index of the write-ahead log is in memory (on Unix).
///
/// The database is held open: if it were closed, the system would release SQLite's locks on it. So every connection has
/// these, and is closed before them.
#[derive(Clone, Debug)]
pub(super) struct LogFiles {
    path: PathBuf,
    open: Arc<Open>,
}

#[derive(Debug)]
struct Open {
    database: File,
    /// The write-ahead log.
    wal: File,
    /// Each path, and the file that it leads to.
    identities: Vec<(PathBuf, Option<(u64, u64)>)>,
    /// The length of the database when it was last checked.
    length: AtomicU64,
}

/// How each database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// How a write-ahead log begins; the last bit is the byte order of its checksums.
const WAL_MAGIC: u32 = 0x377f_0682;

impl LogFiles {
    /// The files of a connection that has written.
    pub fn open(path: &Path) -> Result<LogFiles> {
        let failed = |error: io::Error| Error::Data { path: path.to_owned(), reason: error.to_string() };
        let paths = ["", "-wal"].map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        });
        let database = File::open(path).map_err(failed)?;
        let length = AtomicU64::new(database.metadata().map_err(failed)?.len());
        let wal = File::open(&paths[1]).map_err(failed)?;
        let identities = paths.into_iter().map(|path| {
            let identity = identity(&path);
            (path, identity)
        });
        let open = Open { database, wal, identities: identities.collect(), length };
        Ok(LogFiles { path: path.to_owned(), open: Arc::new(open) })
    }

    /// The database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the paths still lead to the files, and that the database begins like one.
    pub fn check(&self) -> Result<()> {
        let open = &self.open;
        if open.identities.iter().any(|(path, before)| identity(path) != *before) {
            return Err(self.damaged("deleted or replaced"));
        }
        let begin = begin::<{ MAGIC.len() }>(&open.database);
        if begin.is_none_or(|begin| begin != MAGIC) { Err(self.damaged("overwritten")) } else { Ok(()) }
    }

    /// The same after a commit to a database of this size, by the thread that has written. The write-ahead log must have its
    /// header, and the database must not be shorter than before, unless it was shortened to its size.
    pub fn check_written(&self, size: u64) -> Result<()> {
        self.check()?;
        let open = &self.open;
        // It is empty if nothing was written since it was copied into the database.
        if begin(&open.wal).is_some_and(|begin| u32::from_be_bytes(begin) & !1 != WAL_MAGIC) {
            return Err(self.damaged("overwritten"));
        }
        let length = open.database.metadata().map_or(0, |file| file.len());
        if length < open.length.load(Ordering::Relaxed).min(size) {
            return Err(self.damaged("truncated"));
        }
        open.length.store(length, Ordering::Relaxed);
        Ok(())
    }

    fn damaged(&self, how: &str) -> Error {
        self.invalid(format!("the log was {how} while in use; restart the service"))
    }

    pub fn invalid(&self, reason: String) -> Error {
        Error::Data { path: self.path.clone(), reason }
    }
}

/// The device and number of the file that a path leads to.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Other systems do not let anyone delete an open file.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|_| (0, 0))
}

/// The first bytes of a file.
fn begin<const N: usize>(file: &File) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, 0).ok()?;
    #[cfg(windows)]
    std::os::windows::fs::FileExt::seek_read(file, &mut bytes, 0).ok().filter(|n| *n == N)?;
    Some(bytes)
}
