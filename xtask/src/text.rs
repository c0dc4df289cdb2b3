//! Text files: read with any compression, written in lines of bounded length.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;

/// The longest line we write. No compared program truncates lines of this length.
pub const WORDS_A_LINE: usize = 1000;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Opens a plain, gzip or zstd file, detected by its first bytes.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let context = || format!("could not read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(context)?);
    let start = file.fill_buf().with_context(context)?;
    Ok(if start.starts_with(GZIP) {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else if start.starts_with(ZSTD) {
        let decoder = zstd::Decoder::with_buffer(file).with_context(context)?;
        Box::new(BufReader::new(decoder))
    } else {
        Box::new(file)
    })
}

/// Whether [`open`] would have to decompress the file.
pub fn is_compressed(path: &Path) -> Result<bool> {
    let context = || format!("could not read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(context)?);
    let start = file.fill_buf().with_context(context)?;
    Ok(start.starts_with(GZIP) || start.starts_with(ZSTD))
}

/// Calls a function with each line.
pub fn each_line(mut text: impl BufRead, mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut bytes = Vec::new();
    while text.read_until(b'\n', &mut bytes)? > 0 {
        line(&bytes)?;
        bytes.clear();
    }
    Ok(())
}

/// The words of a line, separated by white space.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A number with commas between the thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a text, in lines of at most [`WORDS_A_LINE`] words.
pub struct TextWriter {
    path: PathBuf,
    file: BufWriter<File>,
    words_in_line: usize,
    n_words: u64,
}

impl TextWriter {
    /// Starts a text that [`TextWriter::finish`] moves to `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .with_context(|| format!("could not create the folder {}", folder.display()))?;
        let partial = partial(path);
        let file =
            File::create(&partial).with_context(|| format!("could not write {}", partial.display()))?;
        Ok(Self { path: path.into(), file: BufWriter::new(file), words_in_line: 0, n_words: 0 })
    }

    /// Writes a word.
    pub fn word(&mut self, word: &[u8]) -> io::Result<()> {
        if self.words_in_line == WORDS_A_LINE {
            self.end_line()?;
        }
        if self.words_in_line > 0 {
            self.file.write_all(b" ")?;
        }
        self.file.write_all(word)?;
        self.words_in_line += 1;
        self.n_words += 1;
        Ok(())
    }

    /// Ends a line, unless it is empty.
    pub fn end_line(&mut self) -> io::Result<()> {
        if self.words_in_line > 0 {
            self.file.write_all(b"\n")?;
            self.words_in_line = 0;
        }
        Ok(())
    }

    /// The number of words so far.
    pub fn n_words(&self) -> u64 {
        self.n_words
    }

    /// Moves the finished text to its path; an interrupted one leaves only a `.partial` file.
    pub fn finish(mut self) -> Result<()> {
        self.end_line()?;
        self.file.flush()?;
        fs::rename(partial(&self.path), &self.path)
            .with_context(|| format!("could not write {}", self.path.display()))
    }
}

fn partial(path: &Path) -> PathBuf {
    path.with_extension("partial")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_short_ones_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let mut text = TextWriter::create(&path).unwrap();
        for _ in 0..WORDS_A_LINE + 1 {
            text.word(b"a").unwrap();
        }
        text.end_line().unwrap();
        text.end_line().unwrap();
        text.word(b"b").unwrap();
        assert_eq!(text.n_words(), WORDS_A_LINE as u64 + 2);
        text.finish().unwrap();

        let written = fs::read_to_string(&path).unwrap();
        let lengths: Vec<_> = written.lines().map(|line| line.split(" ").count()).collect();
        assert_eq!(lengths, [WORDS_A_LINE, 1, 1]);
    }

    #[test]
    fn thousands_are_grouped() {
        let grouped = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn compression_is_seen_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let plain = b"one two\nthree\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(plain).unwrap();
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        for bytes in [plain.to_vec(), gzip.finish().unwrap(), zstd] {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(is_compressed(&path).unwrap(), bytes != plain);
            let mut seen = Vec::new();
            each_line(open(&path).unwrap(), |line| {
                seen.extend(words(line).map(<[u8]>::to_vec));
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, [&b"one"[..], b"two", b"three"]);
        }
    }
}
