//! The shell examples of the README and of the pages in docs/ are run, and the README's first screen is what is printed.
//!
//! The blocks of a page are run in order, in one folder with the repository's texts, a `corpus.txt` and a model `m.safetensors`. A
//! block that cannot be run says why in a comment above it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

const README: &str = include_str!("../../../README.md");

/// Begins the line above a block that is not run. The reason follows.
const NOT_RUN: &str = "<!-- not run: ";

/// The address of the service in the examples. Here it gets a free port.
const PORT: &str = ":8321";

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

    /// Puts files here that examples name: text, and a model of it.
    fn with_files(self) -> Desk {
        let countries = "berlin is in germany and paris is in france\n".repeat(2000);
        fs::write(self.0.path().join("corpus.txt"), countries).unwrap();
        let more = fs::File::create(self.0.path().join("more.txt.gz")).unwrap();
        let mut more = GzEncoder::new(more, Compression::fast());
        more.write_all("We choose to go to the moon.\n".repeat(100).as_bytes()).unwrap();
        more.finish().unwrap();
        let (out, succeeded) =
            self.run("skipstream train --quiet --model m.safetensors --subsample 0 corpus.txt");
        assert!(succeeded, "{out}");
        self
    }

    /// Runs shell commands. Returns what a terminal would show, and whether they succeeded.
    fn run(&self, commands: &str) -> (String, bool) {
        let program = Path::new(env!("CARGO_BIN_EXE_skipstream"));
        let mut places = vec![program.parent().unwrap().to_owned()];
        places.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        // Whatever still runs at the end, such as a service, is ended with the shell.
        let script = format!("exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{commands}");
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(self.0.path())
            .env("PATH", env::join_paths(places).unwrap())
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
    }

    /// Runs all blocks of a page, and services on a port of their own.
    fn run_page(&self, name: &str, text: &str) -> String {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut script = format!("export SKIPSTREAM_LISTEN=127.0.0.1:{port} SKIPSTREAM_DRAIN_TIME=0s\n");
        // A person would look whether an answer is an error.
        script += "curl() { command curl --silent --show-error --fail-with-body \"$@\"; echo; }\n";
        for (line, block) in blocks(text) {
            script += &format!("echo '== {name}:{line}'\n");
            for command in block.lines() {
                script += &format!("{command}\n").replace(PORT, &format!(":{port}"));
                // A person would not send text before the service has said that it listens.
                if command.starts_with("skipstream serve") && command.contains(" &") {
                    script +=
                        &format!("until (: </dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done\n");
                }
            }
        }
        let (out, succeeded) = self.run(&script);
        assert!(succeeded, "{out}");
        out
    }
}

/// The shell blocks of a page that are run, with their lines.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        if line.trim_start() == "```sh" {
            let block: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim_start() != "```").collect();
            if before.starts_with(NOT_RUN) {
                assert!(before.len() > NOT_RUN.len() + " -->".len(), "line {number} gives no reason");
            } else {
                blocks.push((number + 1, block.join("\n")));
            }
        }
        before = line;
    }
    blocks
}

/// The pages in docs/, with their names.
fn pages() -> Vec<(String, String)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut folders: Vec<PathBuf> = vec![docs.clone()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(&docs).unwrap().display().to_string();
                pages.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn the_blocks_of_every_page_run() {
    let pages = pages();
    let n_run: usize = pages.iter().map(|(_, text)| blocks(text).len()).sum();
    assert!(n_run > 20, "only {n_run} blocks in {} pages", pages.len());
    for (name, text) in &pages {
        if !blocks(text).is_empty() {
            Desk::new().with_files().run_page(name, text);
        }
    }
}

#[test]
fn the_examples_do_what_the_readme_says() {
    let desk = Desk::new().with_files();
    let out = desk.run_page("README.md", README);
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
