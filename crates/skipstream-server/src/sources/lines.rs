//! Bytes as they come → chunks of whole lines.

use crate::log::Chunk;

/// Collects bytes until they are lines.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    max_line_bytes: usize,
}

impl LineBuffer {
    /// Lines of more bytes are cut into several.
    pub fn new(max_line_bytes: usize) -> LineBuffer {
        LineBuffer { bytes: Vec::new(), max_line_bytes: max_line_bytes.max(1) }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the whole lines and, of an unfinished line that is too long, as much as makes a line. Also gives the number
    /// of bytes taken from the stream.
    pub fn take(&mut self) -> Option<(Chunk, usize)> {
        let whole = memchr::memrchr(b'\n', &self.bytes).map_or(0, |newline| newline + 1);
        if whole == 0 && self.bytes.len() <= self.max_line_bytes {
            return None;
        }
        let mut taken = whole;
        // At most one line's length stays in the buffer.
        while self.bytes.len() - taken > self.max_line_bytes {
            taken += self.cut_at(&self.bytes[taken..]);
        }
        Some((self.chunk(taken), taken))
    }

    /// Takes the rest, which will get no line end.
    pub fn finish(&mut self) -> Option<(Chunk, usize)> {
        let taken = self.bytes.len();
        (taken > 0).then(|| (self.chunk(taken), taken))
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Turns the first bytes into lines within the limit.
    fn chunk(&mut self, taken: usize) -> Chunk {
        let mut chunk = Chunk::default();
        for line in self.bytes[..taken].split_inclusive(|&byte| byte == b'\n') {
            let mut line = line.strip_suffix(b"\n").unwrap_or(line);
            while line.len() > self.max_line_bytes {
                let (part, rest) = line.split_at(self.cut_at(line));
                chunk.push(part, None);
                line = rest;
            }
            chunk.push(line, None);
        }
        self.bytes.drain(..taken);
        chunk
    }

    /// Where to cut a line that is too long: after its last white space, if there is any.
    fn cut_at(&self, line: &[u8]) -> usize {
        let most = &line[..self.max_line_bytes];
        most.iter().rposition(u8::is_ascii_whitespace).map_or(most.len(), |space| space + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(buffer: &mut LineBuffer) -> Option<(String, usize)> {
        buffer.take().map(|(chunk, bytes)| (String::from_utf8(chunk.text).unwrap(), bytes))
    }

    #[test]
    fn only_whole_lines_are_taken_until_the_end() {
        let mut buffer = LineBuffer::new(100);
        buffer.push(b"one\n\ntw");
        assert_eq!(taken(&mut buffer), Some(("one\n\n".to_owned(), 5)));
        assert_eq!(taken(&mut buffer), None);
        buffer.push(b"o\r\nthree");
        assert_eq!(taken(&mut buffer), Some(("two\r\n".to_owned(), 5)));
        let (chunk, bytes) = buffer.finish().unwrap();
        assert_eq!((&chunk.text[..], bytes), (&b"three\n"[..], 5));
        assert!(buffer.finish().is_none());
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_words_and_nothing_of_it_is_lost() {
        let mut buffer = LineBuffer::new(8);
        buffer.push(b"one two three\nx\n");
        assert_eq!(taken(&mut buffer), Some(("one two \nthree\nx\n".to_owned(), 16)));
        buffer.push(b"abcdefghijkl");
        assert_eq!(taken(&mut buffer), Some(("abcdefgh\n".to_owned(), 8)));
        assert_eq!(taken(&mut buffer), None);
        buffer.push(b"\n");
        assert_eq!(taken(&mut buffer), Some(("ijkl\n".to_owned(), 5)));
        buffer.push("0123456789".repeat(3).as_bytes());
        assert_eq!(taken(&mut buffer).unwrap().1, 24);
        assert!(buffer.bytes.len() <= 8, "little is kept");
    }
}
