//! The model as it was before the last training.

use std::fs;
use std::time::Duration;

use crate::desk::{Desk, assert_refused, text, train};

/// A model that has learned `a.txt`, and a second text.
fn desk() -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.write("b.txt", text(200_000, 2));
    desk.train("m", &["a.txt"]);
    let before = desk.bytes("m");
    (desk, before)
}

#[test]
fn a_rollback_returns_to_the_model_before_the_last_training_once() {
    let (desk, before) = desk();
    let answer = desk.train("m", &["--keep-previous", "--checkpoint-every", "1-word", "b.txt"]);
    assert!(
        answer.out.contains("previous  m.previous; `skipstream rollback --model m` returns to it"),
        "{answer:?}"
    );
    let after = desk.bytes("m");
    assert!(after != before && desk.bytes("m.previous") == before);
    desk.train("plain", &["a.txt"]);
    desk.train("plain", &["b.txt"]);
    assert!(after == desk.bytes("plain"), "the model is the same with and without a previous state");

    let rollback = ["rollback", "--model", "m"];
    let answer = desk.run(&rollback);
    let expected = "m: returned to 20,000 learned words, from 220,000 learned words\n";
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), expected));
    assert!(desk.bytes("m") == before);
    assert_refused(&desk.run(&rollback), &["m: there is no previous state to return to", "--keep-previous"]);
    desk.train("m", &["b.txt"]);
    assert!(desk.bytes("m") == after, "a model that was rolled back learns again");
}

#[test]
fn later_commands_keep_it_up_to_date_and_without_new_text_it_stays() {
    let (desk, before) = desk();
    desk.train("m", &["--keep-previous", "b.txt"]);
    desk.train("m", &["--keep-previous", "b.txt"]);
    assert!(desk.bytes("m.previous") == before, "nothing new was learned");
    let second = desk.bytes("m");
    desk.write("c.txt", text(1_000, 3));
    desk.train("m", &["c.txt"]);
    assert!(desk.bytes("m.previous") == second);
    assert_eq!(desk.names(), ["a.txt", "b.txt", "c.txt", "m", "m.previous"]);
}

#[test]
fn a_new_model_has_nothing_to_return_to() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("m", &["--keep-previous", "a.txt"]);
    assert_eq!(desk.names(), ["a.txt", "m"]);
    assert_refused(&desk.run(&["rollback", "--model", "m"]), &["there is no previous state"]);
}

#[test]
fn after_a_kill_there_is_a_whole_model_and_the_state_before_the_command() {
    let (desk, before) = desk();
    desk.train("whole", &["a.txt"]);
    desk.train("whole", &["b.txt"]);
    let args = train("m", &["--keep-previous", "--checkpoint-every", "1-word", "b.txt"]);
    for patience in [0, 5, 10, 20, 40, 80] {
        let mut child = desk.start(&args);
        std::thread::sleep(Duration::from_millis(patience));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(desk.run(&["inspect", "--model", "m"]).code, Some(0), "the model is whole");
        if desk.path("m.previous").exists() {
            assert!(desk.bytes("m.previous") == before, "a resumed command keeps what the first one kept");
        }
    }
    assert_eq!(desk.run(&args).code, Some(0));
    assert!(desk.bytes("m") == desk.bytes("whole"));
    assert!(desk.bytes("m.previous") == before);
}

#[test]
fn what_a_kill_left_between_keeping_and_saving_is_no_obstacle() {
    let (desk, before) = desk();
    fs::hard_link(desk.path("m"), desk.path("m.previous")).unwrap();
    fs::hard_link(desk.path("m"), desk.path(".m.previous.link")).unwrap();
    let answer = desk.run(&["rollback", "--model", "m"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    desk.train("m", &["--keep-previous", "b.txt"]);
    assert!(desk.bytes("m.previous") == before);
    assert_eq!(desk.names(), ["a.txt", "b.txt", "m", "m.previous"]);
}

#[test]
fn a_damaged_previous_state_is_refused_and_the_model_stays() {
    let (desk, _) = desk();
    desk.train("m", &["--keep-previous", "b.txt"]);
    let model = desk.bytes("m");
    let mut previous = desk.bytes("m.previous");
    let last = previous.len() - 1;
    previous[last] ^= 1;
    fs::remove_file(desk.path("m.previous")).unwrap();
    desk.write("m.previous", &previous);
    assert_refused(&desk.run(&["rollback", "--model", "m"]), &["m.previous: the model file is damaged"]);
    assert!(desk.bytes("m") == model);
}
