//! Writing vectors in any format.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::word2vec::{Word2vecOptions, write_binary, write_text};
use super::{Format, finalfusion, npy, projector};
use crate::bytes::{Compression, replace};
use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Writes vectors to a path, compressed where its ending says so (`.gz`, `.zst`, `.bz2`, `.xz`).
///
/// Each file is replaced whole. It is an error if the format [is not written](Format::is_written), if it has no
/// compression but the ending asks for one, or if it cannot hold one of the words.
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
        return Err(Error::Unsupported(format!(
            "{}: {format} is not written compressed, because programs that read it look at it in place; write `{}`, or \
             take word2vec-text or word2vec-binary",
            path.display(),
            path.with_extension("").display()
        )));
    }
    let files = format.files(path);
    match format {
        Format::Safetensors => embeddings.save(path),
        Format::Npy => {
            replace(&files[1], |file| npy::write_words(embeddings, file, &files[1]))?;
            replace(&files[0], |file| npy::write_array(embeddings, file, &files[0]))
        }
        Format::Projector => {
            fs::create_dir_all(path).map_err(Error::io(path))?;
            replace(&files[1], |file| projector::write_metadata(embeddings, file, &files[1]))?;
            replace(&files[0], |file| projector::write_vectors(embeddings, file, &files[0]))
        }
        _ => replace(path, |file| compression.encode(file, |out| write(embeddings, format, out, path), path)),
    }
}

/// Writes one of word2vec's two formats as [`save`] does, with options.
pub fn save_word2vec(
    embeddings: &Embeddings,
    format: Format,
    path: impl AsRef<Path>,
    options: &Word2vecOptions<'_>,
) -> Result<()> {
    let path = path.as_ref();
    replace(path, |file| {
        Compression::by_name(path).encode(
            file,
            |out| match format {
                Format::Word2vecText => write_text(embeddings, out, path, options),
                Format::Word2vecBinary => write_binary(embeddings, out, path, options),
                _ => Err(Error::Unsupported(format!("{format} is no format of word2vec"))),
            },
            path,
        )
    })
}

/// Writes vectors to anything, in a format that is one stream of bytes: word2vec's two and finalfusion. `name` stands in
/// error messages.
pub fn write(embeddings: &Embeddings, format: Format, writer: impl Write, name: &Path) -> Result<()> {
    match format {
        Format::Word2vecText => write_text(embeddings, writer, name, &Word2vecOptions::default()),
        Format::Word2vecBinary => write_binary(embeddings, writer, name, &Word2vecOptions::default()),
        Format::Finalfusion => finalfusion::write(embeddings, writer, name),
        Format::Npy | Format::Projector => Err(Error::Unsupported(format!(
            "{format} is two files, which cannot go into a pipe; name a path"
        ))),
        Format::Safetensors => Err(Error::Unsupported(format!(
            "{format} is a file to be mapped, which a pipe cannot be; name a path"
        ))),
        Format::Glove | Format::Yskip => {
            Err(Error::Unsupported(format!("{format} is read and not written; take word2vec-text")))
        }
    }
}

#[cfg(test)]
mod tests {
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
            assert!(message.contains(&format!("{format} is not written compressed")), "{message}");
            assert!(message.contains("vectors.x`"), "{message}");
        }
    }

    #[test]
    fn formats_that_are_only_read_are_refused() {
        for format in Format::ALL.into_iter().filter(|format| !format.is_written()) {
            assert!(refusal(format, "v").contains("is read and not written"));
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
