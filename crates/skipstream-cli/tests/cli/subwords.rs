//! Words that are estimated from their spelling.

use skipstream::embeddings::{SubwordOptions, Subwords};
use skipstream::{Embeddings, Vectors};

use crate::desk::{Desk, assert_refused};
use crate::queries::trained;

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

/// What the library makes of the model.
fn library(desk: &Desk, words: &[&str]) -> Embeddings {
    let embeddings = Embeddings::load(desk.path("m"), Vectors::default()).unwrap();
    let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None).unwrap();
    embeddings.with_estimates(&subwords, words)
}

fn ask(desk: &Desk, command: &str, words: &[&str]) -> serde_json::Value {
    let answer = desk.run(&[&[command, "--model", "m", "--subwords", "--json"], words].concat());
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{answer:?}");
    json(&answer.out)
}

#[test]
fn every_question_can_be_about_an_unknown_word_and_says_so() {
    let desk = trained();
    let library = library(&desk, &["moons", "starry"]);

    let answer = ask(&desk, "neighbors", &["moons"]);
    assert_eq!(answer["sources"], serde_json::json!({"moons": "subwords"}));
    let expected = library.neighbors("moons", 10).unwrap();
    assert_eq!(answer["neighbors"].as_array().unwrap().len(), 10);
    for (found, expected) in answer["neighbors"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!(found["word"], expected.word);
        assert!((found["similarity"].as_f64().unwrap() - f64::from(expected.similarity)).abs() < 1e-6);
    }
    assert_eq!(answer["neighbors"][0]["word"], "moon");

    let answer = ask(&desk, "similarity", &["moons", "starry"]);
    let expected = library.similarity("moons", "starry").unwrap();
    assert!((answer["similarity"].as_f64().unwrap() - f64::from(expected)).abs() < 1e-6);
    assert_eq!(answer["sources"].as_object().unwrap().len(), 2);

    let answer = ask(&desk, "vector", &["moons"]);
    let vector: Vec<f64> =
        answer["vector"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    for (found, &expected) in vector.iter().zip(&*library.vector("moons").unwrap()) {
        assert!((found - f64::from(expected)).abs() < 1e-6);
    }
    assert_eq!(ask(&desk, "odd-one-out", &["moons", "starry", "bread"])["odd_one_out"], "bread");
    for question in [&["bread", "cheese", "moons"][..], &["cheese - bread + moons"]] {
        let answer = ask(&desk, "analogy", question);
        assert_eq!(answer["sources"], serde_json::json!({"moons": "subwords"}), "{question:?}");
        assert_eq!(answer["answers"].as_array().unwrap().len(), 10);
    }
    assert_eq!(ask(&desk, "neighbors", &["moon"])["sources"], serde_json::json!({}));
}

#[test]
fn text_is_marked_on_standard_error_and_rare_words_are_blended() {
    let desk = trained();
    let answer =
        desk.run_with("moons\nmoon\nname7\n", &["neighbors", "--model", "m", "--subwords", "-n", "1"]);
    assert_eq!(answer.code, Some(0));
    let expected = "`moons` is not in the vocabulary; its vector is estimated from its subwords\n\
        `name7` is blended with an estimate from its subwords, because it has few occurrences\n";
    assert_eq!(answer.err, expected);
    assert!(answer.out.starts_with("moons "), "{answer:?}");
}

#[test]
fn evaluation_scores_every_pair() {
    let desk = trained();
    desk.write("pairs.tsv", "moons\tstar\t9\nbread\tcheesy\t8\nmoon\tbread\t1\nsoups\tcomets\t2\n");
    let score = |args: &[&str]| {
        json(&desk.run(&[&["eval", "--model", "m", "--json", "pairs.tsv"], args].concat()).out)
    };
    let plain = score(&[]);
    assert_eq!((&plain["sets"][0]["used"], &plain["subwords"]), (&1.into(), &serde_json::Value::Null));
    let estimated = score(&["--subwords"]);
    assert_eq!(estimated["sets"][0]["used"], 4);
    assert_eq!(estimated["subwords"]["buckets"], 200_000);
    assert!(estimated["sets"][0]["spearman"].as_f64().unwrap() > 0.5, "{estimated}");
    let text = desk.run(&["eval", "--model", "m", "--subwords", "pairs.tsv"]).out;
    assert!(text.contains("unknown words are estimated from their subwords"), "{text}");
}

#[test]
fn a_list_of_words_is_exported_with_or_without_estimates() {
    let desk = trained();
    desk.write("words.txt", "moons\nmoon\n\nstar\nmoon\n");
    let export = ["export", "--model", "m", "--to", "word2vec-text", "--words", "words.txt", "-"];
    let answer = desk.run(&export);
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.err, "words.txt: not in the vocabulary: 1; --subwords estimates them\n");
    assert!(answer.out.starts_with("2 16\n"), "{answer:?}");
    let answer = desk.run(&[&export[..], &["--subwords"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.starts_with("estimated from subwords: 1; "), "{answer:?}");
    let line = answer.out.lines().find(|line| line.starts_with("moons ")).unwrap();
    assert_eq!(line, desk.run(&["vector", "--model", "m", "--subwords", "moons"]).out.trim_end());
}

#[test]
fn the_table_of_spacy_is_exported() {
    let desk = trained();
    let sizes = ["--subword-buckets", "50", "--subword-min", "2", "--subword-max", "4"];
    let answer = desk.run(&[&["export", "--model", "m", "--to", "floret", "t.floret"], &sizes[..]].concat());
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), "t.floret: 50 rows of 16 dimensions\n"));
    let table = String::from_utf8(desk.bytes("t.floret")).unwrap();
    assert!(table.starts_with("50 16 2 4 1 2166136261 < >\n0 ") && table.lines().count() == 51);
}

#[test]
fn options_that_have_no_effect_are_refused() {
    let desk = trained();
    let refused = |args: &[&str], part| assert_refused(&desk.run(args), &[part]);
    refused(&["vector", "--model", "m", "--subword-min", "2", "moon"], "need --subwords");
    refused(&["vector", "--model", "m", "--subwords", "--subword-min", "7", "moon"], "subword_min is 7");
    refused(&["export", "--model", "m", "--to", "npy", "--subwords", "v.npy"], "--words");
    desk.write("words.txt", "moon\n");
    refused(
        &["export", "--model", "m", "--to", "floret", "--words", "words.txt", "t"],
        "floret has no words",
    );
}
