//! Lines that are logged together.

use jiff::Timestamp;

/// Lines that are to be logged together, or that were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The lines, each with its end `\n`.
    pub text: Vec<u8>,
    /// When each of them was written, as who sent it says; the time of arrival where that is not known. Empty where it is
    /// not known of any.
    pub times: Vec<Option<Timestamp>>,
}

impl Chunk {
    /// Who cuts a stream into chunks ends one when it weighs so much: large enough that a transaction carries much, small
    /// enough that many can be in memory.
    pub const BYTES: usize = 256 << 10;

    /// Adds a line, without its end. Line ends within it would be ends of lines.
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

    /// The number of lines.
    pub fn lines(&self) -> usize {
        if self.times.is_empty() {
            self.text.iter().filter(|&&byte| byte == b'\n').count()
        } else {
            self.times.len()
        }
    }

    /// What it counts where room is limited: its bytes on disk and in memory, about. Lines may be empty and have times.
    pub fn weight(&self) -> usize {
        self.text.len() + 16 * self.times.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The lines, without their ends, with their times.
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

    /// Stops the program where a caller made a chunk that is none.
    pub(super) fn assert_whole(&self) {
        assert_eq!(self.text.last(), Some(&b'\n'), "a chunk has lines, and each has its end");
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count();
        assert!(self.times.is_empty() || self.times.len() == ends, "each line has a time, or none has");
    }
}

/// A time as it is written down. Those of the last second that a [`Timestamp`] can hold become its end: not every fraction
/// of that second can be made of microseconds, and no time that somebody sends may stop the learning.
pub(crate) fn from_microseconds(microseconds: i64) -> Timestamp {
    let beyond = if microseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(microseconds).unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_times_also_where_the_first_have_none() {
        let time = Timestamp::from_second(7).unwrap();
        let mut chunk = Chunk::default();
        chunk.push(b"one", None);
        assert!(chunk.times.is_empty());
        chunk.push(b"", Some(time));
        chunk.push(b"three", None);
        chunk.assert_whole();
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
