//! A folder to work in, with text that has something to learn.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use assert_cmd::Command;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skipstream");

const SMALL: [&str; 8] =
    ["--dimensions", "16", "--max-vocabulary", "300", "--subsample", "0", "--threads", "2"];
const MINI_BATCH: [&str; 4] = ["--batch-words", "4000", "--replay-words", "20000"];

pub struct Desk {
    folder: TempDir,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Answer {
    fn of(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Desk {
    pub fn new() -> Desk {
        Desk { folder: TempDir::new().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        self.run_with("", args)
    }

    pub fn run_with(&self, stdin: impl Into<Vec<u8>>, args: &[&str]) -> Answer {
        Answer::of(self.command(args).write_stdin(stdin).output().unwrap())
    }

    /// The bytes that a command writes to standard output. It must go well.
    pub fn bytes_of(&self, stdin: &str, args: &[&str]) -> Vec<u8> {
        let output = self.command(args).write_stdin(stdin).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    /// Runs a command with these environment variables.
    pub fn run_in(&self, environment: &[(&str, &str)], args: &[&str]) -> Answer {
        Answer::of(self.command(args).envs(environment.iter().copied()).output().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path()).args(args);
        command
    }

    /// The exit code of a command whose notes and errors nobody reads any more.
    pub fn code_unheard(&self, args: &[&str]) -> Option<i32> {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(PROGRAM);
        command.current_dir(self.folder.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).status().unwrap().code()
    }

    /// Starts a command that is met while it runs, with a pipe for its input.
    pub fn start(&self, args: &[&str]) -> Child {
        self.start_in(&[], args)
    }

    /// Starts a command with these environment variables.
    pub fn start_in(&self, environment: &[(&str, &str)], args: &[&str]) -> Child {
        std::process::Command::new(PROGRAM)
            .current_dir(self.folder.path())
            .envs(environment.iter().copied())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Trains a small model, which must go well.
    pub fn train(&self, model: &str, args: &[&str]) -> Answer {
        let answer = self.run(&train(model, args));
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer
    }
}

/// Asserts exit code 2, and a message with all of these parts.
pub fn assert_refused(answer: &Answer, parts: &[&str]) {
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let line = answer.err.lines().find(|line| line.starts_with("error: "));
    for part in parts {
        assert!(line.unwrap().contains(part), "no `{part}` in {answer:?}");
    }
}

/// The arguments that train a small model.
pub fn train<'a>(model: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    small(&["train", "--model", model], args)
}

/// A command with settings that make a small model, with many batches unless `args` choose a strategy.
pub fn small<'a>(command: &[&'a str], args: &[&'a str]) -> Vec<&'a str> {
    let batches = if args.contains(&"--strategy") { &[] } else { &MINI_BATCH[..] };
    [command, &SMALL, batches, args].concat()
}

/// About `words` words in lines of ten. Each line is about food or about stars.
pub fn text(words: usize, seed: u64) -> String {
    let topics = [
        ["bread", "butter", "cheese", "honey", "salt", "soup"],
        ["comet", "galaxy", "moon", "orbit", "planet", "star"],
    ];
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut text = String::new();
    for _ in 0..words / 10 {
        let topic = topics[draw(2)];
        for _ in 0..9 {
            text += topic[draw(6)];
            text.push(' ');
        }
        text += &format!("name{}\n", draw(500));
    }
    text
}
