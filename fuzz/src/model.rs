//! Model files and vectors files: any bytes, and whole files with a few bytes changed and the checksums corrected.

use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use serde_json::Value;
use skipstream::snapshot::{inspect, words};
use skipstream::train::Initial;
use skipstream::{Embeddings, Trainer, Vectors};

use crate::{file, vectors};

const GOLDEN: [&[u8]; 6] = [
    include_bytes!("../../crates/skipstream/tests/golden/mini-batch.safetensors"),
    include_bytes!("../../crates/skipstream/tests/golden/incremental.safetensors"),
    include_bytes!("../../crates/skipstream/tests/golden/vectors.safetensors"),
    include_bytes!("../../crates/skipstream/tests/golden/joined.safetensors"),
    include_bytes!("../../crates/skipstream/tests/golden/f16.safetensors"),
    include_bytes!("../../crates/skipstream/tests/golden/int8.safetensors"),
];

/// Bytes to write at a place of a file.
#[derive(Arbitrary)]
struct Change {
    place: u16,
    value: [u8; 4],
    length: u8,
}

pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(golden) = input.arbitrary::<u8>() else { return };
    let bytes = match GOLDEN.get(usize::from(golden) % (GOLDEN.len() + 1)) {
        Some(golden) => changed(golden, input),
        None => input.take_rest().to_vec(),
    };
    check(&file::holding("model.safetensors", &bytes));
}

/// Whatever can be loaded can be used.
fn check(path: &Path) {
    if let Ok(inspection) = inspect(path) {
        serde_json::to_string(&inspection).expect("an inspection is JSON");
    }
    let _ = words(path);
    for kind in [Vectors::Target, Vectors::Context, Vectors::Sum, Vectors::Joined, Vectors::default()] {
        for embeddings in [Embeddings::load(path, kind), Embeddings::open(path, kind)].into_iter().flatten() {
            vectors::check(&embeddings);
        }
    }
    let _ = Initial::load(path);
    let Ok(mut trainer) = Trainer::load(path, Some(1)) else { return };
    // The settings may ask for more memory than a fuzzer has.
    if trainer.memory_bound().total() > 1 << 28 {
        return;
    }
    let tokens = trainer.vocabulary().tokens();
    trainer.train_lines("tea with milk\nthe tea the new\n".as_bytes()).expect("text can be learned");
    assert_eq!(trainer.vocabulary().tokens(), tokens + 7);
    assert!(trainer.vocabulary().len() <= trainer.settings().max_vocabulary());
    let copy = file::path("again.safetensors");
    trainer.save(&copy).expect("a model can be saved");
    Trainer::load(&copy, Some(1)).expect("what was saved can be loaded");
}

/// The file with changes, and with checksums as if it had been written so.
fn changed(golden: &[u8], mut input: Unstructured) -> Vec<u8> {
    let mut bytes = golden.to_vec();
    while !input.is_empty()
        && let Ok(change) = input.arbitrary::<Change>()
    {
        let place = usize::from(change.place) % bytes.len();
        let value = &change.value[..1 + usize::from(change.length) % 4];
        for (byte, &value) in bytes[place..].iter_mut().zip(value) {
            *byte = value;
        }
    }
    let length = u64::from_le_bytes(golden[..8].try_into().expect("eight bytes")) as usize;
    let header: Value = serde_json::from_slice(&golden[8..8 + length]).expect("a golden header");
    for tensor in header.as_object().expect("an object").values() {
        let Some(place) = tensor["data_offsets"].as_array() else { continue };
        let [start, end] = [0, 1].map(|side| 8 + length + place[side].as_u64().expect("a place") as usize);
        let [old, new] = [golden, &bytes].map(|bytes| blake3::hash(&bytes[start..end]).to_hex());
        if let Some(place) = bytes[..8 + length].windows(64).position(|text| text == old.as_bytes()) {
            bytes[place..place + 64].copy_from_slice(new.as_bytes());
        }
    }
    // The last tensor is the checksum of the header.
    let checksum = blake3::hash(&bytes[..8 + length]);
    let start = bytes.len() - blake3::OUT_LEN;
    bytes[start..].copy_from_slice(checksum.as_bytes());
    bytes
}
