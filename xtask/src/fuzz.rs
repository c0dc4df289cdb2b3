//! `cargo xtask fuzz`: builds the fuzz targets with a nightly compiler and runs them.
//!
//! The flags are those of cargo-fuzz: coverage for libFuzzer, and AddressSanitizer. The build has the development profile,
//! which is optimized and checks arithmetic.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use xtask::command::{exists, root, run as run_command, target_folder};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub struct Options {
    /// Targets [default: all]
    targets: Vec<String>,
    /// Time for each target
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Smallest set of the inputs found so far that covers as much, into the tracked corpus; nothing is fuzzed
    #[arg(long)]
    minimize: bool,
}

const COVERAGE: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module \
     -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
     -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// With the memory that a page of Parquet or an xz decoder may take, and no more.
const LIMITS: [&str; 4] = ["-malloc_limit_mb=300", "-rss_limit_mb=1500", "-timeout=20", "-max_len=4096"];

/// Builds the targets and runs them, one after the other.
pub fn run(options: &Options) -> Result<()> {
    ensure!(exists("rustup"), "fuzzing needs a nightly compiler, which rustup installs");
    let work = target_folder()?.join("fuzz");
    let program = build(&work)?;
    let corpora = root().join("fuzz/corpus");
    let targets = if options.targets.is_empty() { names(&corpora)? } else { options.targets.clone() };
    for target in &targets {
        let tracked = corpora.join(target);
        ensure!(
            tracked.is_dir(),
            "unknown target `{target}`; it must be one of {}",
            names(&corpora)?.join(", ")
        );
        // Inputs that are found stay here: far too many to track.
        let found = work.join("corpus").join(target);
        fs::create_dir_all(&found).with_context(|| format!("could not create {}", found.display()))?;
        let mut fuzzer = Command::new(&program);
        fuzzer.current_dir(&work).env("FUZZ_TARGET", target).args(LIMITS);
        fuzzer.arg(format!("-artifact_prefix={target}-"));
        // A C compiler instruments SQLite, whose constants the sanitizer of rustc takes for duplicates.
        fuzzer.env("ASAN_OPTIONS", "detect_odr_violation=0");
        if options.minimize {
            fuzzer.arg("-merge=1").args([&tracked, &found]);
        } else {
            fuzzer.arg(format!("-max_total_time={}", options.seconds)).arg("-print_final_stats=1");
            fuzzer.args([&found, &tracked]);
        }
        run_command(&mut fuzzer).with_context(|| {
            format!("the input is in {}: add it to fuzz/corpus/{target} with the fix", work.display())
        })?;
    }
    Ok(())
}

fn build(work: &Path) -> Result<PathBuf> {
    let platform = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = Command::new("rustup");
    build.current_dir(root()).args(["run", "nightly", "cargo", "build", "--locked", "--package", "fuzz"]);
    // With a named platform, the flags are not for build scripts.
    build.args(["--target", &platform]).arg("--target-dir").arg(work);
    // The flags of the cargo that runs us are not for this one.
    build.env("RUSTFLAGS", COVERAGE).env_remove("CARGO").env_remove("RUSTC");
    run_command(&mut build)?;
    Ok(work.join(platform).join("debug").join("fuzz"))
}

/// The targets: each has a corpus.
fn names(corpora: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(corpora).with_context(|| format!("could not read {}", corpora.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
