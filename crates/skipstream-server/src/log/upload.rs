//! The lines of one request, logged in chunks.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::key::{Claim, Earlier, IdempotencyKey, KeyUpdate};
use super::{Chunk, Log};
use crate::error::{Error, Result};
use crate::published::Seq;

/// Accepted lines
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Accepted {
    /// Number of the first line
    pub first: Seq,
    /// Number of the last line; lines of other requests may be in between
    pub last: Seq,
    /// Number of lines
    pub lines: u64,
}

/// An upload in progress. Lines that an earlier request logged under the same key are skipped.
#[derive(Debug)]
pub struct Upload<'log> {
    log: &'log Log,
    claim: Option<Claim>,
    /// What was logged before, until all of it has been skipped.
    earlier: Option<Earlier>,
    /// Whether an earlier request with this key was complete.
    was_complete: bool,
    /// Hash of all lines so far.
    hasher: blake3::Hasher,
    /// Lines so far.
    lines: u64,
    accepted: Option<Accepted>,
}

impl<'log> Upload<'log> {
    pub(super) async fn begin(log: &'log Log, key: Option<IdempotencyKey>) -> Result<Upload<'log>> {
        let (claim, earlier) = match key {
            None => (None, None),
            Some(key) => {
                let claim = log.open_keys.claim(key.clone());
                let claim = claim.ok_or_else(|| Error::KeyInUse(key.as_str().to_owned()))?;
                (Some(claim), log.earlier(key).await?)
            }
        };
        Ok(Upload {
            log,
            claim,
            earlier,
            was_complete: earlier.is_some_and(|earlier| earlier.complete),
            hasher: blake3::Hasher::new(),
            lines: 0,
            accepted: None,
        })
    }

    /// Logs lines and returns when they are on disk. If the queue is full, waits for at most `patience`.
    pub async fn append(&mut self, chunk: Chunk, patience: Duration) -> Result<()> {
        self.send(chunk, patience, false).await
    }

    /// Logs the last lines, if any. Returns everything that was accepted, now or by earlier requests.
    pub async fn finish(mut self, chunk: Chunk, patience: Duration) -> Result<Option<Accepted>> {
        self.send(chunk, patience, true).await?;
        Ok(self.accepted)
    }

    pub fn accepted(&self) -> Option<Accepted> {
        self.accepted
    }

    async fn send(&mut self, mut chunk: Chunk, patience: Duration, is_last: bool) -> Result<()> {
        self.skip_earlier(&mut chunk)?;
        if (self.earlier.is_some() && is_last) || (self.was_complete && !chunk.is_empty()) {
            return Err(self.conflict());
        }
        let completes = is_last && self.claim.is_some() && !self.was_complete && self.accepted.is_some();
        if chunk.is_empty() && !completes {
            return Ok(());
        }
        // A long upload may have begun before the learner failed.
        self.log.lifecycle.check_learning()?;
        // The state changes only when the lines are on disk.
        let mut hasher = self.hasher.clone();
        let mut lines = self.lines;
        for (line, time, weight) in chunk.iter() {
            hash_line(&mut hasher, line, time, weight);
            lines += 1;
        }
        let key = self.claim.as_ref().map(|claim| KeyUpdate {
            key: claim.key.clone(),
            lines,
            hash: *hasher.finalize().as_bytes(),
            complete: is_last,
        });
        let numbers = self.log.write(chunk, key, None, patience).await?;
        if let Some((first, last)) = numbers {
            let first = self.accepted.map_or(first, |accepted| accepted.first);
            self.accepted = Some(Accepted { first, last, lines });
        }
        (self.hasher, self.lines) = (hasher, lines);
        Ok(())
    }

    /// Removes lines that were logged before, and checks that they are the same.
    fn skip_earlier(&mut self, chunk: &mut Chunk) -> Result<()> {
        let Some(earlier) = self.earlier else { return Ok(()) };
        let mut skipped = 0;
        for (line, time, weight) in chunk.iter().take((earlier.lines - self.lines) as usize) {
            hash_line(&mut self.hasher, line, time, weight);
            skipped += 1;
        }
        chunk.drop_lines(skipped);
        self.lines += skipped as u64;
        if self.lines == earlier.lines {
            if *self.hasher.finalize().as_bytes() != earlier.hash {
                return Err(self.conflict());
            }
            let Earlier { first, last, lines, .. } = earlier;
            self.accepted = Some(Accepted { first, last, lines });
            self.earlier = None;
        }
        Ok(())
    }

    fn conflict(&self) -> Error {
        let key = self.claim.as_ref().map_or("", |claim| claim.key.as_str());
        Error::KeyConflict(key.to_owned())
    }
}

/// Hashes a line, its time, at the precision at which it is stored, and its weight.
fn hash_line(hasher: &mut blake3::Hasher, line: &[u8], time: Option<Timestamp>, weight: f32) {
    hasher.update(line).update(b"\n");
    match time {
        Some(time) => hasher.update(&[1]).update(&time.as_microsecond().to_le_bytes()),
        None => hasher.update(&[0]),
    };
    hasher.update(&weight.to_le_bytes());
}
