//! Builds and tests the Python package as people install it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use xtask::command::{program_for_tests, root, run, run_with_retries, target_folder};
use xtask::python::Environment;

/// Installs the package in a fresh environment and tests the installed copy, not the source folder.
pub fn run_tests() -> Result<()> {
    // The tests compare with the command.
    let program = program_for_tests()?;
    let package = root().join("bindings/python");
    let python = install(&package)?;
    let call = |arguments: &[&str]| {
        let mut command = Command::new(python.program("python"));
        command.arg("-B").arg("-m").args(arguments).current_dir(&package);
        command
    };
    run(&mut call(&["ruff", "format", "--check", "--no-cache", "."]))?;
    run(&mut call(&["ruff", "check", "--no-cache", "."]))?;
    run(&mut call(&["mypy", "--strict", "--cache-dir=/dev/null", "--package", "skipstream"]))?;
    let exceptions = ["--allowlist", "stubtest-allowlist.txt"];
    run(call(&["mypy.stubtest", "--mypy-config-file", "pyproject.toml", "skipstream"]).args(exceptions))?;
    // Check for syntax that is newer than the oldest supported Python.
    let mut vermin = Command::new(python.program("vermin"));
    vermin.args(["--target=3.10-", "--no-tips", "--quiet", "python", "tutorial"]).current_dir(&package);
    run(&mut vermin)?;
    let tests = ["pytest", "--doctest-modules", "--pyargs", "skipstream", "tests"];
    run(call(&tests).env("SKIPSTREAM", program))
}

/// Installs the package, and attacks its training on several machines for minutes.
pub fn torture_ray() -> Result<()> {
    let package = root().join("bindings/python");
    let mut attack = Command::new(install(&package)?.program("python"));
    attack.args(["-B", "-m", "pytest", "-m", "torture", "-v", "tests/test_ray_torture.py"]);
    run(attack.current_dir(&package))
}

/// Installs the package and what its tests need in a fresh environment.
fn install(package: &Path) -> Result<Environment> {
    let folder = target_folder()?.join("python-package");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let python = Environment::prepare(folder)?;
    run_with_retries(python.pip("install").arg(package))?;
    python.install_all(&package.join("tests/requirements.txt"))?;
    Ok(python)
}
