//! Extracts the visible words of a Wikipedia dump, as for the well-known *text8* corpus: XML and wiki markup are removed,
//! link captions are kept, letters become lower case, digits are spelled out, and everything else separates words.
//!
//! The order of the steps is part of the definition: the same order gives the same corpus.

use std::io::BufRead;

use anyhow::Result;
use regex::bytes::Regex;

/// Patterns and their replacements, in order. They match bytes; `(?i)` applies to ASCII only.
const STEPS: &[(&str, &str)] = &[
    // The text of a dump is escaped once.
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    // Notes and tags.
    ("<ref[^<]*</ref>", ""),
    ("<[^>]*>", ""),
    // External links: remove the address, keep the caption.
    (r"\[http:[^\] ]*", "["),
    // Images: remove layout words and the file name, keep the caption.
    (r"(?i)\|thumb", ""),
    (r"(?i)\|left", ""),
    (r"(?i)\|right", ""),
    (r"(?i)\|[0-9]+px", ""),
    (r"(?i)\[\[image:[^\[\]]*\|", ""),
    // Categories are words too; links to other languages are not.
    (r"(?i)\[\[category:([^|\]]*)[^\]]*\]\]", "[[$1]]"),
    (r"\[\[[a-z\-]*:[^\]]*\]\]", ""),
    // Links with a caption: the caption.
    (r"\[\[[^|\]]*\|", "[["),
    // Templates, then tables.
    (r"\{\{[^}]*\}\}", ""),
    (r"\{[^}]*\}", ""),
    // Remaining brackets join the words around them; remaining entities separate them.
    (r"[\[\]]", ""),
    ("&[^;]*;", " "),
];

const DIGITS: [&[u8]; 10] =
    [b"zero", b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight", b"nine"];

/// Calls `word` for each visible word of the articles in a dump.
pub fn each_word(mut dump: impl BufRead, mut word: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let markup = Markup::new()?;
    let mut in_article = false;
    let mut record = Vec::new();
    // A record ends with `>`. Those inside an article are escaped, so that one record holds the article and its
    // `</text>`.
    while dump.read_until(b'>', &mut record)? > 0 {
        if markup.opening.is_match(&record) {
            in_article = true;
        }
        if markup.redirect.is_match(&record) {
            in_article = false;
        }
        if in_article {
            in_article = !markup.closing.is_match(&record);
            spell(&markup.strip(&record), &mut word)?;
        }
        record.clear();
    }
    Ok(())
}

/// The compiled patterns.
struct Markup {
    opening: Regex,
    closing: Regex,
    redirect: Regex,
    xml_tag: Regex,
    steps: Vec<(Regex, &'static [u8])>,
}

impl Markup {
    fn new() -> Result<Self> {
        let mut steps = Vec::with_capacity(STEPS.len());
        for &(pattern, replacement) in STEPS {
            steps.push((bytes_pattern(pattern)?, replacement.as_bytes()));
        }
        Ok(Self {
            opening: bytes_pattern("<text ")?,
            closing: bytes_pattern("</text>")?,
            redirect: bytes_pattern("(?i)#redirect")?,
            xml_tag: bytes_pattern("<.*>")?,
            steps,
        })
    }

    /// The text that a reader of the page sees.
    fn strip(&self, record: &[u8]) -> Vec<u8> {
        let mut text = self.xml_tag.replace(record, &b""[..]).into_owned();
        for (pattern, replacement) in &self.steps {
            if pattern.is_match(&text) {
                text = pattern.replace_all(&text, *replacement).into_owned();
            }
        }
        text
    }
}

/// A pattern over bytes of any encoding.
fn bytes_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    regex::bytes::RegexBuilder::new(pattern).unicode(false).build()
}

/// Calls `word` for each run of letters, in lower case, and for each digit, spelled out.
pub fn spell(text: &[u8], word: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut letters = Vec::new();
    for &byte in text {
        if byte.is_ascii_alphabetic() {
            letters.push(byte.to_ascii_lowercase());
            continue;
        }
        if !letters.is_empty() {
            word(&letters)?;
            letters.clear();
        }
        if byte.is_ascii_digit() {
            word(DIGITS[usize::from(byte - b'0')])?;
        }
    }
    if !letters.is_empty() {
        word(&letters)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(dump: &str) -> String {
        let mut words = Vec::new();
        each_word(dump.as_bytes(), |word| {
            words.push(String::from_utf8(word.to_vec())?);
            Ok(())
        })
        .unwrap();
        words.join(" ")
    }

    fn article(text: &str) -> String {
        filtered(&format!("<text xml:space=\"preserve\">{text}</text>"))
    }

    #[test]
    fn only_articles_are_kept() {
        let dump = "<page><title>Dogs</title><text xml:space=\"preserve\">A dog.</text>\
                    <id>7</id><text xml:space=\"preserve\">A cat.</text></page>";
        assert_eq!(filtered(dump), "a dog a cat");
    }

    #[test]
    fn redirects_are_dropped() {
        let dump = "<text xml:space=\"preserve\">#REDIRECT [[Dog]]</text>\
                    <text xml:space=\"preserve\">Cat</text>";
        assert_eq!(filtered(dump), "cat");
    }

    #[test]
    fn letters_are_lowered_digits_spelled_and_the_rest_parts_words() {
        assert_eq!(article("In 1907, Émile's\nR2D2!"), "in one nine zero seven mile s r two d two");
    }

    #[test]
    fn links_keep_their_captions() {
        assert_eq!(article("[[Dog]]s and [[Felis catus|cat]]s"), "dogs and cats");
        assert_eq!(article("[http://example.org/a?b the page]"), "the page");
        assert_eq!(article("[[Category:Pets|*]]"), "pets");
    }

    #[test]
    fn images_keep_their_captions() {
        assert_eq!(article("[[Image:dog.jpg|thumb|left|200px|A good dog]]"), "a good dog");
    }

    #[test]
    fn links_to_other_languages_go() {
        assert_eq!(article("dog [[fr:Chien]] [[zh-min-nan:Kau]] cat"), "dog cat");
    }

    #[test]
    fn references_tags_and_comments_go() {
        assert_eq!(
            article("a&lt;ref name=x&gt;note&lt;/ref&gt; b&lt;br /&gt;c &lt;!-- no --&gt;d"),
            "a bc d"
        );
    }

    #[test]
    fn templates_tables_and_entities_go() {
        assert_eq!(article("a {{stub}} b {| class=x | cell |} c&amp;nbsp;d &amp;mdash; e"), "a b c d e");
    }

    #[test]
    fn a_cut_dump_keeps_what_it_has() {
        assert_eq!(filtered("<text xml:space=\"preserve\">A dog and"), "a dog and");
    }
}
