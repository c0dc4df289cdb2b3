//! The packagers, at fixed versions: from PyPI and crates.io into `target/`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use xtask::command::{cargo, root, run_with_retries, target_folder};
use xtask::python::Environment;

/// Where the packagers are installed.
pub struct Tools {
    python: Environment,
    folder: PathBuf,
}

/// Name and version of each crate.
const CRATES: [(&str, &str); 2] = [("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

impl Tools {
    /// Installs what is missing.
    pub fn install() -> Result<Tools> {
        let python = Environment::prepare(target_folder()?.join("dist-tools-python"))?;
        python.install_all(&root().join("packaging/requirements.txt"))?;
        let tools = Tools { python, folder: target_folder()?.join("dist-tools") };
        for (name, version) in CRATES {
            if !tools.folder.join("bin").join(name).exists() {
                let mut install = cargo();
                install.args(["install", "--quiet", "--debug", "--locked", "--root"]).arg(&tools.folder);
                run_with_retries(
                    install.arg(format!("{name}@{version}")).env("CARGO_PROFILE_DEV_DEBUG", "0"),
                )?;
            }
        }
        Ok(tools)
    }

    /// A program from PyPI.
    pub fn python(&self, name: &str) -> Command {
        let mut command = Command::new(self.python.program(name));
        // They find each other, and zig, by the path.
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = self.python.program("");
        command.env("PATH", format!("{}:{path}", folder.display()));
        command
    }

    /// A program from crates.io.
    pub fn cargo(&self, name: &str) -> Command {
        Command::new(self.folder.join("bin").join(name))
    }
}
