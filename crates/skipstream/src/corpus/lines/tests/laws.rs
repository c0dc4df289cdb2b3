//! What holds for every text, compared with naive definitions.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::super::super::options::{TextKind, Tokenizer};
use super::super::super::report::{FirstLocations, ProseSigns};
use super::*;

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

/// All sentences by passages. Each turn cuts a few of some length, takes some of their sentences, puts back what is left, and
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
        // Room for everything: where a long run is cut, it is cut before it is normalized.
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
