//! Lines that are logged together.

use jiff::Timestamp;

/// Lines that are logged in one row of the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// The lines, each with its `\n`.
    pub text: Vec<u8>,
    /// The time of each line as given by the client; `None` means the time of arrival. Empty if no line has a time.
    pub times: Vec<Option<Timestamp>>,
    /// The weight of each line. Empty if all have weight 1.
    pub line_weights: Vec<f32>,
}

impl Chunk {
    /// Target size when a stream is cut into chunks: large enough for efficient transactions, small enough that many fit
    /// into memory.
    pub const BYTES: usize = 256 << 10;

    /// Adds a line, without its `\n`.
    pub fn push(&mut self, line: &[u8], time: Option<Timestamp>) {
        self.push_weighted(line, time, 1.0);
    }

    /// Adds a line with a weight, from 0 to [`Sentence::MAX_WEIGHT`](skipstream::corpus::Sentence::MAX_WEIGHT).
    pub fn push_weighted(&mut self, line: &[u8], time: Option<Timestamp>, weight: f32) {
        debug_assert!(!line.contains(&b'\n'), "one line at a time");
        if !self.line_weights.is_empty() {
            self.line_weights.push(weight);
        } else if weight != 1.0 {
            self.line_weights.resize(self.lines(), 1.0);
            self.line_weights.push(weight);
        }
        if !self.times.is_empty() {
            self.times.push(time);
        } else if time.is_some() {
            self.times.resize(self.lines(), None);
            self.times.push(time);
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
    }

    pub fn lines(&self) -> usize {
        if self.times.is_empty() {
            self.text.iter().filter(|&&byte| byte == b'\n').count()
        } else {
            self.times.len()
        }
    }

    /// Its approximate size on disk and in memory, which counts against the limit of the queue.
    pub fn weight(&self) -> usize {
        self.text.len() + 16 * self.times.len() + 4 * self.line_weights.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The lines without `\n`, with their times and weights.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<Timestamp>, f32)> {
        let times = self.times.iter().copied().chain(std::iter::repeat(None));
        let weights = self.line_weights.iter().copied().chain(std::iter::repeat(1.0));
        let lines = self.text.split_inclusive(|&byte| byte == b'\n').map(|line| &line[..line.len() - 1]);
        lines.zip(times).zip(weights).map(|((line, time), weight)| (line, time, weight))
    }

    /// Removes the first lines.
    pub(super) fn drop_lines(&mut self, lines: usize) {
        let bytes: usize =
            self.text.split_inclusive(|&byte| byte == b'\n').take(lines).map(<[u8]>::len).sum();
        self.text.drain(..bytes);
        self.times.drain(..lines.min(self.times.len()));
        self.line_weights.drain(..lines.min(self.line_weights.len()));
    }

    /// Whether every line ends with a line feed, has a time if any line has one, and a weight if any has one.
    pub(super) fn is_whole(&self) -> bool {
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count();
        let is_complete = |length: usize| length == 0 || length == ends;
        (self.is_empty() || self.text.ends_with(b"\n"))
            && is_complete(self.times.len())
            && is_complete(self.line_weights.len())
    }
}

/// A time as stored. A number outside the range of [`Timestamp`] becomes its minimum or maximum, so that no time sent by a
/// client can stop training.
pub(crate) fn from_microseconds(microseconds: i64) -> Timestamp {
    let limit = if microseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(microseconds).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_weights_even_if_the_first_have_none() {
        let mut chunk = Chunk::default();
        chunk.push(b"one", None);
        assert!(chunk.line_weights.is_empty());
        chunk.push_weighted(b"two", None, 0.5);
        chunk.push(b"three", None);
        assert!(chunk.is_whole());
        assert_eq!(chunk.weight(), 14 + 3 * 4);
        let weights = |chunk: &Chunk| chunk.iter().map(|(_, _, weight)| weight).collect::<Vec<_>>();
        assert_eq!(weights(&chunk), [1.0, 0.5, 1.0]);
        chunk.drop_lines(1);
        assert_eq!(weights(&chunk), [0.5, 1.0]);
    }

    #[test]
    fn lines_keep_their_times_even_if_the_first_have_none() {
        let time = Timestamp::from_second(7).unwrap();
        let mut chunk = Chunk::default();
        chunk.push(b"one", None);
        assert!(chunk.times.is_empty());
        chunk.push(b"", Some(time));
        chunk.push(b"three", None);
        assert!(chunk.is_whole());
        assert_eq!(chunk.lines(), 3);
        assert_eq!(chunk.weight(), 11 + 3 * 16);
        let lines: Vec<_> = chunk.iter().collect();
        assert_eq!(lines, [(&b"one"[..], None, 1.0), (b"", Some(time), 1.0), (b"three", None, 1.0)]);
        chunk.drop_lines(2);
        assert_eq!(chunk.iter().collect::<Vec<_>>(), [(&b"three"[..], None, 1.0)]);
        chunk.drop_lines(1);
        assert!(chunk.is_empty() && chunk.lines() == 0);
    }
}
