//! Vectors of texts.

use serde_json::{Value, json};

use crate::desk::{Answer, Desk, assert_refused};

/// A model of text in lower case that joins *new york*, and has *colour* merged into *color*.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("phrases.txt", "new york\n");
    desk.write("a.txt", "new york has a color\na tea has milk\n".repeat(200));
    desk.train("m", &["--phrases-file", "phrases.txt", "a.txt"]);
    let merged = desk.run(&["words", "merge", "--model", "m", "colour", "--into", "color"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    desk
}

fn embed(desk: &Desk, lines: &str, args: &[&str]) -> Answer {
    desk.run_with(lines, &[&["embed", "--model", "m"], args].concat())
}

fn vectors(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn floats(vector: &Value) -> Vec<f64> {
    vector.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// The vector of a word, by another command.
fn vector_of(desk: &Desk, word: &str) -> Vec<f64> {
    let answer = desk.run(&["vector", "--model", "m", "--json", word]);
    floats(&serde_json::from_str::<Value>(&answer.out).unwrap()["vector"])
}

#[test]
fn a_line_has_the_mean_of_its_words_with_phrases_joined_and_merged_words_replaced() {
    let desk = desk();
    let found = vectors(&embed(&desk, "tea with milk\nNew York\na colour\n", &[]));
    assert_eq!((&found[0]["words"], &found[0]["missed"]), (&json!(2), &json!(["with"])));
    let [tea, milk] = ["tea", "milk"].map(|word| vector_of(&desk, word));
    for (value, (tea, milk)) in floats(&found[0]["vector"]).iter().zip(tea.iter().zip(&milk)) {
        assert!((value - (tea + milk) / 2.0).abs() < 1e-6);
    }
    assert_eq!(floats(&found[1]["vector"]), vector_of(&desk, "new_york"));
    assert_eq!(found[2], vectors(&embed(&desk, "a color", &[]))[0]);
    // A vectors file knows the same.
    let export = desk.run(&["export", "--model", "m", "--to", "safetensors", "v"]);
    assert_eq!(export.code, Some(0), "{export:?}");
    let of_vectors = desk.run_with("tea with milk\nNew York\na colour\n", &["embed", "--model", "v"]);
    assert_eq!(vectors(&of_vectors), found);
}

#[test]
fn weights_and_unit_length_can_be_chosen() {
    let desk = desk();
    let lines = "a tea\n";
    let of = |args: &[&str]| floats(&vectors(&embed(&desk, lines, args))[0]["vector"]);
    let [none, idf, sif] = ["none", "idf", "sif"].map(|weighting| of(&["--weighting", weighting]));
    assert!(none != idf && idf != sif && sif != none);
    assert_eq!(none, of(&[]));
    let unit = of(&["--weighting", "sif", "--normalize"]);
    let norm = |vector: &[f64]| vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    assert!((norm(&unit) - 1.0).abs() < 1e-6 && (norm(&sif) - 1.0).abs() > 1e-3);
    for (unit, sif_value) in unit.iter().zip(&sif) {
        assert!((unit - sif_value / norm(&sif)).abs() < 1e-6);
    }
}

#[test]
fn the_formats_have_the_same_values() {
    let desk = desk();
    let lines = "tea\nnew york\r\nunknown\nmilk";
    let json = vectors(&embed(&desk, lines, &["--allow-unknown"]));
    assert_eq!(json.len(), 4);
    assert_eq!(json[2], json!({"vector": null, "words": 0, "missed": ["unknown"]}));
    let text = embed(&desk, lines, &["--to", "text", "--allow-unknown"]).out;
    let text: Vec<Vec<f32>> =
        text.lines().map(|line| line.split(' ').map(|value| value.parse().unwrap()).collect()).collect();
    let args = ["embed", "--model", "m", "--to", "npy", "--allow-unknown"];
    let npy = desk.bytes_of(lines, &args);
    assert_eq!(npy.len(), 128 + 4 * 16 * 4);
    assert!(String::from_utf8_lossy(&npy[..128]).contains("'shape': (4, 16)"));
    let npy: Vec<f32> =
        npy[128..].chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    for (place, (text, npy)) in text.iter().zip(npy.chunks(16)).enumerate() {
        if place == 2 {
            assert!(text.iter().chain(npy).all(|value| value.is_nan()));
        } else {
            assert_eq!(text, npy);
            let json: Vec<f32> = floats(&json[place]["vector"]).iter().map(|&value| value as f32).collect();
            assert_eq!(json, npy);
        }
    }
    assert_eq!(desk.bytes_of("", &args).len(), 128);
}

#[test]
fn a_line_without_a_known_word_is_an_error_that_names_it() {
    let desk = desk();
    let answer = embed(&desk, "tea\nnobody knows nobody\nmilk\n", &[]);
    assert_eq!((answer.code, answer.out.lines().count()), (Some(1), 1), "{answer:?}");
    let message =
        "line 2: no word is in the vocabulary: `nobody`, `knows`; --allow-unknown accepts such lines\n";
    assert_eq!(answer.err, message);
    let answer = embed(&desk, "tea\n\n", &["--to", "npy"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{answer:?}");
    assert_eq!(answer.err, "line 2: it has no words; --allow-unknown accepts such lines\n");
    // A word that is estimated is known.
    assert_eq!(vectors(&embed(&desk, "teas\n", &["--subwords"]))[0]["words"], 1);
}

#[test]
fn weights_need_counts() {
    let desk = desk();
    desk.run(&["export", "--model", "m", "--to", "word2vec-text", "v.txt"]);
    let answer = desk.run_with("tea\n", &["embed", "--model", "v.txt", "--weighting", "sif"]);
    assert_refused(&answer, &["these vectors have no counts", "--weighting"]);
    assert_eq!(desk.run_with("TEA\n", &["embed", "--model", "v.txt"]).code, Some(0));
}
