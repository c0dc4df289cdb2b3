//! What a host sees of the panics of a library that the engine uses.
#![cfg(feature = "parquet")]
// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use skipstream::corpus::{
    BadRecords, Layout, Position, RecordField, RecordFormat, Sentence, Source, open_at,
};
use skipstream::{Error, Result};

fn read(path: &Path) -> Result<()> {
    let field = RecordField::new(RecordFormat::Parquet, "text");
    let layout = Layout::Records { field, bad_records: BadRecords::Skip };
    let mut stream = open_at(path, Position::default(), &Default::default(), &layout)?;
    let mut sentence = Sentence::default();
    while stream.read(&mut sentence)?.is_sentence() {}
    Ok(())
}

#[test]
fn damaged_parquet_files_are_errors_and_no_panics_of_the_host() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    panic::set_hook(Box::new(|_| {
        SEEN.fetch_add(1, Ordering::Relaxed);
    }));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet");
    let bytes = std::fs::read(corpus.join("plain")).unwrap();
    let mut panics = 0;
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0xFF;
        std::fs::write(&path, damaged).unwrap();
        // The words for what the library panics at.
        let is_panic = |error: &Error| error.to_string().ends_with("it is damaged");
        panics += usize::from(read(&path).is_err_and(|error| is_panic(&error)));
    }
    assert!(panics > 0, "the library does not panic any more");
    assert_eq!(SEEN.load(Ordering::Relaxed), 0);
    assert!(panic::catch_unwind(|| panic!("of the host")).is_err());
    assert_eq!(SEEN.load(Ordering::Relaxed), 1);
}
