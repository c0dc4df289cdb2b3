//! Tensors → file.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytemuck::Pod;
use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};
use serde::Serialize;

use super::file::MAX_HEADER_BYTES;
use super::metadata::{Checksums, Contents, Metadata};
use super::{HEADER_CHECKSUM, METADATA_KEY};
use crate::bytes::replace;
use crate::error::{Error, Result};

/// A type of values, one number or a row of them.
pub(super) trait Value: Pod {
    const DTYPE: Dtype;
    /// The length of a row; nothing for one number.
    const ROW: Option<usize> = None;
}

macro_rules! values {
    ($($number:ty: $dtype:ident),*; $($row:ty: $length:literal $row_dtype:ident),*) => {
        $(impl Value for $number { const DTYPE: Dtype = Dtype::$dtype; })*
        $(impl Value for $row {
            const DTYPE: Dtype = Dtype::$row_dtype;
            const ROW: Option<usize> = Some($length);
        })*
    };
}

values!(
    u8: U8, i8: I8, u16: F16, u32: U32, u64: U64, f32: F32;
    [u32; 2]: 2 U32, [u32; 3]: 3 U32, [i64; 2]: 2 I64, [u64; 2]: 2 U64, [u64; 3]: 3 U64, [u64; 4]: 4 U64
);

pub(super) type Named<'a> = (&'static str, Tensor<'a>);

/// Replaces a file by one with these tensors. `contents` describes them.
pub(super) fn write_file(path: &Path, tensors: Vec<Named<'_>>, contents: Contents) -> Result<()> {
    replace(path, |file| write(file, tensors, contents).map_err(Error::io(path)))
}

/// Writes the bytes of a file with these tensors.
pub(super) fn write(to: &mut impl Write, tensors: Vec<Named<'_>>, contents: Contents) -> io::Result<()> {
    write_described(to, tensors, |checksums| Metadata::new(contents, checksums)).map(drop)
}

/// Writes the bytes of a file with these tensors and the metadata made of their checksums. Returns the checksum of the
/// header.
pub(super) fn write_described<N: AsRef<str>, M: Serialize>(
    to: &mut impl Write,
    mut tensors: Vec<(N, Tensor<'_>)>,
    metadata: impl FnOnce(Checksums) -> M,
) -> io::Result<String> {
    // The largest type first: then every tensor is aligned.
    let rank = |tensor: &Tensor<'_>| Reverse(tensor.dtype.bitsize());
    tensors.sort_by(|(name, tensor), (other_name, other)| {
        rank(tensor).cmp(&rank(other)).then_with(|| name.as_ref().cmp(other_name.as_ref()))
    });
    let header = header(&tensors, metadata)?;
    to.write_all(&header)?;
    tensors.iter().try_for_each(|(_, tensor)| tensor.write(to))?;
    let checksum = blake3::hash(&header);
    to.write_all(checksum.as_bytes())?;
    Ok(checksum.to_hex().to_string())
}

/// The header of a safetensors file: its length, and JSON, padded with spaces to a multiple of eight bytes. The checksum of the
/// header follows the tensors.
fn header<N: AsRef<str>, M: Serialize>(
    tensors: &[(N, Tensor<'_>)],
    metadata: impl FnOnce(Checksums) -> M,
) -> io::Result<Vec<u8>> {
    let checksums = tensors.iter().map(|(name, tensor)| Ok((name.as_ref().to_owned(), tensor.checksum()?)));
    let checksums = checksums.collect::<io::Result<Checksums>>()?;
    let metadata = serde_json::to_string(&metadata(checksums))?;
    let metadata = [(METADATA_KEY.to_owned(), metadata)].into_iter().collect();
    let placeholder = Tensor::borrowed(&[0u8; blake3::OUT_LEN]);
    let named = tensors.iter().map(|(name, tensor)| (name.as_ref(), tensor));
    let mut end = 0;
    let infos = named.chain([(HEADER_CHECKSUM, &placeholder)]).map(|(name, tensor)| {
        let start = end;
        end += tensor.bytes();
        let shape = tensor.shape.clone();
        (name.to_owned(), TensorInfo { dtype: tensor.dtype, shape, data_offsets: (start, end) })
    });
    let header = Header::new(Some(metadata), infos.collect()).map_err(io::Error::other)?;
    let mut json = serde_json::to_vec(&header)?;
    json.resize(json.len().next_multiple_of(8), b' ');
    if json.len() as u64 > MAX_HEADER_BYTES {
        let length = json.len();
        return Err(io::Error::other(format!(
            "the header has {length} bytes; at most {MAX_HEADER_BYTES} are possible"
        )));
    }
    Ok([&(json.len() as u64).to_le_bytes()[..], &json].concat())
}

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
    pub fn list<T: Value>(values: impl Iterator<Item = T>) -> Tensor<'a> {
        let mut bytes = Vec::with_capacity(values.size_hint().0 * size_of::<T>());
        values.for_each(|value| bytes.extend_from_slice(bytemuck::bytes_of(&value)));
        Tensor::of::<T>(Cow::Owned(bytes))
    }

    pub fn borrowed<T: Value>(values: &'a [T]) -> Tensor<'a> {
        Tensor::of::<T>(Cow::Borrowed(bytemuck::cast_slice(values)))
    }

    /// A matrix of these values.
    pub fn matrix<T: Value>(shape: [usize; 2], values: &'a [T]) -> Tensor<'a> {
        Tensor { shape: Vec::from(shape), ..Tensor::borrowed(values) }
    }

    /// A matrix that `write` writes row by row, so that it is never copied as a whole.
    pub fn rows(shape: [usize; 2], write: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Tensor<'a> {
        Tensor { dtype: Dtype::F32, shape: Vec::from(shape), data: Data::Rows(Box::new(write)) }
    }

    /// A list that is written value by value, so that it is never copied as a whole.
    pub fn values<T: Value, I: Iterator<Item = T>>(length: usize, values: impl Fn() -> I + 'a) -> Tensor<'a> {
        let write =
            move |to: &mut dyn Write| values().try_for_each(|value| to.write_all(bytemuck::bytes_of(&value)));
        let shape = [length].into_iter().chain(T::ROW).collect();
        Tensor { dtype: T::DTYPE, shape, data: Data::Rows(Box::new(write)) }
    }

    fn of<T: Value>(bytes: Cow<'a, [u8]>) -> Tensor<'a> {
        let shape = [bytes.len() / size_of::<T>()].into_iter().chain(T::ROW).collect();
        Tensor { dtype: T::DTYPE, shape, data: Data::Bytes(bytes) }
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

/// The text of words, and where each ends in it. Neither is copied as a whole.
pub(super) fn word_tensors<'a>(words: impl Iterator<Item = &'a str> + Clone + 'a) -> [Tensor<'a>; 2] {
    let (mut length, mut bytes) = (0, 0);
    for word in words.clone() {
        length += 1;
        bytes += word.len();
    }
    let ends = {
        let words = words.clone();
        move || {
            let mut end = 0;
            words.clone().map(move |word| {
                end += word.len() as u64;
                end
            })
        }
    };
    let write = move |to: &mut dyn Write| words.clone().try_for_each(|word| to.write_all(word.as_bytes()));
    let text = Tensor { dtype: Dtype::U8, shape: vec![bytes], data: Data::Rows(Box::new(write)) };
    [text, Tensor::values(length, ends)]
}
