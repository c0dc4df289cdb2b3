//! Addresses of stores.
//!
//! Invariant: no message repeats an address before it is known to have no password.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use postgres::Config;

/// Where vectors go.
pub enum Address {
    Postgres(Box<PostgresAddress>),
    Qdrant(QdrantAddress),
}

/// A table of a PostgreSQL database.
pub struct PostgresAddress {
    pub config: Config,
    /// The table's name, quoted for SQL, with its schema if one was given.
    pub table: String,
    shown: String,
}

/// A collection of a Qdrant server.
pub struct QdrantAddress {
    /// The URL of the collection.
    pub url: String,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Postgres(address) => address.fmt(formatter),
            Address::Qdrant(address) => formatter.write_str(&address.url),
        }
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

const FORMS: &str = "postgres://USER@HOST/DATABASE?table=TABLE or http://HOST:6333/collections/NAME";

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Address> {
        let Some((scheme, rest)) = text.split_once("://") else {
            bail!("the address of the store has no scheme; write {FORMS}");
        };
        match scheme {
            "postgres" | "postgresql" => Ok(Address::Postgres(Box::new(postgres(scheme, rest)?))),
            "http" | "https" => Ok(Address::Qdrant(qdrant(scheme, rest)?)),
            // Anything else may be a password.
            _ if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                bail!("there is no store with addresses `{scheme}://`; write {FORMS}")
            }
            _ => bail!("the address of the store has no known scheme; write {FORMS}"),
        }
    }
}

/// The part before the last `@`, where a login would be.
fn login(rest: &str) -> Option<&str> {
    // A password may have an `@`, a `/` or a `?` that should have been encoded.
    rest.rsplit_once('@').map(|(login, _)| login)
}

const PASSWORD: &str = "the address of the store has a password, which everyone on this machine can see in the list of \
                        processes; leave it out, and set PGPASSWORD";

fn postgres(scheme: &str, rest: &str) -> Result<PostgresAddress> {
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameters = || query.split('&').filter(|parameter| !parameter.is_empty());
    ensure!(
        !login(rest).is_some_and(|login| login.contains(':')) && !query.contains("password="),
        "{PASSWORD}"
    );
    let mut tables = parameters().filter_map(|parameter| parameter.strip_prefix("table="));
    let table = tables.next();
    ensure!(tables.next().is_none(), "the address of the store names several tables; name one");
    let Some(table) = table.filter(|table| !table.is_empty()) else {
        bail!("the address of the store names no table; add `?table=words`");
    };
    let others: Vec<&str> = parameters().filter(|parameter| !parameter.starts_with("table=")).collect();
    let config = format!("{scheme}://{place}?{}", others.join("&"));
    let config: Config = config.parse().context("the address of the store is not one of PostgreSQL")?;
    ensure!(config.get_password().is_none(), "{PASSWORD}");
    ensure!(
        !config.get_hosts().is_empty() || !config.get_hostaddrs().is_empty(),
        "the address of the store names no host; write postgres://HOST/DATABASE?table=TABLE, or \
         postgres:///DATABASE?host=/run/postgresql&table=TABLE for a local socket"
    );
    Ok(PostgresAddress { config, table: quoted(table)?, shown: format!("{scheme}://{rest}") })
}

/// PostgreSQL cuts longer names, so that two would be one table.
const LONGEST_NAME: usize = 63;

/// `TABLE` or `SCHEMA.TABLE`, quoted.
fn quoted(table: &str) -> Result<String> {
    let parts: Vec<&str> = table.split('.').collect();
    let is_name = |part: &&str| {
        (1..=LONGEST_NAME).contains(&part.len())
            && part.chars().all(|character| character.is_alphanumeric() || character == '_')
    };
    ensure!(
        parts.len() <= 2 && parts.iter().all(is_name),
        "the table `{table}` is not a name; use at most {LONGEST_NAME} bytes of letters, digits and `_`, with a schema in front if needed: `app.words`"
    );
    Ok(parts.iter().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join("."))
}

fn qdrant(scheme: &str, rest: &str) -> Result<QdrantAddress> {
    ensure!(
        login(rest).is_none(),
        "the address of the store has a login, which Qdrant does not use; leave it out, and set QDRANT_API_KEY"
    );
    ensure!(
        !rest.contains(['?', '#']),
        "the address of the collection has a `?` or `#`; write {scheme}://HOST:6333/collections/NAME, and set \
         QDRANT_API_KEY if the server wants a key"
    );
    let rest = rest.trim_end_matches('/');
    let name = rest.rsplit_once("/collections/").filter(|(host, _)| !host.is_empty()).map(|(_, name)| name);
    match name {
        Some(name) if !name.is_empty() && !name.contains('/') => {
            Ok(QdrantAddress { url: format!("{scheme}://{rest}") })
        }
        _ => bail!("`{scheme}://{rest}` names no collection; write {scheme}://HOST:6333/collections/NAME"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        match text.parse::<Address>() {
            Ok(address) => panic!("{address}"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn a_table_is_separated_from_the_connection() {
        let Address::Postgres(address) =
            "postgres://me@db:5433/news?sslmode=require&table=app.words".parse().unwrap()
        else {
            panic!()
        };
        assert_eq!(address.table, "\"app\".\"words\"");
        assert_eq!(address.config.get_user(), Some("me"));
        assert_eq!(address.config.get_dbname(), Some("news"));
        assert_eq!(address.config.get_ports(), [5433]);
        assert_eq!(address.config.get_ssl_mode(), postgres::config::SslMode::Require);
    }

    #[test]
    fn a_local_socket_is_a_parameter() {
        let address = "postgres:///news?host=/run/postgresql&table=words".parse().unwrap();
        let Address::Postgres(address) = address else { panic!() };
        assert_eq!(address.config.get_hosts(), [postgres::config::Host::Unix("/run/postgresql".into())]);
    }

    #[test]
    fn a_collection_is_a_url() {
        for (text, url) in [
            ("http://localhost:6333/collections/words", "http://localhost:6333/collections/words"),
            ("https://h/behind/a/proxy/collections/words/", "https://h/behind/a/proxy/collections/words"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), url);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("localhost/words", "no scheme"),
            ("mysql://localhost/words", "no store with addresses `mysql://`"),
            ("postgres://localhost/db", "names no table"),
            ("postgres://localhost/db?table=", "names no table"),
            ("postgres://localhost/db?table=a.b.c", "`a.b.c` is not a name"),
            ("postgres://localhost/db?table=a\"b", "`a\"b` is not a name"),
            ("postgres://localhost/db?table=a&table=b", "several tables"),
            ("postgres:///db?table=words", "names no host"),
            ("postgres://localhost/db?color=red&table=words", "color"),
            ("http://localhost:6333", "names no collection"),
            ("http://localhost:6333/collections/", "names no collection"),
            ("http://localhost:6333/collections/a/points", "names no collection"),
            ("http:///collections/a", "names no collection"),
        ] {
            let error = error(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_that_postgresql_would_cut_is_refused() {
        let address = |n| format!("postgres://localhost/db?table={}", "a".repeat(n));
        assert!(address(63).parse::<Address>().is_ok());
        assert!(error(&address(64)).contains("at most 63 bytes"));
    }

    #[test]
    fn a_password_is_refused_and_not_shown() {
        for text in [
            "postgres://me:secret@localhost/db?table=words",
            "postgres://me:sec/ret@localhost/db?table=words",
            "postgres://localhost/db?table=words&password=secret",
            "postgres://localhost/db?table=words&passwor%64=secret",
            "me:secret@postgres://localhost/db",
            "http://me:secret@localhost:6333/collections/words",
            "http://localhost:6333/collections/words?api-key=secret",
            "mysql://me:secret@localhost/db",
            "me:secret@localhost/db",
        ] {
            let error = error(text);
            assert!(!error.contains("sec"), "{error}");
        }
    }
}
