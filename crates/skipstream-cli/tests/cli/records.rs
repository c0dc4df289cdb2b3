//! Records with a field of text: JSON lines, tables, and what is refused of them.

use std::io::Write;

use crate::desk::{Desk, assert_refused, text, train};

/// A model's lines of text in JSON.
fn jsonl(lines: &str) -> String {
    let record = |line: &str| serde_json::json!({ "id": 7, "user": { "text": line } }).to_string() + "\n";
    lines.lines().map(record).collect()
}

fn table(lines: &str, separator: char) -> String {
    let row = |line: &str| format!("7{separator}{line}\n");
    format!("id{separator}text\n") + &lines.lines().map(row).collect::<String>()
}

fn vectors(desk: &Desk, model: &str) -> String {
    let answer = desk.run(&["export", "--model", model, "--to", "word2vec-text", "-"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.out
}

#[test]
fn every_format_gives_the_vectors_of_its_text() {
    let desk = Desk::new();
    let lines = text(5_000, 1);
    desk.write("a.txt", &lines);
    desk.write("a.jsonl", jsonl(&lines));
    desk.write("a.csv", table(&lines, ','));
    desk.write("a.tsv", table(&lines, '\t'));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(jsonl(&lines).as_bytes()).unwrap();
    desk.write("a.jsonl.gz", encoder.finish().unwrap());
    desk.train("text", &["a.txt"]);
    for (file, format, field) in [
        ("a.jsonl", "jsonl", "user.text"),
        ("a.jsonl.gz", "jsonl", "user.text"),
        ("a.csv", "csv", "text"),
        ("a.tsv", "tsv", "2"),
    ] {
        let args = ["--format", format, "--field", field, file];
        let model = format!("{file}.model");
        desk.train(&model, &args);
        assert!(vectors(&desk, &model) == vectors(&desk, "text"), "{file}");
        let answer = desk.train(&model, &args);
        assert!(answer.out.contains("learned before"), "{answer:?}");
    }
    let args = train("pipe", &["--format", "jsonl", "--field", "user.text", "-"]);
    assert_eq!(desk.run_with(jsonl(&lines), &args).code, Some(0));
    assert!(vectors(&desk, "pipe") == vectors(&desk, "text"));
}

#[test]
fn records_that_grow_or_are_fed_again_go_on_where_they_were() {
    let desk = Desk::new();
    let (old, new) = (text(2_000, 1), text(1_000, 2));
    for (file, format, all) in [
        ("a.jsonl", "jsonl", jsonl(&(old.clone() + &new))),
        ("a.csv", "csv", table(&(old.clone() + &new), ',')),
    ] {
        let field = if format == "csv" { "text" } else { "user.text" };
        let half: String = all.lines().take(201).map(|line| format!("{line}\n")).collect();
        desk.write(file, half);
        let args = ["--format", format, "--field", field, file];
        desk.train(format, &args);
        desk.write(file, all);
        let answer = desk.train(format, &args);
        assert!(answer.out.contains("; 3,000 in all"), "{answer:?}");
    }
}

#[test]
fn a_record_that_was_met_before_it_was_whole_is_learned_when_it_is() {
    let desk = Desk::new();
    let args = ["--format", "jsonl", "--field", "text", "--bad-records", "skip", "a.jsonl"];
    desk.write("a.jsonl", "{\"text\": \"one two\"}\n{\"text\": \"half a");
    let answer = desk.train("m", &args);
    assert!(answer.out.contains("learned   2 words"), "{answer:?}");
    desk.write("a.jsonl", "{\"text\": \"one two\"}\n{\"text\": \"half a record\"}\n");
    let answer = desk.train("m", &args);
    assert!(answer.out.contains("learned   3 words"), "{answer:?}");
}

#[test]
fn a_file_that_was_begun_in_another_way_is_refused() {
    let desk = Desk::new();
    desk.write("a.jsonl", jsonl(&text(100, 1)));
    desk.train("m", &["--format", "text", "a.jsonl"]);
    let answer = desk.run(&train("m", &["--format", "jsonl", "--field", "user.text", "a.jsonl"]));
    let what = "a.jsonl: this file was learned before as text; it cannot be continued as the field `user.text` of jsonl";
    assert_refused(&answer, &[what, "--again"]);
    desk.train("m", &["--format", "jsonl", "--field", "user.text", "--again", "a.jsonl"]);
    let answer = desk.run(&train("m", &["--format", "jsonl", "--field", "id", "a.jsonl"]));
    assert_refused(&answer, &["as the field `user.text` of jsonl; it cannot be continued as the field `id`"]);
}

#[test]
fn bad_records_are_named_or_left_out_and_counted() {
    let desk = Desk::new();
    for (line, reason) in [
        ("not json", "a.jsonl: line 2: this is not JSON: expected ident at column 2"),
        ("{\"body\": \"x\"}", "a.jsonl: line 2: there is no field `text`"),
        (
            "{\"text\": 1}",
            "a.jsonl: line 2: the field `text` is a number; it must be a string or an array of strings",
        ),
    ] {
        desk.write("a.jsonl", format!("{{\"text\": \"one two\"}}\n{line}\n{{\"text\": \"three\"}}\n"));
        let args = ["--format", "jsonl", "--field", "text", "a.jsonl"];
        let answer = desk.run(&train("m", &args));
        assert_refused(&answer, &[reason, "`--bad-records skip`"]);
        let answer = desk.train("m", &[&args[..], &["--bad-records", "skip", "--again"]].concat());
        assert!(
            answer.err.contains("warning: 1 record that could not be read left out, at a.jsonl line 2\n"),
            "{answer:?}"
        );
        std::fs::remove_file(desk.path("m")).unwrap();
    }
    desk.write("a.csv", "id,text\n1,a\n2,b,c\n");
    let answer = desk.run(&train("m", &["--format", "csv", "--field", "text", "a.csv"]));
    assert_refused(&answer, &["a.csv: line 3: this row has 3 columns, and the first row has 2;"]);
    let answer = desk.run(&train("m", &["--format", "csv", "--field", "body", "a.csv", "--again"]));
    assert_refused(&answer, &["a.csv: there is no column `body`; the columns are id, text"]);
}

#[test]
fn a_name_that_is_no_text_s_is_asked_about() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"text\": \"one\"}\n");
    let answer = desk.run(&train("m", &["a.jsonl"]));
    assert_refused(
        &answer,
        &["a.jsonl: the name suggests jsonl;", "`--format jsonl --field NAME`", "`--format text`"],
    );
    desk.train("m", &["--format", "text", "a.jsonl"]);
    let answer = desk.run(&train("n", &["--format", "jsonl", "a.jsonl"]));
    assert_refused(&answer, &["--format jsonl needs --field NAME"]);
    let answer = desk.run(&train("n", &["--field", "text", "a.jsonl"]));
    assert_refused(&answer, &["--field, --weight, --bad-records and --no-header need --format"]);
    let answer = desk.run_with("x", &train("n", &["--format", "parquet", "--field", "text", "-"]));
    assert_refused(&answer, &["<stdin>: Parquet cannot be read from a pipe; name a file"]);
    desk.write("a.parquet", "PAR1 this is no parquet at all PAR1");
    let answer = desk.run(&train("n", &["--format", "parquet", "--field", "text", "a.parquet"]));
    assert_refused(&answer, &["a.parquet: invalid Parquet file: "]);
}

#[test]
fn a_record_that_is_repaired_is_learned_without_those_before_it() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"t\":\"one two three\"}\n{\"t\":\"four\n{\"t\":\"five six\"}\n");
    let train = ["train", "--model", "m", "--json", "--format", "jsonl", "--field", "t", "a.jsonl"];
    let answer = desk.run(&train);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("a.jsonl: line 2: this is not JSON"), "{answer:?}");

    desk.write("a.jsonl", "{\"t\":\"one two three\"}\n{\"t\":\"four\"}\n{\"t\":\"five six\"}\n");
    let answer = desk.run(&train);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let summary: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&summary["words"], &summary["words_in_all"]), (&3.into(), &6.into()));
}

#[test]
fn a_quote_without_its_other_half_is_named() {
    let desk = Desk::new();
    desk.write("a.csv", "id,text\n1,\"one, two\"\n2,\"never closed\nmore\n3,words\n");
    let answer = desk.run(&["train", "--model", "m", "--format", "csv", "--field", "text", "a.csv"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let message = "error: a.csv: line 3: the record that starts here has a `\"` without a closing one\n";
    assert!(answer.err.ends_with(message), "{answer:?}");
    desk.write("b.csv", "id,text\n1,\"one, two\"");
    let answer = desk.run(&["train", "--model", "n", "--format", "csv", "--field", "text", "b.csv"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn the_first_row_of_a_table_without_a_header_is_not_lost() {
    let desk = Desk::new();
    let lines = text(2_000, 1);
    desk.write("a.txt", &lines);
    let rows: String = lines.lines().map(|line| format!("1790-01-01\t{line}\n")).collect();
    desk.write("a.tsv", format!("7\t{}", &rows[11..]));
    let args = ["--format", "tsv", "--field", "2", "a.tsv"];
    let answer = desk.run(&train("m", &args));
    assert_refused(&answer, &["a.tsv: the first row does not look like names of columns", "`--no-header"]);
    assert!(!desk.path("m").exists(), "nothing was learned");
    desk.train("m", &[&args[..], &["--no-header"]].concat());
    desk.train("text", &["a.txt"]);
    assert!(vectors(&desk, "m") == vectors(&desk, "text"));
    let answer = desk.run(&train("n", &["--no-header", "--format", "jsonl", "--field", "text", "a.tsv"]));
    assert_refused(&answer, &["--no-header is for --format csv and tsv"]);
}
