//! What the shim and the attack share: a block of numbers in a mapped file, and the records of the journal.
#![allow(dead_code, reason = "the shim and the attack compile this file, and each uses a part of it")]

use std::sync::atomic::AtomicU64;

/// The folder whose files are watched.
pub const ROOT: &str = "TORTURE_ROOT";

/// The file with a [`Control`] block.
pub const CONTROL: &str = "TORTURE_CONTROL";

/// The file that every call is recorded in, if there is one.
pub const JOURNAL: &str = "TORTURE_JOURNAL";

/// Numbers that the attack may change while the program runs.
#[repr(C)]
pub struct Control {
    /// Calls that have begun.
    pub calls: AtomicU64,
    /// What happens at the calls below: an [`Action`].
    pub action: AtomicU64,
    /// The first and the last of these calls.
    pub first: AtomicU64,
    pub last: AtomicU64,
    /// The kinds of calls that are meant: a bit per [`Kind`].
    pub kinds: AtomicU64,
    /// The error that a failing call returns, or the milliseconds that a slow one takes.
    pub argument: AtomicU64,
}

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Action {
    Nothing,
    KillBefore,
    /// In the middle of a write; like `KillAfter` for other calls.
    KillInside,
    KillAfter,
    Fail,
    /// A write of several bytes writes only the first half.
    WriteShort,
    Slow,
}

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// A file is opened for writing; the record says that it was created.
    Open,
    Write,
    Truncate,
    Sync,
    Rename,
    Link,
    Unlink,
    MakeFolder,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Open,
        Kind::Write,
        Kind::Truncate,
        Kind::Sync,
        Kind::Rename,
        Kind::Link,
        Kind::Unlink,
        Kind::MakeFolder,
    ];

    pub fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// The fixed part of a record of the journal. It is followed by two texts: a path, and a second path or the bytes written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the call, from 1.
    pub call: u64,
    pub kind: u64,
    /// The file that the call was for.
    pub inode: u64,
    /// Where bytes were written, or the new length.
    pub offset: u64,
    pub lengths: [u64; 2],
}

impl Head {
    pub const BYTES: usize = 48;

    pub fn to_bytes(self) -> [u8; Head::BYTES] {
        let Head { call, kind, inode, offset, lengths: [one, two] } = self;
        let mut bytes = [0; Head::BYTES];
        for (to, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip([call, kind, inode, offset, one, two])
        {
            *to = number.to_le_bytes();
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8; Head::BYTES]) -> Head {
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number));
        let mut next = || numbers.next().unwrap_or(0);
        Head { call: next(), kind: next(), inode: next(), offset: next(), lengths: [next(), next()] }
    }
}
