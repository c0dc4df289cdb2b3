mod bounded;
mod laws;
mod prose;

use std::io::{BufReader, Read};

use super::super::options::Tokenizer;
use super::*;

fn options(max_sentence_words: usize, max_token_bytes: usize) -> TextOptions {
    TextOptions { max_sentence_words, max_token_bytes, ..TextOptions::default() }
}

/// All sentences, each with the position after it, and the error that ended them.
fn read_all(lines: &mut Lines<impl BufRead>) -> (Vec<(Vec<String>, Position)>, Option<Error>) {
    let mut sentence = Sentence::default();
    let mut sentences = Vec::new();
    loop {
        match lines.read(&mut sentence) {
            Ok(crate::corpus::Read::Sentence) => {
                let tokens = sentence.tokens().map(str::to_owned).collect();
                sentences.push((tokens, lines.position()));
            }
            Ok(_) => return (sentences, None),
            Err(error) => return (sentences, Some(error)),
        }
    }
}

fn split(text: impl AsRef<[u8]>, options: &TextOptions) -> (Vec<String>, TextReport) {
    let mut lines = Lines::new(text.as_ref(), "test", options).unwrap();
    let (sentences, error) = read_all(&mut lines);
    assert!(error.is_none(), "{error:?}");
    let sentences = sentences.into_iter().map(|(tokens, _)| tokens.join("|"));
    (sentences.collect(), lines.report().clone())
}

fn sentences(text: impl AsRef<[u8]>) -> Vec<String> {
    split(text, &TextOptions::default()).0
}

#[test]
fn empty_lines_are_not_sentences() {
    assert_eq!(sentences("\n\na b\n \t\n\nc\n\n"), ["a|b", "c"]);
    assert!(sentences("").is_empty());
}

#[test]
fn the_last_line_needs_no_newline() {
    assert_eq!(sentences("a\nb"), ["a", "b"]);
}

#[test]
fn a_carriage_return_is_white_space() {
    assert_eq!(sentences("a b\r\nc\r\n\r\nd\re"), ["a|b", "c", "d|e"]);
}

#[test]
fn a_nul_separates_and_its_line_is_counted() {
    let (sentences, report) = split("a\nb\0c \0\n\0d\n", &TextOptions::default());
    assert_eq!(sentences, ["a", "b|c", "d"]);
    assert_eq!(report.nul_lines, 2);
    assert_eq!(report.first.nul_line, Some(Location { path: "test".into(), line: 2, offset: 3 }));
}

#[test]
fn the_first_place_of_each_kind_is_kept_and_lines_keep_their_numbers_after_a_resume() {
    let text = b"fine\n\na b c d\nlongest x\n\xFF longest\ne f g\n";
    for tokenizer in [Tokenizer::Whitespace, Tokenizer::Unicode] {
        let options = TextOptions { tokenizer, ..options(2, 6) };
        let mut lines = Lines::new(&text[..], "test", &options).unwrap();
        lines.read(&mut Sentence::default()).unwrap();
        let position = lines.position();
        let rest = &text[position.offset as usize..];
        let mut rest = Lines::starting_at(rest, position, "test", &options).unwrap();
        for lines in [&mut lines, &mut rest] {
            read_all(lines);
            let first = &lines.report().first;
            let place = |line, offset| Some(Location { path: "test".into(), line, offset });
            assert_eq!(first.cut_line, place(3, 10), "{tokenizer:?}");
            assert_eq!(first.long_token, place(4, 14), "{tokenizer:?}");
            assert_eq!(first.invalid_line, place(5, 24), "{tokenizer:?}");
            assert_eq!(first.nul_line, None);
        }
    }
}

#[test]
fn wide_white_space_separates_but_ends_no_line() {
    assert_eq!(sentences("a\u{A0}b\u{2028}c\u{3000}d\u{85}e"), ["a|b|c|d|e"]);
    assert_eq!(sentences("a\u{200B}b\u{FEFF}c"), ["a\u{200B}b\u{FEFF}c"]);
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    assert_eq!(sentences("\u{FEFF}a\n\u{FEFF}b"), ["a", "\u{FEFF}b"]);
    assert!(sentences("\u{FEFF}").is_empty());
    assert_eq!(sentences(b"\xEF\xBBa"), ["\u{FFFD}a"]);
}

#[test]
fn a_line_with_too_many_words_is_cut_and_loses_none() {
    let (sentences, report) = split("a b c d e\nf g\n", &options(2, 10));
    assert_eq!(sentences, ["a|b", "c|d", "e", "f|g"]);
    assert_eq!((report.cut_lines, report.lines, report.tokens), (1, 2, 7));
}

#[test]
fn a_token_with_too_many_bytes_is_left_out_and_counted() {
    let (sentences, report) = split("abcd abcde ééé éé", &options(10, 4));
    assert_eq!(sentences, ["abcd|éé"]);
    assert_eq!(report.long_tokens, 2);
}

#[test]
fn a_token_that_replacement_makes_too_long_is_left_out_and_counted() {
    let (sentences, report) = split(b"a\xFF a\xFF\xFF", &options(10, 4));
    assert_eq!(sentences, ["a\u{FFFD}"]);
    assert_eq!(report.long_tokens, 1);
}

#[test]
fn invalid_utf8_is_replaced() {
    let (sentences, report) = split(b"a \xFFb\xE2\x80 c\nd", &TextOptions::default());
    assert_eq!(sentences, ["a|\u{FFFD}b\u{FFFD}|c", "d"]);
    assert_eq!(report.invalid_lines, 1);
}

#[test]
fn invalid_utf8_skips_the_line() {
    let skip = TextOptions { invalid_utf8: InvalidUtf8::Skip, ..TextOptions::default() };
    let (sentences, report) = split(b"a\nb \xFF c\nd", &skip);
    assert_eq!(sentences, ["a", "d"]);
    assert_eq!((report.lines, report.invalid_lines), (3, 1));
}

#[test]
fn invalid_utf8_is_an_error_with_line_and_offset() {
    let strict = TextOptions { invalid_utf8: InvalidUtf8::Error, ..TextOptions::default() };
    let mut lines = Lines::new(&b"a\n\nb \xFF c\nd"[..], "news.txt", &strict).unwrap();
    let (sentences, error) = read_all(&mut lines);
    assert_eq!(sentences.len(), 1);
    assert_eq!(error.unwrap().to_string(), "news.txt, line 3: byte 5 is not valid UTF-8");
}

#[test]
fn an_interrupted_read_is_tried_again() {
    struct Interrupted(bool);
    impl Read for Interrupted {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0 = !self.0;
            if self.0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Ok(0)
        }
    }
    let reader = BufReader::new("a b".as_bytes().chain(Interrupted(false)));
    let mut lines = Lines::new(reader, "test", &TextOptions::default()).unwrap();
    assert_eq!(
        read_all(&mut lines).0,
        [(vec!["a".into(), "b".into()], Position { offset: 3, lines: 1, words: 0 })]
    );
}

#[test]
fn what_comes_after_a_pause_is_read_whatever_the_options() {
    /// Each part is followed by an end, as a growing file has one.
    struct Parts(std::vec::IntoIter<&'static str>);
    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = self.0.next().unwrap_or_default().as_bytes();
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }
    let plain = TextOptions::default();
    for options in [
        plain.clone(),
        TextOptions { lowercase: true, ..plain.clone() },
        TextOptions { nfkc: true, ..plain.clone() },
        TextOptions { tokenizer: Tokenizer::Unicode, ..plain.clone() },
        TextOptions { min_token_len: 2, ..plain.clone() },
        TextOptions { max_token_len: Some(9), ..plain.clone() },
    ] {
        let parts = vec!["", "", "aa bb\n", "", "cc\ndd ee\n", "", "", "ff\n"];
        let mut lines = Lines::new(BufReader::new(Parts(parts.into_iter())), "test", &options).unwrap();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let (sentences, error) = read_all(&mut lines);
            assert!(error.is_none(), "{error:?}");
            pauses.push(sentences.into_iter().map(|(tokens, _)| tokens.join(" ")).collect::<Vec<_>>());
        }
        let read: Vec<Vec<String>> = pauses.into_iter().filter(|sentences| !sentences.is_empty()).collect();
        assert_eq!(read, [vec!["aa bb"], vec!["cc", "dd ee"], vec!["ff"]], "{options:?}");
        assert_eq!(lines.position(), Position { offset: 18, lines: 4, words: 0 });
    }
}

#[test]
fn positions_far_into_a_stream_stay_exact() {
    let start = Position { offset: 1 << 60, lines: 1 << 60, words: 0 };
    let mut lines =
        Lines::starting_at(&b"one two\nthree\nf\xFFur\n"[..], start, "test", &options(10, 10)).unwrap();
    let (sentences, _) = read_all(&mut lines);
    let positions: Vec<(u64, u64)> = sentences
        .iter()
        .map(|(_, position)| (position.offset - (1 << 60), position.lines - (1 << 60)))
        .collect();
    assert_eq!(positions, [(8, 1), (14, 2), (19, 3)]);
    let first = lines.report().first.invalid_line.as_ref().map(|found| (found.line, found.offset));
    assert_eq!(first, Some(((1 << 60) + 3, (1 << 60) + 15)), "messages name the place, too");
}
