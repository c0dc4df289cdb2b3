//! Lines of text, read as sentences.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use super::options::{InvalidUtf8, TextOptions};
use super::piece::{Finished, Piece};
use super::report::TextReport;
use super::sentence::{Sentence, Source};
use crate::bytes::read_error;
use crate::{Error, Result};

/// The most bytes that are taken into a piece at once, so that little is copied in vain where a line is cut.
const STEP_BYTES: usize = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads each line as a sentence of tokens between Unicode white space.
///
/// - Only `\n` ends a line; `\r` and the wide line separators are white space. Lines without tokens are passed over.
/// - A line of more than `max_sentence_words` tokens is cut into pieces of so many.
/// - A token of more than `max_token_bytes` bytes, before or after bad bytes were replaced, is left out.
/// - A byte order mark at the start of the stream is dropped. NUL is a byte like any other.
///
/// No line is ever held whole: memory is bounded by the limits.
///
/// ```
/// use skipstream::corpus::{Lines, Sentence, Source, TextOptions};
///
/// let mut lines = Lines::new("the cat\n\nsat".as_bytes(), "example", &TextOptions::default())?;
/// let mut sentence = Sentence::default();
/// assert!(lines.read(&mut sentence)?);
/// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["the", "cat"]);
/// assert_eq!(lines.position(), 8);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    name: PathBuf,
    options: TextOptions,
    /// The stream offset of the reader's next byte.
    offset: u64,
    position: u64,
    line: Line,
    report: TextReport,
}

/// What is known of the line that is being read.
#[derive(Debug, Default)]
struct Line {
    begun: bool,
    pieces: u64,
    invalid: bool,
}

/// Why a piece ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Cut,
    Line,
    Stream,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the start of a stream; errors call it `name`.
    pub fn new(reader: R, name: impl AsRef<Path>, options: &TextOptions) -> Result<Self> {
        Self::starting_at(reader, 0, name, options)
    }

    /// Reads on from a [`position`](Self::position) that an earlier reader gave; `reader` must stand there.
    ///
    /// With the same options the sentences that follow are those that the earlier reader would have returned. Lines
    /// are numbered from here on.
    pub fn starting_at(
        reader: R,
        position: u64,
        name: impl AsRef<Path>,
        options: &TextOptions,
    ) -> Result<Self> {
        options.check()?;
        Ok(Self {
            reader,
            name: name.as_ref().to_owned(),
            options: options.clone(),
            offset: position,
            position,
            line: Line::default(),
            report: TextReport::default(),
        })
    }

    /// The bytes of (decompressed) text up to the end of the last sentence that was returned.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The bytes of (decompressed) text that were taken from the reader, those behind the last sentence included.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What was read so far.
    pub fn report(&self) -> &TextReport {
        &self.report
    }

    /// Reads one piece, which may turn out to have no tokens, and says where it ended.
    fn read_piece(&mut self, sentence: &mut Sentence) -> Result<(Finished, End)> {
        sentence.clear();
        let start = self.skip_byte_order_mark()?;
        let mut piece = Piece::new(sentence, self.offset - start.len() as u64, &self.options);
        piece.extend(start);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => &chunk[..chunk.len().min(STEP_BYTES)],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&self.name, error)),
            };
            let (part, end) = match memchr::memchr(b'\n', chunk) {
                Some(newline) => (&chunk[..newline], Some(End::Line)),
                None if chunk.is_empty() => (chunk, Some(End::Stream)),
                None => (chunk, None),
            };
            piece.extend(part);
            let (taken, end) = match piece.scan(end.is_some()) {
                Some(rest) => (part.len() - rest, Some(End::Cut)),
                None => (part.len() + usize::from(end == Some(End::Line)), end),
            };
            self.reader.consume(taken);
            self.offset += taken as u64;
            self.line.begun |= taken > 0;
            if let Some(end) = end {
                return Ok((piece.finish(sentence), end));
            }
        }
    }

    /// Takes a byte order mark from the start of the stream. The bytes that turned out to be only the beginning of one
    /// are returned: they are text.
    fn skip_byte_order_mark(&mut self) -> Result<&'static [u8]> {
        let mut matched = 0;
        while self.offset < BYTE_ORDER_MARK.len() as u64 && matched as u64 == self.offset {
            match self.reader.fill_buf() {
                Ok(chunk) if chunk.first() == Some(&BYTE_ORDER_MARK[matched]) => {
                    self.reader.consume(1);
                    self.offset += 1;
                    self.line.begun = true;
                    matched += 1;
                }
                Ok(_) => return Ok(&BYTE_ORDER_MARK[..matched]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(&self.name, error)),
            }
        }
        Ok(&[])
    }

    /// Counts a piece, then lets the policy for bad bytes decide on it.
    fn admit(&mut self, sentence: &mut Sentence, finished: &Finished, end: End) -> Result<()> {
        let line_number = self.report.lines + 1;
        self.report.long_tokens += finished.long_tokens;
        if !sentence.is_empty() {
            self.line.pieces += 1;
            self.report.cut_lines += u64::from(self.line.pieces == 2);
        }
        if finished.first_invalid.is_some() && !self.line.invalid {
            self.line.invalid = true;
            self.report.invalid_lines += 1;
        }
        if end != End::Cut {
            self.report.lines += u64::from(self.line.begun);
            self.line = Line::default();
        }
        match (finished.first_invalid, self.options.invalid_utf8) {
            (None, _) | (_, InvalidUtf8::Replace) => {}
            (Some(_), InvalidUtf8::Skip) => sentence.clear(),
            (Some(offset), InvalidUtf8::Error) => {
                sentence.clear();
                return Err(Error::InvalidUtf8 { path: self.name.clone(), line: line_number, offset });
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Source for Lines<R> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        loop {
            let (finished, end) = self.read_piece(sentence)?;
            self.admit(sentence, &finished, end)?;
            if !sentence.is_empty() {
                self.position = self.offset;
                self.report.sentences += 1;
                self.report.tokens += sentence.len() as u64;
                return Ok(true);
            }
            if end == End::Stream {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    fn options(max_sentence_words: usize, max_token_bytes: usize) -> TextOptions {
        TextOptions { max_sentence_words, max_token_bytes, ..TextOptions::default() }
    }

    /// All sentences, each with the position behind it, and the error that ended them.
    fn read_all(lines: &mut Lines<impl BufRead>) -> (Vec<(Vec<String>, u64)>, Option<Error>) {
        let mut sentence = Sentence::default();
        let mut sentences = Vec::new();
        loop {
            match lines.read(&mut sentence) {
                Ok(true) => {
                    let tokens = sentence.tokens().map(str::to_owned).collect();
                    sentences.push((tokens, lines.position()));
                }
                Ok(false) => return (sentences, None),
                Err(error) => return (sentences, Some(error)),
            }
        }
    }

    fn split(text: impl AsRef<[u8]>, options: &TextOptions) -> (Vec<String>, TextReport) {
        let mut lines = Lines::new(text.as_ref(), "test", options).unwrap();
        let (sentences, error) = read_all(&mut lines);
        assert!(error.is_none(), "{error:?}");
        let sentences = sentences.into_iter().map(|(tokens, _)| tokens.join("|"));
        (sentences.collect(), *lines.report())
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
    fn a_nul_is_part_of_its_token() {
        assert_eq!(sentences("a\0b \0\n"), ["a\0b|\0"]);
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
        assert_eq!(
            error.unwrap().to_string(),
            "news.txt, line 3: byte 5 is not valid UTF-8 (the policies `replace` and `skip` go on)"
        );
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
        assert_eq!(read_all(&mut lines).0, [(vec!["a".into(), "b".into()], 3)]);
    }

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
        while lines.read(&mut sentence).unwrap() {
            most = most.max(sentence.text.capacity());
        }
        (*lines.report(), most.max(sentence.text.capacity()))
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

    /// The obviously right splitter: all in memory, one character at a time.
    fn naive(text: &[u8], options: &TextOptions) -> (Vec<Vec<String>>, TextReport, Option<(u64, u64)>) {
        #[derive(Default)]
        struct Token {
            text: String,
            raw_bytes: usize,
            invalid_at: Option<usize>,
        }
        let mut sentences = Vec::new();
        let mut report = TextReport::default();
        let mut offset = 0;
        let mut all_lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        if all_lines.last().is_some_and(|line| line.is_empty()) {
            all_lines.pop();
        }
        for (index, mut line) in all_lines.into_iter().enumerate() {
            report.lines += 1;
            let next_line = offset + line.len() + 1;
            if index == 0 && line.starts_with(BYTE_ORDER_MARK) {
                line = &line[3..];
                offset += 3;
            }
            let mut tokens = vec![Token::default()];
            for chunk in line.utf8_chunks() {
                for character in chunk.valid().chars() {
                    offset += character.len_utf8();
                    if character.is_whitespace() {
                        tokens.push(Token::default());
                    } else {
                        let token = tokens.last_mut().unwrap();
                        token.text.push(character);
                        token.raw_bytes += character.len_utf8();
                    }
                }
                if !chunk.invalid().is_empty() {
                    let token = tokens.last_mut().unwrap();
                    token.text.push('\u{FFFD}');
                    token.raw_bytes += chunk.invalid().len();
                    token.invalid_at.get_or_insert(offset);
                    offset += chunk.invalid().len();
                }
            }
            tokens.retain(|token| token.raw_bytes > 0);

            let mut pieces: Vec<Vec<Token>> = vec![Vec::new()];
            let mut words = 0;
            for token in tokens {
                if words == options.max_sentence_words {
                    pieces.push(Vec::new());
                    words = 0;
                }
                words += usize::from(token.raw_bytes <= options.max_token_bytes);
                pieces.last_mut().unwrap().push(token);
            }
            let (mut pieces_with_words, mut invalid_line) = (0, false);
            for piece in pieces {
                let invalid_at = piece.iter().find_map(|token| token.invalid_at);
                let all_words = piece.len();
                let words: Vec<String> = piece
                    .into_iter()
                    .map(|token| token.text)
                    .filter(|text| text.len() <= options.max_token_bytes)
                    .collect();
                report.long_tokens += (all_words - words.len()) as u64;
                pieces_with_words += u64::from(!words.is_empty());
                invalid_line |= invalid_at.is_some();
                match (invalid_at, options.invalid_utf8) {
                    (Some(_), InvalidUtf8::Skip) => continue,
                    (Some(at), InvalidUtf8::Error) => {
                        return (sentences, report, Some((report.lines, at as u64)));
                    }
                    _ => {}
                }
                if !words.is_empty() {
                    report.sentences += 1;
                    report.tokens += words.len() as u64;
                    sentences.push(words);
                }
            }
            report.cut_lines += u64::from(pieces_with_words > 1);
            report.invalid_lines += u64::from(invalid_line);
            offset = next_line;
        }
        (sentences, report, None)
    }

    /// Text made of all that is awkward: separators, damage and characters of every width.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let parts: Vec<&[u8]> = vec![
            b"a",
            b"bc",
            b"word",
            b"some-long-token",
            b" ",
            b" ",
            b"  ",
            b"\t",
            b"\n",
            b"\r\n",
            b"\0",
            b"\x1F",
            b"\xEF\xBB\xBF",
            b"\xC3\xA9",
            b"\xE6\x97\xA5",
            b"\xF0\x9F\x8C\x8D",
            b"\xC2\xA0",
            b"\xE3\x80\x80",
            b"\xE2\x80\x83",
            b"\xE2\x80\xA2",
            b"\xE2\x81\x9F",
            b"\xC2",
            b"\xE2",
            b"\xE2\x80",
            b"\x80",
            b"\xFF",
            b"\xF0\x9F",
            b"\xEF\xBB",
            b"                        ",
        ];
        proptest::collection::vec(proptest::sample::select(parts), 0..80).prop_map(|parts| parts.concat())
    }

    fn any_options() -> impl Strategy<Value = TextOptions> {
        let policies = vec![InvalidUtf8::Replace, InvalidUtf8::Skip, InvalidUtf8::Error];
        let policy = proptest::sample::select(policies);
        (2..6usize, 1..12usize, policy).prop_map(|(words, bytes, invalid_utf8)| TextOptions {
            max_sentence_words: words,
            max_token_bytes: bytes,
            invalid_utf8,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn sentences_are_those_of_the_naive_splitter(
            text in text(), options in any_options(), capacity in 1..40usize,
        ) {
            let reader = BufReader::with_capacity(capacity, &text[..]);
            let mut lines = Lines::new(reader, "test", &options).unwrap();
            let (sentences, error) = read_all(&mut lines);
            let sentences: Vec<_> = sentences.into_iter().map(|(tokens, _)| tokens).collect();
            let (expected, report, first_invalid) = naive(&text, &options);
            prop_assert_eq!(sentences, expected);
            match error {
                Some(Error::InvalidUtf8 { line, offset, .. }) => {
                    prop_assert_eq!(Some((line, offset)), first_invalid);
                }
                Some(error) => prop_assert!(false, "{}", error),
                None => {
                    prop_assert_eq!(first_invalid, None);
                    prop_assert_eq!(*lines.report(), report);
                }
            }
        }

        #[test]
        fn every_position_is_a_place_to_go_on(
            text in text(), options in any_options(), capacities in (1..40usize, 1..40usize),
        ) {
            let reader = BufReader::with_capacity(capacities.0, &text[..]);
            let (sentences, _) = read_all(&mut Lines::new(reader, "test", &options).unwrap());
            for (index, &(_, position)) in sentences.iter().enumerate() {
                let rest = &text[usize::try_from(position).unwrap()..];
                let reader = BufReader::with_capacity(capacities.1, rest);
                let mut lines = Lines::starting_at(reader, position, "test", &options).unwrap();
                prop_assert_eq!(&read_all(&mut lines).0, &sentences[index + 1..]);
            }
        }
    }
}
