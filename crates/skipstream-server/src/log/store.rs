//! The file of the log, and every statement that is made about it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, ffi, params};

use super::chunk::{Chunk, from_microseconds};
use super::key::{Earlier, IdempotencyKey, KeyUpdate};
use crate::error::{Error, Result};
use crate::published::Seq;

/// "skst": tells our file from those of other programs.
const APPLICATION: i32 = 0x736b_7374;

/// The version of the tables. A reader refuses others.
const VERSION: i32 = 1;

/// Pages of 8 KiB: a chunk of text fills dozens of them, and a single line writes only a few.
const PAGE_BYTES: u64 = 8 << 10;

/// Pages that may be free in the file, for text to come; more than those are given back to the system.
const SPARE_PAGES: u64 = (32 << 20) / PAGE_BYTES;

/// So many keys are remembered, the newest, each for so long.
const KEYS: i64 = 100_000;
const KEY_DAYS: i64 = 7;

/// What stands before the text in a row is found without reading the text, which lies on pages of its own.
const TABLES: &str = "
    CREATE TABLE chunks (
        first INTEGER PRIMARY KEY, -- the number of its first line
        lines INTEGER NOT NULL,
        bytes INTEGER NOT NULL,    -- of text and times, as they count in the queue
        arrived INTEGER NOT NULL,  -- microseconds since 1970
        checksum BLOB NOT NULL,    -- BLAKE3 of text and times
        times BLOB NOT NULL,       -- empty, or microseconds of each line
        text BLOB NOT NULL
    );
    -- The number of the next line outlives the lines.
    CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1), next INTEGER NOT NULL);
    INSERT INTO counter VALUES (1, 1);
    CREATE TABLE keys (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        hash BLOB NOT NULL,
        complete INTEGER NOT NULL,
        time INTEGER NOT NULL
    );
    CREATE TABLE sources (name TEXT PRIMARY KEY, position TEXT NOT NULL);
";

/// A connection to the file.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
}

/// Lines as they were logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The number of the first line.
    pub first: Seq,
    /// When they arrived.
    pub arrived: Timestamp,
    /// The lines, with the times that were given.
    pub chunk: Chunk,
    /// What they count in the queue, as it was written down with them.
    pub weight: u64,
}

/// What is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// The number of the last line; 0 before the first.
    pub last: Seq,
    /// The number of the first line that is still there.
    pub first: Seq,
    /// Bytes of text.
    pub bytes: u64,
}

impl Store {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Store> {
        let store = Store::connect(path)?;
        store.prepare().map_err(|error| store.unusable(error))?;
        store.check_kind()?;
        Ok(store)
    }

    /// A second connection, for reading while the first writes.
    pub fn connect(path: &Path) -> Result<Store> {
        let unusable = |error| Error::LogFile { path: path.to_owned(), source: error };
        let connection = Connection::open(path).map_err(unusable)?;
        // A reader may meet the moment in which the writer starts its file of changes anew.
        connection.busy_timeout(Duration::from_secs(10)).map_err(unusable)?;
        Ok(Store { connection, path: path.to_owned() })
    }

    /// Makes the tables of a new file, and says what holds for this connection. Nothing is written into a file that is there:
    /// a service must start where the disk is full.
    fn prepare(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        let is_new: bool =
            connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
        if is_new {
            // Before the first table.
            connection.pragma_update(None, "page_size", PAGE_BYTES)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
        }
        // The answer to who sent text means that it is on disk, so every transaction is synced.
        connection.pragma_update(None, "synchronous", "FULL")?;
        // 16 MiB of changes are moved into the file at a time, and the file of changes does not stay larger than this.
        connection.pragma_update(None, "wal_autocheckpoint", (16 << 20) / PAGE_BYTES)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        if is_new {
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT"
            ))?;
        }
        Ok(())
    }

    /// Refuses files of other programs and versions.
    fn check_kind(&self) -> Result<()> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let application = number("application_id").map_err(|error| self.unusable(error))?;
        let version = number("user_version").map_err(|error| self.unusable(error))?;
        if application != APPLICATION {
            return Err(self.foreign("this is a database of another program".to_owned()));
        }
        if version != VERSION {
            return Err(
                self.foreign(format!("the log has version {version}; this program reads version {VERSION}"))
            );
        }
        Ok(())
    }

    /// What is in the file.
    pub fn contents(&self) -> Result<Contents> {
        let contents = self.connection.query_row(
            "SELECT next, coalesce((SELECT min(first) FROM chunks), next),
                 coalesce((SELECT sum(bytes) FROM chunks), 0) FROM counter",
            [],
            |row| Ok(Contents { last: row.get::<_, Seq>(0)? - 1, first: row.get(1)?, bytes: row.get(2)? }),
        );
        contents.map_err(|error| self.unusable(error))
    }

    /// Does several things at once: all of them, or none.
    pub fn transaction<T>(&self, act: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        // One that could not be rolled back would stand in the way of all that come.
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(|error| self.unusable(error))?;
        }
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        begun.map_err(|error| self.unusable(error))?;
        let done = act(self).and_then(|done| {
            self.connection.execute_batch("COMMIT").map_err(|error| self.unusable(error))?;
            Ok(done)
        });
        // A full disk may have ended the transaction already.
        if done.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(|error| self.unusable(error))?;
        }
        done
    }

    /// Numbers lines and writes them down, within a transaction.
    pub fn append(&self, chunk: &Chunk, arrived: Timestamp) -> Result<(Seq, Seq)> {
        let lines = chunk.lines() as u64;
        let times = times_to_bytes(&chunk.times);
        let appended = (|| {
            let mut next =
                self.connection.prepare_cached("UPDATE counter SET next = next + ?1 RETURNING next")?;
            let next: Seq = next.query_row([lines], |row| row.get(0))?;
            let first = next - lines;
            let mut insert =
                self.connection.prepare_cached("INSERT INTO chunks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
            insert.execute(params![
                first,
                lines,
                chunk.weight(),
                arrived.as_microsecond(),
                checksum(&chunk.text, &times),
                times,
                chunk.text
            ])?;
            Ok((first, next - 1))
        })();
        appended.map_err(|error| self.unusable(error))
    }

    /// The lines from the one with this number on, as they were logged together; nothing where it is not there yet.
    pub fn chunk_with(&self, seq: Seq) -> Result<Option<Logged>> {
        let found = (|| {
            let mut statement = self.connection.prepare_cached(
                "SELECT first, lines, bytes, arrived, checksum, times, text FROM chunks
                 WHERE first >= coalesce((SELECT max(first) FROM chunks WHERE first <= ?1), 0)
                 ORDER BY first LIMIT 1",
            )?;
            let row = statement.query_row([seq], |row| {
                let (first, lines, weight): (Seq, u64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let (arrived, checksum): (i64, Vec<u8>) = (row.get(3)?, row.get(4)?);
                let (times, text): (Vec<u8>, Vec<u8>) = (row.get(5)?, row.get(6)?);
                Ok((first, lines, weight, arrived, checksum, times, text))
            });
            row.optional()
        })();
        let found = found.map_err(|error| self.unusable(error))?;
        let Some((first, lines, weight, arrived, sum, times, text)) = found else { return Ok(None) };
        if first + lines <= seq {
            return Ok(None);
        }
        if first > seq {
            return Err(
                self.foreign(format!("line {seq} is missing; the first that is there is line {first}"))
            );
        }
        let damaged = || self.foreign(format!("the lines from number {first} on are damaged"));
        if checksum(&text, &times)[..] != sum {
            return Err(damaged());
        }
        let arrived = from_microseconds(arrived);
        let chunk = Chunk { text, times: times_from_bytes(&times).ok_or_else(damaged)? };
        Ok(Some(Logged { first, arrived, chunk, weight }))
    }

    /// Bytes of the chunks that begin behind one line and end before another.
    pub fn bytes_between(&self, behind: Seq, before: Seq) -> Result<u64> {
        let sum = "SELECT coalesce(sum(bytes), 0) FROM chunks WHERE first > ?1 AND first + lines <= ?2";
        let bytes = self.connection.query_row(sum, [behind, before], |row| row.get(0));
        bytes.map_err(|error| self.unusable(error))
    }

    /// Deletes at most `most` chunks whose lines have numbers up to `through`. The result is how many, and their bytes.
    pub fn forget(&self, through: Seq, most: usize) -> Result<(usize, u64)> {
        let forgotten = (|| {
            let mut statement = self.connection.prepare_cached(
                "DELETE FROM chunks WHERE first IN
                     (SELECT first FROM chunks WHERE first <= ?1 AND first + lines - 1 <= ?1 ORDER BY first LIMIT ?2)
                 RETURNING bytes",
            )?;
            let bytes = statement.query_map(params![through, most], |row| row.get::<_, u64>(0))?;
            bytes.collect::<rusqlite::Result<Vec<u64>>>()
        })();
        let forgotten = forgotten.map_err(|error| self.unusable(error))?;
        Ok((forgotten.len(), forgotten.iter().sum()))
    }

    /// Gives some free pages back to the system, if there are more than should stay. Whether there may be still more.
    pub fn shrink(&self, most: u64) -> Result<bool> {
        let shrunk = (|| {
            let free: u64 = self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            if free <= SPARE_PAGES {
                return Ok(false);
            }
            let pages = (free - SPARE_PAGES).min(most);
            let mut statement = self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            // Each step frees a page.
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(true)
        })();
        shrunk.map_err(|error| self.unusable(error))
    }

    /// What was logged under a key.
    pub fn key(&self, key: &IdempotencyKey) -> Result<Option<Earlier>> {
        let found = (|| {
            let mut statement = self
                .connection
                .prepare_cached("SELECT first, last, lines, hash, complete FROM keys WHERE key = ?1")?;
            let earlier = statement.query_row([key.as_str()], |row| {
                let (first, last, lines) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Earlier { first, last, lines, hash: row.get(3)?, complete: row.get(4)? })
            });
            earlier.optional()
        })();
        found.map_err(|error| self.unusable(error))
    }

    /// Remembers what was logged under a key, within a transaction: it is the newest then. `numbers` are those of the lines that are new.
    pub fn set_key(&self, update: &KeyUpdate, numbers: Option<(Seq, Seq)>, now: Timestamp) -> Result<()> {
        let KeyUpdate { key, lines, hash, complete } = update;
        let time = now.as_microsecond();
        let set = (|| match numbers {
            Some((first, last)) => {
                let mut statement = self.connection.prepare_cached(
                    "INSERT INTO keys (key, first, last, lines, hash, complete, time)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT (key) DO UPDATE SET id = (SELECT max(id) FROM keys) + 1,
                         last = ?3, lines = ?4, hash = ?5, complete = ?6, time = ?7",
                )?;
                statement.execute(params![key.as_str(), first, last, lines, &hash[..], complete, time])
            }
            None => {
                let mut statement = self
                    .connection
                    .prepare_cached("UPDATE keys SET complete = ?2, time = ?3 WHERE key = ?1")?;
                statement.execute(params![key.as_str(), complete, time])
            }
        })();
        set.map(|_| ()).map_err(|error| self.unusable(error))
    }

    /// Forgets keys that are too old, or too many.
    pub fn forget_keys(&self, now: Timestamp) -> Result<()> {
        let oldest = now.as_microsecond() - KEY_DAYS * 24 * 3600 * 1_000_000;
        let forgotten = self.connection.execute(
            "DELETE FROM keys WHERE id <= (SELECT max(id) FROM keys) - ?1 OR time < ?2",
            params![KEYS, oldest],
        );
        forgotten.map(|_| ()).map_err(|error| self.unusable(error))
    }

    /// How far a source was read, in its own words.
    pub fn source(&self, name: &str) -> Result<Option<String>> {
        let found =
            self.connection
                .query_row("SELECT position FROM sources WHERE name = ?1", [name], |row| row.get(0));
        found.optional().map_err(|error| self.unusable(error))
    }

    /// Remembers how far a source was read, within a transaction.
    pub fn set_source(&self, name: &str, position: &str) -> Result<()> {
        let set = self.connection.execute(
            "INSERT INTO sources VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET position = ?2",
            [name, position],
        );
        set.map(|_| ()).map_err(|error| self.unusable(error))
    }

    /// What an error of the database means for a caller.
    fn unusable(&self, error: rusqlite::Error) -> Error {
        // Without room, the memory that connections share cannot grow either. A write that fails otherwise is most often
        // beyond a quota; what else it may be (a broken disk) the caller can do as little about, and may try again.
        let is_full = matches!(&error, rusqlite::Error::SqliteFailure(failure, _)
            if failure.code == ErrorCode::DiskFull
                || matches!(failure.extended_code, ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_WRITE));
        if is_full { Error::DiskFull } else { Error::LogFile { path: self.path.clone(), source: error } }
    }

    fn foreign(&self, reason: String) -> Error {
        Error::Data { path: self.path.clone(), reason }
    }

    /// Limits the file to so many pages, as a full disk would.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: u64) {
        self.connection.pragma_update(None, "max_page_count", pages).unwrap();
    }

    /// A number that the database tells of itself.
    #[cfg(test)]
    pub fn number(&self, name: &str) -> u64 {
        self.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    }
}

fn checksum(text: &[u8], times: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text).update(times);
    *hasher.finalize().as_bytes().first_chunk().expect("a hash has 32 bytes")
}

/// A line without a time has the lowest number, which is no time.
fn times_to_bytes(times: &[Option<Timestamp>]) -> Vec<u8> {
    let numbers = times.iter().map(|time| time.map_or(i64::MIN, Timestamp::as_microsecond));
    numbers.flat_map(i64::to_le_bytes).collect()
}

fn times_from_bytes(bytes: &[u8]) -> Option<Vec<Option<Timestamp>>> {
    let (numbers, rest) = bytes.as_chunks();
    let time = |number: &[u8; 8]| match i64::from_le_bytes(*number) {
        i64::MIN => None,
        number => Some(from_microseconds(number)),
    };
    rest.is_empty().then(|| numbers.iter().map(time).collect())
}
