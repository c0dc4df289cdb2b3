//! Who may do what: tokens with roles, from a file.
//!
//! A line of the file is a role and a token: `write 3f1c…`. Only hashes of the tokens are held. The file may be changed
//! while the service runs; it is looked at about once a second, when somebody asks. If what it says then makes no sense,
//! the tokens stay as they were, and the log says so; if it is gone, empty or cannot be read, no token is valid any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;

use crate::error::{Error, Result};
use crate::settings::ServeSettings;

/// What somebody may do. Each role may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Ask.
    Read,
    /// Send text and choose which words are watched.
    Write,
    /// Keep and forget snapshots, save the model.
    Admin,
}

impl Role {
    /// The role by its name, as in the file of tokens and in the document of the API.
    pub fn by_name(name: &str) -> Option<Role> {
        match name {
            "read" => Some(Role::Read),
            "write" => Some(Role::Write),
            "admin" => Some(Role::Admin),
            _ => None,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Write => "write",
            Role::Admin => "admin",
        }
    }
}

/// Whether the service may start so: without tokens it may listen on loopback only, and a file of tokens must be readable
/// and make sense. So must the origins of other pages.
pub fn check(settings: &ServeSettings) -> Result<()> {
    for origin in &settings.cors_origins {
        if !is_origin(origin) {
            return Err(Error::Setting(format!(
                "cors_origins has `{origin}`; an origin is http:// or https:// and a host, and no path"
            )));
        }
    }
    match &settings.tokens {
        Some(path) => {
            warn_if_others_can_read(path);
            let tokens = Tokens::read(path)?;
            if tokens.0.is_empty() {
                let path = path.display();
                return Err(Error::Setting(format!(
                    "tokens: {path}, which has no tokens; a line is a role and a token"
                )));
            }
            Ok(())
        }
        None if settings.listen.ip().is_loopback() => Ok(()),
        None => Err(Error::Setting(format!(
            "listen is {}, which other machines can reach; without tokens it must be a loopback address such as \
             127.0.0.1:{} (tokens names a file with lines such as `read TOKEN`)",
            settings.listen,
            settings.listen.port()
        ))),
    }
}

fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte))
    })
}

/// Hashes of tokens, with the role of each.
#[derive(Debug, Default)]
pub struct Tokens(Vec<(blake3::Hash, Role)>);

/// Shorter ones could be guessed.
const MIN_TOKEN_CHARACTERS: usize = 16;

/// Longer ones would not fit into a header everywhere.
const MAX_TOKEN_CHARACTERS: usize = 1_000;

impl Tokens {
    /// The tokens of a file.
    pub fn read(path: &Path) -> Result<Tokens> {
        let error = |reason: String| Error::Setting(format!("tokens: {}{reason}", path.display()));
        let text = fs::read(path).map_err(|reason| error(format!(": {reason}")))?;
        Tokens::parse_bytes(&text).map_err(|reason| error(format!(", {reason}")))
    }

    fn parse_bytes(text: &[u8]) -> Result<Tokens, String> {
        let text = str::from_utf8(text).map_err(|_| "which is not UTF-8".to_owned())?;
        Tokens::parse(text)
    }

    /// The tokens of a text. What is wrong is said with the line, and never with what stands in it, since that may be a
    /// token in the wrong place.
    fn parse(text: &str) -> Result<Tokens, String> {
        let mut tokens = Vec::new();
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = line.split_ascii_whitespace();
            let Some(role) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let role = Role::by_name(role).ok_or_else(|| {
                format!("line {number}: the first word is not a role; it must be read, write or admin")
            })?;
            let (Some(token), None) = (words.next(), words.next()) else {
                return Err(format!("line {number}: there must be one token behind the role"));
            };
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!(
                    "line {number}: a character of the token cannot stand in a header; letters, digits and signs of \
                     ASCII can"
                ));
            }
            if !(MIN_TOKEN_CHARACTERS..=MAX_TOKEN_CHARACTERS).contains(&token.len()) {
                return Err(format!(
                    "line {number}: the token has {} characters; it must have from {MIN_TOKEN_CHARACTERS} to \
                     {MAX_TOKEN_CHARACTERS}",
                    token.len()
                ));
            }
            let hash = blake3::hash(token.as_bytes());
            if let Some(place) = tokens.iter().position(|&(other, _)| other == hash) {
                return Err(format!("line {number}: the token of line {} again", lines[place]));
            }
            tokens.push((hash, role));
            lines.push(number);
        }
        Ok(Tokens(tokens))
    }

    /// The role of a token, if it is one of ours.
    ///
    /// How long this takes does not tell how much of a token was right: hashes are compared, each in constant time, and
    /// always all of them.
    pub fn role(&self, token: &[u8]) -> Option<Role> {
        let hash = blake3::hash(token);
        self.0.iter().fold(None, |found, &(known, role)| if known == hash { Some(role) } else { found })
    }
}

/// A file of tokens that is read again when it has changed.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    tokens: ArcSwap<Tokens>,
    looked: Mutex<Option<Look>>,
}

/// When a file was looked at, and what it was like.
#[derive(Debug)]
struct Look {
    when: Instant,
    stamp: Option<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: SystemTime,
    bytes: u64,
}

/// A token that was taken out of the file is refused after so long at the latest.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl TokenFile {
    /// The tokens of a file. While it cannot be read, nobody has a token.
    pub fn new(path: &Path) -> TokenFile {
        let file = TokenFile { path: path.to_owned(), tokens: ArcSwap::default(), looked: Mutex::new(None) };
        file.look();
        file
    }

    /// The tokens as they are now.
    pub fn tokens(&self) -> Arc<Tokens> {
        self.look();
        self.tokens.load_full()
    }

    fn look(&self) {
        // Whoever holds the lock looks; the others go on with what there is.
        let Ok(mut looked) = self.looked.try_lock() else { return };
        if looked.as_ref().is_some_and(|look| look.when.elapsed() < LOOK_EVERY) {
            return;
        }
        let stamp = stamp(&self.path);
        let unchanged = looked.as_ref().is_some_and(|look| look.stamp == stamp);
        *looked = Some(Look { when: Instant::now(), stamp });
        if unchanged {
            return;
        }
        // Who removes a file or takes all out of it wants nobody in; who mistypes a line does not.
        let tokens = match fs::read(&self.path) {
            Ok(text) => Tokens::parse_bytes(&text),
            Err(error) => {
                tracing::warn!(%error, "the file of tokens cannot be read");
                Ok(Tokens::default())
            }
        };
        match tokens {
            Ok(tokens) if tokens.0.is_empty() => {
                tracing::warn!("there are no tokens: nobody may ask");
                self.tokens.store(Arc::new(tokens));
            }
            Ok(tokens) => {
                tracing::info!(tokens = tokens.0.len(), "the tokens were read");
                self.tokens.store(Arc::new(tokens));
            }
            Err(error) => {
                tracing::warn!(error, "the file of tokens makes no sense; the tokens stay as they were")
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp { changed: metadata.modified().ok()?, bytes: metadata.len() })
}

#[cfg(unix)]
fn warn_if_others_can_read(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        tracing::warn!(path = %path.display(), "other users of this machine can read the tokens: chmod 600");
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = "reading-0123456789";
    const ADMIN: &str = "governing-0123456789";

    #[test]
    fn a_token_has_the_role_of_its_line() {
        let tokens = Tokens::parse(&format!("# ours\n\n  read\t{READ}\r\nadmin {ADMIN}\n")).unwrap();
        assert_eq!(tokens.role(READ.as_bytes()), Some(Role::Read));
        assert_eq!(tokens.role(ADMIN.as_bytes()), Some(Role::Admin));
        for wrong in ["", "read", "reading-012345678", "reading-01234567890"] {
            assert_eq!(tokens.role(wrong.as_bytes()), None);
        }
        assert!(Role::Read < Role::Write && Role::Write < Role::Admin);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_without_showing_it() {
        for (text, reason) in [
            (format!("{READ} read"), "line 1: the first word is not a role; it must be read, write or admin"),
            ("\nread".to_owned(), "line 2: there must be one token behind the role"),
            (format!("read {READ} # mine"), "line 1: there must be one token behind the role"),
            ("read short".to_owned(), "line 1: the token has 5 characters; it must have from 16 to 1000"),
            (
                format!("read {READ}ü"),
                "line 1: a character of the token cannot stand in a header; letters, digits and signs of ASCII can",
            ),
            (format!("read {READ}\n\nadmin {READ}"), "line 3: the token of line 1 again"),
        ] {
            let message = Tokens::parse(&text).unwrap_err();
            assert_eq!(message, reason);
            assert!(!message.contains(READ));
        }
    }

    #[test]
    fn tokens_are_read_again_when_the_file_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let file = TokenFile::new(&path);
        assert_eq!(file.tokens().role(READ.as_bytes()), None);
        let look_again = || *file.looked.lock().unwrap() = None;
        fs::write(&path, format!("read {READ}\n")).unwrap();
        look_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
        fs::write(&path, "nonsense").unwrap();
        look_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
        fs::write(&path, format!("admin {ADMIN}\n")).unwrap();
        look_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), None);
        assert_eq!(file.tokens().role(ADMIN.as_bytes()), Some(Role::Admin));
    }

    #[test]
    fn a_file_that_is_gone_or_empty_has_no_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let full = format!("read {READ}\n");
        fs::write(&path, &full).unwrap();
        let file = TokenFile::new(&path);
        let empty = || fs::write(&path, "").unwrap();
        let without = || fs::write(&path, "# nobody\n").unwrap();
        let gone = || fs::remove_file(&path).unwrap();
        for change in [&empty as &dyn Fn(), &without, &gone] {
            fs::write(&path, &full).unwrap();
            *file.looked.lock().unwrap() = None;
            assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
            change();
            *file.looked.lock().unwrap() = None;
            assert_eq!(file.tokens().role(READ.as_bytes()), None);
        }
    }

    #[test]
    fn without_tokens_only_this_machine_may_be_listened_to() {
        let mut settings = ServeSettings::default();
        check(&settings).unwrap();
        settings.listen = "[::1]:80".parse().unwrap();
        check(&settings).unwrap();
        for address in ["0.0.0.0:80", "192.168.1.2:80", "[::]:80", "[2001:db8::1]:80"] {
            settings.listen = address.parse().unwrap();
            let message = check(&settings).unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("listen is {address}, which other machines can reach")),
                "{message}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        settings.tokens = Some(path.clone());
        assert!(check(&settings).unwrap_err().to_string().starts_with("tokens: "));
        fs::write(&path, "# none\n").unwrap();
        assert!(check(&settings).unwrap_err().to_string().ends_with("a line is a role and a token"));
        fs::write(&path, format!("read {READ}\n")).unwrap();
        check(&settings).unwrap();
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let settings = |origin: &str| ServeSettings {
            cors_origins: vec![origin.to_owned()],
            ..ServeSettings::default()
        };
        for good in ["https://example.org", "http://localhost:3000", "http://[::1]:80"] {
            check(&settings(good)).unwrap();
        }
        for bad in ["*", "null", "example.org", "https://example.org/", "https://", "https://a\r\nb"] {
            assert!(
                check(&settings(bad)).unwrap_err().to_string().contains("an origin is http:// or"),
                "{bad}"
            );
        }
    }
}
