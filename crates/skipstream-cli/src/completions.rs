//! `skipstream completions`.

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::Ending;
use crate::args::Cli;
use crate::output::print;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream completions bash > skipstream.bash\n  \
    skipstream completions zsh > _skipstream\n  \
    skipstream completions fish > skipstream.fish\n\n\
    For the current shell: source <(skipstream completions bash)")]
pub struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints a script.
pub fn run(args: CompletionsArgs) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::definition(), "skipstream", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(Ending::Done)
}
