//! `inspect`: what a file holds, and whether it is whole.

use serde_json::Value;

use crate::desk::{Desk, assert_refused, text};

fn trained(args: &[&str]) -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(5_000, 1));
    desk.train("m", &[args, &["a.txt"]].concat());
    desk
}

fn json(desk: &Desk, args: &[&str]) -> Value {
    let answer = desk.run(&[&["inspect", "--model", "m", "--json"], args].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn all_facts_are_printed_as_text() {
    let desk = trained(&[]);
    desk.run_with(text(1_000, 2), &["train", "--model", "m", "-"]);
    let answer = desk.run(&["inspect", "--model", "m"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{answer:?}");
    for part in [
        "contents    a model that can be trained further\n",
        "written by  skipstream 0.1.0, format version 2\n",
        "learned     6,000 words, ",
        "loss        ",
        "16 dimensions, at most 300; ",
        "noise       count ^ 0.75, updated for each batch\n",
        " 0.15\n",
        "a.txt  5,000 ",
        "to its end",
        "\npipes ",
        "\n  words 1 to 10 ",
        "\ntarget_squares  ",
    ] {
        assert!(answer.out.contains(part), "no `{part}` in {}", answer.out);
    }
    assert_eq!(answer.out.matches("verified").count(), json(&desk, &[])["tensors"].as_array().unwrap().len());
}

#[test]
fn as_many_words_wait_as_the_training_said() {
    let desk = Desk::new();
    desk.write("a.txt", text(40_000, 1));
    // Four replays, of which most are still to come.
    let trained = desk.train("m", &["--quality", "best", "--json", "a.txt"]);
    let trained: Value = serde_json::from_str(&trained.out).unwrap();
    assert!(trained["waiting"].as_u64().unwrap() > 20_000);
    assert_eq!(json(&desk, &[])["training"]["waiting"], trained["waiting"]);
    let answer = desk.run(&["inspect", "-m", "m"]);
    assert!(answer.out.contains(" wait (at most 80,000)\n"), "{answer:?}");
}

#[test]
fn all_facts_are_printed_as_json() {
    let desk = trained(&["--strategy", "incremental", "--table-size", "2000"]);
    let found = json(&desk, &[]);
    assert_eq!((&found["contents"], &found["dimensions"]), (&"training".into(), &16.into()));
    let training = &found["training"];
    assert_eq!(training["settings"]["window"], 5);
    assert_eq!(training["vocabulary"]["tokens"], 5_000);
    assert_eq!(training["noise"]["kind"], "adaptive-table");
    assert_eq!(training["noise"]["table_size"], 2_000);
    assert!((1_000..=2_000).contains(&training["noise"]["filled"].as_u64().unwrap()));
    assert_eq!(training["ledger"]["sources"][0]["complete"], true);
    assert_eq!(found["norms"].as_array().unwrap().len(), 2);
    assert_eq!(found["problems"], Value::Array(Vec::new()));
}

#[test]
fn the_vocabulary_is_dumped_with_counts_and_counters() {
    let desk = trained(&[]);
    let answer = desk.run(&["inspect", "--model", "m", "--words"]);
    let rows: Vec<Vec<&str>> = answer.out.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 3), "{answer:?}");
    let counts: Vec<u64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|left, right| left >= right));
    assert_eq!(json(&desk, &["--words"])[0]["word"], rows[0][0]);
    assert_eq!(json(&desk, &[])["words"], rows.len());
}

#[test]
fn a_damaged_part_is_named_and_the_rest_is_shown() {
    let desk = trained(&[]);
    let mut bytes = desk.bytes("m");
    let at = bytes.windows(4).rposition(|window| window == b"moon").unwrap();
    bytes[at] ^= 1;
    desk.write("m", &bytes);
    let answer = desk.run(&["inspect", "--model", "m"]);
    assert_refused(
        &answer,
        &["m: the model file is damaged: the checksum of `words` is wrong; restore it from a copy"],
    );
    assert!(answer.out.contains("WRONG") && answer.out.contains("learned     5,000 words"), "{answer:?}");
    let answer = desk.run(&["inspect", "--model", "m", "--json"]);
    assert_eq!(answer.code, Some(2));
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(found["problems"][0], "the checksum of `words` is wrong");
    assert_refused(&desk.run(&["inspect", "--model", "m", "--words"]), &["the checksum of `words` is wrong"]);
}

#[test]
fn what_is_no_model_is_refused() {
    let desk = trained(&[]);
    let half = desk.bytes("m");
    desk.write("half", &half[..half.len() / 2]);
    for (file, message) in [
        ("half", "half: the model file is damaged: its header describes"),
        ("a.txt", "a.txt: not a skipstream model file: "),
        ("absent", "absent: No such file"),
    ] {
        assert_refused(&desk.run(&["inspect", "--model", file]), &[message]);
        assert_refused(&desk.run(&["inspect", "--model", file, "--words"]), &[message]);
    }
}
