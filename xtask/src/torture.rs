//! Builds the program and the attacks on it, and starts them.

use std::env;
use std::process::Command;

use anyhow::Result;

use xtask::command::{cargo, run_quietly, target_folder};

use crate::Forwarded;

/// Attacks the program in SKIPSTREAM with the `torture` beside us, as CI does, or else builds both.
pub fn run(forwarded: &Forwarded) -> Result<()> {
    let built = env::var_os("SKIPSTREAM").is_some();
    if !built {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--profile", "quick"]);
        run_quietly(build.args([
            "--package",
            "skipstream-cli",
            "--package",
            "torture",
            "--package",
            "torture-shim",
        ]))?;
    }
    let profile = if built { "debug" } else { "quick" };
    let torture = target_folder()?.join(profile).join("torture");
    run_quietly(Command::new(torture).args(&forwarded.arguments))
}
