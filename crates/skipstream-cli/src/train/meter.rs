//! Progress figures.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use skipstream::Progress;
use skipstream::corpus::FilesProgress;

use crate::output::count;

/// Between the parts of a line.
const GAP: &str = "  ";

/// Progress over an interval and in total.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Words learned since the model was created.
    pub words_in_all: u64,
    /// Words learned per second in this interval.
    pub words_per_second: f64,
    /// Pairs trained per second in this interval.
    pub pairs_per_second: f64,
    /// Mean loss of the pairs trained in this interval; `null` if there were none.
    pub loss: Option<f64>,
    pub vocabulary: usize,
    /// Maximum vocabulary size.
    pub max_vocabulary: usize,
    /// Words evicted since the model was created.
    pub evictions: u64,
    pub file: usize,
    pub files: usize,
    /// Raw bytes read of all files.
    pub bytes_read: u64,
    /// Raw bytes of all files, if known.
    pub bytes: Option<u64>,
    /// Estimated seconds left, at the average speed of this run.
    pub eta_seconds: Option<u64>,
}

impl Figures {
    /// The parts of the line, most important first.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(bytes) = self.bytes {
            parts.push(format!("{:.0}%", 100.0 * self.bytes_read as f64 / bytes.max(1) as f64));
        }
        if let Some(eta) = self.eta_seconds {
            parts.push(format!("ETA {}", humantime::format_duration(Duration::from_secs(eta))));
        }
        parts.push(match self.words_per_second as u64 {
            // A later pass: the words were counted before.
            0 if self.pairs_per_second > 0.0 => format!("{} pairs/s", count(self.pairs_per_second as u64)),
            rate => format!("{} words/s", count(rate)),
        });
        if let Some(loss) = self.loss {
            parts.push(format!("loss {loss:.3}"));
        }
        if self.files > 1 {
            parts.push(format!("file {} of {}", self.file, self.files));
        }
        let (vocabulary, most) = (count(self.vocabulary), count(self.max_vocabulary));
        parts.push(format!("vocabulary {vocabulary} of {most}"));
        if self.evictions > 0 {
            parts.push(format!("evictions {}", count(self.evictions)));
        }
        parts
    }

    /// As many parts, the first ones, as fit into a line of this width.
    pub fn within(&self, columns: usize) -> String {
        let mut line = String::new();
        for part in self.parts() {
            let gap = if line.is_empty() { "" } else { GAP };
            if line.len() + gap.len() + part.len() > columns {
                break;
            }
            line = line + gap + &part;
        }
        line
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.parts().join(GAP))
    }
}

/// Computes figures once per interval. The caller passes the time.
pub struct Meter {
    interval: Duration,
    input: FilesProgress,
    max_vocabulary: usize,
    /// Raw bytes read before training started: those do not count for the speed.
    first_bytes: Option<(u64, Instant)>,
    /// Start of the interval.
    since: Instant,
    earlier: Progress,
}

impl Meter {
    /// Starts the first interval.
    pub fn new(
        interval: Duration,
        input: FilesProgress,
        max_vocabulary: usize,
        progress: Progress,
        now: Instant,
    ) -> Meter {
        Meter { interval, input, max_vocabulary, first_bytes: None, since: now, earlier: progress }
    }

    /// The figures, if the interval is over; starts the next one.
    pub fn read(&mut self, progress: &Progress, now: Instant) -> Option<Figures> {
        let bytes_read = self.input.bytes_read();
        let (first_bytes, began) = *self.first_bytes.get_or_insert((bytes_read, now));
        if bytes_read < first_bytes {
            // Another pass over the corpus.
            self.first_bytes = None;
            return None;
        }
        let elapsed = now - self.since;
        if elapsed < self.interval {
            return None;
        }
        let trained = progress.totals.since(&self.earlier.totals);
        let bytes = self.input.length();
        let speed = (bytes_read - first_bytes) as f64 / (now - began).as_secs_f64();
        let eta = bytes.map(|bytes| bytes.saturating_sub(bytes_read) as f64 / speed);
        let figures = Figures {
            words_in_all: progress.tokens,
            words_per_second: (progress.tokens - self.earlier.tokens) as f64 / elapsed.as_secs_f64(),
            pairs_per_second: trained.pairs as f64 / elapsed.as_secs_f64(),
            loss: (trained.pairs > 0).then(|| trained.mean_loss()),
            vocabulary: progress.vocabulary,
            max_vocabulary: self.max_vocabulary,
            evictions: progress.evictions,
            file: self.input.file(),
            files: self.input.files(),
            bytes_read,
            bytes,
            eta_seconds: eta.filter(|eta| eta.is_finite()).map(|eta| eta as u64),
        };
        self.since = now;
        self.earlier = *progress;
        Some(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_without_information_are_not_shown() {
        let figures = Figures {
            words_in_all: 1_000_000,
            words_per_second: 1_234.5,
            pairs_per_second: 9_000.0,
            loss: Some(2.3456),
            vocabulary: 1_500,
            max_vocabulary: 100_000,
            evictions: 0,
            file: 1,
            files: 1,
            bytes_read: 10,
            bytes: None,
            eta_seconds: None,
        };
        assert_eq!(figures.to_string(), "1,234 words/s  loss 2.346  vocabulary 1,500 of 100,000");
        let figures = Figures {
            words_per_second: 0.0,
            evictions: 12,
            file: 3,
            files: 17,
            bytes: Some(40),
            eta_seconds: Some(90),
            ..figures
        };
        assert_eq!(
            figures.to_string(),
            "25%  ETA 1m 30s  9,000 pairs/s  loss 2.346  file 3 of 17  vocabulary 1,500 of 100,000  evictions 12"
        );
        let whole = figures.to_string();
        for columns in 0..=whole.len() + 1 {
            let line = figures.within(columns);
            assert!(line.len() <= columns, "{line}");
            let rest = whole.strip_prefix(&line).unwrap();
            assert!(line.is_empty() || rest.is_empty() || rest.starts_with(GAP), "a part is cut: {line}");
        }
        assert_eq!(figures.within(whole.len()), whole);
        assert_eq!(figures.within(60), "25%  ETA 1m 30s  9,000 pairs/s  loss 2.346  file 3 of 17");
    }
}
