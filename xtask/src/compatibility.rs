//! Exchanges vectors with the programs that people use: gensim, fastText, finalfusion, numpy, safetensors,
//! spaCy.

use anyhow::Result;

use xtask::command::{program_for_tests, root, run, target_folder};
use xtask::python::Environment;

/// Builds the command, installs the other programs, and runs the Python tests.
pub fn run_tests() -> Result<()> {
    let program = program_for_tests()?;
    let python = Environment::prepare(target_folder()?.join("compatibility"))?;
    let tests = root().join("crates/skipstream-cli/tests/peers");
    python.install_all(&tests.join("requirements.txt"))?;
    let mut pytest = std::process::Command::new(python.program("python"));
    // Leave no caches beside the tests.
    pytest.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&tests);
    run(pytest.env("SKIPSTREAM", program))
}
