//! The shell example of the README, run as it stands there.
#![cfg(unix)]

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

const README: &str = include_str!("../../../README.md");

/// Stands before a shell example that is run here.
const MARK: &str = "<!-- run by crates/skipstream-cli/tests/readme.rs -->\n```sh\n";

/// The text of the example that is marked.
fn example() -> &'static str {
    let (_, rest) = README.split_once(MARK).expect("the README has an example with the mark");
    let (example, rest) = rest.split_once("\n```").expect("the example ends");
    assert!(!rest.contains(MARK), "there is one example");
    example
}

#[test]
fn the_shell_example_does_what_the_readme_says() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../texts");
    std::os::unix::fs::symlink(fs::canonicalize(texts).unwrap(), folder.path().join("texts")).unwrap();
    let mut more =
        GzEncoder::new(fs::File::create(folder.path().join("more.txt.gz")).unwrap(), Compression::fast());
    more.write_all("We choose to go to the moon.\n".repeat(100).as_bytes()).unwrap();
    more.finish().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_skipstream"));
    let mut places = vec![program.parent().unwrap().to_owned()];
    places.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", example()])
        .current_dir(folder.path())
        .env("PATH", env::join_paths(places).unwrap())
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{out}{err}");
    // The second training skips what the first has learned, and brings new words.
    assert!(out.contains("skipped   15 files, learned before"), "{out}");
    let (_, neighbors) = out.split_once("Nuclear ").expect("the answer begins with the word");
    assert!(neighbors.contains("  weapons "), "{out}");
    let vectors = fs::read_to_string(folder.path().join("vectors.txt")).unwrap();
    let n_words: usize = vectors.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(vectors.lines().count(), n_words + 1);
}
