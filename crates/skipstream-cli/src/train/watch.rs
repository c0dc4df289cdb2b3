//! Follows the training: shows progress, and says when to rest.

use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use skipstream::corpus::RawProgress;
use skipstream::{Observer, Progress, Wish};

use super::every::Due;
use super::stop::Stop;

/// Figures are those of at least so long, or they would jump too much to be read.
const INTERVAL: Duration = Duration::from_secs(1);

/// The observer of a training.
pub struct Watch {
    stop: Stop,
    checkpoint: Option<Due>,
    display: Option<Display>,
}

impl Watch {
    /// Wishes a rest when it is asked to stop, and where a checkpoint is due.
    pub fn new(stop: Stop, checkpoint: Option<Due>, display: Option<Display>) -> Watch {
        Watch { stop, checkpoint, display }
    }

    /// Tells that the model was saved just now, with so many words.
    pub fn saved(&mut self, words: u64) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.done(words);
        }
    }

    /// Takes the progress from the screen.
    pub fn clear(&mut self) {
        if let Some(display) = self.display.take() {
            display.bar.finish_and_clear();
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> Wish {
        if let Some(display) = &mut self.display {
            display.show(progress);
        }
        let due = self.checkpoint.is_some_and(|checkpoint| checkpoint.is_due(progress.tokens));
        if due || self.stop.is_asked() { Wish::Rest } else { Wish::GoOn }
    }
}

/// A line at the foot of a terminal.
pub struct Display {
    bar: ProgressBar,
    bytes: RawProgress,
    /// Raw bytes read when it began: those were not read at the speed of training.
    first_bytes: Option<(u64, Instant)>,
    /// The beginning of the interval.
    since: Instant,
    earlier: Progress,
}

impl Display {
    /// Shows nothing where standard error is not a terminal.
    pub fn new(bytes: RawProgress, now: Progress) -> Display {
        let bar = match bytes.length() {
            Some(length) => ProgressBar::new(length).with_style(style("{bar:20} {percent:>3}%  {msg}")),
            None => ProgressBar::new_spinner().with_style(style("{spinner} {msg}")),
        };
        Display { bar, bytes, first_bytes: None, since: Instant::now(), earlier: now }
    }

    fn show(&mut self, progress: &Progress) {
        let elapsed = self.since.elapsed();
        let read = self.bytes.bytes_read();
        let (first_bytes, began) = *self.first_bytes.get_or_insert((read, Instant::now()));
        if read < first_bytes {
            // Another pass over the corpus.
            self.first_bytes = None;
            return;
        }
        if elapsed < INTERVAL {
            return;
        }
        let words = progress.tokens - self.earlier.tokens;
        let trained = progress.totals.since(&self.earlier.totals);
        let mut message = format!(
            "{}  loss {:.3}  vocabulary {}  evictions {}",
            match words {
                // The words were counted before; they are trained now.
                0 => rate(trained.pairs, "pairs", elapsed),
                _ => rate(words, "words", elapsed),
            },
            trained.mean_loss(),
            HumanCount(progress.vocabulary as u64),
            HumanCount(progress.evictions)
        );
        if let Some(length) = self.bytes.length() {
            let rate = (read - first_bytes) as f64 / began.elapsed().as_secs_f64();
            let left = length.saturating_sub(read) as f64 / rate;
            if let Ok(left) = Duration::try_from_secs_f64(left) {
                let left = Duration::from_secs(left.as_secs());
                message += &format!("  ETA {}", humantime::format_duration(left));
            }
            self.bar.set_position(read.min(length));
        }
        self.bar.set_message(message);
        self.bar.tick();
        self.since = Instant::now();
        self.earlier = *progress;
    }
}

fn rate(number: u64, unit: &str, time: Duration) -> String {
    let rate = number as f64 / time.as_secs_f64();
    format!("{} {unit}/s", HumanCount(rate as u64))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are well formed")
}
