//! How text becomes words: what a word is, and what is left out.

use std::process::Command;

use crate::desk::{Answer, Desk, assert_refused, text, train};

/// The words of a model, sorted.
fn words(desk: &Desk, model: &str) -> Vec<String> {
    let answer = desk.run(&["export", "--model", model, "--to", "word2vec-text", "-"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let mut words: Vec<String> =
        answer.out.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    words.sort();
    words
}

#[test]
fn words_are_made_by_the_settings_and_a_model_keeps_them() {
    let desk = Desk::new();
    desk.write("a.txt", "The ﬁrst, “THE”\u{3000}second; e-mail!\n日本 a\n");
    desk.train("plain", &["a.txt"]);
    assert_eq!(words(&desk, "plain"), ["The", "a", "e-mail!", "second;", "“THE”", "日本", "ﬁrst,"]);
    let answer = desk.train("m", &["--tokenizer", "unicode", "--lowercase", "--nfkc", "a.txt"]);
    assert!(answer.out.contains("learned   9 words"), "{answer:?}");
    assert_eq!(words(&desk, "m"), ["a", "e", "first", "mail", "second", "the", "日", "本"]);

    desk.write("b.txt", "NEW, Words");
    desk.train("m", &["--lowercase", "b.txt"]);
    assert!(words(&desk, "m").contains(&"new".to_owned()));
    let answer = desk.run(&train("m", &["--tokenizer", "whitespace", "--lowercase=false", "b.txt"]));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(
        answer.err.contains(
            "--lowercase is false, the model's is true, --tokenizer is whitespace, the model's is unicode;"
        ),
        "{answer:?}"
    );
}

#[test]
fn words_of_the_wrong_length_are_left_out_and_counted() {
    let desk = Desk::new();
    desk.write("a.txt", "a bc été longer\n");
    let answer = desk.train("m", &["--min-token-len", "2", "--max-token-len", "3", "a.txt"]);
    assert_eq!(words(&desk, "m"), ["bc", "été"]);
    assert!(answer.out.contains("note      1 word shorter than --min-token-len left out\n"), "{answer:?}");
    assert!(answer.err.contains("warning: 1 word longer than --max-token-len or"), "{answer:?}");
    let answer = desk.run(&train("m", &["--max-token-len", "9", "a.txt"]));
    assert!(answer.err.contains("--max-token-len is 9, the model's is 3;"), "{answer:?}");
    let answer = desk.run(&train("new", &["--min-token-len", "4", "--max-token-len", "3", "a.txt"]));
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("max_token_len is 3; it must be from 4 to 65535"), "{answer:?}");
}

#[test]
fn the_first_place_of_each_problem_is_named() {
    let desk = Desk::new();
    let long = "x".repeat(200);
    let lines = [b"fine\none two three ", long.as_bytes(), b"\n\n\xFF bad\nnul\0nul\n\xFF again\n"].concat();
    desk.write("a.txt", lines);
    desk.write("b.txt", "fine \0\n");
    let answer = desk.train("m", &["--max-sentence-words", "2", "a.txt", "b.txt"]);
    assert!(
        answer.out.contains("note      1 line longer than --max-sentence-words split, at a.txt line 2\n")
    );
    let warnings = [
        "1 word longer than --max-token-len or --max-token-bytes left out, at a.txt line 2",
        "2 lines with bytes that are not UTF-8 (see --invalid-utf8), the first at a.txt line 4",
        "2 lines with NUL bytes, which were read as spaces, the first at a.txt line 5",
    ];
    let lines = warnings.map(|warning| format!("warning: {warning}\n"));
    assert!(answer.err.ends_with(&lines.concat()), "{answer:?}");
    // They are worth more than quiet.
    let answer = desk.train("quiet", &["--quiet", "a.txt", "b.txt"]);
    assert_eq!((answer.out.as_str(), answer.err), ("", lines.concat()));
    let answer = desk.train("events", &["--log-json", "a.txt", "b.txt"]);
    let events = answer.err.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let logged: Vec<String> = events
        .filter(|event| event["event"] == "warning")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(logged, warnings);
    let answer = desk.train("json", &["--json", "--again", "a.txt"]);
    let summary: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let place = &summary["text"]["first"]["nul_line"];
    assert_eq!((&place["path"], &place["line"]), (&"a.txt".into(), &5.into()));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_skipped_or_refused() {
    let desk = Desk::new();
    desk.write("a.txt", b"one two\nbad\xFF three\nfour\n");
    desk.train("replace", &["a.txt"]);
    assert_eq!(words(&desk, "replace"), ["bad\u{FFFD}", "four", "one", "three", "two"]);
    desk.train("skip", &["--invalid-utf8", "skip", "a.txt"]);
    assert_eq!(words(&desk, "skip"), ["four", "one", "two"]);
    let answer = desk.run(&train("strict", &["--invalid-utf8", "error", "a.txt"]));
    assert_refused(&answer, &["a.txt, line 2: byte 11 is not valid UTF-8"]);
    assert_eq!(words(&desk, "strict"), ["one", "two"], "what came before is saved");
}

#[test]
fn utf_16_is_refused_with_what_to_do() {
    let desk = Desk::new();
    let utf_16: Vec<u8> = "\u{FEFF}one two\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    desk.write("a.txt", &utf_16);
    let answer = desk.run(&train("m", &["a.txt"]));
    assert_refused(
        &answer,
        &["a.txt: the text starts with the UTF-16 byte order mark FF FE", "iconv -f UTF-16"],
    );
    assert_refused(&desk.run_with(utf_16, &train("m", &["-"])), &["<stdin>: the text starts"]);
    assert_eq!(desk.names(), ["a.txt"]);
}

#[test]
fn text_without_words_is_named_and_makes_no_model() {
    let desk = Desk::new();
    desk.write("empty.txt", "");
    desk.write("blank.txt", " \n\n");
    let answer = desk.run(&train("m", &["empty.txt", "blank.txt"]));
    assert_refused(&answer, &["the text has no words"]);
    assert!(answer.err.contains("warning: no words in empty.txt and 1 other file\n"), "{answer:?}");
    assert_eq!(desk.names(), ["blank.txt", "empty.txt"]);

    desk.write("a.txt", text(1_000, 1));
    let answer = desk.train("m", &["a.txt", "empty.txt"]);
    assert!(answer.err.contains("warning: no words in empty.txt\n"), "{answer:?}");
    let answer = desk.run_with("", &train("m", &["-"]));
    assert_eq!(answer.code, Some(0), "a model that is there has lost nothing: {answer:?}");
}

/// A line of 50 MB comes through a pipe; the words of it are learned, or left out, without ever being held at once.
#[test]
fn a_long_line_passes_in_bounded_memory() {
    for (unit, options, learned, note) in [
        ("word ", "", "learned   10,000,000 words", "1 line longer than --max-sentence-words"),
        ("wordy", "", "the text has no words", "1 word longer than --max-token-len or"),
        ("wordy", "--tokenizer unicode", "the text has no words", "1 word longer than --max-token-len or"),
    ] {
        let desk = Desk::new();
        let program = env!("CARGO_BIN_EXE_skipstream");
        let line = format!(
            "ulimit -v 600000; yes '{unit}' | tr -d '\\n' | head -c 50000000 | \
             {program} train --model m --dimensions 4 --replays 0 --threads 1 {options} - 2>&1"
        );
        let output = Command::new("bash").args(["-c", &line]).current_dir(desk.path(".")).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains(learned) && out.contains(note), "{unit}{options}: {out}");
    }
}

#[test]
fn folders_and_patterns_stand_for_their_files() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("news/old")).unwrap();
    desk.write("news/b.txt", "three\n");
    desk.write("news/a.txt", "one two\n");
    desk.write("news/old/c.txt", "four\n");
    desk.write("news/.hidden.txt", "five\n");
    let answer = desk.train("news/m", &["--json", "news"]);
    let summary: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(summary["words"], 4);
    let answer = desk.train("news/m", &["news"]);
    assert!(answer.out.contains("skipped   3 files"), "the model is no text: {answer:?}");
    let answer = desk.train("m", &["news/*.txt", "news/a.txt"]);
    assert!(answer.out.contains("learned   3 words"), "{answer:?}");
    let answer = desk.train("m", &["news/**/*.txt"]);
    assert!(answer.out.contains("learned   1 word "), "{answer:?}");
    assert_eq!(desk.names(), ["m", "news"]);
}

#[test]
fn nothing_that_matches_is_an_error() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("empty")).unwrap();
    let answer = desk.run(&train("m", &["*.txt"]));
    assert_refused(&answer, &["*.txt: no file matches this pattern"]);
    assert_refused(&desk.run(&train("m", &["empty"])), &["empty: there are no files in this folder"]);
    assert_refused(&desk.run(&train("m", &["none.txt"])), &["none.txt: "]);
    desk.write("a.txt", "one two\n");
    desk.train("empty/m", &["a.txt"]);
    assert_refused(
        &desk.run(&train("empty/m", &["empty"])),
        &["empty: the folder holds nothing but the model itself"],
    );
}

#[test]
fn prose_needs_one_flag_and_is_asked_as_it_is_written() {
    let desk = Desk::new();
    desk.write(
        "a.txt",
        "“Government,” he said. It’s the GOVERNMENT! See https://example.com, or me@example.com.\n",
    );
    desk.train("m", &["--text", "prose", "a.txt"]);
    assert_eq!(words(&desk, "m"), ["government", "he", "it's", "or", "said", "see", "the"]);
    for word in ["Government", "It’s"] {
        let answer = desk.run(&["neighbors", "--model", "m", word]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }
    // The other settings still decide, and a model keeps what it has.
    desk.train("cased", &["--text", "prose", "--lowercase=false", "a.txt"]);
    assert!(words(&desk, "cased").contains(&"GOVERNMENT".to_owned()));
    let answer = desk.run(&train("m", &["--text", "tokens", "a.txt"]));
    assert_refused(&answer, &["--text is tokens, the model's is prose"]);
}

#[test]
fn binary_files_are_refused_left_out_or_forced() {
    let desk = Desk::new();
    desk.write("a.txt", text(500, 1));
    desk.train("model", &["a.txt"]);
    let before = std::fs::read(desk.path("model")).unwrap();
    desk.write("picture", b"\x89PNG\r\n\x1A\n and so on\n");
    for (file, what) in [("picture", "a PNG image"), ("model", "a model or another safetensors file")] {
        let answer = desk.run(&train("new", &[file]));
        assert_refused(&answer, &[file, what, "`--force-text`"]);
        assert!(!desk.path("new").exists(), "nothing was learned");
        let bytes = std::fs::read(desk.path(file)).unwrap();
        assert_refused(&desk.run_with(bytes, &train("new", &["-"])), &["<stdin>", what]);
    }
    let answer = desk.run(&train("model", &["a.txt", "picture"]));
    assert_refused(&answer, &["picture"]);
    assert_eq!(std::fs::read(desk.path("model")).unwrap(), before, "the model is as it was");

    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("folder/a.txt", text(500, 1));
    desk.write("folder/b.png", b"\x89PNG\r\n\x1A\n and so on\n");
    let answer = desk.train("found", &["--quiet", "folder"]);
    assert_eq!(answer.err, "warning: left out folder/b.png: this is not text but a PNG image\n");
    assert_eq!(words(&desk, "found"), words(&desk, "model"));
    desk.train("forced", &["--force-text", "picture"]);
    assert!(words(&desk, "forced").contains(&"and".to_owned()));
}

#[test]
fn prose_is_recognized_and_the_flag_for_it_named_once() {
    let desk = Desk::new();
    desk.write("a.txt", "The Dog, however, barked; my dog didn’t. See https://example.com!\n".repeat(50));
    let hint = |answer: &Answer| answer.err.matches("looks like prose").count();
    let answer = desk.train("m", &["--checkpoint-every", "1-word", "a.txt"]);
    assert!(hint(&answer) == 1 && answer.err.contains("`--text prose`"), "{answer:?}");
    assert!(words(&desk, "m").contains(&"Dog,".to_owned()));
    let answer = desk.train("m", &["--again", "a.txt"]);
    assert_eq!(hint(&answer), 0, "it is too late to choose");
    assert_eq!(hint(&desk.train("quiet", &["--quiet", "a.txt"])), 1);
    assert_eq!(hint(&desk.train("chosen", &["--text", "tokens", "a.txt"])), 0);
    assert_eq!(hint(&desk.train("lower", &["--lowercase", "a.txt"])), 0);
    let answer = desk.train("prose", &["--text", "prose", "a.txt"]);
    assert!(hint(&answer) == 0 && answer.out.contains("note      50 URLs left out\n"), "{answer:?}");
    assert_eq!(words(&desk, "prose"), ["barked", "didn't", "dog", "however", "my", "see", "the"]);
    desk.write("tokens.txt", text(1_000, 1));
    assert_eq!(hint(&desk.train("tokens", &["tokens.txt"])), 0);
}
