//! A model that is named without `--model`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, Command};
use skipstream::formats::{self, Format};
use skipstream::snapshot;

/// Inserts `--model` before the first argument without a flag, if that must be the model: the command takes nothing else
/// without a flag, or it is a file of vectors.
pub fn with_flag(program: &Command, mut args: Vec<OsString>) -> Vec<OsString> {
    if let Some(place) = place(program, &args) {
        args.insert(place, "--model".into());
    }
    args
}

fn place(program: &Command, args: &[OsString]) -> Option<usize> {
    let (mut command, mut start) = (program, 1);
    while let Some(next) = args.get(start).and_then(|name| command.find_subcommand(name)) {
        (command, start) = (next, start + 1);
    }
    // The model of these may not exist yet, and they take other files.
    if ["train", "import"].contains(&command.get_name()) {
        return None;
    }
    let model = command.get_arguments().find(|own| own.get_id() == "model")?;
    let mut first = None;
    let mut rest = args.iter().enumerate().skip(start);
    while let Some((place, arg)) = rest.next() {
        let text = arg.to_string_lossy();
        match text.strip_prefix('-') {
            None | Some("") => {
                first.get_or_insert(place);
            }
            Some("-") => break,
            Some(_) => {
                let option = option(command, &text);
                if option.is_some_and(|option| option.get_id() == model.get_id()) {
                    return None;
                }
                if option.is_some_and(|option| takes_next(option, &text)) {
                    rest.next();
                }
            }
        }
    }
    let only_the_model = command.get_positionals().next().is_none();
    first.filter(|&place| only_the_model || is_model(&args[place]))
}

/// The option that an argument begins with.
fn option<'a>(command: &'a Command, arg: &str) -> Option<&'a Arg> {
    let long = arg.strip_prefix("--").and_then(|long| long.split('=').next());
    command.get_arguments().find(|own| match long {
        Some(long) => own.get_long() == Some(long),
        None => own.get_short().is_some() && own.get_short() == arg.chars().nth(1),
    })
}

/// Whether the value of an option is the next argument.
fn takes_next(option: &Arg, arg: &str) -> bool {
    let has_value = arg.contains('=') || !arg.starts_with("--") && arg.len() > 2;
    option.get_action().takes_values() && !option.is_require_equals_set() && !has_value
}

/// Whether this names vectors. Any file whose first line ends in a number could be GloVe's.
fn is_model(name: &OsStr) -> bool {
    let path = Path::new(name);
    let is_there = path.is_file() || path.is_dir();
    is_there
        && (snapshot::kind(path).is_ok()
            || formats::recognize(path).is_ok_and(|format| format != Format::Glove))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    #[test]
    fn values_of_options_are_not_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m");
        std::fs::write(&model, "1 1\nmoon 0.5\n").unwrap();
        let model = model.to_str().unwrap();
        let program = Cli::definition();
        let inserted = |line: &str| {
            let line = line.replace('M', model);
            let args = line.split(' ').map(OsString::from).collect();
            with_flag(&program, args).join(OsStr::new(" ")).into_string().unwrap().replace(model, "M")
        };
        for (line, expected) in [
            ("s neighbors M moon", "s neighbors --model M moon"),
            ("s neighbors -n 3 M moon", "s neighbors -n 3 --model M moon"),
            ("s neighbors -n3 --top=5 --json M", "s neighbors -n3 --top=5 --json --model M"),
            ("s neighbors moon M", "s neighbors moon M"),
            ("s neighbors -n M moon", "s neighbors -n M moon"),
            ("s neighbors -m other M", "s neighbors -m other M"),
            ("s neighbors M --model other", "s neighbors M --model other"),
            ("s neighbors M --model=other", "s neighbors M --model=other"),
            ("s neighbors -- M", "s neighbors -- M"),
            ("s analogy M king - man", "s analogy --model M king - man"),
            ("s words pin M moon", "s words pin --model M moon"),
            ("s words list none", "s words list --model none"),
            ("s inspect --json none", "s inspect --json --model none"),
            ("s export M out", "s export --model M out"),
            ("s eval pairs.tsv M", "s eval pairs.tsv M"),
            ("s train M a.txt", "s train M a.txt"),
            ("s import M", "s import M"),
            ("s diff M M", "s diff M M"),
            ("s nonsense M", "s nonsense M"),
        ] {
            assert_eq!(inserted(line), expected);
        }
    }
}
