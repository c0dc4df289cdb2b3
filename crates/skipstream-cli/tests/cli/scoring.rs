//! `train --eval`: scores over time.

use serde_json::Value;

use crate::desk::{Desk, assert_refused, text, train};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(50_000, 1));
    desk.write("pairs.tsv", "bread\tcheese\t9\nmoon\tstar\t8\nmoon\tbread\t1\nmoon\tunheard\t5\n");
    desk.write("analogies.txt", ": all\nbread butter moon star\nbread cheese comet orbit\n");
    desk
}

fn points(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn scores_are_json_lines_over_time_and_change_no_byte_of_the_model() {
    let desk = desk();
    let scored = [
        "--eval",
        "pairs.tsv",
        "--eval",
        "analogies.txt",
        "--eval-every",
        "15k-words",
        "--blocks",
        "4",
        "a.txt",
    ];
    let answer = desk.train("scored", &scored);
    let points = points(&answer.out);
    let words: Vec<u64> = points.iter().map(|point| point["words"].as_u64().unwrap()).collect();
    assert_eq!(words, [16_080, 32_160, 48_240, 50_000], "at the ends of batches, and at the end of the text");
    for point in &points {
        assert!(point["loss"].as_f64().unwrap() > 0.0 && point["vocabulary"].as_u64().unwrap() > 12);
        let [pairs, analogies] = [&point["scores"][0], &point["scores"][1]];
        assert_eq!((&pairs["file"], &pairs["kind"]), (&"pairs.tsv".into(), &"word-pairs".into()));
        assert_eq!((&pairs["used"], &pairs["total"]), (&3.into(), &4.into()));
        assert_eq!((&analogies["kind"], &analogies["total"]["used"]), (&"analogies".into(), &2.into()));
    }
    assert_eq!(points[3]["scores"][0]["spearman"], 1.0);
    assert!(answer.err.contains("learned   50,000 words"), "the summary stands aside: {answer:?}");

    desk.train("plain", &["--blocks", "4", "a.txt"]);
    assert!(desk.bytes("scored") == desk.bytes("plain"));
}

#[test]
fn without_a_time_the_end_alone_is_scored_and_the_summary_may_be_json_too() {
    let desk = desk();
    let answer = desk.train("m", &["--json", "--quiet", "--eval", "pairs.tsv", "a.txt"]);
    let lines = points(&answer.out);
    assert_eq!((lines.len(), answer.err.as_str()), (2, ""));
    assert_eq!(lines[0]["words"], 50_000);
    assert_eq!(lines[1]["outcome"], "complete");
    let answer = desk.train("word2vec", &["--strategy", "word2vec", "--eval", "pairs.tsv", "a.txt"]);
    assert_eq!(points(&answer.out).len(), 1);
}

#[test]
fn a_set_without_known_words_is_warned_of() {
    let desk = desk();
    desk.write("other.tsv", "chat\tchien\t7\n");
    let answer = desk.train("m", &["--eval", "other.tsv", "a.txt"]);
    assert!(answer.err.contains("warning: other.tsv: no question has all its words among the 30000 most"));
    assert_eq!(points(&answer.out)[0]["scores"][0]["used"], 0);
}

#[test]
fn test_sets_are_looked_at_before_anything_is_learned() {
    let desk = desk();
    assert_refused(&desk.run(&train("m", &["--eval", "none.tsv", "a.txt"])), &["none.tsv: No such file"]);
    desk.write("broken.tsv", "one\n");
    assert_refused(&desk.run(&train("m", &["--eval", "broken.tsv", "a.txt"])), &["broken.tsv"]);
    let answer = desk.run(&train("m", &["--eval-every", "1k-words", "a.txt"]));
    assert_refused(&answer, &["the following required arguments were not provided"]);
    assert!(!desk.names().contains(&"m".to_owned()));
}

#[test]
fn training_goes_on_when_nobody_reads_the_scores() {
    let desk = desk();
    let mut child = desk.start(&train("m", &["--eval", "pairs.tsv", "--eval-every", "4k-words", "a.txt"]));
    drop(child.stdout.take());
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && err.contains("learned   50,000 words"), "{err}");
}
