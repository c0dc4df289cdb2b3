//! The mark: what was committed last, in a small file beside the log.
//!
//! SQLite takes the first frame of its write-ahead log with a wrong checksum for the end, because that is how a crash leaves
//! the last transaction. If the disk damaged the frame instead, every transaction from there on would be missing without a
//! word, and the numbers of its lines would be given out again. So the mark is written after each commit and before the
//! answer, and a log that is behind its mark is refused.
//!
//! The mark is overwritten in place and not synced, which would double the cost of a commit: after `kill -9` the system has
//! it, and after a power loss an older one is true as well. For the same reason a start does not raise it: what it finds in the
//! log may not be synced yet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::log::ControlId;
use crate::published::Seq;

/// The name of the file.
pub(super) const MARK: &str = "log.mark";

/// The state of the log after a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Commit {
    /// The number of the transaction.
    pub number: u64,
    /// The number of the last line.
    pub last: Seq,
    /// The number of the last controls.
    pub controls: ControlId,
}

impl Commit {
    /// What a log that ends with this commit has lost, if `marked` came after it.
    pub fn lost(self, marked: Commit) -> Option<String> {
        let first = self.last + 1;
        match marked.last {
            _ if marked.number <= self.number => None,
            last if last < first => {
                Some("no line, but keys of uploads, positions of sources, controls or events".to_owned())
            }
            last if last == first => Some(format!("line {last}")),
            last => Some(format!("lines {first} to {last}")),
        }
    }
}

/// Length of the file in bytes: three numbers and their checksum.
const BYTES: usize = 3 * 8 + 16;

#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    file: File,
}

impl Mark {
    /// Opens or creates the file. Returns what was committed last, as far as it is known.
    pub fn open(path: &Path) -> Result<(Mark, Commit)> {
        let failed = |source| skipstream::Error::Io { path: path.to_owned(), source };
        let commit = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(Commit::default()),
            // A power loss can leave a new file without its bytes.
            Ok(bytes) if bytes.is_empty() => Some(Commit::default()),
            read => parse(&read.map_err(failed)?),
        };
        if commit.is_none() {
            tracing::warn!(path = %path.display(), "the mark of the log is damaged; the next commit replaces it");
            fs::remove_file(path).map_err(failed)?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
        Ok((Mark { path: path.to_owned(), file }, commit.unwrap_or_default()))
    }

    /// Records a commit, which must be synced. If that fails, the older mark is still true.
    pub fn write(&self, commit: Commit) {
        if let Err(error) = write_at_start(&self.file, &bytes(commit)) {
            tracing::warn!(path = %self.path.display(), %error, "cannot write the mark of the log");
        }
    }
}

fn bytes(Commit { number, last, controls }: Commit) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let (numbers, checksum) = bytes.split_at_mut(BYTES - 16);
    for (eight, number) in numbers.chunks_exact_mut(8).zip([number, last, controls]) {
        eight.copy_from_slice(&number.to_le_bytes());
    }
    checksum.copy_from_slice(&blake3::hash(numbers).as_bytes()[..16]);
    bytes
}

fn parse(read: &[u8]) -> Option<Commit> {
    let (&[number, last, controls], _) = read.as_chunks::<8>().0.split_first_chunk()?;
    let [number, last, controls] = [number, last, controls].map(u64::from_le_bytes);
    let commit = Commit { number, last, controls };
    (bytes(commit)[..] == *read).then_some(commit)
}

/// One write, so that a kill leaves the old bytes or the new ones.
#[cfg(unix)]
fn write_at_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(windows)]
fn write_at_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    let n = std::os::windows::fs::FileExt::seek_write(file, bytes, 0)?;
    if n == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}
