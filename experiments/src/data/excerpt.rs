//! Excerpts of texts, uncompressed, as every program can read them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::{Corpus, Data, addresses};
use crate::record::{Source, work_folder};
use xtask::text::{TextWriter, each_line, open, words};

/// An uncompressed text file, with lines that no program truncates.
pub struct Text {
    pub path: PathBuf,
    pub source: Source,
}

impl Text {
    /// Writes the text starting at another line for each seed, for programs that take no seed. Seeds start at 1; the first
    /// has the text as it is.
    pub fn rotated(&self, seed: u32, n_seeds: u32) -> Result<PathBuf> {
        let path = self.path.with_extension(format!("seed-{seed}.txt"));
        let content =
            fs::read(&self.path).with_context(|| format!("could not read {}", self.path.display()))?;
        let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
        let start = (seed as usize - 1) * lines.len() / n_seeds as usize;
        fs::write(&path, rotate(&lines, start).concat())
            .with_context(|| format!("could not write {}", path.display()))?;
        Ok(path)
    }
}

fn rotate<'a>(lines: &[&'a [u8]], start: usize) -> Vec<&'a [u8]> {
    [&lines[start..], &lines[..start]].concat()
}

impl Data {
    /// Writes the first `n_words` words of a text, uncompressed. The addresses are written as sentences without dates, in
    /// the alphabet of the other texts.
    pub fn plain_text(&self, corpus: Corpus, n_words: u64) -> Result<Text> {
        let name = format!("{}, {n_words} words", corpus.name());
        let path = work_folder()?.join("texts").join(name.replace(", ", "-").replace(' ', "-") + ".txt");
        let mut writer = TextWriter::create(&path)?;
        let mut write = |line: &[u8]| {
            for word in words(line).take((n_words - writer.n_words()) as usize) {
                writer.word(word)?;
            }
            Ok(writer.end_line()?)
        };
        each_line(open(&self.corpus(corpus)?)?, |line| match corpus {
            Corpus::Sotu => addresses::each_sentence(line, &mut write),
            _ => write(line),
        })?;
        let n_words = writer.n_words();
        ensure!(n_words > 0, "{name} has no words");
        writer.finish()?;
        let bytes = fs::read(&path)?;
        let source = Source {
            name,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
            bytes: bytes.len() as u64,
            lines: bytes.iter().filter(|&&byte| byte == b'\n').count() as u64,
            words: n_words,
        };
        Ok(Text { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_text_has_the_same_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        fs::write(&path, "a\nb\nc\n").unwrap();
        let source = Source { name: String::new(), blake3: String::new(), bytes: 6, lines: 3, words: 3 };
        let text = Text { path, source };
        let rotated = |seed| fs::read_to_string(text.rotated(seed, 3).unwrap()).unwrap();
        assert_eq!((rotated(1), rotated(3)), ("a\nb\nc\n".into(), "c\na\nb\n".into()));
    }
}
