//! A self-contained HTML page with a plot and tables.

mod plot;

use std::fmt::Write as _;

use skipstream::eval::Others;

use super::text::known;
use super::{Report, warnings};
use crate::output::count;

const STYLE: &str = include_str!("style.css");

pub fn page(report: &Report) -> String {
    let title = format!("{} → {}", escape(&report.old), escape(&report.new));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>What changed: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>What changed</h1>\n<p class=\"files\">{title}</p>\n{summary}{plot}{moved}\
         <div class=\"columns\">\n{came}{left}</div>\n{notes}</main>\n</body>\n</html>\n",
        summary = summary(report),
        plot = plot::figure(&report.drift),
        moved = moved(report),
        came = others("Words that arrived", &report.drift.came),
        left = others("Words that left", &report.drift.left),
        notes = notes(report),
    )
}

/// Escapes text for elements and attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // Not allowed in HTML, not even escaped.
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn summary(report: &Report) -> String {
    let drift = &report.drift;
    let percent =
        |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let cosine = |cosine: Option<f64>| cosine.map_or("–".to_owned(), |cosine| format!("{cosine:.3}"));
    let facts = [
        ("words that moved", count(drift.above_floor)),
        ("words that arrived", count(drift.came.total)),
        ("words that left", count(drift.left.total)),
        ("words in both", count(drift.shared)),
        ("median cosine", cosine(drift.cosine)),
        ("unchanged neighbors", percent(drift.typical_overlap)),
    ];
    let mut html = "<dl class=\"facts\">\n".to_owned();
    for (name, value) in facts {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    html += "</dl>\n";
    for warning in warnings(drift) {
        let _ = writeln!(html, "<p><strong>Warning:</strong> {}.</p>", escape(&warning));
    }
    html
}

fn moved(report: &Report) -> String {
    let drift = &report.drift;
    if drift.moved.is_empty() {
        return "<h2>Words that moved most</h2>\n<p>No word moved.</p>\n".to_owned();
    }
    let mut html = "<h2 id=\"moved\">Words that moved most</h2>\n<div class=\"scroll\">\n<table aria-labelledby=\"moved\">\n\
        <thead><tr><th scope=\"col\">word</th><th scope=\"col\">cosine</th><th scope=\"col\">deviations</th>\
        <th scope=\"col\">same neighbors</th><th scope=\"col\">old count</th><th scope=\"col\">new count</th>\
        <th scope=\"col\">nearest before</th><th scope=\"col\">nearest after</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for moved in &drift.moved {
        let movement = &moved.movement;
        let class = if movement.above_floor { " class=\"above\"" } else { "" };
        let _ = writeln!(
            html,
            "<tr{class}><th scope=\"row\">{}</th><td>{:.3}</td><td>{:+.1}</td><td>{:.0} %</td><td>{}</td><td>{}</td>\
             <td class=\"words\">{}</td><td class=\"words\">{}</td></tr>",
            escape(&movement.word),
            movement.cosine,
            movement.surprise,
            100.0 * moved.overlap,
            known(movement.old_count),
            known(movement.new_count),
            neighbors(&moved.neighbors_before, &moved.neighbors_after),
            neighbors(&moved.neighbors_after, &moved.neighbors_before),
        );
    }
    html + "</tbody>\n</table>\n</div>\n"
}

/// Words, with those missing from the other list emphasized.
fn neighbors(words: &[String], others: &[String]) -> String {
    let mark = |word: &String| match others.contains(word) {
        true => escape(word),
        false => format!("<em>{}</em>", escape(word)),
    };
    words.iter().map(mark).collect::<Vec<_>>().join(", ")
}

fn others(title: &str, others: &Others) -> String {
    let mut html = format!("<section>\n<h2>{title} ({})</h2>\n", count(others.total));
    if others.words.is_empty() {
        return html + "<p>None.</p>\n</section>\n";
    }
    html +=
        "<table>\n<thead><tr><th scope=\"col\">word</th><th scope=\"col\">count</th></tr></thead>\n<tbody>\n";
    for (word, n) in &others.words {
        let _ = writeln!(html, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(word), known(*n));
    }
    html += "</tbody>\n</table>\n";
    if others.total > others.words.len() {
        let _ = writeln!(html, "<p>The {} most frequent of them.</p>", count(others.words.len()));
    }
    html + "</section>\n"
}

fn notes(report: &Report) -> String {
    let drift = &report.drift;
    format!(
        "<h2>How to read this</h2>\n\
         <p>The {considered} most frequent of {shared} shared words were compared, after removing the rotation common to all \
         words (median cosine before: {before}, after: {after}). A word’s distance is 1 − the cosine between its old and its \
         new vector. Vectors also move by chance, rare words farther. The noise floor is estimated from words of the same \
         frequency, by the median and the median absolute deviation of their distances. A word is above it if it moved by more \
         than {deviations:.1} such deviations, about the most that chance produces for any of this many words, also when \
         distances are multiplied by the lengths of the vectors, because training turns short vectors farther. \
         {frequency}</p>\n",
        shared = count(drift.shared),
        considered = count(drift.considered),
        before = drift.cosine_before_rotation.map_or("–".to_owned(), |cosine| format!("{cosine:.3}")),
        after = drift.cosine.map_or("–".to_owned(), |cosine| format!("{cosine:.3}")),
        deviations = drift.floor_deviations,
        frequency = match drift.min_count {
            Some(_) => "Counts are the smaller of the two.",
            None => "Neither file has counts, so file order is taken as frequency order.",
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_word_holds_is_markup() {
        assert_eq!(escape("<script>&\"'\u{1}"), "&lt;script&gt;&amp;&quot;&#39;\u{fffd}");
    }
}
