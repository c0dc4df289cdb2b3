//! `cargo xtask bench instructions`: the stages under Callgrind, which counts instead of timing.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use xtask::command::{cargo, exists, root, run as run_command, run_with_retries, target_folder};

/// Counts instructions, and compares with the count before, which is kept under `target/gungraun`.
pub fn run() -> Result<()> {
    ensure!(exists("valgrind"), "instructions are counted by Valgrind: install the package `valgrind`");
    let runner = install_runner()?;
    run_command(
        cargo()
            .args(["bench", "--package", "skipstream", "--bench", "instructions"])
            .env("GUNGRAUN_RUNNER", runner),
    )
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
}
