//! Questions at a terminal.

use std::fs;
use std::process::Command;

use rexpect::process::WaitStatus;
use rexpect::session::{Options, spawn_with_options};

use crate::queries::trained;

/// Long, for a busy machine; nothing waits for it to pass.
const PATIENCE: u64 = 60_000;

#[test]
fn a_conversation_has_a_prompt_a_history_and_an_end() {
    let desk = trained();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skipstream"));
    command.args(["similarity", "--model"]).arg(desk.path("m"));
    command.env("TERM", "xterm").env("XDG_STATE_HOME", desk.path("state")).env_remove("NO_COLOR");
    let options = Options::new().timeout_ms(Some(PATIENCE)).strip_ansi_escape_codes(true);
    let mut terminal = spawn_with_options(command, options).unwrap();
    terminal.exp_string("Type A B, one question per line; Ctrl-D quits").unwrap();
    terminal.exp_string("m> ").unwrap();
    terminal.send_line("moon moon").unwrap();
    terminal.exp_string("moon moon 1.0000").unwrap();
    terminal.exp_string("m> ").unwrap();
    terminal.send_line("moon stra").unwrap();
    terminal.exp_string("`stra` is not in the vocabulary; did you mean star?").unwrap();
    terminal.exp_string("m> ").unwrap();
    // Half a line is given up; the conversation goes on.
    terminal.send("bread").unwrap();
    terminal.send_control('c').unwrap();
    terminal.exp_string("m> ").unwrap();
    terminal.send_line("moon").unwrap();
    terminal.exp_string("expected 2 words (A B), got 1").unwrap();
    terminal.exp_string("m> ").unwrap();
    terminal.send_control('d').unwrap();
    terminal.exp_eof().unwrap();
    let status = terminal.process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}");
    let history = fs::read_to_string(desk.path("state/skipstream/history")).unwrap();
    for line in ["moon moon", "moon stra", "moon"] {
        assert!(history.lines().any(|other| other == line), "{history}");
    }
    assert!(!history.contains("bread"));
}
