//! Excerpts of texts, uncompressed, as every program can read them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::{Corpus, Data, addresses};
use crate::record::{Source, work_folder};
use xtask::text::{TextWriter, each_line, open, words};

/// An uncompressed text file, with lines that no program truncates.
pub struct Text {
    pub path: PathBuf,
    pub source: Source,
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
