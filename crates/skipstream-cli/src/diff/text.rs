//! The drift report as text.

use skipstream::eval::{DriftWarning, Others};

use super::{Report, warnings};
use crate::output::count;
use crate::table::Table;

/// Neighbors listed per word.
const NAMED: usize = 4;

/// A summary, then the words that moved, arrived and left.
pub fn text(report: &Report) -> String {
    let mut parts = vec![summary(report)];
    if !report.drift.moved.is_empty() {
        parts.push(moved(report));
    } else if !report.drift.warnings.contains(&DriftWarning::TooLittleText) {
        parts.push("No word moved.\n".to_owned());
    }
    parts.push(others("arrived", &report.drift.came));
    parts.push(others("left", &report.drift.left));
    parts.join("\n")
}

fn summary(report: &Report) -> String {
    let drift = &report.drift;
    let mut text = format!(
        "old       {}: {} words\nnew       {}: {} words\nshared    {} words, {} compared\n",
        report.old,
        count(drift.old_words),
        report.new,
        count(drift.new_words),
        count(drift.shared),
        count(drift.considered)
    );
    if drift.min_count.is_none() {
        text += "counts    none in either file; no word is excluded as rare, and file order is taken as frequency order\n";
    }
    if let (Some(before), Some(after)) = (drift.cosine_before_rotation, drift.cosine) {
        text += &format!(
            "stayed    median cosine {after:.4} ({before:.4} before removing the common rotation)\n"
        );
    }
    if let Some(overlap) = drift.typical_overlap {
        text += &format!("neighbors {:.0} % of a word's nearest words stay the same\n", 100.0 * overlap);
    }
    let (above, deviations) = (count(drift.above_floor), drift.floor_deviations);
    text += &format!(
        "moved     {above} above the noise floor of {deviations:.1} deviations for words of the same frequency\n"
    );
    text + &warnings(drift).map(|warning| format!("warning   {warning}\n")).collect::<String>()
}

fn moved(report: &Report) -> String {
    let mut table = Table::new([
        "moved most",
        "cosine",
        "deviations",
        "same",
        "old count",
        "new count",
        "nearest before → after",
    ]);
    for moved in &report.drift.moved {
        let movement = &moved.movement;
        let mark = if movement.above_floor { "*" } else { " " };
        let names = |words: &[String]| words.iter().take(NAMED).cloned().collect::<Vec<_>>().join(" ");
        table.row([
            format!("{mark} {}", movement.word),
            format!("{:.4}", movement.cosine),
            format!("{:+.1}", movement.surprise),
            format!("{:.0} %", 100.0 * moved.overlap),
            known(movement.old_count),
            known(movement.new_count),
            format!("{} → {}", names(&moved.neighbors_before), names(&moved.neighbors_after)),
        ]);
    }
    let legend = if report.drift.above_floor > 0 { "* above the noise floor\n" } else { "" };
    table.text() + legend
}

fn others(what: &str, others: &Others) -> String {
    let mut text = format!("{what:<9} {} words", count(others.total));
    let name = |(word, n): &(String, Option<u64>)| match n {
        Some(n) => format!("{word} ({})", count(*n)),
        None => word.clone(),
    };
    let words: Vec<String> = others.words.iter().map(name).collect();
    if !words.is_empty() {
        let more = if others.total > words.len() { ", …" } else { "" };
        text += &format!(": {}{more}", words.join(", "));
    }
    text + "\n"
}

/// A count, or a dash if unknown.
pub fn known(n: Option<u64>) -> String {
    n.map_or("–".to_owned(), count)
}
