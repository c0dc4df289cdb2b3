//! Memory for long requests and long answers, which the memory bound of the service includes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ApiError;
use super::limits::busy;
use crate::settings::{LONG_BYTES, SHORT_BYTES};

/// One client has at most this part of the memory in bytes, so that others have some.
const CLIENT_BYTES: usize = LONG_BYTES / 2;

/// Memory that is given to requests and returned when they end.
#[derive(Debug, Default)]
pub struct Memory {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    clients: HashMap<IpAddr, usize>,
}

/// A part of the memory, until it is dropped.
#[derive(Debug)]
pub struct Share {
    memory: Arc<Memory>,
    client: IpAddr,
    /// What it has without asking, in bytes.
    free: usize,
    bytes: usize,
}

impl Memory {
    /// A share of what is free, to begin with.
    pub fn share(self: &Arc<Memory>, client: IpAddr, free: usize) -> Share {
        Share { memory: self.clone(), client, free, bytes: 0 }
    }

    /// A share for an answer.
    pub fn answer(self: &Arc<Memory>, client: IpAddr) -> Share {
        self.share(client, SHORT_BYTES)
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Makes the share as large as `bytes` needs, beyond what is free. It is an error if others have too much.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let more = bytes.saturating_sub(self.free).saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let mut taken = self.memory.lock();
        let of_client = taken.clients.get(&self.client).copied().unwrap_or_default() + more;
        if taken.total + more > LONG_BYTES || of_client > CLIENT_BYTES {
            return Err(too_long());
        }
        taken.total += more;
        taken.clients.insert(self.client, of_client);
        self.bytes += more;
        Ok(())
    }
}

fn too_long() -> ApiError {
    let free = SHORT_BYTES >> 10;
    busy(format!(
        "too many long requests and answers at the same time; those of at most {free} KiB are answered"
    ))
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.memory.lock();
        taken.total -= self.bytes;
        if let Some(of_client) = taken.clients.get_mut(&self.client) {
            *of_client -= self.bytes;
            if *of_client == 0 {
                taken.clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::testing::client;

    #[test]
    fn memory_is_shared_and_returned() {
        let memory = Arc::new(Memory::default());
        let mut small = memory.answer(client(1));
        small.grow_to(SHORT_BYTES).unwrap();
        assert_eq!(memory.lock().total, 0);
        let mut one = memory.answer(client(1));
        one.grow_to(CLIENT_BYTES).unwrap();
        one.grow_to(CLIENT_BYTES + SHORT_BYTES).unwrap();
        assert_eq!(one.grow_to(CLIENT_BYTES + SHORT_BYTES + 1).unwrap_err().status, 503);
        assert_eq!(memory.answer(client(1)).grow_to(SHORT_BYTES + 1).unwrap_err().status, 503);
        let mut two = memory.answer(client(2));
        two.grow_to(CLIENT_BYTES + SHORT_BYTES).unwrap();
        assert_eq!(memory.lock().total, LONG_BYTES);
        assert_eq!(memory.answer(client(3)).grow_to(SHORT_BYTES + 1).unwrap_err().status, 503);
        drop((one, two));
        assert!(memory.lock().total == 0 && memory.lock().clients.is_empty());
    }
}
