//! Syncs vectors to stores: PostgreSQL with pgvector, a stand-in for Qdrant, and FAISS.

use std::process::Command;

use anyhow::Result;

use xtask::command::{program_for_tests, root, run, target_folder};
use xtask::python::Environment;

/// Builds the command, installs the stores, and runs the Python tests.
pub fn run_tests() -> Result<()> {
    let program = program_for_tests()?;
    let python = Environment::prepare(target_folder()?.join("stores"))?;
    let tests = root().join("crates/skipstream-cli/tests/stores");
    python.install_all(&tests.join("requirements.txt"))?;
    let mut pytest = Command::new(python.program("python"));
    // Leave no caches beside the tests.
    pytest.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&tests);
    run(pytest.env("SKIPSTREAM", program))
}
