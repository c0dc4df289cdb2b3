//! The rules for prose that go beyond tokenizing: where a sentence ends, and what is left out. A rule looks at one run (the
//! text between white space) and at most at the next one.

/// What may follow the mark that ends a sentence.
const CLOSING: [char; 13] = ['"', '\'', ')', ']', '}', '”', '’', '»', '›', '“', '」', '』', '*'];

/// What may come before the first letter of a sentence.
const OPENING: [char; 13] = ['"', '\'', '(', '[', '{', '“', '‘', '«', '‹', '„', '「', '『', '*'];

/// Words with a full stop that does not end a sentence, in English, German and French. Initials, ordinal numbers and
/// words such as `U.S.` are recognized by their form.
const ABBREVIATIONS: [&str; 44] = [
    "al", "approx", "bd", "bzw", "ca", "capt", "cf", "col", "dept", "dr", "ed", "est", "etc", "evtl", "fig",
    "fr", "gen", "ggf", "gov", "hon", "hr", "inc", "jr", "lt", "ltd", "mlle", "mme", "mr", "mrs", "ms", "mt",
    "nr", "pp", "prof", "rev", "sen", "sgt", "sr", "st", "str", "usw", "vgl", "vol", "vs",
];

/// What looks like a word but is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Url,
    Email,
}

/// The address that a run contains, and where it starts. It goes on to the end of the run.
pub(super) fn address(run: &str) -> Option<(usize, Address)> {
    if let Some(colon) = run.find("://") {
        let scheme = run[..colon].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
        return (scheme > 0).then_some((colon - scheme, Address::Url));
    }
    let start = run.len() - run.trim_start_matches(OPENING).len();
    let begins = |prefix: &str| {
        run.get(start..start + prefix.len()).is_some_and(|own| own.eq_ignore_ascii_case(prefix))
    };
    if begins("www.") {
        return Some((start, Address::Url));
    }
    let (name, domain) = run.split_once('@')?;
    let is_email = name.ends_with(char::is_alphanumeric)
        && domain.split_once('.').is_some_and(|(host, rest)| {
            host.starts_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)
        });
    is_email.then_some((start, Address::Email))
}

/// A run with the same apostrophe everywhere and without invisible characters.
pub(super) fn cleaned<'a>(run: &'a str, buffer: &'a mut String) -> &'a str {
    if run.is_ascii() || !run.contains(|letter| is_apostrophe(letter) || is_invisible(letter)) {
        return run;
    }
    buffer.clear();
    let letters = run.chars().filter(|&letter| !is_invisible(letter));
    buffer.extend(letters.map(|letter| if is_apostrophe(letter) { '\'' } else { letter }));
    buffer
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '’' | '‘' | '‛' | 'ʼ' | '´')
}

/// Soft hyphens, marks of direction, joiners that join nothing, and selectors of a picture.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{AD}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
}

/// The words between two word boundaries. Unicode sees one word in *end.Next*, where the space after a full stop is missing;
/// *u.s* stays whole.
pub(super) fn words(part: &str) -> impl Iterator<Item = &str> {
    let is_long = |piece: &str| piece.chars().nth(2).is_some() && piece.contains(char::is_alphabetic);
    let is_glued =
        part.split('.').filter(|piece| is_long(piece)).count() > 0 && !part.contains(char::is_numeric);
    part.split(move |letter| is_glued && letter == '.')
}

/// Whether text between two word boundaries is an emoji or another pictograph.
pub(super) fn is_emoji(text: &str) -> bool {
    let is_picture = |letter| {
        matches!(letter, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{231A}' | '\u{231B}'
            | '\u{23E9}'..='\u{23FA}' | '\u{2B50}' | '\u{2B55}' | '\u{20E3}')
    };
    !text.is_ascii() && text.contains(is_picture)
}

/// Whether a word is a number that is left out: one that is not whole or has more than four digits. (Years stay.)
pub(super) fn is_number(word: &str) -> bool {
    let is_short = || word.chars().count() <= 4 && word.chars().all(char::is_numeric);
    word.contains(char::is_numeric) && !word.contains(char::is_alphabetic) && !is_short()
}

/// Whether a run ends a sentence, by itself and the run after it in the same line.
pub(super) fn ends_sentence(run: &str, next: Option<&str>) -> bool {
    let run = run.trim_end_matches(CLOSING);
    if !run.ends_with(['.', '!', '?', '…', '。', '！', '？', '｡', '؟', '۔', '।']) {
        return false;
    }
    // “Stop!” he said.
    if next.is_some_and(|next| next.trim_start_matches(OPENING).starts_with(char::is_lowercase)) {
        return false;
    }
    !run.ends_with('.') || !is_abbreviation(run.trim_end_matches('.').trim_start_matches(OPENING))
}

/// Whether a word keeps its full stop within a sentence.
fn is_abbreviation(word: &str) -> bool {
    let is_short = |part: &str| part.chars().count() <= 2 && part.starts_with(char::is_alphabetic);
    let is_initial = word.chars().count() == 1 && word.starts_with(char::is_alphabetic);
    let is_ordinal = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_initial
        || is_ordinal
        || word.contains('.') && word.split('.').all(is_short)
        || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Whether a run of a script without spaces has marks within it that end sentences.
pub(super) fn has_wide_ends(run: &str) -> bool {
    !run.is_ascii() && run.contains(['。', '！', '？', '｡'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognized_with_what_is_around_them() {
        for (run, start, kind) in [
            ("https://example.com/a?b=c.", 0, Address::Url),
            ("(http://example.com),", 1, Address::Url),
            ("[text](ftp://example.com)", 7, Address::Url),
            ("WWW.example.com", 0, Address::Url),
            ("“www.example.com”", 3, Address::Url),
            ("john.doe@example.com", 0, Address::Email),
            ("<john@example.co.uk>,", 0, Address::Email),
        ] {
            assert_eq!(address(run), Some((start, kind)), "{run}");
        }
        for run in ["example.com", "@john", "a@b", "://", "john@", "wwwhat", "AT&T", "é@ü"] {
            assert_eq!(address(run), None, "{run}");
        }
    }

    #[test]
    fn a_sentence_ends_with_a_mark_unless_it_goes_on() {
        for (run, next) in [
            ("end.", Some("Next")),
            ("end.", None),
            ("end!”", Some("He")),
            ("(end?)", Some("“He")),
            ("1984.", Some("In")),
            ("http://example.com.", Some("Next")),
            ("了。", Some("我")),
        ] {
            assert!(ends_sentence(run, next), "{run} {next:?}");
        }
        for (run, next) in [
            ("word", Some("Next")),
            ("Mr.", Some("Smith")),
            ("(Dr.", Some("Who)")),
            ("J.", Some("R.")),
            ("U.S.", Some("Government")),
            ("z.B.", Some("Berlin")),
            ("3.", Some("Oktober")),
            ("Stop!”", Some("he")),
            ("etc.", Some("and")),
            ("comma,", Some("Next")),
        ] {
            assert!(!ends_sentence(run, next), "{run} {next:?}");
        }
    }

    #[test]
    fn numbers_stay_if_they_may_be_years() {
        for word in ["1984", "7", "٤٢", "3rd", "b2b", "covid19"] {
            assert!(!is_number(word), "{word}");
        }
        for word in ["3.14", "10000", "1,000,000", "12'345"] {
            assert!(is_number(word), "{word}");
        }
    }

    #[test]
    fn apostrophes_are_alike_and_invisible_characters_go() {
        let mut buffer = String::new();
        for (run, expected) in [
            ("don’t", "don't"),
            ("donʼt", "don't"),
            ("Zusammen\u{AD}arbeit", "Zusammenarbeit"),
            ("\u{200F}שלום", "שלום"),
            ("naïve", "naïve"),
            ("plain", "plain"),
        ] {
            assert_eq!(cleaned(run, &mut buffer), expected);
        }
    }

    #[test]
    fn a_missing_space_after_a_full_stop_does_not_make_one_word_of_two() {
        for (part, expected) in [
            ("concerns.but", &["concerns", "but"][..]),
            ("longer.i", &["longer", "i"]),
            ("u.s", &["u.s"]),
            ("ph.d", &["ph.d"]),
            ("z.b", &["z.b"]),
            ("3.14", &["3.14"]),
            ("don't", &["don't"]),
        ] {
            assert_eq!(words(part).collect::<Vec<_>>(), expected, "{part}");
        }
    }

    #[test]
    fn pictures_are_not_letters() {
        for text in ["😀", "👩‍🚀", "🇩🇪", "❤️", "1️⃣", "✓"] {
            assert!(is_emoji(text), "{text}");
        }
        for text in ["日", "é", "™", "a", "…", "–"] {
            assert!(!is_emoji(text), "{text}");
        }
    }
}
