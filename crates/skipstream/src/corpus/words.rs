//! Tokenizing: normalizes and lowercases runs of text without white space, splits them into words, and checks their length.

use std::collections::VecDeque;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::options::{TextKind, TextOptions, Tokenizer};
use super::prose::{self, Address};
use super::report::TextReport;
use super::sentence::Sentence;

/// The runs of a piece of text, and the words made of them one run at a time.
#[derive(Debug)]
pub(super) struct WordSplitter {
    options: TextOptions,
    pub(super) runs: Sentence,
    /// Whether all of them are ASCII, and were lowercased together if requested.
    is_ascii: bool,
    next_run: usize,
    /// The words of the last run that was split.
    cut: Sentence,
    next_word: usize,
    /// The numbers of words in `cut` after which a sentence of prose ends.
    ends: VecDeque<usize>,
    /// The number of words of these runs that were returned or skipped.
    taken: u64,
    /// The number of words still to skip.
    skip: u64,
    cleaned: String,
    normalized: String,
    lowered: String,
}

impl WordSplitter {
    /// No runs yet; the first `skip` words will be skipped.
    pub(super) fn new(options: &TextOptions, skip: u64) -> WordSplitter {
        WordSplitter {
            options: options.clone(),
            runs: Sentence::default(),
            is_ascii: false,
            next_run: 0,
            cut: Sentence::default(),
            next_word: 0,
            ends: VecDeque::new(),
            taken: 0,
            skip,
            cleaned: String::new(),
            normalized: String::new(),
            lowered: String::new(),
        }
    }

    /// Starts another text. Its first `skip` words will be skipped.
    #[cfg(feature = "records")]
    pub(super) fn begin(&mut self, skip: u64) {
        self.runs.clear();
        self.restart();
        self.skip = skip;
    }

    /// Starts with the runs in `runs`.
    pub(super) fn restart(&mut self) {
        self.is_ascii = self.runs.text.is_ascii();
        if self.is_ascii && self.options.lowercase && !self.is_prose() {
            self.runs.text.make_ascii_lowercase();
        }
        self.next_run = 0;
        self.cut.clear();
        self.next_word = 0;
        self.ends.clear();
        self.taken = 0;
    }

    fn is_prose(&self) -> bool {
        self.options.kind == TextKind::Prose
    }

    /// The number of words of these runs that were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether words are still to be skipped.
    pub(super) fn is_skipping(&self) -> bool {
        self.skip > 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next_run == self.runs.len() && self.next_word == self.cut.len()
    }

    /// Appends words to a sentence, until it has `most` of them, the runs are used up or, as the result says, a sentence of
    /// prose ends.
    pub(super) fn fill(&mut self, sentence: &mut Sentence, most: usize, report: &mut TextReport) -> bool {
        while sentence.len() < most {
            if self.ends.front() == Some(&self.next_word) {
                self.ends.pop_front();
                if !sentence.is_empty() {
                    return true;
                }
            } else if self.next_word < self.cut.len() {
                self.next_word += 1;
                if self.take_word() {
                    sentence.push(self.cut.token(self.next_word - 1));
                }
            } else if self.next_run == self.runs.len() {
                return false;
            } else if self.is_ascii && self.options.tokenizer == Tokenizer::Whitespace && !self.is_prose() {
                // The run is the word, which saves most of the time in most languages with spaces.
                let word = self.runs.token(self.next_run);
                self.next_run += 1;
                if has_right_length(word, &self.options, report) && self.take_word() {
                    sentence.push(self.runs.token(self.next_run - 1));
                }
            } else {
                self.cut_run(report);
                self.next_run += 1;
            }
        }
        false
    }

    /// Counts a word as taken. Returns false if it is skipped.
    fn take_word(&mut self) -> bool {
        self.taken += 1;
        let is_skipped = self.skip > 0;
        self.skip -= u64::from(is_skipped);
        !is_skipped
    }

    fn cut_run(&mut self, report: &mut TextReport) {
        let is_prose = self.is_prose();
        let WordSplitter {
            options,
            runs,
            is_ascii,
            next_run,
            cut,
            next_word,
            ends,
            cleaned,
            normalized,
            lowered,
            ..
        } = self;
        cut.clear();
        *next_word = 0;
        let raw = runs.token(*next_run);
        let mut run = raw;
        if is_prose {
            if let Some((start, address)) = prose::address(run) {
                match address {
                    Address::Url => report.urls += 1,
                    Address::Email => report.emails += 1,
                }
                run = &run[..start];
            }
            run = prose::cleaned(run, cleaned);
        }
        if options.nfkc && !*is_ascii && !is_normalized(run) {
            normalized.clear();
            normalized.extend(run.nfkc());
            run = normalized;
        }
        // Text that is all ASCII is in lower case already, except prose.
        if options.lowercase && (!*is_ascii || is_prose) {
            lower(run, lowered);
            run = lowered;
        }
        let has_wide_ends = is_prose && prose::has_wide_ends(raw);
        let admit = |word: &str, cut: &mut Sentence, report: &mut TextReport| {
            if is_prose && prose::is_number(word) {
                report.numbers += 1;
            } else if has_right_length(word, options, report) {
                cut.push(word);
            }
        };
        match options.tokenizer {
            // NFKC writes some characters with spaces.
            Tokenizer::Whitespace => run.split_whitespace().for_each(|word| admit(word, cut, report)),
            Tokenizer::Unicode if !is_prose => run.unicode_words().for_each(|word| admit(word, cut, report)),
            Tokenizer::Unicode => {
                for part in run.split_word_bounds() {
                    if prose::is_emoji(part) {
                        report.emoji += 1;
                    } else if part.contains(char::is_alphanumeric) {
                        for word in prose::words(part.trim_matches(['_', '‿', '⁀', '⁔'])) {
                            admit(word, cut, report);
                        }
                    } else if has_wide_ends && part.contains(['。', '!', '?']) {
                        ends.push_back(cut.len());
                    }
                }
            }
        }
        let next = (*next_run + 1 < runs.len()).then(|| runs.token(*next_run + 1));
        if is_prose && prose::ends_sentence(raw, next) {
            ends.push_back(cut.len());
        }
    }
}

/// Whether normalization changes nothing, by a quick check.
fn is_normalized(run: &str) -> bool {
    run.is_ascii() || is_nfkc_quick(run.chars()) == IsNormalized::Yes
}

fn lower(run: &str, out: &mut String) {
    out.clear();
    if run.is_ascii() {
        out.push_str(run);
        out.make_ascii_lowercase();
    } else if run.contains('Σ') {
        // The only letter whose lower case depends on its context.
        out.push_str(&run.to_lowercase());
    } else {
        out.extend(run.chars().flat_map(char::to_lowercase));
    }
}

/// Checks the length of a word, and counts one that is too short or too long.
pub(super) fn has_right_length(word: &str, options: &TextOptions, report: &mut TextReport) -> bool {
    let length = characters(word);
    let is_long =
        word.len() > options.max_token_bytes || options.max_token_len.is_some_and(|most| length > most);
    let is_short = length < options.min_token_len;
    report.long_tokens += u64::from(is_long);
    report.short_tokens += u64::from(is_short && !is_long);
    !is_long && !is_short
}

fn characters(word: &str) -> usize {
    if word.is_ascii() { word.len() } else { word.chars().count() }
}

/// The ends of words and of the text between them, by the boundaries of Unicode, in bytes of which some may not be
/// UTF-8.
pub(super) fn boundaries(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut start = 0;
    bytes.utf8_chunks().flat_map(move |chunk| {
        let valid = start;
        let invalid = valid + chunk.valid().len();
        start = invalid + chunk.invalid().len();
        let ends = chunk.valid().split_word_bound_indices().map(move |(at, word)| valid + at + word.len());
        ends.chain((start > invalid).then_some(start))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn options() -> TextOptions {
        TextOptions::default()
    }

    /// The words of a line of runs, and how many were too short and too long.
    fn words(line: &str, options: &TextOptions) -> (String, u64, u64) {
        let mut words = WordSplitter::new(options, 0);
        line.split_whitespace().for_each(|run| words.runs.push(run));
        words.restart();
        let (mut sentence, mut report) = (Sentence::default(), TextReport::default());
        words.fill(&mut sentence, usize::MAX, &mut report);
        assert!(words.is_empty());
        assert_eq!(words.taken(), sentence.len() as u64);
        (sentence.tokens().collect::<Vec<_>>().join("|"), report.short_tokens, report.long_tokens)
    }

    #[test]
    fn lower_case_is_unicode_s() {
        let options = TextOptions { lowercase: true, ..options() };
        assert_eq!(
            words("The CAT ÉTÉ İ Straße ΌΣΟΣ ΟΔΟΣ. ǅ", &options).0,
            "the|cat|été|i\u{307}|straße|όσος|οδος.|ǆ"
        );
    }

    #[test]
    fn normal_form_composes_and_replaces_and_may_split() {
        let options = TextOptions { nfkc: true, ..options() };
        assert_eq!(words("ﬁne e\u{301}te\u{301} ＡＢ ｶﾞ ½ plain", &options).0, "fine|été|AB|ガ|1⁄2|plain");
        assert_eq!(words("\u{FDFA}", &options).0, "صلى|الله|عليه|وسلم");
    }

    #[test]
    fn lower_case_comes_behind_normalizing_and_cutting_behind_both() {
        let options = TextOptions { nfkc: true, lowercase: true, tokenizer: Tokenizer::Unicode, ..options() };
        assert_eq!(words("𝐁𝐨𝐥𝐝 5㎏ Foo™", &options).0, "bold|5kg|footm");
    }

    #[test]
    fn unicode_words_have_letters_or_numbers_and_no_punctuation() {
        let options = TextOptions { tokenizer: Tokenizer::Unicode, ..options() };
        let line = "“Don't panic,” (3.14 times) -- said e-mail@example.com! ... 日本 한국어 __ _x_ 👩‍🚀";
        assert_eq!(
            words(line, &options).0,
            "Don't|panic|3.14|times|said|e|mail|example.com|日|本|한국어|_x_"
        );
    }

    #[test]
    fn words_of_the_wrong_length_are_left_out_and_counted() {
        let options =
            TextOptions { min_token_len: 2, max_token_len: Some(3), max_token_bytes: 8, ..options() };
        assert_eq!(words("a bc é éé日 abcd 日日日 ééé日", &options), ("bc|éé日".to_owned(), 2, 3));
    }

    #[test]
    fn words_that_were_taken_before_are_passed_over() {
        let options = TextOptions { tokenizer: Tokenizer::Unicode, ..options() };
        let mut words = WordSplitter::new(&options, 2);
        ["a-b-c", "d"].iter().for_each(|run| words.runs.push(run));
        words.restart();
        let mut sentence = Sentence::default();
        words.fill(&mut sentence, 1, &mut TextReport::default());
        assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["c"]);
        assert_eq!(words.taken(), 3);
        assert!(!words.is_empty());
    }

    proptest! {
        #[test]
        fn lower_case_is_the_standard_library_s(run in "[aÀΣσßİǅԱ日'.]{0,6}") {
            let mut out = String::new();
            lower(&run, &mut out);
            prop_assert_eq!(out, run.to_lowercase());
        }

        #[test]
        fn boundaries_end_with_the_bytes_and_cut_no_character(bytes in any::<Vec<u8>>(), text in ".{0,20}") {
            let ends: Vec<usize> = boundaries(&bytes).collect();
            prop_assert!(ends.is_sorted());
            prop_assert_eq!(ends.last().copied().unwrap_or(0), bytes.len());
            let ends: Vec<usize> = boundaries(text.as_bytes()).collect();
            prop_assert!(ends.iter().all(|&end| text.is_char_boundary(end)));
        }
    }
}
