//! The format of finalfusion: a header, then chunks for words, vectors and norms.
//!
//! finalfusion keeps vectors at unit length, with their norms beside them. A value is therefore read as the product of
//! two rounded numbers, with a relative error of at most 2⁻²². There are no counts.
//!
//! All numbers are little-endian. The header is `FiFu`, the version (0), the number of chunks and their identifiers. A
//! chunk is its identifier, its length in bytes and its data.

use std::io::{BufRead, Write};
use std::path::Path;

use super::error::{Defect, FormatError};
use super::input::Input;
use super::rows::{MAX_WORD_BYTES, Rows, check_word};
use crate::embeddings::Embeddings;
use crate::{Error, Result};

pub(super) const MAGIC: &[u8] = b"FiFu";

const VERSION: u32 = 0;
const MAX_CHUNKS: u32 = 16;

const SIMPLE_VOCABULARY: u32 = 1;
const MATRIX: u32 = 2;
const METADATA: u32 = 5;
const NORMS: u32 = 6;
/// The identifier of `f32` among the types of values.
const SINGLE: u32 = 10;

/// Writes words, vectors of unit length, and norms.
///
/// It is an error if a norm is too large or too small for an `f32`, or if a word could not be read again.
pub(super) fn write(embeddings: &Embeddings, writer: impl Write, name: &Path) -> Result<()> {
    if let Some(word) = embeddings.words().find(|word| check_word(word).is_err()) {
        return Err(Error::format(name, FormatError::Word { word: word.to_owned() }));
    }
    let norms = norms(embeddings, name)?;
    let mut writer = Output { writer, offset: 0 };
    let mut write_all = || {
        writer.bytes(MAGIC)?;
        writer.numbers(&[VERSION, 3, SIMPLE_VOCABULARY, MATRIX, NORMS])?;

        let text: usize = embeddings.words().map(|word| 4 + word.len()).sum();
        writer.chunk(SIMPLE_VOCABULARY, 8 + text)?;
        writer.bytes(&(embeddings.len() as u64).to_le_bytes())?;
        for word in embeddings.words() {
            writer.numbers(&[word.len() as u32])?;
            writer.bytes(word.as_bytes())?;
        }

        let n_zeros = padding(writer.offset);
        writer.chunk(MATRIX, 8 + 4 + 4 + n_zeros + 4 * embeddings.len() * embeddings.dimensions())?;
        writer.bytes(&(embeddings.len() as u64).to_le_bytes())?;
        writer.numbers(&[embeddings.dimensions() as u32, SINGLE])?;
        writer.bytes(&[0; 4][..n_zeros])?;
        for (row, &norm) in norms.iter().enumerate() {
            for &value in embeddings.vector_at(row).iter() {
                writer.bytes(&unit(value, norm).to_le_bytes())?;
            }
        }

        let n_zeros = padding(writer.offset);
        writer.chunk(NORMS, 8 + 4 + n_zeros + 4 * norms.len())?;
        writer.bytes(&(norms.len() as u64).to_le_bytes())?;
        writer.numbers(&[SINGLE])?;
        writer.bytes(&[0; 4][..n_zeros])?;
        writer.bytes(bytemuck::cast_slice(&norms))?;
        writer.writer.flush()
    };
    write_all().map_err(Error::io(name))
}

/// Reads words and vectors, multiplied by their norms if there are any.
pub(super) fn read(reader: impl BufRead, name: &Path) -> Result<Embeddings> {
    let mut file = Input::new(reader, name);
    read_header(&mut file)?;
    let (mut start, mut identifier) = chunk(&mut file)?;
    if identifier == METADATA {
        (start, identifier) = chunk(&mut file)?;
    }
    if identifier != SIMPLE_VOCABULARY {
        return Err(file.error(start, unsupported(identifier)));
    }
    let words = read_words(&mut file)?;

    let (start, identifier) = chunk(&mut file)?;
    if identifier != MATRIX {
        return Err(file.error(start, unsupported(identifier)));
    }
    let n_rows = file.u64("the matrix")?;
    let dimensions = file.u32("the matrix")? as usize;
    check_type(&mut file)?;
    let mut rows = Rows::new(dimensions).map_err(|defect| file.error(start, defect))?;
    if n_rows != words.len() as u64 {
        let defect = Defect::Rows { what: "rows", found: n_rows, words: words.len() };
        return Err(file.error(start, defect));
    }
    for (place, word) in words {
        rows.push_word(&word).map_err(|defect| file.error(place, defect))?;
    }
    file.bytes(padding(file.offset()), "the matrix")?;
    for _ in 0..n_rows {
        file.vector(&mut rows)?;
    }
    // Some versions do not list the norms in the header, so look.
    if !file.is_at_end()? {
        read_norms(&mut file, &mut rows)?;
    }
    rows.finish()
}

fn read_header(file: &mut Input<'_, impl BufRead>) -> Result<()> {
    if file.array::<4>("the header")? != MAGIC {
        return Err(file.error(0, Defect::Expected("a finalfusion file")));
    }
    let version = file.u32("the header")?;
    if version != VERSION {
        return Err(file.error(4, Defect::Version { found: version.to_string(), supported: "0" }));
    }
    let n_chunks = file.u32("the header")?;
    if n_chunks > MAX_CHUNKS {
        return Err(file.error(8, Defect::Expected("at most 16 chunks")));
    }
    for _ in 0..n_chunks {
        file.u32("the header")?;
    }
    Ok(())
}

/// The start of the next chunk, and its identifier. Metadata is skipped; the data of other chunks tell their length.
fn chunk(file: &mut Input<'_, impl BufRead>) -> Result<(u64, u32)> {
    let start = file.offset();
    let identifier = file.u32("a chunk's head")?;
    let length = file.u64("a chunk's head")?;
    if identifier == METADATA {
        file.skip(length, "the metadata")?;
    }
    Ok((start, identifier))
}

fn read_words(file: &mut Input<'_, impl BufRead>) -> Result<Vec<(u64, String)>> {
    let n_words = file.u64("the words")?;
    let mut words = Vec::new();
    for _ in 0..n_words {
        let start = file.offset();
        let length = file.u32("the words")? as usize;
        if length > MAX_WORD_BYTES {
            return Err(file.error(start, Defect::LongWord));
        }
        let word = String::from_utf8(file.bytes(length, "the words")?);
        words.push((start, word.map_err(|_| file.error(start, Defect::WordNotUtf8))?));
    }
    Ok(words)
}

fn read_norms(file: &mut Input<'_, impl BufRead>, rows: &mut Rows) -> Result<()> {
    let (start, identifier) = chunk(file)?;
    if identifier != NORMS {
        return Err(file.error(start, unsupported(identifier)));
    }
    let n_norms = file.u64("the norms")?;
    if n_norms != rows.len() as u64 {
        let defect = Defect::Rows { what: "norms", found: n_norms, words: rows.len() };
        return Err(file.error(start, defect));
    }
    check_type(file)?;
    file.bytes(padding(file.offset()), "the norms")?;
    for row in 0..rows.len() {
        let place = file.offset();
        let norm = f32::from_le_bytes(file.array("the norms")?);
        let row = rows.row_mut(row);
        row.iter_mut().for_each(|value| *value *= norm);
        if !row.iter().all(|value| value.is_finite()) {
            return Err(file.error(place, Defect::Norm { norm }));
        }
    }
    Ok(())
}

fn check_type(file: &mut Input<'_, impl BufRead>) -> Result<()> {
    let place = file.offset();
    match file.u32("a chunk's head")? {
        SINGLE => Ok(()),
        other => {
            let defect = Defect::ValueType { found: other.to_string(), supported: "10 (f32)" };
            Err(file.error(place, defect))
        }
    }
}

/// A chunk that is not read here. Vectors that are computed from subwords would differ from the words' own rows.
fn unsupported(identifier: u32) -> Defect {
    let part = match identifier {
        1 => "a second vocabulary".to_owned(),
        2 => "a second matrix".to_owned(),
        3 | 7 | 8 | 9 => "a vocabulary with subwords".to_owned(),
        4 => "a quantized matrix".to_owned(),
        6 => "norms without a matrix".to_owned(),
        other => format!("a chunk with the identifier {other}"),
    };
    Defect::Part { part }
}

/// One to four bytes, so that values begin at a multiple of four. If they would anyway, there are four.
fn padding(offset: u64) -> usize {
    4 - (offset % 4) as usize
}

fn norms(embeddings: &Embeddings, name: &Path) -> Result<Vec<f32>> {
    let norm = |row| {
        let vector = embeddings.vector_at(row);
        let squares = vector.iter().map(|&value| f64::from(value).powi(2));
        let norm = squares.sum::<f64>().sqrt();
        let is_representable = (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&norm);
        if norm != 0.0 && !is_representable {
            let word = embeddings.word(row).to_owned();
            return Err(Error::format(name, FormatError::Norm { word, norm }));
        }
        Ok(norm as f32)
    };
    (0..embeddings.len()).map(norm).collect()
}

fn unit(value: f32, norm: f32) -> f32 {
    if norm == 0.0 { value } else { (f64::from(value) / f64::from(norm)) as f32 }
}

/// A writer that counts its bytes, because padding depends on the offset.
struct Output<Writer> {
    writer: Writer,
    offset: u64,
}

impl<Writer: Write> Output<Writer> {
    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.offset += bytes.len() as u64;
        self.writer.write_all(bytes)
    }

    fn numbers(&mut self, numbers: &[u32]) -> std::io::Result<()> {
        numbers.iter().try_for_each(|number| self.bytes(&number.to_le_bytes()))
    }

    /// The head of a chunk.
    fn chunk(&mut self, identifier: u32, length: usize) -> std::io::Result<()> {
        self.numbers(&[identifier])?;
        self.bytes(&(length as u64).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::any_embeddings;
    use super::*;

    fn written(embeddings: &Embeddings) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(embeddings, &mut bytes, Path::new("v.fifu")).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Embeddings> {
        super::read(bytes, Path::new("v.fifu"))
    }

    #[track_caller]
    fn assert_refused(bytes: &[u8], message: &str) {
        assert_eq!(read(bytes).unwrap_err().to_string(), format!("v.fifu: {message}"));
    }

    /// A word `a` with the vector 3, 4: the words at byte 24, the matrix at 49, the norms at 89.
    fn one_word() -> Vec<u8> {
        written(&Embeddings::new(2, [("a", 1)], vec![3.0, 4.0]).unwrap())
    }

    fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut file = one_word();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let mut expected = b"FiFu".to_vec();
        expected.extend([0u32, 3, 1, 2, 6].map(u32::to_le_bytes).concat());
        // The words: identifier, length, number, and each with its length.
        expected.extend([1, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'a']);
        // The matrix: identifier, length, rows, columns, type, three bytes of padding at byte 77.
        expected
            .extend([2, 0, 0, 0, 27, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0]);
        expected.extend([0; 3]);
        expected.extend([0.6f32, 0.8].map(f32::to_le_bytes).concat());
        // The norms: as the matrix; four bytes of padding although none are needed.
        expected.extend([6, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0]);
        expected.extend([0; 4]);
        expected.extend(5.0f32.to_le_bytes());
        assert_eq!(one_word(), expected);
        assert_eq!(read(&expected).unwrap().vector("a").unwrap(), [3.0, 4.0].as_slice());
    }

    #[test]
    fn metadata_is_passed_over_and_norms_may_be_missing() {
        let file = one_word();
        let metadata = [&METADATA.to_le_bytes()[..], &8u64.to_le_bytes(), b"[x]\ny=1\n"].concat();
        let bytes = [&file[..24], &metadata, &file[24..88]].concat();
        assert_eq!(read(&bytes).unwrap().vector("a").unwrap(), [0.6, 0.8].as_slice());
    }

    #[test]
    fn a_word_with_white_space_makes_a_round_trip() {
        let embeddings = Embeddings::new(1, [("new\tyork city", 1)], vec![0.0]).unwrap();
        assert_eq!(read(&written(&embeddings)).unwrap().vector("new\tyork city").unwrap(), [0.0].as_slice());
    }

    #[test]
    fn a_word_that_could_not_be_read_again_is_not_written() {
        let long = "a".repeat(MAX_WORD_BYTES + 1);
        for (word, reason) in [("new\nyork", "the word `new\\nyork`"), (&long, "the word `aaa")] {
            let embeddings = Embeddings::new(1, [(word, 1)], vec![0.0]).unwrap();
            let message = write(&embeddings, Vec::new(), Path::new("v.fifu")).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains("safetensors"), "{message}");
        }
    }

    #[test]
    fn a_header_that_is_wrong_is_refused() {
        assert_refused(b"FiF", "byte 0: the file ends in the header");
        assert_refused(&with(4, &[9]), "byte 4: version 9 is not supported; expected 0");
        assert_refused(&with(8, &[255; 4]), "byte 8: expected at most 16 chunks");
    }

    #[test]
    fn subwords_and_quantized_vectors_are_refused_with_what_to_do() {
        let message = read(&with(24, &[3])).unwrap_err().to_string();
        assert!(
            message.contains("byte 24: a vocabulary with subwords is not supported; convert it in Python: "),
            "{message}"
        );
        let message = read(&with(49, &[4])).unwrap_err().to_string();
        assert!(
            message.contains("byte 49: a quantized matrix is not supported; convert it in Python: "),
            "{message}"
        );
    }

    #[test]
    fn sizes_that_lie_are_refused_without_room_for_them() {
        assert_refused(&with(36, &[255; 8]), "byte 63: the file ends in the words");
        assert_refused(&with(44, &[255; 4]), "byte 44: a word is longer than 65536 bytes");
        assert_refused(&with(61, &[255; 8]), "byte 49: 18446744073709551615 rows for 1 words");
        assert_refused(&with(69, &[0; 4]), "byte 49: 0 dimensions; the number must be from 1 to 65536");
        assert_refused(
            &with(69, &[255; 4]),
            "byte 49: 4294967295 dimensions; the number must be from 1 to 65536",
        );
        assert_refused(&with(100, &[2]), "byte 88: 2 norms for 1 words");
        let endless = [&one_word()[..24], &METADATA.to_le_bytes(), &[255; 8], b"[x]"].concat();
        assert_refused(&endless, "byte 36: the file ends in the metadata");
    }

    #[test]
    fn values_of_another_type_are_refused() {
        assert_refused(&with(73, &[11]), "byte 73: values of type 11 are not supported; expected 10 (f32)");
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        let nan = f32::NAN.to_le_bytes();
        assert_refused(&with(80, &nan), "byte 80: value 1 of word 1 is NaN; it must be finite");
        assert_refused(&with(116, &nan), "byte 116: a norm is NaN; the vector must be finite");
    }

    #[test]
    fn a_word_that_is_not_utf8_is_refused() {
        assert_refused(&with(48, b"\xff"), "byte 44: a word is not valid UTF-8");
    }

    #[test]
    fn a_norm_that_no_f32_can_hold_is_refused() {
        let embeddings = Embeddings::new(2, [("a", 1)], vec![f32::MAX; 2]).unwrap();
        let message = write(&embeddings, Vec::new(), Path::new("v.fifu")).unwrap_err().to_string();
        assert!(message.starts_with("v.fifu: the vector of `a` has the norm 4.8"), "{message}");
    }

    #[test]
    fn every_cut_is_refused_but_the_one_before_the_norms() {
        let bytes = one_word();
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]).is_ok(), length == 88, "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn a_round_trip_keeps_words_and_all_but_the_last_bits_of_vectors(embeddings in any_embeddings()) {
            let mut bytes = Vec::new();
            if write(&embeddings, &mut bytes, Path::new("v.fifu")).is_err() {
                // Norms beyond `f32`.
                return Ok(());
            }
            let back = read(&bytes).unwrap();
            prop_assert!(back.words().eq(embeddings.words()));
            for row in 0..back.len() {
                let (left, right) = (embeddings.vector_at(row), back.vector_at(row));
                let norm = left.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
                for (&left, &right) in left.iter().zip(right.iter()) {
                    let (left, right) = (f64::from(left), f64::from(right));
                    // Values that are nothing beside the norm may vanish.
                    let bound = left.abs() * 2f64.powi(-22) + norm * f64::from(f32::MIN_POSITIVE);
                    prop_assert!((left - right).abs() <= bound.max(f64::from(f32::MIN_POSITIVE)), "{left} {right}");
                }
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(
            at in 0usize..120,
            byte in any::<u8>(),
            rest in proptest::collection::vec(any::<u8>(), 0..99),
        ) {
            let _ = read(&with(at, &[byte]));
            let _ = read(&[&one_word()[..at], &rest].concat());
        }
    }
}
