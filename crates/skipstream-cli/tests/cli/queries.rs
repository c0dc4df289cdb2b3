//! What the commands that read vectors answer.

use crate::desk::{Desk, assert_refused, text};

pub fn trained() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(40_000, 1));
    desk.train("m", &["--finish", "a.txt"]);
    desk
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn words_of_the_same_topic_are_nearer_than_others() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "--json", "-n", "300", "moon"]);
    let json = json(&answer.out);
    let neighbors = json["neighbors"].as_array().unwrap();
    let place = |word: &str| neighbors.iter().position(|neighbor| neighbor["word"] == word);
    for star in ["star", "comet", "orbit", "galaxy", "planet"] {
        for food in ["bread", "butter", "cheese", "honey", "salt", "soup"] {
            assert!(place(star).unwrap() < place(food).unwrap(), "{star} {food}");
        }
    }
}

#[test]
fn each_word_has_a_table() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "-n", "5", "moon", "bread"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let tables: Vec<Vec<&str>> = answer.out.split("\n\n").map(|table| table.lines().collect()).collect();
    assert_eq!(tables.len(), 2);
    for (table, word) in tables.iter().zip(["moon", "bread"]) {
        let headings: Vec<&str> = table[0].split_whitespace().collect();
        assert_eq!(headings, [word, "similarity", "occurrences", "since", "admitted"]);
        assert_eq!(table.len(), 6);
        let columns: Vec<&str> = table[1].split_whitespace().collect();
        let decimals = columns[1].split_once('.').unwrap().1;
        assert_eq!((columns.len(), decimals.len()), (3, 4), "{answer:?}");
    }
}

#[test]
fn neighbors_are_looked_for_among_the_top_words_only() {
    let desk = trained();
    let words = ["moon", "star", "bread", "salt"];
    let answer = desk.run(&[&["neighbors", "--model", "m", "--json", "--top", "1"], &words[..]].concat());
    let neighbors: Vec<serde_json::Value> =
        answer.out.lines().map(|line| json(line)["neighbors"].clone()).collect();
    let most_frequent = neighbors.iter().find_map(|neighbors| neighbors[0]["word"].as_str()).unwrap();
    for (word, neighbors) in words.iter().zip(&neighbors) {
        let found: Vec<&str> =
            neighbors.as_array().unwrap().iter().filter_map(|neighbor| neighbor["word"].as_str()).collect();
        let expected: &[&str] = if *word == most_frequent { &[] } else { &[most_frequent] };
        assert_eq!(found, expected, "words that are not at the top can be asked about too");
    }
}

#[test]
fn what_comes_next_is_not_what_is_alike() {
    let desk = Desk::new();
    // The lefts of a group meet all its rights, and never one another.
    let pair = |pair: usize| format!("left{0}{1} right{0}{2}\n", pair % 5, pair / 5 % 8, pair / 40 % 8);
    desk.write("sessions.txt", (0..60 * 320).map(pair).collect::<String>());
    let items = ["--for", "items", "--dimensions", "16", "--subsample", "0"];
    desk.run(&[&["train", "--model", "m", "sessions.txt"], &items[..]].concat());
    let answer = desk.run(&["predict-next", "--model", "m", "--json", "-n", "5", "left31"]);
    let next = json(&answer.out);
    assert_eq!(next["words"], serde_json::json!(["left31"]));
    let next = next["next"].as_array().unwrap();
    assert!(next.iter().all(|next| next["word"].as_str().unwrap().starts_with("right3")), "{answer:?}");
    let answer = desk.run_with("left21 left23\nleft31 none\n", &["predict-next", "--model", "m", "-n", "4"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let mut lines = answer.out.lines().map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(lines.next(), Some("left21"), "{answer:?}");
    assert!(lines.all(|word| word.starts_with("right2")), "{answer:?}");
    assert!(answer.err.contains("`none` is not in the vocabulary"), "{answer:?}");

    assert_eq!(desk.run(&["export", "--model", "m", "--to", "safetensors", "vectors"]).code, Some(0));
    let error = "these vectors do not have both; name the model file that they were exported from";
    for model in [&["m", "--vectors", "sum"][..], &["vectors"]] {
        assert_refused(&desk.run(&[&["predict-next", "left31", "--model"], model].concat()), &[error]);
    }
}

/// The words and counts that a command answers with.
fn answers(desk: &Desk, args: &[&str]) -> Vec<(String, u64)> {
    let answer = desk.run(&[args, &["--model", "m", "--json", "-n", "1000"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let json = json(&answer.out);
    let list = if args[0] == "neighbors" { &json["neighbors"] } else { &json["answers"] };
    let answers = list.as_array().unwrap().iter();
    answers
        .map(|answer| (answer["word"].as_str().unwrap().to_owned(), answer["count"].as_u64().unwrap()))
        .collect()
}

#[test]
fn rare_words_are_not_answers_unless_asked_for() {
    let desk = Desk::new();
    desk.write("a.txt", text(600_000, 1) + "moon star comet rare\nmoon orbit rare\n");
    desk.run(&["train", "--model", "m", "--dimensions", "8", "--subsample", "0", "--replays", "0", "a.txt"]);
    for question in [
        &["neighbors", "moon"][..],
        &["neighbors", "rare"],
        &["analogy", "bread", "cheese", "moon"],
        &["analogy", "moon - bread + cheese"],
    ] {
        let found = |args: &[&str]| answers(&desk, &[question, args].concat());
        let usual = found(&[]);
        assert!(usual.len() > 100 && usual.iter().all(|(_, count)| *count >= 3), "{question:?}");
        assert_eq!(usual, found(&["--min-count", "3"]), "once per 200,000 words");
        let asked_for = usize::from(!question.contains(&"rare"));
        assert_eq!(found(&["--min-count", "0"]).len(), usual.len() + asked_for);
        assert_eq!(found(&["--min-count", "100000"]), []);
        assert!(found(&["--top", "5"]).len() <= 5);
    }
    desk.run(&["export", "--model", "m", "--to", "word2vec-text", "v.txt"]);
    let answer = desk.run(&["neighbors", "--model", "v.txt", "--min-count", "5", "moon"]);
    assert!(answer.code == Some(2) && answer.err.contains("these vectors have no counts"), "{answer:?}");
    assert_eq!(desk.run(&["neighbors", "--model", "v.txt", "moon"]).code, Some(0));
}

#[test]
fn no_answers_are_refused() {
    let desk = trained();
    for args in
        [["neighbors", "-n", "0", "moon"], ["neighbors", "--top", "0", "moon"], ["analogy", "-n", "0", "a"]]
    {
        assert_refused(&desk.run(&[&args[..], &["--model", "m"]].concat()), &["it must be at least 1"]);
    }
}

#[test]
fn expressions_are_understood_as_they_are_typed() {
    let desk = trained();
    let expected = answers(&desk, &["analogy", "bread", "cheese", "moon"]);
    for typed in [
        &["cheese - bread + moon"][..],
        &["cheese", "-", "bread", "+", "moon"],
        &["cheese", "-bread", "+moon"],
        &["moon", "+cheese", "−", "bread"],
        &["-", "bread", "+cheese", "+", "moon"],
    ] {
        assert_eq!(
            answers(&desk, &[&["analogy", "--min-count", "1"], typed].concat()).len(),
            expected.len(),
            "{typed:?}"
        );
    }
    assert_eq!(answers(&desk, &["analogy", "cheese - bread + moon"]), expected);
    let lines = "cheese - bread + moon\nbread cheese moon\ncheese -\nmoon + star\n";
    let answer = desk.run_with(lines, &["analogy", "--model", "m", "--json"]);
    assert_eq!(answer.code, Some(2));
    let answers: Vec<serde_json::Value> = answer.out.lines().map(json).collect();
    assert_eq!(answers[0]["expression"], "cheese - bread + moon");
    assert_eq!(answers[0]["answers"], answers[1]["answers"]);
    assert!(answers[2]["error"].as_str().unwrap().contains("words joined by + and -"));
    assert_eq!(answers[3]["expression"], "moon + star");
    let answer = desk.run(&["analogy", "--model", "m", "moon + nonsense"]);
    assert_eq!(
        (answer.code, answer.err.as_str()),
        (Some(1), "`nonsense` is not in the vocabulary; --subwords estimates it from its spelling\n")
    );
}

#[test]
fn an_unknown_word_is_exit_code_1_and_the_others_are_answered() {
    let desk = trained();
    let answer = desk.run(&["neighbors", "--model", "m", "nonsense", "mon", "moon"]);
    assert_eq!(answer.code, Some(1));
    let expected = "`nonsense` is not in the vocabulary; --subwords estimates it from its spelling\n\
        `mon` is not in the vocabulary; did you mean moon? --subwords estimates it from its spelling\n";
    assert_eq!(answer.err, expected);
    assert!(answer.out.starts_with("moon "), "{answer:?}");

    let answer = desk.run(&["neighbors", "--model", "m", "--json", "galxay", "moon"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(1), ""));
    let (unknown, known) = answer.out.split_once('\n').unwrap();
    assert_eq!(unknown, r#"{"word":"galxay","error":"unknown word","suggestions":["galaxy"]}"#);
    let known = json(known);
    assert_eq!(known["neighbors"].as_array().unwrap().len(), 10);
    assert!(known["neighbors"][0]["similarity"].as_f64().unwrap() > 0.5);
}

#[test]
fn analogies_are_answered_by_either_rule() {
    let desk = trained();
    let analogy = ["analogy", "--model", "m", "-n", "20"];
    let answer = desk.run(&[&analogy[..], &["bread", "cheese", "moon"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let lines: Vec<&str> = answer.out.lines().collect();
    assert!(lines[0].starts_with("bread is to cheese as moon is to") && lines[0].contains("similarity"));
    assert_eq!(lines.len(), 21);
    for rule in ["add", "multiply"] {
        let answer = desk.run(
            &[&analogy[..], &["--rule", rule, "--json", "--top", "12", "bread", "cheese", "moon"]].concat(),
        );
        let json = json(&answer.out);
        assert_eq!(json["words"], serde_json::json!(["bread", "cheese", "moon"]));
        assert_eq!(json["rule"], rule);
        let stars = ["star", "comet", "orbit", "galaxy", "planet"];
        assert!(stars.contains(&json["answers"][0]["word"].as_str().unwrap()), "{answer:?}");
    }
}

#[test]
fn questions_are_read_as_the_text_was() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1).replace("moon", "Moon"));
    desk.train("lower", &["--lowercase", "a.txt"]);
    desk.train("kept", &["a.txt"]);
    let code = |model: &str, word: &str| desk.run(&["neighbors", "--model", model, word]).code;
    assert_eq!((code("lower", "Moon"), code("lower", "MOON")), (Some(0), Some(0)));
    assert_eq!((code("kept", "Moon"), code("kept", "moon")), (Some(0), Some(1)));
    let upper = desk.run(&["similarity", "--model", "lower", "Moon", "STAR"]);
    let lower = desk.run(&["similarity", "--model", "lower", "moon", "star"]);
    assert_eq!(upper.out.to_lowercase(), lower.out);
    assert_eq!(desk.run(&["analogy", "--model", "lower", "Moon + STAR"]).code, Some(0));
}

#[test]
fn the_similarity_of_two_words() {
    let desk = trained();
    let similar = |words: [&str; 2]| {
        let answer = desk.run(&[&["similarity", "--model", "m"], &words[..]].concat());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let (asked, similarity) = answer.out.trim_end().rsplit_once(' ').unwrap();
        assert_eq!(asked, words.join(" "));
        similarity.parse::<f64>().unwrap()
    };
    assert_eq!(similar(["moon", "moon"]), 1.0);
    assert!(similar(["moon", "star"]) > similar(["moon", "bread"]));
    let answer = desk.run(&["similarity", "--model", "m", "--json", "moon", "star"]);
    assert!((json(&answer.out)["similarity"].as_f64().unwrap() - similar(["moon", "star"])).abs() < 1e-4);
}

#[test]
fn the_odd_one_out() {
    let desk = trained();
    let answer = desk.run(&["odd-one-out", "--model", "m", "bread", "honey", "orbit", "salt"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "orbit\n"));
    let answer = desk.run(&["odd-one-out", "--model", "m", "--json", "bread", "honey", "orbit", "salt"]);
    let json = json(&answer.out);
    assert_eq!((&json["odd_one_out"], &json["fits"][0]["word"]), (&"orbit".into(), &"orbit".into()));
    assert_eq!(json["fits"].as_array().unwrap().len(), 4);
}

#[test]
fn vectors_are_lines_of_the_text_export() {
    let desk = trained();
    desk.run(&["export", "--model", "m", "--to", "word2vec-text", "out.txt"]);
    let exported = String::from_utf8(desk.bytes("out.txt")).unwrap();
    let answer = desk.run(&["vector", "--model", "m", "moon", "bread"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(answer.out.lines().count(), 2);
    for line in answer.out.lines() {
        assert!(exported.lines().any(|other| other == line), "{line}");
    }
    let answer = desk.run(&["vector", "--model", "m", "--normalize", "--json", "moon"]);
    let json = json(&answer.out);
    let values = json["vector"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
    let norm = values.map(|value| value * value).sum::<f64>().sqrt();
    assert!((norm - 1.0).abs() < 1e-5);
}

#[test]
fn the_text_export_has_a_header_and_the_most_frequent_words() {
    let desk = trained();
    let export = ["export", "--model", "m", "--to", "word2vec-text", "--top", "12"];
    let answer = desk.run(&[&export[..], &["out.txt"]].concat());
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""));
    assert_eq!(answer.err, "out.txt: 12 words of 16 dimensions\n");
    let text = String::from_utf8(desk.bytes("out.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("12 16", 13));
    assert!(lines[1..].iter().all(|line| line.split(' ').count() == 17));
    assert!(text.contains("\nmoon "));
    assert_eq!(desk.names(), ["a.txt", "m", "out.txt"]);

    let answer = desk.run(&[&export[..], &["-"]].concat());
    assert_eq!((answer.out, answer.err), (text, String::new()));
}

#[test]
fn the_binary_export_and_the_choice_of_vectors_differ() {
    let desk = trained();
    for vectors in ["sum", "joined", "target", "context"] {
        let export = ["export", "--model", "m", "--to", "word2vec-binary", "--vectors", vectors, vectors];
        assert_eq!(desk.run(&export).code, Some(0));
        assert!(desk.bytes(vectors).windows(5).any(|bytes| bytes == b"moon "));
    }
    assert!(desk.bytes("sum") != desk.bytes("target"));
    assert!(desk.bytes("target") != desk.bytes("context"));
}

#[test]
fn joined_vectors_have_the_same_neighbors_when_they_are_exported_and_read_again() {
    let desk = trained();
    let neighbors = |model: &[&str]| {
        let asked = ["-n", "20", "--min-count", "0", "--json", "moon"];
        let answer = desk.run(&[&["neighbors", "--model"][..], model, &asked].concat());
        json(&answer.out)["neighbors"].as_array().unwrap().clone()
    };
    let expected = neighbors(&["m", "--vectors", "joined"]);
    assert_eq!(expected.len(), 20);
    for format in ["word2vec-text", "word2vec-binary", "safetensors", "npy", "finalfusion", "projector"] {
        let out = if format == "npy" { "v.npy" } else { format };
        let answer = desk.run(&["export", "--model", "m", "--vectors", "joined", "--to", format, out]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.err.contains(" words of 32 dimensions"), "{}", answer.err);
        let found = neighbors(&[out]);
        assert_eq!(found.len(), 20, "{format}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found["word"], expected["word"], "{format}");
            let [found, expected] = [found, expected].map(|word| word["similarity"].as_f64().unwrap());
            // finalfusion stores unit vectors and norms apart.
            assert!((found - expected).abs() < 1e-6, "{format}");
        }
    }
    let again = desk.run(&["neighbors", "--model", "safetensors", "--vectors", "joined", "moon"]);
    assert_eq!(again.code, Some(0), "the file has joined vectors: {again:?}");
    let answer = desk.run(&["inspect", "--model", "safetensors"]);
    assert!(answer.out.contains("m (skipstream), its joined vectors"), "{}", answer.out);
}

#[test]
fn no_word_turns_the_terminal_around() {
    let desk = Desk::new();
    desk.write("v.txt", "2 2\nab\u{202e}cd 1 0\nmoon 1 0.1\n");
    let answer = desk.run(&["neighbors", "-m", "v.txt", "moon"]);
    assert!(answer.out.contains("ab\\u{202e}cd") && !answer.out.contains('\u{202e}'), "{answer:?}");
    let answer = desk.run(&["neighbors", "-m", "v.txt", "mo\u{2066}on"]);
    assert!(
        answer.err.contains("`mo\\u{2066}on` is not in") && !answer.err.contains('\u{2066}'),
        "{answer:?}"
    );
    let answer = desk.run(&["neighbors", "-m", "v.txt", "--json", "moon"]);
    assert!(!answer.out.contains('\u{202e}'), "{answer:?}");
    assert_eq!(json(&answer.out)["neighbors"][0]["word"], "ab\u{202e}cd");
}
