//! Files in `tests/golden` that every later version must load: they continue training, give the same answers, and are saved
//! with the same content. Only the name of the program in the metadata may differ.
//!
//! After a deliberate change of the format or of training, `SKIPSTREAM_WRITE_GOLDEN=1` writes them again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde_json::Value;

use super::place;
use crate::kernel::Kernel;
use crate::vocabulary::WordTimes;
use crate::{
    Config, Embeddings, IncrementalOptions, MiniBatchOptions, Quantization, Strategy, Trainer, Vectors,
};

const BEFORE: &str = "to be or not to be that is the question\n\
    whether tis nobler in the mind to suffer\n\
    the slings and arrows of outrageous fortune\n";
const AFTER: &str = "or to take arms against a sea of troubles\nand by opposing end them\n";

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn learn(trainer: &mut Trainer, text: &str) {
    trainer.train_lines(text.as_bytes()).unwrap();
}

/// The models before they are saved. So few words fit that some are evicted.
fn models(kernel: Kernel) -> [(&'static str, Trainer); 2] {
    let mini_batch = MiniBatchOptions { batch_words: 20, blocks: 4, ..MiniBatchOptions::default() };
    let incremental = IncrementalOptions { table_size: 1_000, ..IncrementalOptions::default() };
    [
        ("mini-batch.safetensors", Strategy::MiniBatch(mini_batch)),
        ("incremental.safetensors", Strategy::Incremental(incremental)),
    ]
    .map(|(name, strategy)| {
        let config =
            Config { dimensions: 5, subsample: 0.0, max_vocabulary: 12, strategy, ..Config::default() };
        let mut trainer = Trainer::with_kernel(config, kernel).unwrap();
        learn(&mut trainer, BEFORE);
        let mut times = WordTimes::at(1_000_000, trainer.vocabulary());
        times.resolve(trainer.vocabulary());
        trainer.set_word_times(times);
        trainer.notes_mut().insert("serve_line".to_owned(), "4".to_owned());
        (name, trainer)
    })
}

/// The golden vectors in fewer bytes.
fn quantized(quantization: Quantization) -> Embeddings {
    let vectors = Embeddings::load(golden("vectors.safetensors"), Vectors::default()).unwrap();
    vectors.quantized(quantization).unwrap()
}

/// Words, counts and neighbors with the bits of their similarities.
fn answers(embeddings: &Embeddings) -> String {
    let mut answers = String::new();
    for (row, word) in embeddings.words().enumerate() {
        write!(answers, "  {word} {}:", embeddings.count(row)).unwrap();
        for neighbor in embeddings.neighbors(word, 3).unwrap() {
            write!(answers, " {} {:08x}", neighbor.word, neighbor.similarity.to_bits()).unwrap();
        }
        answers.push('\n');
    }
    answers
}

/// All tensors, and the metadata without the name of the program, on which the checksum of the header depends.
fn content(path: &Path) -> (Vec<String>, Value) {
    let bytes = fs::read(path).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = &header.metadata().as_ref().unwrap()["skipstream"];
    let mut metadata: Value = serde_json::from_str(metadata).unwrap();
    metadata.as_object_mut().unwrap().remove("program").unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors: Vec<String> =
        tensors.iter().map(|(name, tensor)| format!("{name} {tensor:?}")).collect();
    tensors.retain(|tensor| !tensor.starts_with("header_checksum"));
    tensors.sort_unstable();
    (tensors, metadata)
}

#[test]
fn golden_files_load_continue_and_are_saved_again() {
    if std::env::var_os("SKIPSTREAM_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(golden("")).unwrap();
        for (name, trainer) in models(Kernel::best()) {
            trainer.save(golden(name)).unwrap();
            trainer.embeddings_of(Vectors::Sum).unwrap().save(golden("vectors.safetensors")).unwrap();
        }
        let joined = Embeddings::load(golden("mini-batch.safetensors"), Vectors::Joined).unwrap();
        joined.save(golden("joined.safetensors")).unwrap();
        for quantization in Quantization::ALL {
            quantized(quantization).save(golden(&format!("{quantization}.safetensors"))).unwrap();
        }
    }
    let (_folder, again) = place();
    let mut found = String::new();
    for name in ["mini-batch.safetensors", "incremental.safetensors"] {
        let mut trainer = Trainer::load(golden(name), Some(1)).unwrap();
        trainer.save(&again).unwrap();
        assert!(content(&again) == content(&golden(name)), "{name} is saved with other content");
        writeln!(found, "{name}").unwrap();
        found += &answers(&Embeddings::load(golden(name), Vectors::Sum).unwrap());
        learn(&mut trainer, AFTER);
        writeln!(found, "{name}, continued").unwrap();
        found += &answers(&trainer.embeddings_of(Vectors::Sum).unwrap());
    }
    Embeddings::load(golden("mini-batch.safetensors"), Vectors::Joined).unwrap().save(&again).unwrap();
    assert!(
        content(&again) == content(&golden("joined.safetensors")),
        "the joined vectors of a model are others"
    );
    for quantization in Quantization::ALL {
        quantized(quantization).save(&again).unwrap();
        let name = format!("{quantization}.safetensors");
        assert!(content(&again) == content(&golden(&name)), "vectors are quantized to others than {name}");
    }
    for name in ["vectors.safetensors", "joined.safetensors", "f16.safetensors", "int8.safetensors"] {
        let vectors = Embeddings::load(golden(name), Vectors::default()).unwrap();
        vectors.save(&again).unwrap();
        assert!(content(&again) == content(&golden(name)), "{name} is saved with other content");
        writeln!(found, "{name}").unwrap();
        found += &answers(&vectors);
    }
    if std::env::var_os("SKIPSTREAM_WRITE_GOLDEN").is_some() {
        fs::write(golden("answers.txt"), &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(golden("answers.txt")).unwrap());
}

#[test]
fn training_still_makes_the_golden_files() {
    let (_folder, path) = place();
    for kernel in Kernel::available() {
        for (name, trainer) in models(kernel) {
            trainer.save(&path).unwrap();
            assert!(content(&path) == content(&golden(name)), "{name} with {}", kernel.name());
        }
    }
}
