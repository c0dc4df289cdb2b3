//! The formats by name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{npy, projector};
use crate::{Error, Result};

/// A format of word vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// word2vec text, the same as fastText's `.vec`. No counts.
    Word2vecText,
    /// word2vec binary. No counts.
    Word2vecBinary,
    /// A model file or vectors file of this library. Writing makes a vectors file.
    Safetensors,
    /// numpy's `.npy`, with words and counts in a `.words.tsv` next to it.
    Npy,
    /// finalfusion's `.fifu`: unit vectors with norms, with a relative error of at most 2⁻²². No counts.
    Finalfusion,
    /// A folder with the two files of TensorFlow's embedding projector.
    Projector,
    /// Parquet with the columns `word`, `count` and `vector`, for data frames and databases. Write-only, and needs the
    /// feature `parquet`.
    Parquet,
    /// GloVe text: word2vec text without its first line. Read-only.
    Glove,
    /// The text model of yskip, with target and context vectors. Read-only.
    Yskip,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 9] = [
        Format::Word2vecText,
        Format::Word2vecBinary,
        Format::Safetensors,
        Format::Npy,
        Format::Finalfusion,
        Format::Projector,
        Format::Glove,
        Format::Yskip,
        Format::Parquet,
    ];

    /// The name, the same in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Word2vecText => "word2vec-text",
            Format::Word2vecBinary => "word2vec-binary",
            Format::Safetensors => "safetensors",
            Format::Npy => "npy",
            Format::Finalfusion => "finalfusion",
            Format::Projector => "projector",
            Format::Parquet => "parquet",
            Format::Glove => "glove",
            Format::Yskip => "yskip",
        }
    }

    /// Whether files have the counts of words. Otherwise words get the counts n, n − 1, … 1, as in gensim, so that the
    /// order of the file stays the order of the rows.
    pub fn has_counts(self) -> bool {
        !matches!(self, Format::Word2vecText | Format::Word2vecBinary | Format::Finalfusion | Format::Glove)
    }

    /// Whether it can be written.
    pub fn is_written(self) -> bool {
        match self {
            Format::Glove | Format::Yskip => false,
            Format::Parquet => cfg!(feature = "parquet"),
            _ => true,
        }
    }

    /// Whether it can be read.
    pub fn is_read(self) -> bool {
        self != Format::Parquet
    }

    /// Whether files can be written compressed. The other formats are memory-mapped, which compressed files cannot be.
    pub fn is_compressible(self) -> bool {
        matches!(self, Format::Word2vecText | Format::Word2vecBinary)
    }

    /// Whether vectors can be written [quantized](crate::Embeddings::quantized).
    pub fn is_quantizable(self) -> bool {
        self == Format::Safetensors
    }

    /// The files of vectors at a path, the one with the vectors first.
    pub fn files(self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        match self {
            Format::Npy => vec![path.to_owned(), npy::words_path(path)],
            Format::Projector => vec![projector::vectors_path(path), projector::metadata_path(path)],
            _ => vec![path.to_owned()],
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        let names = || Format::ALL.map(Format::name).join(", ");
        found.ok_or_else(|| Error::setting("format", format!("`{name}`"), names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_same_as_text_and_as_json() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{format}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_possible_ones() {
        let message = "hdf5".parse::<Format>().unwrap_err().to_string();
        assert!(
            message.starts_with("format is `hdf5`; it must be word2vec-text, word2vec-binary, "),
            "{message}"
        );
    }

    #[test]
    fn some_formats_have_two_files() {
        assert_eq!(Format::Npy.files("a/v.npy"), ["a/v.npy", "a/v.words.tsv"].map(PathBuf::from));
        assert_eq!(Format::Projector.files("a"), ["a/vectors.tsv", "a/metadata.tsv"].map(PathBuf::from));
        assert_eq!(Format::Word2vecText.files("a.txt"), ["a.txt"].map(PathBuf::from));
    }
}
