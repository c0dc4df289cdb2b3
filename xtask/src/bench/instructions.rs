//! `cargo xtask bench instructions`: the stages under Callgrind, which counts instead of timing.
//!
//! The counts are compared with the golden counts in a tracked file. They depend on the compiler and on the processor's
//! instructions, so the file has a section for each machine that was measured. This is a benchmark, not a test: a
//! slower stage may be worth its cost, and then the file gets the new count.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use xtask::command::{cargo, exists, root, run as run_command, run_with_retries, target_folder};

/// Options of `cargo xtask bench instructions`.
#[derive(Args)]
pub struct Options {
    /// Write the counts to the tracked file as the golden counts of this machine
    #[arg(long)]
    update: bool,
}

/// The golden counts, in the folder of the workspace.
const GOLDEN: &str = "crates/skipstream/benches/instructions.golden";
/// What a stage may take beyond its golden count, in percent.
const TOLERANCE: f64 = 2.0;

/// The count of each benchmark.
type Counts = BTreeMap<String, u64>;

/// Counts instructions. Fails if a stage takes more than its golden count allows.
pub fn run(options: &Options) -> Result<()> {
    ensure!(exists("valgrind"), "instructions are counted by Valgrind: install the package `valgrind`");
    let runner = install_runner()?;
    let results = target_folder()?.join("gungraun");
    if results.exists() {
        fs::remove_dir_all(&results).with_context(|| format!("could not remove {}", results.display()))?;
    }
    run_command(
        cargo()
            .args(["bench", "--package", "skipstream", "--bench", "instructions"])
            .env("GUNGRAUN_RUNNER", runner)
            .env("GUNGRAUN_HOME", &results),
    )?;
    let mut counts = Counts::new();
    read_counts(&results, &mut counts)?;
    ensure!(!counts.is_empty(), "{} has no results of Callgrind", results.display());
    let path = root().join(GOLDEN);
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let mut golden = parse(&text).with_context(|| format!("{} is corrupt", path.display()))?;
    let machine = machine()?;
    if options.update {
        golden.insert(machine.clone(), counts);
        fs::write(&path, format(&golden)).with_context(|| format!("could not write {}", path.display()))?;
        println!("{GOLDEN}: the golden counts of {machine} are updated");
        return Ok(());
    }
    let Some(golden) = golden.get(&machine) else {
        println!("{GOLDEN} has no golden counts of {machine}: nothing was compared; add them with --update");
        return Ok(());
    };
    let comparison = compare(golden, &counts);
    print!("{}", comparison.table);
    if !comparison.slower.is_empty() {
        bail!(
            "more than {TOLERANCE} % slower than the golden counts: {}; if that is worth it, run \
             `cargo xtask bench instructions --update` and commit {GOLDEN}",
            comparison.slower.join(", ")
        );
    }
    Ok(())
}

/// What counts depend on: the processor's instructions and the compiler.
fn machine() -> Result<String> {
    #[cfg(target_arch = "x86_64")]
    let instructions = if is_x86_feature_detected!("avx2") { "x86_64 with AVX2" } else { "x86_64" };
    #[cfg(not(target_arch = "x86_64"))]
    let instructions = std::env::consts::ARCH;
    let output = Command::new("rustc").arg("--version").current_dir(root()).output();
    let version = String::from_utf8(output.context("could not start rustc")?.stdout)?;
    let version = version.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(format!("{instructions}, {version}"))
}

/// Reads the files that Callgrind left: a folder for each benchmark.
fn read_counts(folder: &Path, counts: &mut Counts) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            read_counts(&path, counts)?;
        } else if path.extension().is_some_and(|extension| extension == "out") {
            let text = fs::read_to_string(&path)?;
            let total = total(&text).with_context(|| format!("{} has no total", path.display()))?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            *counts.entry(name).or_default() += total;
        }
    }
    Ok(())
}

/// The total of the first event, which is the instructions, in a file of Callgrind.
fn total(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let total = lines.find_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")))?;
    total.split_whitespace().next()?.parse().ok()
}

/// The sections of a file of golden counts, by machine.
fn parse(text: &str) -> Result<BTreeMap<String, Counts>> {
    let mut sections = BTreeMap::<String, Counts>::new();
    let mut section = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(machine) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(sections.entry(machine.to_owned()).or_default());
            continue;
        }
        let (name, count) =
            line.split_once(" = ").with_context(|| format!("`{line}` is not `name = count`"))?;
        let section = section.as_mut().with_context(|| format!("`{line}` is in no section"))?;
        section.insert(name.to_owned(), count.parse().with_context(|| format!("invalid count in `{line}`"))?);
    }
    Ok(sections)
}

/// The reverse of [`parse`].
fn format(sections: &BTreeMap<String, Counts>) -> String {
    let mut text = format!(
        "# Instructions of each benchmark of `cargo xtask bench instructions`, which fails if one takes {TOLERANCE} % more.\n\
         # After a change that is worth it: `cargo xtask bench instructions --update`.\n"
    );
    for (machine, counts) in sections {
        let _ = write!(text, "\n[{machine}]\n");
        for (name, count) in counts {
            let _ = writeln!(text, "{name} = {count}");
        }
    }
    text
}

/// Counts next to their golden counts.
struct Comparison {
    table: String,
    /// The benchmarks that take too long.
    slower: Vec<String>,
}

fn compare(golden: &Counts, counts: &Counts) -> Comparison {
    let mut table = String::new();
    let mut slower = Vec::new();
    for (name, &count) in counts {
        let Some(&expected) = golden.get(name) else {
            let _ = writeln!(table, "{name:<40} {count:>14}  new");
            continue;
        };
        let change = 100.0 * (count as f64 / expected as f64 - 1.0);
        let _ = writeln!(table, "{name:<40} {count:>14}  {change:+.2} %");
        if change > TOLERANCE {
            slower.push(name.clone());
        }
    }
    for name in golden.keys().filter(|name| !counts.contains_key(*name)) {
        let _ = writeln!(table, "{name:<40} {:>14}  gone", "");
    }
    Comparison { table, slower }
}

/// The program that drives Valgrind. It must have the version of the library, so it is installed in a folder of its
/// own and not where a project with another version would find it.
fn install_runner() -> Result<PathBuf> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("could not read Cargo.lock")?;
    let version = locked_version(&lock, "gungraun").context("Cargo.lock has no gungraun")?;
    let folder = target_folder()?.join(format!("gungraun-runner-{version}"));
    let runner = folder.join("bin").join("gungraun-runner");
    if !runner.exists() {
        run_with_retries(
            cargo()
                .args(["install", "--quiet", "--locked", "gungraun-runner", "--version", version])
                .arg("--root")
                .arg(&folder),
        )?;
    }
    Ok(runner)
}

/// The version of a package in a lock file.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_package_itself() {
        let lock = "[[package]]\nname = \"abc\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"ab\"\nversion = \"2.0.0\"\n";
        assert_eq!(locked_version(lock, "ab"), Some("2.0.0"));
        assert_eq!(locked_version(lock, "a"), None);
    }

    fn counts(counts: &[(&str, u64)]) -> Counts {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_stage_is_slower_beyond_the_tolerance_only() {
        let golden = counts(&[("corpus.words", 1_000), ("noise.words", 1_000), ("gone", 1)]);
        let comparison =
            compare(&golden, &counts(&[("corpus.words", 1_019), ("noise.words", 1_021), ("new", 5)]));
        assert_eq!(comparison.slower, ["noise.words"]);
        for part in ["+1.90 %", "+2.10 %", "  new", "  gone"] {
            assert!(comparison.table.contains(part), "{part}: {}", comparison.table);
        }
    }

    #[test]
    fn golden_counts_are_read_as_they_were_written() {
        let machine = |name: &str| (name.to_owned(), counts(&[("a.b", 1), ("c", 23)]));
        let golden = BTreeMap::from([machine("x86_64, rustc 1.95.0"), machine("aarch64, rustc 1.95.0")]);
        assert_eq!(parse(&format(&golden)).unwrap(), golden);
        assert!(parse("a = 1").unwrap_err().to_string().contains("no section"));
        assert!(parse("[m]\na = x").unwrap_err().to_string().contains("invalid count"));
    }

    #[test]
    fn the_total_of_callgrind_is_its_first_event() {
        assert_eq!(total("events: Ir Dr\nfn=(1) main\n1 2 3\nsummary: 40 7\ntotals: 40 7\n"), Some(40));
        assert_eq!(total("events: Ir\n"), None);
    }
}
