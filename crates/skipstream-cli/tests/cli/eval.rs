//! `eval`: the scores, as people and programs read them, and what is refused.

use serde_json::Value;

use crate::desk::{Desk, assert_refused, text};

/// Words of one topic are alike, those of two are not.
const PAIRS: &str = "# made up\nWord 1,Word 2,Mean\r\nmoon,star,9.1\r\nMoon,planet,9\r\nbread,butter,8.8\r\n\
    bread,cheese,8.9\r\nmoon,bread,1\r\nstar,soup,1.2\r\ncomet,salt,0.5\r\nmoon,absent,5\r\n";

const ANALOGIES: &str = ": food-and-stars\nmoon star bread butter\nbread salt Comet Orbit\nabsent star bread butter\n\
    : gram1-nothing\nmoon planet salt soup\n";

fn trained() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(40_000, 1));
    desk.train("m", &["--finish", "a.txt"]);
    desk.write("pairs.csv", PAIRS);
    desk.write("analogies.txt", ANALOGIES);
    desk
}

fn json(desk: &Desk, args: &[&str]) -> Value {
    let answer = desk.run(&[&["eval", "--model", "m", "--json"], args].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(answer.err, "");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn tables_tell_the_kinds_apart() {
    let desk = trained();
    let answer = desk.run(&["eval", "--model", "m", "pairs.csv", "analogies.txt", "pairs.csv"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{answer:?}");
    let lines: Vec<Vec<&str>> = answer.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..2], ["m:", "300"], "{answer:?}");
    assert_eq!(lines[2][..3], ["word", "pairs", "Spearman"]);
    assert_eq!(lines[3][0], "pairs.csv");
    assert!(lines[3][5].parse::<f64>().unwrap() > 0.9, "{answer:?}");
    assert_eq!(lines[3][6..], ["7", "8"]);
    assert_eq!(lines[5][..2], ["mean", lines[3][1]]);
    assert_eq!(lines[7][..3], ["analogies,", "%", "3CosAdd"]);
    let names: Vec<&str> = lines[8..].iter().map(|line| line[0]).collect();
    assert_eq!(names, ["analogies.txt", "food-and-stars", "gram1-nothing", "semantic", "syntactic"]);
    assert!(lines[8].ends_with(&["3", "4"]) && lines[11].ends_with(&["2", "3"]), "{answer:?}");
}

#[test]
fn json_has_every_number() {
    let desk = trained();
    let report = json(&desk, &["pairs.csv", "analogies.txt"]);
    assert_eq!((&report["model"], &report["case"]), (&"m".into(), &"ignore".into()));
    let pairs = &report["sets"][0];
    assert_eq!((&pairs["file"], &pairs["kind"]), (&"pairs.csv".into(), &"word-pairs".into()));
    assert_eq!((&pairs["used"], &pairs["total"]), (&7.into(), &8.into()));
    let spearman = pairs["spearman"].as_f64().unwrap();
    let interval = &pairs["spearman_interval"];
    assert!(interval["low"].as_f64().unwrap() <= spearman && spearman <= interval["high"].as_f64().unwrap());
    assert!(pairs["pearson"].as_f64().unwrap() > 0.8);
    assert_eq!(report["totals"]["mean_spearman"], spearman);

    let analogies = &report["sets"][1];
    assert_eq!(analogies["sections"][1]["relation"], "syntactic");
    assert_eq!(analogies["total"]["used"], 3);
    assert!(analogies["total"]["multiply_interval"]["high"].is_f64());
    assert_eq!(report["totals"]["analogies"], analogies["total"]);
}

#[test]
fn case_restriction_threads_and_vectors_are_obeyed() {
    let desk = trained();
    let used = |args: &[&str]| json(&desk, &[args, &["pairs.csv"]].concat())["sets"][0]["used"].clone();
    assert_eq!(used(&["--case", "keep"]), 6);
    assert_eq!(used(&["--case", "lower"]), 7);
    assert_eq!(used(&["--restrict", "12"]), 7);
    assert_ne!(used(&["--restrict", "9"]), 7);
    let analogies = |args: &[&str]| json(&desk, &[args, &["analogies.txt"]].concat());
    assert_eq!(analogies(&["--threads", "1"]), analogies(&["--threads", "3"]));
    let target = json(&desk, &["--vectors", "target", "pairs.csv"]);
    assert_eq!(target["vectors"], "target");
    assert_ne!(target["sets"][0]["pearson"], json(&desk, &["pairs.csv"])["sets"][0]["pearson"]);
}

#[test]
fn two_models_are_compared_on_what_both_know() {
    let desk = trained();
    desk.write("b.txt", text(400, 7).replace("moon", "luna"));
    desk.train("young", &["b.txt"]);
    let args = ["--common-vocabulary", "young", "pairs.csv", "analogies.txt"];
    let report = json(&desk, &args);
    assert_eq!(report["common_vocabulary"], "young");
    let pairs = &report["sets"][0];
    assert_eq!((&pairs["used"], &pairs["other"]["used"]), (&4.into(), &4.into()), "four do without `moon`");
    let spearman = |score: &Value| score["spearman"].as_f64().unwrap();
    assert_eq!(pairs["differences"][0]["measure"], "spearman");
    assert_eq!(pairs["differences"][0]["value"], spearman(pairs) - spearman(&pairs["other"]));
    assert_eq!(report["sets"][1]["total"]["used"], 1);
    assert_eq!(report["sets"][1]["differences"].as_array().unwrap().len(), 2);

    let answer = desk.run(&[&["eval", "--model", "m"], &args[..]].concat());
    for part in
        ["compared with young,", "word pairs, Spearman", "analogies, 3CosAdd, %", "analogies, 3CosMul, %"]
    {
        assert!(answer.out.contains(part), "no `{part}` in {answer:?}");
    }
    // A model beside itself is neither better nor worse.
    let answer = desk.run(&["eval", "--model", "m", "--common-vocabulary", "m", "pairs.csv"]);
    assert!(answer.out.contains("+0.0000  0.0000 to 0.0000"), "{answer:?}");
}

#[test]
fn a_set_without_known_words_is_exit_code_1_and_the_others_are_scored() {
    let desk = trained();
    desk.write("other.tsv", "chat\tchien\t7\nlune\tsoleil\t8\n");
    let answer = desk.run(&["eval", "--model", "m", "other.tsv", "pairs.csv"]);
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.err, "other.tsv: no question has all its words in the vocabulary\n");
    assert!(answer.out.contains("\npairs.csv "), "{answer:?}");
}

#[test]
fn a_compressed_set_is_scored_as_the_plain_one() {
    let desk = trained();
    for name in ["pairs.csv.gz", "pairs.csv.xz"] {
        let mut bytes = Vec::new();
        let path = desk.path(name);
        let compression = skipstream::unstable::Compression::by_name(&path);
        let write = |to: &mut dyn std::io::Write| {
            to.write_all(PAIRS.as_bytes()).unwrap();
            Ok(())
        };
        compression.encode(&mut bytes, write, &path).unwrap();
        desk.write(name, &bytes);
        let plain = json(&desk, &["pairs.csv"]);
        assert_eq!(json(&desk, &[name])["sets"][0]["spearman"], plain["sets"][0]["spearman"]);
        desk.write(name, &bytes[..bytes.len() / 2]);
        assert_refused(&desk.run(&["eval", "--model", "m", name]), &[name, "damaged or cut short"]);
    }
}

#[test]
fn what_cannot_be_scored_is_refused_with_file_and_line() {
    let desk = trained();
    desk.write("empty", "");
    desk.write("novel", "It was a dark and stormy night; the rain fell in torrents.\n");
    desk.write("short", ": capitals\nmoon star bread butter\nmoon star bread\n");
    desk.write("words", "moon star 9\nmoon bread low\n");
    desk.write("latin", b"moon star 9\nmoon \xE9toile 9\n");
    desk.write("long", "moon ".repeat(20_000));
    std::fs::create_dir(desk.path("folder")).unwrap();
    for (file, message) in [
        ("absent", "absent: No such file"),
        ("folder", "folder: Is a directory"),
        ("empty", "empty: the file has no word pairs and no analogies"),
        ("novel", "novel: line 1: expected two words and a score, or four words"),
        ("short", "short: line 3: expected 4 words, found 3"),
        ("words", "words: line 2: the score is `low`; it must be a finite number"),
        ("latin", "latin: line 2: not valid UTF-8"),
        ("long", "long: line 1: expected two words and a score, or four words"),
    ] {
        // The last file of a command is read before the first is scored.
        assert_refused(&desk.run(&["eval", "--model", "m", "pairs.csv", file]), &[message]);
    }
    assert_refused(&desk.run(&["eval", "--model", "absent", "pairs.csv"]), &["absent"]);
    assert_refused(&desk.run(&["eval", "--model", "pairs.csv", "pairs.csv"]), &["pairs.csv"]);
    let other = ["eval", "--model", "m", "--common-vocabulary", "absent", "pairs.csv"];
    assert_refused(&desk.run(&other), &["absent"]);
    assert_refused(&desk.run(&["eval", "--model", "m", "--threads", "0", "pairs.csv"]), &["threads is 0"]);
    assert_refused(&desk.run(&["eval", "--model", "m"]), &["required arguments were not provided"]);
    assert_refused(&desk.run(&["eval", "--model", "m", "--case", "upper", "pairs.csv"]), &["'upper'"]);
}
