//! A request's lines, sent to the log in chunks.

use std::time::Duration;

use jiff::Timestamp;

use super::key::{Claim, Earlier, IdempotencyKey, KeyUpdate};
use super::{Chunk, Log};
use crate::error::{Error, Result};
use crate::published::Seq;

/// Lines that were accepted. Others' lines may stand between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The number of the first.
    pub first: Seq,
    /// The number of the last.
    pub last: Seq,
    /// How many there are.
    pub lines: u64,
}

/// A request's lines on their way to the log. Where it has a key under which lines were logged before, these are passed over
/// when they come again, and only what stands behind them is logged.
#[derive(Debug)]
pub struct Sending<'log> {
    log: &'log Log,
    claim: Option<Claim>,
    /// What was logged before, until all of it has come again.
    earlier: Option<Earlier>,
    /// Whether the key's request had come to its end before.
    was_complete: bool,
    /// Of all lines so far.
    hasher: blake3::Hasher,
    /// Lines so far.
    lines: u64,
    accepted: Option<Accepted>,
}

impl<'log> Sending<'log> {
    pub(super) async fn begin(log: &'log Log, key: Option<IdempotencyKey>) -> Result<Sending<'log>> {
        let (claim, earlier) = match key {
            None => (None, None),
            Some(key) => {
                let claim = log.open_keys.claim(key.clone());
                let claim = claim.ok_or_else(|| Error::KeyInUse { key: key.to_string() })?;
                (Some(claim), log.earlier(key).await?)
            }
        };
        Ok(Sending {
            log,
            claim,
            earlier,
            was_complete: earlier.is_some_and(|earlier| earlier.complete),
            hasher: blake3::Hasher::new(),
            lines: 0,
            accepted: None,
        })
    }

    /// Logs lines, and comes back when they are safe on disk. Where the queue is full, waits so long for room.
    pub async fn append(&mut self, chunk: Chunk, patience: Duration) -> Result<()> {
        self.send(chunk, patience, false).await
    }

    /// Logs the last lines, perhaps none. The result is what was accepted in all, now or before.
    pub async fn finish(mut self, chunk: Chunk, patience: Duration) -> Result<Option<Accepted>> {
        self.send(chunk, patience, true).await?;
        Ok(self.accepted)
    }

    /// What was accepted so far.
    pub fn accepted(&self) -> Option<Accepted> {
        self.accepted
    }

    async fn send(&mut self, mut chunk: Chunk, patience: Duration, is_last: bool) -> Result<()> {
        if !chunk.is_empty() {
            chunk.assert_whole();
        }
        self.pass_over(&mut chunk)?;
        if self.earlier.is_some() && is_last {
            return Err(self.conflict());
        }
        if self.was_complete && !chunk.is_empty() {
            return Err(self.conflict());
        }
        let completes = is_last && self.claim.is_some() && !self.was_complete && self.accepted.is_some();
        if chunk.is_empty() && !completes {
            return Ok(());
        }
        // The state moves on only when the lines are safe.
        let mut hasher = self.hasher.clone();
        let mut lines = self.lines;
        for (line, time) in chunk.iter() {
            hash_line(&mut hasher, line, time);
            lines += 1;
        }
        let key = self.claim.as_ref().map(|claim| KeyUpdate {
            key: claim.key.clone(),
            lines,
            hash: *hasher.finalize().as_bytes(),
            complete: is_last,
        });
        let numbers = self.log.write(chunk, key, patience).await?;
        self.accept(numbers, lines);
        (self.hasher, self.lines) = (hasher, lines);
        Ok(())
    }

    fn accept(&mut self, numbers: Option<(Seq, Seq)>, lines: u64) {
        if let Some((first, last)) = numbers {
            let first = self.accepted.map_or(first, |accepted| accepted.first);
            self.accepted = Some(Accepted { first, last, lines });
        }
    }

    /// Takes the lines out that were logged before, once it is known that they are the same.
    fn pass_over(&mut self, chunk: &mut Chunk) -> Result<()> {
        let Some(earlier) = self.earlier else { return Ok(()) };
        let mut passed = 0;
        for (line, time) in chunk.iter().take((earlier.lines - self.lines) as usize) {
            hash_line(&mut self.hasher, line, time);
            passed += 1;
        }
        chunk.drop_lines(passed);
        self.lines += passed as u64;
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
        let key = self.claim.as_ref().map(|claim| claim.key.to_string()).unwrap_or_default();
        Error::KeyConflict { key }
    }
}

/// A line with its end, and its time if one was given, to the precision with which it is logged.
fn hash_line(hasher: &mut blake3::Hasher, line: &[u8], time: Option<Timestamp>) {
    hasher.update(line).update(b"\n");
    match time {
        Some(time) => hasher.update(&[1]).update(&time.as_microsecond().to_le_bytes()),
        None => hasher.update(&[0]),
    };
}
