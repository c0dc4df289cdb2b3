//! `cargo xtask figures`: the paper's experiments, measured, drawn and reported.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;

use experiments::options::Options;
use experiments::record::{forget_quick, results_folder};
use experiments::report::{self, EXPERIMENTS, Experiment};

/// What was typed after `cargo xtask figures`.
#[derive(Args)]
pub struct Figures {
    /// Experiments to run [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    experiments: Vec<String>,
    /// Measure nothing; only draw the figures and write the report anew, from the rows that are there
    #[arg(long, conflicts_with = "experiments")]
    draw: bool,
    #[command(flatten)]
    shared: Options,
}

/// Runs the experiments one after the other, and then makes the report. They run here and not as programs of their own,
/// which are there as well: each would take the linker half a minute.
pub fn run(figures: &Figures) -> Result<()> {
    if figures.draw {
        return report(&figures.shared);
    }
    let shared = with_folder(&figures.shared)?;
    let mut failed = Vec::new();
    for experiment in chosen(&figures.experiments) {
        let name = experiment.name;
        let start = Instant::now();
        eprintln!("{name} …");
        // The others are worth having also where one fails.
        let measured = forget_quick(&shared, name).and_then(|()| (experiment.measure)(&shared));
        if let Err(error) = measured {
            eprintln!("{name}: {error:#}");
            failed.push(name);
        }
        eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    let reported = report(&shared);
    // An experiment that failed may be why there is no report.
    ensure!(failed.is_empty(), "these experiments failed: {}", failed.join(", "));
    reported
}

/// The folder of today, also for an experiment that begins after midnight, and how to go on in it. A quick run needs
/// none: it starts anew unless its folder was named.
fn with_folder(typed: &Options) -> Result<Options> {
    if typed.quick || typed.results.is_some() {
        return Ok(typed.clone());
    }
    let folder = results_folder(typed)?;
    if let Some(day) = folder.file_name() {
        let day = day.to_string_lossy();
        eprintln!("If this is interrupted: cargo xtask figures --results experiments/results/{day} goes on.");
    }
    Ok(Options { results: Some(folder), ..typed.clone() })
}

/// Draws and writes.
fn report(shared: &Options) -> Result<()> {
    println!("{}", report::write(shared)?.display());
    Ok(())
}

fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|experiment| experiment.name)
}

/// The experiments that were named, or all, in their order and each once.
fn chosen(named: &[String]) -> Vec<&'static Experiment> {
    let is_wanted =
        |experiment: &&Experiment| named.is_empty() || named.iter().any(|wanted| wanted == experiment.name);
    EXPERIMENTS.iter().filter(is_wanted).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        figures: Figures,
    }

    #[test]
    fn all_experiments_run_unless_some_are_named() {
        let chosen = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|&name| name.into()).collect();
            chosen(&named).iter().map(|experiment| experiment.name).collect::<Vec<_>>()
        };
        let all: Vec<&str> = names().collect();
        assert_eq!(chosen(&[]), all);
        let last = all[all.len() - 1];
        assert_eq!(chosen(&[last, last]), [last]);
        let backwards: Vec<&str> = all.iter().rev().copied().collect();
        assert_eq!(chosen(&backwards), all);
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(Typed::try_parse_from(["figures", "no-such-experiment"]).is_err());
        assert!(Typed::try_parse_from(["figures", "--draw", names().next().unwrap()]).is_err());
    }
}
