//! Models that cannot be read: exit code 2, and a message that names the file.

use crate::desk::Desk;
use crate::queries::trained;

const COMMANDS: [&[&str]; 5] = [
    &["neighbors", "moon"],
    &["analogy", "bread", "cheese", "moon"],
    &["similarity", "moon", "star"],
    &["odd-one-out", "moon", "star", "bread"],
    &["vector", "moon"],
];

/// Every command refuses the model, with this in its message.
fn assert_refused(desk: &Desk, model: &str, part: &str) {
    for command in COMMANDS {
        let answer = desk.run(&[command, &["--model", model]].concat());
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{answer:?}");
        assert!(answer.err.starts_with(&format!("error: {model}: ")), "{answer:?}");
        assert!(answer.err.contains(part), "no `{part}` in {answer:?}");
    }
}

/// The bytes of a tensor, by the file's header.
fn place_of(bytes: &[u8], tensor: &str) -> std::ops::Range<usize> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let offset = |n: usize| 8 + length + header[tensor]["data_offsets"][n].as_u64().unwrap() as usize;
    offset(0)..offset(1)
}

#[test]
fn nothing_a_folder_or_something_else() {
    let desk = trained();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("empty", "");
    assert_refused(&desk, "none", "No such file or directory");
    assert_refused(&desk, "folder", "this folder has no vectors.tsv");
    assert_refused(&desk, "empty", "empty");
    desk.write("text", "to be or not to be\n");
    assert_refused(&desk, "text", "not a model file");
}

#[test]
fn a_choice_among_vectors_of_one_kind() {
    let desk = trained();
    let answer = desk.run(&["export", "--model", "m", "--to", "safetensors", "v"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let asked = ["similarity", "moon", "star", "--model"];
    assert_eq!(desk.run(&[&asked[..], &["v"]].concat()).out, desk.run(&[&asked[..], &["m"]].concat()).out);
    for vectors in ["target", "context"] {
        let answer = desk.run(&[&asked[..], &["v", "--vectors", vectors]].concat());
        assert_eq!(answer.code, Some(2));
        let expected =
            format!("error: v: this file has one kind of vectors only; it has no separate {vectors} vectors");
        assert!(answer.err.starts_with(&expected), "{answer:?}");
    }
}

#[test]
fn vectors_cannot_be_trained_further() {
    let desk = trained();
    desk.run(&["export", "--model", "m", "--to", "safetensors", "v"]);
    let answer = desk.run(&["train", "--model", "v", "a.txt"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("v: this file has vectors but no training state"), "{answer:?}");
    assert!(answer.err.contains("`train --init v`"), "{answer:?}");
}

#[test]
fn a_model_that_is_cut_in_half() {
    let desk = trained();
    let bytes = desk.bytes("m");
    desk.write("half", &bytes[..bytes.len() / 2]);
    assert_refused(&desk, "half", "its header describes");
}

#[test]
fn a_header_that_lies_about_sizes() {
    let desk = trained();
    let mut bytes = desk.bytes("m");
    let shape = b"\"shape\":[";
    let at = bytes.windows(shape.len()).position(|window| window == shape).unwrap();
    // Another digit.
    bytes[at + shape.len()] ^= 1;
    desk.write("liar", &bytes);
    assert_refused(&desk, "liar", "invalid header");
}

#[test]
fn a_flipped_byte_in_any_tensor_that_is_read() {
    let desk = trained();
    for tensor in ["words", "word_ends", "counts", "target", "context"] {
        let mut bytes = desk.bytes("m");
        let place = place_of(&bytes, tensor);
        bytes[(place.start + place.end) / 2] ^= 1;
        desk.write("flipped", &bytes);
        assert_refused(&desk, "flipped", &format!("the checksum of `{tensor}` is wrong"));
    }
}
