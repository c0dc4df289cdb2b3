//! JSON lines that grow.

use super::*;
use crate::corpus::{BadRecords, Files, RecordField};

fn json_desk(files: &[(&str, &str)], bad_records: BadRecords) -> Desk {
    Desk { layout: records(RecordFormat::Jsonl, bad_records), ..Desk::with(files) }
}

fn records(format: RecordFormat, bad_records: BadRecords) -> Layout {
    Layout::Records { field: RecordField::new(format, "text"), bad_records }
}

fn record(text: &str) -> String {
    serde_json::json!({ "id": 7, "text": text }).to_string() + "\n"
}

fn next(follow: &mut Follow) -> Option<String> {
    let mut sentence = Sentence::default();
    follow.read(&mut sentence).unwrap().is_sentence().then(|| sentence.tokens().collect::<Vec<_>>().join(" "))
}

/// Reads up to an error, which is returned.
fn read_to_error(follow: &mut Follow) -> String {
    let mut sentence = Sentence::default();
    loop {
        match follow.read(&mut sentence) {
            Ok(Read::Sentence) => {}
            Ok(_) => panic!("there is no error"),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn records_are_read_as_they_come_and_never_by_halves() {
    let mut desk = json_desk(&[("a", &record("one two\nthree"))], BadRecords::Error);
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["one two", "three"]);
    let late = record("four five");
    let (half, rest) = late.split_at(20);
    desk.append("a", half);
    assert!(read(&mut follow).is_empty(), "half a record is no bad one");
    desk.append("a", rest);
    assert_eq!(read(&mut follow), ["four five"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    let length = fs::metadata(desk.path("a")).unwrap().len();
    assert_eq!(desk.learned("a"), Some((length, 5)));
    assert_eq!(follow.report().lines, 3, "of text, in two records");
}

#[test]
fn of_a_renamed_file_the_rest_is_read_and_its_last_record_needs_no_newline() {
    let mut desk = json_desk(&[("a", &record("one"))], BadRecords::Error);
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["one"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    desk.append("a", &(record("two") + record("three").trim_end()));
    desk.rename("a", "a.1");
    desk.write("a", &record("four"));
    assert_eq!(read(&mut follow), ["two", "three", "four"]);
    assert_eq!(events(&mut follow), [FollowEvent::Replaced, FollowEvent::Begun]);

    let mut again = desk.follow(&["a"]);
    assert_eq!(read(&mut again), ["two", "three", "four"], "the ledger was not told");
    assert!(events(&mut again).contains(&FollowEvent::Renamed { renamed: desk.path("a.1") }));
    again.record_positions(&mut desk.ledger).unwrap();
    assert!(read(&mut desk.follow(&["a"])).is_empty());
}

#[test]
fn every_place_is_one_to_go_on_also_within_a_record() {
    let all = record("one two three\nfour") + "\n" + &record("") + &record("five") + &record("six seven");
    for max_sentence_words in [2, 100] {
        let mut desk = json_desk(&[("a", &all)], BadRecords::Error);
        desk.options.max_sentence_words = max_sentence_words;
        let sentences = read(&mut desk.follow(&["a"]));
        let mut follow = desk.follow(&["a"]);
        for learned in 1..=sentences.len() {
            next(&mut follow).unwrap();
            follow.record_positions(&mut desk.ledger).unwrap();
            assert_eq!(read(&mut desk.follow(&["a"])), sentences[learned..]);
            // Reading to the end, without following, goes on there too.
            let plan = Files::plan([desk.path("a")], &desk.ledger, false, &desk.options, &desk.layout);
            let mut files = plan.unwrap();
            let mut rest = 0;
            while files.read(&mut Sentence::default()).unwrap().is_sentence() {
                rest += 1;
            }
            assert_eq!(rest, sentences.len() - learned);
        }
        assert_eq!(next(&mut follow), None);
        follow.record_positions(&mut desk.ledger).unwrap();
        assert_eq!(desk.learned("a"), Some((all.len() as u64, 7)));
    }
}

#[test]
fn a_file_is_known_by_its_first_record_though_only_a_part_of_it_was_learned() {
    let mut desk = json_desk(&[("a", &record("one\ntwo"))], BadRecords::Error);
    let mut follow = desk.follow(&["a"]);
    assert_eq!(next(&mut follow).unwrap(), "one");
    follow.record_positions(&mut desk.ledger).unwrap();
    desk.rename("a", "a.1");
    desk.write("a", &record("three\nfour"));
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["two", "three", "four"]);
}

#[test]
fn a_bad_record_ends_reading_just_before_it_and_may_be_repaired() {
    let good = record("one") + &record("two");
    let mut desk = json_desk(&[("a", &(good.clone() + "{\"text\": 1}\n"))], BadRecords::Error);
    let mut follow = desk.follow(&["a"]);
    let error = read_to_error(&mut follow);
    assert!(error.contains("line 3: the field `text` is a number"), "{error}");
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((good.len() as u64, 2)));

    let error = read_to_error(&mut desk.follow(&["a"]));
    assert!(error.contains("line 3: "), "lines keep their numbers: {error}");
    desk.write("a", &(good + &record("three")));
    assert_eq!(read(&mut desk.follow(&["a"])), ["three"]);
}

#[test]
fn a_bad_record_that_is_left_out_is_counted_once() {
    let mut desk = json_desk(&[("a", &record("one"))], BadRecords::Skip);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    desk.append("a", "no json\n");
    assert!(read(&mut follow).is_empty());
    let report = follow.report();
    assert_eq!((report.bad_records, report.first.bad_record.unwrap().line), (1, 2));
    follow.record_positions(&mut desk.ledger).unwrap();

    desk.append("a", &record("two"));
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["two"]);
    assert_eq!(follow.report().bad_records, 0, "it was passed the first time");
}

#[test]
fn a_file_that_was_begun_in_another_way_is_refused() {
    let text = record("one");
    let mut desk = Desk::with(&[("a", &text)]);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    desk.layout = records(RecordFormat::Jsonl, BadRecords::Error);
    let message = |desk: &Desk| desk.try_follow(&["a"]).err().unwrap().to_string();
    let reason = "this file was learned before as text; it cannot be continued as the field `text` of jsonl";
    assert!(message(&desk).contains(&format!("a: {reason}")), "{}", message(&desk));
    desk.rename("a", "a.1");
    desk.write("a", &text.replace("one", "two"));
    assert!(message(&desk).contains(&format!("a.1: {reason}")), "{}", message(&desk));
}

#[test]
fn a_pipe_of_records_is_read_until_it_is_silent_and_goes_on() {
    let mut desk = json_desk(&[], BadRecords::Error);
    let chunks = vec!["{\"text\": \"one\\ntwo\"}\n", "", "{\"text\": ", "\"three\"}\n"];
    let length: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let mut follow = desk.follow_pipe(chunks);
    assert_eq!(next(&mut follow).unwrap(), "one");
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.ledger.last_pipe.offset, desk.ledger.last_pipe.words), (0, 1));
    assert_eq!(read(&mut follow), ["two"]);
    assert_eq!(read(&mut follow), ["three"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.ledger.piped_words, desk.ledger.piped_bytes), (3, length as u64));
    assert_eq!(desk.ledger.last_pipe, Position { lines: 2, ..Position::at(length as u64) });
}

#[test]
fn what_is_no_line_a_record_is_refused_with_the_reason() {
    for (format, reason) in [
        (RecordFormat::Csv, "a csv file cannot be followed"),
        (RecordFormat::Tsv, "a tsv file cannot be followed"),
        (RecordFormat::Parquet, "a parquet file cannot be followed"),
    ] {
        let desk = Desk { layout: records(format, BadRecords::Error), ..Desk::with(&[("a", "")]) };
        let error = desk.try_follow(&["a"]).err().unwrap().to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}
