//! The state of a trainer.

use std::borrow::Cow;
use std::path::Path;

use super::super::metadata::{Contents, TrainingMetadata};
use super::super::tensor::write_file;
use super::{change, flip_a_bit, place, replace, small_trainer};
use crate::corpus::{Layout, Lines, Position, Read, Reading, Sentence, Source, TextOptions};
use crate::vocabulary::{WordId, WordTimes};
use crate::{Config, Embeddings, Error, Strategy, Trainer, Vectors};

/// What is said of a model whose bytes were changed.
fn complaint(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    super::change(&path, change);
    let error = Trainer::load(&path, None).unwrap_err();
    assert!(matches!(error, Error::ModelFile { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message
}

#[test]
fn the_stock_library_reads_a_model() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let model = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(model.tensor("target").unwrap().shape(), [8, 5]);
    assert_eq!(model.tensor("words").unwrap().data(), b"betoisnotorquestionthatthe");
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
    assert!(message.contains("not a skipstream model file: its header would have"), "{message}");
    let message = complaint(|bytes| bytes.truncate(bytes.len() - 1));
    assert!(message.contains("its header describes"), "{message}");
}

#[test]
fn a_file_with_more_behind_it_is_refused() {
    assert!(complaint(|bytes| bytes.push(0)).contains("its header describes"));
}

#[test]
fn a_header_that_claims_to_be_huge_is_refused_before_it_is_read() {
    let message = complaint(|bytes| bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes()));
    assert!(message.contains("its header would have 18446744073709551615 bytes"), "{message}");
}

#[test]
fn text_is_not_a_model() {
    let message = complaint(|bytes| *bytes = b"to be or not to be".to_vec());
    assert!(message.contains("not a skipstream model"), "{message}");
}

#[test]
fn a_flipped_bit_in_any_tensor_is_found() {
    for tensor in
        ["target", "context", "target_squares", "words", "word_ends", "slots", "counts", "first_tokens"]
    {
        let message = complaint(|bytes| flip_a_bit(bytes, tensor));
        assert!(message.contains(&format!("the checksum of `{tensor}` is wrong")), "{message}");
    }
}

#[test]
fn every_flipped_byte_and_every_cut_is_found() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let check = |what: &str, bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = Trainer::load(&path, Some(1)).err().unwrap_or_else(|| panic!("{what} was not found"));
        assert!(matches!(error, Error::ModelFile { .. }), "{what}: {error:?}");
    };
    // `cargo xtask torture corruption` tries all.
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x15;
        check(&format!("a change of byte {at}"), &flipped);
        check(&format!("a cut at byte {at}"), &bytes[..at]);
    }
}

#[test]
fn damage_in_the_metadata_is_found() {
    let digit = |bytes: &mut Vec<u8>| {
        let at = bytes.windows(10).position(|window| window == br#"\"window\""#).unwrap();
        assert_eq!(bytes[at + 11], b'5');
        bytes[at + 11] = b'6';
    };
    let message = complaint(digit);
    assert!(message.ends_with("the model file is damaged: the checksum of the header is wrong"), "{message}");
    // White space that means nothing.
    let message = complaint(|bytes| {
        let end = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let last = &mut bytes[end - 1];
        *last = if *last == b' ' { b'\n' } else { b'!' };
    });
    assert!(message.contains("header"), "{message}");
    let message = complaint(|bytes| *bytes.last_mut().unwrap() ^= 1);
    assert!(message.ends_with("the checksum of the header is wrong"), "{message}");
}

#[test]
fn another_version_is_named() {
    let message = complaint(|bytes| replace(bytes, r#"{\"version\":2,"#, r#"{\"version\":7,"#));
    assert!(message.contains("format version 7 is not supported; this program reads version 2"), "{message}");
}

#[test]
fn settings_out_of_their_limits_are_refused() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    change(&path, |bytes| replace(bytes, r#"\"window\":5"#, r#"\"window\":0"#));
    let message = Trainer::load(&path, None).unwrap_err().to_string();
    assert!(message.contains("window is 0; it must be from 1 to 1000"), "{message}");
}

#[test]
fn counts_that_cannot_be_are_refused() {
    type Change = fn(&mut TrainingMetadata);
    let changes: [(&str, Change); 9] = [
        ("batches", |metadata| metadata.batches = u64::MAX),
        ("totals.pairs", |metadata| metadata.totals.pairs = u64::MAX),
        ("totals.replayed", |metadata| metadata.totals.replayed = (1 << 60) + 1),
        ("vocabulary.evictions", |metadata| metadata.vocabulary.evictions = u64::MAX),
        ("vocabulary.cancellations", |metadata| metadata.vocabulary.cancellations = u64::MAX),
        ("ledger.piped_words", |metadata| metadata.ledger.piped_words = u64::MAX),
        ("ledger.piped_bytes", |metadata| metadata.ledger.piped_bytes = u64::MAX),
        ("ledger.sources.words", |metadata| metadata.ledger.sources[0].words = u64::MAX),
        ("ledger.sources.position_lines", |metadata| {
            metadata.ledger.sources[0].position.lines = u64::MAX;
        }),
    ];
    let (folder, path) = place();
    let text = folder.path().join("text");
    std::fs::write(&text, "to be").unwrap();
    let mut trainer = small_trainer();
    let reading = Reading { file_bytes: 5, position: Position::default(), complete: true, words: 2 };
    trainer.ledger.record(&text, reading, &Layout::Text).unwrap();
    let ids: Vec<WordId> = trainer.vocabulary().ids().collect();
    for (name, change) in changes {
        let mut metadata = trainer.metadata();
        change(&mut metadata);
        write_file(&path, trainer.tensors(&ids), Contents::Training(Box::new(metadata))).unwrap();
        let message = Trainer::load(&path, None).unwrap_err().to_string();
        assert!(message.contains(&format!("the model file is damaged: `{name}` is 1")), "{message}");
        assert!(message.contains("it must be at most 1152921504606846976"), "{message}");
    }
}

/// Counts are saved up to 2⁶⁰. Below that, training continues exactly; a state above it is refused when it is loaded.
#[test]
fn counts_near_their_limit_go_on_to_count() {
    const NEAR: u64 = (1 << 60) - 1_000;
    let (_folder, path) = place();
    let trainer = small_trainer();
    let ids: Vec<WordId> = trainer.vocabulary().ids().collect();
    let mut metadata = trainer.metadata();
    metadata.batches = NEAR;
    metadata.totals.pairs = NEAR;
    metadata.totals.replayed = NEAR;
    metadata.vocabulary.tokens = NEAR;
    metadata.ledger.piped_words = NEAR;
    write_file(&path, trainer.tensors(&ids), Contents::Training(Box::new(metadata))).unwrap();
    let learn = |threads| {
        let mut trainer = Trainer::load(&path, Some(threads)).unwrap();
        trainer.train_lines("to be or not to be that is\n".repeat(10).as_bytes()).unwrap();
        trainer
    };
    let mut grown = learn(1);
    let (before, after) = (trainer.vocabulary(), grown.vocabulary());
    assert_eq!(after.tokens(), NEAR + 80);
    let [count, new_count] = [before, after].map(|vocabulary| vocabulary.count(vocabulary.id("to").unwrap()));
    assert_eq!(new_count, count + 20);
    assert!(grown.progress().totals.pairs > NEAR && grown.metadata().batches > NEAR);
    let (one, three) = (grown.metadata(), learn(3).metadata());
    assert_eq!(
        (one.totals, one.batches),
        (three.totals, three.batches),
        "random numbers have the same names"
    );
    grown.save(&path).unwrap();
    assert_eq!(Trainer::load(&path, None).unwrap().vocabulary().tokens(), NEAR + 80);
    grown.train_lines("to be or not to be that is\n".repeat(200).as_bytes()).unwrap();
    assert_eq!(grown.vocabulary().tokens(), NEAR + 1_680, "a running trainer goes on");
    grown.save(&path).unwrap();
    let message = Trainer::load(&path, None).unwrap_err().to_string();
    assert!(message.contains("the model file is damaged"), "{message}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Trainer::load("no/such/model", None).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path == Path::new("no/such/model")), "{error:?}");
}

#[test]
fn the_vectors_of_a_file_are_the_trainers() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    let trainer = Trainer::load(&path, None).unwrap();
    for vectors in Vectors::ALL {
        let from_file = Embeddings::load(&path, vectors).unwrap();
        let from_trainer = trainer.embeddings_of(vectors).unwrap();
        assert!(from_file.vectors().eq(from_trainer.vectors()));
        assert!(from_file.words().eq(from_trainer.words()));
    }
}

/// The definition of joined vectors, in plain loops over the tensors of a file.
#[test]
fn joined_vectors_are_the_centered_target_row_and_the_centered_context_row() {
    let (_folder, path) = place();
    let trainer = small_trainer();
    trainer.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let model = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let (n_words, dimensions) = (8, 5);
    let mut expected = vec![0.0f32; n_words * 2 * dimensions];
    for (half, name) in ["target", "context"].into_iter().enumerate() {
        let matrix: &[f32] = bytemuck::cast_slice(model.tensor(name).unwrap().data());
        for dimension in 0..dimensions {
            let mut sum = 0.0f64;
            for row in 0..n_words {
                sum += f64::from(matrix[row * dimensions + dimension]);
            }
            let offset = (0.75 * sum / n_words as f64) as f32;
            for row in 0..n_words {
                expected[(2 * row + half) * dimensions + dimension] =
                    matrix[row * dimensions + dimension] - offset;
            }
        }
    }
    let joined = Vectors::Joined;
    let all = [
        Embeddings::load(&path, joined).unwrap(),
        Embeddings::open(&path, joined).unwrap(),
        trainer.embeddings_of(joined).unwrap(),
    ];
    for embeddings in all {
        assert_eq!(embeddings.dimensions(), 2 * dimensions);
        assert_eq!(*embeddings.matrix(), expected);
        assert!(embeddings.vectors().eq(expected.chunks(2 * dimensions)));
        assert_eq!(
            *embeddings.top(3).matrix(),
            expected[..3 * 2 * dimensions],
            "the mean is that of all words"
        );
    }
    assert_eq!(*trainer.top_embeddings(joined, 3).unwrap().matrix(), expected[..3 * 2 * dimensions]);
}

#[test]
fn joined_vectors_are_saved_as_plain_rows() {
    let (_folder, model) = place();
    let (_other_folder, vectors) = place();
    small_trainer().save(&model).unwrap();
    let joined = Embeddings::open(&model, Vectors::Joined).unwrap();
    joined.save(&vectors).unwrap();
    for kind in [Vectors::default(), Vectors::Joined] {
        let saved = Embeddings::open(&vectors, kind).unwrap();
        assert!(saved.is_mapped() && matches!(saved.matrix(), Cow::Borrowed(_)));
        assert_eq!(saved.origin(), joined.origin());
        assert_eq!(*saved.matrix(), *joined.matrix());
        for word in joined.words() {
            assert_eq!(saved.neighbors(word, 5).unwrap(), joined.neighbors(word, 5).unwrap());
        }
    }
    assert!(Embeddings::load(&vectors, Vectors::Target).is_err(), "another kind than it has");
}

#[test]
fn rows_stand_in_the_order_of_frequency() {
    let (_folder, path) = place();
    let trainer = small_trainer();
    trainer.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let model = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let target: &[f32] = bytemuck::cast_slice(model.tensor("target").unwrap().data());
    let embeddings = trainer.embeddings_of(Vectors::Target).unwrap();
    assert!(embeddings.vectors().eq(target.chunks(5)), "row = rank");
}

#[test]
fn a_failed_save_leaves_the_old_model() {
    let (folder, path) = place();
    small_trainer().save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    // A folder stands where the new state is written first.
    std::fs::create_dir(folder.path().join(".model.partial")).unwrap();
    let trainer = Trainer::new(Config { strategy: Strategy::incremental(), ..Config::default() }).unwrap();
    assert!(trainer.save(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn notes_are_kept() {
    let (_folder, path) = place();
    let mut trainer = small_trainer();
    trainer.notes_mut().insert("who".to_owned(), "a program".to_owned());
    trainer.save(&path).unwrap();
    assert_eq!(Trainer::load(&path, None).unwrap().notes(), trainer.notes());
}

#[test]
fn word_times_are_kept_until_text_without_times_is_learned() {
    let (_folder, path) = place();
    let mut trainer = small_trainer();
    let mut times = WordTimes::at(7, trainer.vocabulary());
    trainer.set_word_times(times.clone());
    trainer.save(&path).unwrap();
    let mut loaded = Trainer::load(&path, None).unwrap();
    assert_eq!(loaded.word_times(), Some(&times));
    let learn = |trainer: &mut Trainer| {
        let mut lines = Lines::new(&b"to sleep\n"[..], "text", &TextOptions::default()).unwrap();
        trainer.train_source(&mut lines).unwrap();
    };
    times.mark(10, 9);
    learn(&mut trainer);
    times.resolve(trainer.vocabulary());
    trainer.set_word_times(times.clone());
    trainer.save(&path).unwrap();
    let words = trainer.vocabulary();
    let seen = |word| times.of(words, words.id(word).unwrap());
    assert_eq!([seen("to"), seen("be"), seen("sleep")], [[7, 9], [7, 7], [9, 9]]);
    let loaded_again = Trainer::load(&path, None).unwrap();
    let saved = loaded_again.word_times().unwrap();
    assert!(words.ids().all(|id| saved.of(words, id) == times.of(words, id)));
    learn(&mut loaded);
    loaded.save(&path).unwrap();
    assert_eq!(Trainer::load(&path, None).unwrap().word_times(), None);
}

/// Sentences of two words, of which three are a document.
struct Documents(std::ops::Range<u64>);

impl Source for Documents {
    fn read(&mut self, sentence: &mut Sentence) -> crate::Result<Read> {
        sentence.clear();
        let Some(number) = self.0.next() else { return Ok(Read::End) };
        [number % 7, number % 2].iter().for_each(|word| sentence.push(&format!("w{word}")));
        sentence.set_document(number / 3);
        Ok(Read::Sentence)
    }
}

#[test]
fn documents_are_counted_on_from_the_middle_of_one() {
    let (folder, path) = place();
    for strategy in [Strategy::mini_batch(), Strategy::incremental()] {
        let config = Config { dimensions: 3, strategy, ..Config::default() };
        let mut trainer = Trainer::new(config).unwrap();
        trainer.train_source(&mut Documents(0..100)).unwrap();
        trainer.save(&path).unwrap();
        let mut resumed = Trainer::load(&path, None).unwrap();
        let states = [&mut trainer, &mut resumed].map(|trainer| {
            trainer.train_source(&mut Documents(100..200)).unwrap();
            trainer.save(&path).unwrap();
            std::fs::read(&path).unwrap()
        });
        assert!(states[0] == states[1], "it is as if there had been no pause");
        let vectors = folder.path().join("vectors");
        trainer.embeddings().unwrap().save(&vectors).unwrap();
        for embeddings in [
            trainer.embeddings().unwrap(),
            Embeddings::load(&path, Vectors::default()).unwrap(),
            Embeddings::open(&vectors, Vectors::default()).unwrap(),
            Embeddings::load(&vectors, Vectors::default()).unwrap().select(&[5, 0]).unwrap(),
        ] {
            for (row, word) in embeddings.words().enumerate() {
                // Every document has both of these words, and any other at most once.
                let expected = if ["w0", "w1"].contains(&word) { 67 } else { embeddings.count(row) };
                assert_eq!(embeddings.document_count(row), expected, "{word}");
            }
        }
    }
}
