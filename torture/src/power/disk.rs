//! What a disk may hold after a power loss.
//!
//! The disk promises what POSIX promises and no more. Bytes are durable once their file was synced; a name in a folder is
//! durable once the folder was synced, and syncing a file does not make its name durable. Of everything else, any part may be
//! there: a write may be missing or torn at sectors while a later one is there, a file may have its new length without the
//! bytes, and a rename may have happened or not. A single rename is atomic.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::journal::{Entry, Step};
use crate::random::Random;

const SECTOR: usize = 512;

/// Files and folders, what is durable of them, and what is not yet.
#[derive(Clone, Default)]
pub struct Disk {
    files: Vec<Bytes>,
    /// The file that has an inode number now.
    numbers: HashMap<u64, usize>,
    /// Durable names.
    names: BTreeMap<PathBuf, Node>,
    /// Names as the program sees them.
    seen: BTreeMap<PathBuf, Node>,
    /// Changes of names that are not durable, in their order.
    changes: Vec<NameChange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    File(usize),
    Folder,
}

#[derive(Clone, Default)]
struct Bytes {
    durable: Vec<u8>,
    changes: Vec<ByteChange>,
}

#[derive(Clone)]
enum ByteChange {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

#[derive(Clone)]
struct NameChange {
    folder: PathBuf,
    removed: Option<PathBuf>,
    added: Option<(PathBuf, Node)>,
}

/// Which part of what is not durable survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survives {
    Nothing,
    Everything,
    Names,
    Bytes,
    AnyPart,
}

impl Survives {
    pub const ALL: [Survives; 5] =
        [Survives::Nothing, Survives::Everything, Survives::Names, Survives::Bytes, Survives::AnyPart];
}

impl Disk {
    /// A folder whose files are all durable.
    pub fn of(root: &Path) -> Result<Disk> {
        let mut disk = Disk::default();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let name = path.strip_prefix(root)?.to_owned();
                if path.is_dir() {
                    disk.names.insert(name, Node::Folder);
                    folders.push(path);
                } else {
                    // Hard links have the same number.
                    let number = fs::metadata(&path)?.ino();
                    let next = disk.files.len();
                    let file = *disk.numbers.entry(number).or_insert(next);
                    if file == next {
                        disk.files.push(Bytes { durable: fs::read(&path)?, changes: Vec::new() });
                    }
                    disk.names.insert(name, Node::File(file));
                }
            }
        }
        disk.seen = disk.names.clone();
        Ok(disk)
    }

    /// Follows the program by one call.
    pub fn follow(&mut self, entry: &Entry) -> Result<()> {
        match &entry.step {
            Step::Create { path, inode } => {
                // The number may be that of a file that was removed.
                self.files.push(Bytes::default());
                let file = self.files.len() - 1;
                self.numbers.insert(*inode, file);
                self.change(None, Some((path, Node::File(file))));
            }
            Step::Write { inode, offset, bytes } => {
                self.file(*inode)?.changes.push(ByteChange::Write(*offset, bytes.clone()));
            }
            Step::Truncate { inode, length } => {
                self.file(*inode)?.changes.push(ByteChange::Truncate(*length));
            }
            Step::Sync { path, inode } => {
                if *path == Path::new("") || self.seen.get(path) == Some(&Node::Folder) {
                    self.sync_folder(path);
                } else {
                    self.file(*inode)?.sync();
                }
            }
            Step::Rename { from, to, inode } => {
                let node = match self.numbers.get(inode) {
                    Some(file) => Node::File(*file),
                    None => *self.seen.get(from).with_context(|| format!("{} is unknown", from.display()))?,
                };
                // Renaming a file to another name of itself does nothing.
                if self.seen.get(to) != Some(&node) {
                    self.change(Some(from), Some((to, node)));
                }
            }
            Step::Link { to, inode } => {
                let file = *self.numbers.get(inode).context("a link to an unknown file")?;
                self.change(None, Some((to, Node::File(file))));
            }
            Step::Remove { path } => self.change(Some(path), None),
            Step::MakeFolder { path } => self.change(None, Some((path, Node::Folder))),
        }
        Ok(())
    }

    fn file(&mut self, inode: u64) -> Result<&mut Bytes> {
        let file = *self.numbers.get(&inode).with_context(|| format!("file {inode} is unknown"))?;
        Ok(&mut self.files[file])
    }

    fn change(&mut self, removed: Option<&Path>, added: Option<(&Path, Node)>) {
        let named = removed.or(added.map(|(path, _)| path)).unwrap_or(Path::new(""));
        let folder = named.parent().unwrap_or(Path::new("")).to_owned();
        let change = NameChange {
            folder,
            removed: removed.map(Path::to_owned),
            added: added.map(|(p, n)| (p.to_owned(), n)),
        };
        change.apply(&mut self.seen);
        self.changes.push(change);
    }

    fn sync_folder(&mut self, folder: &Path) {
        let names = &mut self.names;
        self.changes.retain(|change| {
            let synced = change.folder == folder;
            if synced {
                change.apply(names);
            }
            !synced
        });
    }

    /// Whether something is not durable, so that several outcomes are possible.
    pub fn is_open(&self) -> bool {
        !self.changes.is_empty() || self.files.iter().any(|file| !file.changes.is_empty())
    }

    /// Writes one of the possible outcomes of a power loss to an empty folder.
    pub fn lose_power(&self, survives: Survives, random: &mut Random, to: &Path) -> Result<()> {
        let mut names = self.names.clone();
        let kept = match survives {
            Survives::Nothing | Survives::Bytes => Part::None,
            Survives::Everything | Survives::Names => Part::All,
            Survives::AnyPart => Part::any(random, self.changes.len()),
        };
        for (number, change) in self.changes.iter().enumerate() {
            if kept.keeps(number, random) {
                change.apply(&mut names);
            }
        }
        // In this order a folder precedes what is in it.
        for (name, node) in &names {
            let path = to.join(name);
            if !path.parent().is_some_and(Path::exists) {
                continue;
            }
            match node {
                Node::Folder => fs::create_dir(&path)?,
                Node::File(file) => fs::write(&path, self.files[*file].after(survives, random))?,
            }
        }
        Ok(())
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, Node>) {
        if let Some(path) = &self.removed {
            names.remove(path);
        }
        if let Some((path, node)) = &self.added {
            names.insert(path.clone(), *node);
        }
    }
}

impl Bytes {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            change.apply(&mut self.durable);
        }
    }

    /// The bytes after a power loss.
    fn after(&self, survives: Survives, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let part = match survives {
            Survives::Nothing | Survives::Names => Part::None,
            Survives::Everything | Survives::Bytes => Part::All,
            Survives::AnyPart => Part::any(random, self.changes.len()),
        };
        let keeps_length = survives == Survives::AnyPart && random.below(2) == 0;
        for (number, change) in self.changes.iter().enumerate() {
            if part.keeps(number, random) {
                match change {
                    ByteChange::Write(offset, written) if part == Part::Some => {
                        tear(&mut bytes, *offset, written, random);
                    }
                    change => change.apply(&mut bytes),
                }
            }
            if let ByteChange::Write(offset, written) = change
                && keeps_length
                && bytes.len() < offset + written.len()
            {
                bytes.resize(offset + written.len(), 0);
            }
        }
        bytes
    }
}

impl ByteChange {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            ByteChange::Truncate(length) => bytes.resize(*length, 0),
            ByteChange::Write(offset, written) => write(bytes, *offset, written),
        }
    }
}

fn write(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(written);
}

/// Writes some of the sectors.
fn tear(bytes: &mut Vec<u8>, offset: usize, written: &[u8], random: &mut Random) {
    let mut at = 0;
    while at < written.len() {
        let sector = (SECTOR - (offset + at) % SECTOR).min(written.len() - at);
        if random.below(4) != 0 {
            write(bytes, offset + at, &written[at..at + sector]);
        }
        at += sector;
    }
}

/// Which of several changes survive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    All,
    First(usize),
    Some,
}

impl Part {
    fn any(random: &mut Random, changes: usize) -> Part {
        match random.below(4) {
            0 => Part::All,
            1 => Part::First(random.below(changes as u64 + 1) as usize),
            _ => Part::Some,
        }
    }

    fn keeps(self, number: usize, random: &mut Random) -> bool {
        match self {
            Part::None => false,
            Part::All => true,
            Part::First(n) => number < n,
            Part::Some => random.below(2) == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(disk: &mut Disk, steps: Vec<Step>) {
        for step in steps {
            disk.follow(&Entry { call: 1, step }).unwrap();
        }
    }

    /// The file `model` after a power loss; nothing if it is not there.
    fn model(disk: &Disk, survives: Survives) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        disk.lose_power(survives, &mut Random::new(1, 1), folder.path()).unwrap();
        fs::read(folder.path().join("model")).ok()
    }

    fn written(name: &str) -> Vec<Step> {
        let path = PathBuf::from(name);
        vec![Step::Create { path, inode: 1 }, Step::Write { inode: 1, offset: 0, bytes: b"whole".to_vec() }]
    }

    #[test]
    fn a_file_is_durable_once_it_and_its_folder_are_synced() {
        let mut disk = Disk::default();
        follow(&mut disk, written("model"));
        assert_eq!(model(&disk, Survives::Nothing), None);
        assert_eq!(model(&disk, Survives::Names), Some(Vec::new()));
        assert_eq!(model(&disk, Survives::Everything), Some(b"whole".to_vec()));
        follow(&mut disk, vec![Step::Sync { path: "model".into(), inode: 1 }]);
        assert_eq!(model(&disk, Survives::Nothing), None);
        assert_eq!(model(&disk, Survives::Names), Some(b"whole".to_vec()));
        follow(&mut disk, vec![Step::Sync { path: "".into(), inode: 9 }]);
        assert!(!disk.is_open());
        assert_eq!(model(&disk, Survives::Nothing), Some(b"whole".to_vec()));
    }

    #[test]
    fn a_rename_without_a_sync_of_the_file_may_leave_an_empty_one() {
        let mut disk = Disk::default();
        follow(&mut disk, written("partial"));
        follow(&mut disk, vec![Step::Rename { from: "partial".into(), to: "model".into(), inode: 1 }]);
        follow(&mut disk, vec![Step::Sync { path: "".into(), inode: 9 }]);
        assert_eq!(model(&disk, Survives::Nothing), Some(Vec::new()));
    }
}
