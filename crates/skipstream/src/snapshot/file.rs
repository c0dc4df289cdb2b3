//! A model file as it is read. Every byte is checked before it is used.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};

use super::error::ModelFileError;
use super::metadata::{Checksums, Contents, Metadata, RowsMetadata};
use super::shards::ShardedModel;
use super::table::{self, Sizes};
use super::tensor::Value;
use super::{HEADER_CHECKSUM, METADATA_KEY};
use crate::bytes::Mapped;
use crate::error::{Error, Result};

/// The maximum length of a header, by the definition of safetensors.
pub(crate) const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The names of the tensors that hold words with counts and one vector each.
#[derive(Clone, Copy)]
pub(super) struct VectorsNames {
    pub words: &'static str,
    pub ends: &'static str,
    pub counts: &'static str,
    pub recent_counts: Option<&'static str>,
    pub document_counts: Option<&'static str>,
    pub vectors: &'static str,
}

/// The checksums that are verified when a file is opened in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verify {
    /// Of words, counts and scales, which are read in any case.
    Words,
    /// Those of the matrices, too.
    All,
}

/// A model file whose header agrees with the table of tensors.
pub(super) struct ModelFile {
    path: PathBuf,
    file: File,
    header: Header,
    /// In hexadecimal.
    pub header_checksum: String,
    checksums: Checksums,
    pub sizes: Sizes,
    start: u64,
}

impl ModelFile {
    /// Reads and verifies the header of a file that holds all of a model.
    pub fn open(path: &Path) -> Result<(ModelFile, Metadata)> {
        let (file, metadata) = ModelFile::open_state(path)?;
        match &metadata.contents {
            Contents::Training(training) if training.rows_in_shards => {
                Err(file.defect(ModelFileError::Shard))
            }
            _ => Ok((file, metadata)),
        }
    }

    /// The same for a file whose rows may be in other files.
    pub fn open_state(path: &Path) -> Result<(ModelFile, Metadata)> {
        let (mut file, json) = ModelFile::open_any(path)?;
        let metadata = Metadata::parse(&json).map_err(|cause| file.defect(cause))?;
        file.sizes = table::check(&file.header, &metadata).map_err(|cause| file.defect(cause))?;
        file.checksums.clone_from(&metadata.checksums);
        Ok((file, metadata))
    }

    /// A file with rows of some blocks.
    pub fn open_rows(path: &Path) -> Result<(ModelFile, RowsMetadata)> {
        let (mut file, json) = ModelFile::open_any(path)?;
        let metadata = RowsMetadata::parse(&json).map_err(|cause| file.defect(cause))?;
        file.checksums.clone_from(&metadata.checksums);
        let shapes = metadata.shapes();
        let expected = shapes.iter().map(|(name, shape)| (name.as_str(), Dtype::F32, &shape[..]));
        let checksum = (HEADER_CHECKSUM, Dtype::U8, &[blake3::OUT_LEN][..]);
        for (name, dtype, shape) in expected.chain([checksum]) {
            let found = file.header.info(name);
            if found.is_none_or(|info| info.dtype != dtype || info.shape != shape) {
                let reason = format!("`{name}` is missing or has another shape");
                return Err(file.contradiction(reason));
            }
        }
        Ok((file, metadata))
    }

    /// Reads and verifies the header, and returns the metadata. Lengths are compared with the file's, so that no tensor can
    /// claim more than there is.
    fn open_any(path: &Path) -> Result<(ModelFile, String)> {
        let defect = |cause| Error::model_file(path, cause);
        if ShardedModel::is_at(path) {
            return Err(defect(ModelFileError::Sharded));
        }
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        let mut length = [0; 8];
        if file_bytes < 8 {
            return Err(defect(ModelFileError::TooShort { bytes: file_bytes }));
        }
        file.read_exact(&mut length).map_err(Error::io(path))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES || length > file_bytes - 8 {
            return Err(defect(ModelFileError::HeaderLength { header: length, file: file_bytes }));
        }
        let mut json = vec![0; length as usize];
        file.read_exact(&mut json).map_err(Error::io(path))?;
        let header: Header = serde_json::from_slice(&json)
            .map_err(|error| defect(ModelFileError::Header { reason: error.to_string() }))?;
        let metadata = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA_KEY));
        let metadata = metadata.ok_or_else(|| defect(ModelFileError::NoMetadata))?;
        let start = 8 + length;
        let expected = start.saturating_add(header.data_len() as u64);
        if expected != file_bytes {
            return Err(defect(ModelFileError::Length { expected, found: file_bytes }));
        }
        // A file of another version may have no checksum of its header.
        Metadata::of_this_version(metadata).map_err(defect)?;
        let mut checksum = [0; blake3::OUT_LEN];
        if header.data_len() < checksum.len() {
            return Err(defect(ModelFileError::Missing { tensor: HEADER_CHECKSUM }));
        }
        file.seek(SeekFrom::End(-(checksum.len() as i64))).map_err(Error::io(path))?;
        file.read_exact(&mut checksum).map_err(Error::io(path))?;
        let mut hasher = blake3::Hasher::new();
        if hasher.update(&length.to_le_bytes()).update(&json).finalize() != checksum {
            return Err(defect(ModelFileError::HeaderChecksum));
        }
        let metadata = metadata.clone();
        let header_checksum = blake3::Hash::from_bytes(checksum).to_hex().to_string();
        let (path, checksums, sizes) = (path.to_owned(), Checksums::default(), Sizes::default());
        Ok((ModelFile { path, file, header, header_checksum, checksums, sizes, start }, metadata))
    }

    pub fn defect(&self, cause: ModelFileError) -> Error {
        Error::model_file(&self.path, cause)
    }

    /// The tensors contradict each other.
    pub fn contradiction(&self, reason: impl ToString) -> Error {
        self.defect(ModelFileError::State { reason: reason.to_string() })
    }

    /// The names of all tensors, in the order of the file.
    pub fn names(&self) -> Vec<String> {
        let mut tensors: Vec<_> = self.header.tensors().into_iter().collect();
        tensors.sort_by_key(|(name, info)| (info.data_offsets, name.clone()));
        tensors.into_iter().map(|(name, _)| name).collect()
    }

    /// The type, shape and position of a tensor that the table lists.
    pub fn info(&self, name: &str) -> &TensorInfo {
        self.header.info(name).expect("the header was compared with the table")
    }

    /// The expected checksum of a tensor, in hexadecimal.
    pub fn checksum(&self, name: &str) -> Option<&str> {
        self.checksums.get(name).map(String::as_str)
    }

    /// A whole tensor, with its checksum verified.
    pub fn tensor<T: Value>(&mut self, name: &str) -> Result<Vec<T>> {
        let info = self.info(name);
        assert_eq!(info.dtype, T::DTYPE, "the table has the type of `{name}`");
        let (start, end) = info.data_offsets;
        let mut values = vec![T::zeroed(); (end - start) / size_of::<T>()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.file.seek(SeekFrom::Start(self.start + start as u64)).map_err(Error::io(&self.path))?;
        self.file.read_exact(bytes).map_err(Error::io(&self.path))?;
        if self.checksum(name) != Some(blake3::hash(bytes).to_hex().as_str()) {
            return Err(self.defect(ModelFileError::Checksum { tensor: name.to_owned() }));
        }
        Ok(values)
    }

    /// A matrix in place; nothing if it is not aligned.
    pub fn map<T: Value>(&self, name: &str, verify: Verify) -> Result<Option<Mapped<T>>> {
        let info = self.info(name);
        assert_eq!(info.dtype, T::DTYPE, "the table has the type of `{name}`");
        let [start, end] =
            [info.data_offsets.0, info.data_offsets.1].map(|offset| self.start + offset as u64);
        let map = Mapped::new(&self.file, start..end).map_err(Error::io(&self.path))?;
        let is_right = |map: &Mapped<T>| {
            let checksum = blake3::hash(bytemuck::cast_slice(map.values()));
            self.checksum(name) == Some(checksum.to_hex().as_str())
        };
        match verify == Verify::Words || map.as_ref().is_none_or(is_right) {
            true => Ok(map),
            false => Err(self.defect(ModelFileError::Checksum { tensor: name.to_owned() })),
        }
    }

    /// Passes the bytes of a tensor to `take` in pieces of `piece_bytes`, the last one shorter. Nothing is verified.
    pub fn pieces(&mut self, name: &str, piece_bytes: usize, mut take: impl FnMut(&[u8])) -> Result<()> {
        let (start, end) = self.info(name).data_offsets;
        self.file.seek(SeekFrom::Start(self.start + start as u64)).map_err(Error::io(&self.path))?;
        let mut left = end - start;
        let mut buffer = vec![0; left.min(piece_bytes)];
        while left > 0 {
            let piece = left.min(buffer.len());
            let piece = &mut buffer[..piece];
            self.file.read_exact(piece).map_err(Error::io(&self.path))?;
            take(piece);
            left -= piece.len();
        }
        Ok(())
    }

    /// The words' text and where each word ends in it, verified.
    pub fn words(&mut self, names: VectorsNames) -> Result<(String, Vec<u64>)> {
        let words = String::from_utf8(self.tensor(names.words)?)
            .map_err(|_| self.defect(ModelFileError::NotUtf8 { tensor: names.words }))?;
        let ends: Vec<u64> = self.tensor(names.ends)?;
        let in_order = ends.is_sorted() && ends.last().copied().unwrap_or(0) == words.len() as u64;
        if !in_order || !ends.iter().all(|&end| words.is_char_boundary(end as usize)) {
            return Err(self.defect(ModelFileError::WordEnds { ends: names.ends, words: names.words }));
        }
        Ok((words, ends))
    }
}

/// The words that `ends`, which were checked, cut out of `text`.
pub(super) fn slices<'a>(text: &'a str, ends: &'a [u64]) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| &text[start as usize..end as usize])
}
