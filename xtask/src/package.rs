//! Builds and tests the Python package as people install it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use xtask::command::{cargo, program_for_tests, root, run, run_with_retries, target_folder};
use xtask::python::Environment;

/// Which package is tested, and how thoroughly.
#[derive(Args)]
pub struct Options {
    /// Test the library that `cargo build --workspace --lib` has built, without pip and without starting Ray, as CI does
    #[arg(long)]
    built: bool,
}

/// Puts the package and a built library into an environment: the arguments are the sources and the library.
const PLACE: &str = "
import shutil, sys, sysconfig
package = sysconfig.get_path('platlib') + '/skipstream'
shutil.rmtree(package, ignore_errors=True)
shutil.copytree(sys.argv[1], package)
shutil.copy(sys.argv[2], package + '/_engine.abi3.so')
";

/// Installs the package in a fresh environment and tests the installed copy, not the source folder.
pub fn run_tests(options: &Options) -> Result<()> {
    let package = root().join("bindings/python");
    let path = env::var("PATH").unwrap_or_default();
    if !options.built {
        build_shim()?;
        return test(&install(&package, &path)?, &path, "not torture");
    }
    let python = Environment::prepare(target_folder()?.join("python-package"))?;
    python.install_all(&package.join("tests/requirements.txt"))?;
    let library = target_folder()?.join("debug/lib_engine.so");
    let mut place = Command::new(python.program("python"));
    run(place.args(["-c", PLACE]).arg(package.join("python/skipstream")).arg(library))?;
    test(&python, &path, "not torture and not ray")
}

/// Installs a wheel where there is no Rust, and tests it.
pub fn test_wheel(wheel: &Path) -> Result<()> {
    let path = env::var("PATH").unwrap_or_default();
    let has_rust =
        |folder: &&str| ["cargo", "rustc"].iter().any(|name| Path::new(folder).join(name).exists());
    let path = path.split(':').filter(|folder| !has_rust(folder)).collect::<Vec<_>>().join(":");
    build_shim()?;
    test(&install(wheel, &path)?, &path, "not torture")
}

/// Builds the library by which tests kill processes. It is beside the command.
fn build_shim() -> Result<()> {
    run(cargo().args(["build", "--package", "torture-shim", "--locked"]))
}

/// Tests the package in an environment, with this search path for programs and the tests with these marks.
fn test(python: &Environment, path: &str, marks: &str) -> Result<()> {
    // The tests compare with the command.
    let program = program_for_tests()?;
    let package = root().join("bindings/python");
    let call = |arguments: &[&str]| {
        let mut command = Command::new(python.program("python"));
        command.arg("-B").arg("-m").args(arguments).current_dir(&package).env("PATH", path);
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
    let tests = ["pytest", "-m", marks, "--doctest-modules", "--pyargs", "skipstream", "tests"];
    run(call(&tests).env("SKIPSTREAM", program))
}

/// Installs the package, and attacks its training on several machines for minutes.
pub fn torture_ray() -> Result<()> {
    let package = root().join("bindings/python");
    let python = install(&package, &env::var("PATH").unwrap_or_default())?;
    let mut attack = Command::new(python.program("python"));
    attack.args(["-B", "-m", "pytest", "-m", "torture", "-v", "tests/test_ray_torture.py"]);
    run(attack.current_dir(&package))
}

/// Installs the package and what its tests need in a fresh environment.
fn install(source: &Path, path: &str) -> Result<Environment> {
    let folder = target_folder()?.join("python-package");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let python = Environment::prepare(folder)?;
    run_with_retries(python.pip("install").arg(source).env("PATH", path))?;
    python.install_all(&root().join("bindings/python/tests/requirements.txt"))?;
    Ok(python)
}
