//! Asking a store again that is away or busy.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::store::{Failure, Outcome};
use crate::output::note;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// How long to try.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    pub time: Duration,
}

impl Retries {
    /// Does it, again after each temporary failure until the time is over. The pauses double.
    pub fn run<T>(self, mut attempt: impl FnMut() -> Outcome<T>) -> Outcome<T> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt() {
                Err(Failure::Temporary(error)) if began.elapsed() + pause <= self.time => {
                    note(format_args!("{error:#}; trying again in {pause:?}"));
                }
                Err(Failure::Temporary(error)) => {
                    let time = humantime::format_duration(self.time);
                    return Err(Failure::Temporary(anyhow!(
                        "{error:#}; it was tried for {time} (--retry-for)"
                    )));
                }
                outcome => return outcome,
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of something that fails in this way twice, and the number of attempts.
    fn attempts(failure: fn(anyhow::Error) -> Failure, time: Duration) -> (bool, u32) {
        let mut attempts = 0;
        let outcome = Retries { time }.run(|| {
            attempts += 1;
            if attempts <= 2 { Err(failure(anyhow!("busy"))) } else { Ok(()) }
        });
        (outcome.is_ok(), attempts)
    }

    #[test]
    fn only_temporary_failures_are_retried_and_only_for_some_time() {
        assert_eq!(attempts(Failure::Temporary, Duration::from_secs(5)), (true, 3));
        assert_eq!(attempts(Failure::Temporary, Duration::ZERO), (false, 1));
        assert_eq!(attempts(Failure::Temporary, Duration::from_millis(500)), (false, 2));
        assert_eq!(attempts(Failure::Permanent, Duration::from_secs(5)), (false, 1));
    }
}
