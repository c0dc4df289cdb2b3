//! Converts yskip's models.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use skipstream::Embeddings;
use skipstream::formats::{self, Format};

use super::contender::MIN_COUNT;

/// Converts a model (after a header, tab-separated lines of `word count target context`) to word2vec's text format:
/// target plus context, which is what the paper evaluates, most frequent words first. Rarer words are dropped, as by the
/// other programs.
pub fn convert(model: &Path, vectors: &Path) -> Result<()> {
    let bytes = fs::read(model)?;
    let text = String::from_utf8_lossy(&bytes);
    let (mut words, mut values) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate().skip(1) {
        let (word, count, vector) =
            parse(line).with_context(|| format!("{}: line {} is not a word", model.display(), index + 1))?;
        if count >= MIN_COUNT {
            words.push((word, count));
            values.extend(vector);
        }
    }
    let embeddings = Embeddings::new(values.len() / words.len().max(1), words, values)?;
    Ok(formats::save(&embeddings, Format::Word2vecText, vectors)?)
}

fn parse(line: &str) -> Option<(&str, u64, Vec<f32>)> {
    let mut fields = line.split('\t');
    let word = fields.next()?;
    let count = fields.next()?.parse().ok()?;
    let target = numbers(fields.next()?)?;
    let context = numbers(fields.next()?)?;
    let sum = target.iter().zip(&context).map(|(t, c)| t + c).collect();
    Some((word, count, sum))
}

fn numbers(field: &str) -> Option<Vec<f32>> {
    field.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_and_context_are_added_and_rare_words_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (model, vectors) = (folder.path().join("model"), folder.path().join("vectors"));
        let text = "3\t9\t2\nrare\t4\t1 1\t1 1\ncat\t5\t1 2\t0.5 1\ndog\t7\t0 1\t1 0\n";
        fs::write(&model, text).unwrap();
        convert(&model, &vectors).unwrap();
        let written = fs::read_to_string(&vectors).unwrap();
        assert_eq!(written, "2 2\ndog 1 1\ncat 1.5 3\n");
    }
}
