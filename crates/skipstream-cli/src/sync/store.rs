//! What a sync needs of a store. Everything that changes it can be repeated without harm.

use std::borrow::Cow;
use std::io;

use anyhow::{Error, anyhow};

use super::digest::Digest;
use super::tls;

/// Why a store did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// It may succeed later: the store is away, starting or busy.
    Temporary(Error),
    /// It would fail again.
    Permanent(Error),
}

impl Failure {
    /// A connection that failed. The store is away, unless the reason is its certificate or what it says. `otherwise` is
    /// what else can be done about a certificate.
    pub fn of_connection(message: String, cause: &io::Error, otherwise: &str) -> Failure {
        match cause.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput if tls::is_untrusted(cause) => {
                Failure::Permanent(anyhow!(
                    "{message}; if the certificate is right, name the file of its authority in SSL_CERT_FILE{otherwise}"
                ))
            }
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Failure::Permanent(anyhow!(message)),
            _ => Failure::Temporary(anyhow!(message)),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Permanent(error)
    }
}

/// The result of asking a store.
pub type Outcome<T> = Result<T, Failure>;

/// A word as it is stored.
pub struct Row<'a> {
    pub word: &'a str,
    pub count: u64,
    pub vector: Cow<'a, [f32]>,
    pub digest: Digest,
}

/// A table or collection of words.
pub trait Store {
    /// Whether the table is there. If it is not for vectors of this length, or not ours, this fails.
    fn exists(&mut self, dimensions: usize) -> Outcome<bool>;

    /// Creates it.
    fn create(&mut self, dimensions: usize) -> Outcome<()>;

    /// Whether the store can hold this word.
    fn can_hold(&self, word: &str) -> bool;

    /// Gives every stored word with its digest to `see`.
    fn read(&mut self, see: &mut dyn FnMut(String, &[u8])) -> Outcome<()>;

    /// Writes rows, all or none, in the place of those of the same words.
    fn write(&mut self, rows: &[Row<'_>]) -> Outcome<()>;

    /// Deletes words. It is no error if they are absent.
    fn delete(&mut self, words: &[String]) -> Outcome<()>;
}
