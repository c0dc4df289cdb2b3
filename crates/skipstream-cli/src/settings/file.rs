//! The settings file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::serve::ServeSettings;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use skipstream::Bytes;
use skipstream::SettingValues;

use super::SettingArgs;

/// Maximum file size.
const MAX_BYTES: u64 = 1 << 20;

/// A TOML settings file. Keys are the flag names with `_` for `-`.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    pub path: PathBuf,
    pub settings: SettingArgs,
    /// The table `[serve]`.
    #[cfg_attr(not(feature = "serve"), expect(dead_code))]
    pub serve: ServeSettings,
}

impl SettingsFile {
    /// Reads a file. An unknown key is an error that lists the known ones.
    pub fn read(path: &Path) -> Result<SettingsFile> {
        let name = || path.display().to_string();
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
            .with_context(name)?;
        if text.len() as u64 > MAX_BYTES {
            bail!("{}: a settings file has at most {MAX_BYTES} bytes", name());
        }
        let (settings, serve) =
            SettingsFile::parse(&text).map_err(|reason| anyhow::anyhow!("{}{reason}", name()))?;
        Ok(SettingsFile { path: path.to_owned(), settings, serve })
    }

    fn parse(text: &str) -> Result<(SettingArgs, ServeSettings), String> {
        let parsed = parse_tables(text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            format!("{place}: {}", without_logins(error.message()))
        })?;
        let SettingArgs { values, memory, .. } = &parsed.0;
        if memory.is_some() && values.max_vocabulary.or(values.table_size).is_some() {
            return Err(": memory determines max_vocabulary and table_size; give only one of them".to_owned());
        }
        Ok(parsed)
    }
}

/// The keys that are not settings of a model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Others {
    memory: Option<Bytes>,
    serve: ServeSettings,
}

fn parse_tables(text: &str) -> Result<(SettingArgs, ServeSettings), toml::de::Error> {
    // An error of a value has its line only if the value is part of a table.
    let Others { memory, serve } = toml::from_str(text)?;
    let mut table = toml::de::DeTable::parse(text)?;
    for name in ["memory", "serve"] {
        table.get_mut().remove(name);
    }
    let values = SettingValues::deserialize(toml::Deserializer::from(table))?;
    Ok((SettingArgs { values, memory, for_items: false }, serve))
}

/// A message without the logins of URLs: a parser repeats what it does not understand.
fn without_logins(message: &str) -> String {
    let mut parts = message.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|end: char| end.is_whitespace() || end == '"' || end == '\'').unwrap_or(part.len());
        let login = part[..end].rfind('@').map_or(0, |at| at + 1);
        shown += "://";
        shown += if login > 0 { "…@" } else { "" };
        shown += &part[login..];
    }
    shown
}

#[cfg(test)]
mod tests {
    use skipstream::StrategyName;

    use super::*;

    #[test]
    fn no_message_repeats_a_password() {
        for text in
            ["[serve]\nsource = 'nats://me:secret@host/S'", "[serve]\nlisten = 'kafka://me:secret@host/S'"]
        {
            let message = SettingsFile::parse(text).unwrap_err();
            assert!(!message.contains("secret") && message.contains("line 2"), "{message}");
        }
        assert_eq!(without_logins("a \"x://h/p\" b"), "a \"x://h/p\" b");
    }

    #[test]
    fn names_are_those_of_the_flags() {
        let text = "dimensions = 300\nstrategy = 'incremental' # one thread\nlearning_rate = 0.1\n\
                    memory = '2G'\nmax_token_bytes = 64\nthreads = 3\n";
        let SettingArgs { values: settings, memory, .. } = SettingsFile::parse(text).unwrap().0;
        assert_eq!((settings.dimensions, settings.threads), (Some(300), Some(3)));
        assert_eq!((settings.strategy, settings.learning_rate), (Some(StrategyName::Incremental), Some(0.1)));
        assert_eq!((memory, settings.max_token_bytes), (Some(Bytes(2_000_000_000)), Some(64)));
        assert_eq!(SettingsFile::parse("memory = 2_000").unwrap().0.memory, Some(Bytes(2_000)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, parts) in [
            ("window = 5\ndimension = 3\n", [", line 2: unknown field `dimension`", "`dimensions`"]),
            ("window = 5\n\nwindow = 6\n", [", line 3: ", "duplicate"]),
            ("window = 'five'\n", [", line 1: ", "expected usize"]),
            ("window = -5\n", [", line 1: ", "-5"]),
            ("strategy = 'fast'\n", [", line 1: unknown variant `fast`", "`mini-batch`"]),
            ("memory = 'much'\n", [", line 1: ", "`much` is not a size"]),
            ("window\n", [", line 1: ", "="]),
            (
                "memory = '1G'\nmax_vocabulary = 5\n",
                [": memory determines max_vocabulary", "only one of them"],
            ),
        ] {
            let message = SettingsFile::parse(text).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
