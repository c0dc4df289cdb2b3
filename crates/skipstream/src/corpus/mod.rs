//! Bytes become lines, lines become sentences of tokens.
//!
//! [`open`] recognises how a file is compressed and gives a [`TextStream`]; [`Lines`] cuts any buffered reader into
//! sentences by the limits of [`TextOptions`] and counts in a [`TextReport`] what it cut, replaced or left out. Every
//! sentence has a position at which a later reader goes on, and the [`Ledger`] remembers these positions, so that no
//! text is learned twice and none is passed over. [`TokenLists`] are sentences that were cut elsewhere. [`Files`] makes one stream of many files, as the ledger has it;
//! [`Follow`] does so of files that grow.
//!
//! Invariant: this module knows nothing of word ids, counts or training. Its memory is bounded by the limits of
//! [`TextOptions`], not by the length of a line, a token or a stream.

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
mod piece;
mod position;
mod progress;
#[cfg(feature = "records")]
mod records;
mod report;
mod sentence;
mod separators;
mod token_lists;
#[cfg(not(feature = "parquet"))]
mod without_records;
mod words;

pub use error::{SourceChange, TextError};
pub use files::{Files, Input};
pub use find::find;
pub use follow::{FilePosition, Follow, FollowEvent, Note, Tail, TailEnd};
pub use layout::{AskedLayout, BadRecords, FileFormat, Layout, RecordField, RecordFormat, UnclearLayout};
pub use ledger::{LearnedSource, Ledger, Plan, Reading};
pub use lines::Lines;
pub use open::{TextStream, from_reader, from_reader_at, open, open_at};
pub use options::{InvalidUtf8, TextOptions, Tokenizer};
pub use position::Position;
pub use progress::{FilesProgress, RawProgress};
pub use report::{FirstPlaces, Place, TextReport};
pub use sentence::{Read, Sentence, Source};
pub use token_lists::TokenLists;
