pub(crate) mod naive;

use proptest::prelude::*;

use super::*;
use crate::vocabulary::testing::{block, forget, merge};
use crate::{Config, Connectors, PhraseOptions, PhraseScore};

fn options() -> PhraseOptions {
    PhraseOptions {
        score: PhraseScore::Npmi,
        min_count: Some(3),
        connectors: Some(Connectors::English),
        ..PhraseOptions::default()
    }
}

fn phrases(options: PhraseOptions) -> Phrases {
    Phrases::new(&Config { phrases: options, ..Config::default() }.check().unwrap()).unwrap()
}

fn sentence(text: &str) -> Sentence {
    let mut sentence = Sentence::default();
    text.split_whitespace().for_each(|token| sentence.push(token));
    sentence
}

fn joined(phrases: &mut Phrases, text: &str) -> String {
    let read = read_only(phrases, &sentence(text));
    let (joined, words): (Vec<&str>, Vec<u32>) = phrases.join(&sentence(text)).unzip();
    assert_eq!(joined.join(" "), read, "text that is not learned has the same words");
    assert_eq!(words.iter().sum::<u32>() as usize, text.split_whitespace().count(), "{joined:?}");
    joined.join(" ")
}

/// The words of a sentence that is not learned: of the stream, and of a copy of its phrases.
fn read_only(phrases: &Phrases, sentence: &Sentence) -> String {
    let controls =
        phrases.discovery().map(|discovery| discovery.parts().controls().clone()).unwrap_or_default();
    let copy = Reading::of_stream(&TextOptions::default(), Some(phrases), &controls);
    let saved = Reading::restore(copy.metadata(), &Controls::default()).unwrap();
    let [own, copy, saved] = [Joiner::of_stream(Some(phrases), &controls), copy.joiner(), saved.joiner()]
        .map(|joiner| {
            let (mut words, mut tokens) = (Vec::new(), Vec::new());
            let each = |word: &str, places| {
                words.push(word.to_owned());
                tokens.extend(places);
                Ok::<(), Error>(())
            };
            joiner.words(sentence, each).unwrap();
            assert!(tokens.into_iter().eq(0..sentence.len()), "{words:?}");
            words.join(" ")
        });
    assert!(own == copy && copy == saved, "{own:?} {copy:?} {saved:?}");
    own
}

/// Other words, so that what occurs together is not by chance.
fn read_others(phrases: &mut Phrases) {
    for number in 0..300 {
        joined(phrases, &format!("{} {} {}", number % 7, number % 11, number % 13));
    }
}

fn read(phrases: &mut Phrases, text: &str, times: usize) {
    (0..times).for_each(|_| drop(joined(phrases, text)));
    phrases.end_batch();
}

fn found(phrases: &Phrases) -> Vec<(&str, u64)> {
    let discovery = phrases.discovery().unwrap();
    discovery.phrases().iter().map(|phrase| (phrase.text.as_str(), phrase.count)).collect()
}

#[test]
fn phrases_are_joined_from_the_next_batch_on_and_grow() {
    let mut phrases = phrases(options());
    read_others(&mut phrases);
    let text = "they see new york city now";
    assert_eq!(joined(&mut phrases, text), text);
    read(&mut phrases, "new york city", 4);
    assert_eq!(joined(&mut phrases, "new york city"), "new_york city", "both pairs are; the first is joined");
    assert_eq!(joined(&mut phrases, "york city"), "york_city");
    read(&mut phrases, "new york city", 4);
    assert_eq!(joined(&mut phrases, "a new york city b"), "a new_york_city b");
    // Words and pairs are counted as if nothing were joined.
    let discovery = phrases.discovery().unwrap();
    let count = |word: &str| discovery.parts().count(discovery.parts().id(word).unwrap());
    assert_eq!((count("new"), count("york"), count("city")), (11, 12, 12));
    assert_eq!(found(&phrases), [("new_york", 10), ("york_city", 11), ("new_york_city", 5)]);
}

#[test]
fn connectors_are_inside_and_not_at_the_ends() {
    let mut phrases = phrases(options());
    read_others(&mut phrases);
    read(&mut phrases, "the secretary of the state of", 5);
    assert_eq!(found(&phrases), [("secretary_of_the_state", 5)]);
    assert_eq!(
        joined(&mut phrases, "of the secretary of the state of mind and the secretary of state"),
        "of the secretary_of_the_state of mind and the secretary of state"
    );
    read(&mut phrases, "one of the of two", 9);
    assert_eq!(found(&phrases), [("secretary_of_the_state", 6)], "at most two in a row");
    assert_eq!(joined(&mut phrases, "one of the of two"), "one of the of two");
}

#[test]
fn a_phrase_is_dissolved_when_its_score_has_fallen_far_enough() {
    let options = PhraseOptions { threshold: Some(0.6), connectors: None, ..options() };
    let mut phrases = phrases(options);
    read_others(&mut phrases);
    read(&mut phrases, "hot dog", 10);
    let mut scores = Vec::new();
    // A word that is next to many others.
    for number in 0..400 {
        joined(&mut phrases, &format!("hot w{} dog", number % 40));
        phrases.end_batch();
        let score = phrases
            .list(&Vocabulary::new(1))
            .iter()
            .find(|phrase| phrase.word == "hot_dog")
            .and_then(|phrase| phrase.score);
        scores.extend(score);
        if score.is_none() {
            break;
        }
    }
    assert!(scores[0] > 0.6, "{scores:?}");
    let last = *scores.last().unwrap();
    assert!((0.48..0.5).contains(&last), "{scores:?}");
    assert_eq!(joined(&mut phrases, "hot dog"), "hot dog");
    // It is not found again before its score is above the threshold.
    read(&mut phrases, "hot dog", 1);
    assert_eq!(joined(&mut phrases, "hot dog"), "hot dog");
    read(&mut phrases, "hot dog", 200);
    assert_eq!(joined(&mut phrases, "hot dog"), "hot_dog");
}

#[test]
fn a_longer_phrase_is_dissolved_with_the_one_that_it_begins_with() {
    let mut phrases = phrases(PhraseOptions { threshold: Some(0.6), ..options() });
    read_others(&mut phrases);
    read(&mut phrases, "new york city", 9);
    read(&mut phrases, "new york city", 9);
    assert_eq!(joined(&mut phrases, "new york city"), "new_york_city");
    for number in 0..400 {
        joined(&mut phrases, &format!("new w{} york", number % 40));
    }
    phrases.end_batch();
    assert!(found(&phrases).iter().all(|(phrase, _)| !phrase.starts_with("new")), "{:?}", found(&phrases));
}

fn give(phrases: &mut Phrases, given: &[&str]) -> Result<usize> {
    phrases.give(given.iter().copied(), &TextOptions::default(), &Controls::default())
}

#[test]
fn given_phrases_are_joined_without_others_the_longest_first() {
    let mut phrases = phrases(PhraseOptions::default());
    assert!(!phrases.is_on());
    assert_eq!(give(&mut phrases, &["new york city", "new york", "out of the  blue"]).unwrap(), 3);
    assert_eq!(give(&mut phrases, &["new york", "york city"]).unwrap(), 1);
    for (text, expected) in [
        ("new york city hall", "new_york_city hall"),
        ("new york new york state", "new_york new_york state"),
        ("out of the red", "out of the red"),
        ("york city out of the blue", "york_city out_of_the_blue"),
        ("new_york city", "new_york_city"),
    ] {
        assert_eq!(joined(&mut phrases, text), expected);
    }
    let list = phrases.list(&Vocabulary::new(1));
    let words: Vec<&str> = list.iter().map(|phrase| phrase.word.as_str()).collect();
    assert_eq!(words, ["new_york", "new_york_city", "out_of_the_blue", "york_city"]);
    assert_eq!((list[0].phrase.as_str(), list[0].score, list[0].found_at), ("new york", None, None));
}

#[test]
fn given_phrases_are_counted_and_grow_where_others_are_found() {
    let mut phrases = phrases(options());
    give(&mut phrases, &["new york", "the of"]).unwrap();
    read_others(&mut phrases);
    assert_eq!(joined(&mut phrases, "see new york city"), "see new_york city");
    read(&mut phrases, "new york city", 5);
    assert_eq!(joined(&mut phrases, "see new york city"), "see new_york_city");
    assert_eq!(joined(&mut phrases, "see the of new york"), "see the_of new_york");
    let discovery = phrases.discovery().unwrap();
    let count = |word: &str| discovery.parts().count(discovery.parts().id(word).unwrap());
    assert_eq!((count("new"), count("new_york"), count("see")), (8, 8, 3));
    assert_eq!(phrases.discovery().unwrap().words(), 900 + 4 + 15 + 4 + 5);
}

#[test]
fn what_is_not_a_phrase_cannot_be_given() {
    let mut phrases = phrases(PhraseOptions::default());
    for (phrase, limit) in [
        ("york", "two words or more, each a single token by the text settings of the model"),
        ("  ", "two words or more, each a single token by the text settings of the model"),
        (
            &format!("new {}", "x".repeat(129)),
            "two words or more, each a single token by the text settings of the model",
        ),
        (
            &format!("{} {}", "x".repeat(64), "y".repeat(64)),
            "at most 128 bytes long, which is max_token_bytes",
        ),
    ] {
        let message = give(&mut phrases, &["new york", phrase]).unwrap_err().to_string();
        assert!(message.ends_with(limit), "{message}");
        assert!(!phrases.is_on(), "all or none");
    }
    let many: Vec<String> = (0..130_000).map(|number| format!("a {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let message = give(&mut phrases, &many).unwrap_err().to_string();
    assert!(message.ends_with("it must be given in at most 8388608 bytes"), "{message}");
}

/// Controls as the trainer passes them on.
fn control(phrases: &mut Phrases, controls: &[Control]) {
    let mut vocabulary = Vocabulary::new(10);
    vocabulary.control(controls).unwrap();
    phrases.control(controls, vocabulary.controls());
}

#[test]
fn a_blocked_word_never_joins() {
    let text = "the state of new york city";
    let mut phrases = phrases(options());
    give(&mut phrases, &["york city"]).unwrap();
    read_others(&mut phrases);
    read(&mut phrases, "state of new", 9);
    assert_eq!(joined(&mut phrases, text), "the state_of_new york_city");
    control(&mut phrases, &[block("york")]);
    assert_eq!(joined(&mut phrases, text), "the state_of_new york city");
    control(&mut phrases, &[Control::Unblock { word: "york".to_owned() }, block("york_city"), block("of")]);
    assert_eq!(joined(&mut phrases, text), "the state of new york city");
    read(&mut phrases, "state of new", 9);
    assert!(found(&phrases).iter().all(|(phrase, _)| !phrase.contains("of")), "{:?}", found(&phrases));
}

#[test]
fn tokens_of_a_merged_word_are_those_of_the_other() {
    let mut phrases = phrases(options());
    read_others(&mut phrases);
    control(&mut phrases, &[merge("colour", "color")]);
    read(&mut phrases, "water colour", 9);
    assert_eq!(joined(&mut phrases, "water colour"), "water_color");
    assert_eq!(joined(&mut phrases, "water color"), "water_color");
}

#[test]
fn a_forgotten_word_is_in_no_pair_and_no_phrase() {
    let mut phrases = phrases(options());
    give(&mut phrases, &["york hall", "city hall"]).unwrap();
    read_others(&mut phrases);
    (0..3).for_each(|_| read(&mut phrases, "new york city and state of mind", 5));
    assert_eq!(joined(&mut phrases, "new york city"), "new_york_city");
    let vocabulary = Vocabulary::new(10);
    let containing = phrases.containing(&BTreeSet::from(["york"]), &vocabulary);
    let expected = ["new_york", "new_york_city", "york_city"].map(str::to_owned);
    assert!(expected.iter().all(|word| containing.contains(word) || word == "york_city"), "{containing:?}");
    let mut controls = vec![forget("york", false)];
    controls.extend(containing.iter().map(|word| forget(word, false)));
    control(&mut phrases, &controls);
    let discovery = phrases.discovery().unwrap();
    let parts = discovery.parts();
    assert!(parts.ids().all(|id| !parts.word(id).contains("york")));
    assert!(discovery.phrases().iter().all(|phrase| !phrase.text.contains("york")));
    assert_eq!(phrases.metadata().given, BTreeSet::from(["city_hall".to_owned()]));
    // The others are what they were.
    assert_eq!(joined(&mut phrases, "new york city hall state of mind"), "new york city_hall state_of_mind");
    // A forgotten phrase has to be found again.
    control(&mut phrases, &[forget("state_of_mind", false)]);
    phrases.end_batch();
    assert_eq!(joined(&mut phrases, "state of mind"), "state of mind");
}

#[test]
fn a_phrase_is_no_longer_than_a_word_may_be() {
    let text = TextOptions { max_token_bytes: 12, ..TextOptions::default() };
    let config = Config { phrases: options(), text, ..Config::default() };
    let mut phrases = Phrases::new(&config.check().unwrap()).unwrap();
    read_others(&mut phrases);
    (0..5).for_each(|_| read(&mut phrases, "abcde fghij klmno", 5));
    assert_eq!(found(&phrases), [("abcde_fghij", 25), ("fghij_klmno", 25)]);
}

#[test]
fn there_are_at_most_half_as_many_phrases_as_words_the_most_frequent() {
    let options = PhraseOptions { threshold: Some(0.1), connectors: None, ..options() };
    let config = Config { phrases: options, max_vocabulary: 60, ..Config::default() };
    let mut phrases = Phrases::new(&config.check().unwrap()).unwrap();
    for number in 0..40 {
        read(&mut phrases, &format!("x{number} y{}", number % 4), 4 + number);
        assert!(found(&phrases).len() <= 30);
    }
    let mut found = found(&phrases);
    found.sort_by_key(|&(_, count)| count);
    let expected: Vec<(String, u64)> = (10..40).map(|n| (format!("x{n}_y{}", n % 4), 4 + n)).collect();
    assert!(
        found.iter().copied().eq(expected.iter().map(|(text, count)| (text.as_str(), *count))),
        "{found:?}"
    );
}

proptest! {
    #[test]
    fn text_that_is_not_learned_has_the_words_of_text_that_is(
        given in prop::collection::vec("[abc] [abc]( [abc])?", 0..3),
        texts in prop::collection::vec("([abcd]|of|the)( ([abcd]|of|the)){0,6}", 1..60),
        merges in any::<bool>(),
    ) {
        let mut phrases = phrases(PhraseOptions { threshold: Some(0.01), ..options() });
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        give(&mut phrases, &given).unwrap();
        if merges {
            control(&mut phrases, &[merge("d", "e"), block("x")]);
        }
        read_others(&mut phrases);
        for texts in texts.chunks(5) {
            texts.iter().for_each(|text| drop(joined(&mut phrases, text)));
            phrases.end_batch();
        }
    }
}
