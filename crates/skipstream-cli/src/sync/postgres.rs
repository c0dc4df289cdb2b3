//! A table of PostgreSQL with the extension pgvector.

use std::env;
use std::io;
use std::time::Duration;

use anyhow::{Context, Error, anyhow};
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PostgresAddress;
use super::store::{Failure, Outcome, Row, Store};
use super::tls;

/// A server that does not answer for this long is away.
const PATIENCE: Duration = Duration::from_secs(10);

/// The primary key is an index, whose entries have at most 2,704 bytes.
const LONGEST_WORD: usize = 2000;

const COLUMNS: [(&str, &str); 4] =
    [("word", "text"), ("count", "bigint"), ("vector", "vector"), ("digest", "bytea")];

pub struct Postgres {
    config: Config,
    table: String,
    /// For messages.
    name: String,
    tls: MakeRustlsConnect,
    /// `None` before the first use, and after the connection was lost.
    client: Option<Client>,
}

impl Postgres {
    /// A table that is reached on first use. The password is in PGPASSWORD.
    pub fn new(address: PostgresAddress) -> Result<Postgres, Error> {
        let name = address.to_string();
        let PostgresAddress { mut config, table, .. } = address;
        config.application_name("skipstream sync");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        // Without these, a server that vanished would be noticed after hours.
        config.keepalives_idle(PATIENCE).keepalives_interval(PATIENCE).keepalives_retries(3);
        config.tcp_user_timeout(3 * PATIENCE);
        if let (None, Ok(user)) = (config.get_user(), env::var("PGUSER")) {
            config.user(&user);
        }
        if let Ok(password) = env::var("PGPASSWORD") {
            config.password(password);
        }
        let tls = MakeRustlsConnect::new(tls::config().context("TLS")?);
        Ok(Postgres { config, table, name, tls, client: None })
    }

    /// Uses the connection, and gives it up if it was lost.
    fn with<T>(&mut self, work: impl FnOnce(&mut Client, &str) -> Result<T, postgres::Error>) -> Outcome<T> {
        let client = match &mut self.client {
            Some(client) => client,
            none => {
                let connect = || {
                    let mut client = self.config.connect(self.tls.clone())?;
                    client.batch_execute(&format!("SET lock_timeout = '{}s'", PATIENCE.as_secs()))?;
                    Ok(client)
                };
                none.insert(connect().map_err(|error| failure(&self.name, error))?)
            }
        };
        let result = work(client, &self.table);
        if client.is_closed() {
            self.client = None;
        }
        result.map_err(|error| failure(&self.name, error))
    }
}

impl Store for Postgres {
    fn exists(&mut self, dimensions: usize) -> Outcome<bool> {
        let columns = self.with(|client, table| {
            let columns = "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute \
                           WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped";
            client.query(columns, &[&table])
        })?;
        let columns: Vec<(String, String)> = columns.iter().map(|row| (row.get(0), row.get(1))).collect();
        if columns.is_empty() {
            return Ok(false);
        }
        check_columns(&columns, dimensions).with_context(|| self.name.clone())?;
        Ok(true)
    }

    fn create(&mut self, dimensions: usize) -> Outcome<()> {
        self.with(|client, _| client.batch_execute("CREATE EXTENSION IF NOT EXISTS vector")).map_err(
            |failure| match failure {
                Failure::Permanent(error) => Failure::Permanent(error.context(
                    "PostgreSQL needs the extension pgvector: install it on the server, and run \
                     `CREATE EXTENSION vector` in this database as its owner",
                )),
                temporary => temporary,
            },
        )?;
        self.with(|client, table| {
            client.batch_execute(&format!(
                "CREATE TABLE IF NOT EXISTS {table} (word text PRIMARY KEY, count bigint NOT NULL, \
                 vector vector({dimensions}) NOT NULL, digest bytea NOT NULL)"
            ))
        })
    }

    fn can_hold(&self, word: &str) -> bool {
        word.len() <= LONGEST_WORD && !word.contains('\0')
    }

    fn read(&mut self, see: &mut dyn FnMut(String, &[u8])) -> Outcome<()> {
        self.with(|client, table| {
            let query = format!("SELECT word, digest FROM {table}");
            let mut rows = client.query_raw(&query, None::<String>)?;
            while let Some(row) = rows.next()? {
                see(row.try_get(0)?, row.try_get(1)?);
            }
            Ok(())
        })
    }

    /// Rows are copied into a temporary table, which is several times faster than statements with parameters.
    fn write(&mut self, rows: &[Row<'_>]) -> Outcome<()> {
        self.with(|client, table| {
            let mut transaction = client.transaction()?;
            transaction.batch_execute(&format!(
                "CREATE TEMPORARY TABLE skipstream_batch ON COMMIT DROP \
                 AS SELECT word, count, vector, digest FROM {table} WITH NO DATA"
            ))?;
            let columns = transaction.prepare("SELECT word, count, vector, digest FROM skipstream_batch")?;
            let types: Vec<Type> = columns.columns().iter().map(|column| column.type_().clone()).collect();
            let copy = transaction.copy_in("COPY skipstream_batch FROM STDIN (FORMAT binary)")?;
            let mut copy = BinaryCopyInWriter::new(copy, &types);
            for row in rows {
                let count = i64::try_from(row.count).unwrap_or(i64::MAX);
                copy.write(&[&row.word, &count, &Vector(&row.vector), &row.digest.as_slice()])?;
            }
            copy.finish()?;
            transaction.batch_execute(&format!(
                "INSERT INTO {table} (word, count, vector, digest) SELECT * FROM skipstream_batch \
                 ON CONFLICT (word) DO UPDATE \
                 SET count = excluded.count, vector = excluded.vector, digest = excluded.digest"
            ))?;
            transaction.commit()
        })
    }

    fn delete(&mut self, words: &[String]) -> Outcome<()> {
        self.with(|client, table| {
            client.execute(&format!("DELETE FROM {table} WHERE word = ANY($1)"), &[&words])
        })?;
        Ok(())
    }
}

/// Checks that a table is ours, and for vectors of this length.
fn check_columns(columns: &[(String, String)], dimensions: usize) -> Result<(), Error> {
    let advice = "name another table, or drop this one";
    for (name, wanted) in COLUMNS {
        let Some((_, found)) = columns.iter().find(|(column, _)| column == name) else {
            return Err(anyhow!(
                "there is no column `{name}`, so it is not a table of this command; {advice}"
            ));
        };
        // A type outside the search path is written with its schema.
        let found = found.rsplit('.').next().unwrap_or(found);
        if found.split('(').next() != Some(wanted) {
            return Err(anyhow!("column `{name}` is of type `{found}` and not `{wanted}`; {advice}"));
        }
        if name == "vector" && found != format!("vector({dimensions})") {
            return Err(anyhow!(
                "its column is `{found}`, and the vectors have {dimensions} dimensions; {advice}"
            ));
        }
    }
    Ok(())
}

/// A vector in the binary form of pgvector: the number of dimensions, 16 unused bits, and the values.
#[derive(Debug)]
struct Vector<'a>(&'a [f32]);

impl ToSql for Vector<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let dimensions = u16::try_from(self.0.len())?;
        out.extend_from_slice(&dimensions.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        for value in self.0 {
            out.extend_from_slice(&value.to_be_bytes());
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "vector"
    }

    to_sql_checked!();
}

const WITHOUT_TLS: &str =
    ", or add `sslmode=disable` to the address if the server is on this machine or a trusted network";

/// Tells failures that pass from others.
fn failure(name: &str, error: postgres::Error) -> Failure {
    if let Some(cause) = error.as_db_error() {
        let message = match (cause.detail(), cause.hint()) {
            (Some(more), _) | (None, Some(more)) => format!("{}: {more}", cause.message()),
            (None, None) => cause.message().to_owned(),
        };
        let message = match *cause.code() {
            SqlState::INVALID_PASSWORD => format!("{message}; set PGPASSWORD"),
            _ => message,
        };
        let error = anyhow!("{name}: {message}");
        return if passes(cause.code()) { Failure::Temporary(error) } else { Failure::Permanent(error) };
    }
    let is_closed = error.is_closed();
    let error = Error::new(error).context(name.to_owned());
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()) {
        Some(cause) => Failure::of_connection(format!("{error:#}"), cause, WITHOUT_TLS),
        None if is_closed => Failure::Temporary(error),
        None if format!("{error:#}").contains("password missing") => {
            Failure::Permanent(anyhow!("{error:#}; set PGPASSWORD"))
        }
        None => Failure::Permanent(error),
    }
}

/// Connections lost, a server that starts or stops, too few resources, and conflicts with other transactions.
fn passes(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "40", "53", "57P"].iter().any(|class| code.starts_with(class))
        || code == SqlState::LOCK_NOT_AVAILABLE.code()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(columns: &[(&str, &str)]) -> String {
        let columns: Vec<(String, String)> =
            columns.iter().map(|&(name, kind)| (name.to_owned(), kind.to_owned())).collect();
        check_columns(&columns, 3).map_or_else(|error| error.to_string(), |()| "ours".to_owned())
    }

    #[test]
    fn a_table_of_something_else_is_refused() {
        let ours =
            [("word", "text"), ("count", "bigint"), ("vector", "public.vector(3)"), ("digest", "bytea")];
        assert_eq!(checked(&ours), "ours");
        assert_eq!(checked(&[&ours[..], &[("note", "text")]].concat()), "ours");
        assert!(checked(&ours[..3]).contains("no column `digest`"));
        assert!(checked(&[("word", "integer")]).contains("`word` is of type `integer` and not `text`"));
        let shorter = [ours[0], ours[1], ("vector", "vector(2)"), ours[3]];
        assert!(checked(&shorter).contains("`vector(2)`, and the vectors have 3 dimensions"));
    }

    #[test]
    fn a_vector_is_written_as_pgvector_reads_it() {
        let mut bytes = BytesMut::new();
        Vector(&[1.0, -2.0]).to_sql(&Type::BYTEA, &mut bytes).unwrap();
        assert_eq!(bytes[..], [0, 2, 0, 0, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    }

    #[test]
    fn a_server_that_stops_is_away_and_a_wrong_password_stays_wrong() {
        for code in [SqlState::ADMIN_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW, SqlState::T_R_DEADLOCK_DETECTED]
        {
            assert!(passes(&code), "{code:?}");
        }
        for code in [SqlState::INVALID_PASSWORD, SqlState::INSUFFICIENT_PRIVILEGE, SqlState::QUERY_CANCELED] {
            assert!(!passes(&code), "{code:?}");
        }
    }
}
