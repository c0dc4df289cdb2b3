//! The project's chores: `cargo xtask --help` lists them.

mod bench;
mod check;
mod compatibility;
mod demo;
mod deploy;
mod dist;
mod fuzz;
mod package;
mod service;
mod site;
mod stores;
mod torture;

use std::env;
use std::ffi::OsString;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use xtask::command::{cargo, run_quietly};

/// The project's chores
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Learn from real text, day by day; everything is set up for you
    Demo(demo::Options),
    /// Measure speed, memory and quality
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Repeat the paper's experiments: measure, draw the figures, write the tables
    #[command(disable_help_flag = true)]
    Figures(Forwarded),
    /// Check format, lints, documentation and tests: what every change must pass
    Check,
    /// Exchange vectors with the real gensim, fastText, finalfusion, numpy and safetensors (needs Python and network)
    Compatibility,
    /// Install the Python package in a fresh environment and test it there (needs Python and network)
    Python(package::Options),
    /// Test the service in a real browser and against its OpenAPI document (needs Chromium, Python and network)
    Service(service::Options),
    /// Build the documentation site into target/site, and test it (needs Python and network)
    Site,
    /// Sync vectors to PostgreSQL with pgvector, a stand-in for Qdrant, and FAISS (needs Python and network)
    Stores,
    /// Attack the real program: kill it, break its disk, damage its files, abuse its service
    #[command(disable_help_flag = true)]
    Torture(Forwarded),
    /// Give random bytes to everything that reads foreign bytes (needs a nightly compiler)
    Fuzz(fuzz::Options),
    /// Check alerts, dashboard, compose file, Kubernetes manifests and workflows (needs Python and network)
    Deploy,
    /// Build what a release consists of: wheel, tarball, Debian package, crates, list of dependencies (needs network)
    Dist(dist::Options),
    /// Run the project's CI
    Ci,
}

/// Arguments for another program of the workspace, which is compiled only when it is needed.
#[derive(Args)]
pub struct Forwarded {
    /// Options; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Forwarded {
    /// Starts the `experiments` program with a subcommand and these arguments.
    fn run(&self, subcommand: &[&str]) -> Result<()> {
        let mut command = cargo();
        // Paths among the arguments are relative to where the user is.
        command.current_dir(env::current_dir()?);
        command.args(["run", "--quiet", "--release", "--package", "experiments", "--"]);
        run_quietly(command.args(subcommand).args(&self.arguments))
    }
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Chore::Demo(options) => demo::run(&options),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Figures(forwarded) => forwarded.run(&["figures"]),
        Chore::Check => check::check(),
        Chore::Compatibility => compatibility::run_tests(),
        Chore::Python(options) => package::run_tests(&options),
        Chore::Service(options) => service::run_tests(&options),
        Chore::Site => site::build(),
        Chore::Stores => stores::run_tests(),
        Chore::Torture(forwarded) => torture::run(&forwarded),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::Deploy => deploy::run_tests(),
        Chore::Dist(options) => dist::run(&options),
        Chore::Ci => check::ci(),
    }
}
