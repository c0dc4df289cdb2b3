//! Checks what operators use: monitoring, compose file, Kubernetes manifests, workflows.

use std::process::Command;

use anyhow::Result;

use xtask::command::{program_for_tests, root, run, target_folder};
use xtask::python::Environment;

/// Runs the checks with a real service. Without `promtool`, those of Prometheus are left out.
pub fn run_tests() -> Result<()> {
    let program = program_for_tests()?;
    let folder = root().join("deploy/tests");
    let python = Environment::prepare(target_folder()?.join("deploy"))?;
    python.install_all(&folder.join("requirements.txt"))?;
    let mut tests = Command::new(python.program("python"));
    tests.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(folder);
    run(tests.env("SKIPSTREAM", program))
}
