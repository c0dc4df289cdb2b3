//! Writing vectors in any format.

use std::io::Write;
use std::path::Path;

use super::error::FormatError;
use super::word2vec::{SaveOptions, write_binary, write_text};
use super::{Format, finalfusion, npy, projector, tsv};
use crate::bytes::{Compression, create_folder, replace};
use crate::embeddings::Embeddings;
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
        Format::Npy => {
            replace(&files[1], |file| tsv::write_words(embeddings, file, &files[1], ""))?;
            replace(&files[0], |file| npy::write_array(embeddings, file, &files[0]))
        }
        Format::Projector => {
            create_folder(path)?;
            replace(&files[1], |file| projector::write_metadata(embeddings, file, &files[1]))?;
            replace(&files[0], |file| projector::write_vectors(embeddings, file, &files[0]))
        }
        _ => replace(path, |file| compression.encode(file, |out| write(embeddings, format, out, path), path)),
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

/// Writes vectors in a format that is one stream of bytes: word2vec text, word2vec binary or finalfusion. `name` is for
/// error messages.
pub fn write(embeddings: &Embeddings, format: Format, writer: impl Write, name: &Path) -> Result<()> {
    match format {
        Format::Word2vecText => write_text(embeddings, writer, name, &SaveOptions::default()),
        Format::Word2vecBinary => write_binary(embeddings, writer, name, &SaveOptions::default()),
        Format::Finalfusion => finalfusion::write(embeddings, writer, name),
        Format::Npy | Format::Projector | Format::Safetensors => {
            Err(Error::format(name, FormatError::NotAStream { format }))
        }
        Format::Glove | Format::Yskip => Err(Error::format(name, FormatError::ReadOnly { format })),
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
        for format in [Format::Safetensors, Format::Npy, Format::Finalfusion, Format::Projector] {
            let message = refusal(format, "vectors.x.gz");
            assert!(message.contains(&format!("{format} cannot be written compressed")), "{message}");
        }
    }

    #[test]
    fn formats_that_are_only_read_are_refused() {
        for format in Format::ALL.into_iter().filter(|format| !format.is_written()) {
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
    fn a_word_that_a_format_cannot_hold_leaves_no_file() {
        let folder = TempDir::new().unwrap();
        let embeddings = Embeddings::new(1, [("a\tb", 1)], vec![0.0]).unwrap();
        for format in [Format::Word2vecText, Format::Word2vecBinary, Format::Npy] {
            assert!(save(&embeddings, format, folder.path().join("v")).is_err());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
