//! `cargo xtask figures`: the paper's experiments, measured, drawn and reported.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;

use experiments::command::{cargo, run as run_command, target_folder};
use experiments::options::Options;
use experiments::record::results_folder;
use experiments::report::{self, EXPERIMENTS};

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

/// Runs the experiments one after the other, and then makes the report.
pub fn run(figures: &Figures) -> Result<()> {
    if figures.draw {
        return report(&figures.shared);
    }
    let names = chosen(&figures.experiments);
    build(&names)?;
    // Of today, also for an experiment that begins after midnight.
    let results = Some(results_folder(&figures.shared)?);
    let shared = Options { results, ..figures.shared.clone() };
    let mut failed = Vec::new();
    for name in names {
        let start = Instant::now();
        // The others are worth having also where one fails.
        if let Err(error) = run_command(&mut program(name, &shared)?) {
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

/// Builds the programs that are run, and no others: each takes the linker half a minute.
fn build(names: &[&str]) -> Result<()> {
    let mut command = cargo();
    command.args(["build", "--release", "--package", "experiments"]);
    for name in names {
        command.args(["--bin", name]);
    }
    run_command(&mut command)
}

/// Draws and writes; here, because this takes a second and building the program for it would take longer.
fn report(shared: &Options) -> Result<()> {
    println!("{}", report::write(shared)?.display());
    Ok(())
}

fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|experiment| experiment.name)
}

/// The experiments that were named, or all, in their order and each once.
fn chosen(named: &[String]) -> Vec<&'static str> {
    names().filter(|name| named.is_empty() || named.iter().any(|wanted| wanted == name)).collect()
}

fn program(name: &str, shared: &Options) -> Result<Command> {
    let mut command = Command::new(target_folder()?.join("release").join(name));
    for (flag, folder) in [("--data", &shared.data), ("--results", &shared.results)] {
        if let Some(folder) = folder {
            command.arg(flag).arg(folder);
        }
    }
    if shared.quick {
        command.arg("--quick");
    }
    Ok(command)
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
        let all: Vec<&str> = names().collect();
        assert_eq!(chosen(&[]), all);
        let last = all[all.len() - 1];
        assert_eq!(chosen(&[last.into(), last.into()]), [last]);
        let backwards: Vec<String> = all.iter().rev().map(|&name| name.into()).collect();
        assert_eq!(chosen(&backwards), all);
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(Typed::try_parse_from(["figures", "no-such-experiment"]).is_err());
        assert!(Typed::try_parse_from(["figures", "--draw", names().next().unwrap()]).is_err());
    }

    #[test]
    fn a_program_gets_what_was_typed() {
        let typed =
            Typed::try_parse_from(["figures", "--quick", "--data", "texts", "--results", "here"]).unwrap();
        let command = program("quality", &typed.figures.shared).unwrap();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["--data", "texts", "--results", "here", "--quick"]);
    }
}
