//! The examples that `--help` shows are run, as they stand there, in a folder that has the files they name.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::desk::{Desk, text};
use crate::sharded::train_on_a_cluster;

/// The files that examples may name. The model knows `berlin`, `paris`, `france`, `germany` and the words of
/// [`text`]; so do its later state `new.safetensors` and the vectors of other programs.
fn desk() -> Desk {
    let desk = Desk::new();
    let countries = "berlin is in germany and paris is in france\n".repeat(500);
    desk.write("stop.txt", "the\nof\n");
    desk.write("ours.toml", "dimensions = 50\nwindow = 8\n");
    desk.write("corpus.txt", countries.clone() + &text(20_000, 1));
    std::fs::create_dir(desk.path("news")).unwrap();
    desk.write("news/monday.txt.gz", gzip(&(countries.clone() + &text(5_000, 2))));
    desk.write("news/tuesday.txt.gz", gzip(&(countries + &text(5_000, 3))));
    desk.write("posts.jsonl", "{\"id\": 1, \"user\": {\"text\": \"berlin is in germany\"}}\n".repeat(100));
    desk.write("tokens.txt", "read to-be-shared-by-all\nwrite known-to-a-few-only\n");
    let train = ["train", "--model", "m.safetensors", "--dimensions", "16", "--quiet", "corpus.txt"];
    let answer = desk.run(&train);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    std::fs::copy(desk.path("m.safetensors"), desk.path("new.safetensors")).unwrap();
    let answer = desk.run(&["train", "--model", "new.safetensors", "--quiet", "news/monday.txt.gz"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    train_on_a_cluster(&desk, "m.safetensors", "tokens.txt", "news-shards");
    desk.write("sessions.txt", "cup saucer\n".repeat(100));
    desk.train("shop.safetensors", &["--for", "items", "sessions.txt"]);
    desk.write("ws353.tsv", "berlin\tgermany\t9\nparis\tfrance\t8.5\nmoon\tstar\t7\nmoon\tbread\t1\n");
    desk.write("rw.tsv", "berlin\tberliners\t9\nparis\tparisian\t8\nmoon\tbread\t1\n");
    desk.write("words.txt", "berlin\nberliners\n");
    desk.write("google.txt", ": capitals\nBerlin Germany Paris France\nParis France Berlin Germany\n");
    let answer = desk.run(&["export", "--model", "m.safetensors", "--to", "word2vec-text", "wiki.vec"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let vectors = String::from_utf8(desk.bytes("wiki.vec")).unwrap();
    let (_, without_header) = vectors.split_once('\n').unwrap();
    desk.write("glove.txt.gz", gzip(without_header));
    desk
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The lines of a help text that are commands: indented, and with `skipstream` in them.
fn examples(help: &str) -> Vec<String> {
    let after = help.split_once("\nExample").map_or("", |(_, after)| after);
    let lines = after.lines().filter(|line| line.starts_with("  "));
    lines.map(str::trim).filter(|line| line.contains("skipstream ")).map(str::to_owned).collect()
}

fn run(desk: &Desk, line: &str) {
    // A service runs until it is stopped, by one signal: without --foreground, `timeout` may send two, and the second ends it at
    // once. The port may be in use here, by a service that a person runs.
    let line = match line.strip_prefix("skipstream serve") {
        Some(rest) => format!(
            "timeout --foreground --preserve-status 1 skipstream serve{}",
            rest.replace(":8321", ":0")
        ),
        None => line.to_owned(),
    };
    // There is no store here. That the examples work with one is tested by `cargo xtask stores`.
    let is_sync = line.contains("skipstream sync ");
    let line = &if is_sync {
        let line =
            line.replace("skipstream sync", "skipstream sync --retry-for 0s").replace("--every 1m", "");
        line.replace(":5432", ":1").replace(":6333", ":1")
    } else {
        line
    };
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_skipstream"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", line])
        .current_dir(desk.path("."))
        .env("PATH", path)
        .env("SKIPSTREAM_LISTEN", "127.0.0.1:0")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let is_as_expected = if is_sync {
        error.contains("Connection refused")
    } else if line.contains("--source ") && cfg!(not(feature = "brokers")) {
        error.contains("the cargo feature `brokers`")
    } else {
        output.status.success()
    };
    assert!(is_as_expected, "{line}\n{error}");
}

/// The names of all commands, as `--help` lists them.
fn commands(desk: &Desk) -> BTreeSet<String> {
    let help = desk.run(&["--help"]).out;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned));
    names.filter(|name| !name.is_empty() && name != "help").collect()
}

#[test]
fn every_example_of_every_command_works() {
    let desk = desk();
    let mut helps = vec![desk.run(&["--help"]).out];
    for command in commands(&desk) {
        let answer = desk.run(&[&command, "--help"]);
        assert!(!examples(&answer.out).is_empty(), "`{command} --help` has no example");
        helps.push(answer.out);
    }
    assert!(helps.len() > 3);
    for line in helps.iter().flat_map(|help| examples(help)) {
        run(&desk, &line);
    }
}
