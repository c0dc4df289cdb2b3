//! `train --follow`: text that comes while the model learns.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::desk::{Desk, assert_refused, text, train};

/// Follows these files, and saves as soon as something is learned.
fn follow(desk: &Desk, args: &[&str]) -> Child {
    desk.start(&train("m", &[&["--follow", "--checkpoint-every", "1-word"], args].concat()))
}

/// The words that the saved model has learned, from its metadata.
fn learned(desk: &Desk) -> u64 {
    let Ok(bytes) = fs::read(desk.path("m")) else { return 0 };
    let (length, rest) = bytes.split_first_chunk().unwrap();
    let header: Value = serde_json::from_slice(&rest[..u64::from_le_bytes(*length) as usize]).unwrap();
    let metadata = header["__metadata__"]["skipstream"].as_str().unwrap();
    let metadata: Value = serde_json::from_str(metadata).unwrap();
    metadata["contents"]["training"]["vocabulary"]["tokens"].as_u64().unwrap()
}

/// Lines of text as records.
fn records(lines: &str) -> String {
    lines.lines().map(|line| serde_json::json!({ "id": 7, "text": line }).to_string() + "\n").collect()
}

fn wait_for(desk: &Desk, words: u64) {
    let began = Instant::now();
    while learned(desk) != words {
        assert!(began.elapsed() < Duration::from_secs(20), "{} words and not {words}", learned(desk));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn append(desk: &Desk, name: &str, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(desk.path(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn end(mut child: Child) -> (Option<i32>, String, String) {
    let code = child.wait().unwrap().code();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (code, out, err)
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
fn text_is_learned_as_it_comes_across_rotation_and_truncation() {
    let desk = Desk::new();
    desk.write("app.log", "one two three\nhalf a li");
    let child = follow(&desk, &["--log-json", "--idle-exit", "2s", "app.log", "late.log"]);
    wait_for(&desk, 3);
    append(&desk, "app.log", "ne\n");
    wait_for(&desk, 6);
    append(&desk, "late.log", "it is there now\n");
    wait_for(&desk, 10);

    fs::rename(desk.path("app.log"), desk.path("app.log.1")).unwrap();
    append(&desk, "app.log.1", "the rest\n");
    append(&desk, "app.log", "a new file\n");
    wait_for(&desk, 15);

    // As logrotate's copytruncate does.
    fs::copy(desk.path("late.log"), desk.path("late.log.1")).unwrap();
    desk.write("late.log", "");
    append(&desk, "late.log", "again\n");
    wait_for(&desk, 16);

    let (code, out, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   16 words"), "{out}");
    let events: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rotations: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event["event"] == "rotation")
        .map(|event| (event["file"].as_str().unwrap(), event["what"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rotations,
        [
            ("late.log", "awaited"),
            ("late.log", "begun"),
            ("app.log", "replaced"),
            ("app.log", "begun"),
            ("late.log", "truncated"),
            ("late.log", "begun"),
        ]
    );
}

#[test]
fn a_link_that_appears_at_the_model_is_replaced_and_not_followed() {
    let desk = Desk::new();
    desk.write("app.log", "one two three\n");
    desk.write("file", "of somebody");
    let child = follow(&desk, &["--idle-exit", "2s", "app.log"]);
    wait_for(&desk, 3);
    std::os::unix::fs::symlink("file", desk.path("link")).unwrap();
    std::os::unix::fs::symlink("file", desk.path(".m.partial")).unwrap();
    fs::rename(desk.path("link"), desk.path("m")).unwrap();
    append(&desk, "app.log", "four five\n");
    let (code, _, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(!desk.path("m").is_symlink() && learned(&desk) == 5);
    assert_eq!(desk.bytes("file"), b"of somebody");
}

#[test]
fn after_a_kill_no_line_is_lost_and_none_is_learned_twice() {
    let desk = Desk::new();
    desk.write("app.log", text(10_000, 1));
    let mut child = follow(&desk, &["app.log"]);
    wait_for(&desk, 10_000);
    append(&desk, "app.log", &text(500, 2));
    wait_for(&desk, 10_500);
    child.kill().unwrap();
    child.wait().unwrap();

    // It is rotated while nobody looks.
    append(&desk, "app.log", &text(300, 3));
    fs::rename(desk.path("app.log"), desk.path("app.log.1")).unwrap();
    desk.write("app.log", text(200, 4));
    let child = follow(&desk, &["--idle-exit", "1s", "app.log"]);
    let (code, out, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   500 words") && out.contains("; 11,000 in all"), "{out}");
    assert!(
        err.contains("app.log: the file was renamed to app.log.1; reading the rest of it first"),
        "{err}"
    );

    append(&desk, "app.log", &text(100, 5));
    let (_, out, err) = end(follow(&desk, &["--idle-exit", "1s", "app.log"]));
    assert!(out.contains("learned   100 words"), "{out}{err}");
    let answer = desk.train("m", &["app.log"]);
    assert!(answer.out.contains("skipped   1 file"), "what was followed is learned: {answer:?}");
}

#[test]
fn signals_save_and_end_it() {
    for name in ["-INT", "-TERM"] {
        let desk = Desk::new();
        desk.write("app.log", "one two three\n");
        let child =
            desk.start(&train("m", &["--follow", "--checkpoint-every", "1h", "--verbose", "app.log"]));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(learned(&desk), 0, "no checkpoint yet");
        signal(&child, name);
        let (code, out, _) = end(child);
        assert_eq!((code, learned(&desk)), (Some(130), 3), "{out}");
        assert!(out.contains("resume    run the same command"), "{out}");
    }
}

#[test]
fn a_silent_pipe_is_learned_line_by_line_and_its_end_is_the_end() {
    let desk = Desk::new();
    let mut child = follow(&desk, &["-"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"one two three\nfour fi").unwrap();
    wait_for(&desk, 3);
    stdin.write_all(b"ve\nsix").unwrap();
    wait_for(&desk, 5);
    drop(stdin);
    let (code, out, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   6 words"), "{out}");
}

#[test]
fn records_are_learned_as_they_come_across_rotation_and_a_kill() {
    let desk = Desk::new();
    let follow_records = |args: &[&str]| {
        follow(&desk, &[&["--format", "jsonl", "--field", "text"], args, &["app.log"]].concat())
    };
    desk.write("app.log", records(&text(5_000, 1)) + "{\"text\": \"half a");
    let mut child = follow_records(&[]);
    wait_for(&desk, 5_000);
    append(&desk, "app.log", " record\"}\n");
    wait_for(&desk, 5_003);
    fs::rename(desk.path("app.log"), desk.path("app.log.1")).unwrap();
    append(&desk, "app.log.1", &records("the rest"));
    append(&desk, "app.log", &records(&text(200, 2)));
    wait_for(&desk, 5_205);
    child.kill().unwrap();
    child.wait().unwrap();

    append(&desk, "app.log", &records(&text(300, 3)));
    let (code, out, err) = end(follow_records(&["--idle-exit", "1s"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   300 words") && out.contains("; 5,505 in all"), "{out}");
    let answer = desk.train("m", &["--format", "jsonl", "--field", "text", "app.log"]);
    assert!(answer.out.contains("skipped   1 file"), "what was followed is learned: {answer:?}");
}

#[test]
fn a_bad_record_ends_following_or_is_left_out_and_none_is_learned_twice() {
    let desk = Desk::new();
    let args = ["--format", "jsonl", "--field", "text", "app.log"];
    desk.write("app.log", records("one two three"));
    let child = follow(&desk, &args);
    wait_for(&desk, 3);
    append(&desk, "app.log", "{\"text\": 17}\n");
    append(&desk, "app.log", &records("four five"));
    let (code, _, err) = end(child);
    assert_eq!((code, learned(&desk)), (Some(2), 3), "{err}");
    assert!(err.contains("error: app.log: line 2: the field `text` is a number"), "{err}");
    assert!(err.contains("`--bad-records skip`"), "{err}");

    let skip = [&["--bad-records", "skip", "--idle-exit", "1s"], &args[..]].concat();
    let (code, out, err) = end(follow(&desk, &skip));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   2 words") && out.contains("; 5 in all"), "{out}");
    assert!(err.contains("1 record that could not be read left out, at app.log line 2"), "{err}");
    let (_, out, _) = end(follow(&desk, &skip));
    assert!(out.contains("learned   nothing new"), "{out}");
}

#[test]
fn a_silent_pipe_of_records_is_learned_line_by_line() {
    let desk = Desk::new();
    let mut child = follow(&desk, &["--format", "jsonl", "--field", "text", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"text\": \"one two\\nthree\"}\n{\"text\": \"four fi").unwrap();
    wait_for(&desk, 3);
    stdin.write_all(b"ve\"}\n{\"text\": \"six\"}").unwrap();
    wait_for(&desk, 5);
    drop(stdin);
    let (code, out, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   6 words"), "{out}");
}

#[test]
fn a_pipe_that_begins_with_silence_is_recognized_and_skipped_like_any() {
    /// Longer than a pipe may be silent before that is noticed.
    const SILENCE: Duration = Duration::from_millis(200);
    let desk = Desk::new();
    let feed = |args: &[&str], chunks: &[&[u8]]| {
        let mut child = follow(&desk, args);
        let mut stdin = child.stdin.take().unwrap();
        for chunk in chunks {
            std::thread::sleep(SILENCE);
            stdin.write_all(chunk).unwrap();
        }
        drop(stdin);
        end(child)
    };
    let (code, _, err) = feed(&["-"], &[&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, b'\n']]);
    assert!(code == Some(2) && err.contains("<stdin>: compressed text cannot be followed"), "{err}");

    let (code, out, err) = feed(&["-"], &[b"one two\nthree four\n"]);
    assert!(code == Some(0) && out.contains("learned   4 words"), "{out}{err}");
    let (code, out, err) = feed(&["--skip-learned", "-"], &[b"one two\n", b"three four\nfive\n"]);
    assert!(
        code == Some(0) && out.contains("learned   1 word in") && out.contains("; 5 in all"),
        "{out}{err}"
    );
    let (code, _, err) = feed(&["--skip-learned", "-"], &[b"one two\n"]);
    assert!(code == Some(2) && err.contains("<stdin>: the text ends before byte 24"), "{err}");
}

#[test]
fn text_that_never_comes_is_no_error() {
    let desk = Desk::new();
    let (code, out, err) = end(follow(&desk, &["--idle-exit", "10ms", "app.log"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("learned   nothing new"), "{out}");
    assert!(err.contains("app.log: waiting for the file"), "{err}");
    assert!(desk.names().is_empty(), "no model without a word");
}

#[cfg(feature = "brokers")]
#[test]
fn a_broker_that_is_away_is_awaited_while_files_are_learned() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three\n");
    let url = "nats://me:secret@127.0.0.1:1/POSTS";
    let (code, _, err) = end(follow(&desk, &["--idle-exit", "3s", "--source", url, "a.txt"]));
    assert_eq!((code, learned(&desk)), (Some(0), 3), "{err}");
    assert!(err.contains("nats://127.0.0.1:1/POSTS: "), "{err}");
    assert!(!err.contains("secret"), "{err}");
}

#[cfg(feature = "brokers")]
#[test]
fn brokers_that_cannot_be_followed_are_refused() {
    let desk = Desk::new();
    let refused = |args: &[&str], parts: &[&str]| assert_refused(&desk.run(&train("m", args)), parts);
    refused(&["--source", "nats://h/S"], &["the following required arguments were not provided"]);
    let twice = ["--follow", "--source", "kafka://a/t", "--source", "kafka://b/t?field=x"];
    refused(&twice, &["two --source read kafka://b:9092/t", "give one of them a `name=`"]);
    refused(&["--follow", "--source", "http://h/S"], &["invalid URL in --source: the scheme must be nats"]);
    let answer =
        desk.run(&["train", "--model", "m", "--memory", "60M", "--follow", "--source", "nats://h/S"]);
    assert_refused(&answer, &["with 33.55 MB for the messages of --source: memory is 26445568 bytes"]);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let desk = Desk::new();
    desk.write("a.txt", text(100, 1));
    desk.write("a.gz", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0]);
    let refused = |args: &[&str], parts: &[&str]| assert_refused(&desk.run(&train("m", args)), parts);
    refused(&["--follow", "a.gz"], &["a.gz: a compressed file cannot be followed", "omit `--follow`"]);
    let answer = desk.run(&["train", "--model", "m", "--follow", "--strategy", "word2vec", "a.txt"]);
    assert_refused(&answer, &["the strategy word2vec reads all"]);
    refused(&["--follow", "/dev/null"], &["/dev/null: a named pipe or a device cannot be followed"]);
    for (format, reason) in [
        ("csv", "a csv file cannot be followed"),
        ("tsv", "a tsv file cannot be followed"),
        ("parquet", "a parquet file cannot be followed"),
    ] {
        let args = ["--follow", "--format", format, "--field", "text", "a.txt"];
        refused(&args, &[reason, "follow plain text or JSON lines"]);
    }
    refused(&["--follow", "none/a.txt"], &["none/a.txt: No such file"]);
    refused(&["--idle-exit", "1s", "a.txt"], &["the following required arguments were not provided"]);
    let answer = desk.run_with([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0], &train("m", &["--follow", "-"]));
    assert_refused(&answer, &["<stdin>: compressed text cannot be followed"]);
}
