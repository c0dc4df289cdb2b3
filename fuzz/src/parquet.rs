//! A column of a Parquet file.

use skipstream::corpus::{
    BadRecords, Layout, Position, Read, RecordField, RecordFormat, Sentence, Source, TextOptions, open_at,
};

use crate::file;

pub fn run(bytes: &[u8]) {
    #[cfg(fuzzing)]
    allow_panics_of_parquet();
    let path = file::holding("records.parquet", bytes);
    let options = TextOptions::default();
    for (field, skipped) in [("text", 0), ("tags", 0), ("text", 3)] {
        let format = RecordFormat::Parquet;
        let field = RecordField::new(format, field);
        let layout = Layout::Records { field, bad_records: BadRecords::Skip };
        let Ok(mut stream) = open_at(&path, Position::at(skipped), &options, &layout) else { continue };
        let mut sentence = Sentence::default();
        // A few bytes can be a million rows.
        for _ in 0..10_000 {
            let Ok(Read::Sentence) = stream.read(&mut sentence) else { break };
            assert!(sentence.len() <= options.max_sentence_words);
        }
    }
}

/// The reader catches panics of the parquet crate, so for the fuzzer they are no defects.
#[cfg(fuzzing)]
fn allow_panics_of_parquet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let fuzzer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A slice or a list that is too long is reported by the standard library, or by the crate `bytes`.
            let is_foreign =
                |file: &str| ["/parquet-", "/bytes-", "/library/"].iter().any(|name| file.contains(name));
            if !panic.location().is_some_and(|place| is_foreign(place.file())) {
                fuzzer(panic);
            }
        }));
    });
}
