//! The log's database file and all SQL statements.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use skipstream::corpus::Sentence;
use skipstream::vocabulary::Control;

use super::chunk::{Chunk, from_microseconds};
use super::controls::{ControlId, LoggedControls};
use super::files::LogFiles;
use super::key::{Earlier, IdempotencyKey, KeyUpdate};
use super::mark::{Commit, MARK, Mark};
#[cfg(feature = "brokers")]
use super::outbox::{MAX_MESSAGES, Message};
use crate::error::{Error, Result};
use crate::forgotten::Forgotten;
use crate::published::Seq;

/// "skst" marks the file as ours.
const APPLICATION: i32 = 0x736b_7374;

/// Version of the tables. Files of other versions are rejected.
const VERSION: i32 = 5;

/// Pages of 8 KiB: a chunk of text fills dozens of them, and a single line writes only a few.
pub(super) const PAGE_BYTES: u64 = 8 << 10;

/// Free pages to keep in the file for future text; more are returned to the system.
const SPARE_PAGES: u64 = (32 << 20) / PAGE_BYTES;

/// How long a connection waits for the others.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Number and age of the idempotency keys to keep.
const KEYS: i64 = 100_000;
const KEY_DAYS: i64 = 7;

/// The text is the last column: the others can be read without it.
const TABLES: &str = "
    CREATE TABLE chunks (
        first INTEGER PRIMARY KEY, -- the number of its first line
        lines INTEGER NOT NULL,
        bytes INTEGER NOT NULL,    -- of text, times and weights, as they count in the queue
        arrived INTEGER NOT NULL,  -- microseconds since 1970
        checksum BLOB NOT NULL,    -- BLAKE3 of text, times and weights
        times BLOB NOT NULL,       -- empty, or microseconds of each line
        weights BLOB NOT NULL,     -- empty, or a float of each line
        text BLOB NOT NULL
    );
    -- The number of the next line outlives the lines. Commits are counted to compare the log with its mark.
    CREATE TABLE counter (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        next INTEGER NOT NULL,
        commits INTEGER NOT NULL
    );
    INSERT INTO counter VALUES (1, 1, 0);
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
    -- Controls of words. Their numbers are never reused: the model has the last that it carried out.
    CREATE TABLE controls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        after INTEGER NOT NULL, -- the line after which they act
        controls TEXT NOT NULL  -- JSON
    );
    -- Messages that a broker does not have yet. Their numbers are never reused.
    CREATE TABLE outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        body TEXT NOT NULL -- JSON
    );
";

/// The columns of a [`Commit`] in the table `counter`.
const COMMIT: &str =
    "commits, next - 1, (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'controls')";

/// A connection to the file.
#[derive(Debug)]
pub(super) struct Store {
    /// Closed before the files: see [`LogFiles`].
    connection: Connection,
    files: LogFiles,
    /// Of the connection that writes.
    mark: Option<Mark>,
}

/// A chunk as it was logged.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// The number of the first line.
    pub first: Seq,
    pub arrived: Timestamp,
    /// The lines, with the times that were given.
    pub chunk: Chunk,
    /// Its weight in the queue, as stored.
    pub weight: u64,
}

/// What the file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// The number of the last line; 0 before the first.
    pub last: Seq,
    /// The number of the first line that was not deleted.
    pub first: Seq,
    /// Bytes of text and times.
    pub bytes: u64,
}

impl Store {
    /// Opens or creates the file. It is refused if it has lost what its mark says, unless lines up to `accepted_loss` may be
    /// lost.
    pub fn open(path: &Path, accepted_loss: Option<Seq>) -> Result<Store> {
        let connection = connect(path)?;
        // Until it is accepted, the write-ahead log is the only trace of what is lost.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let refused = |reason| Error::Data { path: path.to_owned(), reason };
        let (mark, marked) = Mark::open(&path.with_file_name(MARK))?;
        let is_new =
            connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
        let found = if is_new {
            Commit::default()
        } else {
            check_kind(&connection)?.map_or(Ok(()), |reason| Err(refused(reason)))?;
            connection.query_row(&format!("SELECT {COMMIT} FROM counter"), [], commit)?
        };
        let lost = found.lost(marked);
        let last = marked.last.max(found.last);
        if let Some(lost) = &lost
            && accepted_loss != Some(last)
        {
            return Err(refused(format!(
                "acknowledged text is lost: {lost}; log.sqlite-wal is damaged, or a file was replaced; restore the data \
                 folder, or start with --accept-loss {last} to go on without it"
            )));
        }
        prepare(&connection, is_new)?;
        // SQLite creates its files only when it uses them.
        let store = Store { connection, files: LogFiles::open(path)?, mark: Some(mark) };
        if let Some(lost) = lost {
            store.transaction(|store| store.catch_up_with(found, marked))?;
            tracing::warn!("going on without what was lost: {lost}");
        }
        store.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        Ok(store)
    }

    /// A second connection, for reading while the first writes.
    pub fn connect(files: &LogFiles) -> Result<Store> {
        Ok(Store { connection: connect(files.path())?, files: files.clone(), mark: None })
    }

    /// Takes all numbers up to those of a lost commit, so that none is given out again: those of lines are blank lines now.
    /// Within a transaction.
    fn catch_up_with(&self, found: Commit, lost: Commit) -> Result<()> {
        let mut missing = lost.last.saturating_sub(found.last);
        while missing > 0 {
            let lines = missing.min(Chunk::BYTES as u64);
            let text = vec![b'\n'; lines as usize];
            self.append(&Chunk { text, ..Chunk::default() }, Timestamp::now())?;
            missing -= lines;
        }
        self.connection.execute("UPDATE counter SET commits = ?1", [lost.number])?;
        self.connection.execute("DELETE FROM sqlite_sequence WHERE name = 'controls'", [])?;
        let controls = lost.controls.max(found.controls);
        self.connection.execute("INSERT INTO sqlite_sequence VALUES ('controls', ?1)", [controls])?;
        Ok(())
    }

    /// What the file contains.
    pub fn contents(&self) -> Result<Contents> {
        Ok(self.connection.query_row(
            "SELECT next, coalesce((SELECT min(first) FROM chunks), next),
                 coalesce((SELECT sum(bytes) FROM chunks), 0) FROM counter",
            [],
            |row| Ok(Contents { last: row.get::<_, Seq>(0)? - 1, first: row.get(1)?, bytes: row.get(2)? }),
        )?)
    }

    /// The files.
    pub fn files(&self) -> &LogFiles {
        &self.files
    }

    /// Runs `act` in a transaction.
    pub fn transaction<T>(&self, act: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        // A transaction whose rollback failed would block all others.
        self.roll_back()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = act(self).and_then(|done| {
            let count = format!("UPDATE counter SET commits = commits + 1 RETURNING {COMMIT}");
            let commit = self.connection.prepare_cached(&count)?.query_row([], commit)?;
            self.connection.execute_batch("COMMIT")?;
            self.check()?;
            if let Some(mark) = &self.mark {
                mark.write(commit);
            }
            Ok(done)
        });
        if done.is_err() {
            self.roll_back()?;
        }
        done
    }

    /// Checks that what was committed is in the files that the next start will find.
    fn check(&self) -> Result<()> {
        let pages: u64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        self.files.check_written(pages * PAGE_BYTES)
    }

    /// Ends an open transaction. A full disk may have ended it already.
    fn roll_back(&self) -> Result<()> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    /// Numbers lines and writes them, within a transaction.
    pub fn append(&self, chunk: &Chunk, arrived: Timestamp) -> Result<(Seq, Seq)> {
        let lines = chunk.lines() as u64;
        let times = times_to_bytes(&chunk.times);
        let weights: Vec<u8> = chunk.line_weights.iter().copied().flat_map(f32::to_le_bytes).collect();
        let mut next =
            self.connection.prepare_cached("UPDATE counter SET next = next + ?1 RETURNING next")?;
        let next: Seq = next.query_row([lines], |row| row.get(0))?;
        let first = next - lines;
        let mut insert =
            self.connection.prepare_cached("INSERT INTO chunks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        insert.execute(params![
            first,
            lines,
            chunk.weight(),
            arrived.as_microsecond(),
            checksum(&chunk.text, &times, &weights),
            times,
            weights,
            chunk.text
        ])?;
        Ok((first, next - 1))
    }

    /// Writes controls that act after the last line, within a transaction. Returns their number and that of the line.
    pub fn append_controls(&self, controls: &[Control]) -> Result<(ControlId, Seq)> {
        let json = serde_json::to_string(controls).map_err(|error| Error::Failed(error.to_string()))?;
        let insert =
            "INSERT INTO controls (after, controls) SELECT next - 1, ?1 FROM counter RETURNING id, after";
        Ok(self.connection.query_row(insert, [json], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// The controls that were not deleted, in order.
    pub fn controls(&self) -> Result<Vec<LoggedControls>> {
        let mut statement =
            self.connection.prepare("SELECT id, after, controls FROM controls ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<(ControlId, Seq, String)>>>()?;
        let parse = |(id, after, json): (ControlId, Seq, String)| {
            let controls = serde_json::from_str(&json)
                .map_err(|_| self.invalid(format!("the controls with number {id} are corrupt")))?;
            Ok(LoggedControls { id, after, controls, answer: None })
        };
        rows.into_iter().map(parse).collect()
    }

    /// Leaves nothing of controls up to this number but their entries.
    pub fn empty_controls(&self, through: ControlId) -> Result<()> {
        self.connection.execute("UPDATE controls SET controls = '[]' WHERE id <= ?1", [through])?;
        self.check()
    }

    /// Deletes controls up to this number.
    pub fn forget_controls(&self, through: ControlId) -> Result<()> {
        self.connection.execute("DELETE FROM controls WHERE id <= ?1", [through])?;
        self.check()
    }

    /// Deletes messages whose data name a forgotten word.
    pub fn forget_messages(&self, forgotten: &Forgotten) -> Result<()> {
        let mut select = self.connection.prepare("SELECT number, body ->> '$.data' FROM outbox")?;
        let mut rows = select.query([])?;
        let mut numbers: Vec<u64> = Vec::new();
        while let Some(row) = rows.next()? {
            let data: Option<String> = row.get(1)?;
            if data.is_none_or(|data| forgotten.is_in(&data)) {
                numbers.push(row.get(0)?);
            }
        }
        let mut delete = self.connection.prepare("DELETE FROM outbox WHERE number = ?1")?;
        for number in numbers {
            delete.execute([number])?;
        }
        self.check()
    }

    /// Rewrites the whole file. Deleted text would otherwise stay in free pages and in the write-ahead log.
    pub fn rewrite(&self) -> Result<()> {
        self.connection.execute_batch("VACUUM")?;
        let is_busy =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
        self.check()?;
        if is_busy { Err(self.invalid("another connection is reading the log".to_owned())) } else { Ok(()) }
    }

    /// The chunk that contains a line; `None` at the end of the log.
    pub fn chunk_with(&self, seq: Seq) -> Result<Option<Logged>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT first, lines, bytes, arrived, checksum, times, weights, text FROM chunks
             WHERE first >= coalesce((SELECT max(first) FROM chunks WHERE first <= ?1), 0)
             ORDER BY first LIMIT 1",
        )?;
        let found = statement.query_row([seq], |row| {
            let (first, lines, weight): (Seq, u64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (arrived, checksum): (i64, Vec<u8>) = (row.get(3)?, row.get(4)?);
            let (times, weights): (Vec<u8>, Vec<u8>) = (row.get(5)?, row.get(6)?);
            let text: Vec<u8> = row.get(7)?;
            Ok((first, lines, weight, arrived, checksum, times, weights, text))
        });
        let Some((first, lines, weight, arrived, sum, times, weights, text)) = found.optional()? else {
            return Ok(None);
        };
        if first + lines <= seq {
            return Ok(None);
        }
        if first > seq {
            return Err(self.invalid(format!("line {seq} is missing; the first line is {first}")));
        }
        let damaged = || self.invalid(format!("the lines from number {first} are corrupt"));
        if checksum(&text, &times, &weights)[..] != sum {
            return Err(damaged());
        }
        let arrived = from_microseconds(arrived);
        let times = times_from_bytes(&times).ok_or_else(damaged)?;
        let line_weights = weights_from_bytes(&weights).ok_or_else(damaged)?;
        let chunk = Chunk { text, times, line_weights };
        if !chunk.is_whole() || chunk.lines() as u64 != lines {
            return Err(damaged());
        }
        Ok(Some(Logged { first, arrived, chunk, weight }))
    }

    /// Bytes of the chunks that begin after one line and end before another.
    pub fn bytes_between(&self, after: Seq, before: Seq) -> Result<u64> {
        let sum = "SELECT coalesce(sum(bytes), 0) FROM chunks WHERE first > ?1 AND first + lines <= ?2";
        Ok(self.connection.query_row(sum, [after, before], |row| row.get(0))?)
    }

    /// Deletes at most `most` chunks whose lines all have numbers up to `through`. Returns their number and bytes.
    pub fn forget(&self, through: Seq, most: usize) -> Result<(usize, u64)> {
        let mut statement = self.connection.prepare_cached(
            "DELETE FROM chunks WHERE first IN
                 (SELECT first FROM chunks WHERE first <= ?1 AND first + lines - 1 <= ?1 ORDER BY first LIMIT ?2)
             RETURNING bytes",
        )?;
        let bytes = statement.query_map(params![through, most], |row| row.get::<_, u64>(0))?;
        let bytes = bytes.collect::<rusqlite::Result<Vec<u64>>>()?;
        self.check()?;
        Ok((bytes.len(), bytes.iter().sum()))
    }

    /// Returns up to `most` free pages beyond the spare ones to the system, and whether there may be more.
    pub fn shrink(&self, most: u64) -> Result<bool> {
        let free: u64 = self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        if free <= SPARE_PAGES {
            return Ok(false);
        }
        let pages = (free - SPARE_PAGES).min(most);
        let mut statement = self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        // Each step frees a page.
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        self.check().map(|()| true)
    }

    /// Gives the space of deleted pages and of the write-ahead log back to the system: SQLite shortens its files only when
    /// it copies the one into the other. Does nothing while another connection reads; returns whether it was done.
    pub fn truncate(&self) -> Result<bool> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let is_busy =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        let is_done = !is_busy?;
        self.check().map(|()| is_done)
    }

    pub fn key(&self, key: &IdempotencyKey) -> Result<Option<Earlier>> {
        let select = "SELECT first, last, lines, hash, complete FROM keys WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(select)?;
        let earlier = statement.query_row([key.as_str()], |row| {
            let (first, last, lines) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Earlier { first, last, lines, hash: row.get(3)?, complete: row.get(4)? })
        });
        Ok(earlier.optional()?)
    }

    /// Records what was logged under a key, within a transaction. `numbers` are those of the new lines.
    pub fn set_key(&self, update: &KeyUpdate, numbers: Option<(Seq, Seq)>, now: Timestamp) -> Result<()> {
        let KeyUpdate { key, lines, hash, complete } = update;
        let time = now.as_microsecond();
        match numbers {
            Some((first, last)) => self
                .connection
                .prepare_cached(
                    "INSERT INTO keys (key, first, last, lines, hash, complete, time)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT (key) DO UPDATE SET id = (SELECT max(id) FROM keys) + 1,
                         last = ?3, lines = ?4, hash = ?5, complete = ?6, time = ?7",
                )?
                .execute(params![key.as_str(), first, last, lines, &hash[..], complete, time])?,
            None => self
                .connection
                .prepare_cached("UPDATE keys SET complete = ?2, time = ?3 WHERE key = ?1")?
                .execute(params![key.as_str(), complete, time])?,
        };
        Ok(())
    }

    /// Deletes expired keys, and the oldest ones beyond the limit.
    pub fn forget_keys(&self, now: Timestamp) -> Result<()> {
        let oldest = now.as_microsecond() - KEY_DAYS * 24 * 3600 * 1_000_000;
        self.connection.execute(
            "DELETE FROM keys WHERE id <= (SELECT max(id) FROM keys) - ?1 OR time < ?2",
            params![KEYS, oldest],
        )?;
        Ok(())
    }

    pub fn source(&self, name: &str) -> Result<Option<String>> {
        let select = "SELECT position FROM sources WHERE name = ?1";
        Ok(self.connection.query_row(select, [name], |row| row.get(0)).optional()?)
    }

    /// Saves the position of a source, within a transaction.
    pub fn set_source(&self, name: &str, position: &str) -> Result<()> {
        self.connection.execute(
            "INSERT INTO sources VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET position = ?2",
            [name, position],
        )?;
        Ok(())
    }

    /// Stores messages, within a transaction, and drops the oldest if there are too many. Returns how many there are, and how
    /// many were dropped.
    #[cfg(feature = "brokers")]
    pub fn add_messages(&self, messages: &[Message]) -> Result<(u64, u64)> {
        let insert = "INSERT INTO outbox (id, name, body) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(insert)?;
        for Message { id, name, body } in messages {
            insert.execute([id, name, body])?;
        }
        let waiting = self.n_messages()?;
        let dropped = waiting.saturating_sub(MAX_MESSAGES);
        if dropped > 0 {
            let oldest = "SELECT number FROM outbox ORDER BY number LIMIT ?1";
            self.connection.execute(&format!("DELETE FROM outbox WHERE number IN ({oldest})"), [dropped])?;
        }
        Ok((waiting - dropped, dropped))
    }

    /// Deletes messages up to this number, within a transaction. Returns how many are left.
    #[cfg(feature = "brokers")]
    pub fn delete_messages(&self, through: u64) -> Result<u64> {
        self.connection.prepare_cached("DELETE FROM outbox WHERE number <= ?1")?.execute([through])?;
        self.n_messages()
    }

    #[cfg(feature = "brokers")]
    fn n_messages(&self) -> Result<u64> {
        let mut count = self.connection.prepare_cached("SELECT count(*) FROM outbox")?;
        Ok(count.query_row([], |row| row.get(0))?)
    }

    /// The oldest messages with their numbers.
    #[cfg(feature = "brokers")]
    pub fn messages(&self, most: usize) -> Result<Vec<(u64, Message)>> {
        let select = "SELECT number, id, name, body FROM outbox ORDER BY number LIMIT ?1";
        let mut statement = self.connection.prepare_cached(select)?;
        let rows = statement.query_map([most], |row| {
            Ok((row.get(0)?, Message { id: row.get(1)?, name: row.get(2)?, body: row.get(3)? }))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn invalid(&self, reason: String) -> Error {
        self.files.invalid(reason)
    }

    /// Limits the file to this many pages, as a full disk would.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: u64) {
        self.connection.pragma_update(None, "max_page_count", pages).unwrap();
    }

    #[cfg(test)]
    pub fn number(&self, name: &str) -> u64 {
        self.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    }
}

fn commit(row: &Row<'_>) -> rusqlite::Result<Commit> {
    Ok(Commit { number: row.get(0)?, last: row.get(1)?, controls: row.get(2)? })
}

fn connect(path: &Path) -> Result<Connection> {
    // It keeps the index of the write-ahead log in memory, which all connections of this process share. A file could be
    // truncated while it is mapped, which would kill the process.
    #[cfg(unix)]
    let connection = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), "unix-excl")?;
    #[cfg(not(unix))]
    let connection = Connection::open(path)?;
    // A reader can run into a restart of the WAL.
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Creates the tables of a new file and configures the connection. It writes nothing to an existing file: the service
/// must start even if the disk is full.
fn prepare(connection: &Connection, is_new: bool) -> Result<()> {
    if is_new {
        // These must precede the first table.
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    // A response promises that the text is on disk, so every transaction is synced.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", (16 << 20) / PAGE_BYTES)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    if is_new {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT"
        ))?;
    }
    Ok(())
}

/// Why a file of another program or version is rejected.
fn check_kind(connection: &Connection) -> Result<Option<String>> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    Ok(if application != APPLICATION {
        Some("the database belongs to another program".to_owned())
    } else if version != VERSION {
        Some(format!("the log has version {version}; this program reads version {VERSION}"))
    } else {
        None
    })
}

fn checksum(text: &[u8], times: &[u8], weights: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in [text, times, weights] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes().first_chunk().expect("a hash has 32 bytes")
}

/// `i64::MIN` stands for "no time".
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

fn weights_from_bytes(bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks();
    let weights: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let is_valid = |weight: &f32| (0.0..=Sentence::MAX_WEIGHT).contains(weight);
    (rest.is_empty() && weights.iter().all(is_valid)).then_some(weights)
}
