//! The Python wheel, and the source distribution.

use anyhow::Result;

use super::Release;
use xtask::command::{root, run};

/// Builds both. One wheel is for all versions of Python from 3.10 on (abi3), and for glibc 2.17 or newer (manylinux2014).
pub fn build(release: &Release) -> Result<()> {
    let manifest = root().join("bindings/python/Cargo.toml");
    let mut wheel = release.tools.python("maturin");
    wheel.args(["build", "--release", "--locked", "--zig", "--compatibility", "manylinux2014"]);
    wheel.arg("--manifest-path").arg(&manifest).arg("--out").arg(&release.folder);
    run(release.reproducible(&mut wheel)?)?;
    let mut source = release.tools.python("maturin");
    source.arg("sdist").arg("--manifest-path").arg(&manifest).arg("--out").arg(&release.folder);
    run(release.reproducible(&mut source)?)
}
