//! What a service has learned, compared with what it has acknowledged.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use skipstream::Trainer;

use crate::client::Sent;

/// The markers of all lines in the model on disk, in the order in which they were learned. A line that was learned twice is
/// an error.
pub fn learned_lines(data: &Path) -> Result<Vec<String>> {
    let trainer = Trainer::load(data.join("model.safetensors"), None)?;
    let vocabulary = trainer.vocabulary();
    ensure!(vocabulary.totals().evictions == 0, "a marker may have left the vocabulary");
    let mut markers: Vec<(u64, &str)> = Vec::new();
    for id in vocabulary.ids() {
        let word = vocabulary.word(id);
        if word.starts_with('c')
            && word.contains('r')
            && word.contains('l')
            && word.ends_with(|c: char| c.is_ascii_digit())
        {
            ensure!(vocabulary.count(id) == 1, "`{word}` was learned more than once");
            markers.push((vocabulary.first_token(id), word));
        }
    }
    markers.sort_unstable();
    Ok(markers.into_iter().map(|(_, word)| word.to_owned()).collect())
}

/// Checks that each acknowledged line was learned once, in order, under the number in the response. Returns the number of
/// lines.
pub fn check_acknowledged<'a>(sent: impl IntoIterator<Item = &'a Sent>, lines: &[String]) -> Result<usize> {
    let numbers: HashMap<&str, u64> = lines.iter().map(String::as_str).zip(1..).collect();
    ensure!(numbers.len() == lines.len(), "a line was learned twice");
    let mut acknowledged = 0;
    for request in sent {
        let number = |line: &String| {
            numbers.get(line.as_str()).copied().with_context(|| {
                format!("`{line}` (number {} to {}) was acknowledged and lost", request.first, request.last)
            })
        };
        let numbers: Vec<u64> = request.lines.iter().map(number).collect::<Result<_>>()?;
        ensure!(numbers.is_sorted(), "the lines of a request changed places");
        ensure!(
            (numbers.first(), numbers.last()) == (Some(&request.first), Some(&request.last)),
            "a line has another number than the answer said"
        );
        acknowledged += numbers.len();
    }
    Ok(acknowledged)
}
