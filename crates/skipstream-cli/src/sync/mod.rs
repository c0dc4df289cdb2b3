//! `skipstream sync`.
//!
//! Invariant: the only state of a sync is in the store. A row has the digest of its vector, and rows are written and deleted
//! in batches that take effect at once or not at all, so a sync that was killed is continued by the next one.

mod address;
mod changes;
mod digest;
mod postgres;
mod qdrant;
mod retries;
mod store;
mod tls;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::Embeddings;

use self::address::Address;
use self::changes::{Changes, Wanted};
use self::postgres::Postgres;
use self::qdrant::Qdrant;
use self::retries::Retries;
use self::store::{Failure, Outcome, Row, Store};
use crate::Ending;
use crate::model::ModelArgs;
use crate::output::{count, note, print};
use crate::selection::SelectionArgs;

/// Numbers in a batch: a megabyte of floats, or about three as JSON.
const BATCH: usize = 1 << 18;
const LARGEST_BATCH: usize = 10_000;

const PROGRESS: Duration = Duration::from_secs(10);

/// Arguments of `sync`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream sync --model m.safetensors 'postgres://me@localhost:5432/news?table=words'\n  \
    skipstream sync --model m.safetensors --dry-run http://localhost:6333/collections/words\n  \
    skipstream sync --model m.safetensors --top 9000 http://localhost:6333/collections/words\n\n\
    Keep the collection up to date while another process trains:\n  \
    skipstream sync --model m.safetensors --every 1m http://localhost:6333/collections/words\n\n\
    Passwords come from the environment: PGPASSWORD for PostgreSQL, QDRANT_API_KEY for Qdrant.")]
pub struct SyncArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Print what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Sync again at this interval, such as 30s or 5m, if the file has changed
    #[arg(long, value_name = "TIME", conflicts_with = "dry_run", value_parser = interval)]
    pub every: Option<Duration>,
    /// How long to retry while the store cannot be reached or is busy; with --every, it is retried at the next interval as well
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    pub retry_for: Duration,
    /// Address of the table or collection, which is created if it does not exist
    ///
    /// postgres://USER@HOST:PORT/DATABASE?table=TABLE is a table of PostgreSQL with pgvector; TLS and sockets are
    /// parameters (sslmode=disable, prefer or require; host=/run/postgresql). http://HOST:6333/collections/NAME is a collection of Qdrant.
    #[arg(value_name = "STORE")]
    pub store: String,
}

/// Parses a time that is not 0.
fn interval(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be longer than 0s".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// Makes the store equal to the vectors, once or again and again.
pub fn run(args: SyncArgs) -> Result<Ending> {
    let address: Address = args.store.parse()?;
    // Every batch is complete, so there is nothing to finish.
    ctrlc::set_handler(|| std::process::exit(Ending::Interrupted.code().into()))
        .context("cannot install the Ctrl-C handler")?;
    let name = address.to_string();
    let mut store: Box<dyn Store> = match address {
        Address::Postgres(address) => Box::new(Postgres::new(*address)?),
        Address::Qdrant(address) => Box::new(Qdrant::new(address)),
    };
    let Some(every) = args.every else {
        return match sync(&args, &name, store.as_mut()) {
            Ok(()) => Ok(Ending::Done),
            Err(Failure::Temporary(error) | Failure::Permanent(error)) => Err(error),
        };
    };
    let mut synced = None;
    loop {
        let began = Instant::now();
        // The file may not be there yet.
        let version = version(&args.model.model).ok();
        if version.is_none() || synced != version {
            match sync(&args, &name, store.as_mut()) {
                Ok(()) => synced = version,
                Err(Failure::Temporary(error)) => note(format_args!("{error:#}; trying again in {every:?}")),
                Err(Failure::Permanent(error)) => return Err(error),
            }
        }
        thread::sleep(every.saturating_sub(began.elapsed()));
    }
}

/// What changes when a file is replaced.
fn version(path: &Path) -> Result<(SystemTime, u64)> {
    let metadata = fs::metadata(path).with_context(|| path.display().to_string())?;
    Ok((metadata.modified().with_context(|| path.display().to_string())?, metadata.len()))
}

/// Makes the store equal to the vectors.
fn sync(args: &SyncArgs, name: &str, store: &mut dyn Store) -> Outcome<()> {
    // With --every, another process may not have written them yet.
    let embeddings = vectors(args).map_err(Failure::Temporary)?;
    let retries = Retries { time: args.retry_for };
    let wanted = Wanted::new(&embeddings, store).map_err(anyhow::Error::from)?;
    if wanted.n_left_out() > 0 {
        let words = count(wanted.n_left_out());
        note(format_args!(
            "{name}: words that PostgreSQL cannot hold, because they are longer than 2,000 bytes or have a NUL: {words}"
        ));
    }
    let dimensions = embeddings.dimensions();
    let exists = retries.run(|| store.exists(dimensions))?;
    let changes = Changes::find(&wanted, if exists { Some(&mut *store) } else { None }, retries)?;
    if args.dry_run {
        note(format_args!("{name}: nothing was changed (--dry-run)"));
    } else {
        if !exists {
            retries.run(|| store.create(dimensions))?;
        }
        write(&wanted, &changes, name, store, retries)?;
    }
    Ok(print(&format!("{changes}\n"))?)
}

/// The selected vectors.
fn vectors(args: &SyncArgs) -> Result<Embeddings> {
    let file = &args.model.model;
    let embeddings = args.selection.of(args.model.load()?, file)?;
    ensure!(
        !embeddings.is_empty(),
        "{}: no words are selected, so all would be deleted from the store; use a smaller --min-count or a larger --top",
        file.display()
    );
    Ok(embeddings)
}

/// Writes what differs, then deletes what is gone.
fn write(
    wanted: &Wanted<'_>,
    changes: &Changes,
    name: &str,
    store: &mut dyn Store,
    retries: Retries,
) -> Outcome<()> {
    let total = changes.rows.len();
    let (mut written, mut told) = (0, Instant::now());
    let rows_of_a_batch = (BATCH / wanted.dimensions()).clamp(1, LARGEST_BATCH);
    for batch in changes.rows.chunks(rows_of_a_batch) {
        let rows: Vec<Row<'_>> = batch.iter().filter_map(|&row| wanted.row(row)).collect();
        retries.run(|| store.write(&rows))?;
        written += rows.len();
        if told.elapsed() > PROGRESS {
            note(format_args!("{name}: {} of {} words written", count(written), count(total)));
            told = Instant::now();
        }
    }
    for words in changes.removed.chunks(LARGEST_BATCH) {
        retries.run(|| store.delete(words))?;
    }
    Ok(())
}
