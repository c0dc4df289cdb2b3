//! A file that is followed step by step.

use std::fs::{self, File};
use std::io;

use tempfile::TempDir;

use super::*;
use crate::settings::ServeSettings;
use crate::sources::tests::service;

fn followed(folder: &TempDir) -> (Arc<Service>, PathBuf) {
    let data = folder.path().join("data");
    (service(ServeSettings { data, ..ServeSettings::default() }), folder.path().join("app.log"))
}

/// Looks until nothing is new.
async fn read_all(follower: &mut Follower) {
    while follower.step().await.unwrap() {}
}

fn lines(service: &Service) -> Vec<String> {
    let mut reader = service.log.reader(1).unwrap();
    let mut lines = Vec::new();
    while let Some(logged) = reader.read().unwrap() {
        lines.extend(logged.chunk.iter().map(|(line, ..)| String::from_utf8(line.to_vec()).unwrap()));
    }
    lines
}

fn add(path: &Path, text: &str) {
    let file = File::options().create(true).append(true).open(path);
    io::Write::write_all(&mut file.unwrap(), text.as_bytes()).unwrap();
}

#[tokio::test]
async fn an_unfinished_line_of_a_file_that_is_cut_is_not_glued_to_what_comes_next() {
    let folder = TempDir::new().unwrap();
    let (service, path) = followed(&folder);
    let mut follower = Follower::new(service.clone(), &path).unwrap();
    add(&path, "par");
    read_all(&mut follower).await;
    // Longer than what was read, and then shorter.
    for text in ["first line\nunfinished", "se"] {
        fs::write(&path, text).unwrap();
        read_all(&mut follower).await;
    }
    add(&path, "cond\n");
    read_all(&mut follower).await;
    assert_eq!(lines(&service), ["first line", "second"]);
}

#[tokio::test]
async fn a_file_that_was_renamed_is_followed_until_its_successor_is_there() {
    let folder = TempDir::new().unwrap();
    let (service, path) = followed(&folder);
    let renamed = folder.path().join("app.log.1");
    let mut follower = Follower::new(service.clone(), &path).unwrap();
    add(&path, "one\n");
    read_all(&mut follower).await;
    fs::rename(&path, &renamed).unwrap();
    // Started again before the new file is there.
    let mut follower = Follower::new(service.clone(), &path).unwrap();
    for text in ["two\n", "three\n"] {
        add(&renamed, text);
        for _ in 0..3 {
            read_all(&mut follower).await;
        }
    }
    add(&renamed, "four\n");
    add(&path, "five\n");
    for _ in 0..3 {
        read_all(&mut follower).await;
    }
    assert_eq!(lines(&service), ["one", "two", "three", "four", "five"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_the_file_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let (service, path) = followed(&folder);
    let mut follower = Follower::new(service, &path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let Err(error) = follower.step().await else { panic!("a pipe was followed") };
    assert!(error.to_string().ends_with("a named pipe or a device cannot be followed"), "{error}");
}
