//! Hints for command lines that were refused: the names that word2vec, fastText and gensim use, and a missing `--model`.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use skipstream::snapshot;

/// What to type instead, if the mistake is a known one.
pub fn hints(program: &Command, args: &[OsString]) -> Vec<String> {
    let args: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some((name, rest)) = args.split_first() else { return Vec::new() };
    if let (true, Some(train)) = (name.starts_with('-'), program.find_subcommand("train")) {
        // word2vec's programs have no commands.
        let mut flags: Vec<String> = args.iter().filter_map(|arg| foreign_flag(train, arg)).collect();
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
    let flags: Vec<String> = rest.iter().filter_map(|arg| foreign_flag(command, arg)).collect();
    if flags.is_empty() { missing_model(command, rest).into_iter().collect() } else { flags }
}

/// The command that does what another program's command does.
fn foreign_command(name: &str) -> Option<&'static str> {
    Some(match name.to_lowercase().replace('_', "-").as_str() {
        "skipgram" | "word2vec" | "fit" | "build-vocab" => "use `train`",
        "cbow" => "use `train`, which learns skip-gram; CBOW is not supported",
        "nn" | "distance" | "most-similar" | "similar" | "nearest" => "use `neighbors`",
        "next" | "recommend" | "predict-output-word" => "use `predict-next`",
        "analogies" | "word-analogy" => "use `analogy`",
        "doesnt-match" => "use `odd-one-out`",
        "print-word-vectors" | "get-vector" => "use `vector`",
        "compute-accuracy" | "accuracy" | "evaluate" | "evaluate-word-pairs" | "evaluate-word-analogies" => {
            "use `eval`"
        }
        "dump" | "info" => "use `inspect`",
        "convert" | "save-word2vec-format" => "use `export`",
        "load-word2vec-format" => "use `import`, or pass the file as `--model` to any query",
        "undo" | "revert" => "use `rollback`",
        "supervised" | "predict" | "predict-prob" | "test" => "text classification is not supported",
        "quantize" => "`export` writes fewer words with `--top` or `--min-count`; vectors are not quantized",
        "print-sentence-vectors" | "print-ngrams" => {
            "`vector` prints the vectors of words; there are no others"
        }
        "word2phrase" => "use `train --phrases original`; `skipstream phrases` lists what was found",
        _ => return None,
    })
}

/// What to write for a flag that this command does not have.
fn foreign_flag(command: &Command, arg: &str) -> Option<String> {
    let dashed = arg.split('=').next()?;
    let bare = dashed.trim_start_matches('-');
    if bare.len() == dashed.len() || bare.len() < 2 {
        return None;
    }
    let long = bare.replace('_', "-");
    if command.get_arguments().any(|own| own.get_long() == Some(&long)) {
        // Ours, but for its spelling.
        return (dashed != format!("--{long}")).then(|| format!("`{dashed}` is spelled `--{long}`"));
    }
    let instead = match long.to_lowercase().replace('-', "").as_str() {
        "size" | "dim" | "vectorsize" => "use `--dimensions`",
        "ws" => "use `--window`",
        "positive" | "negative" if command.get_name() != "train" => {
            "use `skipstream analogy --model MODEL 'king - man + woman'`"
        }
        "neg" | "negative" => "use `--negatives`",
        "sample" => "use `--subsample`",
        "alpha" | "lr" | "startalpha" => {
            "use `--learning-rate`; it is an AdaGrad rate, whose default is rarely worth changing"
        }
        "minalpha" | "lrupdaterate" | "endalpha" => "AdaGrad has no schedule of learning rates",
        "iter" | "epoch" | "epochs" => {
            "text is read once, and `--replays` trains it again from a buffer; for several passes over a fixed corpus, use \
             `--strategy batch --passes N`"
        }
        "thread" | "workers" => "use `--threads`",
        "nsexponent" => "use `--noise-exponent`",
        "maxvocabsize" | "maxfinalvocab" => "use `--max-vocabulary`",
        "mincount" => {
            "the rarest words leave when the vocabulary is full (`--max-vocabulary`, `--memory`), and `neighbors`, \
             `analogy` and `export` have `--min-count`"
        }
        "train" | "input" | "corpusfile" | "sentences" => "name the files without a flag",
        "output" | "save" => "use `--model`; `export` writes other formats",
        "pretrainedvectors" => "use `--init`",
        "cbow" | "sg" => "only skip-gram is supported, and is always used",
        "hs" | "loss" => "only negative sampling is supported, and is always used",
        "binary" => "use `export --to word2vec-binary`",
        "savevocab" => "use `inspect --words`",
        "readvocab" => "words enter the vocabulary as they appear in the text",
        "minn" => "use `--subword-min` with the commands that have `--subwords`",
        "maxn" => "use `--subword-max` with the commands that have `--subwords`",
        "bucket" => "use `--subword-buckets` with the commands that have `--subwords`",
        "wordngrams" => "word n-grams are not supported",
        "classes" => "clustering is not supported",
        "saveoutput" => "the model always has both matrices; `--vectors context` selects the second",
        "debug" => "use `--verbose` or `--quiet`",
        "topn" | "k" => "use `-n`",
        "restrictvocab" => "use `--top`, or `--restrict` with `eval`",
        _ => return None,
    };
    Some(format!("there is no `{dashed}`; {instead}"))
}

/// The command with `--model`, if a model was named without it.
fn missing_model(command: &Command, rest: &[String]) -> Option<String> {
    let takes_model = command.get_arguments().any(|own| own.get_id() == "model");
    if !takes_model || rest.iter().any(|arg| arg == "--model" || arg.starts_with("--model=")) {
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
