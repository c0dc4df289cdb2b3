//! Why a model file or a vectors file cannot be used.

use crate::embeddings::Vectors;

/// A defect of a model file, or a use that does not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum ModelFileError {
    /// The file is shorter than any model.
    #[error("not a skipstream model file: it has {bytes} bytes")]
    TooShort { bytes: u64 },
    /// The header does not fit into the file.
    #[error("not a skipstream model file: its header would have {header} bytes, the file has {file}")]
    HeaderLength { header: u64, file: u64 },
    /// The header is not that of a safetensors file.
    #[error("not a skipstream model file: invalid header: {reason}")]
    Header { reason: String },
    /// This is a safetensors file of another program.
    #[error("not a skipstream model file: its metadata has no key `skipstream`")]
    NoMetadata,
    /// The metadata is not what this version writes.
    #[error("the model file is damaged: invalid metadata: {reason}")]
    Metadata { reason: String },
    /// The file has another version of the format.
    #[error("format version {found} is not supported; this program reads version {supported}")]
    Version { found: u32, supported: u32 },
    /// The file is shorter or longer than its header states.
    #[error("the model file is damaged: its header describes {expected} bytes, the file has {found}")]
    Length { expected: u64, found: u64 },
    /// A number of the metadata is impossible.
    #[error("the model file is damaged: `{field}` is {value}; it must be at most {limit}")]
    Count { field: String, value: u64, limit: u64 },
    /// A tensor is missing.
    #[error("the model file is damaged: `{tensor}` is missing")]
    Missing { tensor: &'static str },
    /// A tensor does not belong in this file.
    #[error("the model file is damaged: unexpected tensor `{tensor}`")]
    Unexpected { tensor: String },
    /// A tensor has another type or shape.
    #[error("the model file is damaged: `{tensor}` is {found}; it must be {expected}")]
    Shape { tensor: &'static str, found: String, expected: String },
    /// The bytes of a tensor are not those that were written, or have no checksum.
    #[error("the model file is damaged: the checksum of `{tensor}` is wrong")]
    Checksum { tensor: String },
    /// The header, with the metadata in it, is not what was written.
    #[error("the model file is damaged: the checksum of the header is wrong")]
    HeaderChecksum,
    /// The words are not UTF-8.
    #[error("the model file is damaged: `{tensor}` is not valid UTF-8")]
    NotUtf8 { tensor: &'static str },
    /// The ends of words are not positions in their text.
    #[error("the model file is damaged: `{ends}` does not fit `{words}`")]
    WordEnds { ends: &'static str, words: &'static str },
    /// The words are not sorted by frequency.
    #[error("the model file is damaged: its words are not sorted by frequency")]
    Order,
    /// A value is infinite, NaN, a negative sum of squares, or a scale that is negative or too large.
    #[error("the model file is damaged: value {position} of `{tensor}` is {value}")]
    Value { tensor: &'static str, position: usize, value: f32 },
    /// The tensors contradict each other.
    #[error("the model file is damaged: {reason}")]
    State { reason: String },
    /// The file is a part of a sharded model.
    #[error("this file is a part of a sharded model, which is read as a whole from its folder")]
    Shard,
    /// A folder is a model, but one file is needed.
    #[error("this is a model in several files, which must be joined into one first")]
    Sharded,
    /// A file of a sharded model is not the one that its index names.
    #[error("the sharded model is damaged: {file} is not the file that the index was written for")]
    OtherShard { file: String },
    /// A vectors file cannot be trained further.
    #[error("this file has vectors but no training state, so it cannot be trained further")]
    OnlyVectors,
    /// A model of the strategies `batch` and `word2vec` cannot be trained further.
    #[error("this model was trained in passes, so it cannot learn more text")]
    TrainedInPasses,
    /// A vectors file has no separate target and context vectors.
    #[error("this file has one kind of vectors only; it has no separate {vectors} vectors")]
    OneKind { vectors: Vectors },
}
