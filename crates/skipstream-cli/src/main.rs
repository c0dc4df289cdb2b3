//! The `skipstream` command: learns word vectors from text that never ends, and answers from them.
//!
//! What was typed is in `args.rs`. Each command turns it into what to do in a file of its own name.

mod analogy;
mod args;
mod ask;
mod completions;
mod diff;
mod embed;
mod eval;
mod existing;
mod export;
mod hints;
mod import;
mod inspect;
mod join;
mod lock;
mod man;
mod model;
mod neighbors;
mod odd_one_out;
mod output;
mod phrases;
mod positional;
mod predict_next;
mod previous;
mod remedy;
mod rollback;
mod selection;
#[cfg(feature = "serve")]
mod serve;
#[cfg(not(feature = "serve"))]
#[path = "serve/absent.rs"]
mod serve;
mod settings;
mod similarity;
mod subwords;
#[cfg(feature = "sync")]
mod sync;
#[cfg(not(feature = "sync"))]
#[path = "sync/absent.rs"]
mod sync;
mod table;
mod train;
mod vector;
mod words;

use std::env;
use std::io;
use std::process::ExitCode;

use skipstream::unstable::Kernel;

use args::{Cli, Command};
use output::note;
use train::{Event, Log, LogKind};

/// How a command ended, other than by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Done,
    /// A word that was asked for is not in the vocabulary.
    NotFound,
    /// A line was not a question. It was reported, and the others were answered.
    Misunderstood,
    /// Ctrl-C or a signal ended it early.
    Interrupted,
}

impl Ending {
    /// The exit code. An error's is 2, as it is for a command line that cannot be understood.
    fn code(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::NotFound => 1,
            Ending::Misunderstood => 2,
            Ending::Interrupted => 130,
        }
    }
}

fn main() -> ExitCode {
    let command = Cli::from_line().command;
    // Errors go there instead of to a person.
    let log = match &command {
        Command::Train(args) if args.log_json => Some(Log::new(LogKind::Json)),
        _ => None,
    };
    let result = choose_instructions().and_then(|()| match command {
        Command::Train(args) => train::run(*args),
        Command::Rollback(args) => rollback::run(args),
        Command::Join(args) => join::run(args),
        Command::Words(args) => words::run(args),
        Command::Phrases(args) => phrases::run(args),
        Command::Neighbors(args) => neighbors::run(args),
        Command::PredictNext(args) => predict_next::run(args),
        Command::Analogy(args) => analogy::run(args),
        Command::Similarity(args) => similarity::run(args),
        Command::OddOneOut(args) => odd_one_out::run(args),
        Command::Vector(args) => vector::run(args),
        Command::Embed(args) => embed::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Sync(args) => sync::run(args),
        Command::Serve(args) => serve::run(*args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    });
    match result {
        Ok(ending) => ExitCode::from(ending.code()),
        // Whoever reads our output has seen enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let message = with_causes(&error);
            match log {
                Some(log) => log.tell(&Event::Error { message: &message }),
                None => note(format_args!("error: {message}")),
            }
            ExitCode::from(2)
        }
    }
}

/// Tests and benchmarks can name a slower instruction set in the environment.
fn choose_instructions() -> anyhow::Result<()> {
    match env::var_os(Kernel::VARIABLE) {
        Some(name) => Ok(Kernel::choose(&name.to_string_lossy())?),
        None => Ok(()),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io_error = cause.downcast_ref::<io::Error>();
        io_error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// The message with its causes, except those that it already contains, and with the remedy.
fn with_causes(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    if let Some(remedy) = remedy::remedy_in(error) {
        message = format!("{message}; {remedy}");
    }
    message
}
