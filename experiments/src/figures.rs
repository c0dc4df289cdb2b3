//! `cargo xtask figures`: measures, then draws the figures and writes the tables.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use xtask::command::{root, run as run_command};
use xtask::python::Environment;

use crate::options::{Options, name_of};
use crate::record::{dated_results, results_folder, work_folder};
use crate::{forgetting, half_life, pieces, quality, study, theorems, update_time, warm_up};

/// Arguments of `cargo xtask figures`.
#[derive(Args)]
pub struct Figures {
    /// Experiments to run [default: all]
    #[arg(value_name = "NAME")]
    experiments: Vec<Experiment>,
    /// Measure nothing; draw the figures and write the tables from the rows of the newest results
    #[arg(long, conflicts_with = "experiments")]
    draw: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// Convergence of the objective (section 5.1)
    Theorems,
    /// Quality of the vectors (section 5.2)
    Quality,
    /// Settings that give the best vectors for the time, next to five passes of other programs
    Study,
    /// How far Algorithm 1 is behind batch training, and why
    WarmUp,
    /// Time of an update (section 5.3)
    UpdateTime,
    /// Training in pieces
    Pieces,
    /// Forgetting while another text streams in
    Forgetting,
    /// Forgetting on purpose: what a half-life gains and costs
    HalfLife,
}

/// Runs the chosen experiments and reports on the results folder.
pub fn run(figures: &Figures) -> Result<()> {
    let mut options = figures.options.clone();
    if figures.draw {
        let newest = || fs::read_dir(dated_results()).ok()?.flatten().map(|entry| entry.path()).max();
        let folder = if options.quick { None } else { options.results.or_else(newest) };
        return report(folder.map_or_else(|| results_folder(&figures.options), Ok)?);
    }
    // An experiment that starts after midnight still belongs to this run.
    let results = results_folder(&options)?;
    if options.quick && options.results.is_none() {
        // A quick run starts from scratch, so that old rows are not taken for new ones.
        let _ = fs::remove_dir_all(&results);
    } else {
        eprintln!("To resume after an interruption: cargo xtask figures --results {}", results.display());
    }
    options.results = Some(results.clone());
    let mut failed = Vec::new();
    for &experiment in Experiment::value_variants() {
        if !figures.experiments.is_empty() && !figures.experiments.contains(&experiment) {
            continue;
        }
        let name = name_of(&experiment);
        let start = Instant::now();
        eprintln!("{name} …");
        // If one experiment fails, the others are still worth having.
        if let Err(error) = experiment.measure(&options) {
            eprintln!("{name}: {error:#}");
            failed.push(name.clone());
        }
        eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    let reported = report(results);
    ensure!(failed.is_empty(), "these experiments failed: {}", failed.join(", "));
    reported
}

/// Draws the figures and writes the tables, with matplotlib and pandas.
fn report(results: PathBuf) -> Result<()> {
    let program = root().join("experiments/report");
    // Not the environment of the peers: these versions are pinned, and must not change the ones that are measured.
    let python = Environment::prepare(work_folder()?.join("report"))?;
    python.install_all(&program.join("requirements.txt"))?;
    run_command(Command::new(python.program("python")).arg("-B").arg(program).arg(results))
        .context("could not draw the figures")
}

impl Experiment {
    fn measure(self, options: &Options) -> Result<()> {
        match self {
            Self::Theorems => theorems::measure(options),
            Self::Quality => quality::measure(options),
            Self::Study => study::measure(options),
            Self::WarmUp => warm_up::measure(options),
            Self::UpdateTime => update_time::measure(options),
            Self::Pieces => pieces::measure(options),
            Self::Forgetting => forgetting::measure(options),
            Self::HalfLife => half_life::measure(options),
        }
    }
}
