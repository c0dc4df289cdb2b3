//! How text becomes words: what a word is, and what is left out.

use crate::desk::{Desk, train};

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
    assert!(answer.out.contains("note      1 word longer than --max-token-len or"), "{answer:?}");
    let answer = desk.run(&train("m", &["--max-token-len", "9", "a.txt"]));
    assert!(answer.err.contains("--max-token-len is 9, the model's is 3;"), "{answer:?}");
    let answer = desk.run(&train("new", &["--min-token-len", "4", "--max-token-len", "3", "a.txt"]));
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("max_token_len is 3; it must be from 4 to 65535"), "{answer:?}");
}
