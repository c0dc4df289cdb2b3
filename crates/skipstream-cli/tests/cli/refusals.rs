//! What is refused: exit code 2, and a message that names the thing.

use std::io::Write;

use crate::desk::{Desk, assert_refused, text, train};

#[test]
fn settings_that_differ_from_the_model_s() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("m", &["a.txt"]);
    let answer = desk.run(&["train", "--model", "m", "--window", "9", "--dimensions", "16", "a.txt"]);
    assert_refused(
        &answer,
        &["m: --window is 9, the model's is 5;", "settings are fixed once a model exists, except threads"],
    );
    let answer = desk.run(&["train", "--model", "m", "--threads", "1", "a.txt"]);
    assert_eq!(answer.code, Some(0), "what was not typed is the model's");
}

#[test]
fn a_setting_outside_its_limits() {
    let desk = Desk::new();
    desk.write("a.txt", text(100, 1));
    let answer = desk.run(&["train", "--model", "m", "--window", "0", "a.txt"]);
    assert_refused(&answer, &["window is 0; it must be from 1 to 1000"]);
    assert_eq!(desk.names(), ["a.txt"]);
}

#[test]
fn a_missing_file_or_a_folder_before_anything_is_learned() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    std::fs::create_dir(desk.path("folder")).unwrap();
    for name in ["none.txt", "folder"] {
        let answer = desk.run(&train("m", &["a.txt", name]));
        assert_refused(&answer, &[name]);
        assert_eq!(desk.names(), ["a.txt", "folder"], "no model, no lock");
    }
}

#[test]
fn a_file_that_changed() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("m", &["a.txt"]);
    desk.write("a.txt", text(1_000, 2));
    assert_refused(&desk.run(&train("m", &["a.txt"])), &["a.txt", "has changed since", "--again"]);
}

#[test]
fn a_compressed_file_that_is_cut_short_is_learned_up_to_there_and_completed_later() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text(50_000, 2).as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    desk.write("b.gz", &whole[..whole.len() / 2]);
    let answer = desk.run(&train("m", &["a.txt", "b.gz"]));
    assert_refused(&answer, &["b.gz", "cut short"]);
    assert_eq!(answer.out, "", "nothing looks like success");
    assert!(answer.err.contains("\nm: saved with ") && answer.err.contains("before the error"), "{answer:?}");
    let before = desk.bytes("m");
    assert_refused(&desk.run(&train("m", &["a.txt", "b.gz"])), &["b.gz", "cut short"]);
    assert!(desk.bytes("m") == before, "nothing is learned twice");

    desk.write("b.gz", whole);
    let answer = desk.train("m", &["a.txt", "b.gz"]);
    assert!(answer.out.contains("; 51,000 in all"), "{answer:?}");
}

#[test]
fn a_model_that_is_damaged_or_missing() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("m", &["a.txt"]);
    let mut bytes = desk.bytes("m");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    desk.write("damaged", &bytes);
    desk.write("text", "this is no model at all");
    let answer = desk.run(&["train", "--model", "text", "a.txt"]);
    assert_refused(&answer, &["text: not a skipstream model file", "text to learn is named without a flag"]);
    for model in ["damaged", "text"] {
        assert_refused(&desk.run(&["train", "--model", model, "a.txt"]), &[model]);
        let export = ["export", "--model", model, "--to", "word2vec-text", "out"];
        assert_refused(&desk.run(&export), &[model]);
    }
    assert_refused(&desk.run(&["neighbors", "--model", "none", "word"]), &["none"]);
    let answer = desk.run(&train("no/folder/m", &["a.txt"]));
    assert_refused(&answer, &["no/folder: there is no such folder"]);
    assert!(!answer.err.contains(".lock"), "{answer:?}");
}

#[test]
fn a_model_that_another_process_trains() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let mut first = desk.start(&train("m", &["-"]));
    while !desk.names().contains(&".m.lock".to_owned()) {
        std::thread::yield_now();
    }
    // The lock is taken just after its file appears.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_refused(&desk.run(&train("m", &["a.txt"])), &["m: another process is training"]);
    first.stdin.take().unwrap().write_all(b"one two\n").unwrap();
    assert!(first.wait().unwrap().success());
    desk.train("m", &["a.txt"]);
}

#[test]
fn text_that_cannot_be_skipped_or_read_twice() {
    let desk = Desk::new();
    desk.write("a.txt", text(100, 1));
    assert_refused(&desk.run(&train("m", &["--skip-learned", "a.txt"])), &["--skip-learned"]);
    assert_refused(&desk.run(&train("m", &["-", "-"])), &["`-` is given twice"]);
}
