//! How a command names its model.

use crate::desk::{Desk, assert_refused};
use crate::queries::trained;

/// Commands that read a model, without it.
const COMMANDS: [&[&str]; 11] = [
    &["inspect"],
    &["inspect", "--words"],
    &["phrases"],
    &["words", "list"],
    &["neighbors", "-n", "3", "moon"],
    &["analogy", "bread", "-", "cheese", "+", "moon"],
    &["similarity", "moon", "star"],
    &["odd-one-out", "moon", "star", "bread"],
    &["vector", "moon"],
    &["eval", "pairs.tsv"],
    &["export", "--top", "5", "--to", "word2vec-text", "-"],
];

/// Each command of the desk with its model named in some way, and what it prints with `--model m`.
fn each(name: impl Fn(&Desk, &[&str]) -> crate::desk::Answer) {
    let desk = trained();
    desk.write("pairs.tsv", "moon star 3\nbread soup 4\nmoon soup 1\n");
    for command in COMMANDS {
        let expected = desk.run(&[command, &["--model", "m"]].concat());
        assert_eq!(expected.code, Some(0), "{expected:?}");
        let answer = name(&desk, command);
        assert_eq!((answer.code, answer.out), (Some(0), expected.out), "{command:?} {}", answer.err);
    }
}

#[test]
fn a_short_flag_names_the_model() {
    each(|desk, command| desk.run(&[command, &["-m", "m"]].concat()));
}

#[test]
fn the_environment_names_the_model_and_a_flag_takes_precedence() {
    each(|desk, command| desk.run_in(&[("SKIPSTREAM_MODEL", "m")], command));
    each(|desk, command| desk.run_in(&[("SKIPSTREAM_MODEL", "none")], &[command, &["-m", "m"]].concat()));
}

#[test]
fn the_first_argument_names_the_model() {
    each(|desk, command| {
        let words = if command[0] == "words" { 2 } else { 1 };
        let (name, rest) = command.split_at(words);
        desk.run(&[name, &["m"], rest].concat())
    });
    // It takes precedence over the environment, too.
    let desk = trained();
    let answer = desk.run_in(&[("SKIPSTREAM_MODEL", "none")], &["vector", "m", "moon"]);
    assert_eq!(answer.out, desk.run(&["vector", "-m", "m", "moon"]).out);
    // A word is not a model.
    let answer = desk.run(&["neighbors", "moon"]);
    assert_refused(&answer, &["required arguments were not provided"]);
    assert_refused(&desk.run(&["inspect", "none"]), &["none: No such file"]);
}

#[test]
fn training_takes_the_short_flag_and_the_environment() {
    let desk = Desk::new();
    desk.write("a.txt", "to be or not to be\n");
    assert_eq!(desk.run(&["train", "-m", "one", "a.txt"]).code, Some(0));
    assert_eq!(desk.run_in(&[("SKIPSTREAM_MODEL", "two")], &["train", "a.txt"]).code, Some(0));
    assert!(desk.bytes("one") == desk.bytes("two"));
}
