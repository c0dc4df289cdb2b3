//! `neighbors` and `export`.

use crate::desk::{Desk, text};

fn trained() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(40_000, 1));
    desk.train("m", &["--finish", "a.txt"]);
    desk
}

#[test]
fn words_of_the_same_topic_are_nearer_than_others() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "--json", "-n", "300", "moon"]);
    let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let neighbors = json[0]["neighbors"].as_array().unwrap();
    let place = |word: &str| neighbors.iter().position(|neighbor| neighbor["word"] == word);
    for star in ["star", "comet", "orbit", "galaxy", "planet"] {
        for food in ["bread", "butter", "cheese", "honey", "salt", "soup"] {
            assert!(place(star).unwrap() < place(food).unwrap(), "{star} {food}");
        }
    }
}

#[test]
fn each_word_has_a_table() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "-n", "5", "moon", "bread"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let tables: Vec<Vec<&str>> = answer.out.split("\n\n").map(|table| table.lines().collect()).collect();
    assert_eq!(tables.len(), 2);
    for (table, word) in tables.iter().zip(["moon", "bread"]) {
        assert!(table[0].starts_with(word) && table[0].ends_with("similarity        count"));
        assert_eq!(table.len(), 6);
        let columns: Vec<&str> = table[1].split_whitespace().collect();
        let decimals = columns[1].split_once('.').unwrap().1;
        assert_eq!((columns.len(), decimals.len()), (3, 4), "{answer:?}");
    }
}

#[test]
fn an_unknown_word_is_exit_code_1_and_the_others_are_answered() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "nonsense", "moon"]);
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.err, "`nonsense` is not in the vocabulary\n");
    assert!(answer.out.starts_with("moon "), "{answer:?}");

    let answer = desk.run(&["neighbors", "--model", "m", "--json", "nonsense", "moon"]);
    assert_eq!(answer.code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json[0]["word"], "nonsense");
    assert!(json[0]["neighbors"].is_null());
    assert_eq!(json[1]["neighbors"].as_array().unwrap().len(), 10);
    assert!(json[1]["neighbors"][0]["similarity"].as_f64().unwrap() > 0.5);
}

#[test]
fn the_text_export_has_a_header_and_the_most_frequent_words() {
    let desk = trained();
    let export = ["export", "--model", "m", "--to", "word2vec-text", "--top", "12"];
    let answer = desk.run(&[&export[..], &["out.txt"]].concat());
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""));
    assert_eq!(answer.err, "out.txt: 12 words of 16 dimensions\n");
    let text = String::from_utf8(desk.bytes("out.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("12 16", 13));
    assert!(lines[1..].iter().all(|line| line.split(' ').count() == 17));
    assert!(text.contains("\nmoon "));
    assert_eq!(desk.names(), ["a.txt", "m", "out.txt"]);

    let answer = desk.run(&[&export[..], &["-"]].concat());
    assert_eq!((answer.out, answer.err), (text, String::new()));
}

#[test]
fn the_binary_export_and_the_choice_of_vectors_differ() {
    let desk = trained();
    for vectors in ["sum", "target", "context"] {
        let export = ["export", "--model", "m", "--to", "word2vec-binary", "--vectors", vectors, vectors];
        assert_eq!(desk.run(&export).code, Some(0));
        assert!(desk.bytes(vectors).windows(5).any(|bytes| bytes == b"moon "));
    }
    assert!(desk.bytes("sum") != desk.bytes("target"));
    assert!(desk.bytes("target") != desk.bytes("context"));
}
