//! The page headers of a Parquet column.
//!
//! The parquet crate allocates what a page's header says before it unpacks the page, and does not expose the header. So the headers
//! are read here first (Thrift's compact protocol, of which a header uses a part), and pages that claim too much are refused.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use super::MAX_RECORD_BYTES;

/// The maximum size of an unpacked page: a page of the usual writers has a megabyte, but a page has at least one record.
pub(super) const MAX_PAGE_BYTES: i64 = 2 * MAX_RECORD_BYTES as i64;

/// A dictionary's values are held at once, each with some 30 bytes besides its text, which has at least 4 in the file.
pub(super) const MAX_DICTIONARY_BYTES: i64 = MAX_PAGE_BYTES / 4;

/// The sizes of one page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    unpacked: i64,
    packed: i64,
    /// Values of a page with data.
    values: i64,
    /// Values of a page with a dictionary.
    dictionary: Option<i64>,
}

/// Checks the pages that begin at a position of a file, until they have so many values.
pub(super) fn check(file: impl Read + Seek, start: u64, values: i64) -> Result<(), String> {
    let mut header = Header { bytes: BufReader::with_capacity(1 << 10, file), read: 0 };
    let damaged = |error: io::Error| format!("a page header is damaged: {error}");
    let end = header.bytes.seek(SeekFrom::End(0)).map_err(damaged)?;
    let (mut at, mut found) = (start, 0i64);
    while found < values {
        header.read = 0;
        header.bytes.seek(SeekFrom::Start(at)).map_err(damaged)?;
        let page = header.page().map_err(damaged)?;
        page.check()?;
        let next = at.saturating_add(header.read).saturating_add(page.packed as u64);
        if next > end {
            return Err(format!("a page of {} bytes at byte {at} is longer than the file", page.packed));
        }
        (at, found) = (next, found.saturating_add(page.values));
    }
    Ok(())
}

impl Page {
    fn check(&self) -> Result<(), String> {
        let limit = if self.dictionary.is_some() { MAX_DICTIONARY_BYTES } else { MAX_PAGE_BYTES };
        if !(0..=limit).contains(&self.unpacked) || self.packed < 0 || self.values < 0 {
            return Err(format!("a page has {} bytes; it must have at most {limit}", self.unpacked));
        }
        match self.dictionary {
            Some(values) if !(0..=self.unpacked / 4).contains(&values) => {
                Err(format!("a dictionary of {} bytes claims {values} values", self.unpacked))
            }
            _ => Ok(()),
        }
    }
}

/// Reads Thrift's compact protocol.
struct Header<R> {
    bytes: R,
    read: u64,
}

/// The types of the compact protocol.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Structures in structures: a header has two levels.
const MAX_DEPTH: u8 = 8;

impl<R: Read> Header<R> {
    fn page(&mut self) -> io::Result<Page> {
        let mut page = Page::default();
        let mut field = 0;
        while let Some((number, kind)) = self.field(field)? {
            field = number;
            match (number, kind) {
                (2, I16..=I64) => page.unpacked = self.integer()?,
                (3, I16..=I64) => page.packed = self.integer()?,
                // The headers of both kinds of data pages, and that of a dictionary, begin with the number of values.
                (5 | 8, STRUCT) => page.values = self.first_integer()?,
                (7, STRUCT) => page.dictionary = Some(self.first_integer()?),
                (_, kind) => self.skip(kind, 0)?,
            }
        }
        Ok(page)
    }

    /// The first field of a structure, which is a number. The rest is skipped.
    fn first_integer(&mut self) -> io::Result<i64> {
        let (mut field, mut first) = (0, 0);
        while let Some((number, kind)) = self.field(field)? {
            field = number;
            match (number, kind) {
                (1, I16..=I64) => first = self.integer()?,
                (_, kind) => self.skip(kind, 1)?,
            }
        }
        Ok(first)
    }

    /// The number and type of the next field; nothing at the end of the structure.
    fn field(&mut self, before: i64) -> io::Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 0xf);
        if kind == STOP {
            return Ok(None);
        }
        let number = if step == 0 { self.integer()? } else { before.saturating_add(i64::from(step)) };
        Ok(Some((number, kind)))
    }

    fn skip(&mut self, kind: u8, depth: u8) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(invalid("it is nested too deeply"));
        }
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16..=I64 => drop(self.integer()?),
            DOUBLE => self.skip_bytes(8)?,
            BINARY => {
                let length = self.number()?;
                self.skip_bytes(length)?;
            }
            LIST | SET => {
                let head = self.byte()?;
                let length = if head >> 4 == 0xf { self.number()? } else { u64::from(head >> 4) };
                self.skip_elements(length, &[head & 0xf], depth)?;
            }
            MAP => {
                let length = self.number()?;
                if length > 0 {
                    let kinds = self.byte()?;
                    self.skip_elements(length, &[kinds >> 4, kinds & 0xf], depth)?;
                }
            }
            STRUCT => {
                let mut field = 0;
                while let Some((number, kind)) = self.field(field)? {
                    field = number;
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return Err(invalid("it has a field of an unknown type")),
        }
        Ok(())
    }

    /// Skips the elements of a collection. There, a boolean takes a byte.
    fn skip_elements(&mut self, length: u64, kinds: &[u8], depth: u8) -> io::Result<()> {
        for _ in 0..length {
            for &kind in kinds {
                self.skip(if matches!(kind, TRUE | FALSE) { BYTE } else { kind }, depth + 1)?;
            }
        }
        Ok(())
    }

    fn skip_bytes(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.bytes).take(length), &mut io::sink())?;
        self.read += skipped;
        if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    /// A number in groups of seven bits, the lowest first.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(invalid("a number has too many digits"))
    }

    /// A number whose lowest bit is its sign.
    fn integer(&mut self) -> io::Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn number(mut number: u64, to: &mut Vec<u8>) {
        while number > 0x7f {
            to.push(number as u8 | 0x80);
            number >>= 7;
        }
        to.push(number as u8);
    }

    /// The header of a page: its type is 0 (data) or 2 (dictionary).
    fn header(kind: u64, unpacked: i64, packed: i64, values: i64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in [kind as i64, unpacked, packed] {
            bytes.push(0x10 | 5);
            number((field << 1 ^ field >> 63) as u64, &mut bytes);
        }
        // The structure of a data page is field 5, that of a dictionary field 7.
        bytes.push(if kind == 0 { 0x20 } else { 0x40 } | STRUCT);
        bytes.push(0x10 | 5);
        number((values << 1 ^ values >> 63) as u64, &mut bytes);
        // Statistics, which are skipped: a text, a list of numbers, a boolean.
        bytes.extend([
            0x10 | STRUCT,
            0x10 | BINARY,
            3,
            b'm',
            b'a',
            b'x',
            0x10 | LIST,
            0x25,
            2,
            4,
            0x10 | TRUE,
            0,
        ]);
        bytes.extend([0, 0]);
        bytes
    }

    fn file(pages: &[(u64, i64, i64, i64)]) -> Vec<u8> {
        let mut bytes = b"PAR1".to_vec();
        for &(kind, unpacked, packed, values) in pages {
            bytes.extend(header(kind, unpacked, packed, values));
            bytes.resize(bytes.len() + packed.clamp(0, 1000) as usize, 7);
        }
        bytes
    }

    fn complaint(pages: &[(u64, i64, i64, i64)]) -> String {
        check(Cursor::new(file(pages)), 4, 100).unwrap_err()
    }

    #[test]
    fn pages_are_followed_until_their_values_are_complete() {
        let mut bytes = file(&[(2, 400, 100, 100), (0, 900, 300, 60), (0, 800, 200, 40)]);
        // What follows the last page is not a page.
        bytes.extend([0xff; 50]);
        assert_eq!(check(Cursor::new(&bytes), 4, 100), Ok(()));
        assert!(check(Cursor::new(&bytes), 4, 101).is_err());
    }

    #[test]
    fn a_page_that_claims_gigabytes_is_refused() {
        let message = complaint(&[(0, i64::from(i32::MAX), 10, 100)]);
        assert_eq!(message, "a page has 2147483647 bytes; it must have at most 134217728");
        assert!(complaint(&[(0, -1, 10, 100)]).contains("a page has -1 bytes"));
    }

    #[test]
    fn a_dictionary_that_claims_more_values_than_fit_is_refused() {
        let message = complaint(&[(2, 400, 10, 1 << 30)]);
        assert_eq!(message, "a dictionary of 400 bytes claims 1073741824 values");
        assert!(complaint(&[(2, MAX_PAGE_BYTES, 10, 1)]).contains("it must have at most 33554432"));
    }

    #[test]
    fn a_page_that_ends_after_the_file_is_refused() {
        assert!(complaint(&[(0, 10, 5_000, 100)]).contains("is longer than the file"));
        assert!(complaint(&[(0, 10, 10, 50)]).contains("a page header is damaged"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_followed(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = check(Cursor::new(&bytes), 0, 100);
        }
    }
}
