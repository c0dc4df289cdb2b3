//! The journal of a program's file calls.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shim::{Head, Kind};

/// A call that changed something, or made a change durable.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number of the call.
    pub call: u64,
    pub step: Step,
}

#[derive(Clone, Debug)]
pub enum Step {
    Create { path: PathBuf, inode: u64 },
    Write { inode: u64, offset: usize, bytes: Vec<u8> },
    Truncate { inode: u64, length: usize },
    Sync { path: PathBuf, inode: u64 },
    Rename { from: PathBuf, to: PathBuf, inode: u64 },
    Link { to: PathBuf, inode: u64 },
    Remove { path: PathBuf },
    MakeFolder { path: PathBuf },
}

/// Reads a journal. Paths are relative to the folder `root`.
pub fn read(mut journal: &[u8], root: &Path) -> Result<Vec<Entry>> {
    let relative = |bytes: &[u8]| {
        let path = Path::new(OsStr::from_bytes(bytes));
        path.strip_prefix(root).unwrap_or(path).to_owned()
    };
    let mut entries = Vec::new();
    while let Some((head, rest)) = journal.split_first_chunk() {
        let Head { call, kind, inode, offset, lengths } = Head::from_bytes(head);
        let [one, two] = lengths.map(|length| length as usize);
        let (first, rest) = rest.split_at_checked(one).context("the journal is cut")?;
        let (second, rest) = rest.split_at_checked(two).context("the journal is cut")?;
        let (path, offset) = (relative(first), offset as usize);
        let step = match Kind::ALL.into_iter().find(|one| *one as u64 == kind) {
            Some(Kind::Open) => Step::Create { path, inode },
            Some(Kind::Write) => Step::Write { inode, offset, bytes: second.to_vec() },
            Some(Kind::Truncate) => Step::Truncate { inode, length: offset },
            Some(Kind::Sync) => Step::Sync { path, inode },
            Some(Kind::Rename) => Step::Rename { from: relative(second), to: path, inode },
            Some(Kind::Link) => Step::Link { to: path, inode },
            Some(Kind::Unlink) => Step::Remove { path },
            Some(Kind::MakeFolder) => Step::MakeFolder { path },
            None => bail!("the journal has a call of kind {kind}"),
        };
        entries.push(Entry { call, step });
        journal = rest;
    }
    Ok(entries)
}
