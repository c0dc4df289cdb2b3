//! What takes the place of `records` where the library was built without the features for them.

use std::fs::File;
#[cfg(not(feature = "records"))]
use std::io::BufRead;
use std::path::Path;

use super::error::TextError;
use super::layout::{BadRecords, RecordField};
use super::open::Sentences;
use super::options::TextOptions;
use super::position::Position;
use super::progress::RawProgress;
use crate::{Error, Result};

#[cfg(not(feature = "records"))]
pub(super) fn from_bytes(
    _: Box<dyn BufRead + Send>,
    _: Position,
    name: &Path,
    _: &TextOptions,
    field: &RecordField,
    _: BadRecords,
) -> Result<Box<dyn Sentences>> {
    Err(missing(name, field, "records"))
}

pub(super) fn from_parquet(
    _: File,
    _: Position,
    path: &Path,
    _: &TextOptions,
    field: &RecordField,
    _: BadRecords,
    _: &RawProgress,
) -> Result<Box<dyn Sentences>> {
    Err(missing(path, field, "parquet"))
}

fn missing(name: &Path, field: &RecordField, feature: &'static str) -> Error {
    Error::text(name, TextError::MissingFeature { what: field.format.to_string(), feature })
}
