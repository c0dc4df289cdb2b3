//! Files and pipes, plain or compressed, opened as text.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read as _, Seek, SeekFrom};
use std::path::Path;

use super::error::TextError;
use super::layout::{Layout, RecordFormat};
use super::lines::Lines;
use super::options::TextOptions;
use super::passage::Passage;
use super::position::Position;
use super::progress::RawProgress;
#[cfg(feature = "records")]
use super::records;
use super::report::TextReport;
use super::sentence::{Read, Sentence, Source};
use crate::bytes::{BUFFER_BYTES, Compression, read_error, read_magic};
use crate::{Error, Result};

/// Text from a file or pipe, whatever its compression and layout.
pub struct TextStream {
    sentences: Box<dyn Sentences>,
    progress: RawProgress,
}

/// Sentences of a text, each with a position.
pub(super) trait Sentences: Source + Send {
    fn position(&self) -> Position;
    fn end(&self) -> Position;
    fn report(&self) -> TextReport;
}

impl<R: BufRead + Send> Sentences for Lines<R> {
    fn position(&self) -> Position {
        Lines::position(self)
    }

    fn end(&self) -> Position {
        Lines::end(self)
    }

    fn report(&self) -> TextReport {
        Lines::report(self).clone()
    }
}

/// Opens a text file, plain or compressed (gzip, zstd, bzip2, xz). Its first bytes tell which.
pub fn open(path: impl AsRef<Path>, options: &TextOptions) -> Result<TextStream> {
    open_at(path, Position::default(), options, &Layout::Text)
}

/// Opens a file of any layout and continues at the [`position`](TextStream::position) of an earlier stream.
///
/// A plain file of text or JSON lines is continued by a seek; other files are read up to the position.
pub fn open_at(
    path: impl AsRef<Path>,
    position: Position,
    options: &TextOptions,
    layout: &Layout,
) -> Result<TextStream> {
    let path = path.as_ref();
    let mut file = File::open(path).map_err(Error::io(path))?;
    let metadata = file.metadata().map_err(Error::io(path))?;
    if metadata.is_dir() {
        return Err(Error::io(path)(io::ErrorKind::IsADirectory.into()));
    }
    let length = metadata.is_file().then_some(metadata.len());
    let start = Start { name: path, position, options, layout };
    #[cfg(feature = "parquet")]
    if let Layout::Records { field, bad_records } = layout
        && field.format == RecordFormat::Parquet
        && length.is_some()
    {
        let progress = RawProgress::new(0, length);
        let sentences = records::from_parquet(file, start, field, *bad_records, &progress)?;
        return Ok(TextStream { sentences, progress });
    }
    let magic = read_magic(&mut file).map_err(Error::io(path))?;
    let compression = Compression::of(&magic);
    if compression == Compression::None && position.offset > 0 && begins_anywhere(layout) {
        if length.is_some_and(|length| length < position.offset) {
            return Err(too_short(path, position));
        }
        file.seek(SeekFrom::Start(position.offset)).map_err(Error::io(path))?;
        return TextStream::plain(file, start, length);
    }
    let progress = RawProgress::new(0, length);
    let raw = progress.count(Cursor::new(magic).chain(file));
    TextStream::skipping(compression.decode(raw, path)?, start, progress)
}

/// Reads a pipe, plain or compressed; errors call it `name`.
pub fn from_reader(
    name: impl AsRef<Path>,
    reader: impl io::Read + Send + 'static,
    options: &TextOptions,
) -> Result<TextStream> {
    from_reader_at(name, reader, Position::default(), options, &Layout::Text)
}

/// Reads a pipe that gives the same text again, and continues at a [`position`](TextStream::position) of the first time.
pub fn from_reader_at(
    name: impl AsRef<Path>,
    mut reader: impl io::Read + Send + 'static,
    position: Position,
    options: &TextOptions,
    layout: &Layout,
) -> Result<TextStream> {
    let name = name.as_ref();
    let magic = read_magic(&mut reader).map_err(Error::io(name))?;
    let progress = RawProgress::new(0, None);
    let compression = Compression::of(&magic);
    let raw = progress.count(Cursor::new(magic).chain(reader));
    let start = Start { name, position, options, layout };
    TextStream::skipping(compression.decode(raw, name)?, start, progress)
}

/// Whether reading can start at any position. A table must be read from its start, which names the columns.
fn begins_anywhere(layout: &Layout) -> bool {
    layout.field().is_none_or(|field| field.format == RecordFormat::Jsonl)
}

/// Continues uncompressed text at a position; `reader` must be at its offset. The reader may end after a line and give
/// more later. Not for tables, whose columns are named at their start.
pub(super) fn plain_at(
    name: &Path,
    reader: impl io::Read + Send + 'static,
    position: Position,
    options: &TextOptions,
    layout: &Layout,
) -> Result<TextStream> {
    TextStream::plain(reader, Start { name, position, options, layout }, None)
}

/// Where a text starts, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub name: &'a Path,
    pub position: Position,
    pub options: &'a TextOptions,
    pub layout: &'a Layout,
}

impl TextStream {
    /// Reads uncompressed bytes, which are at the position.
    fn plain(raw: impl io::Read + Send + 'static, start: Start<'_>, length: Option<u64>) -> Result<Self> {
        let progress = RawProgress::new(start.position.offset, length);
        let text = BufReader::with_capacity(BUFFER_BYTES, progress.count(raw));
        Self::new(Box::new(text), start, progress)
    }

    /// Reads from the start and drops the text up to the position's offset.
    fn skipping(mut text: Box<dyn BufRead + Send>, start: Start<'_>, progress: RawProgress) -> Result<Self> {
        let Start { name, position, .. } = start;
        if begins_anywhere(start.layout) {
            let skipped = io::copy(&mut text.by_ref().take(position.offset), &mut io::sink())
                .map_err(|error| read_error(name, error))?;
            if skipped < position.offset {
                return Err(too_short(name, position));
            }
        }
        Self::new(text, start, progress)
    }

    fn new(text: Box<dyn BufRead + Send>, start: Start<'_>, progress: RawProgress) -> Result<Self> {
        let sentences: Box<dyn Sentences> = match start.layout {
            Layout::Text => Box::new(Lines::starting_at(text, start.position, start.name, start.options)?),
            #[cfg(feature = "records")]
            Layout::Records { field, bad_records } => records::from_bytes(text, start, field, *bad_records)?,
            #[cfg(not(feature = "records"))]
            Layout::Records { field, .. } => return Err(field.format.missing(start.name)),
        };
        Ok(Self { sentences, progress })
    }

    /// The position after the last sentence that was returned.
    pub fn position(&self) -> Position {
        self.sentences.position()
    }

    /// The position after everything that was read, including empty lines after the last sentence.
    pub fn end(&self) -> Position {
        self.sentences.end()
    }

    /// What was found since the stream was opened.
    pub fn report(&self) -> TextReport {
        self.sentences.report()
    }

    /// How many of the raw bytes were read.
    pub fn progress(&self) -> &RawProgress {
        &self.progress
    }
}

impl Source for TextStream {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.sentences.read(sentence)
    }

    /// Only of a file: a pipe may take long to give as much, while there are sentences to learn.
    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.progress.length().and_then(|_| self.sentences.cut(max_bytes))
    }

    fn put_back(&mut self, passage: Passage) {
        self.sentences.put_back(passage);
    }
}

/// A text that ends before the position where reading was to continue.
pub(super) fn too_short(path: &Path, position: Position) -> Error {
    Error::text(path, TextError::TooShort { unit: "byte", position: position.offset })
}

#[cfg(feature = "codecs")]
#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::TempDir;

    use super::*;

    const TEXT: &str = "the first line\nthe second\n\nand the last";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// With a checksum, as the command line tool writes it.
    fn zstd(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Sentences up to the end or an error.
    fn read_all(mut stream: TextStream) -> (Vec<String>, Option<Error>) {
        let mut sentence = Sentence::default();
        let mut sentences = Vec::new();
        loop {
            match stream.read(&mut sentence) {
                Ok(Read::Sentence) => sentences.push(sentence.tokens().collect::<Vec<_>>().join(" ")),
                Ok(_) => return (sentences, None),
                Err(error) => return (sentences, Some(error)),
            }
        }
    }

    fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Lines of random-looking numbers, which stay long when they are compressed.
    fn long_text() -> String {
        (1..50_000u64).fold(String::new(), |text, number| {
            let end = if number % 9 == 0 { "\n" } else { " " };
            text + &(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).to_string() + end
        })
    }

    #[test]
    fn compression_is_told_by_the_bytes_and_not_by_the_name() {
        let folder = TempDir::new().unwrap();
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 9], &zstd(TEXT.as_bytes())[..]];
        let files = [TEXT.into(), gzip(TEXT.as_bytes()), zstd(TEXT.as_bytes()), skippable.concat()];
        for bytes in files {
            let path = write(&folder, "text.zip", &bytes);
            let (sentences, error) = read_all(open(&path, &TextOptions::default()).unwrap());
            assert!(error.is_none());
            assert_eq!(sentences, ["the first line", "the second", "and the last"]);

            let pipe = from_reader("<stdin>", Cursor::new(bytes), &TextOptions::default()).unwrap();
            assert_eq!(read_all(pipe).0, sentences);
        }
    }

    #[test]
    fn concatenated_members_and_frames_are_all_read() {
        for encode in [gzip, zstd] {
            let bytes = [encode(b"a b\nc "), encode(b""), encode(b"d\ne")].concat();
            let stream = from_reader("<stdin>", Cursor::new(bytes), &TextOptions::default());
            assert_eq!(read_all(stream.unwrap()).0, ["a b", "c d", "e"]);
        }
    }

    #[test]
    fn an_empty_file_has_no_sentences() {
        let folder = TempDir::new().unwrap();
        for bytes in [vec![], gzip(b""), zstd(b"")] {
            let path = write(&folder, "empty", &bytes);
            let (sentences, error) = read_all(open(&path, &TextOptions::default()).unwrap());
            assert!(sentences.is_empty() && error.is_none());
        }
    }

    #[test]
    fn truncated_input_is_an_error_after_all_that_came_before() {
        let folder = TempDir::new().unwrap();
        let text = long_text();
        let all: Vec<&str> = text.lines().collect();
        for bytes in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
            for keep in [5, 12, bytes.len() / 2, bytes.len() - 1] {
                let path = write(&folder, "cut", &bytes[..keep]);
                let (sentences, error) = read_all(open(&path, &TextOptions::default()).unwrap());
                let message = error.unwrap().to_string();
                assert!(message.contains("cut: the ") && message.contains("cut short"), "{message}");
                assert_eq!(sentences, all[..sentences.len()]);
                assert!(keep < bytes.len() / 2 || sentences.len() > all.len() / 4);
            }
        }
    }

    #[test]
    fn damaged_input_is_malformed() {
        let folder = TempDir::new().unwrap();
        let text = long_text();
        for mut bytes in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
            let middle = bytes.len() / 2;
            bytes[middle..middle + 64].fill(0xA5);
            let path = write(&folder, "damaged", &bytes);
            let (_, error) = read_all(open(&path, &TextOptions::default()).unwrap());
            assert!(
                matches!(error, Some(Error::Text { cause: TextError::Compressed { .. }, .. })),
                "{error:?}"
            );
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = open("/no/such/file", &TextOptions::default()).err().unwrap();
        assert!(error.to_string().starts_with("/no/such/file: "), "{error}");
    }

    #[test]
    fn a_directory_is_refused_and_named() {
        let folder = TempDir::new().unwrap();
        let error = open(folder.path(), &TextOptions::default()).err().unwrap();
        assert!(error.to_string().ends_with(": is a directory"), "{error}");
    }

    #[test]
    fn a_position_is_continued_in_plain_and_in_compressed_files() {
        let folder = TempDir::new().unwrap();
        for bytes in [TEXT.into(), gzip(TEXT.as_bytes()), zstd(TEXT.as_bytes())] {
            let path = write(&folder, "text", &bytes);
            let mut stream = open(&path, &TextOptions::default()).unwrap();
            assert!(stream.read(&mut Sentence::default()).unwrap().is_sentence());
            let rest = open_at(&path, stream.position(), &TextOptions::default(), &Layout::Text).unwrap();
            assert_eq!(read_all(rest).0, ["the second", "and the last"]);
            let end = open_at(&path, Position::at(TEXT.len() as u64), &TextOptions::default(), &Layout::Text)
                .unwrap();
            assert!(read_all(end).0.is_empty());

            let pipe = Cursor::new(bytes);
            let rest =
                from_reader_at("<stdin>", pipe, stream.position(), &TextOptions::default(), &Layout::Text);
            assert_eq!(read_all(rest.unwrap()).0, ["the second", "and the last"]);
        }
    }

    #[test]
    fn a_position_after_the_end_is_refused() {
        let folder = TempDir::new().unwrap();
        for bytes in [TEXT.into(), gzip(TEXT.as_bytes()), zstd(TEXT.as_bytes())] {
            let path = write(&folder, "text", &bytes);
            let after = TEXT.len() as u64 + 1;
            let error =
                open_at(&path, Position::at(after), &TextOptions::default(), &Layout::Text).err().unwrap();
            assert!(error.to_string().contains("ends before byte 40"), "{error}");
        }
    }

    #[test]
    fn progress_ends_at_the_raw_length() {
        let folder = TempDir::new().unwrap();
        let text = long_text();
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes()), zstd(text.as_bytes())] {
            let path = write(&folder, "text", &bytes);
            for position in [0, 1000] {
                let stream =
                    open_at(&path, Position::at(position), &TextOptions::default(), &Layout::Text).unwrap();
                let progress = stream.progress().clone();
                assert!(progress.bytes_read() < bytes.len() as u64);
                read_all(stream);
                assert_eq!(progress.bytes_read(), bytes.len() as u64);
                assert_eq!(progress.length(), Some(bytes.len() as u64));
            }
        }
    }
}

#[cfg(not(any(feature = "codecs", feature = "records")))]
#[cfg(test)]
mod without_features {
    use super::*;
    use crate::corpus::{BadRecords, RecordField};

    #[test]
    fn an_error_names_the_missing_feature() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, [0x1F, 0x8B, 8, 0, 0, 0, 0, 0]).unwrap();
        let message = |layout: &Layout| {
            open_at(&path, Position::default(), &TextOptions::default(), layout).err().unwrap().to_string()
        };
        assert!(message(&Layout::Text).contains("gzip needs the feature `codecs`"));
        std::fs::write(&path, "text").unwrap();
        for (format, missing) in [
            (RecordFormat::Jsonl, "jsonl needs the feature `records`"),
            (RecordFormat::Parquet, "parquet needs the feature `parquet`"),
        ] {
            let field = RecordField::new(format, "text");
            let message = message(&Layout::Records { field, bad_records: BadRecords::Error });
            assert!(message.contains(missing), "{message}");
        }
    }
}
