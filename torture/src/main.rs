//! Attacks on the real `skipstream` program: `cargo xtask torture --help` lists them.
//!
//! Each attack tries to break a promise of docs/operations/reliability.md, prints a line per check, and fails if a promise was broken.
//! `--short` is the version for CI.

mod abuse;
mod brokers;
mod client;
mod corruption;
mod disk;
mod endless;
mod flood;
mod job;
mod kill;
mod learned;
mod load;
mod numbers;
mod power;
mod program;
mod random;
mod report;
mod serving;
mod shim;
mod usage;

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Result;
use clap::{Parser, Subcommand};

use program::Program;
use report::Report;

/// Attack the real program, and see whether it keeps its promises
#[derive(Parser)]
#[command(name = "torture", bin_name = "cargo xtask torture")]
struct Arguments {
    #[command(subcommand)]
    attack: Attack,
    /// The short version, as in CI
    #[arg(long, global = true)]
    short: bool,
    /// Seed of everything random [default: the clock; printed]
    #[arg(long, global = true)]
    seed: Option<u64>,
    /// The program to attack [default: the `skipstream` next to this program]
    #[arg(long, global = true, env = "SKIPSTREAM")]
    binary: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Attack {
    /// Kill `train` and `serve` at every file call and at random moments: nothing is lost
    Kill(kill::Options),
    /// Kill `serve` and the broker that it reads, NATS or Kafka: every message is learned exactly once
    Brokers(brokers::Options),
    /// Lose power at every moment: nothing acknowledged is lost
    Power(power::Options),
    /// Break the disk at every file call: the old model stays whole, the service stays up
    Disk(disk::Options),
    /// Damage files, byte by byte: refused with the part named
    Corruption(corruption::Options),
    /// Abuse the service: idle sockets, slow readers, heavy work, a full disk
    Abuse(abuse::Options),
    /// Ask the service from many connections while text streams in
    Load(load::Options),
    /// Train on an endless stream: memory must not grow
    Endless(endless::Options),
    /// Train on words whose hashes collide: counting must not slow down
    Flood(flood::Options),
    /// Train with extreme settings: refused with a reason, or finite
    Numbers(numbers::Options),
}

/// What every attack needs.
pub struct Torture {
    /// The program under attack.
    pub program: Program,
    /// Whether this is the short version.
    pub short: bool,
    /// The seed of everything random.
    pub seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(clock);
    eprintln!("seed {seed}");
    let torture = Torture { program: Program::find(arguments.binary)?, short: arguments.short, seed };
    let mut report = Report::default();
    match &arguments.attack {
        Attack::Kill(options) => kill::run(&torture, options, &mut report),
        Attack::Brokers(options) => brokers::run(&torture, options, &mut report),
        Attack::Power(options) => power::run(&torture, options, &mut report),
        Attack::Disk(options) => disk::run(&torture, options, &mut report),
        Attack::Corruption(options) => corruption::run(&torture, options, &mut report),
        Attack::Abuse(options) => abuse::run(&torture, options, &mut report),
        Attack::Load(options) => load::run(&torture, options, &mut report),
        Attack::Endless(options) => endless::run(&torture, options, &mut report),
        Attack::Flood(options) => flood::run(&torture, options, &mut report),
        Attack::Numbers(options) => numbers::run(&torture, options, &mut report),
    }?;
    report.end()
}

/// A seed that differs from run to run.
fn clock() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}
