//! The log on standard error.

use serde_json::Value;

use crate::desk::{Answer, Desk, assert_refused, text, train};

/// The events of `--log-json`: every line must be one.
fn events(answer: &Answer) -> Vec<Value> {
    answer.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_headline_says_how_many_threads_can_work() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three\n");
    for (threads, told) in [("16", "; 16 threads, "), ("17", "; 16 threads (limited by --blocks), ")] {
        let answer = desk.run(&["train", "--model", threads, "--threads", threads, "a.txt"]);
        assert!(answer.err.contains(told), "{answer:?}");
    }
}

#[test]
fn events_are_json_lines_from_the_start_to_the_end() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    let args = ["--log-json", "--checkpoint-every", "10k-words", "a.txt"];
    let answer = desk.train("m", &args);
    let events = events(&answer);
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"start"));
    assert_eq!(names.last(), Some(&"end"));
    assert!(
        names[1..names.len() - 1].iter().all(|&name| name == "checkpoint") && names.len() > 2,
        "{names:?}"
    );

    let start = &events[0];
    assert_eq!((&start["model"], &start["is_new"]), (&"m".into(), &true.into()));
    assert_eq!((&start["settings"]["dimensions"], &start["threads"]), (&16.into(), &2.into()));
    let parts = start["memory_bound"].as_object().unwrap().values();
    let sum: u64 = parts.map(|part| part.as_u64().unwrap()).sum();
    assert_eq!(start["memory"].as_u64(), Some(sum));
    assert!(events[1]["words_in_all"].as_u64().unwrap() >= 10_000);
    assert_eq!((&events[events.len() - 1]["outcome"]), &Value::from("complete"));
    let elapsed: Vec<f64> = events.iter().map(|event| event["elapsed"].as_f64().unwrap()).collect();
    assert!(elapsed.is_sorted(), "{elapsed:?}");
    assert!(answer.out.starts_with("learned   20,000 words"), "the summary is still for people");
}

#[test]
fn errors_are_events_too() {
    let desk = Desk::new();
    let answer = desk.run(&train("m", &["--log-json", "none.txt"]));
    assert_eq!(answer.code, Some(2));
    let events = events(&answer);
    let error = events.last().unwrap();
    assert_eq!(error["event"], "error");
    assert!(error["message"].as_str().unwrap().starts_with("none.txt: "), "{error}");
}

#[test]
fn ways_to_tell_exclude_each_other() {
    let desk = Desk::new();
    for flags in [["--quiet", "-v"], ["--quiet", "--log-json"], ["--log-json", "--verbose"]] {
        let answer = desk.run(&train("m", &[flags[0], flags[1], "a.txt"]));
        assert_refused(&answer, &["cannot be used with"]);
    }
}
