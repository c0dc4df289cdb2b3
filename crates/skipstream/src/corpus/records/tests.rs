//! What every format must do, and the ways in which each can be wrong.

use std::io::{BufReader, Read};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::corpus::layout::Layout;
use crate::corpus::options::{TextOptions, Tokenizer};

fn field(format: RecordFormat, field: &str) -> RecordField {
    RecordField::new(format, field)
}

fn open(
    bytes: &[u8],
    at: Position,
    options: &TextOptions,
    of: &RecordField,
    bad: BadRecords,
) -> Result<Box<dyn Sentences>> {
    let start = if of.format == RecordFormat::Jsonl { at.offset as usize } else { 0 };
    let reader = BufReader::with_capacity(7, Cursor::new(bytes[start..].to_vec()));
    let start = Start { name: Path::new("news"), position: at, options, layout: &Layout::Text };
    from_bytes(Box::new(reader), start, of, bad)
}

/// All sentences with the position after each, and the error that ended them.
fn read_all(lines: &mut dyn Sentences) -> (Vec<(String, Position)>, Option<String>) {
    let mut sentence = Sentence::default();
    let mut sentences = Vec::new();
    loop {
        match lines.read(&mut sentence) {
            Ok(crate::corpus::Read::Sentence) => {
                sentences.push((sentence.tokens().collect::<Vec<_>>().join(" "), lines.position()));
            }
            Ok(_) => return (sentences, None),
            Err(error) => return (sentences, Some(error.to_string())),
        }
    }
}

fn sentences(bytes: &[u8], of: &RecordField, bad: BadRecords) -> (Vec<String>, Option<String>) {
    let mut lines = match open(bytes, Position::default(), &TextOptions::default(), of, bad) {
        Ok(lines) => lines,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let (sentences, error) = read_all(&mut *lines);
    (sentences.into_iter().map(|(text, _)| text).collect(), error)
}

fn jsonl(text: &str, name: &str) -> (Vec<String>, Option<String>) {
    sentences(text.as_bytes(), &field(RecordFormat::Jsonl, name), BadRecords::Error)
}

fn csv(text: &str, name: &str) -> (Vec<String>, Option<String>) {
    sentences(text.as_bytes(), &field(RecordFormat::Csv, name), BadRecords::Error)
}

#[test]
fn a_field_of_json_is_a_string_of_lines_or_an_array_of_strings() {
    let text = "\u{FEFF}{\"id\": 1, \"text\": \"one two\\nthree\"}\n\n\
                {\"text\": [\"four\", \"fi\\u0076e\"], \"more\": {\"text\": 7}}\r\n{\"text\": \"\"}";
    let (sentences, error) = jsonl(text, "text");
    assert_eq!(
        (sentences, error),
        (vec!["one two".into(), "three".into(), "four".into(), "five".into()], None)
    );
}

#[test]
fn a_dot_leads_into_an_object_or_is_part_of_the_name() {
    let text = r#"{"user": {"name": "x", "text": "inside"}}
{"user.text": "flat"}
{"user": {"text.raw": "no"}, "user.text": "both"}"#;
    assert_eq!(jsonl(text, "user.text").0, ["inside", "flat", "both"]);
}

#[test]
fn what_stands_where_the_field_might_be_is_no_matter() {
    for other in ["null", "7", "\"a\"", "[{\"text\": \"a\"}]", "{}"] {
        let (_, error) = jsonl(&format!("{{\"user\": {other}}}"), "user.text");
        let error = error.unwrap();
        assert!(error.contains("line 1: there is no field `user.text`"), "{other}: {error}");
        for text in [
            format!("{{\"user.text\": \"flat\", \"user\": {other}}}"),
            format!("{{\"user\": {other}, \"user.text\": \"flat\"}}"),
        ] {
            assert_eq!(jsonl(&text, "user.text"), (vec!["flat".to_owned()], None), "{text}");
        }
    }
}

#[test]
fn of_a_field_that_stands_twice_the_last_counts() {
    assert_eq!(jsonl(r#"{"text": "one", "text": ["two"]}"#, "text").0, ["two"]);
    assert_eq!(jsonl(r#"{"text": [1], "text": "two"}"#, "text").0, ["two"]);
    assert!(jsonl(r#"{"text": "one", "text": 2}"#, "text").1.unwrap().contains("is a number"));
}

#[test]
fn what_is_wrong_with_a_line_of_json_is_said() {
    for (line, reason) in [
        ("{\"text\": \"a\"", "this is not JSON: EOF while parsing an object at column 12"),
        ("{\"text\": \"a\"} x", "this is not JSON: trailing characters at column 15"),
        ("not json", "this is not JSON: expected ident at column 2"),
        ("[1, 2]", "this is JSON, but no object"),
        ("17", "this is JSON, but no object"),
        ("17 x", "this is not JSON: trailing characters at column 4"),
        ("{\"body\": \"a\"}", "there is no field `text`"),
        ("{\"text\": 17}", "the field `text` is a number; it must be a string or an array of strings"),
        ("{\"text\": null}", "the field `text` is null"),
        ("{\"text\": {\"a\": \"b\"}}", "the field `text` is an object"),
        ("{\"text\": [\"a\", 1]}", "the field `text` is an array with other things than strings"),
        ("{\"text\": [1, \"a\"]}", "the field `text` is an array with other things than strings"),
        ("{\"text\": [1, [\"a\"]]}", "the field `text` is an array with other things than strings"),
        ("{\"text\": [[\"a\"]]}", "the field `text` is an array with other things than strings"),
    ] {
        let text = format!("{{\"text\": \"fine\"}}\n{line}\n{{\"text\": \"more\"}}\n");
        let (before, error) = jsonl(&text, "text");
        assert_eq!(before, ["fine"], "{line}");
        let error = error.unwrap();
        assert!(error.starts_with("news: line 2: ") && error.contains(reason), "{line}: {error}");

        let of = field(RecordFormat::Jsonl, "text");
        let mut lines =
            open(text.as_bytes(), Position::default(), &TextOptions::default(), &of, BadRecords::Skip)
                .unwrap();
        let (sentences, error) = read_all(&mut *lines);
        assert_eq!((sentences.len(), error), (2, None), "{line}");
        let report = lines.report();
        assert_eq!((report.bad_records, report.first.bad_record.unwrap().line), (1, 2));
    }
}

#[test]
fn bytes_that_are_not_utf8_in_json_follow_the_policy() {
    let text = b"{\"text\": \"a\"}\n{\"text\": \"b\xFFc\"}\n";
    let of = field(RecordFormat::Jsonl, "text");
    for (policy, expected, error) in [
        (InvalidUtf8::Replace, vec!["a", "b\u{FFFD}c"], None),
        (InvalidUtf8::Skip, vec!["a"], None),
        (InvalidUtf8::Error, vec!["a"], Some("news, line 2: byte 25 is not valid UTF-8")),
    ] {
        let options = TextOptions { invalid_utf8: policy, ..TextOptions::default() };
        let mut lines = open(text, Position::default(), &options, &of, BadRecords::Error).unwrap();
        let (sentences, met) = read_all(&mut *lines);
        assert_eq!(sentences.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), expected);
        assert!(
            met.is_some() == error.is_some()
                && met.unwrap_or_default().starts_with(error.unwrap_or_default())
        );
        assert_eq!(lines.report().invalid_lines, 1);
    }
}

#[test]
fn a_record_that_never_ends_is_refused_without_being_held() {
    for (format, start, reason) in [
        (RecordFormat::Jsonl, "{\"text\": \"", "line 1: the line is longer than 67108864 bytes"),
        (RecordFormat::Csv, "text\n\"", "line 2: the record that starts here is longer than 67108864 bytes"),
    ] {
        let endless = start.as_bytes().chain(std::io::repeat(b'a').take(MAX_RECORD_BYTES as u64 + (1 << 20)));
        let of = field(format, "text");
        let reader = Box::new(BufReader::new(endless));
        let options = TextOptions::default();
        let start = Start {
            name: Path::new("news"),
            position: Position::default(),
            options: &options,
            layout: &Layout::Text,
        };
        let lines = from_bytes(reader, start, &of, BadRecords::Error);
        let error = read_all(&mut *lines.unwrap()).1.unwrap();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_column_is_found_by_name_or_number_and_may_hold_lines() {
    let text = "\u{FEFF}id,text,more\n1,\"one, two\nthree\",x\n2,four,\"\"\"q\"\"\"\n";
    assert_eq!(csv(text, "text").0, ["one, two", "three", "four"]);
    assert_eq!(csv(text, "2").0, ["one, two", "three", "four"]);
    assert_eq!(csv(text, "id").0, ["1", "2"]);
    let of = field(RecordFormat::Tsv, "text");
    let text = "id\ttext\n1\tsay \"five\n2\tsix\" seven\n";
    assert_eq!(sentences(text.as_bytes(), &of, BadRecords::Error).0, ["say \"five", "six\" seven"]);
    assert_eq!(csv("", "text"), (vec![], None));
}

#[test]
fn prose_in_records_is_noticed() {
    let text = format!("text\n{}", "\"Well, this is prose. Isn't it?\"\n".repeat(20));
    let of = field(RecordFormat::Csv, "text");
    let options = TextOptions::default();
    let mut lines = open(text.as_bytes(), Position::default(), &options, &of, BadRecords::Error).unwrap();
    read_all(&mut *lines);
    assert!(lines.report().looks_like_prose());
}

#[test]
fn a_table_without_a_header_has_its_first_row_read() {
    let without = |format, number: &str| RecordField { no_header: true, ..field(format, number) };
    let text = "1790-01-01,\"Fellow citizens, hear\"\n1791-01-01,Again\n";
    let read = |number| sentences(text.as_bytes(), &without(RecordFormat::Csv, number), BadRecords::Error);
    assert_eq!(read("2"), (vec!["Fellow citizens, hear".into(), "Again".into()], None));
    let message = read("text").1.unwrap();
    assert!(message.contains("`text` is not the number of a column"), "{message}");
    assert!(read("0").1.unwrap().contains("`0` is not the number of a column"));
    assert_eq!(read("3").1.unwrap(), "news: there is no column `3`; the columns are 1 to 2");
    let of = without(RecordFormat::Csv, "2");
    let mut first =
        open(text.as_bytes(), Position::default(), &TextOptions::default(), &of, BadRecords::Error).unwrap();
    let (all, _) = read_all(&mut *first);
    let mut rest = open(text.as_bytes(), all[0].1, &TextOptions::default(), &of, BadRecords::Error).unwrap();
    assert_eq!(read_all(&mut *rest).0, all[1..]);
}

/// The weight of each sentence, and the error that ended them.
fn weights(text: &str, of: &RecordField) -> (Vec<f32>, Option<String>) {
    let options = TextOptions::default();
    let mut lines = open(text.as_bytes(), Position::default(), &options, of, BadRecords::Error).unwrap();
    let (mut sentence, mut weights) = (Sentence::default(), Vec::new());
    loop {
        match lines.read(&mut sentence) {
            Ok(crate::corpus::Read::Sentence) => weights.push(sentence.weight()),
            Ok(_) => return (weights, None),
            Err(error) => return (weights, Some(error.to_string())),
        }
    }
}

#[test]
fn all_sentences_of_a_record_have_its_weight() {
    let of = |format, weight: &str| RecordField { weight: Some(weight.to_owned()), ..field(format, "text") };
    let jsonl = "{\"text\": \"a\", \"n\": {\"w\": 2}}\n{\"n\": {\"w\": 0.5}, \"text\": [\"b\", \"c\"]}\n";
    assert_eq!(weights(jsonl, &of(RecordFormat::Jsonl, "n.w")), (vec![2.0, 0.5, 0.5], None));
    let csv = "w,text\n 1e1 ,\"a\nb\"\n0,c\n9.5,d\n";
    assert_eq!(weights(csv, &of(RecordFormat::Csv, "w")), (vec![10.0, 10.0, 0.0, 9.5], None));
    assert_eq!(weights("text\tw\na\t3\n", &of(RecordFormat::Tsv, "w")), (vec![3.0], None));
    let numbered = RecordField { no_header: true, field: "2".to_owned(), ..of(RecordFormat::Csv, "1") };
    assert_eq!(weights("3,a\n4,b\n", &numbered), (vec![3.0, 4.0], None));
}

#[test]
fn what_is_wrong_with_a_weight_is_said() {
    let of = |format| RecordField { weight: Some("w".to_owned()), ..field(format, "text") };
    for (line, reason) in [
        (r#"{"text": "b"}"#, "the weight `w` is missing; it must be a number"),
        (r#"{"text": "b", "w": "2"}"#, "the weight `w` is text; it must be a number"),
        (r#"{"text": "b", "w": null}"#, "the weight `w` is null; it must be a number"),
        (r#"{"text": "b", "w": -1}"#, "the weight `w` is -1.0; it must be from 0 to 10"),
        (r#"{"text": "b", "w": 10.5}"#, "the weight `w` is 10.5; it must be from 0 to 10"),
        ("{\"text\": \"b\"", "this is not JSON"),
    ] {
        let (before, error) =
            weights(&format!("{{\"text\": \"a\", \"w\": 2}}\n{line}\n"), &of(RecordFormat::Jsonl));
        let error = error.unwrap();
        assert_eq!(before, [2.0]);
        assert!(error.starts_with(&format!("news: line 2: {reason}")), "{error}");
    }
    for (value, reason) in [("", "is empty"), ("x", "is `x`"), ("NaN", "is NaN"), ("1e99", "is 1e99")] {
        let (_, error) = weights(&format!("text,w\na,{value}\n"), &of(RecordFormat::Csv));
        let error = error.unwrap();
        assert!(error.starts_with(&format!("news: line 2: the weight `w` {reason}")), "{error}");
    }
}

#[test]
fn a_first_row_that_is_no_header_is_not_lost_in_silence() {
    for text in [
        "1790,Fellow citizens\n1791,Again\n",
        "good,It was a pleasure to read this\nbad,No\n",
        "same,same\nother,other\n",
    ] {
        for column in ["2", "text"] {
            let message = csv(text, column).1.unwrap();
            assert!(message.contains("does not look like names of columns"), "{message}");
        }
    }
    // A name is a name, whatever it looks like; pandas writes an empty one.
    assert_eq!(csv("2019,2020\na,b\n", "2020").0, ["b"]);
    assert_eq!(csv(",text\n0,b\n", "2").0, ["b"]);
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    let error = csv("id,text\n1,a\n", "body").1.unwrap();
    assert_eq!(error, "news: there is no column `body`; the columns are id, text");
    let error = csv("id,text\n1,a\n", "3").1.unwrap();
    assert!(error.contains("no column `3`"), "{error}");
    let text = "id,text\n1,\"a\nb\"\n2,c,d\n3,e\n";
    let (before, error) = csv(text, "text");
    assert_eq!(before, ["a", "b"]);
    let error = error.unwrap();
    assert!(error.starts_with("news: line 4: this row has 3 columns, and the first row has 2"), "{error}");
    let of = field(RecordFormat::Csv, "text");
    assert_eq!(sentences(text.as_bytes(), &of, BadRecords::Skip).0, ["a", "b", "e"]);
}

#[test]
fn a_row_of_a_table_begins_behind_the_line_ends_before_it() {
    for end in ["\n", "\r\n"] {
        let text = ["id,text", "1,a", "", "2,\"b", "c\"", "", "3,d,e", ""].join(end);
        let (before, error) = csv(&text, "text");
        assert_eq!(before, ["a", "b", "c"]);
        assert!(error.unwrap().starts_with("news: line 7: this row has 3 columns"), "{end:?}");
    }
}

#[test]
fn a_quote_without_its_other_half_is_found_where_it_was_opened() {
    let lines = "some text\n".repeat(MAX_RECORD_BYTES / 10 + 1);
    let error = csv(&format!("id,text\r\n1,a\r\n\r\n2,\"{lines}"), "text").1.unwrap();
    assert!(
        error.contains("news: line 4: the record that starts here is longer than 67108864 bytes"),
        "{error}"
    );
    let error = csv(&format!("id,\"text\n{lines}"), "text").1.unwrap();
    assert!(error.contains("news: line 1: the record that starts here"), "{error}");
}

#[test]
fn columns_cost_no_memory() {
    let commas = ",".repeat(1_000_000);
    let of = field(RecordFormat::Csv, "text");
    let bytes = format!("id,text\n1,a\n{commas}\n2,b\n").into_bytes();
    let reader = Box::new(Cursor::new(bytes));
    let mut table = csv::Table::new(reader, Position::default(), Path::new("news"), &of).unwrap();
    let mut text = Vec::new();
    let mut defects = Vec::new();
    while let Some(record) = table.read(&mut text).unwrap() {
        defects.extend(record.defect);
        assert!(text.capacity() < 100);
    }
    assert_eq!(defects, ["this row has 1000001 columns, and the first row has 2"]);

    let names: String = (1..=1_000_000).map(|number| format!("c{number},")).collect();
    assert_eq!(csv(&format!("{names}text\n{commas}a\n"), "text").0, ["a"]);
    let error = csv(&names, "text").1.unwrap();
    assert!(
        error.ends_with(
            "the columns are c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, \
         c15, c16, c17, c18, c19, c20 …"
        ),
        "{error}"
    );
}

#[test]
fn utf_16_is_refused_in_every_format() {
    for format in [RecordFormat::Jsonl, RecordFormat::Csv, RecordFormat::Tsv] {
        let error = sentences(b"\xFF\xFEt\0", &field(format, "t"), BadRecords::Skip).1.unwrap();
        assert!(error.contains("UTF-16"), "{error}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_not_read_from_a_pipe() {
    let of = field(RecordFormat::Parquet, "text");
    let error = sentences(b"PAR1", &of, BadRecords::Error).1.unwrap();
    assert_eq!(error, "news: Parquet cannot be read from a pipe");
}

/// A file of each format with the same texts.
fn written(format: RecordFormat, texts: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    match format {
        RecordFormat::Jsonl => {
            for text in texts {
                out.extend(serde_json::json!({"id": 1, "text": text}).to_string().bytes());
                out.push(b'\n');
            }
        }
        RecordFormat::Csv => {
            let mut writer = ::csv::Writer::from_writer(&mut out);
            writer.write_record(["id", "text"]).unwrap();
            texts.iter().for_each(|text| writer.write_record(["1", text]).unwrap());
            drop(writer);
        }
        RecordFormat::Tsv => {
            out.extend(b"id\ttext\n");
            for text in texts {
                out.extend(format!("1\t{}\n", text.replace(['\n', '\t', '\r'], " ")).bytes());
            }
        }
        RecordFormat::Parquet => unreachable!("a pipe"),
    }
    out
}

fn formats() -> impl Strategy<Value = RecordFormat> {
    proptest::sample::select(vec![RecordFormat::Jsonl, RecordFormat::Csv, RecordFormat::Tsv])
}

fn policies() -> impl Strategy<Value = InvalidUtf8> {
    proptest::sample::select(vec![InvalidUtf8::Replace, InvalidUtf8::Skip])
}

fn options() -> impl Strategy<Value = TextOptions> {
    let words_and_bytes = (2..5usize, 1..12usize);
    (words_and_bytes, any::<[bool; 2]>()).prop_map(|((words, bytes), [unicode, lowercase])| TextOptions {
        max_sentence_words: words,
        max_token_bytes: bytes,
        tokenizer: if unicode { Tokenizer::Unicode } else { Tokenizer::Whitespace },
        lowercase,
        ..TextOptions::default()
    })
}

#[test]
fn words_that_grow_too_long_do_not_change_what_follows_a_resume() {
    // Each bad byte becomes three, so `\xFF\xFF` is a token of the piece but too long for a word.
    let bytes = b"text\na b \xFF\xFF c d e\nf \xFF\xFF g h\n";
    let of = field(RecordFormat::Csv, "text");
    let options = TextOptions { max_sentence_words: 2, max_token_bytes: 5, ..TextOptions::default() };
    let whole = open(bytes, Position::default(), &options, &of, BadRecords::Error);
    let (sentences, _) = read_all(&mut *whole.unwrap());
    let texts: Vec<&str> = sentences.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["a b", "c d", "e", "f g", "h"]);
    for (index, &(_, position)) in sentences.iter().enumerate() {
        let rest = open(bytes, position, &options, &of, BadRecords::Error);
        assert_eq!(read_all(&mut *rest.unwrap()).0, sentences[index + 1..]);
    }
}

proptest! {
    #[test]
    fn every_position_is_a_place_to_go_on(
        texts in proptest::collection::vec("[a-cA \n\",é日~-]{0,20}", 0..6),
        format in formats(), options in options(), invalid_utf8 in policies(),
    ) {
        let options = TextOptions { invalid_utf8, ..options };
        // Bytes that are not UTF-8 stand in the place of the tildes.
        let bytes = written(format, &texts).into_iter().map(|byte| if byte == b'~' { 0xFF } else { byte });
        let bytes: Vec<u8> = bytes.collect();
        let of = field(format, "text");
        let whole = open(&bytes, Position::default(), &options, &of, BadRecords::Error);
        let (sentences, error) = read_all(&mut *whole.unwrap());
        prop_assert!(error.is_none());
        for (index, &(_, position)) in sentences.iter().enumerate() {
            let rest = open(&bytes, position, &options, &of, BadRecords::Error);
            prop_assert_eq!(&read_all(&mut *rest.unwrap()).0, &sentences[index + 1..]);
        }
    }

    #[test]
    fn records_are_learned_as_their_text_would_be(
        texts in proptest::collection::vec("[a-cA \n\",é日-]{0,20}", 0..6), format in formats(), options in options(),
    ) {
        let bytes = written(format, &texts);
        let mut records = open(&bytes, Position::default(), &options, &field(format, "text"), BadRecords::Error).unwrap();
        let texts: Vec<String> = match format {
            RecordFormat::Tsv => texts.iter().map(|text| text.replace('\n', " ")).collect(),
            _ => texts,
        };
        let mut lines = Lines::new(Cursor::new(texts.join("\n").into_bytes()), "text", &options).unwrap();
        let mut sentence = Sentence::default();
        let mut expected = Vec::new();
        while lines.read(&mut sentence).unwrap().is_sentence() {
            expected.push(sentence.tokens().collect::<Vec<_>>().join(" "));
        }
        let sentences: Vec<String> = read_all(&mut *records).0.into_iter().map(|(text, _)| text).collect();
        prop_assert_eq!(sentences, expected);
    }

    #[test]
    fn any_bytes_end_with_sentences_or_an_error(
        bytes in any::<Vec<u8>>(), format in formats(), skip in any::<bool>(),
    ) {
        let bad = if skip { BadRecords::Skip } else { BadRecords::Error };
        let started = [&b"text\n"[..], &bytes].concat();
        for bytes in [&bytes, &started] {
            sentences(bytes, &field(format, "text"), bad);
        }
    }
}
