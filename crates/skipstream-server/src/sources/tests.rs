//! Files and commands, read into a log.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use skipstream::{Config, Trainer};
use tempfile::TempDir;

use super::*;
use crate::learn::Model;
use crate::log::Log;
use crate::settings::ServeSettings;

/// A service that has sources and learns nothing.
struct Running {
    service: Arc<Service>,
    sources: Vec<JoinHandle<()>>,
}

fn start(settings: ServeSettings) -> Running {
    let service = service(settings);
    let sources = super::start(&service).unwrap();
    Running { service, sources }
}

/// A service that learns nothing, and whose sources are not read yet.
pub(super) fn service(settings: ServeSettings) -> Arc<Service> {
    let log = Log::open(&settings.data, settings.queue_size).unwrap();
    let trainer = Trainer::new(Config { dimensions: 2, ..Config::default() }).unwrap();
    let model = TempDir::new().unwrap();
    let first_log = Log::open(model.path(), 1).unwrap();
    let first = Model::create(model.path(), trainer, &first_log).unwrap();
    let first = first.published(settings.vectors).unwrap();
    Service::new(settings, log, first, Config::default(), 0)
}

fn follow(data: &Path, file: &Path) -> Running {
    start(ServeSettings { data: data.to_owned(), follow: vec![file.to_owned()], ..ServeSettings::default() })
}

impl Running {
    /// All lines, once there are `n`.
    fn lines(&self, n: u64) -> Vec<String> {
        while self.service.log.last() < n {
            std::thread::yield_now();
        }
        let mut reader = self.service.log.reader(1).unwrap();
        let mut lines = Vec::new();
        while let Some(logged) = reader.read().unwrap() {
            lines.extend(logged.chunk.iter().map(|(line, ..)| String::from_utf8(line.to_vec()).unwrap()));
        }
        lines
    }

    fn stop(self) {
        self.service.stop();
        self.sources.into_iter().for_each(|source| source.join().unwrap());
    }
}

fn add(path: &Path, text: &str) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn folder() -> (TempDir, PathBuf, PathBuf) {
    let folder = TempDir::new().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("app.log"));
    (folder, data, file)
}

#[test]
fn a_file_is_awaited_and_read_as_it_grows() {
    let (_folder, data, file) = folder();
    let running = follow(&data, &file);
    add(&file, "\u{FEFF}one\ntw");
    assert_eq!(running.lines(1), ["one"]);
    add(&file, "o\nthree\nfo");
    assert_eq!(running.lines(3), ["one", "two", "three"]);
    running.stop();
}

#[test]
fn a_file_is_read_on_after_a_restart_without_loss_or_repetition() {
    let (_folder, data, file) = folder();
    let mut expected = Vec::new();
    for round in 0..5 {
        let running = follow(&data, &file);
        for line in 0..10 {
            add(&file, &format!("{round} {line}\n"));
            expected.push(format!("{round} {line}"));
            if line % 3 == 0 {
                running.lines(expected.len() as u64);
            }
        }
        running.stop();
    }
    let running = follow(&data, &file);
    assert_eq!(running.lines(50), expected);
    running.stop();
}

#[test]
fn a_file_that_is_rotated_is_read_to_its_end_and_then_its_successor() {
    let (folder, data, file) = folder();
    let rotated = folder.path().join("app.log.1");
    add(&file, "one\n");
    let running = follow(&data, &file);
    running.lines(1);
    fs::rename(&file, &rotated).unwrap();
    // Its writer has not noticed yet, and leaves its last line open.
    add(&rotated, "two\nthree");
    add(&file, "four\n");
    assert_eq!(running.lines(4), ["one", "two", "three", "four"]);
    running.stop();
    // The same while nobody looks.
    add(&file, "five\n");
    fs::remove_file(&rotated).unwrap();
    fs::rename(&file, &rotated).unwrap();
    add(&file, "six\n");
    let running = follow(&data, &file);
    assert_eq!(running.lines(6)[4..], ["five", "six"]);
    running.stop();
}

#[test]
fn a_file_that_is_cut_is_read_from_its_start() {
    let (_folder, data, file) = folder();
    add(&file, "one\ntwo\n");
    let running = follow(&data, &file);
    running.lines(2);
    fs::write(&file, "new\n").unwrap();
    assert_eq!(running.lines(3), ["one", "two", "new"]);
    running.stop();
    fs::write(&file, "another and longer text\n").unwrap();
    let running = follow(&data, &file);
    assert_eq!(running.lines(4)[3..], ["another and longer text"]);
    running.stop();
}

#[test]
fn a_source_waits_for_room_in_the_queue() {
    let (_folder, data, file) = folder();
    add(&file, &"a line that fills the queue\n".repeat(10));
    let settings =
        ServeSettings { data, follow: vec![file.clone()], queue_size: 10, ..ServeSettings::default() };
    let running = start(settings);
    assert_eq!(running.lines(10).len(), 10);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let again = Chunk { text: b"full again\n".to_vec(), ..Chunk::default() };
    runtime.block_on(running.service.log.append_from(again, None)).unwrap();
    add(&file, "late\n");
    // Reading makes room.
    assert_eq!(running.lines(11).len(), 11);
    assert_eq!(running.lines(12)[10..], ["full again", "late"]);
    running.stop();
}

#[test]
fn what_is_no_file_is_refused() {
    let (folder, data, _) = folder();
    let settings = ServeSettings { data, follow: vec![folder.path().to_owned()], ..ServeSettings::default() };
    let log = Log::open(&settings.data, 1).unwrap();
    let trainer = Trainer::new(Config { dimensions: 2, ..Config::default() }).unwrap();
    let model = Model::create(&settings.data, trainer, &log).unwrap();
    let first = model.published(settings.vectors).unwrap();
    let service = Service::new(settings, log, first, Config::default(), 0);
    let message = super::start(&service).unwrap_err().to_string();
    assert!(message.ends_with("a directory cannot be followed"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_command_is_read_and_started_again_when_it_ends() {
    let (folder, data, _) = folder();
    let marker = folder.path().join("marker");
    // The second time it finds what the first time left, and does not end by itself.
    let command = format!(
        "if [ -e {0} ]; then echo again; sleep 1000; else touch {0}; echo one; echo to the log >&2; printf two; fi",
        marker.display()
    );
    let running = start(ServeSettings { data, exec: vec![command], ..ServeSettings::default() });
    assert_eq!(running.lines(3), ["one", "two", "again"]);
    // It ends with the service, and what it started too.
    running.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_left_its_command_and_holds_its_output_is_not_waited_for() {
    let (folder, data, _) = folder();
    // It ends once the folder of the test is gone.
    let command = format!(
        "setsid sh -c 'while [ -d {} ]; do sleep 0.1; done' & echo one; printf unfinished",
        folder.path().display()
    );
    let running = start(ServeSettings { data, exec: vec![command], ..ServeSettings::default() });
    assert_eq!(running.lines(1), ["one"]);
    running.stop();
}
