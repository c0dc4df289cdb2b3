//! The checks that every change must pass.

use std::process::Command;

use anyhow::Result;

use xtask::command::{cargo, root, run};

/// Runs the quick checks first, so that a mistake of form is not found after minutes of tests.
pub fn check() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked"]).args(["--", "-D", "warnings"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    run(cargo().args(["test", "--workspace", "--locked"]))
}

/// Runs the script that CI runs, so that there is one description of it.
pub fn ci() -> Result<()> {
    run(Command::new("bash").arg(".ci/run").current_dir(root()))
}
