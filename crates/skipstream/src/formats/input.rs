//! Binary files, with the number of bytes that were read.

use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

use super::error::{Defect, FilePlace, FormatError};
use super::rows::{MAX_DIMENSIONS, Rows};
use crate::bytes::read_error;
use crate::{Error, Result};

pub(super) struct Input<'name, Reader> {
    reader: Reader,
    name: &'name Path,
    offset: u64,
}

impl<'name, Reader: BufRead> Input<'name, Reader> {
    /// A file from its first byte; `name` is for error messages.
    pub(super) fn new(reader: Reader, name: &'name Path) -> Self {
        Input { reader, name, offset: 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn error(&self, offset: u64, defect: Defect) -> Error {
        Error::format(self.name, FormatError::At { place: FilePlace::Byte(offset), defect })
    }

    /// The bytes before `end`, which is read too; `what` they are is for error messages.
    pub(super) fn until(&mut self, end: u8, max_bytes: usize, what: &'static str) -> Result<Vec<u8>> {
        let start = self.offset;
        let mut bytes = Vec::new();
        // One byte more, for `end`.
        let mut bounded = self.reader.by_ref().take(max_bytes as u64 + 1);
        let read = bounded.read_until(end, &mut bytes);
        self.offset += read.map_err(|error| read_error(self.name, error))? as u64;
        if bytes.pop_if(|last| *last == end).is_some() {
            Ok(bytes)
        } else if bytes.len() <= max_bytes {
            Err(self.error(start, Defect::Truncated(what)))
        } else {
            Err(self.error(start, Defect::TooLong { what, limit: max_bytes }))
        }
    }

    /// The next `n` bytes; the caller has checked that `n` is small.
    pub(super) fn bytes(&mut self, n: usize, what: &'static str) -> Result<Vec<u8>> {
        let mut bytes = vec![0; n];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// One vector of `f32`.
    pub(super) fn vector(&mut self, rows: &mut Rows) -> Result<()> {
        self.values(rows, |bytes: [u8; 4]| f32::from_le_bytes(bytes))
    }

    /// One vector of values with `N` bytes each.
    pub(super) fn values<const N: usize>(
        &mut self,
        rows: &mut Rows,
        value: impl Fn([u8; N]) -> f32,
    ) -> Result<()> {
        assert!(rows.dimensions() <= MAX_DIMENSIONS, "checked when the rows were made");
        let start = self.offset;
        let bytes = self.bytes(rows.dimensions() * N, "a vector")?;
        let (values, _) = bytes.as_chunks::<N>();
        for (place, bytes) in values.iter().enumerate() {
            let place = start + (place * N) as u64;
            rows.push_value(value(*bytes)).map_err(|defect| self.error(place, defect))?;
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, n: u64, what: &'static str) -> Result<()> {
        let mut bounded = self.reader.by_ref().take(n);
        let skipped =
            io::copy(&mut bounded, &mut io::sink()).map_err(|error| read_error(self.name, error))?;
        if skipped < n {
            return Err(self.error(self.offset, Defect::Truncated(what)));
        }
        self.offset += n;
        Ok(())
    }

    pub(super) fn is_at_end(&mut self) -> Result<bool> {
        let rest = self.reader.fill_buf().map_err(|error| read_error(self.name, error))?;
        Ok(rest.is_empty())
    }

    fn fill(&mut self, bytes: &mut [u8], what: &'static str) -> Result<()> {
        self.reader.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.error(self.offset, Defect::Truncated(what)),
            _ => read_error(self.name, error),
        })?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
