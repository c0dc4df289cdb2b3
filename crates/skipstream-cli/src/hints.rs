//! Hints for command lines that were refused: the names that other programs use, and a missing `--model`.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use skipstream::snapshot;

/// How `serve` goes on from a trained model.
pub const SERVE_A_MODEL: &str =
    "to serve a trained model, copy it to `DIR/model.safetensors`, and run `skipstream serve --data DIR`";

/// Commands of other programs, without `_`, and what does the same here.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["skipgram", "word2vec", "fit", "build-vocab"], "use `train`"),
    (&["cbow"], "use `train`, which learns skip-gram; CBOW is not supported"),
    (&["nn", "distance", "most-similar", "similar", "nearest"], "use `neighbors`"),
    (&["next", "recommend", "predict-output-word"], "use `predict-next`"),
    (&["analogies", "word-analogy"], "use `analogy`"),
    (&["doesnt-match"], "use `odd-one-out`"),
    (&["print-word-vectors", "get-vector"], "use `vector`"),
    (
        &["compute-accuracy", "accuracy", "evaluate", "evaluate-word-pairs", "evaluate-word-analogies"],
        "use `eval`",
    ),
    (&["dump", "info"], "use `inspect`"),
    (&["convert", "save-word2vec-format"], "use `export`"),
    (&["load-word2vec-format"], "use `import`, or pass the file as `--model` to any query"),
    (&["undo", "revert"], "use `rollback`"),
    (&["supervised", "predict", "predict-prob", "test"], "text classification is not supported"),
    (
        &["quantize"],
        "use `export --to safetensors --quantize int8`; `export --top` and `export --min-count` write fewer words",
    ),
    (&["print-sentence-vectors"], "use `embed`"),
    (
        &["print-ngrams"],
        "`vector` prints the vectors of words, and `embed` those of texts; there are no others",
    ),
    (&["word2phrase"], "use `train --phrases original`; `skipstream phrases` lists what was found"),
];

/// Flags of other programs, without `-` and `_` and in lower case, the commands that the hint is for (all if there are none),
/// and what to write instead.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (&["size", "dim", "vectorsize", "embeddingsize", "embeddingdim"], &[], "use `--dimensions`"),
    (&["ws", "windowsize"], &[], "use `--window`"),
    (
        &["positive", "negative"],
        &["neighbors", "analogy", "similarity", "odd-one-out", "vector"],
        "use `skipstream analogy --model MODEL 'king - man + woman'`",
    ),
    (&["neg", "negative"], &[], "use `--negatives`"),
    (&["sample"], &[], "use `--subsample`"),
    (
        &["alpha", "lr", "startalpha"],
        &[],
        "use `--learning-rate`; it is an AdaGrad rate, whose default is rarely worth changing",
    ),
    (&["minalpha", "lrupdaterate", "endalpha"], &[], "AdaGrad has no schedule of learning rates"),
    (
        &["iter", "epoch", "epochs"],
        &[],
        "text is read once, and `--replays` trains it again from a buffer; for several passes over a fixed corpus, use \
         `--strategy batch --passes N`",
    ),
    (&["thread", "workers", "numworkers", "jobs"], &[], "use `--threads`"),
    (&["nsexponent"], &[], "use `--noise-exponent`"),
    (
        &["maxvocabsize", "maxfinalvocab", "vocabsize", "vocabularysize", "vocab"],
        &[],
        "use `--max-vocabulary`",
    ),
    (&["batchsize"], &[], "use `--batch-words`"),
    (&["stopwords", "stoplist", "stopwordsfile"], &["train"], "use `--block FILE`"),
    (&["stopwords", "stoplist"], &[], "use `skipstream words block --file FILE`"),
    (
        &["lang", "language"],
        &[],
        "no setting depends on the language; `--text prose` splits ordinary text by Unicode's rules",
    ),
    (&["port", "host", "address", "bind"], &[], "use `--listen 127.0.0.1:8321`"),
    (
        &["mincount"],
        &[],
        "the rarest words leave when the vocabulary is full (`--max-vocabulary`, `--memory`), and `neighbors`, `analogy` and \
         `export` have `--min-count`",
    ),
    (&["train", "input", "corpusfile", "sentences"], &[], "name the files without a flag"),
    (&["output", "out", "save"], &["export"], "name the file without a flag"),
    (&["output", "save"], &[], "use `--model`; `export` writes other formats"),
    (&["model"], &["serve"], SERVE_A_MODEL),
    (&["pretrainedvectors"], &[], "use `--init`"),
    (&["cbow", "sg"], &[], "only skip-gram is supported, and is always used"),
    (&["hs", "loss"], &[], "only negative sampling is supported, and is always used"),
    (&["binary"], &[], "use `export --to word2vec-binary`"),
    (&["savevocab"], &[], "use `inspect --words`"),
    (&["readvocab"], &[], "words enter the vocabulary as they appear in the text"),
    (&["minn"], &[], "use `--subword-min` with the commands that have `--subwords`"),
    (&["maxn"], &[], "use `--subword-max` with the commands that have `--subwords`"),
    (&["bucket"], &[], "use `--subword-buckets` with the commands that have `--subwords`"),
    (&["wordngrams"], &[], "word n-grams are not supported"),
    (&["classes"], &[], "clustering is not supported"),
    (&["saveoutput"], &[], "the model always has both matrices; `--vectors context` selects the second"),
    (&["debug"], &[], "use `--verbose` or `--quiet`"),
    (&["topn", "k"], &[], "use `-n`"),
    (&["restrictvocab"], &[], "use `--top`, or `eval --restrict`"),
];

/// What to type instead, if the mistake is a known one.
pub fn hints(program: &Command, args: &[OsString]) -> Vec<String> {
    let args: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some((name, rest)) = args.split_first() else { return Vec::new() };
    if let (true, Some(train)) = (name.starts_with('-'), program.find_subcommand("train")) {
        // word2vec's programs have no commands.
        let mut flags: Vec<String> =
            args.iter().filter_map(|arg| foreign_flag(program, train, arg)).collect();
        if !flags.is_empty() {
            flags.insert(0, "a command comes first: `skipstream train --model MODEL FILES`".to_owned());
        }
        return flags;
    }
    let Some(command) = program.find_subcommand(name) else {
        return foreign_command(name)
            .map(|hint| format!("there is no command `{name}`; {hint}"))
            .into_iter()
            .collect();
    };
    let flags: Vec<String> = rest.iter().filter_map(|arg| foreign_flag(program, command, arg)).collect();
    if flags.is_empty() { missing_model(command, rest).into_iter().collect() } else { flags }
}

/// The command that does what another program's command does.
fn foreign_command(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('_', "-");
    COMMANDS.iter().find(|(names, _)| names.contains(&&*name)).map(|(_, hint)| *hint)
}

/// What to write for a flag that this command does not have.
fn foreign_flag(program: &Command, command: &Command, arg: &str) -> Option<String> {
    let dashed = arg.split('=').next()?;
    let bare = dashed.trim_start_matches('-');
    if bare.len() == dashed.len() || bare.len() < 2 {
        return None;
    }
    let long = bare.replace('_', "-");
    if has_flag(command, &format!("--{long}")) {
        // Ours, but for its spelling.
        return (dashed != format!("--{long}")).then(|| format!("`{dashed}` is spelled `--{long}`"));
    }
    let plain = long.to_lowercase().replace('-', "");
    let (.., hint) = FLAGS.iter().find(|(names, commands, _)| {
        names.contains(&&*plain) && (commands.is_empty() || commands.contains(&command.get_name()))
    })?;
    let place = place(program, command, hint).unwrap_or_default();
    Some(format!("there is no `{dashed}`; {hint}{place}"))
}

/// Which commands have the first flag of a hint, if this one does not.
fn place(program: &Command, command: &Command, hint: &str) -> Option<String> {
    let flag = code(hint).next()?.split(' ').next().filter(|flag| flag.starts_with('-'))?;
    if has_flag(command, flag) {
        return None;
    }
    let others = program.get_subcommands().filter(|other| has_flag(other, flag));
    let others: Vec<String> = others.map(|other| format!("`{}`", other.get_name())).collect();
    Some(format!(" ({flag} belongs to {})", others.join(", ")))
}

/// What is in backticks.
fn code(hint: &str) -> impl Iterator<Item = &str> {
    hint.split('`').skip(1).step_by(2)
}

/// Whether a command has a flag, such as `--top` or `-n`.
fn has_flag(command: &Command, flag: &str) -> bool {
    command.get_arguments().any(|own| match flag.strip_prefix("--") {
        Some(long) => own.get_long() == Some(long),
        None => own.get_short().is_some_and(|short| flag == format!("-{short}")),
    })
}

/// The command with `--model`, if a model was named without it.
fn missing_model(command: &Command, rest: &[String]) -> Option<String> {
    let takes_model = command.get_arguments().any(|own| own.get_id() == "model");
    let has_flag = |arg: &String| arg == "--model" || arg.starts_with("--model=") || arg.starts_with("-m");
    if !takes_model || rest.iter().any(has_flag) {
        return None;
    }
    let name = command.get_name();
    // These also take other files.
    let must_be_model = ["train", "eval", "import"].contains(&name);
    let is_model = |arg: &&String| {
        let path = Path::new(arg.as_str());
        path.is_file() && (!must_be_model || snapshot::kind(path).is_ok())
    };
    let model = rest.iter().find(is_model)?;
    let others: String = rest.iter().filter(|arg| *arg != model).map(|arg| format!(" {arg}")).collect();
    Some(format!("the model needs a flag: `skipstream {name} --model {model}{others}`"))
}

#[cfg(all(test, feature = "serve", feature = "sync"))]
mod tests {
    use super::*;
    use crate::args::Cli;

    /// The command that a piece of code in a hint calls, and the rest of the code. It may begin with the program's name.
    fn called<'a>(program: &'a Command, code: &'a str) -> Option<(&'a Command, &'a str)> {
        let code = code.strip_prefix("skipstream ").unwrap_or(code);
        let (mut command, mut rest) = (program, code);
        while let Some(next) = command.find_subcommand(rest.split(' ').next().unwrap_or_default()) {
            command = next;
            rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
        }
        (command.get_name() != program.get_name()).then_some((command, rest))
    }

    #[test]
    fn every_command_and_flag_that_a_hint_names_exists() {
        let program = Cli::definition();
        let of_flags = FLAGS.iter().map(|(_, commands, hint)| (*commands, *hint));
        let of_commands = COMMANDS.iter().map(|(_, hint)| (&[][..], *hint));
        for (commands, hint) in of_flags.chain(of_commands) {
            for command in commands {
                assert!(program.find_subcommand(command).is_some(), "there is no `{command}`");
            }
            for code in code(hint) {
                let flags = |code: &str| -> Vec<String> {
                    let parts = code.split(' ').filter(|part| part.starts_with('-') && part.len() > 1);
                    parts.map(str::to_owned).collect()
                };
                if let Some((command, rest)) = called(&program, code) {
                    for flag in flags(rest) {
                        assert!(has_flag(command, &flag), "`{}` has no {flag}: {hint}", command.get_name());
                    }
                } else if code.starts_with('-') {
                    for flag in flags(code) {
                        let has = |command: &Command| has_flag(command, &flag);
                        assert!(program.get_subcommands().any(has), "there is no {flag}: {hint}");
                        let named = commands.iter().filter_map(|name| program.find_subcommand(name));
                        assert!(named.into_iter().all(has), "one of {commands:?} has no {flag}: {hint}");
                    }
                } else {
                    assert_eq!(code, "DIR/model.safetensors", "this is neither a command nor a flag: {hint}");
                }
            }
        }
    }

    #[test]
    fn no_hint_is_hidden_by_a_flag_of_ours_or_by_another_hint() {
        let program = Cli::definition();
        for (place, (names, commands, _)) in FLAGS.iter().enumerate() {
            for name in *names {
                let earlier = FLAGS[..place]
                    .iter()
                    .find(|(names, commands, _)| names.contains(name) && commands.is_empty());
                assert!(earlier.is_none(), "{name} is there twice");
                for command in commands.iter().filter_map(|name| program.find_subcommand(name)) {
                    assert!(!has_flag(command, &format!("--{name}")), "{name} is a flag of ours");
                }
            }
        }
    }
}
