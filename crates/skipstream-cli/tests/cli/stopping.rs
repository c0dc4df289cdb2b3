//! Training that is killed or interrupted goes on as if nothing had happened.
#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::desk::{Desk, text, train};

/// Two files, with more than the first in the second.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(60_000, 1));
    desk.write("b.txt", text(300_000, 2));
    desk.train("uninterrupted", &["a.txt", "b.txt"]);
    desk
}

/// Saves at every boundary.
fn training() -> Vec<&'static str> {
    train("m", &["--checkpoint-every", "1-word", "a.txt", "b.txt"])
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn interrupt(child: &Child) {
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

fn everything(mut stream: impl Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_killed_training_ends_with_the_same_bytes() {
    let desk = desk();
    // At the first checkpoint, and once more a little later.
    for patience in [0, 30] {
        let mut child = desk.start(&training());
        wait_until("the first checkpoint", || desk.path("m").exists());
        std::thread::sleep(Duration::from_millis(patience));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(status.signal() == Some(9) || patience > 0, "it was still training");
    }
    assert_eq!(desk.run(&training()).code, Some(0));
    assert!(desk.bytes("m") == desk.bytes("uninterrupted"));
}

#[test]
fn ctrl_c_saves_and_the_same_command_ends_with_the_same_bytes() {
    let desk = desk();
    // The first checkpoint is far away: what is there after Ctrl-C was saved because of it.
    let args = train("m", &["--checkpoint-every", "1h", "a.txt", "b.txt", "-"]);
    let mut child = desk.start(&args);
    wait_until("the model is locked", || desk.names().contains(&".m.lock".to_owned()));
    std::thread::sleep(Duration::from_millis(50));
    interrupt(&child);
    let status = child.wait().unwrap();
    let out = everything(child.stdout.take().unwrap());
    assert_eq!(status.code(), Some(130), "{out}");
    assert!(out.contains("resume    "), "{out}");
    let err = everything(child.stderr.take().unwrap());
    assert!(err.contains("stopping at the next batch boundary to save"), "{err}");

    assert_eq!(desk.run(&training()).code, Some(0));
    assert!(desk.bytes("m") == desk.bytes("uninterrupted"));
}

#[test]
fn a_silent_pipe_can_be_interrupted_and_only_whole_lines_are_learned() {
    let desk = Desk::new();
    let mut child = desk.start(&train("m", &["-"]));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"one two three\nfour fi").unwrap();
    stdin.flush().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let out = everything(child.stdout.take().unwrap());
    assert!(out.contains("learned   3 words"), "{out}");
    assert!(out.contains("with --skip-learned"), "{out}");

    let answer = desk.run_with("one two three\nfour five\n", &train("m", &["--skip-learned"]));
    assert!(answer.out.contains("learned   2 words"), "{answer:?}");
}

#[test]
fn a_named_pipe_can_be_interrupted_whether_it_has_a_writer_or_not() {
    let desk = Desk::new();
    assert!(Command::new("mkfifo").arg(desk.path("fifo")).status().unwrap().success());
    let end = |mut child: Child| {
        let began = Instant::now();
        interrupt(&child);
        // A second signal would end any command.
        while child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(20), "the first signal is not noticed");
            std::thread::sleep(Duration::from_millis(10));
        }
        let out = everything(child.stdout.take().unwrap());
        (child.wait().unwrap().code(), out)
    };
    let child = desk.start(&train("m", &["fifo"]));
    wait_until("the model is locked", || desk.names().contains(&".m.lock".to_owned()));
    std::thread::sleep(Duration::from_millis(100));
    let (code, out) = end(child);
    assert_eq!(code, Some(130));
    assert!(out.contains("model     not saved"), "{out}");

    let child = desk.start(&train("m", &["fifo"]));
    let mut writer = std::fs::OpenOptions::new().write(true).open(desk.path("fifo")).unwrap();
    writer.write_all(b"one two three\nfour fi").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let (code, out) = end(child);
    assert_eq!(code, Some(130));
    assert!(out.contains("learned   3 words") && out.contains("with the text that follows"), "{out}");
    drop(writer);

    let child = desk.start(&train("m", &["fifo"]));
    std::fs::write(desk.path("fifo"), "four five\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("learned   2 words"));

    // Lists of words are read before anything is learned.
    let child = desk.start(&train("m", &["--block", "fifo", "a.txt"]));
    std::thread::sleep(Duration::from_millis(100));
    end(child);
}

#[test]
fn a_file_that_is_gone_before_a_checkpoint_does_not_end_the_training() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let mut child = desk.start(&train("m", &["--checkpoint-every", "100k-words", "a.txt", "-"]));
    let mut stdin = child.stdin.take().unwrap();
    // More than waits in pipes: when all of it is written, a part was read, and before that the whole file.
    stdin.write_all(text(60_000, 2).as_bytes()).unwrap();
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    stdin.write_all(text(60_000, 3).as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(out.contains("learned   121,000 words"), "{out}{err}");
    assert!(
        err.contains("warning: a.txt: No such file or directory (os error 2); training continues"),
        "{err}"
    );
    assert!(output.status.code() == Some(2) && err.contains("error: a.txt: No such file"), "{err}");
}
