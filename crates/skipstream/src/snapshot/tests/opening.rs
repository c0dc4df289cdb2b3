//! Memory-mapped files.

use proptest::prelude::*;

use super::super::metadata::Contents;
use super::super::tensor::write_file;
use super::{change, flip_a_bit, place, replace, small_trainer};
use crate::vocabulary::WordId;
use crate::{Embeddings, Error, Vectors};

/// Everything that can be asked, as text with the bits of numbers.
pub(super) fn answers(embeddings: &Embeddings) -> Vec<String> {
    let mut answers = vec![format!("{} {:?}", embeddings.dimensions(), embeddings.origin())];
    for (row, word) in embeddings.words().enumerate() {
        assert_eq!(embeddings.index_of(word), Some(row));
        let bits: Vec<u32> = embeddings.vector_at(row).iter().map(|value| value.to_bits()).collect();
        answers.push(format!("{word} {} {bits:?}", embeddings.count(row)));
        for neighbor in embeddings.neighbors(word, 10).unwrap() {
            answers.push(format!(
                "{} {:x} {:?}",
                neighbor.word,
                neighbor.similarity.to_bits(),
                neighbor.count
            ));
            let similarity = embeddings.similarity(word, neighbor.word).unwrap();
            answers.push(format!("{:x}", similarity.to_bits()));
        }
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn opened_and_loaded_vectors_give_the_same_answers_bit_for_bit(
        (dimensions, values) in (1usize..40, 0usize..30).prop_flat_map(|(dimensions, words)| {
            let value = prop_oneof![-2.0f32..2.0, Just(0.0), Just(1e20), Just(-1e-30)];
            (Just(dimensions), proptest::collection::vec(value, dimensions * words))
        }),
        n in 0usize..40,
    ) {
        let (_folder, path) = place();
        let words = (0..values.len() / dimensions).map(|number| (format!("w{number}"), number as u64 / 3));
        let saved = Embeddings::new(dimensions, words, values).unwrap();
        saved.save(&path).unwrap();
        let opened = Embeddings::open(&path, Vectors::default()).unwrap();
        prop_assert_eq!(answers(&opened), answers(&Embeddings::load(&path, Vectors::default()).unwrap()));
        prop_assert_eq!(answers(&opened.top(n)), answers(&saved.top(n)));
    }
}

#[test]
fn every_kind_of_vectors_of_a_model_is_the_same_opened_and_loaded() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    for vectors in Vectors::ALL {
        let opened = Embeddings::open(&path, vectors).unwrap();
        assert_eq!(answers(&opened), answers(&Embeddings::load(&path, vectors).unwrap()));
    }
}

#[test]
fn rows_in_another_order_are_refused() {
    let (_folder, path) = place();
    let trainer = small_trainer();
    let ids: Vec<WordId> = trainer.vocabulary().ids().collect();
    let contents = Contents::Training(Box::new(trainer.metadata()));
    write_file(&path, trainer.tensors(&ids), contents).unwrap();
    let message = Embeddings::open(&path, Vectors::default()).unwrap_err().to_string();
    assert!(message.contains("its words are not sorted by frequency"), "{message}");
}

#[test]
fn a_file_that_is_replaced_or_deleted_stays_as_it_was() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    let opened = Embeddings::open(&path, Vectors::default()).unwrap();
    let before = answers(&opened);
    Embeddings::new(1, [("other", 1)], vec![1.0]).unwrap().save(&path).unwrap();
    assert_eq!(answers(&opened), before);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(answers(&opened), before);
}

#[test]
fn a_flipped_bit_in_what_is_read_is_found() {
    for tensor in ["words", "word_ends", "counts"] {
        let (_folder, path) = place();
        small_trainer().save(&path).unwrap();
        change(&path, |bytes| flip_a_bit(bytes, tensor));
        let message = Embeddings::open(&path, Vectors::default()).unwrap_err().to_string();
        assert!(message.contains(&format!("the checksum of `{tensor}` is wrong")), "{message}");
    }
}

#[test]
fn a_flipped_bit_in_vectors_is_found_if_asked_for() {
    for tensor in ["target", "context"] {
        let (_folder, path) = place();
        small_trainer().save(&path).unwrap();
        let intact = answers(&Embeddings::open_verified(&path, Vectors::default()).unwrap());
        assert_eq!(intact, answers(&Embeddings::open(&path, Vectors::default()).unwrap()));
        change(&path, |bytes| flip_a_bit(bytes, tensor));
        assert!(Embeddings::open(&path, Vectors::default()).is_ok());
        let message = Embeddings::open_verified(&path, Vectors::default()).unwrap_err().to_string();
        assert!(message.contains(&format!("the checksum of `{tensor}` is wrong")), "{message}");
    }
}

#[test]
fn a_file_of_another_length_is_refused() {
    for lengthen in [true, false] {
        let (_folder, path) = place();
        small_trainer().save(&path).unwrap();
        change(&path, |bytes| if lengthen { bytes.push(0) } else { bytes.truncate(bytes.len() / 2) });
        let error = Embeddings::open(&path, Vectors::default()).unwrap_err();
        assert!(matches!(error, Error::ModelFile { .. }), "{error:?}");
    }
}

#[test]
fn matrices_of_different_shapes_are_refused() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    change(&path, |bytes| replace(bytes, r#""shape":[8,5]"#, r#""shape":[5,8]"#));
    for read in [Embeddings::open, Embeddings::load] {
        let message = read(&path, Vectors::default()).unwrap_err().to_string();
        assert!(message.contains("is F32 [5, 8]; it must be F32 [8, 5]"), "{message}");
    }
}

#[test]
fn a_value_of_a_model_that_is_not_finite_spoils_only_its_own_word() {
    let (_folder, path) = place();
    let trainer = small_trainer();
    trainer.save(&path).unwrap();
    let bytes = trainer.embeddings_of(Vectors::Target).unwrap().vector_at(2)[1].to_le_bytes();
    change(&path, |model| {
        let at = model.windows(4).position(|window| window == bytes).unwrap();
        model[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    for vectors in [Vectors::Sum, Vectors::Joined] {
        let opened = Embeddings::open(&path, vectors).unwrap();
        for (row, word) in opened.words().enumerate() {
            match opened.neighbors(word, 9) {
                Ok(found) => assert!(row != 2 && found.iter().any(|found| found.similarity != 0.0)),
                Err(error) => {
                    let message = format!("value 2 of `{word}` (word 3) is NaN");
                    assert!(row == 2 && error.to_string().starts_with(&message), "{error}");
                }
            }
        }
    }
}

#[test]
fn a_value_that_is_not_finite_spoils_only_its_own_word() {
    let (_folder, path) = place();
    let words = [("a", 4), ("b", 3), ("c", 2), ("d", 1)];
    Embeddings::new(2, words, vec![1.0, 0.0, 0.6, 0.8, 7.25, 1.0, -1.0, 0.0]).unwrap().save(&path).unwrap();
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        change(&path, |bytes| {
            let at = bytes.windows(4).position(|window| window == 7.25f32.to_le_bytes()).unwrap();
            bytes[at..at + 4].copy_from_slice(&odd.to_le_bytes());
        });
        let opened = Embeddings::open(&path, Vectors::default()).unwrap();
        let nearest: Vec<(&str, f32)> =
            opened.neighbors("a", 9).unwrap().iter().map(|found| (found.word, found.similarity)).collect();
        assert_eq!(nearest, [("b", 0.6), ("c", 0.0), ("d", -1.0)]);
        for error in [opened.neighbors("c", 1).unwrap_err(), opened.similarity("a", "c").unwrap_err()] {
            assert!(error.to_string().starts_with(&format!("value 1 of `c` (word 3) is {odd}")), "{error}");
        }
        change(&path, |bytes| {
            let at = bytes.windows(4).position(|window| window == odd.to_le_bytes()).unwrap();
            bytes[at..at + 4].copy_from_slice(&7.25f32.to_le_bytes());
        });
    }
}
