//! Printing, the same way for every command.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde::Serialize;

/// Prints text for people on standard output. (`print!` would panic when the reader of a pipe has gone.)
///
/// A word may contain any character. Control characters are escaped (`\u{1b}`), so a word cannot control the terminal.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let text = without_controls(text);
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
}

/// Prints a line on standard error and ignores failures. (`eprintln!` would panic.)
pub fn note(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a value as one line of JSON on standard output.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value).context("writing JSON")?;
    print(&(json + "\n"))
}

/// A count with separators: 1,234,567.
pub fn count(n: impl TryInto<u64>) -> String {
    HumanCount(n.try_into().unwrap_or(u64::MAX)).to_string()
}

/// Escapes control characters other than line ends and tabs.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(is_control) {
        return text.into();
    }
    let escape = |character: char| match is_control(character) {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    text.chars().map(escape).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_cannot_command_the_terminal() {
        assert_eq!(without_controls("käse\t1\n"), "käse\t1\n");
        assert_eq!(without_controls("\u{1b}[31mred\u{7}\r"), "\\u{1b}[31mred\\u{7}\\r");
    }
}
