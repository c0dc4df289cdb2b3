//! Phrases: found in the text, given in a file, listed and asked about.

use serde_json::Value;

use crate::desk::{Desk, assert_refused};

/// A text in which `new york city` and `state of mind` are phrases.
fn desk() -> Desk {
    let desk = Desk::new();
    let others = (0..2_000).map(|n| format!("{} {} {} {}\n", n % 7, n % 11, n % 13, n % 17));
    let text = "new york city\nstate of mind\n".repeat(400);
    desk.write("a.txt", others.collect::<String>() + &text + &text);
    desk
}

const PHRASES: [&str; 6] =
    ["--phrases", "npmi", "--phrase-threshold", "0.6", "--phrase-connectors", "english"];

fn listed(desk: &Desk, model: &str) -> Vec<Value> {
    let answer = desk.run(&["phrases", "--model", model, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

fn words(phrases: &[Value]) -> Vec<&str> {
    phrases.iter().map(|phrase| phrase["word"].as_str().unwrap()).collect()
}

#[test]
fn phrases_are_found_listed_inspected_and_asked_about() {
    let desk = desk();
    desk.train("m", &[&["a.txt"], &PHRASES[..]].concat());
    let phrases = listed(&desk, "m");
    for word in ["new_york", "new_york_city", "state_of_mind"] {
        assert!(words(&phrases).contains(&word), "{phrases:?}");
    }
    let first = &phrases[0];
    assert_eq!((&first["count"], first["phrase"].as_str().unwrap().contains(' ')), (&800.into(), true));
    assert!(first["score"].as_f64().unwrap() > 0.6 && first["found_at"].as_u64().unwrap() > 8_000, "{first}");
    let table = desk.run(&["phrases", "--model", "m", "-n", "2"]).out;
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.starts_with("phrase") && table.contains("found after words"), "{table}");
    let inspected = desk.run(&["inspect", "--model", "m"]).out;
    assert!(inspected.contains(&format!("{}; new ones are found: npmi", phrases.len())), "{inspected}");
    let [spaced, joined] = ["new york city", "new_york_city"].map(|word| {
        let answer = desk.run(&["neighbors", "--model", "m", "--min-count", "0", "-n", "3", word]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer.out.replace(word, "")
    });
    assert_eq!(spaced, joined);
    let answer = desk.run(&["vector", "--model", "m", "new york city"]);
    assert!(answer.out.starts_with("new_york_city "), "a line of word2vec's format: {answer:?}");
    // The words of a model that finds phrases are settings of the model.
    assert_refused(
        &desk.run(&["train", "--model", "m", "a.txt", "--phrases", "original"]),
        &["--phrases is original, the model's is npmi"],
    );
}

#[test]
fn given_phrases_are_joined_and_stay_with_the_model() {
    let desk = desk();
    desk.write("phrases.txt", "york city\n\nstate of mind\n");
    desk.train("m", &["a.txt", "--phrases-file", "phrases.txt"]);
    let phrases = listed(&desk, "m");
    assert_eq!(words(&phrases), ["state_of_mind", "york_city"]);
    assert!(phrases.iter().all(|phrase| phrase["score"].is_null() && phrase["count"] == 800), "{phrases:?}");
    // More of them, without new text.
    desk.write("more.txt", "new york city\n");
    let answer = desk.run(&["train", "--model", "m", "--phrases-file", "more.txt", "a.txt"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(words(&listed(&desk, "m")), ["state_of_mind", "york_city", "new_york_city"]);
    let answer = desk.run(&["words", "forget", "--model", "m", "york"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!desk.bytes("m").windows(4).any(|window| window == b"york"));
    assert_eq!(words(&listed(&desk, "m")), ["state_of_mind"]);
}

#[test]
fn a_model_without_phrases_says_so() {
    let desk = desk();
    desk.train("m", &["a.txt", "--phrases", "off"]);
    assert!(listed(&desk, "m").is_empty());
    let answer = desk.run(&["phrases", "--model", "m"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""));
    assert!(answer.err.contains("train --phrases npmi"), "{answer:?}");
    assert!(!desk.run(&["inspect", "--model", "m"]).out.contains("phrase"));
    // `off` is what it is, so the same command continues it.
    let answer = desk.run(&["train", "--model", "m", "a.txt", "--phrases", "off"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let desk = desk();
    desk.write("one.txt", "york\n");
    for (args, message) in [
        (
            &["--phrases", "npmi", "--strategy", "incremental"][..],
            "phrases is npmi; it must be left out with the strategy",
        ),
        (
            &["--phrases", "npmi", "--half-life", "1M"],
            "phrases is npmi; it must be off where half_life is 1000000",
        ),
        (&["--phrase-pairs", "1000"], "phrase_pairs is 1000; it must be left out where phrases is off"),
        (&["--phrases", "npmi", "--phrase-threshold", "1.5"], "phrase_threshold is 1.5; it must be below 1"),
        (&["--phrases-file", "one.txt"], "phrase is `york`; it must be two words or more"),
        (&["--phrases-file", "none.txt"], "none.txt"),
    ] {
        let answer = desk.run(&[&["train", "--model", "m", "a.txt"], args].concat());
        assert_refused(&answer, &[message]);
        assert!(!desk.names().contains(&"m".to_owned()));
    }
}
