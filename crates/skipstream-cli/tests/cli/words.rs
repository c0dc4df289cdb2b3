//! Words that are pinned, blocked, merged and forgotten.

use std::fs;

use crate::desk::{Desk, assert_refused, text};

/// A model of a text with a name in it.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1) + "jdoe likes tea\n");
    desk.train("m", &["a.txt"]);
    desk
}

fn words(desk: &Desk, args: &[&str]) -> String {
    let answer = desk.run(&[&["words", args[0], "--model", "m"], &args[1..]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.out + &answer.err
}

fn holds(desk: &Desk, name: &str, word: &str) -> bool {
    desk.bytes(name).windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn controls_are_listed_and_inspected_and_hold_for_later_text() {
    let desk = desk();
    desk.write("stop.txt", "\u{feff}the\r\n\n of \n");
    assert_eq!(words(&desk, &["pin", "cocoa"]), "cocoa: pinned\n");
    assert_eq!(words(&desk, &["pin", "cocoa"]), "cocoa: nothing to change\n");
    assert_eq!(
        words(&desk, &["block", "--file", "stop.txt", "a"]),
        "a: blocked\nthe: blocked\nof: blocked\n"
    );
    assert_eq!(
        words(&desk, &["merge", "jdoe", "--into", "john"]),
        "jdoe: merged into john, and removed from the model (count 1)\n"
    );
    let json = words(&desk, &["pin", "cocoa", "tea", "--json"]);
    assert_eq!(
        json,
        "[{\"word\":\"cocoa\",\"changed\":false,\"left\":null},{\"word\":\"tea\",\"changed\":true,\"left\":null}]\n"
    );
    let expected = "pinned\tcocoa\npinned\ttea\nblocked\ta\nblocked\tof\nblocked\tthe\nmerged\tjdoe\tjohn\n";
    assert_eq!(words(&desk, &["list"]), expected);
    let answer = desk.run(&["inspect", "--model", "m"]);
    assert!(answer.out.contains("2 pinned, 3 blocked, 1 merged, 0 forgotten and kept out"), "{answer:?}");
    desk.write("b.txt", "the cocoa of jdoe\n");
    desk.train("m", &["b.txt"]);
    assert!(desk.run(&["vector", "--model", "m", "john"]).code == Some(0));
    assert!(desk.run(&["vector", "--model", "m", "the"]).code == Some(1));
    for undo in [["unpin", "cocoa", "tea"], ["unblock", "a", "the"], ["unmerge", "jdoe", "jdoe"]] {
        words(&desk, &undo);
    }
    assert_eq!(words(&desk, &["list"]), "blocked\tof\n");
    let answer = desk.run_with("of\n", &["words", "unblock", "--model", "m", "--file", "-"]);
    assert_eq!((answer.code, &*answer.err), (Some(0), "of: unblocked\n"), "{answer:?}");
    assert_eq!(words(&desk, &["list"]), "no word is under control\n");
}

#[test]
fn a_forgotten_word_is_nowhere_and_the_previous_state_is_deleted() {
    let desk = desk();
    desk.write("b.txt", "bread with butter\n");
    desk.train("m", &["--keep-previous", "b.txt"]);
    assert!(holds(&desk, "m", "jdoe") && holds(&desk, "m.previous", "jdoe"));
    let told = words(&desk, &["forget", "--keep-out", "jdoe"]);
    assert!(told.starts_with("jdoe: forgotten, and removed from the model (count 1)\n"), "{told}");
    assert!(told.ends_with("m.previous, which may have the words too\n"), "{told}");
    assert_eq!(desk.names(), ["a.txt", "b.txt", "m"]);
    assert!(!holds(&desk, "m", "jdoe"));
    desk.write("c.txt", "jdoe likes coffee\n");
    desk.train("m", &["c.txt"]);
    assert!(!holds(&desk, "m", "jdoe"), "it stays out");
    assert!(words(&desk, &["list"]).starts_with("kept out\thash "));
}

#[test]
fn a_stop_list_holds_from_the_first_word_and_equals_one_that_is_set_at_once() {
    let desk = Desk::new();
    desk.write("a.txt", "the tea of the day\n".repeat(50));
    desk.write("stop.txt", "the\nof\n");
    desk.train("m", &["--block", "stop.txt", "a.txt"]);
    assert_eq!(words(&desk, &["list"]), "blocked\tof\nblocked\tthe\n");
    assert!(!holds(&desk, "m", "\"words\":[\"the"));
    let before = desk.bytes("m");
    // Again, and nothing is new.
    desk.train("m", &["--block", "stop.txt", "a.txt"]);
    assert!(desk.bytes("m") == before);
    // A list alone is a change too.
    desk.write("more.txt", "tea\n");
    desk.train("m", &["--block", "more.txt", "a.txt"]);
    assert_eq!(words(&desk, &["list"]), "blocked\tof\nblocked\ttea\nblocked\tthe\n");
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let desk = desk();
    words(&desk, &["pin", "tea"]);
    let before = desk.bytes("m");
    let refuse = |args: &[&str], parts: &[&str]| {
        assert_refused(&desk.run(&[&["words", args[0], "--model", "m"], &args[1..]].concat()), parts);
        assert!(desk.bytes("m") == before);
    };
    refuse(&["block", "new", "tea"], &["`tea` is pinned", "unpin it first"]);
    refuse(&["block", "New York"], &["`New York` is not a single token"]);
    refuse(&["merge", "x", "--into", "x"], &["`x` cannot be merged into itself"]);
    refuse(&["block", "--file", "none.txt"], &["none.txt"]);
    desk.write("empty.txt", "\n");
    refuse(&["block", "--file", "empty.txt"], &["empty.txt: the file has no words"]);
    let many: Vec<String> = (0..151).map(|n| format!("pin{n}")).collect();
    fs::write(desk.path("many.txt"), many.join("\n")).unwrap();
    refuse(&["pin", "--file", "many.txt"], &["152 words would be pinned; at most 150 can be"]);
    assert_refused(&desk.run(&["words", "pin", "--model", "none", "x"]), &["none"]);
    desk.write("log.sqlite", "");
    refuse(&["forget", "tea"], &["the model of a service", "/v1/controls"]);
}
