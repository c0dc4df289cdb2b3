//! `cargo xtask demo`: skipstream on real text, in a minute or two. It needs only Rust and a C compiler.

mod addresses;
#[cfg(feature = "wikipedia")]
mod days;
#[cfg(feature = "wikipedia")]
mod wikipedia;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use xtask::command::{build_quickly, line};

/// Where the models, and the text of Wikipedia, are kept.
const FOLDER: &str = "demo";

/// Arguments of `cargo xtask demo`.
#[derive(Args)]
pub struct Options {
    /// The text to learn
    #[arg(value_enum, default_value = "addresses")]
    text: Text,
}

#[derive(Clone, Copy, ValueEnum)]
enum Text {
    /// The State of the Union addresses, 1790 to 2021, which are in the repository
    Addresses,
    /// 12.6 million words of the English Wikipedia of 2006, downloaded with pip (36 MB), day by day
    Wikipedia,
}

/// Builds skipstream and learns a text.
pub fn run(options: &Options) -> Result<()> {
    match options.text {
        Text::Addresses => addresses::show(&Demo::prepare("addresses")?),
        #[cfg(feature = "wikipedia")]
        Text::Wikipedia => wikipedia::show(&Demo::prepare("wikipedia")?),
        // What unpacks Wikipedia is compiled only if it is needed.
        #[cfg(not(feature = "wikipedia"))]
        Text::Wikipedia => {
            let mut again = xtask::command::cargo();
            again.args([
                "run",
                "--quiet",
                "--profile",
                "quick",
                "--package",
                "xtask",
                "--features",
                "wikipedia",
            ]);
            xtask::command::run_quietly(
                again.args(["--", "demo", "wikipedia"]).current_dir(env::current_dir()?),
            )
        }
    }
}

/// The program and the model that it trains.
struct Demo {
    program: PathBuf,
    model: PathBuf,
}

impl Demo {
    fn prepare(name: &str) -> Result<Self> {
        let program = match env::var_os("SKIPSTREAM") {
            Some(program) => program.into(),
            None => build_quickly()?,
        };
        fs::create_dir_all(FOLDER).with_context(|| format!("could not create the folder {FOLDER}"))?;
        let model = Path::new(FOLDER).join(name).with_extension("safetensors");
        // A model remembers its files, and would skip those of an earlier demo.
        if model.exists() {
            fs::remove_file(&model).with_context(|| format!("could not delete {}", model.display()))?;
        }
        Ok(Self { program, model })
    }

    /// A command of skipstream on the model.
    fn skipstream(&self, command: &str) -> Command {
        let mut skipstream = Command::new(&self.program);
        skipstream.arg(command).arg("--model").arg(&self.model);
        skipstream
    }

    /// Prints a command, runs it, and fails if it fails.
    fn show(&self, command: &mut Command) -> Result<()> {
        println!("\n$ {}", line(command));
        let status =
            command.status().with_context(|| format!("could not start {}", self.program.display()))?;
        // 1 is no failure: a word may still be unknown, and skipstream says so.
        ensure!(matches!(status.code(), Some(0 | 1)), "`{}` failed: {status}", line(command));
        Ok(())
    }
}
