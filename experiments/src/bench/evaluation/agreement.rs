//! Compares what skipstream and gensim found.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// gensim rounds cosines to 32 bits, which may swap the ranks of two pairs.
const SPEARMAN_TOLERANCE: f64 = 1e-6;

/// Compares every correlation and the correct answers of every section, and describes them; fails if they differ.
pub fn check(found: &Value, expected: &Value) -> Result<String> {
    let mut text = String::new();
    let sets = found["sets"].as_array().context("skipstream printed no sets")?;
    let (pairs, analogies): (Vec<&Value>, Vec<&Value>) =
        sets.iter().partition(|set| set["kind"] == "word-pairs");

    let expected_pairs = expected["pairs"].as_array().context("gensim's script printed no pairs")?;
    ensure!(pairs.len() == expected_pairs.len(), "the numbers of pair sets differ");
    for (ours, theirs) in pairs.iter().zip(expected_pairs) {
        let file = ours["file"].as_str().unwrap_or_default();
        let [ours, theirs] = [*ours, theirs].map(|score| score["spearman"].as_f64());
        let (ours, theirs) = ours.zip(theirs).with_context(|| format!("{file}: no correlation"))?;
        let difference = (ours - theirs).abs();
        ensure!(difference <= SPEARMAN_TOLERANCE, "{file}: Spearman is {ours}, gensim's {theirs}");
        writeln!(text, "{file}: Spearman {ours:.6}, gensim's differs by {difference:.1e}")?;
    }

    let expected_analogies =
        expected["analogies"].as_array().context("gensim's script printed no analogies")?;
    ensure!(analogies.len() == expected_analogies.len(), "the numbers of analogy sets differ");
    for (ours, theirs) in analogies.iter().zip(expected_analogies) {
        let file = ours["file"].as_str().unwrap_or_default();
        let sections = ours["sections"].as_array().with_context(|| format!("{file}: no sections"))?;
        let theirs = theirs.as_array().with_context(|| format!("{file}: gensim has no sections"))?;
        ensure!(sections.len() == theirs.len(), "{file}: the numbers of sections differ");
        for (ours, theirs) in sections.iter().zip(theirs) {
            let name = &ours["name"];
            let ours = (ours["score"]["add_correct"].as_u64(), ours["score"]["used"].as_u64());
            let used = theirs["correct"]
                .as_u64()
                .zip(theirs["incorrect"].as_u64())
                .map(|(right, wrong)| right + wrong);
            let theirs = (theirs["correct"].as_u64(), used);
            ensure!(ours == theirs, "{file}: {name}: (correct, used) is {ours:?}, gensim's {theirs:?}");
        }
        let total = &ours["total"];
        let n = sections.len();
        writeln!(
            text,
            "{file}: 3CosAdd {} of {}, gensim's the same in all {n} sections",
            total["add_correct"], total["used"]
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours(spearman: f64, correct: u64) -> Value {
        json!({"sets": [
            {"kind": "word-pairs", "file": "p", "spearman": spearman},
            {"kind": "analogies", "file": "a", "total": {"add_correct": correct, "used": 3},
             "sections": [{"name": "s", "score": {"add_correct": correct, "used": 3}}]},
        ]})
    }

    #[test]
    fn every_difference_is_found() {
        let gensim = json!({"pairs": [{"spearman": 0.5}], "analogies": [[{"correct": 2, "incorrect": 1}]]});
        assert!(check(&ours(0.5 + 1e-7, 2), &gensim).unwrap().contains("3CosAdd 2 of 3"));
        assert!(check(&ours(0.50001, 2), &gensim).unwrap_err().to_string().contains("Spearman is"));
        assert!(check(&ours(0.5, 1), &gensim).unwrap_err().to_string().contains("(correct, used)"));
        assert!(check(&json!({"sets": []}), &gensim).is_err());
    }
}
