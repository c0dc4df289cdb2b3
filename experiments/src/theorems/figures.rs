//! The figures of the report.

use std::path::Path;

use anyhow::Result;

use super::BATCHES;
use super::datasets::Kind;
use super::difference::{EXPONENTS, PAIRS};
use super::results::{Case, ENOUGH, Estimate, LogFit, Results};
use crate::plot::{Axis, Chart, Marks, Point, Scale, Series, Shape};

/// The kinds that the paper's figure is about: its own, and the one that its theorem is about.
const PAPER: [(Kind, Shape); 2] = [(Kind::Sentences, Shape::Cross), (Kind::Independent, Shape::Square)];

/// File names, which the text refers to.
pub const ORDERS: &str = "orders.svg";
pub const ORDERS_SECOND: &str = "orders-second.svg";
pub const BATCH_SIZES: &str = "batches.svg";

/// The file of a moment's figure.
pub fn moment_file(moment: &str, exponent: f64) -> String {
    format!("{moment}-{exponent}.svg")
}

/// Draws all figures.
pub fn draw(results: &Results, folder: &Path) -> Result<()> {
    for exponent in EXPONENTS {
        first_moment(results, exponent).save(&folder.join(moment_file("first", exponent)))?;
        second_moment(results, exponent).save(&folder.join(moment_file("second", exponent)))?;
    }
    batches(results).save(&folder.join(BATCH_SIZES))?;
    orders(results).save(&folder.join(ORDERS))?;
    orders_second(results).save(&folder.join(ORDERS_SECOND))
}

fn first_moment(results: &Results, exponent: f64) -> Chart {
    let independent = results.cases(Kind::Independent, exponent, 1);
    // A first moment may be negative, which a logarithmic axis cannot show.
    let sign = independent.last().and_then(|case| case.theory.first).map_or(1.0, f64::signum);
    let mut series: Vec<Series> = PAPER
        .iter()
        .map(|&(kind, shape)| Series {
            label: name(kind).into(),
            marks: Marks::Points(shape),
            points: points(&results.cases(kind, exponent, 1), |case| Some(case.first().over(sign))),
        })
        .collect();
    let theory = |label: &str, marks: Marks, value: &dyn Fn(&Case) -> Option<f64>| Series {
        label: label.into(),
        marks,
        points: points(&independent, |case| {
            value(case).map(|value| Estimate { value: sign * value, error: 0.0 })
        }),
    };
    let is_one = exponent == 1.0;
    let label = if is_one { "Theorem 1" } else { "theory, all orders" };
    series.push(theory(label, Marks::Points(Shape::Circle), &|case| case.theory.first));
    if !is_one {
        series.push(theory("appendix C, first order", Marks::Dashed, &|case| Some(case.theory.theorem)));
    }
    let cases = results.cases(Kind::Sentences, exponent, 1);
    series.extend(fitted(&cases, "sentences", |case| case.first().over(sign)));
    let sign = if sign < 0.0 { "−" } else { "" };
    log_chart(&format!("First moment, exponent {exponent}"), &format!("{sign}E[ΔL]"), series)
}

fn second_moment(results: &Results, exponent: f64) -> Chart {
    let mut series: Vec<Series> = PAPER
        .iter()
        .map(|&(kind, shape)| Series {
            label: name(kind).into(),
            marks: Marks::Points(shape),
            points: points(&results.cases(kind, exponent, 1), |case| Some(case.second())),
        })
        .collect();
    let sentences = results.cases(Kind::Sentences, exponent, 1);
    series.push(Series {
        label: "theory, sentences".into(),
        marks: Marks::Points(Shape::Circle),
        points: points(&sentences, |case| case.theory.second.map(|value| Estimate { value, error: 0.0 })),
    });
    series.extend(fitted(&sentences, "sentences", Case::second));
    log_chart(&format!("Second moment, exponent {exponent}"), "E[ΔL²]", series)
}

fn batches(results: &Results) -> Chart {
    let shapes = [Shape::Cross, Shape::Square, Shape::Triangle, Shape::Circle];
    let mut series = Vec::new();
    let mut theory = Vec::new();
    for (batch, shape) in BATCHES.into_iter().zip(shapes) {
        let cases = results.cases(Kind::Independent, EXPONENTS[0], batch);
        let sign = cases.last().map_or(1.0, |case| case.theory.theorem.signum());
        series.push(Series {
            label: format!("M = {batch}"),
            marks: Marks::PointsAndLine(shape),
            points: points(&cases, |case| Some(case.first().over(sign))),
        });
        let exact = |case: &Case| Some(Estimate { value: sign * case.theory.theorem, error: 0.0 });
        theory.extend(points(&cases, exact));
    }
    series.push(Series { label: "appendix D".into(), marks: Marks::Points(Shape::Circle), points: theory });
    log_chart("First moment with mini-batches of M words, exponent 1", "|E[ΔL]|", series)
}

fn orders(results: &Results) -> Chart {
    let mut series = Vec::new();
    for (kind, shape) in kinds() {
        let cases = results.cases(kind, EXPONENTS[0], 1);
        series.push(Series {
            label: name(kind).into(),
            marks: Marks::Points(shape),
            points: points(&cases, |case| Some(case.first().over(case.theory.theorem))),
        });
    }
    for kind in [Kind::Sentences, Kind::Paragraphs] {
        series.push(Series {
            label: format!("{}, theory", name(kind)),
            marks: Marks::Dashed,
            points: points(&results.cases(kind, EXPONENTS[0], 1), |case| {
                let value = case.theory.first? / case.theory.theorem;
                Some(Estimate { value, error: 0.0 })
            }),
        });
    }
    log_chart("First moment by Theorem 1's value, exponent 1", "ratio", series)
}

fn orders_second(results: &Results) -> Chart {
    let mut series = Vec::new();
    for (kind, shape) in kinds() {
        let variance = results.constants(Kind::Independent, EXPONENTS[0]).map_or(1.0, |row| row.variance);
        series.push(Series {
            label: name(kind).into(),
            marks: Marks::PointsAndLine(shape),
            points: points(&results.cases(kind, EXPONENTS[0], 1), |case| {
                Some(case.second().over(PAIRS * PAIRS * variance / case.moments.n as f64))
            }),
        });
    }
    log_chart("Second moment by that of independent words, exponent 1", "n E[ΔL²] / ((2ck)² Var h)", series)
}

fn kinds() -> impl Iterator<Item = (Kind, Shape)> {
    Kind::ALL.into_iter().zip([Shape::Square, Shape::Cross, Shape::Triangle, Shape::Circle])
}

/// What a kind is called in figures and tables.
pub fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Independent => "independent words",
        Kind::Sentences => "sentences",
        Kind::Paragraphs => "paragraphs",
        Kind::Consecutive => "text in its order",
    }
}

/// The curve a · log(n)/n through estimates.
fn fitted(cases: &[&Case], of: &str, value: impl Fn(&Case) -> Estimate) -> Option<Series> {
    let rate = |n: f64| n.ln() / n;
    let judged = cases.iter().filter(|case| case.moments.datasets >= ENOUGH);
    let fit = LogFit::new(judged.map(|case| (rate(case.moments.n as f64), value(case))))?;
    let (first, last) = (cases.first()?.moments.n as f64, cases.last()?.moments.n as f64);
    let steps = 40;
    let points = (0..=steps).map(|step| {
        let x = first * (last / first).powf(f64::from(step) / f64::from(steps));
        Point { x, y: fit.factor * rate(x), error: None }
    });
    Some(Series { label: format!("a log(n)/n, {of}"), marks: Marks::Line, points: points.collect() })
}

fn points(cases: &[&Case], value: impl Fn(&Case) -> Option<Estimate>) -> Vec<Point> {
    cases
        .iter()
        .filter_map(|case| {
            let Estimate { value, error } = value(case)?;
            Some(Point { x: case.moments.n as f64, y: value, error: (error > 0.0).then_some(error) })
        })
        .collect()
}

fn log_chart(title: &str, y: &str, series: Vec<Series>) -> Chart {
    Chart {
        title: title.into(),
        x: Axis { label: "n, words of a dataset".into(), scale: Scale::Log },
        y: Axis { label: y.into(), scale: Scale::Log },
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
    }
}
