//! Bytes → lines → sentences of tokens.
//!
//! Text goes through three stages: framing (`lines.rs` cuts bytes into lines, `records/` takes a field out of records),
//! decoding and splitting at white space (`piece.rs`), and tokenizing (`words.rs`). [`open()`] reads the sentences of a
//! file, compressed or not, as a [`TextStream`]; [`Files`] reads many files as one stream, and [`Follow`] files that grow.
//! Every sentence has a [`Position`] at which a later reader continues; the [`Ledger`] stores these positions, so that no
//! text is learned twice or skipped. A [`TextReport`] counts everything that was cut, replaced or left out.
//!
//! Invariant: this module knows nothing of word ids, counts or training. Its memory is bounded by the limits of
//! [`TextOptions`], not by the length of a line, a token or a stream.

pub(crate) mod binary;
mod error;
mod files;
mod find;
mod follow;
mod layout;
mod ledger;
mod lines;
mod marks;
mod open;
mod options;
mod passage;
mod piece;
mod pipe;
mod position;
mod progress;
mod prose;
#[cfg(feature = "records")]
mod records;
mod report;
mod sentence;
mod separators;
mod token_lists;
mod words;

pub use error::{SourceChange, TextError};
pub use files::{Files, Input};
pub use find::find;
pub use follow::{FilePosition, Follow, FollowEvent, Note, Tail, TailEnd};
pub use layout::{BadRecords, FileFormat, Layout, LayoutError, LayoutRequest, RecordField, RecordFormat};
pub use ledger::{LearnedSource, LearnedStream, Ledger, Reading};
pub use lines::Lines;
pub use open::{TextStream, from_reader, from_reader_at, open, open_at};
pub use options::{InvalidUtf8, TextKind, TextOptions, Tokenizer};
pub use passage::Passage;
pub use pipe::InterruptiblePipe;
pub use position::Position;
pub use progress::{FilesProgress, RawProgress};
pub use report::{FirstLocations, Location, ProseSigns, TextReport};
pub(crate) use sentence::load;
pub use sentence::{Read, Sentence, Source};
pub use token_lists::TokenLists;
