//! `train`: new models, models that go on, and what is learned only once.

use std::fs;

use skipstream::corpus::{Files, Layout};
use skipstream::unstable::Kernel;
use skipstream::{Config, MiniBatchOptions, Strategy, Trainer};

use crate::desk::{Desk, assert_refused, text, train};

#[test]
fn training_says_what_it_did_and_leaves_only_the_model() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    let answer = desk.train("m", &["a.txt"]);
    assert!(
        answer.err.starts_with("m: new model, 16 dimensions, window 5, 5 negatives, mini-batch; 2 threads, "),
        "{answer:?}"
    );
    assert!(answer.err.contains("memory: at most "), "{answer:?}");
    assert!(answer.err.contains(" words, excluding decompression and records"), "{answer:?}");
    assert_eq!(answer.err.lines().count(), 1, "no progress where nobody looks");
    assert!(answer.out.starts_with("learned   20,000 words in "), "{answer:?}");
    assert!(answer.out.contains("try       skipstream neighbors --model m WORD"), "{answer:?}");
    assert_eq!(desk.names(), ["a.txt", "m"]);
}

#[test]
fn every_instruction_set_trains_the_same_model() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.train("m", &["a.txt"]);
    let (args, expected) = (train("n", &["a.txt"]), desk.bytes("m"));
    for kernel in Kernel::available() {
        let answer = desk.run_in(&[(Kernel::VARIABLE, kernel.name())], &args);
        assert!(answer.err.contains(&format!(", {}; memory: ", kernel.name())), "{answer:?}");
        assert!(desk.bytes("n") == expected, "{} trains another model", kernel.name());
        fs::remove_file(desk.path("n")).unwrap();
    }
    let answer = desk.run_in(&[(Kernel::VARIABLE, "sse9")], &args);
    assert_refused(&answer, &["SKIPSTREAM_INSTRUCTIONS is sse9; it must be one of portable"]);
    assert_eq!(desk.names(), ["a.txt", "m"]);
}

#[test]
fn the_same_command_again_learns_nothing_and_leaves_the_file_alone() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.train("m", &["a.txt"]);
    let before = (desk.bytes("m"), fs::metadata(desk.path("m")).unwrap().modified().unwrap());
    let answer = desk.train("m", &["a.txt"]);
    assert!(answer.out.contains("skipped   1 file, learned before"), "{answer:?}");
    assert!(answer.out.contains("learned   nothing new; 20,000 words in all"), "{answer:?}");
    let after = (desk.bytes("m"), fs::metadata(desk.path("m")).unwrap().modified().unwrap());
    assert!(before == after);
}

#[test]
fn a_grown_file_and_a_new_one_are_learned_without_the_old_text() {
    let desk = Desk::new();
    let (old, new) = (text(20_000, 1), text(5_000, 2));
    desk.write("a.txt", &old);
    desk.train("m", &["a.txt"]);
    desk.write("a.txt", old + &new);
    desk.write("b.txt", text(1_000, 3));
    let answer = desk.train("m", &["a.txt", "b.txt"]);
    assert!(answer.err.starts_with("m: continued after 20,000 words"), "{answer:?}");
    assert!(answer.out.contains("learned   6,000 words"), "{answer:?}");
    assert!(answer.out.contains("; 26,000 in all"), "{answer:?}");
}

#[test]
fn a_learned_file_is_learned_again_when_asked_for() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.train("m", &["a.txt"]);
    let answer = desk.train("m", &["--again", "a.txt"]);
    assert!(answer.out.contains("; 2,000 in all"), "{answer:?}");
}

#[test]
fn a_pipe_is_read_with_and_without_a_dash_and_is_always_new() {
    let desk = Desk::new();
    for (number, dash) in [&["-"][..], &[]].iter().enumerate() {
        let answer = desk.run_with(text(1_000, 1), &train("m", dash));
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let in_all = format!("; {},000 in all", number + 1);
        assert!(answer.out.contains(&in_all), "{answer:?}");
    }
}

#[test]
fn a_pipe_and_a_file_give_the_same_vectors() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.train("file", &["a.txt"]);
    desk.run_with(text(20_000, 1), &train("pipe", &["-"]));
    let export = |model| desk.run(&["export", "--model", model, "--to", "word2vec-text", "-"]).out;
    assert!(export("file") == export("pipe"));
}

#[test]
fn what_was_learned_of_a_pipe_is_skipped_when_asked_for() {
    let desk = Desk::new();
    let all = text(20_000, 1);
    let half: String = all.lines().take(1_000).map(|line| format!("{line}\n")).collect();
    desk.run_with(half, &train("m", &["-"]));
    let answer = desk.run_with(all, &train("m", &["--skip-learned", "-"]));
    assert!(answer.out.contains("learned   10,000 words"), "{answer:?}");
    assert!(answer.out.contains("; 20,000 in all"), "{answer:?}");
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let desk = Desk::new();
    desk.write("a.txt", text(30_000, 1));
    for threads in ["1", "3"] {
        let mut args = train(threads, &["a.txt"]);
        let place = args.iter().position(|&arg| arg == "--threads").unwrap();
        args[place + 1] = threads;
        assert_eq!(desk.run(&args).code, Some(0));
    }
    assert!(desk.bytes("1") == desk.bytes("3"));
}

#[test]
fn every_strategy_learns() {
    let desk = Desk::new();
    desk.write("a.txt", text(5_000, 1));
    desk.write("b.txt", text(1_000, 2));
    let strategies = [("incremental", &["--table-size", "5000"][..]), ("batch", &[]), ("word2vec", &[])];
    for (strategy, options) in strategies {
        let args = [&["--strategy", strategy], options, &["a.txt", "b.txt"]].concat();
        let answer = desk.train(strategy, &args);
        assert!(answer.out.contains("learned   6,000 words"), "{answer:?}");
        let answer = desk.train(strategy, &args);
        assert!(answer.out.contains("nothing new"), "{answer:?}");
    }
    let answer = desk.run_with(text(100, 1), &train("new", &["--strategy", "batch", "-"]));
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("a pipe can be read only once"), "{answer:?}");
}

#[test]
fn a_half_life_is_a_number_of_words_and_a_part_of_the_model() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.train("m", &["--half-life", "5k", "a.txt"]);
    desk.train("same", &["--half-life", "5000", "a.txt"]);
    desk.train("none", &["a.txt"]);
    assert!(desk.bytes("m") == desk.bytes("same") && desk.bytes("m") != desk.bytes("none"));
    let answer = desk.run(&train("m", &["--half-life", "6k", "a.txt"]));
    assert_refused(&answer, &["half-life", "5000"]);
    let answer = desk.run(&train("n", &["--half-life", "30d", "a.txt"]));
    assert_refused(
        &answer,
        &["half_life is 30d; it must be a number of words, because the text has no times"],
    );
    let answer = desk.run(&train("n", &["--half-life", "soon", "a.txt"]));
    assert_refused(&answer, &["`soon` is neither a number of words such as 20M nor a time such as 30d"]);
    let answer = desk.run(&train("n", &["--half-life", "5k", "--strategy", "incremental", "a.txt"]));
    assert_refused(&answer, &["half_life", "mini-batch"]);
}

#[test]
fn finishing_trains_what_waits() {
    let desk = Desk::new();
    desk.write("a.txt", text(5_000, 1));
    let answer = desk.train("m", &["a.txt"]);
    assert!(
        answer.out.contains("replayed  7,680 words; 2,320 waiting for more text or for --finish"),
        "{answer:?}"
    );
    let answer = desk.train("m", &["--finish"]);
    assert!(answer.out.contains("replayed  2,320 words\n"), "{answer:?}");
    let answer = desk.train("m", &["--finish"]);
    assert!(answer.out.contains("nothing new"), "{answer:?}");
}

#[test]
fn json_is_one_object_and_quiet_is_quiet() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let answer = desk.train("m", &["--json", "a.txt"]);
    let summary: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(summary["words"], 1_000);
    assert_eq!(summary["outcome"], "complete");
    assert_eq!(summary["text"]["cut_lines"], 0);
    assert!(summary["loss"].as_f64().unwrap() > 0.0);
    let answer = desk.train("m", &["--quiet", "a.txt"]);
    assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""));
    let answer = desk.train("m", &["--quiet", "--json", "--again", "a.txt"]);
    assert_eq!((answer.out.lines().count(), answer.err.as_str()), (1, ""));
}

#[test]
fn what_is_left_out_is_counted() {
    let desk = Desk::new();
    let long = "x".repeat(200);
    desk.write("a.txt", [b"one two three four five ", long.as_bytes(), b"\nbad \xFF\n"].concat());
    let answer = desk.train("m", &["--max-sentence-words", "3", "a.txt"]);
    assert!(answer.out.contains("note      1 line longer than --max-sentence-words"), "{answer:?}");
    for warning in [
        "warning: 1 word longer than --max-token-len or --max-token-bytes left out",
        "warning: 1 line with bytes that are not UTF-8",
    ] {
        assert!(answer.err.contains(warning), "{answer:?}");
    }
}

#[test]
fn the_library_makes_the_same_bytes() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    let path = desk.path("a.txt");
    desk.train("m", &[path.to_str().unwrap()]);
    // The settings of the desk.
    let options = MiniBatchOptions { batch_words: 4_000, replay_words: 20_000, ..Default::default() };
    let config = Config {
        dimensions: 16,
        max_vocabulary: 300,
        strategy: Strategy::MiniBatch(options),
        subsample: 0.0,
        ..Config::default()
    };
    let mut trainer = Trainer::new(config.clone()).unwrap();
    let mut files = Files::plan([&path], trainer.ledger(), false, &config.text, &Layout::Text).unwrap();
    trainer.train_source(&mut files).unwrap();
    files.record_positions(trainer.ledger_mut()).unwrap();
    trainer.save(desk.path("library")).unwrap();
    assert!(desk.bytes("library") == desk.bytes("m"));
}
