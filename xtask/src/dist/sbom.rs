//! The list of all dependencies of the program, with versions and licenses.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Release, copy};
use xtask::command::{output, root, run};

/// Writes the list in CycloneDX's format. (The wheel contains a list of its own.)
pub fn build(release: &Release) -> Result<()> {
    let crate_folder = root().join("crates/skipstream-cli");
    let name = format!("skipstream-{}.cdx", release.version);
    let mut list = release.tools.cargo("cargo-cyclonedx");
    list.args([
        "cyclonedx",
        "--format",
        "json",
        "--features",
        "brokers",
        "--spec-version",
        "1.5",
        "--override-filename",
        &name,
    ]);
    list.arg("--manifest-path").arg(crate_folder.join("Cargo.toml"));
    run(release.reproducible(&mut list)?)?;
    let written = format!("{name}.json");
    copy(&crate_folder.join(&written), &release.folder.join(&written))?;
    // It writes a list beside every crate of the workspace.
    let manifests = output(Command::new("git").args(["ls-files", "*Cargo.toml"]).current_dir(root()))?;
    for folder in manifests.lines().filter_map(|manifest| Path::new(manifest).parent()) {
        let list = root().join(folder).join(&written);
        if list.exists() {
            fs::remove_file(list)?;
        }
    }
    Ok(())
}
