//! Why a vectors file of another program cannot be read or written.

use std::fmt;
use std::path::PathBuf;

use super::format::Format;
use super::rows::{MAX_DIMENSIONS, MAX_WORD_BYTES};
use crate::embeddings::Vectors;

/// A defect of a vectors file, or vectors that a format cannot represent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum FormatError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The content is not that of a known format.
    #[error(
        "not a model file, and not vectors in a known format; supported are skipstream models, word2vec (text and binary), fastText .vec, GloVe, \
         yskip text, .npy, finalfusion, and folders of the embedding projector"
    )]
    Unknown,
    /// A binary model of fastText.
    #[error(
        "fastText's binary models are not supported; use the .vec file, or convert it in Python: \
         gensim.models.fasttext.load_facebook_vectors(\"model.bin\").save_word2vec_format(\"vectors.txt\")"
    )]
    FastTextBinary,
    /// A Python pickle, which could run any program.
    #[error(
        "Python pickles are not supported because they can run any program; convert a gensim file in Python: \
         gensim.models.KeyedVectors.load(\"vectors.kv\").save_word2vec_format(\"vectors.txt\")"
    )]
    Pickle,
    /// Numbers without words.
    #[error("numbers without words; to read the projector's vectors.tsv, name its folder")]
    NoWords,
    /// A folder that is not one of the projector.
    #[error("this folder has no vectors.tsv of the embedding projector")]
    Folder,
    /// A compressed model file.
    #[error("compressed model files are not supported; decompress it first")]
    CompressedModel,
    /// The file has no separate target and context vectors.
    #[error("this file has one kind of vectors only; it has no separate {vectors} vectors")]
    OneKind { vectors: Vectors },
    /// A defect at one place of the file.
    #[error("{place}: {defect}")]
    At { place: FilePlace, defect: Defect },
    /// The file has another number of words than its first line states.
    #[error("the first line states {stated} words; the file has {found}")]
    WordCount { stated: usize, found: usize },
    /// Two files that belong together have different numbers of rows.
    #[error("{vectors} vectors; {} has {words} words", words_file.display())]
    TwoFiles { vectors: usize, words: usize, words_file: PathBuf },
    /// The format cannot be written.
    #[error("{format} can be read but not written")]
    ReadOnly { format: Format },
    /// The format cannot be read.
    #[error("{format} can be written but not read; safetensors can be both")]
    WriteOnly { format: Format },
    /// The format is not compiled in.
    #[error("{format} is not supported by this program; build it with `--features {format}`")]
    NotBuilt { format: Format },
    /// The format cannot be written compressed, because it is memory-mapped.
    #[error("{format} cannot be written compressed")]
    NotCompressible { format: Format },
    /// The format cannot be written quantized.
    #[error("{format} cannot be written quantized; safetensors can")]
    NotQuantizable { format: Format },
    /// The format is not one of word2vec's.
    #[error("{format} is not a word2vec format")]
    NotWord2vec { format: Format },
    /// The format cannot be written to a stream.
    #[error("{format} cannot be written to a pipe")]
    NotAStream { format: Format },
    /// The format cannot represent a word.
    #[error("the format cannot represent the word `{}`; safetensors can", word.escape_debug())]
    Word { word: String },
    /// The format cannot represent the length of a vector.
    #[error(
        "the vector of `{word}` has the norm {norm:e}; the format can represent norms from 1.2e-38 to 3.4e38"
    )]
    Norm { word: String, norm: f64 },
    /// There are no counts to write.
    #[error("the counts of the words are unknown")]
    NoCounts,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// A line, from 1.
    Line(u64),
    /// A byte of the decompressed file, from 0.
    Byte(u64),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePlace::Line(line) => write!(f, "line {line}"),
            FilePlace::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// A defect at one place of a vectors file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum Defect {
    /// Something else is there.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The file ends too early.
    #[error("the file ends in {0}")]
    Truncated(&'static str),
    /// Something is too long.
    #[error("{what} is longer than {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    /// There is more data than the header states.
    #[error("more data than the header states")]
    Extra,
    /// A version of the format that is not supported.
    #[error("version {found} is not supported; expected {supported}")]
    Version { found: String, supported: &'static str },
    /// The values have a type that is not supported.
    #[error("values of type {found} are not supported; expected {supported}")]
    ValueType { found: String, supported: &'static str },
    /// An array in Fortran order.
    #[error("Fortran order is not supported; convert it with numpy.ascontiguousarray(array)")]
    FortranOrder,
    /// A part of a finalfusion file that is not supported.
    #[error(
        "{part} is not supported; convert it in Python: \
         finalfusion.compat.write_word2vec(\"vectors.bin\", finalfusion.load_finalfusion(…))"
    )]
    Part { part: String },
    /// Another number of rows than words.
    #[error("{found} {what} for {words} words")]
    Rows { what: &'static str, found: u64, words: usize },
    /// The number of dimensions is out of range.
    #[error("{found} dimensions; the number must be from 1 to {MAX_DIMENSIONS}")]
    Dimensions { found: usize },
    /// A vector has another number of values.
    #[error("{found} values; expected {expected}")]
    Values { found: usize, expected: usize },
    /// A value is not a number.
    #[error("value {position} is `{text}`; it must be a number")]
    NotANumber { position: usize, text: String },
    /// A value is infinite or NaN.
    #[error("value {position} of word {word} is {value}; it must be finite")]
    NotFinite { word: usize, position: usize, value: f32 },
    /// A norm makes values infinite or NaN.
    #[error("a norm is {norm}; the vector must be finite")]
    Norm { norm: f32 },
    /// A count is not a number.
    #[error("`{text}` is not a count")]
    Count { text: String },
    /// Only some words have a count.
    #[error("some words have a count after a tab and some do not")]
    MixedCounts,
    /// A word is empty or has a line end.
    #[error("`{}` is not a word", word.escape_debug())]
    NotAWord { word: String },
    /// A word is too long.
    #[error("a word is longer than {MAX_WORD_BYTES} bytes")]
    LongWord,
    /// A word is repeated.
    #[error("`{word}` is repeated; it is also word {first}")]
    RepeatedWord { word: String, first: usize },
    /// A word is not UTF-8. Mikolov's program truncates long words, even within a character.
    #[error("a word is not valid UTF-8")]
    WordNotUtf8,
    /// A line is not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
}
