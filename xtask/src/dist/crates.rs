//! The crates as they would be published.

use anyhow::Result;

use super::{Release, copy};
use xtask::command::{cargo, run, target_folder};

/// The published crates: each uses those before it.
const CRATES: [&str; 3] = ["skipstream", "skipstream-server", "skipstream-cli"];

/// Packs the crates.
pub fn build(release: &Release) -> Result<()> {
    run_for_all(&["package", "--no-verify"])?;
    for name in CRATES {
        let file = format!("{name}-{}.crate", release.version);
        copy(&target_folder()?.join("package").join(&file), &release.folder.join(&file))?;
    }
    Ok(())
}

/// Compiles what would be published.
pub fn try_them() -> Result<()> {
    run_for_all(&["publish", "--dry-run"])
}

fn run_for_all(command: &[&str]) -> Result<()> {
    let mut cargo = cargo();
    cargo.args(command).arg("--locked");
    for name in CRATES {
        cargo.args(["--package", name]);
    }
    run(&mut cargo)
}
