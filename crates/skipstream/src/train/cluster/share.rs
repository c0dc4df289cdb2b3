//! Which blocks belong to which worker.

use std::ops::Range;

use crate::config::{Settings, Strategy};
use crate::error::{Error, Result};

/// The shares of the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub blocks: usize,
    pub workers: usize,
}

impl Share {
    pub fn new(settings: &Settings, workers: usize) -> Result<Share> {
        let Strategy::MiniBatch(options) = settings.strategy() else {
            let name = settings.strategy().name();
            return Err(Error::setting("strategy", name, "mini-batch for several workers"));
        };
        let blocks = options.blocks;
        if workers == 0 || workers > blocks {
            let limit = format!("from 1 to {blocks}, the number of `blocks`");
            return Err(Error::setting("workers", workers, limit));
        }
        Ok(Share { blocks, workers })
    }

    /// The blocks of a worker.
    pub fn of(self, worker: usize) -> Range<usize> {
        worker * self.blocks / self.workers..(worker + 1) * self.blocks / self.workers
    }

    /// The most blocks that a worker has.
    pub fn largest(self) -> usize {
        self.blocks.div_ceil(self.workers)
    }

    /// The worker whose contexts visit `worker` in a phase, or which `worker` visits.
    pub fn host(self, worker: usize, phase: usize) -> usize {
        (worker + phase) % self.workers
    }

    /// The workers other than this one.
    pub fn others(self, worker: usize) -> impl Iterator<Item = usize> {
        (0..self.workers).filter(move |&other| other != worker)
    }

    /// The rows of a block, if the first `slots` ids are in use.
    pub fn rows(self, block: usize, slots: usize) -> usize {
        slots.saturating_sub(block).div_ceil(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn shares_are_contiguous_and_cover_the_blocks() {
        for workers in 1..=8 {
            let share = Share { blocks: 8, workers };
            let blocks: Vec<usize> = (0..workers).flat_map(|worker| share.of(worker)).collect();
            assert_eq!(blocks, (0..8).collect::<Vec<_>>());
            assert!((0..workers).all(|worker| (1..=share.largest()).contains(&share.of(worker).len())));
        }
    }

    #[test]
    fn every_id_has_a_row_in_one_block() {
        let share = Share { blocks: 4, workers: 2 };
        for slots in 0..20 {
            assert_eq!((0..4).map(|block| share.rows(block, slots)).sum::<usize>(), slots);
        }
    }

    #[test]
    fn there_are_no_more_workers_than_blocks() {
        let settings = Config::default().check().unwrap();
        let message = Share::new(&settings, 17).unwrap_err().to_string();
        assert_eq!(message, "workers is 17; it must be from 1 to 16, the number of `blocks`");
        assert!(Share::new(&settings, 0).is_err());
    }
}
