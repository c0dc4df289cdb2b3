//! The order of the cells of the grid.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A cell: the target block, and the round, which decides the context block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellPlace {
    pub target: usize,
    pub round: usize,
}

impl CellPlace {
    /// Each context block has one cell per round.
    pub fn context(self, blocks: usize) -> usize {
        (self.target + self.round) % blocks
    }

    /// The number of the cell, which decides its random numbers and its place in sums.
    pub fn number(self, blocks: usize) -> usize {
        self.target * blocks + self.round
    }
}

/// Hands out the cells of one batch, or of a part of it. Cell (a, r) waits for (a, r − 1), which has the same target block, and for
/// (a + 1, r − 1), which has the same context block. So the order of the cells of a block does not depend on the threads,
/// and no two running cells share a block.
#[derive(Debug)]
pub(super) struct Schedule {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Rounds done by each target block.
    done: Vec<usize>,
    /// Rounds after which each target block is done.
    end: Vec<usize>,
    running: Vec<bool>,
    failed: bool,
}

impl State {
    fn ready(&self) -> Option<CellPlace> {
        let blocks = self.done.len();
        (0..blocks)
            .filter(|&target| {
                let round = self.done[target];
                !self.running[target] && round < self.end[target] && self.done[(target + 1) % blocks] >= round
            })
            .min_by_key(|&target| self.done[target])
            .map(|target| CellPlace { target, round: self.done[target] })
    }

    fn is_over(&self) -> bool {
        self.failed || self.done == self.end
    }
}

impl Schedule {
    pub fn new(blocks: usize) -> Schedule {
        Schedule::part(blocks, (0..blocks).map(|target| (target, 0..blocks)))
    }

    /// Only these rounds of these target blocks. The cells that they wait for and that are not among them are done.
    pub fn part(blocks: usize, rounds: impl IntoIterator<Item = (usize, Range<usize>)>) -> Schedule {
        let (mut done, mut end) = (vec![blocks; blocks], vec![blocks; blocks]);
        for (target, rounds) in rounds {
            (done[target], end[target]) = (rounds.start, rounds.end);
        }
        let state = State { done, end, running: vec![false; blocks], failed: false };
        Schedule { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Runs cells until all are done. Every thread calls it.
    pub fn work(&self, mut run: impl FnMut(CellPlace)) {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return;
            }
            let Some(cell) = state.ready() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.running[cell.target] = true;
            drop(state);
            let unfinished = Unfinished(self);
            run(cell);
            std::mem::forget(unfinished);
            state = self.lock();
            state.running[cell.target] = false;
            state.done[cell.target] += 1;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropped when a cell panics. It ends the work of all threads, which would otherwise wait for the cell forever.
struct Unfinished<'a>(&'a Schedule);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.lock().failed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_cell_runs_once_and_blocks_are_never_shared() {
        const BLOCKS: usize = 8;
        let schedule = Schedule::new(BLOCKS);
        let targets: Vec<Mutex<Vec<usize>>> = (0..BLOCKS).map(|_| Mutex::default()).collect();
        let contexts: Vec<Mutex<Vec<usize>>> = (0..BLOCKS).map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    schedule.work(|cell| {
                        let mut target = targets[cell.target].try_lock().unwrap();
                        let mut context = contexts[cell.context(BLOCKS)].try_lock().unwrap();
                        target.push(cell.round);
                        context.push(cell.round);
                        std::thread::yield_now();
                    });
                });
            }
        });
        let expected: Vec<usize> = (0..BLOCKS).collect();
        for seen in targets.into_iter().chain(contexts) {
            assert_eq!(seen.into_inner().unwrap(), expected);
        }
    }

    #[test]
    fn a_panic_in_a_cell_ends_the_work_of_the_other_threads() {
        let schedule = Arc::new(Schedule::new(1));
        let (sender, cell_is_taken) = mpsc::channel();
        let failing = std::thread::spawn({
            let schedule = Arc::clone(&schedule);
            move || {
                schedule.work(|_| {
                    sender.send(()).unwrap();
                    // The other thread has time to wait for the cell.
                    std::thread::sleep(Duration::from_millis(50));
                    panic!("on purpose");
                });
            }
        });
        cell_is_taken.recv().unwrap();
        let (sender, other_ended) = mpsc::channel();
        std::thread::spawn(move || {
            schedule.work(|_| unreachable!("the only cell is taken"));
            sender.send(()).unwrap();
        });
        assert!(failing.join().is_err());
        other_ended.recv_timeout(Duration::from_secs(10)).expect("it must not wait for the cell that failed");
    }
}
