//! A Parquet file whose numbers are checked before memory is allocated by them.
//!
//! The parquet crate believes the footer and the headers of pages: it allocates what a list or a dictionary claims to hold,
//! and unpacks a page whatever its size becomes. A file of 600 bytes could claim 64 GiB. Here, lists are compared with the
//! bytes that there are, and pages are unpacked up to a limit.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};

/// The footer of a table with thousands of columns has a few megabytes.
const MAX_FOOTER_BYTES: u64 = 64 << 20;

/// Room for a record of the maximum length, with others beside it.
const MAX_PAGE_BYTES: u64 = 128 << 20;

/// The values of a list of strings, which are read together, nulls included.
pub(super) const MAX_VALUES: u64 = 1 << 24;

/// Structures within structures; the format has fewer than ten.
const MAX_DEPTH: u32 = 32;

fn invalid(reason: impl Into<String>) -> ParquetError {
    ParquetError::General(reason.into())
}

/// Checks that no list and no string in the footer claims more than there is.
pub(super) fn check_footer(file: &File) -> Result<()> {
    let mut file = file;
    let length = Length::len(file);
    let mut tail = [0; 4];
    if length < 8 {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - 8))?;
    file.read_exact(&mut tail)?;
    let bytes = u64::from(u32::from_le_bytes(tail));
    // The parquet crate says that the footer does not fit.
    let Some(start) = (length - 8).checked_sub(bytes) else { return Ok(()) };
    if bytes > MAX_FOOTER_BYTES {
        return Err(invalid(format!("its footer has {bytes} bytes; it may have at most {MAX_FOOTER_BYTES}")));
    }
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(bytes).read_to_end(&mut footer)?;
    Compact(&footer).skip_footer().ok_or_else(|| invalid("its footer is damaged"))
}

/// A value of Thrift's compact protocol. The crate believes the number of a field and not its type, so the types are checked.
enum Shape {
    /// A value of a type that holds no others, or whatever a structure holds.
    Plain(u8),
    List(&'static Shape),
    /// The fields, from number 1. There may be more.
    Struct(&'static [Shape]),
}

use Shape::{List, Plain, Struct};

const BOOLEAN: Shape = Plain(TRUE);
const I32: Shape = Plain(5);
const I64: Shape = Plain(6);
const BINARY: Shape = Plain(8);
const ANYTHING: Shape = Plain(STRUCT);

/// The footer: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.
static FOOTER: Shape = Struct(&[
    I32,
    List(&Struct(&ELEMENT)),
    I64,
    List(&Struct(&[
        List(&Struct(&CHUNK)),
        I64,
        I64,
        List(&Struct(&[I32, BOOLEAN, BOOLEAN])),
        I64,
        I64,
        Plain(4),
    ])),
    List(&PAIR),
    BINARY,
    List(&ANYTHING),
    ANYTHING,
    BINARY,
]);
const ELEMENT: [Shape; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, ANYTHING];
const CHUNK: [Shape; 9] = [BINARY, I64, Struct(&COLUMN), I64, I32, I64, I32, ANYTHING, BINARY];
const COLUMN: [Shape; 17] = [
    I32,
    List(&I32),
    List(&BINARY),
    I32,
    I64,
    I64,
    I64,
    List(&PAIR),
    I64,
    I64,
    I64,
    Struct(&[BINARY, BINARY, I64, I64, BINARY, BINARY, BOOLEAN, BOOLEAN]),
    List(&Struct(&[I32, I32, I32])),
    I64,
    I32,
    Struct(&[I64, List(&I64), List(&I64)]),
    ANYTHING,
];
const PAIR: Shape = Struct(&[BINARY, BINARY]);

/// The field of an element of the schema with the number of its children.
const CHILDREN: i64 = 5;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Shape {
    /// Whether a value of this type can be it.
    fn is(&self, kind: u8) -> bool {
        match self {
            Plain(TRUE) => matches!(kind, TRUE | FALSE),
            Plain(own) => *own == kind,
            List(_) => kind == LIST,
            Struct(_) => kind == STRUCT,
        }
    }
}

/// Bytes in Thrift's compact protocol.
struct Compact<'a>(&'a [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Calls `each` with the number and the type of each field of a structure; it must skip the value.
    fn fields(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            // A small step from the field before, or the number itself.
            number = if head >> 4 == 0 { self.signed()? } else { number + i64::from(head >> 4) };
            each(self, number, head & 15)?;
        }
    }

    /// The length of a list, and the type of its elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        // Each element has a byte at least.
        (length <= self.0.len() as u64).then_some((length, head & 15))
    }

    /// Skips a value. `None` if it is longer than the bytes.
    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            _ if depth > MAX_DEPTH => None,
            // A boolean field has its value in its type.
            TRUE | FALSE => Some(()),
            3 => self.advance(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let length = self.number()?;
                self.advance(length)
            }
            // Lists and sets.
            LIST | 10 => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| match kind {
                    TRUE | FALSE => self.advance(1),
                    _ => self.skip(kind, depth + 1),
                })
            }
            STRUCT => self.fields(|this, _, kind| this.skip(kind, depth + 1)),
            _ => None,
        }
    }

    /// Skips a footer.
    fn skip_footer(&mut self) -> Option<()> {
        let mut copy = Compact(self.0);
        copy.follow(&FOOTER)?;
        // The schema comes second.
        self.fields(|footer, number, kind| match number {
            2 => footer.skip_schema(),
            _ => footer.skip(kind, 1),
        })
    }

    /// Skips a value of this shape.
    fn follow(&mut self, shape: &Shape) -> Option<()> {
        match shape {
            Plain(kind) => self.skip(*kind, 1),
            List(element) => {
                let (length, kind) = self.list()?;
                if length > 0 && !element.is(kind) {
                    return None;
                }
                (0..length).try_for_each(|_| match element {
                    Plain(TRUE) => self.advance(1),
                    _ => self.follow(element),
                })
            }
            Struct(fields) => self.fields(|this, number, kind| {
                let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
                match place.and_then(|place| fields.get(place)) {
                    Some(field) if !field.is(kind) => None,
                    Some(field) => this.follow(field),
                    None => this.skip(kind, 1),
                }
            }),
        }
    }

    /// Skips a schema: a tree, each element followed by its children. The crate walks it by recursion.
    fn skip_schema(&mut self) -> Option<()> {
        let (length, _) = self.list()?;
        // The children that each element on the way to the root still has.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..length {
            let mut children = 0;
            self.fields(|element, number, kind| match number {
                CHILDREN => element.signed().map(|number| children = number),
                _ => element.skip(kind, 2),
            })?;
            while open.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if !(0..=length as i64).contains(&children) || open.len() >= MAX_DEPTH as usize {
                return None;
            }
            if children > 0 {
                open.push(children);
            }
        }
        Some(())
    }
}

/// A file of which no more is read than a page may have, and than there is.
pub(super) struct PageFile {
    file: File,
    length: u64,
}

impl PageFile {
    pub(super) fn new(file: File) -> PageFile {
        PageFile { length: Length::len(&file), file }
    }
}

impl Length for PageFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for PageFile {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = length as u64;
        if bytes > MAX_PAGE_BYTES || start.checked_add(bytes).is_none_or(|end| end > self.length) {
            return Err(invalid(format!("a page of {bytes} bytes is too long, or longer than the file")));
        }
        self.file.get_bytes(start, length)
    }
}

/// The pages of a column, unpacked.
pub(super) struct Pages {
    packed: SerializedPageReader<PageFile>,
    compression: Compression,
    max_repetition: i16,
    max_definition: i16,
    /// Values that the current row may still have.
    room: Arc<AtomicU64>,
}

impl Pages {
    pub(super) fn new(
        file: &Arc<PageFile>,
        column: &ColumnChunkMetaData,
        rows: usize,
        room: &Arc<AtomicU64>,
    ) -> Result<Pages> {
        // Declare the column uncompressed, so that the crate does not decompress pages: `unpack` does, within the bounds.
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        Ok(Pages {
            packed: SerializedPageReader::new(file.clone(), &plain, rows, None)?,
            compression: column.compression(),
            max_repetition: column.column_descr().max_rep_level(),
            max_definition: column.column_descr().max_def_level(),
            room: room.clone(),
        })
    }

    fn unpacked(&self, mut page: Page) -> Result<Page> {
        match &mut page {
            Page::DataPage { buf, num_values, encoding, .. } => {
                *buf = self.unpack(buf, 0)?;
                let start = self.end_of_levels(buf).ok_or_else(|| invalid("a page is too short"))?;
                self.check_values(&buf[start..], *num_values, *encoding)?;
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                is_compressed,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                if levels > buf.len() {
                    return Err(invalid("a page is too short"));
                }
                if *is_compressed {
                    *buf = self.unpack(buf, levels)?;
                }
                *is_compressed = false;
                self.check_values(&buf[levels..], *num_values, *encoding)?;
            }
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = self.unpack(buf, 0)?;
                // The length of each string takes four bytes.
                if u64::from(*num_values) > buf.len() as u64 / 4 {
                    return Err(invalid(format!(
                        "a dictionary of {num_values} strings has {} bytes",
                        buf.len()
                    )));
                }
            }
        }
        Ok(page)
    }

    /// Unpacks what follows the first bytes.
    fn unpack(&self, packed: &Bytes, plain: usize) -> Result<Bytes> {
        let mut bytes = packed[..plain].to_vec();
        let packed_part = &packed[plain..];
        let mut take = |reader: &mut dyn Read| reader.take(MAX_PAGE_BYTES + 1).read_to_end(&mut bytes);
        match self.compression {
            Compression::UNCOMPRESSED => return Ok(packed.clone()),
            _ if packed_part.is_empty() => 0,
            Compression::GZIP(_) => take(&mut flate2::read::MultiGzDecoder::new(packed_part))?,
            Compression::ZSTD(_) => take(&mut zstd::Decoder::with_buffer(packed_part)?)?,
            Compression::SNAPPY => {
                let length =
                    snap::raw::decompress_len(packed_part).map_err(|error| invalid(error.to_string()))?;
                if length as u64 > MAX_PAGE_BYTES {
                    return Err(too_long());
                }
                let unpacked = snap::raw::Decoder::new().decompress_vec(packed_part);
                take(&mut &unpacked.map_err(|error| invalid(error.to_string()))?[..])?
            }
            other => return Err(invalid(format!("the compression {other} is not supported"))),
        };
        if bytes.len() as u64 > MAX_PAGE_BYTES {
            return Err(too_long());
        }
        Ok(bytes.into())
    }

    /// Where the values of a page of version 1 start, after its levels.
    fn end_of_levels(&self, page: &[u8]) -> Option<usize> {
        let mut start = 0;
        for _ in [self.max_repetition, self.max_definition].into_iter().filter(|&level| level > 0) {
            let length = page.get(start..)?.first_chunk::<4>()?;
            start = start.checked_add(4)?.checked_add(u32::from_le_bytes(*length) as usize)?;
        }
        (start <= page.len()).then_some(start)
    }

    /// Checks how many values a page holds, and how long they are.
    fn check_values(&self, values: &[u8], count: u32, encoding: Encoding) -> Result<()> {
        // The values of other columns are read one by one.
        if self.max_repetition > 0 {
            let room = self.room.load(Ordering::Relaxed).checked_sub(count.into());
            let room = room.ok_or_else(|| invalid(format!("a row has more than {MAX_VALUES} values")))?;
            self.room.store(room, Ordering::Relaxed);
        }
        let lists = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        // The lengths of common beginnings, and then of the rest: a short page may hold long strings.
        let mut values = Compact(values);
        let mut bytes = 0_u64;
        for _ in 0..lists {
            let sum =
                values.lengths(count).ok_or_else(|| invalid("the lengths of the strings are damaged"))?;
            bytes = bytes.saturating_add(sum);
        }
        if bytes > MAX_PAGE_BYTES { Err(too_long()) } else { Ok(()) }
    }
}

fn too_long() -> ParquetError {
    invalid(format!("a page has more than {MAX_PAGE_BYTES} bytes"))
}

impl Compact<'_> {
    /// Skips numbers in the encoding `DELTA_BINARY_PACKED`, up to a maximum number, and returns their sum.
    fn lengths(&mut self, most: u32) -> Option<u64> {
        let block = usize::try_from(self.number()?).ok()?;
        let parts = usize::try_from(self.number()?).ok().filter(|&parts| parts > 0)?;
        let count = self.number()?;
        let per_part = block / parts;
        if count > u64::from(most) || per_part == 0 || per_part % 32 != 0 || parts > self.0.len() {
            return None;
        }
        let mut value = self.signed()? as i32;
        let mut sum = if count > 0 { u64::try_from(value).ok()? } else { 0 };
        let mut left = count.saturating_sub(1);
        while left > 0 {
            let least = self.signed()? as i32;
            let (widths, rest) = self.0.split_at_checked(parts)?;
            self.0 = rest;
            for &width in widths {
                if left == 0 {
                    break;
                }
                let width = usize::from(width);
                let (bits, rest) = self.0.split_at_checked(per_part.checked_mul(width)? / 8)?;
                if width > 32 {
                    return None;
                }
                self.0 = rest;
                for place in 0..per_part.min(usize::try_from(left).ok()?) {
                    value =
                        value.wrapping_add(least).wrapping_add(bits_at(bits, place * width, width) as i32);
                    sum = sum.saturating_add(u64::try_from(value).ok()?);
                }
                left = left.saturating_sub(per_part as u64);
            }
        }
        Some(sum)
    }
}

/// A number of up to 32 bits, the lowest bit first.
fn bits_at(bytes: &[u8], start: usize, width: usize) -> u32 {
    let mut window = [0; 8];
    let from = &bytes[(start / 8).min(bytes.len())..];
    let length = from.len().min(8);
    window[..length].copy_from_slice(&from[..length]);
    (u64::from_le_bytes(window) >> (start % 8) & ((1 << width) - 1)) as u32
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.packed.get_next_page()?;
        page.map(|page| self.unpacked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.packed.at_record_boundary()
    }
}
