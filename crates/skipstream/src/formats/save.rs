//! Writing vectors in any format.

use std::io::Write;
use std::path::Path;

use super::error::FormatError;
#[cfg(feature = "parquet")]
use super::parquet;
use super::word2vec::{SaveOptions, write_binary, write_text};
use super::{Format, finalfusion, npy, projector, tsv};
use crate::bytes::{Compression, create_folder, replace};
use crate::embeddings::{Embeddings, Quantization};
use crate::{Error, Result};

/// Writes vectors to a path, compressed if its extension says so (`.gz`, `.zst`, `.bz2`, `.xz`).
///
/// Each file is replaced as a whole. It is an error if the format [cannot be written](Format::is_written), if it cannot be
/// compressed but the extension asks for it, or if it cannot represent one of the words.
///
/// ```
/// use skipstream::formats::{self, Format};
/// use skipstream::{Embeddings, Vectors};
///
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("vectors.txt.gz");
/// let embeddings = Embeddings::new(2, [("tea", 7), ("milk", 5)], vec![1.0, 0.5, 0.5, 1.0])?;
/// formats::save(&embeddings, Format::Word2vecText, &path)?;
/// assert_eq!(formats::load(&path, Vectors::default())?.vector("tea"), embeddings.vector("tea"));
/// # Ok::<(), skipstream::Error>(())
/// ```
pub fn save(embeddings: &Embeddings, format: Format, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let compression = Compression::by_name(path);
    if compression != Compression::None && !format.is_compressible() {
        return Err(Error::format(path, FormatError::NotCompressible { format }));
    }
    let files = format.files(path);
    match format {
        Format::Safetensors => embeddings.save(path),
        Format::Npy | Format::Projector => {
            if format == Format::Projector {
                create_folder(path)?;
            }
            // The vectors last: with them, the files are complete.
            (0..files.len()).rev().try_for_each(|number| {
                replace(&files[number], |file| write_file(embeddings, format, number, file, &files[number]))
            })
        }
        _ => replace(path, |file| compression.encode(file, |out| write(embeddings, format, out, path), path)),
    }
}

/// Vectors that are to be written to a path, [quantized](Embeddings::quantized) if that is asked for. It is an error if the
/// format [cannot be](Format::is_quantizable).
///
/// Quantized vectors that are written in another format are the rounded ones in full precision.
pub fn quantized(
    embeddings: Embeddings,
    quantization: Option<Quantization>,
    format: Format,
    path: impl AsRef<Path>,
) -> Result<Embeddings> {
    match quantization {
        Some(_) if !format.is_quantizable() => {
            Err(Error::format(path.as_ref(), FormatError::NotQuantizable { format }))
        }
        Some(quantization) => embeddings.quantized(quantization),
        None => Ok(embeddings),
    }
}

/// Writes word2vec text or binary as [`save`] does, with options.
pub fn save_word2vec(
    embeddings: &Embeddings,
    format: Format,
    path: impl AsRef<Path>,
    options: &SaveOptions<'_>,
) -> Result<()> {
    let path = path.as_ref();
    replace(path, |file| {
        Compression::by_name(path).encode(
            file,
            |out| match format {
                Format::Word2vecText => write_text(embeddings, out, path, options),
                Format::Word2vecBinary => write_binary(embeddings, out, path, options),
                _ => Err(Error::format(path, FormatError::NotWord2vec { format })),
            },
            path,
        )
    })
}

/// Writes vectors in a format that is one stream of bytes: word2vec text, word2vec binary, finalfusion or Parquet. `name` is for
/// error messages.
pub fn write(embeddings: &Embeddings, format: Format, writer: impl Write, name: &Path) -> Result<()> {
    if let Format::Npy | Format::Projector | Format::Safetensors = format {
        return Err(Error::format(name, FormatError::NotAStream { format }));
    }
    write_file(embeddings, format, 0, writer, name)
}

/// Writes the bytes of one of the [files](Format::files) of a format. `name` is for error messages.
///
/// The same vectors give the same bytes. Words that the format cannot represent are an error before the first byte.
///
/// ```
/// use skipstream::Embeddings;
/// use skipstream::formats::{self, Format};
///
/// let embeddings = Embeddings::new(2, [("tea", 7), ("milk", 5)], vec![1.0, 0.5, 0.5, 1.0])?;
/// let mut words = Vec::new();
/// formats::write_file(&embeddings, Format::Npy, 1, &mut words, "words.tsv".as_ref())?;
/// assert_eq!(words, b"tea\t7\nmilk\t5\n");
/// # Ok::<(), skipstream::Error>(())
/// ```
///
/// # Panics
/// If the format does not have that number of files.
pub fn write_file(
    embeddings: &Embeddings,
    format: Format,
    file: usize,
    writer: impl Write,
    name: &Path,
) -> Result<()> {
    match (format, file) {
        (Format::Word2vecText, 0) => write_text(embeddings, writer, name, &SaveOptions::default()),
        (Format::Word2vecBinary, 0) => write_binary(embeddings, writer, name, &SaveOptions::default()),
        (Format::Finalfusion, 0) => finalfusion::write(embeddings, writer, name),
        (Format::Safetensors, 0) => embeddings.write(writer, name),
        (Format::Npy, 0) => npy::write_array(embeddings, writer, name),
        (Format::Npy, 1) => tsv::write_words(embeddings, writer, name, ""),
        (Format::Projector, 0) => projector::write_vectors(embeddings, writer, name),
        (Format::Projector, 1) => projector::write_metadata(embeddings, writer, name),
        #[cfg(feature = "parquet")]
        (Format::Parquet, 0) => parquet::write(embeddings, writer, name),
        #[cfg(not(feature = "parquet"))]
        (Format::Parquet, 0) => Err(Error::format(name, FormatError::NotBuilt { format })),
        (Format::Glove | Format::Yskip, 0) => Err(Error::format(name, FormatError::ReadOnly { format })),
        _ => panic!("{format} has no file {file}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::testing::small;
    use super::*;

    fn refusal(format: Format, name: &str) -> String {
        let folder = TempDir::new().unwrap();
        let message = save(&small(), format, folder.path().join(name)).unwrap_err().to_string();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        message
    }

    #[test]
    fn formats_that_are_mapped_are_not_compressed() {
        for format in
            [Format::Safetensors, Format::Npy, Format::Finalfusion, Format::Projector, Format::Parquet]
        {
            let message = refusal(format, "vectors.x.gz");
            assert!(message.contains(&format!("{format} cannot be written compressed")), "{message}");
        }
    }

    #[test]
    fn quantized_vectors_are_written_to_safetensors_and_refused_by_other_formats() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("v");
        for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
            assert!(quantized(small(), None, format, &path).unwrap().quantization().is_none());
            match quantized(small(), Some(Quantization::F16), format, &path) {
                Ok(embeddings) => {
                    save(&embeddings, format, &path).unwrap();
                    assert_eq!(format, Format::Safetensors);
                    let loaded = super::super::load(&path, crate::Vectors::default()).unwrap();
                    assert_eq!(loaded.quantization(), Some(Quantization::F16));
                    // In another format, the same vectors have full precision.
                    save(&loaded, Format::Word2vecBinary, &path).unwrap();
                    let full = super::super::load(&path, crate::Vectors::default()).unwrap();
                    assert_eq!((full.quantization(), full.matrix()), (None, embeddings.matrix()));
                }
                Err(error) => {
                    let expected = format!("{format} cannot be written quantized; safetensors can");
                    assert!(error.to_string().contains(&expected), "{error}");
                }
            }
        }
    }

    #[test]
    fn formats_that_are_only_read_are_refused() {
        for format in [Format::Glove, Format::Yskip] {
            assert!(refusal(format, "v").contains("can be read but not written"));
        }
    }

    #[test]
    fn two_files_cannot_go_into_a_pipe() {
        for format in [Format::Npy, Format::Projector, Format::Safetensors] {
            let message = write(&small(), format, Vec::new(), Path::new("<stdout>")).unwrap_err().to_string();
            assert!(message.contains("pipe"), "{message}");
        }
    }

    #[test]
    fn the_bytes_of_each_file_are_those_that_are_saved() {
        let folder = TempDir::new().unwrap();
        for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
            let path = folder.path().join(format.name());
            save(&small(), format, &path).unwrap();
            for (number, file) in format.files(&path).iter().enumerate() {
                let mut bytes = Vec::new();
                write_file(&small(), format, number, &mut bytes, file).unwrap();
                assert_eq!(bytes, fs::read(file).unwrap(), "{}", file.display());
            }
        }
    }

    #[test]
    fn a_word_that_a_format_cannot_hold_leaves_no_file() {
        let folder = TempDir::new().unwrap();
        let embeddings = Embeddings::new(1, [("a\tb", 1)], vec![0.0]).unwrap();
        for format in [Format::Word2vecText, Format::Word2vecBinary, Format::Npy] {
            assert!(save(&embeddings, format, folder.path().join("v")).is_err());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
