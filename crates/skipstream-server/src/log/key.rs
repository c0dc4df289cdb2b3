//! Idempotency keys: a request that is retried under the same key is logged once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::published::Seq;

/// A name that the client gives to a request and repeats when it retries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Maximum number of characters.
    pub const MAX_CHARACTERS: usize = 255;

    /// Accepts 1 to 255 visible ASCII characters.
    pub fn new(key: &str) -> Option<IdempotencyKey> {
        let is_key = (1..=IdempotencyKey::MAX_CHARACTERS).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| IdempotencyKey(key.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What earlier requests logged under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    pub first: Seq,
    pub last: Seq,
    pub lines: u64,
    /// BLAKE3 of these lines.
    pub hash: [u8; 32],
    /// Whether the request was complete.
    pub complete: bool,
}

/// What this request logs under a key.
#[derive(Clone, Debug)]
pub(super) struct KeyUpdate {
    pub key: IdempotencyKey,
    pub lines: u64,
    pub hash: [u8; 32],
    pub complete: bool,
}

/// The keys of requests in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenKeys(Arc<Mutex<HashSet<IdempotencyKey>>>);

impl OpenKeys {
    /// Claims a key until the result is dropped; `None` if another request holds it.
    pub fn claim(&self, key: IdempotencyKey) -> Option<Claim> {
        self.lock().insert(key.clone()).then(|| Claim { key, keys: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<IdempotencyKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Exclusive use of a key.
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
