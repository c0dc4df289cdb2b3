//! The tensors of a file, and how they are written.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytemuck::NoUninit;
use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};
use serde::Serialize;

use super::METADATA_KEY;
use super::metadata::Checksums;
use crate::bytes::replace;
use crate::error::{Error, Result};

/// Replaces a file by one of these tensors. The metadata is made when their checksums are known.
pub(super) fn write_file<M: Serialize>(
    path: &Path,
    mut tensors: Vec<(&'static str, Tensor<'_>)>,
    metadata: impl FnOnce(Checksums) -> M,
) -> Result<()> {
    // The largest type first: then every tensor is aligned.
    tensors.sort_by_key(|(name, tensor)| (Reverse(tensor.dtype.bitsize()), *name));
    let header = header(&tensors, metadata).map_err(|reason| Error::malformed(path, reason))?;
    replace(path, |file| {
        let mut write = || {
            file.write_all(&(header.len() as u64).to_le_bytes())?;
            file.write_all(&header)?;
            tensors.iter().try_for_each(|(_, tensor)| tensor.write(file))
        };
        write().map_err(Error::io(path))
    })
}

/// The header of a safetensors file: JSON, padded with spaces to whole words of eight bytes.
fn header<M: Serialize>(
    tensors: &[(&'static str, Tensor<'_>)],
    metadata: impl FnOnce(Checksums) -> M,
) -> std::result::Result<Vec<u8>, String> {
    let checksums = tensors.iter().map(|(name, tensor)| Ok(((*name).to_owned(), tensor.checksum()?)));
    let checksums = checksums.collect::<io::Result<_>>().map_err(|error| error.to_string())?;
    let metadata = serde_json::to_string(&metadata(checksums)).map_err(|error| error.to_string())?;
    let metadata = HashMap::from([(METADATA_KEY.to_owned(), metadata)]);
    let mut end = 0;
    let infos = tensors.iter().map(|(name, tensor)| {
        let start = end;
        end += tensor.bytes();
        let shape = tensor.shape.clone();
        ((*name).to_owned(), TensorInfo { dtype: tensor.dtype, shape, data_offsets: (start, end) })
    });
    let header = Header::new(Some(metadata), infos.collect()).map_err(|error| error.to_string())?;
    let mut header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok(header)
}

/// A tensor that is to be written.
pub(super) struct Tensor<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Data<'a>,
}

enum Data<'a> {
    Bytes(Cow<'a, [u8]>),
    Rows(Box<WriteRows<'a>>),
}

/// Writes the same bytes each time that it is called.
type WriteRows<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

impl<'a> Tensor<'a> {
    pub fn list<T: NoUninit>(dtype: Dtype, values: impl Iterator<Item = T>) -> Tensor<'a> {
        let mut bytes = Vec::with_capacity(values.size_hint().0 * size_of::<T>());
        values.for_each(|value| bytes.extend_from_slice(bytemuck::bytes_of(&value)));
        let shape = vec![bytes.len() / size_of::<T>()];
        Tensor { dtype, shape, data: Data::Bytes(Cow::Owned(bytes)) }
    }

    pub fn borrowed<T: NoUninit>(dtype: Dtype, shape: Vec<usize>, values: &'a [T]) -> Tensor<'a> {
        Tensor { dtype, shape, data: Data::Bytes(Cow::Borrowed(bytemuck::cast_slice(values))) }
    }

    pub fn table<T: NoUninit, const N: usize>(dtype: Dtype, rows: Vec<[T; N]>) -> Tensor<'a> {
        Tensor {
            dtype,
            shape: vec![rows.len(), N],
            data: Data::Bytes(Cow::Owned(bytemuck::cast_slice(rows.as_flattened()).to_vec())),
        }
    }

    /// A matrix that `write` writes row by row, so that it is never copied as a whole.
    pub fn rows(shape: Vec<usize>, write: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Tensor<'a> {
        Tensor { dtype: Dtype::F32, shape, data: Data::Rows(Box::new(write)) }
    }

    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match &self.data {
            Data::Bytes(bytes) => to.write_all(bytes),
            Data::Rows(write) => write(to),
        }
    }

    /// BLAKE3 of the values, in hexadecimal.
    fn checksum(&self) -> io::Result<String> {
        let mut hasher = BufWriter::with_capacity(1 << 16, blake3::Hasher::new());
        self.write(&mut hasher)?;
        let hasher = hasher.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bitsize() / 8
    }
}

/// The tensors `words` and `word_ends`.
pub(super) fn word_tensors<'a, 'words>(
    words: impl Iterator<Item = &'words str> + Clone,
) -> [(&'static str, Tensor<'a>); 2] {
    let n_bytes = words.clone().map(str::len).sum();
    let mut bytes = Vec::with_capacity(n_bytes);
    words.clone().for_each(|word| bytes.extend_from_slice(word.as_bytes()));
    let text = Tensor { dtype: Dtype::U8, shape: vec![n_bytes], data: Data::Bytes(Cow::Owned(bytes)) };
    let mut end = 0;
    let ends = words.map(|word| {
        end += word.len() as u64;
        end
    });
    [("words", text), ("word_ends", Tensor::list(Dtype::U64, ends))]
}
