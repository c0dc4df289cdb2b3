//! One test for each way in which a model's file can be wrong. That a good one is right, the laws test.

use std::path::Path;

use crate::corpus::Lines;
use crate::{Config, Embeddings, Error, Strategy, Trainer, Vectors};

fn small_model(path: &Path) {
    let config = Config { dimensions: 5, subsample: 0.0, ..Config::default() };
    let mut lines =
        Lines::new(&b"to be or not to be that is the question\n"[..], "text", &config.text).unwrap();
    let mut trainer = Trainer::new(config).unwrap();
    trainer.train(&mut lines, &mut ()).unwrap();
    trainer.save(path).unwrap();
}

/// What is said of a model whose bytes were changed.
fn complaint(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
    let error = Trainer::load(&path, None).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message
}

/// Replaces bytes of the header by as many others.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
}

#[test]
fn the_stock_library_reads_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let bytes = std::fs::read(&path).unwrap();
    let model = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(model.tensor("target").unwrap().shape(), [8, 5]);
    assert_eq!(model.tensor("words").unwrap().data(), b"tobeornotthatisthequestion");
    for (name, tensor) in model.iter() {
        let alignment = tensor.dtype().bitsize() / 8;
        assert_eq!((tensor.data().as_ptr() as usize - bytes.as_ptr() as usize) % alignment, 0, "{name}");
    }
}

#[test]
fn an_empty_file_is_refused() {
    assert!(complaint(Vec::clear).contains("it has 0 bytes"));
}

#[test]
fn half_a_file_is_refused() {
    let message = complaint(|bytes| bytes.truncate(bytes.len() / 2));
    assert!(message.contains("not a skipstream model, or it is damaged"), "{message}");
}

#[test]
fn a_file_with_more_behind_it_is_refused() {
    assert!(complaint(|bytes| bytes.push(0)).contains("it should have"));
}

#[test]
fn a_header_that_claims_to_be_huge_is_refused_before_it_is_read() {
    let message = complaint(|bytes| bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes()));
    assert!(message.contains("its header should have 18446744073709551615 bytes"), "{message}");
}

#[test]
fn text_is_not_a_model() {
    let message = complaint(|bytes| *bytes = b"to be or not to be".to_vec());
    assert!(message.contains("not a skipstream model"), "{message}");
}

#[test]
fn a_flipped_bit_in_a_tensor_is_found() {
    let message = complaint(|bytes| *bytes.last_mut().unwrap() ^= 1);
    assert!(message.contains("the checksum of `words` is wrong"), "{message}");
}

#[test]
fn every_flipped_byte_is_found_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x15;
        std::fs::write(&path, &flipped).unwrap();
        // It may be refused, or the byte was in a value that may be anything; it never panics.
        if let Ok(trainer) = Trainer::load(&path, Some(1)) {
            assert!(trainer.vocabulary().len() == 8);
        }
    }
}

#[test]
fn another_version_is_named() {
    let message = complaint(|bytes| replace(bytes, r#"{\"version\":1,"#, r#"{\"version\":7,"#));
    assert!(message.contains("its format is version 7; this program reads version 1"), "{message}");
}

#[test]
fn settings_out_of_their_limits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    replace(&mut bytes, r#"\"window\":5"#, r#"\"window\":0"#);
    std::fs::write(&path, bytes).unwrap();
    let message = Trainer::load(&path, None).unwrap_err().to_string();
    assert!(message.contains("window is 0; it must be from 1 to 1000"), "{message}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Trainer::load("no/such/model", None).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path == Path::new("no/such/model")), "{error:?}");
}

#[test]
fn the_vectors_of_a_file_are_the_trainers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let trainer = Trainer::load(&path, None).unwrap();
    for vectors in [Vectors::Target, Vectors::Context, Vectors::Sum] {
        let from_file = Embeddings::load(&path, vectors).unwrap();
        let from_trainer = trainer.embeddings(vectors).unwrap();
        assert_eq!(from_file.vectors(), from_trainer.vectors());
        assert!(from_file.words().eq(from_trainer.words()));
    }
}

#[test]
fn a_failed_save_leaves_the_old_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    small_model(&path);
    let before = std::fs::read(&path).unwrap();
    // A folder stands where the new state is written first.
    std::fs::create_dir(folder.path().join(".model.partial")).unwrap();
    let trainer = Trainer::new(Config { strategy: Strategy::Incremental, ..Config::default() }).unwrap();
    assert!(trainer.save(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
