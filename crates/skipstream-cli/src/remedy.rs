//! What to do about an error of the engine, in terms of this command line. The engine itself knows no flags.

use skipstream::Error;
use skipstream::corpus::{SourceChange, TextError};
use skipstream::embeddings::VectorsError;
use skipstream::formats::{Defect, FormatError};
use skipstream::snapshot::ModelFileError;

/// The remedy for a damaged file.
pub const RESTORE: &str = "restore it from a copy";

/// The remedy to append to the message, if there is one.
pub fn remedy(error: &Error) -> Option<String> {
    Some(match error {
        Error::InvalidUtf8 { .. } => {
            "repair the text, or use `--invalid-utf8 replace` or `--invalid-utf8 skip`".to_owned()
        }
        Error::Text { cause: TextError::Record { .. }, .. } => {
            "repair the record, or skip such records with `--bad-records skip`".to_owned()
        }
        Error::Text { cause: TextError::LongRecord { .. }, .. } => {
            "look for a `\"` without a closing one; `--format tsv` does not interpret quotes".to_owned()
        }
        Error::Text { cause: TextError::NoHeader { .. }, .. } => {
            "use `--no-header --field NUMBER` if the first row is a record, or else the name of a column"
                .to_owned()
        }
        Error::Text { cause: TextError::NoColumnNumber { .. }, .. } => {
            "use `--field NUMBER`, from 1".to_owned()
        }
        Error::Text { cause: TextError::Binary { .. }, .. } => {
            "use `--force-text` to read it as text anyway".to_owned()
        }
        Error::Text { cause: TextError::Utf16 { .. } | TextError::UnmarkedUtf16, .. } => {
            "for instance with `iconv -f UTF-16 -t UTF-8`".to_owned()
        }
        Error::Text { cause: TextError::PipeAgain, .. } => "several passes need a file".to_owned(),
        Error::Text { cause: TextError::ParquetPipe, .. } => "name a file".to_owned(),
        Error::Text { cause: TextError::CannotFollow { .. }, .. } => {
            "omit `--follow`, or follow plain text or JSON lines".to_owned()
        }
        Error::SourceChanged { change: SourceChange::Layout { .. }, .. } => {
            "read it as before, or use `--again` to learn it as new text".to_owned()
        }
        Error::SourceChanged { .. } => {
            "train on the new text under another name, or use `--again` to learn the whole file as new text"
                .to_owned()
        }
        Error::ModelFile { path, cause: ModelFileError::OnlyVectors } => {
            format!("a new model can start from these vectors with `train --init {}`", path.display())
        }
        Error::ModelFile { path, cause: ModelFileError::Sharded } => {
            format!("use `skipstream join --model {} FILE`", path.display())
        }
        Error::ModelFile { cause: ModelFileError::OneKind { .. }, .. }
        | Error::Format { cause: FormatError::OneKind { .. }, .. } => "omit `--vectors`".to_owned(),
        Error::ModelFile {
            cause:
                ModelFileError::TooShort { .. }
                | ModelFileError::HeaderLength { .. }
                | ModelFileError::Header { .. }
                | ModelFileError::NoMetadata,
            ..
        } => "`--model` is for the model; text to learn is named without a flag".to_owned(),
        Error::ModelFile { cause: ModelFileError::Version { .. }, .. } => return None,
        Error::ModelFile { .. } => RESTORE.to_owned(),
        Error::Format { cause: FormatError::At { defect: Defect::WordNotUtf8, .. }, .. } => {
            "use `--invalid-utf8 replace` or `--invalid-utf8 skip`".to_owned()
        }
        Error::Format { cause: FormatError::ReadOnly { .. }, .. } => "use `--to word2vec-text`".to_owned(),
        Error::Format { cause: FormatError::NotCompressible { .. }, .. } => {
            "use a name without this extension, or `--to word2vec-text` or `--to word2vec-binary`".to_owned()
        }
        Error::Format { cause: FormatError::NotAStream { .. }, .. } => "name a file".to_owned(),
        Error::Vectors(VectorsError::NotBoth) => {
            "name the model file that they were exported from, without `--vectors`".to_owned()
        }
        Error::Diverged { .. } => "try a smaller `--learning-rate`".to_owned(),
        Error::OutOfMemory { .. } => {
            "use a smaller `--max-vocabulary` or fewer `--dimensions`, or set `--memory`".to_owned()
        }
        _ => return None,
    })
}

pub fn remedy_in(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let engine = cause.downcast_ref::<Error>();
        #[cfg(feature = "serve")]
        let engine = engine.or_else(|| match cause.downcast_ref::<skipstream_server::Error>()? {
            skipstream_server::Error::Engine(error) => Some(error),
            _ => None,
        });
        engine.and_then(remedy)
    })
}
