//! Questions from standard input.

use std::io::{BufRead, BufReader, Write};

use crate::queries::trained;

#[test]
fn every_line_is_a_question_and_blank_ones_are_none() {
    let desk = trained();
    let answer =
        desk.run_with("moon star\n\n  \r\nbread  moon\r\nsalt soup", &["similarity", "--model", "m"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
    let asked: Vec<&str> = answer.out.lines().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(asked, ["moon star", "bread moon", "salt soup"]);
}

#[test]
fn a_dash_stands_for_standard_input_with_every_command() {
    let desk = trained();
    for (command, line) in [
        ("neighbors", "moon"),
        ("analogy", "bread cheese moon"),
        ("similarity", "moon star"),
        ("odd-one-out", "moon star bread"),
        ("vector", "moon"),
    ] {
        let asked: Vec<&str> = [command, "--model", "m"].into_iter().chain(line.split(' ')).collect();
        let expected = desk.run(&asked);
        assert_eq!(expected.code, Some(0), "{expected:?}");
        for dash in [&[][..], &["-"]] {
            let answer = desk.run_with(line, &[&[command, "--model", "m"], dash].concat());
            assert_eq!((answer.code, answer.out, answer.err), (Some(0), expected.out.clone(), String::new()));
        }
    }
}

#[test]
fn no_questions_are_no_error() {
    let desk = trained();
    let answer = desk.run_with("", &["neighbors", "--model", "m"]);
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (Some(0), "", ""));
}

#[test]
fn an_unknown_word_is_reported_and_the_next_line_answered() {
    let desk = trained();
    let answer = desk.run_with("moon stra\nmoon star\n", &["similarity", "--model", "m"]);
    assert_eq!(answer.code, Some(1));
    assert_eq!(
        answer.err,
        "`stra` is not in the vocabulary; did you mean star? --subwords estimates it from its spelling\n"
    );
    assert!(answer.out.starts_with("moon star "));
}

#[test]
fn a_line_that_is_not_a_question_is_named_and_the_next_one_answered() {
    let desk = trained();
    let lines = b"moon\nmoon star soup\n\xff star\nmoon xyzzy\nmoon star\n".to_vec();
    let answer = desk.run_with(lines.clone(), &["similarity", "--model", "m"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let expected = "line 1: expected 2 words (A B), got 1\n\
        line 2: expected 2 words (A B), got 3\n\
        line 3: byte 1 of the line is not valid UTF-8\n\
        `xyzzy` is not in the vocabulary; --subwords estimates it from its spelling\n";
    assert_eq!(answer.err, expected);
    assert!(answer.out.starts_with("moon star ") && answer.out.lines().count() == 1);

    let answer = desk.run_with(lines, &["similarity", "--model", "m", "--json"]);
    assert_eq!((answer.code, answer.err.as_str(), answer.out.lines().count()), (Some(2), "", 5));
    assert!(answer.out.starts_with(r#"{"line":1,"error":"expected 2 words (A B), got 1"}"#));
}

#[test]
fn a_line_that_is_too_long_is_named_and_the_next_one_answered() {
    let desk = trained();
    let lines = format!("{}\nmoon\n{}", "x".repeat(200_000), "y".repeat(65_536));
    let answer = desk.run_with(lines, &["vector", "--model", "m"]);
    assert_eq!(answer.code, Some(2));
    let (first, second) = answer.err.split_once('\n').unwrap();
    assert_eq!(first, "line 1: the line is longer than 65536 bytes");
    assert!(second.starts_with("`yyyyyy"), "just as long as may be");
    assert!(answer.out.starts_with("moon ") && answer.out.lines().count() == 1);
}

#[test]
fn words_in_a_wrong_number_are_refused_before_the_model_is_read() {
    let desk = trained();
    for (args, message) in [
        (
            &["analogy", "a", "b"][..],
            "expected 3 words (A B C: A is to B as C is to ?; or an expression such as king - man + woman), got 2",
        ),
        (
            &["analogy", "a", "b", "c", "d"],
            "expected 3 words (A B C: A is to B as C is to ?; or an expression such as king - man + woman), got 4",
        ),
        (&["similarity", "a"], "expected 2 words (A B), got 1"),
        (&["odd-one-out", "a", "b"], "expected at least 3 words (WORD WORD WORD …), got 2"),
    ] {
        let answer = desk.run(&[args, &["--model", "none"]].concat());
        assert_eq!((answer.code, answer.err), (Some(2), format!("error: {message}\n")));
    }
}

/// Another program may wait for each answer before it asks again.
#[test]
fn an_answer_comes_before_the_next_question() {
    let desk = trained();
    let mut program = desk.start(&["neighbors", "--model", "m", "--json", "-n", "1"]);
    let mut questions = program.stdin.take().unwrap();
    let mut answers = BufReader::new(program.stdout.take().unwrap()).lines();
    for word in ["moon", "nonsense", "bread"] {
        writeln!(questions, "{word}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.starts_with(&format!("{{\"word\":\"{word}\"")), "{answer}");
    }
    drop(questions);
    assert_eq!(program.wait().unwrap().code(), Some(1));
}
