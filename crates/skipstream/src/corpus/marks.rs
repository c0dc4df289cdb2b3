//! Byte order marks, which some programs write before text.

use std::io::{self, BufRead};
use std::path::Path;

use super::error::TextError;
use crate::bytes::read_error;
use crate::{Error, Result};

const UTF_8: &[u8] = b"\xEF\xBB\xBF";
const MARKS: [&[u8]; 3] = [UTF_8, b"\xFF\xFE", b"\xFE\xFF"];

/// Takes a byte order mark from the start of a stream, byte by byte, because a pipe may give no more at once. UTF-16 is an
/// error. Bytes that turned out not to be a mark are returned as text.
pub(super) fn take_mark(reader: &mut impl BufRead, name: &Path) -> Result<Taken> {
    let mut taken: &[u8] = &[];
    loop {
        let next = match reader.fill_buf() {
            Ok(chunk) => chunk.first().copied(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(read_error(name, error)),
        };
        let goes_on = |mark: &&&[u8]| mark.starts_with(taken) && mark.get(taken.len()) == next.as_ref();
        let Some(mark) = MARKS.iter().find(goes_on).filter(|_| next.is_some()) else {
            return Ok(Taken { bytes: taken.len() as u64, text: taken });
        };
        reader.consume(1);
        taken = &mark[..taken.len() + 1];
        if taken == UTF_8 {
            return Ok(Taken { bytes: taken.len() as u64, text: &[] });
        }
        if taken == *mark {
            return Err(Error::text(name, TextError::Utf16 { mark: [taken[0], taken[1]] }));
        }
    }
}

/// What was taken from the start of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) bytes: u64,
    /// Those of them that are text.
    pub(super) text: &'static [u8],
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn take(bytes: &[u8]) -> Result<(u64, &'static [u8])> {
        let mut reader = BufReader::with_capacity(1, bytes);
        take_mark(&mut reader, Path::new("a.txt")).map(|taken| (taken.bytes, taken.text))
    }

    #[test]
    fn a_mark_of_utf_8_is_taken_and_the_beginning_of_one_is_text() {
        assert_eq!(take(b"\xEF\xBB\xBFtext").unwrap(), (3, &b""[..]));
        assert_eq!(take(b"\xEF\xBBtext").unwrap(), (2, &b"\xEF\xBB"[..]));
        assert_eq!(take(b"\xFFtext").unwrap(), (1, &b"\xFF"[..]));
        assert_eq!(take(b"\xFE").unwrap(), (1, &b"\xFE"[..]));
        assert_eq!(take(b"text").unwrap(), (0, &b""[..]));
        assert_eq!(take(b"").unwrap(), (0, &b""[..]));
    }

    #[test]
    fn utf_16_is_refused_with_what_to_do() {
        for bytes in [b"\xFF\xFEa\0", b"\xFE\xFF\0a"] {
            let message = take(bytes).unwrap_err().to_string();
            assert!(
                message.starts_with("a.txt: the text starts with the UTF-16 byte order mark F"),
                "{message}"
            );
        }
    }
}
