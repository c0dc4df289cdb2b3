//! A place in a file that grows, by which it is found again.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

/// So many bytes before a place tell whether it is still the same.
pub const MARK_BYTES: usize = 256;

/// A place in a file: which file it is, how far it was read, and what stands before that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub identity: Identity,
    pub offset: u64,
    /// BLAKE3 of the last bytes before the offset.
    mark: String,
}

/// What tells one file from another of the same path, as long as both are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Elsewhere only the content tells.
    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Identity {
        Identity { device: 0, inode: 0 }
    }
}

impl Place {
    /// A place in an open file.
    pub fn at(file: &mut File, offset: u64) -> io::Result<Place> {
        let identity = Identity::of(&file.metadata()?);
        Ok(Place { identity, offset, mark: mark(file, offset)? })
    }

    /// Whether what was read is still what stands in the file before this place.
    pub fn is_in(&self, file: &mut File) -> io::Result<bool> {
        Ok(file.metadata()?.len() >= self.offset && mark(file, self.offset)? == self.mark)
    }
}

/// Whether these bytes stand in a file before an offset.
pub fn stands_before(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    let length = bytes.len() as u64;
    file.seek(SeekFrom::Start(offset.saturating_sub(length)))?;
    let mut found = Vec::with_capacity(bytes.len());
    file.take(length).read_to_end(&mut found)?;
    Ok(found == bytes)
}

fn mark(file: &mut File, offset: u64) -> io::Result<String> {
    let start = offset.saturating_sub(MARK_BYTES as u64);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(offset - start).read_to_end(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}
