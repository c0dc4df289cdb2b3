//! Tokens and roles.
//!
//! Each line of the token file is a role and a token: `write 3f1c…`. Only hashes of the tokens are kept in memory. The file
//! may change while the service runs: requests check it about once a second. If it has become invalid, the old tokens stay
//! valid and the log says so; if it is missing, empty or unreadable, no token is valid.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;

use crate::error::{Error, Result};
use crate::settings::ServeSettings;

/// What a token permits. Each role includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Query.
    Read,
    /// Send text and watch words.
    Write,
    /// Save and delete snapshots, write checkpoints.
    Admin,
}

impl Role {
    const ALL: [Role; 3] = [Role::Read, Role::Write, Role::Admin];

    /// The role with this name, as in the token file and the OpenAPI document.
    pub fn by_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    pub fn name(self) -> &'static str {
        ["read", "write", "admin"][self as usize]
    }
}

/// Checks the settings: without tokens the service listens on loopback only, and the token file and CORS origins must be
/// valid.
pub fn check(settings: &ServeSettings) -> Result<()> {
    for origin in &settings.cors_origin {
        if !is_origin(origin) {
            return Err(Error::Setting(format!(
                "invalid origin `{origin}` in cors_origin; an origin is http:// or https:// and a host, without a path"
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
                    "tokens: {path} has no tokens; each line must be a role and a token"
                )));
            }
            Ok(())
        }
        None if settings.listen.ip().is_loopback() => Ok(()),
        None => Err(Error::Setting(format!(
            "listen is {}, which other machines can reach; set tokens, or listen on a loopback address such as \
             127.0.0.1:{}",
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

/// Hashes of the tokens, with their roles.
#[derive(Debug, Default)]
pub struct Tokens(Vec<(blake3::Hash, Role)>);

/// Shorter tokens could be guessed.
const MIN_TOKEN_CHARACTERS: usize = 16;

/// Longer tokens may not fit into a header.
const MAX_TOKEN_CHARACTERS: usize = 1_000;

impl Tokens {
    pub fn read(path: &Path) -> Result<Tokens> {
        let error = |reason: String| Error::Setting(format!("tokens: {}: {reason}", path.display()));
        let text = fs::read(path).map_err(|reason| error(reason.to_string()))?;
        Tokens::parse(&text).map_err(error)
    }

    /// The tokens in a file. An error names the line but never shows it, since it may contain a token.
    fn parse(text: &[u8]) -> Result<Tokens, String> {
        let text = str::from_utf8(text).map_err(|_| "not valid UTF-8".to_owned())?;
        let mut tokens: Vec<(blake3::Hash, Role)> = Vec::new();
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = line.split_ascii_whitespace();
            let Some(role) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let role = Role::by_name(role)
                .ok_or_else(|| format!("line {number}: unknown role; it must be read, write or admin"))?;
            let (Some(token), None) = (words.next(), words.next()) else {
                return Err(format!("line {number}: expected one token after the role"));
            };
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("line {number}: the token must consist of visible ASCII characters"));
            }
            if !(MIN_TOKEN_CHARACTERS..=MAX_TOKEN_CHARACTERS).contains(&token.len()) {
                return Err(format!(
                    "line {number}: the token has {} characters; it must have from {MIN_TOKEN_CHARACTERS} to \
                     {MAX_TOKEN_CHARACTERS}",
                    token.len()
                ));
            }
            let hash = blake3::hash(token.as_bytes());
            if let Some(index) = tokens.iter().position(|&(other, _)| other == hash) {
                return Err(format!("line {number}: repeats the token of line {}", lines[index]));
            }
            tokens.push((hash, role));
            lines.push(number);
        }
        Ok(Tokens(tokens))
    }

    /// The role of a token. Compares hashes in constant time, and always all of them, so that timing reveals nothing.
    pub fn role(&self, token: &[u8]) -> Option<Role> {
        let hash = blake3::hash(token);
        self.0.iter().fold(None, |found, &(known, role)| if known == hash { Some(role) } else { found })
    }
}

/// A token file that is reloaded when it changes.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    tokens: ArcSwap<Tokens>,
    /// When the file was checked, and how it was then.
    checked: Mutex<Option<(Instant, Option<Stamp>)>>,
}

/// The modification time and length of a file.
type Stamp = (SystemTime, u64);

/// Interval between checks: a token that is removed from the file is rejected after this time.
const CHECK_EVERY: Duration = Duration::from_secs(1);

impl TokenFile {
    /// The tokens of a file. While it cannot be read, no token is valid.
    pub fn new(path: &Path) -> TokenFile {
        let file = TokenFile { path: path.to_owned(), tokens: ArcSwap::default(), checked: Mutex::new(None) };
        file.reload();
        file
    }

    pub fn tokens(&self) -> Arc<Tokens> {
        self.reload();
        self.tokens.load_full()
    }

    fn reload(&self) {
        // Other threads use the old tokens while one reloads them.
        let Ok(mut checked) = self.checked.try_lock() else { return };
        if checked.is_some_and(|(when, _)| when.elapsed() < CHECK_EVERY) {
            return;
        }
        let stamp = fs::metadata(&self.path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        let before = checked.replace((Instant::now(), stamp));
        if before.is_some_and(|(_, before)| before == stamp) {
            return;
        }
        // Removing or emptying the file revokes all tokens; a mistyped line does not.
        let tokens = match fs::read(&self.path) {
            Ok(text) => Tokens::parse(&text),
            Err(error) => {
                tracing::warn!(%error, "cannot read the token file");
                Ok(Tokens::default())
            }
        };
        match tokens {
            Ok(tokens) => {
                match tokens.0.len() {
                    0 => tracing::warn!("there are no tokens: all requests are rejected"),
                    n => tracing::info!(tokens = n, "loaded the tokens"),
                }
                self.tokens.store(Arc::new(tokens));
            }
            Err(error) => tracing::warn!(error, "the token file is invalid; the old tokens stay valid"),
        }
    }
}

#[cfg(unix)]
fn warn_if_others_can_read(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o007 != 0) {
        tracing::warn!(path = %path.display(), "all users can read the token file; run chmod o-rwx");
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
        let tokens =
            Tokens::parse(format!("# ours\n\n  read\t{READ}\r\nadmin {ADMIN}\n").as_bytes()).unwrap();
        assert_eq!(tokens.role(READ.as_bytes()), Some(Role::Read));
        assert_eq!(tokens.role(ADMIN.as_bytes()), Some(Role::Admin));
        for wrong in ["", "read", "reading-012345678", "reading-01234567890"] {
            assert_eq!(tokens.role(wrong.as_bytes()), None);
        }
        assert!(Role::Read < Role::Write && Role::Write < Role::Admin);
    }

    #[test]
    fn errors_name_the_line_without_showing_it() {
        for (text, reason) in [
            (format!("{READ} read"), "line 1: unknown role; it must be read, write or admin"),
            ("\nread".to_owned(), "line 2: expected one token after the role"),
            (format!("read {READ} # mine"), "line 1: expected one token after the role"),
            ("read short".to_owned(), "line 1: the token has 5 characters; it must have from 16 to 1000"),
            (format!("read {READ}ü"), "line 1: the token must consist of visible ASCII characters"),
            (format!("read {READ}\n\nadmin {READ}"), "line 3: repeats the token of line 1"),
        ] {
            let message = Tokens::parse(text.as_bytes()).unwrap_err();
            assert_eq!(message, reason);
            assert!(!message.contains(READ));
        }
    }

    #[test]
    fn a_changed_file_is_reloaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let file = TokenFile::new(&path);
        assert_eq!(file.tokens().role(READ.as_bytes()), None);
        let check_again = || *file.checked.lock().unwrap() = None;
        fs::write(&path, format!("read {READ}\n")).unwrap();
        check_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
        fs::write(&path, "nonsense").unwrap();
        check_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
        fs::write(&path, format!("admin {ADMIN}\n")).unwrap();
        check_again();
        assert_eq!(file.tokens().role(READ.as_bytes()), None);
        assert_eq!(file.tokens().role(ADMIN.as_bytes()), Some(Role::Admin));
    }

    #[test]
    fn a_missing_or_empty_file_has_no_tokens() {
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
            *file.checked.lock().unwrap() = None;
            assert_eq!(file.tokens().role(READ.as_bytes()), Some(Role::Read));
            change();
            *file.checked.lock().unwrap() = None;
            assert_eq!(file.tokens().role(READ.as_bytes()), None);
        }
    }

    #[test]
    fn without_tokens_only_loopback_is_allowed() {
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
        assert!(check(&settings).unwrap_err().to_string().ends_with("each line must be a role and a token"));
        fs::write(&path, format!("read {READ}\n")).unwrap();
        check(&settings).unwrap();
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let settings =
            |origin: &str| ServeSettings { cors_origin: vec![origin.to_owned()], ..ServeSettings::default() };
        for good in ["https://example.org", "http://localhost:3000", "http://[::1]:80"] {
            check(&settings(good)).unwrap();
        }
        for bad in ["*", "null", "example.org", "https://example.org/", "https://", "https://a\r\nb"] {
            assert!(check(&settings(bad)).unwrap_err().to_string().starts_with("invalid origin"), "{bad}");
        }
    }
}
