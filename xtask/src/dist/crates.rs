//! The crates as they would be published.

use anyhow::Result;

use super::{Release, copy};
use xtask::command::{cargo, run, target_folder};

/// The published crates: each uses those before it.
const CRATES: [&str; 3] = ["skipstream", "skipstream-server", "skipstream-cli"];

/// Packs the crates.
pub fn build(release: &Release) -> Result<()> {
    publish(&["--no-verify"])?;
    for name in CRATES {
        let file = format!("{name}-{}.crate", release.version);
        copy(&target_folder()?.join("package").join(&file), &release.folder.join(&file))?;
    }
    Ok(())
}

/// Compiles what would be published.
pub fn try_them() -> Result<()> {
    publish(&[])
}

fn publish(options: &[&str]) -> Result<()> {
    let mut publish = cargo();
    publish.args(["publish", "--dry-run", "--locked"]).args(options);
    for name in CRATES {
        publish.args(["--package", name]);
    }
    run(&mut publish)
}
