//! Lines that are logged together.

use jiff::Timestamp;

/// Lines that are logged in one row of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The lines, each with its `\n`.
    pub text: Vec<u8>,
    /// The time of each line as given by the client; `None` means the time of arrival. Empty if no line has a time.
    pub times: Vec<Option<Timestamp>>,
}

impl Chunk {
    /// Target size when a stream is cut into chunks: large enough for efficient transactions, small enough that many fit
    /// into memory.
    pub const BYTES: usize = 256 << 10;

    /// Adds a line, without its `\n`.
    pub fn push(&mut self, line: &[u8], time: Option<Timestamp>) {
        debug_assert!(!line.contains(&b'\n'), "one line at a time");
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
        self.text.len() + 16 * self.times.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The lines without `\n`, with their times.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<Timestamp>)> {
        let times = self.times.iter().copied().chain(std::iter::repeat(None));
        self.text.split_inclusive(|&byte| byte == b'\n').map(|line| &line[..line.len() - 1]).zip(times)
    }

    /// Removes the first lines.
    pub(super) fn drop_lines(&mut self, lines: usize) {
        let bytes: usize =
            self.text.split_inclusive(|&byte| byte == b'\n').take(lines).map(<[u8]>::len).sum();
        self.text.drain(..bytes);
        self.times.drain(..lines.min(self.times.len()));
    }

    /// Whether every line ends with a line feed, and has a time if any line has one.
    pub(super) fn is_whole(&self) -> bool {
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count();
        (self.is_empty() || self.text.ends_with(b"\n")) && (self.times.is_empty() || self.times.len() == ends)
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
        assert_eq!(lines, [(&b"one"[..], None), (b"", Some(time)), (b"three", None)]);
        chunk.drop_lines(2);
        assert_eq!(chunk.iter().collect::<Vec<_>>(), [(&b"three"[..], None)]);
        chunk.drop_lines(1);
        assert!(chunk.is_empty() && chunk.lines() == 0);
    }
}
