//! Reading vectors in any format.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::error::FormatError;
use super::recognize::{Opened, recognize};
use super::word2vec::{FirstLine, read_binary, read_text};
use super::{Format, finalfusion, npy, projector, yskip};
use crate::bytes::Compression;
use crate::corpus::InvalidUtf8;
use crate::embeddings::{Embeddings, Origin, Vectors};
use crate::snapshot::{self, FileKind, ShardedModel};
use crate::train::{Initial, InitialSource};
use crate::{Error, Result};

/// How to read vectors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The format; by default it is recognized by the content.
    pub format: Option<Format>,
    /// Which vectors to load, if the file has more than one kind.
    pub vectors: Vectors,
    /// What to do with words that are not UTF-8 in word2vec files: its program truncates long words within a character.
    pub invalid_utf8: InvalidUtf8,
    /// The maximum number of words, by default all: the first words of a word2vec or GloVe file, whose rest is not read,
    /// and the most frequent words of other files.
    pub limit: Option<usize>,
    /// Whether to memory-map the vectors of a model file, as [`Embeddings::open`] does.
    pub in_place: bool,
}

impl Default for LoadOptions {
    /// The format by content, the default kind of vectors, an error if a word is not UTF-8, and all words in memory.
    fn default() -> Self {
        LoadOptions {
            format: None,
            vectors: Vectors::default(),
            invalid_utf8: InvalidUtf8::Error,
            limit: None,
            in_place: false,
        }
    }
}

/// Reads vectors in any [`Format`], which is recognized by the content; files may be compressed.
///
/// ```
/// use skipstream::{Vectors, formats};
///
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("glove.txt");
/// std::fs::write(&path, "the 0.25 1\nof -3 0.5\n").expect("a file");
/// let embeddings = formats::load(&path, Vectors::default())?;
/// assert_eq!(embeddings.vector("of").unwrap(), [-3.0, 0.5].as_slice());
/// # Ok::<(), skipstream::Error>(())
/// ```
pub fn load(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
    let options = LoadOptions { vectors, ..LoadOptions::default() };
    load_with(path, &options).map(|(_, embeddings)| embeddings)
}

/// [`load`] with all options; also returns the format.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<(Format, Embeddings)> {
    let path = path.as_ref();
    let limit = options.limit.unwrap_or(usize::MAX);
    if let Some(format) = options.format.filter(|format| !format.is_read()) {
        return Err(Error::format(path, FormatError::WriteOnly { format }));
    }
    if options.format.is_none() && ShardedModel::is_at(path) {
        let embeddings = ShardedModel::open(path)?.embeddings(options.vectors, limit)?;
        return Ok((Format::Safetensors, embeddings));
    }
    // A pipe can be opened only once, so it is recognized and read through the same handle.
    let (format, opened) = match options.format {
        Some(format) => (format, Opened::new(&format.files(path)[0])?),
        None if path.is_dir() => {
            let format = recognize(path)?;
            (format, Opened::new(&format.files(path)[0])?)
        }
        None => {
            let opened = Opened::new(path)?;
            (opened.format(path)?, opened)
        }
    };
    let has_one_kind = !matches!(format, Format::Safetensors | Format::Yskip);
    if has_one_kind && options.vectors != Vectors::default() {
        return Err(Error::format(path, FormatError::OneKind { vectors: options.vectors }));
    }
    if format == Format::Safetensors {
        if opened.compression != Compression::None {
            return Err(Error::format(path, FormatError::CompressedModel));
        }
        let embeddings = if options.in_place {
            Embeddings::open(path, options.vectors)
        } else {
            Embeddings::load(path, options.vectors)
        };
        return Ok((format, embeddings?.top(limit)));
    }
    let embeddings = read(opened, &format.files(path), format, options)?;
    let origin = Origin {
        source: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        format: format.to_string(),
        vectors: (!has_one_kind).then_some(options.vectors),
    };
    Ok((format, embeddings.with_origin(Some(origin)).top(limit)))
}

fn read(first: Opened, files: &[PathBuf], format: Format, options: &LoadOptions) -> Result<Embeddings> {
    let (reader, name) = (first.into_reader(), files[0].as_path());
    // The second file, of formats that have two.
    let beside = || Ok::<_, Error>((Opened::new(&files[1])?.into_reader(), files[1].as_path()));
    match format {
        Format::Word2vecText => read_text(reader, name, FirstLine::Sizes, options),
        Format::Glove => read_text(reader, name, FirstLine::Word, options),
        Format::Word2vecBinary => read_binary(reader, name, options),
        Format::Finalfusion => finalfusion::read(reader, name),
        Format::Yskip => yskip::read(reader, name, options.vectors),
        Format::Npy => npy::read((reader, name), beside()?),
        Format::Projector => projector::read((reader, name), beside()?),
        Format::Safetensors | Format::Parquet => unreachable!("{format} is not read here"),
    }
}

impl Initial {
    /// Loads vectors from a file in any [`Format`]. Of a model, it takes the sum of target and context vectors, which has the
    /// model's dimensions.
    pub fn load(path: impl AsRef<Path>) -> Result<Initial> {
        let path = path.as_ref();
        let format = recognize(path)?;
        let is_model = match format {
            Format::Safetensors => snapshot::kind(path).is_ok_and(|kind| kind == FileKind::Training),
            _ => format == Format::Yskip,
        };
        let vectors = load(path, if is_model { Vectors::Sum } else { Vectors::default() })?;
        let mut hasher = blake3::Hasher::new();
        for path in format.files(path) {
            let file = File::open(&path).map_err(Error::io(&path))?;
            hasher.update_reader(file).map_err(Error::io(&path))?;
        }
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let source = InitialSource { file, fingerprint: hasher.finalize().to_hex().to_string() };
        Ok(Initial { vectors, source })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(feature = "codecs")]
    use std::io::Write;

    use tempfile::TempDir;

    use super::super::testing::{assert_same, assert_same_counts, small};
    use super::super::{Format, save};
    use super::*;

    fn refusal(path: &Path) -> String {
        load(path, Vectors::default()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_saved_is_loaded_with_its_origin() {
        let folder = TempDir::new().unwrap();
        for format in Format::ALL.into_iter().filter(|format| format.is_written() && format.is_read()) {
            let path = folder.path().join(format!("vectors.{format}"));
            save(&small(), format, &path).unwrap();
            assert_eq!(recognize(&path).unwrap(), format);
            let loaded = load(&path, Vectors::default()).unwrap();
            if format != Format::Finalfusion {
                assert_same(&loaded, &small());
            }
            if matches!(format, Format::Safetensors | Format::Npy | Format::Projector) {
                assert_same_counts(&loaded, &small());
            }
            if format != Format::Safetensors {
                let origin = loaded.origin().unwrap();
                assert_eq!(
                    (origin.source.as_str(), origin.format.as_str()),
                    (path.file_name().unwrap().to_str().unwrap(), format.name())
                );
            }
        }
    }

    #[test]
    fn compressed_files_are_read_and_written() {
        let folder = TempDir::new().unwrap();
        for ending in ["gz", "zst", "bz2", "xz"] {
            for format in [Format::Word2vecText, Format::Word2vecBinary] {
                let path = folder.path().join(format!("vectors.{format}.{ending}"));
                save(&small(), format, &path).unwrap();
                assert_ne!(fs::read(&path).unwrap()[..3], *b"2 2");
                assert_same(&load(&path, Vectors::default()).unwrap(), &small());
            }
        }
    }

    #[test]
    fn a_compressed_file_that_was_cut_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vectors.txt.gz");
        save(&small(), Format::Word2vecText, &path).unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        assert!(refusal(&path).contains("the gzip data is damaged or cut short"), "{}", refusal(&path));
    }

    #[cfg(feature = "codecs")]
    #[test]
    fn a_compressed_model_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("model.safetensors");
        save(&small(), Format::Safetensors, &path).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&fs::read(&path).unwrap()).unwrap();
        fs::write(&path, encoder.finish().unwrap()).unwrap();
        assert!(refusal(&path).ends_with("compressed model files are not supported; decompress it first"));
    }

    #[test]
    fn a_folder_and_a_file_that_is_not_there_are_refused() {
        let folder = TempDir::new().unwrap();
        let message = refusal(folder.path());
        assert!(message.ends_with("this folder has no vectors.tsv of the embedding projector"), "{message}");
        let missing = folder.path().join("none");
        assert!(refusal(&missing).starts_with(&format!("{}: ", missing.display())));
    }

    #[test]
    fn a_second_file_that_is_missing_is_named() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vectors.npy");
        save(&small(), Format::Npy, &path).unwrap();
        let words = folder.path().join("vectors.words.tsv");
        fs::remove_file(&words).unwrap();
        assert!(refusal(&path).starts_with(&format!("{}: ", words.display())));
    }

    #[test]
    fn vectors_cannot_be_chosen_where_there_is_one_kind() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vectors.txt");
        save(&small(), Format::Word2vecText, &path).unwrap();
        let message = load(&path, Vectors::Target).unwrap_err().to_string();
        assert!(
            message.contains("this file has one kind of vectors only; it has no separate target vectors"),
            "{message}"
        );
    }

    #[test]
    fn the_first_words_are_read_alone() {
        let folder = TempDir::new().unwrap();
        let limited = |path: &Path, limit| {
            load_with(path, &LoadOptions { limit: Some(limit), ..LoadOptions::default() }).unwrap().1
        };
        for format in Format::ALL.into_iter().filter(|format| format.is_written() && format.is_read()) {
            let path = folder.path().join(format.name());
            save(&small(), format, &path).unwrap();
            for limit in [0, 1, 2, 9] {
                assert_eq!(limited(&path, limit).len(), limit.min(2), "{format}");
            }
            assert_eq!(limited(&path, 1).word(0), small().word(0));
        }
        // What follows is not looked at.
        let path = folder.path().join("glove.txt");
        fs::write(&path, "the 1 2\nof 3 4\nand 5\n").unwrap();
        assert!(limited(&path, 2).words().eq(["the", "of"]));
        assert!(refusal(&path).contains("line 3"));
    }

    #[test]
    fn a_model_stays_in_its_file_if_that_is_asked_for() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vectors.safetensors");
        save(&small(), Format::Safetensors, &path).unwrap();
        for in_place in [false, true] {
            let options = LoadOptions { in_place, ..LoadOptions::default() };
            let (_, embeddings) = load_with(&path, &options).unwrap();
            assert_eq!(embeddings.is_mapped(), in_place);
            assert_same(&embeddings, &small());
        }
    }

    #[test]
    fn a_format_that_is_named_is_not_guessed() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vectors.txt");
        fs::write(&path, "2 2\n3 4\n").unwrap();
        let options = LoadOptions { format: Some(Format::Glove), ..LoadOptions::default() };
        assert!(load_with(&path, &options).unwrap().1.words().eq(["2", "3"]));
    }
}
