//! What the service measured over time: minutes at first, hours and days later, in the same number of samples.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::metrics::{Queries, resident_bytes};
use crate::service::Service;

/// Interval between measurements.
pub(crate) const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// Limit on samples. When it is reached, each two become one, and so do future measurements.
const MAX_SAMPLES: usize = 720;

/// What the service measured at a time
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Sample {
    /// When it was measured
    pub time: Timestamp,
    /// Number of tokens learned
    pub words: u64,
    /// Training speed
    pub words_per_second: f64,
    /// Mean loss per pair; null if nothing was trained
    pub loss: Option<f64>,
    /// Size of the vocabulary
    pub vocabulary: usize,
    /// Bytes of text that wait to be learned
    pub queue_bytes: u64,
    /// Resident memory; null if the system does not report it
    pub resident_bytes: Option<u64>,
    /// Requests per second, without uploads and event streams
    pub requests_per_second: f64,
    /// Mean time until the responses to these requests started, in milliseconds; null if there were none
    pub latency_ms: Option<f64>,
    /// Size of the data folder
    pub disk_bytes: u64,
    /// Free space of its disk; null if the system does not report it
    pub disk_free_bytes: Option<u64>,
}

/// The samples since the service started.
#[derive(Debug, Default)]
pub struct Samples {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    samples: Vec<Sample>,
    /// Measurements per sample, and those in the last sample.
    step: u32,
    in_last: u32,
    /// When requests were last counted, and those until then.
    counted: (Instant, Queries),
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { samples: Vec::new(), step: 1, in_last: 0, counted: (Instant::now(), Queries::default()) }
    }
}

impl Samples {
    /// The samples, oldest first.
    pub fn list(&self) -> Vec<Sample> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).samples.clone()
    }

    /// Measures the service.
    pub fn measure(&self, service: &Service) {
        let (published, status) = (service.published(), service.status.load());
        let progress = status.progress.as_ref().unwrap_or(&published.progress);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, queries) = (Instant::now(), service.metrics.queries());
        let (counted_at, before) = std::mem::replace(&mut kept.counted, (now, queries));
        let (n, time) = queries.since(&before);
        kept.push(Sample {
            time: Timestamp::now(),
            words: progress.tokens,
            words_per_second: status.words_per_second,
            loss: status.loss,
            vocabulary: progress.vocabulary,
            queue_bytes: service.log.waiting_bytes(),
            resident_bytes: resident_bytes(),
            requests_per_second: n as f64 / now.duration_since(counted_at).as_secs_f64().max(0.1),
            latency_ms: (n > 0).then(|| time.as_secs_f64() * 1e3 / n as f64),
            disk_bytes: folder_bytes(&service.settings.data),
            disk_free_bytes: free_bytes(&service.settings.data),
        });
    }
}

impl Kept {
    fn push(&mut self, sample: Sample) {
        match self.samples.last_mut() {
            Some(last) if self.in_last < self.step => {
                *last = mean(last, self.in_last, &sample, 1);
                self.in_last += 1;
            }
            _ => {
                self.samples.push(sample);
                self.in_last = 1;
            }
        }
        if self.samples.len() > MAX_SAMPLES {
            let pairs = self.samples.chunks(2);
            self.in_last += if self.samples.len().is_multiple_of(2) { self.step } else { 0 };
            self.samples = pairs.map(|pair| mean(&pair[0], 1, &pair[pair.len() - 1], 1)).collect();
            self.step *= 2;
        }
    }
}

/// Two samples as one, with the means of rates and the last of the other values.
fn mean(one: &Sample, weight: u32, other: &Sample, other_weight: u32) -> Sample {
    let (weight, other_weight) = (f64::from(weight), f64::from(other_weight));
    let mean = |one: f64, other: f64| (one * weight + other * other_weight) / (weight + other_weight);
    let mean_of_known = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => Some(mean(one, other)),
        (one, other) => one.or(other),
    };
    Sample {
        words_per_second: mean(one.words_per_second, other.words_per_second),
        loss: mean_of_known(one.loss, other.loss),
        requests_per_second: mean(one.requests_per_second, other.requests_per_second),
        latency_ms: mean_of_known(one.latency_ms, other.latency_ms),
        ..other.clone()
    }
}

/// The bytes of all files in a folder. Files that disappear meanwhile do not count.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(words: u64, words_per_second: f64) -> Sample {
        Sample { words, words_per_second, loss: words.is_multiple_of(2).then_some(3.0), ..Sample::default() }
    }

    #[test]
    fn a_long_time_fits_into_as_many_samples_and_keeps_the_mean() {
        let mut kept = Kept::default();
        for number in 0..100_000_u64 {
            kept.push(sample(number, (number % 2) as f64));
            assert!(kept.samples.len() <= MAX_SAMPLES);
        }
        assert!(kept.samples.len() > MAX_SAMPLES / 3);
        assert_eq!(kept.samples.last().unwrap().words, 99_999);
        let steps: Vec<u64> = kept.samples.windows(2).map(|pair| pair[1].words - pair[0].words).collect();
        assert!(steps[..steps.len() - 1].iter().all(|step| *step == steps[0]), "{steps:?}");
        for sample in &kept.samples {
            assert!((sample.words_per_second - 0.5).abs() < 0.01, "{sample:?}");
            assert_eq!(sample.loss, Some(3.0));
        }
    }

    #[test]
    fn the_size_of_a_folder_is_that_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("a"), [0; 10]).unwrap();
        fs::write(folder.path().join("inner/b"), [0; 5]).unwrap();
        assert_eq!(folder_bytes(folder.path()), 15);
        assert_eq!(folder_bytes(&folder.path().join("missing")), 0);
    }
}
