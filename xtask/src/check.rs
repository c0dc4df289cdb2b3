//! The checks that every change must pass.

use std::process::Command;

use anyhow::Result;

use xtask::command::{cargo, root, run};

/// Runs the cheap checks first, so that a formatting mistake is found early.
pub fn check() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked"]).args(["--", "-D", "warnings"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    run(cargo().args(["test", "--workspace", "--locked"]))
}

/// Runs CI's own script.
pub fn ci() -> Result<()> {
    run(Command::new("bash").arg(".ci/run").current_dir(root()))
}
