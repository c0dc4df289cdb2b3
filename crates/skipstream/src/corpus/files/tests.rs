use tempfile::TempDir;

use super::*;

/// A folder, and the ledger of what was learned in it.
struct Desk {
    folder: TempDir,
    ledger: Ledger,
}

impl Desk {
    fn with(files: &[(&str, &str)]) -> Desk {
        let desk = Desk { folder: TempDir::new().unwrap(), ledger: Ledger::default() };
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn plan(&self, names: &[&str], again: bool) -> Result<Files> {
        let paths = names.iter().map(|name| self.path(name));
        Files::plan(paths, &self.ledger, again, &TextOptions::default(), &Layout::Text)
    }

    /// Reads the files to the end, records the positions, and returns the sentences.
    fn learn(&mut self, names: &[&str]) -> Vec<String> {
        let mut files = self.plan(names, false).unwrap();
        let sentences = take(&mut files, usize::MAX);
        files.record_positions(&mut self.ledger).unwrap();
        sentences
    }

    fn words(&self, name: &str) -> u64 {
        let learned = self.ledger.source(self.path(name)).unwrap();
        learned.map_or(0, |learned| learned.words)
    }
}

fn take(files: &mut Files, most: usize) -> Vec<String> {
    let mut sentence = Sentence::default();
    let mut sentences = Vec::new();
    while sentences.len() < most && files.read(&mut sentence).unwrap().is_sentence() {
        sentences.push(sentence.tokens().collect::<Vec<_>>().join(" "));
    }
    sentences
}

fn pipe(text: &'static str, skip: Position) -> Input {
    Input::Pipe { name: "<stdin>".into(), reader: Box::new(text.as_bytes()), skip, force_text: false }
}

#[test]
fn text_is_never_taken_for_something_compressed_and_is_written_down_like_a_pipe() {
    let mut ledger = Ledger::default();
    for text in ["\u{1F}\u{8B}\u{8} one\ntwo\n", "BZh9 one\ntwo\n"] {
        let input = Input::Text { name: "<text>".into(), reader: Box::new(text.as_bytes()) };
        let mut files = Files::plan([input], &ledger, false, &TextOptions::default(), &Layout::Text).unwrap();
        assert_eq!(take(&mut files, usize::MAX), text.lines().collect::<Vec<_>>());
        files.record_positions(&mut ledger).unwrap();
        assert_eq!(ledger.last_pipe.offset, text.len() as u64);
    }
    assert_eq!(ledger.piped_words, 6);
}

#[test]
fn files_that_are_not_text_are_refused_left_out_or_forced() {
    let desk = Desk::with(&[("a", "one two\n"), ("b", "%PDF-1.7 three\n")]);
    let plan = |b: fn(PathBuf) -> Input| {
        let inputs = [Input::File(desk.path("a")), b(desk.path("b"))];
        Files::plan(inputs, &Ledger::default(), false, &TextOptions::default(), &Layout::Text)
    };
    let message = plan(Input::File).err().unwrap().to_string();
    assert!(message.contains("this is not text but a PDF document"), "{message}");
    let mut files = plan(Input::Found).unwrap();
    assert_eq!(files.left_out(), [(desk.path("b"), TextError::Binary { what: "a PDF document" })]);
    assert_eq!(take(&mut files, usize::MAX), ["one two"]);
    let mut files = plan(Input::Forced).unwrap();
    assert_eq!(take(&mut files, usize::MAX), ["one two", "%PDF-1.7 three"]);
}

#[test]
fn a_file_that_was_found_and_does_not_exist_is_left_out() {
    let desk = Desk::with(&[("a", "one two\n")]);
    let plan = |gone: fn(PathBuf) -> Input| {
        let inputs = [gone(desk.path("gone")), Input::File(desk.path("a"))];
        Files::plan(inputs, &Ledger::default(), false, &TextOptions::default(), &Layout::Text)
    };
    let mut files = plan(Input::Found).unwrap();
    assert_eq!(files.left_out(), [(desk.path("gone"), TextError::Missing)]);
    assert_eq!(take(&mut files, usize::MAX), ["one two"]);
    assert!(plan(Input::File).is_err());
}

#[test]
fn a_pipe_that_is_not_text_is_refused_or_forced() {
    for force_text in [false, true] {
        let reader = Box::new("%PDF-1.7 three\n".as_bytes());
        let input = Input::Pipe { name: "<stdin>".into(), reader, skip: Position::default(), force_text };
        let files = Files::plan([input], &Ledger::default(), false, &TextOptions::default(), &Layout::Text);
        let read = files.unwrap().read(&mut Sentence::default());
        assert_eq!(read.is_ok(), force_text, "{read:?}");
    }
}

#[test]
fn files_are_one_stream_and_none_is_learned_twice() {
    let mut desk = Desk::with(&[("a", "one two\nthree"), ("b", ""), ("c", "four\n\n")]);
    assert_eq!(desk.learn(&["a", "b", "c"]), ["one two", "three", "four"]);
    assert_eq!((desk.words("a"), desk.words("c")), (3, 1));
    let before = desk.ledger.clone();
    assert!(desk.learn(&["a", "b", "c"]).is_empty());
    assert_eq!(desk.ledger, before);
    let files = desk.plan(&["c", "a"], false).unwrap();
    assert!(files.is_empty());
    assert_eq!(files.skipped(), [desk.path("c"), desk.path("a")]);
}

#[test]
fn a_grown_file_is_continued() {
    let mut desk = Desk::with(&[("a", "one\n"), ("b", "two\n")]);
    desk.learn(&["a", "b"]);
    desk.write("a", "one\nthree four\n");
    assert_eq!(desk.learn(&["a", "b"]), ["three four"]);
    assert_eq!(desk.words("a"), 3);
    assert!(desk.learn(&["a", "b"]).is_empty());
}

#[test]
fn an_interrupted_stream_is_continued_wherever_it_was_and_ends_with_the_same_ledger() {
    let texts = [("a", "one two\nthree\n\n"), ("b", "four\nfive six")];
    let mut whole = Desk::with(&texts);
    let all = whole.learn(&["a", "b"]);
    for most in 0..=all.len() {
        let mut desk = Desk::with(&texts);
        let mut files = desk.plan(&["a", "b"], false).unwrap();
        let mut sentences = take(&mut files, most);
        files.record_positions(&mut desk.ledger).unwrap();
        sentences.extend(desk.learn(&["a", "b"]));
        assert_eq!(sentences, all);
        for (mine, other) in desk.ledger.sources.iter().zip(&whole.ledger.sources) {
            assert_eq!((mine.position, mine.words), (other.position, other.words));
            assert!(mine.complete && other.complete);
        }
    }
}

#[test]
fn settling_often_is_settling_once() {
    let mut desk = Desk::with(&[("a", "one two\nthree\n")]);
    let inputs = || [Input::from(desk.path("a")), pipe("four five\n\nsix\n\n", Position::default())];
    let mut once = Ledger::default();
    let mut files =
        Files::plan(inputs(), &desk.ledger, false, &TextOptions::default(), &Layout::Text).unwrap();
    take(&mut files, 9);
    files.record_positions(&mut once).unwrap();

    let mut files =
        Files::plan(inputs(), &desk.ledger, false, &TextOptions::default(), &Layout::Text).unwrap();
    while files.read(&mut Sentence::default()).unwrap().is_sentence() {
        files.record_positions(&mut desk.ledger).unwrap();
    }
    files.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.ledger, once);
    assert_eq!((once.piped_words, once.piped_bytes), (3, 16));
}

#[test]
fn a_pipe_is_fed_again_without_what_was_learned() {
    // Another pipe, long ago, is not to be passed over.
    let mut ledger = Ledger { piped_words: 7, piped_bytes: 70, ..Ledger::default() };
    let text = "one two\nthree\nfour\n";
    let options = TextOptions::default();
    let mut files =
        Files::plan([pipe(text, Position::default())], &ledger, false, &options, &Layout::Text).unwrap();
    take(&mut files, 2);
    files.record_positions(&mut ledger).unwrap();
    let fed_again = pipe(text, ledger.last_pipe);
    let mut files = Files::plan([fed_again], &ledger, false, &options, &Layout::Text).unwrap();
    assert_eq!(take(&mut files, 9), ["four"]);
    files.record_positions(&mut ledger).unwrap();
    assert_eq!((ledger.piped_words, ledger.piped_bytes), (11, 89));
    assert_eq!(ledger.last_pipe, Position { offset: 19, lines: 3, words: 0 });
}

#[test]
fn a_changed_file_is_an_error_before_anything_is_read_unless_it_is_read_again() {
    let mut desk = Desk::with(&[("a", "one\n"), ("b", "two\n")]);
    desk.learn(&["b"]);
    desk.write("b", "TWO\n");
    let error = desk.plan(&["a", "b"], false).err().unwrap();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    let mut files = desk.plan(&["a", "b"], true).unwrap();
    assert_eq!(take(&mut files, 9), ["one", "TWO"]);
    files.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.words("b"), 2);
    assert!(desk.learn(&["a", "b"]).is_empty());
}

#[test]
fn learning_again_that_was_interrupted_goes_on_without_again() {
    let mut desk = Desk::with(&[("a", "one\ntwo\n"), ("b", "three\n")]);
    desk.learn(&["a", "b"]);
    let mut files = desk.plan(&["a", "b"], true).unwrap();
    assert_eq!(take(&mut files, 1), ["one"]);
    files.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learn(&["a", "b"]), ["two", "three"]);
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let mut desk = Desk::with(&[("a", "one\n")]);
    assert_eq!(desk.learn(&["a", "./a"]), ["one"]);
}

#[cfg(feature = "codecs")]
#[test]
fn a_file_that_is_cut_short_keeps_what_came_before() {
    use std::io::Write;
    let mut desk = Desk::with(&[("a", "one\n")]);
    let text: String = (0..50_000u32).map(|n| format!("{:x}\n", n.wrapping_mul(0x9E37_79B9))).collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    desk.write("b", &bytes[..bytes.len() / 2]);
    let mut files = desk.plan(&["a", "b"], false).unwrap();
    let mut sentence = Sentence::default();
    let error = loop {
        match files.read(&mut sentence) {
            Ok(read) => assert!(read.is_sentence()),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("cut short"), "{error}");
    files.record_positions(&mut desk.ledger).unwrap();
    let learned = desk.words("b");
    assert!(learned > 1000);
    desk.write("b", &bytes);
    assert_eq!(desk.learn(&["b"]).len() as u64, 50_000 - learned);
}

#[test]
fn missing_files_and_folders_are_errors_before_anything_is_read() {
    let desk = Desk::with(&[("a", "one\n")]);
    for (name, reason) in [("none", "none: "), (".", "is a directory")] {
        let error = desk.plan(&["a", name], false).err().unwrap().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_file_that_went_away_is_named_and_the_others_are_recorded() {
    let mut desk = Desk::with(&[("a", "one\n"), ("b", "two\n")]);
    let mut files = desk.plan(&["a", "b"], false).unwrap();
    take(&mut files, 9);
    fs::remove_file(desk.path("a")).unwrap();
    let error = files.record_positions(&mut desk.ledger).unwrap_err().to_string();
    assert!(error.contains("a: "), "{error}");
    assert_eq!(desk.words("b"), 1);
}

#[test]
fn progress_and_report_are_those_of_all_files() {
    let desk = Desk::with(&[("a", "one two\n"), ("b", "three\n")]);
    let mut files = desk.plan(&["a", "b"], false).unwrap();
    let progress = files.progress().clone();
    assert_eq!((progress.bytes_read(), progress.length()), (0, Some(14)));
    take(&mut files, 2);
    assert_eq!((files.report().tokens, files.report().lines), (3, 2));
    take(&mut files, 9);
    assert_eq!((files.report().tokens, files.report().lines), (3, 2));
    assert_eq!(progress.bytes_read(), 14);
    assert_eq!((progress.file(), progress.files()), (2, 2));
    let inputs = [Input::from(desk.path("a")), pipe("four", Position::default())];
    let files = Files::plan(inputs, &desk.ledger, false, &TextOptions::default(), &Layout::Text).unwrap();
    assert_eq!(files.progress().length(), None);
}

#[test]
fn another_pass_reads_the_same_and_a_pipe_has_none() {
    let mut desk = Desk::with(&[("a", "one two\n"), ("b", "three\n")]);
    let mut files = desk.plan(&["a", "b"], false).unwrap();
    assert_eq!(take(&mut files, 1), ["one two"]);
    for _ in 0..2 {
        files.rewind().unwrap();
        assert_eq!(take(&mut files, 9), ["one two", "three"]);
    }
    files.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.words("a"), files.report().tokens), (2, 3));

    let options = TextOptions::default();
    let mut files =
        Files::plan([pipe("four", Position::default())], &desk.ledger, false, &options, &Layout::Text)
            .unwrap();
    let error = files.rewind().unwrap_err().to_string();
    assert!(error.starts_with("<stdin>: a pipe"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_device_is_read_like_a_pipe() {
    let options = TextOptions::default();
    let mut ledger = Ledger::default();
    let mut files = Files::plan(["/dev/null"], &ledger, false, &options, &Layout::Text).unwrap();
    assert!(take(&mut files, 9).is_empty());
    files.record_positions(&mut ledger).unwrap();
    assert_eq!(ledger, Ledger::default());
}
