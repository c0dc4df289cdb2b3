//! `skipstream man`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_mangen::Man;

use crate::Ending;
use crate::args::Cli;
use crate::output::print;

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream man > skipstream.1\n  \
    skipstream man --out pages\n\n\
    To read it now: skipstream man | man -l -")]
pub struct ManArgs {
    /// Folder to write one page per command to; created if missing [default: print the main page]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints the main page, or writes all pages.
pub fn run(args: ManArgs) -> Result<Ending> {
    let mut command = Cli::definition();
    // Propagates inherited arguments to the subcommands.
    command.build();
    match &args.out {
        None => print(&String::from_utf8(page(&command)?)?)?,
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            let subcommands = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
            for command in [&command].into_iter().chain(subcommands) {
                // For example `skipstream-eval`.
                let name = command.get_display_name().unwrap_or(command.get_name());
                let path = folder.join(format!("{name}.1"));
                fs::write(&path, page(command)?).with_context(|| path.display().to_string())?;
            }
        }
    }
    Ok(Ending::Done)
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).context("writing a page")?;
    Ok(page)
}
