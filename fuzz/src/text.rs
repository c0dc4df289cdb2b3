//! Text: lines, JSON lines, CSV and TSV, compressed or not, split by any tokenizer.

use std::io::Cursor;

use arbitrary::{Arbitrary, Unstructured};
use skipstream::corpus::{
    BadRecords, InvalidUtf8, Layout, Position, Read, RecordField, RecordFormat, Sentence, Source, TextKind,
    TextOptions, Tokenizer, from_reader_at,
};

/// Enough for any input that is not a decompression bomb.
const MAX_SENTENCES: usize = 10_000;

#[derive(Arbitrary)]
struct Choices {
    layout: u8,
    prose: bool,
    unicode: bool,
    lowercase: bool,
    nfkc: bool,
    skip: bool,
    invalid_utf8: u8,
    max_sentence_words: u8,
    max_token_bytes: u8,
    resume_after: u8,
}

pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(choices) = Choices::arbitrary(&mut input) else { return };
    let text = input.take_rest();
    let (options, layout) = (choices.options(), choices.layout());
    let sentences = read(text, Position::default(), &options, &layout);
    for (tokens, _) in &sentences {
        assert!(!tokens.is_empty() && tokens.len() <= options.max_sentence_words);
        for token in tokens {
            assert!(!token.is_empty() && token.len() <= options.max_token_bytes, "{token:?}");
            let is_split = token.split_whitespace().nth(1).is_some();
            assert!(!is_split || layout == Layout::Text && !options.nfkc, "{token:?}");
        }
    }
    // A reader that resumes returns the sentences that the first reader would have.
    let resume_after = usize::from(choices.resume_after) % (sentences.len() + 1);
    if sentences.len() < MAX_SENTENCES
        && let Some((_, position)) = resume_after.checked_sub(1).map(|last| &sentences[last])
    {
        let rest = read(text, *position, &options, &layout);
        assert_eq!(rest, sentences[resume_after..], "resumed at {position:?}");
    }
}

/// The sentences up to the end or an error, each with the position after it.
fn read(
    text: &[u8],
    position: Position,
    options: &TextOptions,
    layout: &Layout,
) -> Vec<(Vec<String>, Position)> {
    let mut sentences = Vec::new();
    let Ok(mut stream) = from_reader_at("text", Cursor::new(text.to_vec()), position, options, layout) else {
        return sentences;
    };
    let mut sentence = Sentence::default();
    while sentences.len() < MAX_SENTENCES
        && let Ok(Read::Sentence) = stream.read(&mut sentence)
    {
        sentences.push((sentence.tokens().map(str::to_owned).collect(), stream.position()));
    }
    sentences
}

impl Choices {
    fn options(&self) -> TextOptions {
        TextOptions {
            kind: if self.prose { TextKind::Prose } else { TextKind::Tokens },
            tokenizer: if self.unicode { Tokenizer::Unicode } else { Tokenizer::Whitespace },
            lowercase: self.lowercase,
            nfkc: self.nfkc,
            max_sentence_words: 2 + usize::from(self.max_sentence_words),
            max_token_bytes: 1 + usize::from(self.max_token_bytes),
            invalid_utf8: [InvalidUtf8::Replace, InvalidUtf8::Skip, InvalidUtf8::Error]
                [usize::from(self.invalid_utf8) % 3],
            ..TextOptions::default()
        }
    }

    fn layout(&self) -> Layout {
        let formats = [RecordFormat::Jsonl, RecordFormat::Csv, RecordFormat::Tsv];
        let Some(&format) = formats.get(usize::from(self.layout) % 8 % 5) else { return Layout::Text };
        let no_header = self.layout >= 128 && format != RecordFormat::Jsonl;
        let field = if no_header { "1" } else { "text" }.to_owned();
        let weight = (self.layout % 16 >= 8).then(|| if no_header { "2" } else { "weight" }.to_owned());
        let bad_records = if self.skip { BadRecords::Skip } else { BadRecords::Error };
        Layout::Records { field: RecordField { format, field, no_header, weight }, bad_records }
    }
}
