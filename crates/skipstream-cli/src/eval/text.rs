//! The evaluation report as text.

use indicatif::HumanCount;
use skipstream::eval::{AnalogyScore, AnalogyScores, Case, Interval, PairScore, Score};

use super::report::{Report, Scored};
use crate::table::Table;

/// A table for word pairs and one for analogies; for two models, a table per measure.
pub fn text(report: &Report) -> String {
    let case = match report.case {
        Case::Ignore => "case ignored",
        Case::Keep => "case kept",
        Case::Lower => "questions in lower case",
    };
    let mut title = format!("{}: {} words, {case}\n", report.model, count(report.words));
    let tables = match &report.common_vocabulary {
        None => vec![pairs(report), analogies(report)],
        Some(other) => {
            title += &format!("compared with {other}, on the questions both can answer\n");
            vec![
                side_by_side("word pairs, Spearman", 1.0, &correlations(report)),
                side_by_side("analogies, 3CosAdd, %", 100.0, &accuracies(report, Rule::Add)),
                side_by_side("analogies, 3CosMul, %", 100.0, &accuracies(report, Rule::Multiply)),
            ]
        }
    };
    [Some(title)].into_iter().chain(tables).flatten().collect::<Vec<_>>().join("\n")
}

fn pairs(report: &Report) -> Option<String> {
    let rows: Vec<(&Scored, &PairScore)> =
        report.sets.iter().filter_map(|scored| Some((scored, pair_score(&scored.score)?))).collect();
    let mut table = Table::new(["word pairs", "Spearman", "95% interval", "Pearson", "used", "of"]);
    for (scored, score) in &rows {
        table.row([
            scored.file.clone(),
            number(score.spearman, 1.0),
            interval(score.spearman_interval, 1.0),
            number(score.pearson, 1.0),
            count(score.used),
            count(score.total),
        ]);
    }
    if rows.len() > 1 {
        table.row(["mean".to_owned(), number(report.totals.mean_spearman, 1.0)]);
    }
    (!rows.is_empty()).then(|| table.text())
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
        let Some(scores) = analogy_scores(&scored.score) else { continue };
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
    first: Option<f64>,
    second: Option<f64>,
    /// Confidence interval of the difference.
    interval: Option<Interval>,
    /// Questions used, and in total.
    questions: Option<[usize; 2]>,
}

#[derive(Clone, Copy)]
enum Rule {
    Add,
    Multiply,
}

impl Rule {
    fn accuracy(self, score: &AnalogyScore) -> Option<f64> {
        match self {
            Rule::Add => score.add_accuracy(),
            Rule::Multiply => score.multiply_accuracy(),
        }
    }

    fn measure(self) -> &'static str {
        match self {
            Rule::Add => "add_accuracy",
            Rule::Multiply => "multiply_accuracy",
        }
    }
}

fn correlations(report: &Report) -> Vec<Line> {
    let mut lines = Vec::new();
    for scored in &report.sets {
        let (Some(first), Some(second)) = (pair_score(&scored.score), scored.other().and_then(pair_score))
        else {
            continue;
        };
        lines.push(Line {
            name: scored.file.clone(),
            first: first.spearman,
            second: second.spearman,
            interval: interval_of(scored, "spearman"),
            questions: Some([first.used, first.total]),
        });
    }
    if lines.len() > 1 {
        lines.push(Line {
            name: "mean".to_owned(),
            first: report.totals.mean_spearman,
            second: report.other_totals.as_ref().and_then(|totals| totals.mean_spearman),
            interval: None,
            questions: None,
        });
    }
    lines
}

fn accuracies(report: &Report, rule: Rule) -> Vec<Line> {
    let line = |name: &str, first: &AnalogyScore, second: &AnalogyScore, interval| Line {
        name: name.to_owned(),
        first: rule.accuracy(first),
        second: rule.accuracy(second),
        interval,
        questions: Some([first.used, first.total]),
    };
    let mut lines = Vec::new();
    let mut n_sets = 0;
    for scored in &report.sets {
        let scores = (analogy_scores(&scored.score), scored.other().and_then(analogy_scores));
        let (Some(first), Some(second)) = scores else { continue };
        n_sets += 1;
        lines.push(line(&scored.file, &first.total, &second.total, interval_of(scored, rule.measure())));
        let both = parts(first).into_iter().zip(parts(second));
        lines.extend(both.map(|((name, first), (_, second))| line(&name, &first, &second, None)));
    }
    let totals = (report.totals.analogies, report.other_totals.as_ref().and_then(|totals| totals.analogies));
    if let (true, (Some(first), Some(second))) = (n_sets > 1, totals) {
        lines.push(line("all analogies", &first, &second, None));
    }
    lines
}

fn side_by_side(title: &str, scale: f64, lines: &[Line]) -> Option<String> {
    let mut table = Table::new([title, "first", "second", "difference", "95% interval", "used", "of"]);
    for Line { name, first, second, interval, questions } in lines {
        let difference = first.zip(*second).map(|(first, second)| scale * (first - second));
        let mut cells = vec![
            name.clone(),
            number(*first, scale),
            number(*second, scale),
            difference.map_or("–".to_owned(), |difference| {
                format!("{difference:+.decimals$}", decimals = decimals(scale))
            }),
            self::interval(*interval, scale),
        ];
        cells.extend(questions.iter().flatten().map(|&n| count(n)));
        table.row(cells);
    }
    (!lines.is_empty()).then(|| table.text())
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

fn pair_score(score: &Score) -> Option<&PairScore> {
    match score {
        Score::WordPairs(score) => Some(score),
        Score::Analogies(_) => None,
    }
}

fn analogy_scores(score: &Score) -> Option<&AnalogyScores> {
    match score {
        Score::Analogies(scores) => Some(scores),
        Score::WordPairs(_) => None,
    }
}

/// The confidence interval of the difference between two models.
fn interval_of(scored: &Scored, measure: &str) -> Option<Interval> {
    let differences = &scored.beside.as_ref()?.differences;
    differences.iter().find(|difference| difference.measure == measure)?.interval
}

fn number(value: Option<f64>, scale: f64) -> String {
    value
        .map_or("–".to_owned(), |value| format!("{:.decimals$}", scale * value, decimals = decimals(scale)))
}

fn interval(interval: Option<Interval>, scale: f64) -> String {
    let decimals = decimals(scale);
    interval.map_or(String::new(), |Interval { low, high }| {
        format!("{:.decimals$} to {:.decimals$}", scale * low, scale * high)
    })
}

/// Enough to tell models apart: 0.01 % is two of Google's questions.
fn decimals(scale: f64) -> usize {
    if scale == 1.0 { 4 } else { 2 }
}

fn count(n: usize) -> String {
    HumanCount(n as u64).to_string()
}
