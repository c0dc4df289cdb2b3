//! Settings that depend on others, or come from elsewhere than flags.

use crate::desk::{Answer, Desk, assert_refused, text};

fn train(desk: &Desk, args: &[&str]) -> Answer {
    desk.run(&[&["train", "--model", "m", "--batch-words", "4000", "--replay-words", "20000"], args].concat())
}

#[test]
fn memory_decides_on_the_vocabulary_and_a_model_must_fit_into_it() {
    let desk = Desk::new();
    desk.write("a.txt", text(5_000, 1));
    let answer = train(&desk, &["--memory", "100M", "a.txt"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("memory: at most 99.99 MB for "), "{answer:?}");
    for enough in ["100M", "1Gi"] {
        assert_eq!(train(&desk, &["--memory", enough, "a.txt"]).code, Some(0));
    }
    let answer = train(&desk, &["--memory", "90MB", "a.txt"]);
    assert_refused(&answer, &["m: --memory is 90.00 MB, the model may need 99.99 MB;"]);
}

#[test]
fn memory_that_is_too_little_or_no_size_or_stands_beside_a_size() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let answer = train(&desk, &["--memory", "1M", "a.txt"]);
    assert_refused(&answer, &["memory is 1000000 bytes; it must be at least ", "batch_words"]);
    let answer = train(&desk, &["--memory", "much", "a.txt"]);
    assert_refused(&answer, &["'--memory <SIZE>': `much` is not a size such as 2G"]);
    for flag in ["--max-vocabulary", "--table-size"] {
        let answer = train(&desk, &["--memory", "1G", flag, "5000", "a.txt"]);
        assert_refused(&answer, &["'--memory <SIZE>' cannot be used with", flag]);
    }
    assert_eq!(desk.names(), ["a.txt"]);
}

#[test]
fn a_noise_exponent_may_be_negative() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let answer = train(&desk, &["--noise-exponent", "-1.5", "a.txt"]);
    assert_refused(&answer, &["noise_exponent is -1.5; it must be from -1 to 1"]);
    let incremental =
        ["train", "--model", "m", "--strategy", "incremental", "--noise-exponent", "-0.5", "a.txt"];
    assert_refused(
        &desk.run(&incremental),
        &["noise_exponent is -0.5; it must be at least 0 with the strategy"],
    );
    assert_eq!(train(&desk, &["--noise-exponent", "-0.5", "a.txt"]).code, Some(0));
    assert!(desk.run(&["inspect", "--model", "m"]).out.contains("count ^ -0.5"));
}

#[test]
fn items_have_other_defaults_which_flags_replace() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    let items = ["--for", "items", "--window", "7", "--dimensions", "8"];
    let answer = train(&desk, &[&items[..], &["a.txt"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let shown = desk.run(&["inspect", "--model", "m"]).out;
    for (name, value) in [("window", "7"), ("window_shape", "fixed"), ("noise_exponent", "0.0")] {
        assert!(shown.lines().any(|line| line.split_whitespace().eq([name, value])), "{shown}");
    }
    // The same flags agree with the model, and others do not.
    let again = train(&desk, &[&items[..], &["a.txt"]].concat());
    assert!(again.code == Some(0) && again.out.contains("skipped"), "{again:?}");
    assert_refused(
        &train(&desk, &["--for", "items", "a.txt"]),
        &["window of --for items is 100, the model's is 7"],
    );
}

#[test]
fn settings_come_from_a_file_with_flags_on_top() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.write("s.toml", "dimensions = 16\nwindow = 3\nthreads = 1\n");
    let answer = train(&desk, &["--settings", "s.toml", "--window", "4", "a.txt"]);
    assert!(answer.err.starts_with("m: new model, 16 dimensions, window 4, 5 negatives"), "{answer:?}");
    let answer = train(&desk, &["--settings", "s.toml", "a.txt"]);
    assert_refused(&answer, &["m: window in s.toml is 3, the model's is 4; settings are fixed"]);
}

#[test]
fn a_file_of_settings_that_is_wrong_or_missing() {
    let desk = Desk::new();
    desk.write("a.txt", text(1_000, 1));
    desk.write("s.toml", "dimensions = 16\nwindows = 3\n");
    let refused = |parts| assert_refused(&train(&desk, &["--settings", "s.toml", "a.txt"]), parts);
    refused(&["s.toml, line 2: unknown field `windows`, expected one of `dimensions`, `window`"]);
    desk.write("s.toml", b"dimensions = 16 \xFF");
    refused(&["s.toml: ", "UTF-8"]);
    desk.write("s.toml", vec![b' '; 2 << 20]);
    refused(&["s.toml: a settings file has at most 1048576 bytes"]);
    std::fs::remove_file(desk.path("s.toml")).unwrap();
    refused(&["s.toml: No such file"]);
}

#[test]
fn a_time_that_is_neither_a_time_nor_words() {
    let desk = Desk::new();
    let answer = train(&desk, &["--checkpoint-every", "10M", "a.txt"]);
    assert_refused(
        &answer,
        &["--checkpoint-every", "`10M` is neither a time such as 60s or 5m nor a number of words"],
    );
}
