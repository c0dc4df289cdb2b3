//! Splits a text into days: files with about the same number of words, in the order of the text.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use xtask::text::{TextWriter, each_line, open, words};

/// One day's text.
pub struct Day {
    pub path: PathBuf,
    pub n_words: u64,
}

/// Splits `text` into at most `n_days` files in `folder`. A day may end inside a line, so a text without line ends can
/// be split too.
pub fn cut(text: &Path, n_days: u64, folder: &Path) -> Result<Vec<Day>> {
    let n_words = count(text)?;
    ensure!(n_words > 0, "{} has no words", text.display());
    let words_a_day = n_words.div_ceil(n_days);

    let mut days = Vec::new();
    let mut today = Writing::start(folder, 1)?;
    each_line(open(text)?, |line| {
        for word in words(line) {
            if today.text.n_words() == words_a_day {
                let tomorrow = Writing::start(folder, days.len() + 2)?;
                days.push(std::mem::replace(&mut today, tomorrow).finish()?);
            }
            today.text.word(word)?;
        }
        Ok(today.text.end_line()?)
    })?;
    days.push(today.finish()?);
    Ok(days)
}

fn count(text: &Path) -> Result<u64> {
    let mut n_words = 0;
    each_line(open(text)?, |line| {
        n_words += words(line).count() as u64;
        Ok(())
    })?;
    Ok(n_words)
}

/// The day being written.
struct Writing {
    path: PathBuf,
    text: TextWriter,
}

impl Writing {
    fn start(folder: &Path, number: usize) -> Result<Self> {
        let path = folder.join(format!("day-{number:03}.txt"));
        let text = TextWriter::create(&path)?;
        Ok(Self { path, text })
    }

    fn finish(self) -> Result<Day> {
        let n_words = self.text.n_words();
        self.text.finish()?;
        Ok(Day { path: self.path, n_words })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn days_of(text: &str, n_days: u64) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, text).unwrap();
        let days = cut(&path, n_days, &folder.path().join("days")).unwrap();
        days.iter().map(|day| fs::read_to_string(&day.path).unwrap()).collect()
    }

    #[test]
    fn days_follow_the_text() {
        assert_eq!(days_of("a b\nc\nd e f\n", 2), ["a b\nc\n", "d e f\n"]);
    }

    #[test]
    fn a_text_without_line_ends_is_divided() {
        assert_eq!(days_of("a b c d e", 2), ["a b c\n", "d e\n"]);
    }

    #[test]
    fn there_are_no_days_without_words() {
        assert_eq!(days_of("a\nb\n", 10), ["a\n", "b\n"]);
    }

    #[test]
    fn an_empty_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, " \n").unwrap();
        assert!(cut(&path, 2, &folder.path().join("days")).is_err());
    }
}
