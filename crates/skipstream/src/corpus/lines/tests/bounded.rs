//! Lines, tokens and white space without end take bounded memory.

use super::*;

/// What a line of `unit` repeated to 32 MiB leaves behind: the report and the sentence's memory.
fn endless_line(unit: &'static [u8], options: &TextOptions) -> (TextReport, usize) {
    struct Repeat(&'static [u8], usize);
    impl Read for Repeat {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            for byte in &mut *buffer {
                *byte = self.0[self.1 % self.0.len()];
                self.1 += 1;
            }
            Ok(buffer.len())
        }
    }
    let line = Repeat(unit, 0).take(32 << 20);
    let mut lines = Lines::new(BufReader::new(line), "test", options).unwrap();
    let mut sentence = Sentence::default();
    let mut most = 0;
    while lines.read(&mut sentence).unwrap().is_sentence() {
        most = most.max(sentence.text.capacity());
    }
    (lines.report().clone(), most.max(sentence.text.capacity()))
}

#[test]
fn an_endless_line_streams_in_bounded_memory() {
    let (report, memory) = endless_line(b"word ", &TextOptions::default());
    assert_eq!(report.tokens, (32 << 20) / 5 + 1);
    assert!(memory < 64 << 10, "{memory}");
}

#[test]
fn an_endless_token_is_skipped_in_bounded_memory() {
    let (report, memory) = endless_line("日é".as_bytes(), &TextOptions::default());
    assert_eq!((report.tokens, report.long_tokens), (0, 1));
    assert!(memory < 64 << 10, "{memory}");
}

#[test]
fn endless_white_space_and_long_tokens_pass_in_bounded_memory() {
    let (_, memory) = endless_line("\u{3000} ".as_bytes(), &TextOptions::default());
    assert!(memory < 64 << 10, "{memory}");
    let (report, memory) = endless_line(b"long\xFF ", &options(1000, 2));
    assert_eq!(report.long_tokens, (32 << 20) / 6);
    assert!(memory < 64 << 10, "{memory}");
}

#[test]
fn a_script_without_spaces_is_read_in_bounded_memory_and_loses_no_word() {
    let unicode = TextOptions { tokenizer: Tokenizer::Unicode, ..TextOptions::default() };
    let (report, memory) = endless_line("日本".as_bytes(), &unicode);
    // The last character is cut.
    assert_eq!((report.tokens, report.long_tokens), ((32 << 20) / 3, 0));
    assert!(memory < 64 << 10, "{memory}");
    let (report, memory) = endless_line(b"letters", &unicode);
    assert_eq!((report.tokens, report.long_tokens), (0, 1));
    assert!(memory < 64 << 10, "{memory}");
    let (_, memory) = endless_line("e\u{301}\u{301}".as_bytes(), &unicode);
    assert!(memory < 64 << 10, "{memory}");
    let (report, _) = endless_line(b"\xFF", &TextOptions { nfkc: true, ..unicode });
    assert_eq!((report.tokens, report.invalid_lines), (0, 1));
}

#[test]
fn a_word_that_is_too_long_takes_nothing_with_it() {
    let unicode = TextOptions { tokenizer: Tokenizer::Unicode, ..options(10, 20) };
    let text = format!("日本-{}-語-{}", "x".repeat(500), "y".repeat(21));
    let (sentences, report) = split(text, &unicode);
    assert_eq!(sentences, ["日|本|語"]);
    assert_eq!(report.long_tokens, 2);
}
