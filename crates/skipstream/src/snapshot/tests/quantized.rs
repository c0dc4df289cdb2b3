//! Files of quantized vectors.

use proptest::prelude::*;

use super::super::inspect::inspect;
use super::super::metadata::{Contents, VectorsMetadata};
use super::super::tensor::{Named, Tensor, word_tensors, write_file};
use super::opening::answers;
use super::{change, flip_a_bit, place, replace};
use crate::phrases::ReadingMetadata;
use crate::train::Initial;
use crate::{Config, Embeddings, Error, Quantization, Trainer, Vectors};

const READERS: [fn(&std::path::Path, Vectors) -> crate::Result<Embeddings>; 3] = [
    |path, vectors| Embeddings::load(path, vectors),
    |path, vectors| Embeddings::open(path, vectors),
    |path, vectors| Embeddings::open_verified(path, vectors),
];

fn three(quantization: Quantization) -> Embeddings {
    let words = [("tea", 9), ("milk", 7), ("käse", 7)];
    let embeddings = Embeddings::new(2, words, vec![1.0, -0.5, 0.1, 7.0, -0.0, 3.0]).unwrap();
    embeddings.quantized(quantization).unwrap()
}

/// The tensors of three words in `int8`, to be spoiled.
fn tensors() -> Vec<Named<'static>> {
    let [words, ends] = word_tensors(["tea", "käse", "milk"].into_iter());
    let counts = Tensor::list([9u64, 7, 7].into_iter());
    let vectors = Tensor::matrix([3, 2], &[1i8, 2, 3, 4, 5, -128]);
    let scales = Tensor::list([1f32, 0.5, 0.0].into_iter());
    vec![("words", words), ("word_ends", ends), ("counts", counts), ("vectors", vectors), ("scales", scales)]
}

/// What is said of a file of `int8` with another tensor in the place of a good one, whichever way it is read.
fn complaint(name: &'static str, tensor: Option<Tensor<'static>>) -> String {
    let mut tensors = tensors();
    tensors.retain(|(other, _)| *other != name);
    tensors.extend(tensor.map(|tensor| (name, tensor)));
    let (_folder, path) = place();
    write(&path, tensors, Quantization::Int8);
    let [first, others @ ..] = READERS.map(|read| {
        let error = read(&path, Vectors::default()).unwrap_err();
        assert!(matches!(error, Error::ModelFile { .. }), "{error:?}");
        error.to_string()
    });
    assert!(others.iter().all(|other| *other == first), "{first} {others:?}");
    first
}

fn write(path: &std::path::Path, tensors: Vec<Named<'static>>, quantization: Quantization) {
    let contents = VectorsMetadata {
        origin: None,
        counts_are_places: false,
        recent_counts: false,
        document_counts: false,
        quantization: Some(quantization),
        reading: ReadingMetadata::default(),
    };
    write_file(path, tensors, Contents::Vectors(contents)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn saved_opened_and_loaded_vectors_give_the_answers_of_full_precision(
        (dimensions, values) in (1usize..40, 0usize..30).prop_flat_map(|(dimensions, words)| {
            let value = prop_oneof![-2.0f32..2.0, Just(0.0), Just(6e4), Just(-1e-30)];
            (Just(dimensions), proptest::collection::vec(value, dimensions * words))
        }),
        quantization in prop_oneof![Just(Quantization::F16), Just(Quantization::Int8)],
        n in 0usize..40,
    ) {
        let (_folder, path) = place();
        let words = || (0..values.len() / dimensions).map(|number| (format!("w{number}"), number as u64 / 3));
        let small = Embeddings::new(dimensions, words(), values.clone()).unwrap().quantized(quantization).unwrap();
        let words = (0..small.len()).map(|row| (small.word(row), small.count(row)));
        let full = Embeddings::new(dimensions, words, small.matrix().into_owned()).unwrap();
        prop_assert_eq!(answers(&small), answers(&full));
        small.save(&path).unwrap();
        for read in READERS {
            let found = read(&path, Vectors::default()).unwrap();
            prop_assert_eq!(found.quantization(), Some(quantization));
            prop_assert_eq!(answers(&found), answers(&full));
            prop_assert_eq!(answers(&found.top(n)), answers(&full.top(n)));
        }
        let bytes = std::fs::read(&path).unwrap();
        Embeddings::open(&path, Vectors::default()).unwrap().save(&path).unwrap();
        prop_assert!(std::fs::read(&path).unwrap() == bytes, "the same embeddings, the same bytes");
    }
}

#[test]
fn opened_files_are_mapped_and_loaded_ones_are_not() {
    let (_folder, path) = place();
    for quantization in Quantization::ALL {
        three(quantization).save(&path).unwrap();
        let is_mapped = READERS.map(|read| read(&path, Vectors::default()).unwrap().is_mapped());
        assert_eq!(is_mapped, [false, true, true]);
    }
}

#[test]
fn files_are_a_half_and_a_quarter_of_the_size() {
    let (_folder, path) = place();
    let words = (0..1_000u64).map(|row| (row.to_string(), row));
    let embeddings = Embeddings::new(100, words, vec![1.0; 100_000]).unwrap();
    let size = |embeddings: &Embeddings| {
        embeddings.save(&path).unwrap();
        std::fs::metadata(&path).unwrap().len()
    };
    let [full, half, quarter] = [
        size(&embeddings),
        size(&embeddings.quantized(Quantization::F16).unwrap()),
        size(&embeddings.quantized(Quantization::Int8).unwrap()),
    ];
    assert_eq!((full - half) / 1_000, 199, "2 bytes less per value, but for the header");
    assert_eq!((full - quarter) / 1_000, 295, "3 bytes less per value, and a scale of 4 bytes");
}

#[test]
fn an_inspection_reports_the_type_and_the_norms() {
    let (_folder, path) = place();
    for (quantization, dtype) in [(Quantization::F16, "F16"), (Quantization::Int8, "I8")] {
        let embeddings = three(quantization);
        embeddings.save(&path).unwrap();
        let found = inspect(&path).unwrap();
        assert!(found.problems.is_empty());
        assert_eq!((found.quantization, found.dimensions), (Some(quantization), 2));
        let tensor = found.tensors.iter().find(|tensor| tensor.name == "vectors").unwrap();
        assert_eq!((tensor.dtype.as_str(), &tensor.shape[..]), (dtype, &[3, 2][..]));
        let norms = embeddings.vectors().map(|vector| f64::from(vector[0]).hypot(f64::from(vector[1])));
        let norms: Vec<f64> = norms.collect();
        assert!(
            (found.norms[0].max - norms[2]).abs() < 1e-12 && (found.norms[0].min - norms[0]).abs() < 1e-12
        );
    }
}

#[test]
fn a_flipped_bit_is_found() {
    for (tensor, quantization) in
        [("vectors", Quantization::F16), ("vectors", Quantization::Int8), ("scales", Quantization::Int8)]
    {
        let (_folder, path) = place();
        three(quantization).save(&path).unwrap();
        change(&path, |bytes| flip_a_bit(bytes, tensor));
        let expected = format!("the checksum of `{tensor}` is wrong");
        for read in [READERS[0], READERS[2]] {
            let message = read(&path, Vectors::default()).unwrap_err().to_string();
            assert!(message.contains(&expected), "{message}");
        }
        // Scales are read when a file is opened, and vectors are not.
        assert_eq!(Embeddings::open(&path, Vectors::default()).is_err(), tensor == "scales");
        assert_eq!(inspect(&path).unwrap().problems, [expected]);
    }
}

#[test]
fn a_scale_that_cannot_be_is_refused() {
    for scale in [f32::NAN, f32::INFINITY, -1.0, 3e36] {
        let message = complaint("scales", Some(Tensor::list([1.0, scale, 0.0].into_iter())));
        assert!(message.contains(&format!("value 1 of `scales` is {scale}")), "{message}");
    }
}

#[test]
fn tensors_of_another_type_or_shape_are_refused() {
    let scales = complaint("scales", Some(Tensor::list([1f32, 2.0].into_iter())));
    assert!(scales.contains("`scales` is F32 [2]; it must be F32 [3]"), "{scales}");
    assert!(complaint("scales", None).contains("`scales` is missing"));
    let vectors = complaint("vectors", Some(Tensor::matrix([2, 3], &[0i8; 6])));
    assert!(vectors.contains("`vectors` is I8 [2, 3]; it must be I8 [3, 3]"), "{vectors}");
    let vectors = complaint("vectors", Some(Tensor::matrix([3, 2], &[0f32; 6])));
    assert!(vectors.contains("`vectors` is F32 [3, 2]; it must be I8 [3, 2]"), "{vectors}");
}

#[test]
fn the_tensors_of_another_quantization_are_refused() {
    let (_folder, path) = place();
    write(&path, tensors(), Quantization::F16);
    let message = Embeddings::open(&path, Vectors::default()).unwrap_err().to_string();
    assert!(message.contains("`vectors` is I8 [3, 2]; it must be F16 [3, 2]"), "{message}");
    three(Quantization::Int8).save(&path).unwrap();
    change(&path, |bytes| replace(bytes, r#"\"int8\""#, r#"\"int4\""#));
    let message = Embeddings::open(&path, Vectors::default()).unwrap_err().to_string();
    assert!(message.contains("invalid metadata: unknown variant `int4`"), "{message}");
}

#[test]
fn words_in_another_order_are_refused() {
    let counts = Tensor::list([7u64, 7, 9].into_iter());
    assert!(complaint("counts", Some(counts)).contains("its words are not sorted by frequency"));
}

#[test]
fn a_word_that_is_there_twice_is_refused() {
    let (_folder, path) = place();
    let mut tensors = tensors();
    tensors.retain(|(name, _)| *name != "words" && *name != "word_ends");
    let [words, ends] = word_tensors(["tea", "tea", "tea"].into_iter());
    tensors.extend([("words", words), ("word_ends", ends)]);
    write(&path, tensors, Quantization::Int8);
    let message = Embeddings::load(&path, Vectors::default()).unwrap_err().to_string();
    assert!(message.contains("`tea` occurs twice"), "{message}");
}

#[test]
fn a_value_of_half_precision_that_is_not_finite_spoils_only_its_own_word() {
    let (_folder, path) = place();
    for (bits, value) in [(0x7c00u16, f32::INFINITY), (0xfc00, f32::NEG_INFINITY), (0x7e00, f32::NAN)] {
        let mut tensors = tensors();
        tensors.retain(|(name, _)| *name != "vectors" && *name != "scales");
        let one = half::f16::ONE.to_bits();
        tensors.push(("vectors", Tensor::matrix([3, 2], vec![one, one, bits, one, one, 0].leak())));
        write(&path, tensors, Quantization::F16);
        let expected = format!("value 1 of `käse` (word 2) is {value}");
        let message = Embeddings::load(&path, Vectors::default()).unwrap_err().to_string();
        assert!(message.contains(&expected), "{message}");
        let opened = Embeddings::open(&path, Vectors::default()).unwrap();
        let found: Vec<(&str, f32)> =
            opened.neighbors("tea", 9).unwrap().iter().map(|found| (found.word, found.similarity)).collect();
        assert_eq!(found, [("milk", 0.5f32.sqrt()), ("käse", 0.0)]);
        assert!(opened.neighbors("käse", 1).unwrap_err().to_string().starts_with(&expected));
    }
}

#[test]
fn words_start_training_with_quantized_vectors_in_full_precision() {
    let (_folder, path) = place();
    three(Quantization::Int8).save(&path).unwrap();
    let initial = Initial::load(&path).unwrap();
    let mut trainer = Trainer::starting_from(Config { dimensions: 2, ..Config::default() }, initial).unwrap();
    trainer.train_lines("tea with milk\n".as_bytes()).unwrap();
    trainer.save(&path).unwrap();
    let mut again = Trainer::load(&path, None).unwrap();
    again.train_lines("käse\n".as_bytes()).unwrap();
}
