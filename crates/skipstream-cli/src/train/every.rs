//! Intervals in time or words.

use std::str::FromStr;
use std::time::{Duration, Instant};

use skipstream::unstable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    Time(Duration),
    Words(u64),
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Every, String> {
        let every = match text.strip_suffix("-words").or_else(|| text.strip_suffix("-word")) {
            Some(number) => unstable::count(number).map(Every::Words),
            // humantime reads `M` as a month; here it would mean millions of words.
            None if text.ends_with('M') => None,
            None => humantime::parse_duration(text).ok().filter(|time| !time.is_zero()).map(Every::Time),
        };
        every.ok_or_else(|| {
            format!("`{text}` is neither a time such as 60s or 5m nor a number of words such as 10M-words")
        })
    }
}

/// A recurring timer.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    every: Every,
    since: Instant,
    since_words: u64,
}

impl Due {
    /// Starts the interval now, at this number of words.
    pub fn new(every: Every, words: u64) -> Due {
        Due { every, since: Instant::now(), since_words: words }
    }

    /// Whether the interval has passed.
    pub fn is_due(&self, words: u64) -> bool {
        match self.every {
            Every::Time(time) => self.since.elapsed() >= time,
            Every::Words(every) => words - self.since_words >= every,
        }
    }

    /// Restarts the interval.
    pub fn restart(&mut self, words: u64) {
        *self = Due::new(self.every, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_words_are_told_apart() {
        for (text, every) in [
            ("60s", Every::Time(Duration::from_secs(60))),
            ("5m", Every::Time(Duration::from_secs(300))),
            ("1h 30m", Every::Time(Duration::from_secs(5400))),
            ("10M-words", Every::Words(10_000_000)),
            ("500k-words", Every::Words(500_000)),
            ("1-word", Every::Words(1)),
        ] {
            assert_eq!(text.parse(), Ok(every), "{text}");
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in ["", "10M", "10", "0s", "0-words", "-words", "often", "10Mwords"] {
            let message = text.parse::<Every>().unwrap_err();
            assert!(message.starts_with(&format!("`{text}` is neither a time")), "{message}");
        }
    }

    #[test]
    fn words_are_counted_from_the_last_time() {
        let mut due = Due::new(Every::Words(10), 5);
        assert!(!due.is_due(14));
        assert!(due.is_due(15));
        due.restart(17);
        assert!(!due.is_due(26));
        assert!(due.is_due(27));
    }
}
