//! The list of all dependencies of the program, with versions and licences.

use std::fs;

use anyhow::Result;

use super::{Release, copy};
use xtask::command::{root, run};

/// Writes the list in CycloneDX's format. (The wheel contains a list of its own.)
pub fn build(release: &Release) -> Result<()> {
    let crate_folder = root().join("crates/skipstream-cli");
    let name = format!("skipstream-{}.cdx", release.version);
    let mut list = release.tools.cargo("cargo-cyclonedx");
    list.args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--override-filename", &name]);
    list.arg("--manifest-path").arg(crate_folder.join("Cargo.toml"));
    run(release.reproducible(&mut list)?)?;
    // It writes one list beside each crate that it met.
    for member in ["crates/skipstream", "crates/skipstream-server", "crates/skipstream-cli"] {
        let written = root().join(member).join(format!("{name}.json"));
        if written.exists() {
            copy(&written, &release.folder.join(format!("{name}.json")))?;
            fs::remove_file(written)?;
        }
    }
    Ok(())
}
