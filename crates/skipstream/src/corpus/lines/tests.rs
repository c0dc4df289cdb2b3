use std::io::{BufReader, Read};

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::super::options::{TextKind, Tokenizer};
use super::super::report::{FirstLocations, ProseSigns};
use super::*;

fn options(max_sentence_words: usize, max_token_bytes: usize) -> TextOptions {
    TextOptions { max_sentence_words, max_token_bytes, ..TextOptions::default() }
}

/// All sentences, each with the position behind it, and the error that ended them.
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

/// The same by passages. Each turn cuts a few of some length, takes some of their sentences, puts back what is left, and
/// reads one sentence.
fn read_passages(
    lines: &mut Lines<impl BufRead>,
    turns: &[(usize, usize, usize)],
) -> (Vec<(Vec<String>, Position)>, Option<Error>) {
    let mut sentences = Vec::new();
    for &(max_bytes, n_passages, mut n_sentences) in turns.iter().cycle() {
        let passages: Vec<Passage> = std::iter::from_fn(|| lines.cut(max_bytes)).take(n_passages).collect();
        let (mut left, mut error) = (Vec::new(), None);
        for mut passage in passages {
            passage.split();
            while error.is_none() && n_sentences > 0 {
                match passage.take_sentence() {
                    Some(Ok(tokens)) => {
                        let tokens = tokens.map(|token| passage.word(token).to_owned()).collect();
                        sentences.push((tokens, passage.position().unwrap()));
                        n_sentences -= 1;
                    }
                    Some(Err(found)) => error = Some(found),
                    None => break,
                }
            }
            if passage.is_used_up() { lines.put_back(passage) } else { left.push(passage) }
        }
        left.into_iter().rev().for_each(|passage| lines.put_back(passage));
        let mut sentence = Sentence::default();
        match error.map_or_else(|| lines.read(&mut sentence), Err) {
            Ok(crate::corpus::Read::Sentence) => {
                sentences.push((sentence.tokens().map(str::to_owned).collect(), lines.position()));
            }
            Ok(_) => return (sentences, None),
            Err(error) => return (sentences, Some(error)),
        }
    }
    unreachable!("turns repeat")
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

/// The obviously right splitter at white space: all in memory, one character at a time.
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
        report.nul_lines += u64::from(line.contains(&0));
        let next_line = offset + line.len() + 1;
        if index == 0 && line.starts_with(b"\xEF\xBB\xBF") {
            line = &line[3..];
            offset += 3;
        }
        let mut tokens = vec![Token::default()];
        for chunk in line.utf8_chunks() {
            for character in chunk.valid().chars() {
                offset += character.len_utf8();
                if character.is_whitespace() || character == '\0' {
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
        let (mut sentences_of_line, mut invalid_line) = (0, false);
        for piece in pieces {
            let invalid_at = piece.iter().find_map(|token| token.invalid_at);
            let all_words = piece.len();
            let words: Vec<String> = piece
                .into_iter()
                .map(|token| token.text)
                .filter(|text| text.len() <= options.max_token_bytes)
                .collect();
            report.long_tokens += (all_words - words.len()) as u64;
            invalid_line |= invalid_at.is_some();
            match (invalid_at, options.invalid_utf8) {
                (Some(_), InvalidUtf8::Skip) => continue,
                (Some(at), InvalidUtf8::Error) => {
                    let line = report.lines;
                    return (sentences, report, Some((line, at as u64)));
                }
                _ => {}
            }
            if !words.is_empty() {
                sentences_of_line += 1;
                report.sentences += 1;
                report.tokens += words.len() as u64;
                sentences.push(words);
            }
        }
        report.cut_lines += u64::from(sentences_of_line > 1);
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

fn plain_options() -> impl Strategy<Value = TextOptions> {
    let policies = vec![InvalidUtf8::Replace, InvalidUtf8::Skip, InvalidUtf8::Error];
    let policy = proptest::sample::select(policies);
    (2..6usize, 1..12usize, policy)
        .prop_map(|(words, bytes, invalid_utf8)| TextOptions { invalid_utf8, ..options(words, bytes) })
}

fn any_options() -> impl Strategy<Value = TextOptions> {
    let tokenizer = proptest::sample::select(vec![Tokenizer::Whitespace, Tokenizer::Unicode]);
    let longest = proptest::option::of(2..6usize);
    (plain_options(), tokenizer, any::<[bool; 3]>(), 1..3usize, longest).prop_map(
        |(plain, tokenizer, [prose, lowercase, nfkc], min_token_len, max_token_len)| TextOptions {
            kind: if prose { TextKind::Prose } else { TextKind::Tokens },
            tokenizer,
            lowercase,
            nfkc,
            min_token_len,
            max_token_len,
            ..plain
        },
    )
}

/// Text of letters, numbers and marks in which words are hard to tell.
fn words_text() -> impl Strategy<Value = String> {
    let parts = vec![
        "a",
        "B",
        "can't",
        "3.14",
        "e-mail",
        "日本",
        "กขค",
        "ﬁ",
        "\u{FDFA}",
        "e\u{301}",
        "İ",
        "ΟΣ",
        "🇩🇪",
        "🇫",
        "👩\u{200D}🚀",
        "_",
        ".",
        "'",
        "ה\"ה",
        "\r",
        "カ",
        "ｶﾞ",
        "Mr. ",
        "! ",
        "。",
        "’",
        "http://a.b",
        "c@d.e ",
        "12345",
        " ",
        " ",
        "\u{3000}",
        "\n",
    ];
    proptest::collection::vec(proptest::sample::select(parts), 0..60).prop_map(|parts| parts.concat())
}

/// The obviously right way to words: a whole line at once, by the steps that [`TextOptions`] names.
fn naive_words(text: &str, options: &TextOptions) -> Vec<Vec<String>> {
    let mut sentences = Vec::new();
    for line in text.split('\n') {
        let line = if options.nfkc { line.nfkc().collect() } else { line.to_owned() };
        let line = if options.lowercase { line.to_lowercase() } else { line };
        let words: Vec<String> = match options.tokenizer {
            Tokenizer::Whitespace => line.split_whitespace().map(str::to_owned).collect(),
            Tokenizer::Unicode => line.unicode_words().map(str::to_owned).collect(),
        };
        let lengths = options.min_token_len..=options.max_token_len.unwrap_or(usize::MAX);
        let words: Vec<String> =
            words.into_iter().filter(|word| lengths.contains(&word.chars().count())).collect();
        sentences.extend(words.chunks(options.max_sentence_words).map(<[String]>::to_vec));
    }
    sentences
}

const PROSE: &str = "“Don’t PANIC!” she said. Mr. Smith (of the U.S. Army) didn't; it's 3.14 or 1984...\n\
    Write to john.doe@example.com, or see https://example.com/a?b=c! Grüße aus München: „Schön“, sagte er.\n\
    Well-known _facts_ \u{1F600}\u{1F600} #tag @john 1,000,000 Zusammen\u{AD}arbeit\n";

#[test]
fn prose_becomes_sentences_of_words() {
    let (sentences, report) = split(PROSE, &TextOptions::prose());
    let expected = [
        "don't|panic|she|said",
        "mr|smith|of|the|u.s|army|didn't|it's|or|1984",
        "write|to|or|see",
        "grüße|aus|münchen|schön|sagte|er",
        "well|known|facts|tag|john|zusammenarbeit",
    ];
    assert_eq!(sentences, expected);
    assert_eq!((report.urls, report.emails, report.emoji, report.numbers), (1, 1, 2, 2));
    assert_eq!((report.sentences, report.cut_lines), (5, 0), "no line is too long");
}

#[test]
fn no_word_of_prose_ends_in_punctuation() {
    for text in
        [PROSE, "A.B. c'; d’’ (e) [f]: g— h… «i» “j”, k/l m_ __n__ o-p- 50% $5 a.k.a. 你好！我很好。再见"]
    {
        for sentence in split(text, &TextOptions::prose()).0 {
            for word in sentence.split('|') {
                assert!(word.ends_with(char::is_alphanumeric), "{word} in {sentence}");
            }
        }
    }
}

#[test]
fn sentences_of_scripts_without_spaces_end_within_a_run() {
    let (sentences, _) = split("你好！我很好。再见", &TextOptions::prose());
    assert_eq!(sentences, ["你|好", "我|很|好", "再|见"]);
}

#[test]
fn a_sentence_of_prose_that_is_too_long_is_cut_and_counted() {
    let options = TextOptions { max_sentence_words: 3, ..TextOptions::prose() };
    let (sentences, report) = split("One two. Three four five six. Seven.\n", &options);
    assert_eq!(sentences, ["one|two", "three|four|five", "six", "seven"]);
    assert_eq!(report.cut_lines, 1);
}

#[test]
fn prose_that_is_read_as_tokens_is_noticed() {
    let (_, report) = split(PROSE.repeat(5), &TextOptions::default());
    assert!(report.looks_like_prose(), "{:?}", report.prose);
    let (_, report) = split(PROSE.repeat(5), &TextOptions::prose());
    assert!(!report.looks_like_prose(), "{:?}", report.prose);
    let (_, report) =
        split("tokens that were prepared , as they should be .\n".repeat(30), &TextOptions::default());
    assert!(!report.looks_like_prose(), "{:?}", report.prose);
    // Only the first megabyte is examined.
    let (_, report) = split("token\n".repeat(200_000) + &PROSE.repeat(1000), &TextOptions::default());
    assert_eq!(report.prose, ProseSigns { tokens: (1 << 20) / 6, marked: 0 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn sentences_are_those_of_the_naive_splitter(
        text in text(), options in plain_options(), capacity in 1..40usize,
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
                let (first, prose) = (FirstLocations::default(), ProseSigns::default());
                let met = TextReport { first, prose, ..lines.report().clone() };
                prop_assert_eq!(met, report);
            }
        }
    }

    #[test]
    fn words_are_those_of_the_naive_tokenizer(
        text in words_text(), options in any_options(), capacity in 1..40usize,
    ) {
        // Room for everything: where a long run is cut, it is cut before it is normalised.
        let options = TextOptions { max_token_bytes: 2000, kind: TextKind::Tokens, ..options };
        let reader = BufReader::with_capacity(capacity, text.as_bytes());
        let (sentences, error) = read_all(&mut Lines::new(reader, "test", &options).unwrap());
        let sentences: Vec<_> = sentences.into_iter().map(|(tokens, _)| tokens).collect();
        prop_assert!(error.is_none());
        prop_assert_eq!(sentences, naive_words(&text, &options));
    }

    #[test]
    fn long_runs_are_cut_between_words(
        text in words_text(), max_token_bytes in 20..40usize, capacity in 1..40usize,
    ) {
        let text = text.replace(char::is_whitespace, "");
        let options = TextOptions { tokenizer: Tokenizer::Unicode, ..options(3, max_token_bytes) };
        let reader = BufReader::with_capacity(capacity, text.as_bytes());
        let mut lines = Lines::new(reader, "test", &options).unwrap();
        let (sentences, _) = read_all(&mut lines);
        let sentences: Vec<_> = sentences.into_iter().map(|(tokens, _)| tokens).collect();
        prop_assume!(lines.report().long_tokens == 0);
        prop_assert_eq!(sentences, naive_words(&text, &options));
    }

    #[test]
    fn the_parts_in_which_text_arrives_do_not_matter(
        text in text(), words in words_text(), options in any_options(), capacity in 1..40usize,
    ) {
        let text = [&text[..], words.as_bytes()].concat();
        let mut at_once = Lines::new(&text[..], "test", &options).unwrap();
        let reader = BufReader::with_capacity(capacity, &text[..]);
        let mut in_parts = Lines::new(reader, "test", &options).unwrap();
        let ((one, _), (other, _)) = (read_all(&mut at_once), read_all(&mut in_parts));
        prop_assert_eq!(one, other);
        prop_assert_eq!(at_once.report(), in_parts.report());
    }

    #[test]
    fn passages_have_the_sentences_of_the_text(
        text in text(), words in words_text(), options in any_options(), capacity in 1..40usize,
        turns in proptest::collection::vec((1..50usize, 1..4usize, 0..8usize), 1..6),
    ) {
        let text = [&text[..], words.as_bytes()].concat();
        let mut at_once = Lines::new(&text[..], "test", &options).unwrap();
        let reader = BufReader::with_capacity(capacity, &text[..]);
        let mut cut = Lines::new(reader, "test", &options).unwrap();
        let ((one, error), (other, same_error)) = (read_all(&mut at_once), read_passages(&mut cut, &turns));
        prop_assert_eq!(one, other);
        prop_assert_eq!(error.map(|error| error.to_string()), same_error.map(|error| error.to_string()));
        prop_assert_eq!(at_once.report(), cut.report());
        prop_assert_eq!(at_once.position(), cut.position());
    }

    #[test]
    fn every_position_is_a_place_to_go_on(
        text in text(), words in words_text(), options in any_options(), capacities in (1..40usize, 1..40usize),
    ) {
        let text = [&text[..], words.as_bytes()].concat();
        let reader = BufReader::with_capacity(capacities.0, &text[..]);
        let (sentences, _) = read_all(&mut Lines::new(reader, "test", &options).unwrap());
        for (index, &(_, position)) in sentences.iter().enumerate() {
            let rest = &text[usize::try_from(position.offset).unwrap()..];
            let reader = BufReader::with_capacity(capacities.1, rest);
            let mut lines = Lines::starting_at(reader, position, "test", &options).unwrap();
            prop_assert_eq!(&read_all(&mut lines).0, &sentences[index + 1..]);
        }
    }
}
