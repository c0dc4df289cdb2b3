//! Which cell of the grid may run now.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A cell: the target block, and the round, which decides the context block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellPlace {
    pub target: usize,
    pub round: usize,
}

impl CellPlace {
    /// In a round each context block has one cell.
    pub fn context(self, blocks: usize) -> usize {
        (self.target + self.round) % blocks
    }
}

/// Hands out the cells of one batch. Cell (a, r) waits for (a, r − 1), which has its target block, and for
/// (a + 1, r − 1), which has its context block; so every block sees its cells in the same order whatever the
/// threads do, and no two running cells share one.
#[derive(Debug)]
pub(super) struct Schedule {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Rounds done by each target block.
    done: Vec<usize>,
    running: Vec<bool>,
    failed: bool,
}

impl State {
    /// The ready cell of the earliest round.
    fn ready(&self) -> Option<CellPlace> {
        let blocks = self.done.len();
        (0..blocks)
            .filter(|&target| {
                let round = self.done[target];
                !self.running[target] && round < blocks && self.done[(target + 1) % blocks] >= round
            })
            .min_by_key(|&target| self.done[target])
            .map(|target| CellPlace { target, round: self.done[target] })
    }

    fn is_over(&self) -> bool {
        self.failed || self.done.iter().all(|&done| done == self.done.len())
    }
}

impl Schedule {
    pub fn new(blocks: usize) -> Schedule {
        Schedule {
            state: Mutex::new(State { done: vec![0; blocks], running: vec![false; blocks], failed: false }),
            changed: Condvar::new(),
        }
    }

    /// Runs cells until all are done. Called by every thread.
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

/// A cell that panicked would be waited for forever: its drop ends the work of all.
struct Unfinished<'a>(&'a Schedule);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.lock().failed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
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
    fn a_panic_in_a_cell_does_not_hang_the_others() {
        let schedule = Schedule::new(4);
        let result = std::thread::scope(|scope| {
            let other = scope.spawn(|| schedule.work(|_| {}));
            let failing = scope.spawn(|| schedule.work(|_| panic!("on purpose")));
            let _ = other.join();
            failing.join()
        });
        // Either it got a cell and failed, or the other thread did them all.
        assert!(result.is_err() || schedule.lock().is_over());
    }
}
