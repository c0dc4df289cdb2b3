//! The evaluation report as text.

use skipstream::eval::{AnalogyScore, AnalogyScores, Case, Interval, Score};

use super::{Report, Scored};
use crate::output::count;
use crate::table::Table;

/// A table for word pairs and one for analogies; for two models, a table per measure.
pub fn text(report: &Report) -> String {
    let case = match report.case {
        Case::Ignore => "case ignored",
        Case::Keep => "case kept",
        Case::Lower => "questions in lower case",
    };
    let mut title = format!("{}: {} words, {case}\n", report.model, count(report.words));
    if report.subwords.is_some() {
        title += "unknown words are estimated from their subwords, rare ones blended with the estimate\n";
    }
    let tables = match &report.common_vocabulary {
        None => vec![pairs(report), analogies(report)],
        Some(other) => {
            title += &format!("compared with {other}, on the questions both can answer\n");
            let accuracies = |rule, measure, accuracy: fn(&AnalogyScore) -> Option<f64>| {
                let lines = accuracies(report, measure, accuracy);
                side_by_side(&format!("analogies, {rule}, %"), 100.0, lines)
            };
            vec![
                side_by_side("word pairs, Spearman", 1.0, correlations(report)),
                accuracies("3CosAdd", "add_accuracy", AnalogyScore::add_accuracy),
                accuracies("3CosMul", "multiply_accuracy", AnalogyScore::multiply_accuracy),
            ]
        }
    };
    [Some(title)].into_iter().chain(tables).flatten().collect::<Vec<_>>().join("\n")
}

fn pairs(report: &Report) -> Option<String> {
    let mut table = Table::new(["word pairs", "Spearman", "95% interval", "Pearson", "used", "of"]);
    let mut n_sets = 0;
    for scored in &report.sets {
        let Score::WordPairs(score) = &scored.score else { continue };
        n_sets += 1;
        table.row([
            scored.file.clone(),
            number(score.spearman, 1.0),
            interval(score.spearman_interval, 1.0),
            number(score.pearson, 1.0),
            count(score.used),
            count(score.total),
        ]);
    }
    if n_sets > 1 {
        table.row(["mean".to_owned(), number(report.totals.mean_spearman, 1.0)]);
    }
    (n_sets > 0).then(|| table.text())
}

fn analogies(report: &Report) -> Option<String> {
    let headings = ["analogies, %", "3CosAdd", "95% interval", "3CosMul", "95% interval", "used", "of"];
    let mut table = Table::new(headings);
    let mut row = |name: &str, score: &AnalogyScore| {
        table.row([
            name.to_owned(),
            number(score.add_accuracy(), 100.0),
            interval(score.add_interval(), 100.0),
            number(score.multiply_accuracy(), 100.0),
            interval(score.multiply_interval(), 100.0),
            count(score.used),
            count(score.total),
        ]);
    };
    let mut n_sets = 0;
    for scored in &report.sets {
        let Score::Analogies(scores) = &scored.score else { continue };
        n_sets += 1;
        row(&scored.file, &scores.total);
        parts(scores).iter().for_each(|(name, score)| row(name, score));
    }
    if let Some(total) = report.totals.analogies.filter(|_| n_sets > 1) {
        row("all analogies", &total);
    }
    (n_sets > 0).then(|| table.text())
}

/// One measure for two models.
struct Line {
    name: String,
    values: [Option<f64>; 2],
    /// Confidence interval of the difference.
    interval: Option<Interval>,
    /// Questions used, and in total.
    questions: Option<[usize; 2]>,
}

fn correlations(report: &Report) -> Vec<Line> {
    let of_set = |scored: &Scored| match (&scored.score, &scored.other) {
        (Score::WordPairs(first), Some(Score::WordPairs(second))) => Some(Line {
            name: scored.file.clone(),
            values: [first.spearman, second.spearman],
            interval: interval_of(scored, "spearman"),
            questions: Some([first.used, first.total]),
        }),
        _ => None,
    };
    let mut lines: Vec<Line> = report.sets.iter().filter_map(of_set).collect();
    if lines.len() > 1 {
        let other = report.other_totals.as_ref().and_then(|totals| totals.mean_spearman);
        let values = [report.totals.mean_spearman, other];
        lines.push(Line { name: "mean".to_owned(), values, interval: None, questions: None });
    }
    lines
}

fn accuracies(report: &Report, measure: &str, accuracy: fn(&AnalogyScore) -> Option<f64>) -> Vec<Line> {
    let line = |name: &str, first: &AnalogyScore, second: &AnalogyScore, interval| Line {
        name: name.to_owned(),
        values: [accuracy(first), accuracy(second)],
        interval,
        questions: Some([first.used, first.total]),
    };
    let mut lines = Vec::new();
    let mut n_sets = 0;
    for scored in &report.sets {
        let (Score::Analogies(first), Some(Score::Analogies(second))) = (&scored.score, &scored.other) else {
            continue;
        };
        n_sets += 1;
        lines.push(line(&scored.file, &first.total, &second.total, interval_of(scored, measure)));
        let both = parts(first).into_iter().zip(parts(second));
        lines.extend(both.map(|((name, first), (_, second))| line(&name, &first, &second, None)));
    }
    let totals = (report.totals.analogies, report.other_totals.as_ref().and_then(|totals| totals.analogies));
    if let (true, (Some(first), Some(second))) = (n_sets > 1, totals) {
        lines.push(line("all analogies", &first, &second, None));
    }
    lines
}

fn side_by_side(title: &str, scale: f64, lines: Vec<Line>) -> Option<String> {
    let mut table = Table::new([title, "first", "second", "difference", "95% interval", "used", "of"]);
    let is_empty = lines.is_empty();
    for Line { name, values: [first, second], interval: between, questions } in lines {
        let difference = first.zip(second).map(|(first, second)| first - second);
        let sign = if difference.is_some_and(|difference| difference >= 0.0) { "+" } else { "" };
        let difference = sign.to_owned() + &number(difference, scale);
        let cells = [name, number(first, scale), number(second, scale), difference, interval(between, scale)];
        table.row(cells.into_iter().chain(questions.into_iter().flatten().map(count)));
    }
    (!is_empty).then(|| table.text())
}

/// The sections of a set, then the semantic and syntactic totals, indented.
fn parts(scores: &AnalogyScores) -> Vec<(String, AnalogyScore)> {
    let sections = scores.sections.iter().map(|section| match section.name.as_str() {
        "" => ("  (no section)".to_owned(), section.score),
        name => (format!("  {name}"), section.score),
    });
    let sums = [("  semantic".to_owned(), scores.semantic), ("  syntactic".to_owned(), scores.syntactic)];
    sections.chain(sums).collect()
}

/// The confidence interval of the difference between two models.
fn interval_of(scored: &Scored, measure: &str) -> Option<Interval> {
    let differences = scored.differences.as_ref()?;
    differences.iter().find(|difference| difference.measure == measure)?.interval
}

fn number(value: Option<f64>, scale: f64) -> String {
    value.map_or("–".to_owned(), |value| format!("{:.*}", decimals(scale), scale * value))
}

fn interval(interval: Option<Interval>, scale: f64) -> String {
    let number = |value| number(Some(value), scale);
    interval.map_or(String::new(), |Interval { low, high }| format!("{} to {}", number(low), number(high)))
}

/// Enough to tell models apart: 0.01 % is two of Google's questions.
fn decimals(scale: f64) -> usize {
    if scale == 1.0 { 4 } else { 2 }
}
