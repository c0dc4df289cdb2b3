//! Files of vectors.

use std::borrow::Cow;

use super::super::metadata::{Contents, VectorsMetadata};
use super::super::tensor::{Named, Tensor, word_tensors, write_file};
use super::{change, flip_a_bit, place, replace, small_trainer};
use crate::corpus::{TextOptions, Tokenizer};
use crate::embeddings::Origin;
use crate::phrases::{Reading, ReadingMetadata};
use crate::{Config, Embeddings, Error, HalfLife, MiniBatchOptions, Strategy, Trainer, Vectors};

fn three() -> Embeddings {
    let words = [("tea", 9), ("milk", 7), ("käse", 7)];
    Embeddings::new(2, words, vec![1.0, -0.5, 0.1, f32::MIN_POSITIVE, -0.0, 3.0]).unwrap()
}

/// The tensors of [`three`], to be spoiled.
fn tensors() -> Vec<Named<'static>> {
    let [words, ends] = word_tensors(["tea", "käse", "milk"].into_iter());
    let counts = Tensor::list([9u64, 7, 7].into_iter());
    let vectors = matrix([3, 2], vec![1.0; 6]);
    vec![("words", words), ("word_ends", ends), ("counts", counts), ("vectors", vectors)]
}

fn matrix(shape: [usize; 2], values: Vec<f32>) -> Tensor<'static> {
    Tensor::rows(shape, move |to| to.write_all(bytemuck::cast_slice(&values)))
}

/// What is said of a file with another tensor in the place of a good one.
fn complaint(name: &'static str, tensor: Tensor<'static>) -> String {
    let mut tensors = tensors();
    tensors.retain(|(other, _)| *other != name);
    tensors.push((name, tensor));
    complaint_of(tensors)
}

fn complaint_of(tensors: Vec<Named<'static>>) -> String {
    let (_folder, path) = place();
    let contents = VectorsMetadata {
        origin: None,
        counts_are_places: false,
        recent_counts: false,
        document_counts: false,
        quantization: None,
        reading: ReadingMetadata::default(),
    };
    write_file(&path, tensors, Contents::Vectors(contents)).unwrap();
    defect(&path)
}

fn defect(path: &std::path::Path) -> String {
    let error = Embeddings::load(path, Vectors::default()).unwrap_err();
    assert!(matches!(error, Error::ModelFile { .. }), "{error:?}");
    error.to_string()
}

fn bits(embeddings: &Embeddings) -> Vec<u32> {
    embeddings.vectors().flat_map(Cow::into_owned).map(f32::to_bits).collect()
}

#[test]
fn what_is_saved_is_loaded_bit_for_bit() {
    let (_folder, path) = place();
    let origin =
        Origin { source: "vectors.txt".to_owned(), format: "word2vec-text".to_owned(), vectors: None };
    let saved = three().with_origin(Some(origin));
    saved.save(&path).unwrap();
    let loaded = Embeddings::load(&path, Vectors::default()).unwrap();
    assert_eq!(bits(&loaded), bits(&saved));
    assert!(loaded.words().eq(["tea", "käse", "milk"]));
    assert_eq!([0, 1, 2].map(|row| loaded.count(row)), [9, 7, 7]);
    assert_eq!(loaded.origin(), saved.origin());
    let bytes = std::fs::read(&path).unwrap();
    loaded.save(&path).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes, "the same embeddings, the same bytes");
}

#[test]
fn only_the_words_that_are_seen_are_saved() {
    let (_folder, path) = place();
    three().top(1).save(&path).unwrap();
    let loaded = Embeddings::load(&path, Vectors::default()).unwrap();
    assert!(loaded.words().eq(["tea"]));
    three().top(0).save(&path).unwrap();
    let loaded = Embeddings::load(&path, Vectors::default()).unwrap();
    assert_eq!((loaded.len(), loaded.dimensions()), (0, 2));
}

#[test]
fn the_vectors_of_a_model_know_where_they_came_from() {
    let (_folder, path) = place();
    small_trainer().save(&path).unwrap();
    let embeddings = Embeddings::load(&path, Vectors::Context).unwrap();
    let expected = Origin {
        source: "model".to_owned(),
        format: "skipstream".to_owned(),
        vectors: Some(Vectors::Context),
    };
    assert_eq!(embeddings.origin(), Some(&expected));
}

#[test]
fn a_choice_of_vectors_is_refused() {
    let (_folder, path) = place();
    three().save(&path).unwrap();
    for vectors in [Vectors::Target, Vectors::Context] {
        let message = Embeddings::load(&path, vectors).unwrap_err().to_string();
        let expected = format!(
            "{}: this file has one kind of vectors only; it has no separate {vectors} vectors",
            path.display()
        );
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn training_cannot_go_on_from_vectors() {
    let (_folder, path) = place();
    three().save(&path).unwrap();
    let message = Trainer::load(&path, None).unwrap_err().to_string();
    assert!(message.contains("model: this file has vectors but no training state"), "{message}");
}

#[test]
fn a_flipped_bit_in_any_tensor_is_found() {
    for tensor in ["words", "word_ends", "counts", "vectors"] {
        let (_folder, path) = place();
        three().save(&path).unwrap();
        change(&path, |bytes| flip_a_bit(bytes, tensor));
        let message = defect(&path);
        assert!(message.contains(&format!("the checksum of `{tensor}` is wrong")), "{message}");
    }
}

#[test]
fn a_header_that_lies_about_sizes_is_refused() {
    let (_folder, path) = place();
    three().save(&path).unwrap();
    change(&path, |bytes| replace(bytes, r#""shape":[3,2]"#, r#""shape":[9,2]"#));
    assert!(defect(&path).contains("invalid header: "));
}

#[test]
fn a_kind_that_is_not_known_is_refused() {
    let (_folder, path) = place();
    three().save(&path).unwrap();
    change(&path, |bytes| replace(bytes, r#"{\"vectors\":{"#, r#"{\"tensors\":{"#));
    let message = defect(&path);
    assert!(message.contains("invalid metadata: unknown variant `tensors`"), "{message}");
}

#[test]
fn a_missing_tensor_is_named() {
    let mut tensors = tensors();
    tensors.retain(|(name, _)| *name != "counts");
    assert!(complaint_of(tensors).contains("`counts` is missing"));
}

#[test]
fn a_tensor_of_another_type_is_refused() {
    let counts = Tensor::list([9u32, 7, 7].into_iter());
    assert!(complaint("counts", counts).contains("`counts` is U32 [3]; it must be U64 [3]"));
}

#[test]
fn a_matrix_that_does_not_fit_the_words_is_refused() {
    for (shape, message) in [
        ([2, 3], "`vectors` is F32 [2, 3]; it must be F32 [3, 3]"),
        ([3, 0], "`vectors` is F32 [3, 0]; it must be F32 [3, 1]"),
    ] {
        let values = vec![1.0; shape.iter().product()];
        let complaint = complaint("vectors", matrix(shape, values));
        assert!(complaint.contains(message), "{complaint}");
    }
    let list = complaint("vectors", Tensor::list([1.0f32; 6].into_iter()));
    assert!(list.contains("`vectors` is F32 [6]; it must be F32 [3, 1]"), "{list}");
}

#[test]
fn an_unexpected_tensor_is_named() {
    let complaint = complaint("target", matrix([3, 2], vec![1.0; 6]));
    assert!(complaint.contains("unexpected tensor `target`"), "{complaint}");
}

#[test]
fn counts_that_do_not_fit_the_words_are_refused() {
    let counts = Tensor::list([9u64, 7].into_iter());
    assert!(complaint("counts", counts).contains("`counts` is U64 [2]; it must be U64 [3]"));
}

#[test]
fn ends_of_words_that_do_not_fit_are_refused() {
    // In reverse; after the text; before its end; within the ä.
    for ends in [vec![8u64, 3, 12], vec![3, 8, 13], vec![3, 8, 11], vec![3, 5, 12]] {
        let complaint = complaint("word_ends", Tensor::list(ends.into_iter()));
        assert!(complaint.contains("`word_ends` does not fit `words`"), "{complaint}");
    }
}

#[test]
fn words_that_are_not_utf_8_are_refused() {
    let words = Tensor::list(b"tea\xff\xffsemilk".iter().copied());
    assert!(complaint("words", words).contains("`words` is not valid UTF-8"));
}

#[test]
fn a_word_that_is_there_twice_is_refused() {
    let words = Tensor::list(b"teateatea".iter().copied());
    let mut tensors = tensors();
    tensors.retain(|(name, _)| !name.starts_with("word"));
    tensors.push(("words", words));
    tensors.push(("word_ends", Tensor::list([3u64, 6, 9].into_iter())));
    assert!(complaint_of(tensors).contains("`tea` occurs twice"));
}

#[test]
fn a_value_that_is_not_finite_is_refused() {
    let complaint = complaint("vectors", matrix([3, 2], vec![1.0, 1.0, 1.0, f32::NAN, 1.0, 1.0]));
    assert!(complaint.contains("value 2 of `käse` (word 2) is NaN"), "{complaint}");
}

#[test]
fn words_are_looked_up_as_the_text_of_the_model_has_them() {
    let text =
        TextOptions { lowercase: true, nfkc: true, tokenizer: Tokenizer::Unicode, ..TextOptions::default() };
    let mut trainer = Trainer::new(Config { dimensions: 4, text, ..Config::default() }).unwrap();
    trainer.train_lines("the government of the file is open\n".as_bytes()).unwrap();
    let (_folder, path) = place();
    trainer.save(&path).unwrap();
    let vectors = path.with_extension("vectors");
    let made = trainer.embeddings().unwrap();
    made.save(&vectors).unwrap();
    let loaded = |path| Embeddings::load(path, Vectors::default()).unwrap();
    let opened = |path| Embeddings::open(path, Vectors::default()).unwrap();
    for embeddings in [
        made.clone(),
        made.normalized().unwrap(),
        loaded(&path),
        opened(&path),
        loaded(&vectors),
        opened(&vectors),
    ] {
        let row = embeddings.row_of("government").unwrap();
        for word in ["Government", "GOVERNMENT,", "“government”"] {
            assert_eq!(embeddings.row_of(word).unwrap(), row, "{word}");
        }
        assert_eq!(embeddings.index_of("ﬁle"), embeddings.index_of("file"));
        assert_eq!(embeddings.index_of("open government"), None, "these are two words");
        assert_eq!(embeddings.index_of("Parliament"), None);
        assert_eq!(embeddings.exact_index_of("Government"), None);
    }
    assert_eq!(
        trainer.live(Vectors::Sum).vector("Government"),
        trainer.live(Vectors::Sum).vector("government")
    );
    assert!(trainer.live(Vectors::Sum).vector("Government").is_some());
}

#[test]
fn a_word_as_it_is_written_comes_first() {
    let text = TextOptions { lowercase: true, ..TextOptions::default() };
    let words = [("apple", 3), ("Apple", 2)];
    let embeddings = Embeddings::new(1, words, vec![1.0, 2.0]).unwrap();
    assert_eq!(embeddings.index_of("APPLE"), None, "the text may have had both spellings");
    let embeddings = embeddings.with_reading(Reading::of_text(&text));
    assert_eq!(embeddings.index_of("Apple"), Some(1));
    assert_eq!(embeddings.index_of("APPLE"), Some(0));
}

/// A model with a half-life, after a text about tea and a shorter one about milk.
fn forgetful() -> Trainer {
    let options = MiniBatchOptions { half_life: Some(HalfLife::Words(100)), ..MiniBatchOptions::default() };
    let config = Config { dimensions: 3, strategy: Strategy::MiniBatch(options), ..Config::default() };
    let mut trainer = Trainer::new(config).unwrap();
    trainer.train(vec![["old", "tea"]; 200]).unwrap();
    trainer.train(vec![["new", "milk"]; 150]).unwrap();
    trainer.train(vec![["rare"]; 1]).unwrap();
    trainer
}

#[test]
fn recent_counts_decide_and_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let [model, vectors] = ["model", "vectors"].map(|name| folder.path().join(name));
    let trainer = forgetful();
    trainer.save(&model).unwrap();
    let kind = Vectors::default();
    trainer.embeddings().unwrap().save(&vectors).unwrap();
    for embeddings in [
        trainer.embeddings().unwrap(),
        Embeddings::load(&model, kind).unwrap(),
        Embeddings::open(&model, kind).unwrap(),
        Embeddings::load(&vectors, kind).unwrap(),
        Embeddings::open(&vectors, kind).unwrap(),
        Embeddings::load(&vectors, kind).unwrap().normalized().unwrap(),
    ] {
        assert!(embeddings.words().eq(["milk", "new", "old", "tea", "rare"]));
        let counts = |row| (embeddings.count(row), embeddings.recent_count(row));
        // After 701 words, a token of the first batch weighs 2^(−701/100), and one of the second 2^(−301/100).
        assert_eq!([0, 2, 4].map(counts), [(150, 19), (200, 2), (1, 1)]);
        assert_eq!(embeddings.default_min_count(), 1);
        assert_eq!(embeddings.with_min_count(3).len(), 2);
        assert_eq!(embeddings.candidates(Some(2), None), 0..4);
    }
    let found = crate::snapshot::words(&model).unwrap();
    assert_eq!((found[2].count, found[2].recent_count, found[2].counter), (Some(200), Some(2), Some(1)));
    assert_eq!(crate::snapshot::words(&vectors).unwrap()[2].recent_count, Some(2));
}
