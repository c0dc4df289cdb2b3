//! Where we differ from the paper.

use super::agreement::{AGREES, second_slope};
use super::datasets::Kind;
use super::difference::EXPONENTS;
use super::numbers::{estimate, power, ratio, scientific};
use super::results::{Estimate, Results};
use crate::markdown::listed;
use crate::record::Manifest;
use crate::text::grouped;

/// Datasets of the paper, at every n.
const DATASETS: usize = 10_000;

/// As a part of the section.
pub fn differences(manifest: &Manifest, results: &Results) -> String {
    let mut items = vec![
        "The corpus is Wikipedia instead of Gigaword, without punctuation; sentences are pieces of lines."
            .to_owned(),
        "The first moment is no plain mean of ΔL: the noise of the linear part is taken away.".to_owned(),
    ];
    let fewer: Vec<String> = results
        .cases(Kind::Sentences, EXPONENTS[0], 1)
        .iter()
        .filter(|case| case.moments.datasets < DATASETS)
        .map(|case| format!("{} at n = {}", grouped(case.moments.datasets as u64), power(case.moments.n)))
        .collect();
    if !fewer.is_empty() {
        let paper = grouped(DATASETS as u64);
        items.push(format!("The paper has {paper} datasets at every n. We have fewer: {}.", listed(&fewer)));
    }
    if let Some(seeds) = manifest.settings["thetas"].as_array() {
        items.push(format!(
            "Our θ is not any random one, but that with the largest |Σρψ| of {} seeds. It is chosen by theory, from μ and θ alone, and not \
             by what was measured. The reason: Σρψ is the factor of the first moment, and where it is near zero, there is no first \
             moment to see.",
            seeds.len()
        ));
    }
    if let Some(largest) = results.cases(Kind::Sentences, EXPONENTS[0], 1).last() {
        items.push(format!(
            "With that noise, the plain mean at n = {} is {}, where Theorem 1 says {}: {}.",
            power(largest.moments.n),
            estimate(largest.plain()),
            scientific(largest.theory.theorem),
            if largest.plain().error > largest.theory.theorem.abs() {
                "noise"
            } else {
                "enough datasets to see it"
            }
        ));
    }
    let sentences = results.judged(Kind::Sentences, EXPONENTS[0], 1);
    let ratios: Vec<Estimate> = sentences.iter().map(|case| case.first().over(case.theory.theorem)).collect();
    if let Some(mean) = Estimate::mean(&ratios) {
        items.push(format!(
            "The paper finds that sampled sentences fit Theorem 1 very well. We find {} times its value: {}.",
            ratio(mean),
            if (mean.value - 1.0).abs() > AGREES * mean.error {
                "a likely reason is that words of a sentence are correlated, which the theorem leaves out. On a log-log plot over \
                 decades such a factor is hard to see"
            } else {
                "no difference beyond the noise"
            }
        ));
    }
    if let Some(slope) = second_slope(results) {
        items.push(format!(
            "The paper fits log(n)/n to the second moment. For independent words we find the power {} of n, and the theory of the \
             linear part says −1.",
            ratio(slope)
        ));
    }
    items.push("Text in its real order is beyond the paper.".into());
    let list: String = items.iter().map(|item| format!("- {item}\n")).collect();
    format!("### Where we differ from the paper\n\n{list}\n")
}
