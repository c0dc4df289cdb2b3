//! Hints for people who know other programs or forget `--model`.

use crate::desk::{Desk, assert_refused};
use crate::queries::trained;

#[test]
fn flags_of_other_programs_are_translated() {
    let desk = Desk::new();
    desk.write("a.txt", "one two\n");
    for (flag, ours) in [
        ("-size", "`--dimensions`"),
        ("--vector-size", "`--dimensions`"),
        ("--vector_size", "`--dimensions`"),
        ("-dim", "`--dimensions`"),
        ("-window", "`-window` is spelled `--window`"),
        ("-ws", "`--window`"),
        ("-negative", "`--negatives`"),
        ("-neg", "`--negatives`"),
        ("-sample", "`--subsample`"),
        ("-alpha", "`--learning-rate`"),
        ("-lr", "`--learning-rate`"),
        ("-iter", "`--replays`"),
        ("--epochs", "`--replays`"),
        ("-epoch", "--passes N"),
        ("--workers", "`--threads`"),
        ("-min-count", "`--max-vocabulary`"),
        ("--min-count", "`--max-vocabulary`"),
        ("-minCount", "`--max-vocabulary`"),
        ("--cbow", "only skip-gram"),
        ("-cbow", "only skip-gram"),
        ("--sg", "only skip-gram"),
        ("-hs", "only negative sampling"),
        ("-output", "`--model`"),
        ("-train", "without a flag"),
        ("-input", "without a flag"),
        ("-pretrainedVectors", "`--init`"),
        ("-minn", "use `--subword-min` with the commands"),
    ] {
        let answer = desk.run(&["train", "--model", "m", flag, "5", "a.txt"]);
        assert_refused(&answer, &[flag, ours]);
        assert_eq!(desk.names(), ["a.txt"]);
    }
}

#[test]
fn a_whole_command_line_of_word2vec_is_translated_at_once() {
    let desk = Desk::new();
    let answer =
        desk.run(&["train", "-train", "a.txt", "-output", "v.bin", "-size=100", "-cbow", "0", "-iter", "3"]);
    assert_eq!(answer.code, Some(2));
    for part in ["`-train`", "`-output`", "`-size`", "`-cbow`", "`-iter`"] {
        assert!(answer.err.contains(part), "no {part} in {answer:?}");
    }
}

#[test]
fn commands_of_other_programs_are_translated() {
    let desk = Desk::new();
    for (command, ours) in [
        ("nn", "`neighbors`"),
        ("distance", "`neighbors`"),
        ("most-similar", "`neighbors`"),
        ("most_similar", "`neighbors`"),
        ("skipgram", "`train`"),
        ("cbow", "CBOW is not supported"),
        ("analogies", "`analogy`"),
        ("word-analogy", "`analogy`"),
        ("doesnt-match", "`odd-one-out`"),
        ("compute-accuracy", "`eval`"),
        ("print-word-vectors", "`vector`"),
        ("supervised", "classification is not supported"),
    ] {
        assert_refused(
            &desk.run(&[command, "model.bin"]),
            &[&format!("there is no command `{command}`; "), ours],
        );
    }
    assert_refused(&desk.run(&["nonsense"]), &["unrecognized subcommand"]);
}

#[test]
fn a_tip_names_the_flag_that_does_it() {
    let desk = Desk::new();
    for (args, part) in [
        (&["serve", "--port", "80"][..], "there is no `--port`; use `--listen 127.0.0.1:8321`"),
        (&["serve", "--host=0.0.0.0"], "`--listen"),
        (&["train", "-m", "m", "--vocab-size", "5", "a.txt"], "use `--max-vocabulary`"),
        (&["serve", "--vocab-size", "5"], "use `--max-vocabulary`"),
        (&["train", "-m", "m", "--batch-size", "5", "a.txt"], "use `--batch-words`"),
        (&["train", "-m", "m", "--stopwords", "s.txt", "a.txt"], "use `--block FILE`"),
        (&["serve", "--stopwords", "s.txt"], "`skipstream words block --file FILE`"),
        (&["train", "-m", "m", "--lang", "en", "a.txt"], "`--text prose` splits ordinary text"),
        (&["quantize", "m"], "`export --to safetensors --quantize int8`"),
        (&["neighbors", "-m", "m", "--threads", "2"], "unexpected argument '--threads'"),
        (&["neighbors", "-m", "m", "--workers", "2"], "(--threads belongs to `train`, `eval`, `serve`)"),
        (
            &["serve", "--model", "m"],
            "there is no `--model`; to serve a trained model, copy it to `DIR/model.safetensors`",
        ),
        (
            &["serve", "--data", "a.txt"],
            "a.txt: this is a file; use the name of a folder; to serve a trained model, ",
        ),
    ] {
        desk.write("a.txt", "one two\n");
        assert_refused(&desk.run(args), &[part]);
    }
}

#[test]
fn the_model_of_a_training_needs_its_flag() {
    let desk = trained();
    let answer = desk.run(&["train", "m", "a.txt"]);
    assert_refused(&answer, &["the model needs a flag: `skipstream train --model m a.txt`"]);
    desk.write("pairs.tsv", "moon star 3\n");
    let answer = desk.run(&["eval", "pairs.tsv", "m"]);
    assert_refused(&answer, &["the model needs a flag: `skipstream eval --model m pairs.tsv`"]);
    let answer = desk.run(&["eval", "pairs.tsv"]);
    assert!(answer.code == Some(2) && !answer.err.contains("--model pairs.tsv"), "{answer:?}");
}
