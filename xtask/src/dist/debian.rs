//! The Debian package, as `[package.metadata.deb]` of the command line describes it.

use std::path::Path;

use anyhow::Result;

use super::{Release, program};
use xtask::command::run;

/// Packs the program that was built, as this version, into a folder or a file.
pub fn build(release: &Release, version: &str, to: &Path) -> Result<()> {
    let mut pack = release.tools.cargo("cargo-deb");
    pack.args(["--no-build", "--no-strip", "--package", "skipstream-cli", "--target", &program::triple()]);
    pack.args(["--deb-version", &format!("{version}-1"), "--output"]).arg(to);
    run(release.reproducible(&mut pack)?)
}
