//! The program under attack.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The `skipstream` program.
pub struct Program(PathBuf);

impl Program {
    /// The named program, or the one that was built with us.
    pub fn find(named: Option<PathBuf>) -> Result<Program> {
        let path = match named {
            Some(path) => path,
            None => env::current_exe()
                .context("cannot find the folder of the build")?
                .with_file_name("skipstream"),
        };
        ensure!(path.exists(), "{} does not exist: build skipstream-cli in the same profile", path.display());
        Ok(Program(path))
    }

    /// A command of the program.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.0);
        command.args(arguments.split_whitespace());
        command
    }
}
