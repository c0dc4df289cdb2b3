//! `train --init`: words that start with given vectors.

use crate::desk::{Desk, assert_refused, text, train};

fn vectors(desk: &Desk, model: &str) -> Vec<(String, Vec<f32>)> {
    let answer = desk.run(&["export", "--model", model, "--to", "word2vec-text", "-"]);
    let rows = answer.out.lines().skip(1).map(|line| {
        let mut fields = line.split(' ');
        let word = fields.next().unwrap().to_owned();
        (word, fields.map(|value| value.parse().unwrap()).collect())
    });
    rows.collect()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

#[test]
fn words_start_with_the_vectors_and_the_model_remembers_the_file() {
    let desk = Desk::new();
    desk.write("a.txt", text(50_000, 1));
    desk.write("small.txt", "bread galaxy unheard\n");
    desk.train("given", &["--seed", "7", "a.txt"]);
    let answer = desk.run(&["train", "--model", "m", "--init", "given", "small.txt"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("new model, words initialized from given, 16 dimensions"), "{answer:?}");

    let given = vectors(&desk, "given");
    let learned = vectors(&desk, "m");
    assert_eq!(learned.len(), 3, "words that do not occur do not enter");
    for word in ["bread", "galaxy"] {
        let find =
            |rows: &[(String, Vec<f32>)]| rows.iter().find(|(known, _)| known == word).unwrap().1.clone();
        let similarity = cosine(&find(&given), &find(&learned));
        assert!(similarity > 0.95, "{word}: {similarity}");
    }
    let head = String::from_utf8_lossy(&desk.bytes("m")[..4_000]).into_owned();
    assert!(head.contains(r#"\"initial\":{\"file\":\"given\",\"fingerprint\":\""#), "{head}");
}

#[test]
fn init_is_for_a_new_model_and_its_dimensions_must_agree() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("given", &["a.txt"]);
    let answer = desk.run(&["train", "--model", "m", "--dimensions", "20", "--init", "given", "a.txt"]);
    assert_refused(&answer, &["dimensions is 20; it must be 16, as in given"]);
    let answer = desk.run(&train("given", &["--init", "given", "a.txt"]));
    assert_refused(&answer, &["given: --init is for a new model, and this one exists"]);
    let answer = desk.run(&train("m", &["--init", "none", "a.txt"]));
    assert_refused(&answer, &["none: No such file"]);
    desk.write("text", "this is no file of vectors at all");
    assert_refused(&desk.run(&train("m", &["--init", "text", "a.txt"])), &["text"]);
    let answer = desk.run(&["train", "--model", "m", "--init", "given", "--memory", "1M", "a.txt"]);
    assert_refused(&answer, &["for the vectors of --init: memory is ", "it must be at least"]);
    assert_eq!(desk.names(), ["a.txt", "given", "text"]);
}
