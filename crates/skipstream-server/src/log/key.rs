//! Names under which requests are sent, so that one that is sent again is not logged again.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::published::Seq;

/// A name that who sends text gives to a request, the same when it is sent again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Characters of a key, at the most.
    pub const MOST: usize = 255;

    /// A key of 1 to 255 visible ASCII characters; nothing where it is none.
    pub fn new(key: &str) -> Option<IdempotencyKey> {
        let is_key = (1..=IdempotencyKey::MOST).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| IdempotencyKey(key.to_owned()))
    }

    /// As it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What was logged under a key before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    pub first: Seq,
    pub last: Seq,
    pub lines: u64,
    /// BLAKE3 of all these lines.
    pub hash: [u8; 32],
    /// Whether the request came to its end.
    pub complete: bool,
}

/// What is logged under a key now.
#[derive(Clone, Debug)]
pub(super) struct KeyUpdate {
    pub key: IdempotencyKey,
    pub lines: u64,
    pub hash: [u8; 32],
    pub complete: bool,
}

/// The keys of requests that are being sent.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenKeys(Arc<Mutex<HashSet<IdempotencyKey>>>);

impl OpenKeys {
    /// Takes a key until the result is dropped; nothing where another request has it.
    pub fn claim(&self, key: IdempotencyKey) -> Option<Claim> {
        self.lock().insert(key.clone()).then(|| Claim { key, keys: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<IdempotencyKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to log lines under a key.
#[derive(Debug)]
pub(super) struct Claim {
    pub key: IdempotencyKey,
    keys: OpenKeys,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.key);
    }
}
