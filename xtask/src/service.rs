//! Tests the service in a browser and against its OpenAPI document.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use xtask::command::{program_for_tests, root, run, target_folder};
use xtask::python::Environment;

/// Which tests to run.
#[derive(Args)]
pub struct Options {
    /// Run only these tests
    only: Option<Tests>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tests {
    /// The page, in Chromium
    Browser,
    /// Requests generated from the OpenAPI document
    Schemathesis,
}

/// Builds the command, and runs the browser tests and the tests generated from the OpenAPI document.
pub fn run_tests(options: &Options) -> Result<()> {
    let wants = |tests| options.only.is_none_or(|only| only == tests);
    let program = program_for_tests()?;
    let tests = |name: &str| -> Result<_> {
        let folder = root().join("crates/skipstream-server/tests").join(name);
        let python = Environment::prepare(target_folder()?.join(name))?;
        python.install_all(&folder.join("requirements.txt"))?;
        let mut command = Command::new(python.program("python"));
        // Leave no caches beside the tests.
        command.arg("-B").env("SKIPSTREAM", &program);
        Ok((command, folder))
    };
    if wants(Tests::Schemathesis) {
        let (mut schemathesis, folder) = tests("schemathesis")?;
        run(schemathesis.arg(folder.join("run.py")).current_dir(target_folder()?))?;
    }
    if wants(Tests::Browser) {
        let browser = browser()?;
        let (mut pytest, folder) = tests("browser")?;
        pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(folder);
        run(pytest.env("CHROMIUM", browser))?;
    }
    Ok(())
}

/// Debian's Chromium, under one of its names.
fn browser() -> Result<PathBuf> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)));
    let browser = places.into_iter().find(|place| place.exists());
    browser.context("no Chromium found: install it (`apt-get install chromium`), or set CHROMIUM to its path")
}
