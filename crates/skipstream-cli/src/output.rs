//! Printing, the same way for every command.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde::Serialize;

/// Prints text for people on standard output. (`print!` would panic when the reader of a pipe has gone.)
///
/// A word may contain any character. Those that control the terminal are escaped (`\u{1b}`).
pub fn print(text: &str) -> Result<()> {
    write(&without_controls(text, escaped))
}

fn write(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
}

/// Prints a line on standard error, where words and names of files are escaped as [`print`] does it, and ignores failures.
/// (`eprintln!` would panic.)
pub fn note(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", without_controls(&line.to_string(), escaped));
}

/// Prints a value as one line of JSON on standard output.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value).context("writing JSON")?;
    print_json_line(&json)
}

/// Prints JSON. It is still JSON after characters that control the terminal were escaped.
pub fn print_json_line(json: &str) -> Result<()> {
    write(
        &(without_controls(json, |character| format!("\\u{:04x}", u32::from(character))).into_owned() + "\n"),
    )
}

/// A count with separators: 1,234,567.
pub fn count(n: impl TryInto<u64>) -> String {
    HumanCount(n.try_into().unwrap_or(u64::MAX)).to_string()
}

/// Escapes characters that control the terminal.
fn without_controls(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let escaped = text.chars().map(|character| match is_control(character) {
        true => escape(character),
        false => character.to_string(),
    });
    escaped.collect::<String>().into()
}

fn escaped(character: char) -> String {
    character.escape_default().to_string()
}

/// Control characters other than line ends and tabs, and those that change the direction of what follows (Unicode's
/// `Bidi_Control`), so that it looks like something else.
fn is_control(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_cannot_command_the_terminal() {
        let escaped = |text: &str| without_controls(text, escaped).into_owned();
        assert_eq!(escaped("käse\t1\n"), "käse\t1\n");
        assert_eq!(escaped("\u{1b}[31mred\u{7}\r"), "\\u{1b}[31mred\\u{7}\\r");
        // Arabic letters have a direction of their own, which is not a command.
        assert_eq!(escaped("سلام"), "سلام");
        for bidirectional in ['\u{61c}', '\u{200f}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            assert_eq!(
                escaped(&format!("a{bidirectional}b")),
                format!("a\\u{{{:x}}}b", u32::from(bidirectional))
            );
        }
    }
}
