//! The token file of the service.

use std::collections::HashSet;

use skipstream_server::{ServeSettings, check};

use crate::file;

pub fn run(bytes: &[u8]) {
    let path = file::holding("tokens", bytes);
    let checked = check(&ServeSettings { tokens: Some(path.clone()), ..ServeSettings::default() });
    let valid = str::from_utf8(bytes).is_ok_and(is_valid);
    match checked {
        Ok(()) => assert!(valid, "an invalid file was accepted"),
        Err(error) => {
            assert!(!valid, "a valid file was refused: {error}");
            // An error never shows a token.
            let message = error.to_string().replace(&*path.to_string_lossy(), "");
            let text = String::from_utf8_lossy(bytes);
            let shown = text.split_ascii_whitespace().find(|word| word.len() >= 16 && message.contains(word));
            assert_eq!(shown, None, "{message}");
        }
    }
}

/// The definition: each line is empty, a comment, or a role and a token, and no token is repeated.
fn is_valid(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> =
        lines.filter(|words| words.first().is_some_and(|word| !word.starts_with('#'))).collect();
    let is_line = |words: &Vec<&str>| match words[..] {
        ["read" | "write" | "admin", token] => {
            (16..=1_000).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
        }
        _ => false,
    };
    let distinct: HashSet<&str> = lines.iter().filter_map(|words| words.get(1).copied()).collect();
    !lines.is_empty() && lines.iter().all(is_line) && distinct.len() == lines.len()
}
