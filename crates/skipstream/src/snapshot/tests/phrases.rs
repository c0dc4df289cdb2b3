//! The state of phrases.

use super::super::metadata::{Contents, TrainingMetadata};
use super::super::tensor::{Named, Tensor, write_file};
use super::place;
use crate::train::testing::{bytes, learn};
use crate::{Config, Connectors, PhraseOptions, PhraseScore, Trainer};

/// A model with the phrases `new_york`, `york_city`, `new_york_city` and `state_of_mind`, of which the third is longer than
/// the first, and a given one.
fn trainer() -> Trainer {
    let phrases = PhraseOptions {
        score: PhraseScore::Npmi,
        min_count: Some(3),
        pairs: Some(200),
        connectors: Some(Connectors::English),
        ..PhraseOptions::default()
    };
    let config = Config { dimensions: 5, subsample: 0.0, phrases, ..Config::default() };
    let mut trainer = Trainer::new(config).unwrap();
    trainer.add_phrases(["city hall"]).unwrap();
    let others: String = (0..200).map(|n| format!("{} {} {}\n", n % 7, n % 11, n % 13)).collect();
    learn(&mut trainer, &(others + &"new york city\nstate of mind\n".repeat(5)));
    learn(&mut trainer, &"new york city\nstate of mind\n".repeat(5));
    let words: Vec<String> = trainer.phrases().into_iter().map(|phrase| phrase.word).collect();
    assert_eq!(words, ["new_york", "state_of_mind", "york_city", "new_york_city", "city_hall"]);
    trainer
}

/// What is said of a model with other tensors or metadata.
fn complaint(change: impl FnOnce(&mut Vec<Named<'_>>, &mut TrainingMetadata)) -> String {
    let (_folder, path) = place();
    let trainer = trainer();
    let ids = trainer.ids_by_frequency(usize::MAX);
    let (mut tensors, mut metadata) = (trainer.tensors(&ids), trainer.metadata());
    change(&mut tensors, &mut metadata);
    write_file(&path, tensors, Contents::Training(Box::new(metadata))).unwrap();
    Trainer::load(&path, None).unwrap_err().to_string()
}

fn set<'a>(tensors: &mut Vec<Named<'a>>, name: &'static str, tensor: Tensor<'a>) {
    tensors.retain(|(other, _)| *other != name);
    tensors.push((name, tensor));
}

/// The keys and numbers of the pairs, changed.
fn with_pairs(change: impl FnOnce(&mut Vec<[u32; 3]>, &mut Vec<[u64; 3]>)) -> String {
    let trainer = trainer();
    let discovery = trainer.phrases_of_stream().unwrap().discovery().unwrap();
    let (mut keys, mut numbers) = (discovery.saved_keys().collect(), discovery.saved_numbers().collect());
    change(&mut keys, &mut numbers);
    complaint(|tensors, _| {
        set(tensors, "phrase_pairs", Tensor::list(keys.into_iter()));
        set(tensors, "phrase_pair_counts", Tensor::list(numbers.into_iter()));
    })
}

fn with_phrases(change: impl FnOnce(&mut Vec<[u64; 2]>)) -> String {
    let trainer = trainer();
    let mut phrases = trainer.phrases_of_stream().unwrap().discovery().unwrap().saved_phrases().collect();
    change(&mut phrases);
    complaint(|tensors, _| set(tensors, "phrases", Tensor::list(phrases.into_iter())))
}

fn assert_ends(message: &str, expected: &str) {
    assert!(message.ends_with(&format!("the model file is damaged: {expected}")), "{message}");
}

#[test]
fn a_model_with_phrases_is_restored() {
    let (_folder, path) = place();
    let mut trainer = trainer();
    trainer.save(&path).unwrap();
    let mut loaded = Trainer::load(&path, None).unwrap();
    assert_eq!(loaded.phrases(), trainer.phrases());
    for trainer in [&mut trainer, &mut loaded] {
        learn(trainer, &"new york city hall\n".repeat(5));
    }
    assert!(bytes(&loaded) == bytes(&trainer));
}

#[test]
fn a_missing_tensor_is_named() {
    for name in [
        "phrase_parts",
        "phrase_part_ends",
        "phrase_part_counts",
        "phrase_pairs",
        "phrase_pair_counts",
        "phrases",
    ] {
        let message = complaint(|tensors, _| tensors.retain(|(other, _)| *other != name));
        assert_ends(&message, &format!("`{name}` is missing"));
    }
}

#[test]
fn missing_metadata_is_found() {
    let expected = "phrases and their counts belong together";
    assert_ends(&complaint(|_, metadata| metadata.phrases.words = None), expected);
    assert_ends(&complaint(|_, metadata| metadata.phrases.parts = None), expected);
}

#[test]
fn counts_that_cannot_be_are_refused() {
    let message = complaint(|_, metadata| metadata.phrases.words = Some(u64::MAX));
    assert!(message.contains("`phrases.words` is 18446744073709551615; it must be at most"), "{message}");
    let message = complaint(|_, metadata| metadata.phrases.words = Some(300));
    assert_ends(&message, "the numbers of words and of their parts contradict each other");
}

#[test]
fn given_phrases_that_are_none_are_refused() {
    let message = complaint(|_, metadata| metadata.phrases.given.extend(["york".to_owned()]));
    assert_ends(&message, "`york` is not a phrase");
    let long = format!("{}_y", "x".repeat(127));
    let message = complaint(|_, metadata| metadata.phrases.given.extend([long.clone()]));
    assert_ends(&message, &format!("`{long}` is not a phrase"));
    let many = (0..130_000).map(|number| format!("a_{number}"));
    let message = complaint(|_, metadata| metadata.phrases.given.extend(many));
    assert!(message.contains("the given phrases take"), "{message}");
}

#[test]
fn parts_that_contradict_themselves_are_refused() {
    let list = |counts: Vec<[u64; 4]>| {
        complaint(|tensors, _| set(tensors, "phrase_part_counts", Tensor::list(counts.into_iter())))
    };
    assert_ends(&list(Vec::new()), "`phrase_part_counts` and `phrase_part_ends` have different lengths");
    let n = trainer().phrases_of_stream().unwrap().discovery().unwrap().parts().len();
    assert!(list(vec![[2, 1, 0, 0]; n]).contains("contradict each other"));
    let message = complaint(|tensors, _| {
        let text = vec![b'x'; n];
        set(tensors, "phrase_parts", Tensor::list(text.into_iter()));
        set(tensors, "phrase_part_ends", Tensor::list(1..=n as u64));
    });
    assert_ends(&message, "`x` is there twice");
    let message = complaint(|tensors, _| set(tensors, "phrase_parts", Tensor::list([0xffu8].into_iter())));
    assert_ends(&message, "`phrase_parts` is not valid UTF-8");
    let message =
        complaint(|tensors, _| set(tensors, "phrase_part_ends", Tensor::list([1u64 << 60].into_iter())));
    assert_ends(&message, "`phrase_part_ends` does not fit `phrase_parts`");
}

#[test]
fn pairs_that_contradict_themselves_are_refused() {
    let wrong = "the numbers of pair 0 contradict each other";
    assert_ends(&with_pairs(|keys, _| keys[0][0] = u32::MAX), wrong);
    assert_ends(&with_pairs(|keys, _| keys[0][1] = 10_000), wrong);
    assert_ends(&with_pairs(|keys, _| keys[0][2] = 0xff), wrong);
    assert_ends(&with_pairs(|keys, _| keys[0][2] = 1 << 20), wrong);
    assert_ends(&with_pairs(|keys, _| keys[0][2] = 1 << 8), wrong);
    assert_ends(&with_pairs(|_, numbers| numbers[0][0] = numbers[0][1] + 1), wrong);
    assert_ends(&with_pairs(|_, numbers| numbers[0] = [1 << 32, 1 << 33, 0]), wrong);
    assert_ends(&with_pairs(|_, numbers| numbers[0][1] = 0), wrong);
    assert_ends(&with_pairs(|_, numbers| numbers[0][2] = u64::MAX), wrong);
    assert_ends(&with_pairs(|keys, _| keys[1] = keys[0]), "pair 1 is there twice");
    let lengths = "`phrase_pairs` and `phrase_pair_counts` have different lengths";
    assert_ends(&with_pairs(|_, numbers| numbers.truncate(1)), lengths);
    let many = with_pairs(|keys, numbers| {
        let n_parts = trainer().phrases_of_stream().unwrap().discovery().unwrap().parts().len() as u32;
        *keys = (0..n_parts).flat_map(|left| (0..n_parts).map(move |right| [left, right, 0])).collect();
        *numbers = vec![[1, 1, 0]; keys.len()];
    });
    assert!(many.ends_with("pairs where 200 are possible"), "{many}");
}

#[test]
fn phrases_that_are_none_are_refused() {
    assert_ends(
        &with_phrases(|phrases| phrases[0][0] = 1 << 40),
        "`phrases` has pair 1099511627776, which is not one",
    );
    let message = with_phrases(|phrases| phrases[0][1] = u64::MAX);
    assert!(message.contains("which is not one"), "{message}");
    let message = with_phrases(|phrases| phrases[1] = phrases[0]);
    assert!(message.ends_with("cannot be a phrase, or is one twice"), "{message}");
    // The longer one comes last: the phrase that it begins with is not there.
    let message = with_phrases(|phrases| phrases.retain(|&[_, found_at]| found_at > 630));
    assert_ends(&message, "`new_york_city` cannot be a phrase, or is one twice");
}

#[test]
fn tensors_of_phrases_do_not_belong_in_other_models() {
    let message = complaint(|_, metadata| metadata.config.phrases = PhraseOptions::default());
    assert!(message.contains("unexpected tensor `phrase"), "{message}");
}
