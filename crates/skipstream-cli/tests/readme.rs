//! The README's shell example, and the output on its first screen.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

const README: &str = include_str!("../../../README.md");

/// The line before a shell example that is run here.
const MARK: &str = "<!-- run by crates/skipstream-cli/tests/readme.rs -->\n```sh\n";

/// The command on the README's first screen whose output is shown twice.
const FIRST_SCREEN: &str = "skipstream neighbors --model demo/addresses.safetensors energy nuclear -n 5\n";

/// A folder with the repository's texts, in which commands are run.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../texts");
        std::os::unix::fs::symlink(fs::canonicalize(texts).unwrap(), folder.path().join("texts")).unwrap();
        Desk(folder)
    }

    /// Runs shell commands. Returns what a terminal would show, and whether they succeeded.
    fn run(&self, commands: &str) -> (String, bool) {
        let program = Path::new(env!("CARGO_BIN_EXE_skipstream"));
        let mut places = vec![program.parent().unwrap().to_owned()];
        places.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &format!("exec 2>&1\n{commands}")])
            .current_dir(self.0.path())
            .env("PATH", env::join_paths(places).unwrap())
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.success())
    }
}

/// The text of the example that is marked.
fn example() -> &'static str {
    let (_, rest) = README.split_once(MARK).expect("the README has an example with the mark");
    let (example, rest) = rest.split_once("\n```").expect("the example ends");
    assert!(!rest.contains(MARK), "there is one example");
    example
}

#[test]
fn the_shell_example_does_what_the_readme_says() {
    let desk = Desk::new();
    let more = fs::File::create(desk.0.path().join("more.txt.gz")).unwrap();
    let mut more = GzEncoder::new(more, Compression::fast());
    more.write_all("We choose to go to the moon.\n".repeat(100).as_bytes()).unwrap();
    more.finish().unwrap();
    let (out, succeeded) = desk.run(example());
    assert!(succeeded, "{out}");
    // The second training skips what the first has learned, and brings new words.
    assert!(out.contains("skipped   15 files, learned before"), "{out}");
    let (_, neighbors) = out.split_once("Nuclear ").expect("the answer begins with the word");
    assert!(neighbors.contains("  weapons "), "{out}");
    let vectors = fs::read_to_string(desk.0.path().join("vectors.txt")).unwrap();
    let n_words: usize = vectors.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(vectors.lines().count(), n_words + 1);
}

#[test]
fn the_first_screen_shows_what_the_commands_print() {
    let desk = Desk::new();
    let asked = format!("$ {FIRST_SCREEN}");
    let mut shown = README.split(&asked).skip(1);
    for (options, years) in [("--text prose", "1790-1939"), ("--keep-previous", "1940-2021")] {
        let train = format!(
            "mkdir -p demo\n\
             skipstream train --model demo/addresses.safetensors {options} texts/state-of-the-union/{years}"
        );
        let (out, succeeded) = desk.run(&train);
        assert!(succeeded, "{out}");
        // An unknown word makes the command fail after it has answered for the others.
        let (printed, _) = desk.run(FIRST_SCREEN);
        let shown = shown.next().expect("the README shows the answers twice");
        let shown = shown.split("\n$ ").next().unwrap_or_default().split("```").next().unwrap_or_default();
        assert_eq!(printed.trim(), shown.trim(), "of {years}");
    }
}
