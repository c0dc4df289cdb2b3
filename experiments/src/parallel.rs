//! Work for all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of usable cores.
pub fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` with the numbers below `n`, in order, on some threads, and returns the results in order.
pub fn in_parallel<T: Send>(threads: usize, n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&number| number < n).map(|number| (number, work(number))).collect::<Vec<_>>()
    };
    let mut done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        assert_eq!(in_parallel(3, 7, |number| number * number), [0, 1, 4, 9, 16, 25, 36]);
        assert!(in_parallel(2, 0, |number| number).is_empty());
    }
}
