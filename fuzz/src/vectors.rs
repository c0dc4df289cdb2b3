//! Vectors of other programs, in any format.

use std::fs;

use arbitrary::{Arbitrary, Unstructured};
use skipstream::corpus::InvalidUtf8;
use skipstream::formats::{Format, LoadOptions, load_with, read_counts, save};
use skipstream::{Embeddings, Quantization, Vectors};

use crate::file;

#[derive(Arbitrary)]
struct Choices {
    format: u8,
    vectors: u8,
    skip_invalid: bool,
    limit: Option<u8>,
    in_place: bool,
    /// The length of the second file, of formats that have two.
    second: u8,
}

pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(choices) = Choices::arbitrary(&mut input) else { return };
    let bytes = input.take_rest();
    let (second, first) = bytes.split_at(usize::from(choices.second).min(bytes.len()));
    let format = Format::ALL.get(usize::from(choices.format) % 16).copied();
    let path = match format {
        Some(Format::Projector) => {
            let folder = file::path("projector");
            let _ = fs::create_dir(&folder);
            file::holding("projector/vectors.tsv", first);
            file::holding("projector/metadata.tsv", second);
            folder
        }
        _ => {
            file::holding("vectors.words.tsv", second);
            file::holding("vectors.npy", first)
        }
    };
    let kinds = [Vectors::default(), Vectors::Target, Vectors::Context, Vectors::Sum, Vectors::Joined];
    let mut options = LoadOptions::default();
    options.format = format;
    options.vectors = kinds[usize::from(choices.vectors) % kinds.len()];
    options.invalid_utf8 = if choices.skip_invalid { InvalidUtf8::Skip } else { InvalidUtf8::Replace };
    options.limit = choices.limit.map(usize::from);
    options.in_place = choices.in_place;
    let _ = read_counts(&path);
    let Ok((_, embeddings)) = load_with(&path, &options) else { return };
    check(&embeddings);
    for quantization in Quantization::ALL {
        if let Ok(small) = embeddings.quantized(quantization) {
            check(&small);
        }
    }
    // A vectors file keeps everything.
    let copy = file::path("copy.safetensors");
    if save(&embeddings, Format::Safetensors, &copy).is_ok() {
        let loaded = Embeddings::load(&copy, Vectors::default()).expect("what was saved can be loaded");
        assert!(loaded.words().eq(embeddings.words()));
        assert!(loaded.vectors().eq(embeddings.vectors()));
    }
}

/// Questions have answers that are numbers, whatever the vectors are.
pub fn check(embeddings: &Embeddings) {
    for row in 0..embeddings.len().min(3) {
        // Opening a file does not verify its vectors.
        let is_finite = embeddings.vector_at(row).iter().all(|value| value.is_finite());
        assert!(is_finite || embeddings.is_mapped());
        let word = embeddings.word(row).to_owned();
        let Ok(neighbors) = embeddings.neighbors(&word, 5) else { continue };
        assert!(neighbors.len() <= 5 && neighbors.iter().all(|neighbor| neighbor.word != word));
        assert!(neighbors.iter().all(|neighbor| neighbor.similarity.is_finite()));
    }
}
