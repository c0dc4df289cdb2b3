//! A model's file as it is read. Every byte is checked before it is believed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};

use super::METADATA_KEY;
use super::metadata::{Checksums, Metadata};
use crate::bytes::MappedFloats;
use crate::error::{Error, Result};

/// A header of more bytes is refused, as the safetensors library does.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// A tensor that is only looked at is read in pieces of about so many bytes.
const PIECE_BYTES: usize = 1 << 20;

/// A model's file, with its header understood.
pub(super) struct ModelFile {
    path: PathBuf,
    file: File,
    header: Header,
    checksums: Checksums,
    /// Where the tensors begin.
    start: u64,
}

impl ModelFile {
    /// Reads the header. Its lengths are those of the file, so that no tensor can claim more than there is.
    pub fn open(path: &Path) -> Result<(ModelFile, Metadata)> {
        let not_a_model = |reason: String| {
            Error::malformed(path, format!("this is not a skipstream model, or it is damaged: {reason}"))
        };
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        let mut length = [0; 8];
        if file_bytes < 8 {
            return Err(not_a_model(format!("it has {file_bytes} bytes")));
        }
        file.read_exact(&mut length).map_err(Error::io(path))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES || length > file_bytes - 8 {
            return Err(not_a_model(format!(
                "its header should have {length} bytes, the file has {file_bytes}"
            )));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(Error::io(path))?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|error| not_a_model(format!("its header: {error}")))?;
        let start = 8 + length;
        let expected = start.saturating_add(header.data_len() as u64);
        if expected != file_bytes {
            return Err(not_a_model(format!("it should have {expected} bytes and has {file_bytes}")));
        }
        let metadata = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA_KEY));
        let metadata =
            metadata.ok_or_else(|| not_a_model(format!("its metadata has no key `{METADATA_KEY}`")))?;
        let metadata = Metadata::parse(metadata).map_err(|reason| Error::malformed(path, reason))?;
        let checksums = metadata.checksums().clone();
        Ok((ModelFile { path: path.to_owned(), file, header, checksums, start }, metadata))
    }

    pub fn damaged(&self, reason: impl std::fmt::Display) -> Error {
        Error::malformed(&self.path, format!("the model is damaged: {reason}; go back to a copy of it"))
    }

    pub fn expect_length(&self, name: &str, length: usize, expected: usize) -> Result<()> {
        if length == expected {
            return Ok(());
        }
        Err(self.damaged(format!("`{name}` has {length} values instead of {expected}")))
    }

    pub fn has(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    /// What the header says of a tensor of this type.
    pub fn info(&self, name: &str, dtype: Dtype) -> Result<&TensorInfo> {
        let info = self.header.info(name).ok_or_else(|| self.damaged(format!("`{name}` is missing")))?;
        if info.dtype != dtype {
            return Err(self.damaged(format!("`{name}` is {:?} {:?}", info.dtype, info.shape)));
        }
        Ok(info)
    }

    /// A whole tensor, its type and checksum verified.
    pub fn tensor<T: Pod>(&mut self, name: &str, dtype: Dtype) -> Result<Vec<T>> {
        let info = self.info(name, dtype)?;
        let (start, end) = info.data_offsets;
        let length = end - start;
        if length % size_of::<T>() != 0 {
            return Err(self.damaged(format!("`{name}` is {dtype:?} {:?}", info.shape)));
        }
        let expected = self.checksums.get(name);
        let expected = expected.ok_or_else(|| self.damaged(format!("`{name}` has no checksum")))?.clone();
        // The length was held against the file's when it was opened.
        let mut values = vec![T::zeroed(); length / size_of::<T>()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.file.seek(SeekFrom::Start(self.start + start as u64)).map_err(Error::io(&self.path))?;
        self.file.read_exact(bytes).map_err(Error::io(&self.path))?;
        if blake3::hash(bytes).to_hex().as_str() != expected {
            return Err(self.damaged(format!("the checksum of `{name}` is wrong")));
        }
        Ok(values)
    }

    /// A matrix in place: only its type and its size are verified. Nothing where its values do not lie at whole floats.
    pub fn map(&self, name: &str) -> Result<Option<MappedFloats>> {
        let info = self.info(name, Dtype::F32)?;
        let [start, end] =
            [info.data_offsets.0, info.data_offsets.1].map(|offset| self.start + offset as u64);
        MappedFloats::new(&self.file, start..end).map_err(Error::io(&self.path))
    }

    /// The names of all tensors, in the order of the file.
    pub fn names(&self) -> Vec<String> {
        let mut tensors: Vec<_> = self.header.tensors().into_iter().collect();
        tensors.sort_by_key(|(name, info)| (info.data_offsets, name.clone()));
        tensors.into_iter().map(|(name, _)| name).collect()
    }

    /// The type and the shape of a tensor that is there.
    pub fn kind(&self, name: &str) -> (Dtype, Vec<usize>) {
        let info = self.header.info(name).expect("the name is one of the header's");
        (info.dtype, info.shape.clone())
    }

    /// The shape of a tensor, if it is there.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.header.info(name).map(|info| &info.shape[..])
    }

    /// What the checksum of a tensor should be, in hexadecimal.
    pub fn checksum(&self, name: &str) -> Option<&str> {
        self.checksums.get(name).map(String::as_str)
    }

    /// Hands out the bytes of a tensor that is there in pieces, each a multiple of `unit` but for the last, and says how
    /// many there were. Nothing is verified.
    pub fn pieces(&mut self, name: &str, unit: usize, mut take: impl FnMut(&[u8])) -> Result<u64> {
        let (start, end) = self.header.info(name).expect("the name is one of the header's").data_offsets;
        self.file.seek(SeekFrom::Start(self.start + start as u64)).map_err(Error::io(&self.path))?;
        let mut buffer = vec![0; (end - start).min(unit.max(PIECE_BYTES / unit * unit))];
        let mut left = end - start;
        while left > 0 {
            let piece = left.min(buffer.len());
            let piece = &mut buffer[..piece];
            self.file.read_exact(piece).map_err(Error::io(&self.path))?;
            take(piece);
            left -= piece.len();
        }
        Ok((end - start) as u64)
    }

    /// The words' text, and where each of them ends in it.
    pub fn words(&mut self) -> Result<(String, Vec<u64>)> {
        self.words_of("words", "word_ends")
    }

    /// The same of tensors with other names.
    pub fn words_of(&mut self, words_name: &str, ends_name: &str) -> Result<(String, Vec<u64>)> {
        let words = self.tensor(words_name, Dtype::U8)?;
        let words = String::from_utf8(words).map_err(|error| self.damaged(error))?;
        let ends: Vec<u64> = self.tensor(ends_name, Dtype::U64)?;
        let in_order = ends.is_sorted() && ends.last().copied().unwrap_or(0) == words.len() as u64;
        if !in_order || !ends.iter().all(|&end| words.is_char_boundary(end as usize)) {
            return Err(self.damaged(format!("`{ends_name}` does not fit `{words_name}`")));
        }
        Ok((words, ends))
    }
}

/// The words that `ends` cut out of `text`; the ends were checked.
pub(super) fn slices<'a>(text: &'a str, ends: &'a [u64]) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| &text[start as usize..end as usize])
}
