//! Prose: sentences within lines, and what is left out.

use super::super::super::report::ProseSigns;
use super::*;

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
