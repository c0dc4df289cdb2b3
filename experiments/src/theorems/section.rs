//! The words and tables of the report.

use std::path::Path;

use anyhow::Result;

use super::agreement::{
    AGREES, Agreement, Verdict, greatest, least, rate_slope, second_slope, slope, theoretical_slope,
};
use super::datasets::Kind;
use super::difference::EXPONENTS;
use super::figures::{self, BATCH_SIZES, ORDERS, ORDERS_SECOND, moment_file, name};
use super::numbers::{estimate, power, ratio, scientific};
use super::paper::differences;
use super::results::{Case, ENOUGH, LogFit, Results};
use super::{BATCHES, PARAGRAPH, SENTENCE};
use crate::markdown::{listed, table};
use crate::record::Manifest;
use crate::section::{Answer, Section};
use crate::text::grouped;

/// Draws the figures and writes the section.
pub fn section(folder: &Path) -> Result<Section> {
    let results = Results::read(folder)?;
    let manifest = Manifest::read(folder)?;
    figures::draw(&results, folder)?;
    let body = [
        introduction(&manifest, &results),
        first_moment(&results),
        orders(&results),
        smoothed(&results),
        mini_batches(&results),
        second_moment(&results),
        thetas(&results),
        differences(&manifest, &results),
    ]
    .concat();
    Ok(Section { answers: answers(&results), body })
}

fn introduction(manifest: &Manifest, results: &Results) -> String {
    let corpus = manifest.sources.first();
    let (corpus, words) = corpus.map_or(("a corpus", 0), |corpus| (corpus.name.as_str(), corpus.words));
    let datasets: Vec<String> = results
        .cases(Kind::Independent, EXPONENTS[0], 1)
        .iter()
        .map(|case| format!("{} at n = {}", grouped(case.moments.datasets as u64), power(case.moments.n)))
        .collect();
    let constants = results.constants(Kind::Independent, EXPONENTS[0]);
    format!(
        "## Theorems\n\n\
         ΔL(θ) = L_B − L_I is the difference between the objectives of batch and of incremental training, for the same θ: \
         (2ck/n) Σ_i Σ_v (q_i(v) − q_n(v)) log σ(−t_wᵢ · c_v). The paper's section 5.1 measures its first and second \
         moments over random datasets of n words, against Theorem 1's value for the first, \
         2ck(H_n − 1)/n · Σρψ, and against curves a · log(n)/n.\n\n\
         The text is {corpus} ({} words). Its 999 most frequent words are kept, and one token stands for all others. θ has \
         100 dimensions, uniform in [−0.5, 0.5], one for all n (seed {}, Σρψ = {}); c = 5, k = 5. \
         Datasets of each kind: {}. ± is one standard error. Datasets are drawn in four ways:\n\n\
         - **independent words**, each from its own random place of the text: what Theorem 1 assumes;\n\
         - **sentences** at random with replacement, as in the paper. The text has no full stops, so a sentence is a piece \
         of at most {SENTENCE} words of a line;\n\
         - **paragraphs**: lines, cut after {PARAGRAPH} words;\n\
         - **text in its order**: consecutive words from a random place on, and from the end on at the beginning.\n\n\
         The last piece is cut, so that a dataset has n words exactly. ΔL is computed exactly for each dataset.\n\n\
         A single ΔL has a standard deviation of order 1/√n, far more than its mean of order log(n)/n.{} Nearly all of it is the linear part of ΔL, \
         (2ck/n) Σ_i Σ_v (y_i(v) − y_n(v)) h_v. Here y_i(v) is the share of v in the first i words, and \
         h_v = (ψ̄_v − Σ_u q(u) ψ̄_u) e μ_v^(e−1) / Σ_u μ_u^e with the exponent e and ψ̄_v = Σ_w μ_w ψ_wv; for exponent 1, y_i is q_i, and \
         h_v is ψ̄_v less its mean. The linear part's expectation is known (zero for independent words and for text in its order, and \
         computed for pieces). We measure it in the same pass and replace it by its \
         expectation: that is the *first moment* below, beside the plain mean of ΔL. z is the distance to theory in standard \
         errors; verdicts allow {AGREES}, and rest on sizes with at least {ENOUGH} datasets.\n\n",
        grouped(words),
        results.theta,
        constants.map_or("?".into(), |row| format!("{:.4}", row.covariance)),
        listed(&datasets),
        plain_noise(results).map_or(String::new(), |noise| format!(" {noise}")),
    )
}

/// What the paper's 10,000 datasets would show of the first moment, at the largest n.
fn plain_noise(results: &Results) -> Option<String> {
    let case = results.cases(Kind::Independent, EXPONENTS[0], 1).pop()?;
    let error = case.theory.second?.sqrt() / 100.0;
    Some(format!(
        "At n = {}, the plain mean of 10,000 datasets would have a standard error of {}, and Theorem 1 says {}.",
        power(case.moments.n),
        scientific(error),
        scientific(case.theory.theorem)
    ))
}

fn first_moment(results: &Results) -> String {
    let exponent = EXPONENTS[0];
    let mut text = format!(
        "### First moment, exponent 1\n\n![First moment, exponent 1]({})\n\n",
        moment_file("first", exponent)
    );
    let head = ["datasets of", "n", "plain mean", "first moment", "Theorem 1", "ratio", "z"];
    let rows = [Kind::Independent, Kind::Sentences].into_iter().flat_map(|kind| {
        results.cases(kind, exponent, 1).into_iter().map(move |case| {
            let theorem = case.theory.theorem;
            vec![
                name(kind).into(),
                power(case.moments.n),
                estimate(case.plain()),
                estimate(case.first()),
                scientific(theorem),
                ratio(case.first().over(theorem)),
                format!("{:+.1}", case.first().distance(theorem)),
            ]
        })
    });
    text += &table(&head, rows);
    text += "\n";

    let independent = results.judged(Kind::Independent, exponent, 1);
    let agreement = Agreement::new(&independent, |case| Some(case.theory.theorem));
    text += &format!("For independent words, {}.", agreement.words("Theorem 1"));
    if let Some(slope) = slope(&independent) {
        text += &format!(
            " The slope of log E[ΔL] against log(log(n)/n) is {} (weighted least squares in logarithms); that of the \
             theorem's own values is {}, because of the −1 of H_n − 1.",
            ratio(slope),
            theoretical_slope(&independent).map_or("–".into(), |slope| format!("{slope:.3}"))
        );
    }
    let sentences = results.judged(Kind::Sentences, exponent, 1);
    let plain = Agreement::new(&sentences, |case| Some(case.theory.theorem));
    text += &format!(" For sentences, drawn as in the paper, {}.\n\n", plain.words("Theorem 1"));
    text
}

fn orders(results: &Results) -> String {
    let exponent = EXPONENTS[0];
    let mut text = format!(
        "### The order of words\n\n![First moment by Theorem 1's value]({ORDERS})\n\n\
         Theorem 1's proof takes the covariance of two positions to be zero. Words of a sentence or a paragraph are \
         correlated. Then H_n − 1 times Σρψ becomes H_n times (Σρψ + B) less (Σρψ + B + B′), where B and B′ are the sums \
         of the covariances with all earlier and all later words of the piece. And a dataset that begins with a whole piece and \
         cuts its last one is not stationary: if long pieces have other words than short ones, the linear part has an \
         expectation of about K (H_n − 1). We compute these from the text, with the beginning of a dataset exactly.\n\n"
    );
    let head = ["datasets of", "words a piece", "Σρψ", "B", "B′", "K"];
    let rows = [Kind::Independent, Kind::Sentences, Kind::Paragraphs].into_iter().filter_map(|kind| {
        let row = results.constants(kind, exponent)?;
        let values = [row.covariance, row.earlier, row.later, row.cut].map(|value| format!("{value:+.4}"));
        Some([vec![name(kind).to_owned(), format!("{:.1}", row.mean_length)], values.to_vec()].concat())
    });
    text += &table(&head, rows);
    text += "\n";
    let head = ["datasets of", "n", "first moment", "ratio to Theorem 1", "ratio to theory for pieces", "z"];
    let rows = [Kind::Sentences, Kind::Paragraphs, Kind::Consecutive].into_iter().flat_map(|kind| {
        results.cases(kind, exponent, 1).into_iter().map(move |case| {
            let first = case.first();
            vec![
                name(kind).into(),
                power(case.moments.n),
                estimate(first),
                ratio(first.over(case.theory.theorem)),
                case.theory.first.map_or("–".into(), |theory| ratio(first.over(theory))),
                case.theory.first.map_or("–".into(), |theory| format!("{:+.1}", first.distance(theory))),
            ]
        })
    });
    text += &table(&head, rows);
    text += "\n";
    for kind in [Kind::Sentences, Kind::Paragraphs] {
        let agreement = Agreement::new(&results.judged(kind, exponent, 1), |case| case.theory.first);
        text += &format!("For {}, {}. ", name(kind), agreement.words("the theory for pieces"));
    }
    text += "\n\n";
    let real = results.judged(Kind::Consecutive, exponent, 1);
    if let (Some(first), Some(last)) = (real.first(), real.last()) {
        let by_theorem = |case: &Case| ratio(case.first().over(case.theory.theorem));
        let grows = last.first().over(last.theory.theorem).value
            > 2.0 * first.first().over(first.theory.theorem).value;
        text += &format!(
            "For text in its order, the first moment is {} times Theorem 1's value at n = {} and {} times at n = {}: the factor {} ",
            by_theorem(first),
            power(first.moments.n),
            by_theorem(last),
            power(last.moments.n),
            if grows {
                "grows with n. A likely reason: topics change, so that the words so far differ from those to come at every \
                 scale, and covariances reach as far as the text."
            } else {
                "does not clearly grow with n."
            }
        );
        if let Some(slope) = slope(&real) {
            text += &format!(
                "Its slope against log(n)/n is {}{}. ",
                ratio(slope),
                if slope.value < 1.0 - AGREES * slope.error {
                    ", below one: it still falls, but more slowly than the theorem says"
                } else {
                    ""
                }
            );
        }
        let longest = results.cases(Kind::Consecutive, exponent, 1).last().map_or(0, |case| case.moments.n);
        text += &format!(
            "The starts of these datasets are drawn independently, but datasets of one text overlap, the more the longer they \
             are (up to n = {}): the standard error is that of a mean over starts in this text, not over texts.\n\n",
            power(longest)
        );
    }
    text
}

fn smoothed(results: &Results) -> String {
    let exponent = EXPONENTS[1];
    let mut text = format!(
        "### First moment, exponent {exponent}\n\n![First moment, exponent {exponent}]({})\n\n\
         The paper has no theoretical value here. Appendix C would give one, by a Taylor series of the first order in the counts. \
         But the second order, ½ Σ g″ρ, is of the same order log(n)/n, and rare words make it large; and where the \
         expected count of a word is below one, in the first thousands of positions, no order is enough. With the exact expectation of \
         f^{exponent} for each word (all orders), theory has no free parameter left.\n\n",
        moment_file("first", exponent)
    );
    let head = [
        "datasets of",
        "n",
        "plain mean",
        "first moment",
        "appendix C",
        "second order",
        "all orders",
        "ratio",
        "z",
    ];
    let rows = [Kind::Independent, Kind::Sentences, Kind::Paragraphs, Kind::Consecutive]
        .into_iter()
        .flat_map(|kind| {
            results.cases(kind, exponent, 1).into_iter().map(move |case| {
                let first = case.first();
                let theory = case.theory.first;
                vec![
                    name(kind).into(),
                    power(case.moments.n),
                    estimate(case.plain()),
                    estimate(first),
                    scientific(case.theory.theorem),
                    scientific(case.theory.second_order),
                    theory.map_or("–".into(), scientific),
                    theory.map_or("–".into(), |theory| ratio(first.over(theory))),
                    theory.map_or("–".into(), |theory| format!("{:+.1}", first.distance(theory))),
                ]
            })
        });
    text += &table(&head, rows);
    text += "\n";
    let independent = results.judged(Kind::Independent, exponent, 1);
    let agreement = Agreement::new(&independent, |case| case.theory.first);
    text += &format!("For independent words, {}.", agreement.words("the theory of all orders"));
    let factors: Vec<f64> =
        independent.iter().map(|case| (case.first().value / case.theory.theorem).abs()).collect();
    let (low, high) = (least(&factors), greatest(&factors));
    if !factors.is_empty() {
        text += &format!(" Appendix C's first order is off by a factor of {low:.1} to {high:.1}.");
    }
    if let Some(slope) = slope(&independent) {
        text += &format!(
            " The slope against log(n)/n is {}, and {} by theory. The paper sees larger deviations from the curve here than for the \
             exponent 1, and puts them down to the first order of the Taylor series: {}.",
            ratio(slope),
            theoretical_slope(&independent).map_or("–".into(), |slope| format!("{slope:.3}")),
            if agreement.holds() && high > 2.0 {
                "our data say the same, and how much"
            } else {
                "our data do not decide this"
            }
        );
    }
    text +=
        " In pieces, orders above the second are taken to be those of independent words, which is not exact:";
    for (kind, end) in [(Kind::Sentences, ";"), (Kind::Paragraphs, ".\n\n")] {
        let agreement = Agreement::new(&results.judged(kind, exponent, 1), |case| case.theory.first);
        text += &format!(" for {}, {}{end}", name(kind), agreement.describe());
    }
    text
}

fn mini_batches(results: &Results) -> String {
    let exponent = EXPONENTS[0];
    let mut text = format!(
        "### Mini-batches\n\n![First moment with mini-batches]({BATCH_SIZES})\n\n\
         With mini-batches of M words, position i uses the noise of the end of its batch, b(i, M) = ⌈i/M⌉ M (appendix D), \
         and H_n becomes Σ 1/b(i, M). The ratio of the first moment to this, for independent words and exponent 1:\n\n"
    );
    let sizes: Vec<usize> =
        results.cases(Kind::Independent, exponent, 1).iter().map(|case| case.moments.n).collect();
    let heads: Vec<String> = sizes.iter().map(|&n| format!("n = {}", power(n))).collect();
    let head: Vec<&str> = std::iter::once("M").chain(heads.iter().map(String::as_str)).collect();
    let mut all = Vec::new();
    let rows: Vec<Vec<String>> = BATCHES
        .into_iter()
        .map(|batch| {
            let cases = results.cases(Kind::Independent, exponent, batch);
            let mut row = vec![grouped(batch as u64)];
            row.extend(sizes.iter().map(|&n| match cases.iter().find(|case| case.moments.n == n) {
                Some(case) => ratio(case.first().over(case.theory.theorem)),
                None => "ΔL = 0".into(),
            }));
            all.extend(results.judged(Kind::Independent, exponent, batch).into_iter().filter(|_| batch > 1));
            row
        })
        .collect();
    text += &table(&head, rows);
    let agreement = Agreement::new(&all, |case| Some(case.theory.theorem));
    text += &match agreement.verdict() {
        Verdict::NotMeasured => format!("\nAppendix D is not judged: {}. ", agreement.describe()),
        verdict => format!(
            "\nThe data {} appendix D: of {} first moments with M > 1, the farthest is {:.1} standard errors away. (Batch \
             sizes share their datasets, so these are not independent.) ",
            if verdict == Verdict::Agrees { "agree with" } else { "contradict" },
            all.len(),
            agreement.farthest
        ),
    };
    text += &smaller_by_batches(results).unwrap_or_default();
    text += "\n\n";
    text
}

/// What the largest batches do to the first moment.
fn smaller_by_batches(results: &Results) -> Option<String> {
    let largest = *BATCHES.last()?;
    let batched = results.judged(Kind::Independent, EXPONENTS[0], largest).pop()?;
    let n = batched.moments.n;
    let single =
        results.judged(Kind::Independent, EXPONENTS[0], 1).into_iter().find(|case| case.moments.n == n)?;
    Some(format!(
        "At n = {}, the first moment with M = {} is {:.2} times the one with M = 1; appendix D says {:.2}.",
        power(n),
        grouped(largest as u64),
        batched.first().value / single.first().value,
        batched.theory.theorem / single.theory.theorem
    ))
}

fn second_moment(results: &Results) -> String {
    let mut text = String::from("### Second moment\n\n");
    for exponent in EXPONENTS {
        text += &format!("![Second moment, exponent {exponent}]({})\n\n", moment_file("second", exponent));
    }
    text += "Theorem 3 bounds the second moment by O(log(n)/n). The linear part has the variance (2ck)² Var(h) Σ c_j² / n² with \
             c_j = H_n − H_{j−1} − 1 and Σ c_j² → n, so we expect (2ck)² Var(h) / n: faster than the bound. For independent words and \
             exponent 1 all terms are computed, exactly; for pieces Var(h) is the variance in the long run.\n\n";
    let head = ["datasets of", "exponent", "n", "second moment", "theory", "ratio"];
    let kinds = [Kind::Independent, Kind::Sentences, Kind::Paragraphs, Kind::Consecutive];
    let rows = kinds.into_iter().flat_map(|kind| {
        EXPONENTS.into_iter().flat_map(move |exponent| {
            results.cases(kind, exponent, 1).into_iter().map(move |case| {
                let theory = case.theory.second;
                vec![
                    name(kind).into(),
                    exponent.to_string(),
                    power(case.moments.n),
                    estimate(case.second()),
                    theory.map_or("–".into(), scientific),
                    theory.map_or("–".into(), |theory| ratio(case.second().over(theory))),
                ]
            })
        })
    });
    text += &table(&head, rows);
    text += &format!("\n![Second moment by that of independent words]({ORDERS_SECOND})\n\n");
    let agreement =
        Agreement::of(&results.judged(Kind::Independent, EXPONENTS[0], 1), Case::second, |case| {
            case.theory.second
        });
    text += &format!("For independent words and exponent 1, {}. ", agreement.words("this theory"));
    let slopes: Vec<String> = kinds
        .into_iter()
        .filter_map(|kind| {
            let cases = results.judged(kind, EXPONENTS[0], 1);
            let points = cases.iter().map(|case| (case.moments.n as f64, case.second()));
            Some(format!("{} for {}", ratio(LogFit::new(points)?.slope), name(kind)))
        })
        .collect();

    if !slopes.is_empty() {
        text += &format!(
            "The slope of log E[ΔL²] against log n is {}; 1/n has −1, and log(n)/n has {:.2} from the first n to the last. ",
            listed(&slopes),
            rate_slope(results)
        );
    }
    let smoothed = results.judged(Kind::Independent, EXPONENTS[1], 1);
    let ratios: Vec<f64> =
        smoothed.iter().filter_map(|case| Some(case.second().value / case.theory.second?)).collect();

    if !ratios.is_empty() {
        text += &format!(
            "For the exponent {} theory has the linear part's first order only; the ratio of measured to theoretical is from {:.2} \
             to {:.2} for independent words. ",
            EXPONENTS[1],
            least(&ratios),
            greatest(&ratios)
        );
    }
    if let Some(slope) = second_slope(results) {
        let below_bound = slope.value + AGREES * slope.error < rate_slope(results);
        text += match (below_bound, agreement.holds()) {
            (true, true) => "Theorem 3's bound holds, and is not tight: the second moment falls as 1/n. ",
            (true, false) => "Theorem 3's bound holds, and is not tight. ",
            (false, _) => "The data do not tell the second moment's rate from that of Theorem 3's bound. ",
        };
    }
    let real = results.judged(Kind::Consecutive, EXPONENTS[0], 1);
    let real = LogFit::new(real.iter().map(|case| (case.moments.n as f64, case.second())));
    if real.is_some_and(|fit| fit.slope.value - AGREES * fit.slope.error > rate_slope(results)) {
        text += "For text in its order it falls more slowly than the bound. A likely reason: h is correlated over long distances, so \
                 that its mean over n words varies more than 1/√n, and the theorem's assumption does not hold.";
    }
    text += "\n\n";
    text
}

fn thetas(results: &Results) -> String {
    let [one, smoothed] = EXPONENTS.map(|exponent| results.thetas(exponent));
    let Some(n) = one.first().map(|case| case.moments.n) else {
        return String::new();
    };
    let constants: Vec<f64> = one
        .iter()
        .filter_map(|case| {
            let of = |row: &&super::moments::Constants| {
                (row.theta, row.kind, row.exponent) == (case.moments.theta, Kind::Independent, EXPONENTS[0])
            };
            results.constants.iter().find(of).map(|row| row.covariance)
        })
        .collect();
    let mut text = format!(
        "### Other θ\n\nThe paper says that the choice of θ hardly matters. Independent words, n = {}:\n\n",
        power(n)
    );
    let head = [
        "seed of θ",
        "Σρψ",
        "first moment, 1",
        "ratio to Theorem 1",
        &format!("first moment, {}", EXPONENTS[1]),
        "ratio to theory, all orders",
    ];
    let rows = one.iter().zip(&smoothed).zip(&constants).map(|((one, smoothed), constant)| {
        vec![
            one.moments.theta.to_string(),
            format!("{constant:+.4}"),
            estimate(one.first()),
            ratio(one.first().over(one.theory.theorem)),
            estimate(smoothed.first()),
            smoothed.theory.first.map_or("–".into(), |theory| ratio(smoothed.first().over(theory))),
        ]
    });
    text += &table(&head, rows);
    let agreement = Agreement::new(&one, |case| Some(case.theory.theorem));
    let smoothed_agreement = Agreement::new(&smoothed, |case| case.theory.first);
    let negative = constants.iter().filter(|&&constant| constant < 0.0).count();
    let is_either_sign = (1..constants.len()).contains(&negative);
    text += &format!(
        "\nBy Theorem 1, the rate does not depend on θ, but its factor does{}: Σρψ is from {:+.4} to {:+.4}, negative for \
         {negative} of {}. Averaged over random θ it is zero, because ψ_ww then has the same expectation as ψ_wv. For all of \
         them, {}, and {}.\n\n",
        if is_either_sign { ", even in its sign" } else { "" },
        least(&constants),
        greatest(&constants),
        constants.len(),
        of_thetas(&agreement, "Theorem 1"),
        of_thetas(
            &smoothed_agreement,
            &format!("the theory of all orders for the exponent {}", EXPONENTS[1])
        ),
    );
    text
}

/// A verdict over all θ, which are of one size.
fn of_thetas(agreement: &Agreement, theory: &str) -> String {
    let verb = match agreement.verdict() {
        Verdict::Agrees => "agree with",
        Verdict::Contradicts => "contradict",
        Verdict::NotMeasured => return format!("{theory} is not judged"),
    };
    format!("the data {verb} {theory} (farthest: {:.1} standard errors)", agreement.farthest)
}

fn answers(results: &Results) -> Vec<Answer> {
    let exponent = EXPONENTS[0];
    let independent = results.judged(Kind::Independent, exponent, 1);
    let agreement = Agreement::new(&independent, |case| Some(case.theory.theorem));
    let verdict = match agreement.verdict() {
        Verdict::Agrees => "Yes",
        Verdict::Contradicts => "No",
        Verdict::NotMeasured => "Not measured",
    };
    let mut answer = format!("{verdict}, for independent words, which it assumes: {}.", agreement.describe());
    for kind in [Kind::Sentences, Kind::Consecutive] {
        let cases = results.judged(kind, exponent, 1);
        if let (Some(first), Some(last)) = (cases.first(), cases.last()) {
            let by_theorem = |case: &Case| ratio(case.first().over(case.theory.theorem));
            answer += &format!(
                " For {} the ratio is {} at n = {} and {} at n = {}.",
                match kind {
                    Kind::Consecutive => "text in its real order",
                    _ => "sampled sentences, as in the paper,",
                },
                by_theorem(first),
                power(first.moments.n),
                by_theorem(last),
                power(last.moments.n)
            );
        }
    }
    let pieces = Agreement::new(&results.judged(Kind::Sentences, exponent, 1), |case| case.theory.first);
    if pieces.holds() {
        answer += " A theory that counts the correlations within sentences agrees with theirs.";
    }
    vec![Answer { question: "Does the empirical first moment match Theorem 1?".into(), answer }]
}
