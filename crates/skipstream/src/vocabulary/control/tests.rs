use std::collections::HashMap;

use proptest::prelude::*;

use super::super::{Observed, SavedWord};
use super::testing::*;
use super::*;
use crate::half_life::HalfLife;

fn observe(vocabulary: &mut Vocabulary, word: &str) -> Option<WordId> {
    match vocabulary.observe(word) {
        Observed::Known(id) => Some(id),
        Observed::Admitted(fresh) => Some(fresh.reset(|_, _| ())),
        Observed::Rejected => None,
    }
}

fn words(vocabulary: &Vocabulary) -> Vec<&str> {
    vocabulary.ids().map(|id| vocabulary.word(id)).collect()
}

fn state(vocabulary: &Vocabulary) -> String {
    let saved: Vec<_> = vocabulary.ids().map(|id| vocabulary.saved(id)).collect();
    format!("{saved:?} {:?} {:?}", vocabulary.totals(), vocabulary.controls())
}

fn control() -> impl Strategy<Value = Control> {
    (0u8..7, 0u8..12, 0u8..12, any::<bool>()).prop_map(|(kind, word, into, keep_out)| {
        let (word, into) = (format!("w{word}"), format!("w{into}"));
        match kind {
            0 => Control::Pin { word },
            1 => Control::Unpin { word },
            2 => Control::Block { word },
            3 => Control::Unblock { word },
            4 => Control::Merge { word, into },
            5 => Control::Unmerge { word },
            _ => Control::Forget { word, keep_out },
        }
    })
}

proptest! {
    /// Any controls, at any place: the lists hold, and the file knows as much as the memory.
    #[test]
    fn controls_hold_for_any_text_and_survive_a_restart(
        tokens in prop::collection::vec(0u8..30, 0..300),
        controls in prop::collection::vec((0usize..300, control()), 0..20),
        capacity in 2usize..14,
        half_life in prop::option::of((1u64..300).prop_map(HalfLife::Words)),
    ) {
        let mut vocabulary = Vocabulary::with_half_life(capacity, half_life);
        for (place, token) in tokens.iter().enumerate() {
            for (_, control) in controls.iter().filter(|(at, _)| *at == place) {
                // Controls are between batches.
                vocabulary.begin_batch(None);
                let before = state(&vocabulary);
                match vocabulary.control(std::slice::from_ref(control)) {
                    Err(_) => prop_assert_eq!(state(&vocabulary), before, "all or nothing"),
                    Ok((_, moves)) => {
                        prop_assert!(moves.origins().all(|(id, from)| from.is_none_or(|from| from >= id)));
                        let (report, moves) = vocabulary.control(std::slice::from_ref(control)).unwrap();
                        prop_assert!(moves.is_empty() && !report[0].changed, "to repeat it changes nothing");
                    }
                }
                let saved: Vec<_> = vocabulary.ids().map(|id| vocabulary.saved(id)).collect();
                let mut restored = Vocabulary::restore(capacity, half_life, vocabulary.totals(), &saved).unwrap();
                restored.restore_controls(vocabulary.controls().clone()).unwrap();
                prop_assert_eq!(state(&restored), state(&vocabulary));
                vocabulary = restored;
            }
            let word = format!("w{token}");
            let id = observe(&mut vocabulary, &word);
            let controls = vocabulary.controls();
            prop_assert!(id.is_none_or(|id| vocabulary.word(id) == controls.meaning(&word)));
            prop_assert!(vocabulary.len() <= capacity);
            prop_assert!(controls.pinned.iter().all(|word| vocabulary.id(word).is_some()));
            prop_assert!(!words(&vocabulary).iter().any(|word| controls.is_blocked(word)));
            prop_assert!(controls.merged.keys().all(|word| vocabulary.id(word).is_none()));
        }
    }

    /// The summary of m − p slots.
    #[test]
    fn pinned_words_are_counted_exactly_and_the_others_within_the_bound(
        tokens in prop::collection::vec(prop_oneof![3 => 0u8..6, 1 => 0u8..40], 0..600),
        capacity in 2usize..20, pins in prop::collection::vec((0usize..600, 0u8..40), 0..6),
    ) {
        let mut vocabulary = Vocabulary::new(capacity);
        let (mut truth, mut since_pinned) = (HashMap::<String, u64>::new(), HashMap::<String, u64>::new());
        for (place, token) in tokens.iter().enumerate() {
            for (_, word) in pins.iter().filter(|(at, _)| *at == place) {
                let word = format!("w{word}");
                if vocabulary.control(&[pin(&word)]).is_ok() {
                    since_pinned.entry(word).or_insert(0);
                }
            }
            let word = format!("w{token}");
            observe(&mut vocabulary, &word);
            since_pinned.entry(word.clone()).and_modify(|count| *count += 1);
            *truth.entry(word).or_insert(0) += 1;
            let others = (capacity - since_pinned.len()) as u64;
            for (word, &count) in &truth {
                let counter = vocabulary.id(word).map_or(0, |id| vocabulary.counter(id));
                prop_assert!(counter <= count);
                prop_assert!((count - counter) * (others + 1) <= place as u64 + 1, "{}", word);
                prop_assert!(since_pinned.get(word).is_none_or(|&since| counter >= since));
            }
        }
    }

    /// The same for weights, which are exact up to their unit: a millionth of a token.
    #[test]
    fn pinned_words_are_weighed_exactly_and_the_others_within_the_bound(
        tokens in prop::collection::vec(prop_oneof![3 => 0u8..6, 1 => 0u8..40], 0..600),
        capacity in 2usize..20, pinned in prop::collection::btree_set(0u8..40, 0..6),
        batch in 1usize..80, half_life in 5u64..400,
    ) {
        let half_life = HalfLife::Words(half_life);
        let mut vocabulary = Vocabulary::with_half_life(capacity, Some(half_life));
        let pins: Vec<String> = pinned.iter().take(capacity / 2).map(|word| format!("w{word}")).collect();
        vocabulary.control(&pins.iter().map(|word| pin(word)).collect::<Vec<_>>()).unwrap();
        let (mut truth, mut total, mut seen) = (HashMap::<String, f64>::new(), 0.0, 0);
        for batch in tokens.chunks(batch) {
            // In tokens of the batch.
            let left = vocabulary.begin_batch(None).unwrap();
            truth.values_mut().chain([&mut total]).for_each(|weight| *weight *= left);
            let unit = half_life.weight(seen) as f64;
            for token in batch {
                let word = format!("w{token}");
                observe(&mut vocabulary, &word);
                *truth.entry(word).or_insert(0.0) += 1.0;
                total += 1.0;
            }
            seen += batch.len() as u64;
            let error = total / (capacity - pins.len() + 1) as f64;
            for (word, &weight) in &truth {
                let counter = vocabulary.id(word).map_or(0, |id| vocabulary.counter(id)) as f64 / unit;
                let error = if pins.contains(word) { 0.0 } else { error };
                prop_assert!(counter <= weight + 0.01 && counter >= weight - error - 0.01, "{}", word);
            }
        }
    }

    #[test]
    fn controls_together_are_controls_one_after_the_other(
        tokens in prop::collection::vec(0u8..12, 0..100), controls in prop::collection::vec(control(), 0..12),
    ) {
        let mut one_by_one = Vocabulary::new(8);
        tokens.iter().for_each(|token| _ = observe(&mut one_by_one, &format!("w{token}")));
        let mut together = one_by_one.clone();
        let mut accepted = Vec::new();
        for control in controls {
            if one_by_one.control(std::slice::from_ref(&control)).is_ok() {
                accepted.push(control);
            }
        }
        let (_, moves) = together.control(&accepted).unwrap();
        prop_assert_eq!(state(&together), state(&one_by_one));
        prop_assert_eq!(moves.origins().count(), together.len());
    }
}

#[test]
fn a_blocked_token_takes_a_number_and_nothing_else() {
    let mut vocabulary = Vocabulary::new(2);
    vocabulary.control(&[block("the")]).unwrap();
    for word in ["the", "tea", "the", "milk", "the"] {
        observe(&mut vocabulary, word);
    }
    assert_eq!(words(&vocabulary), ["tea", "milk"]);
    assert_eq!((vocabulary.tokens(), vocabulary.totals().cancellations), (5, 0));
    vocabulary.control(&[Control::Unblock { word: "the".to_owned() }]).unwrap();
    assert!(observe(&mut vocabulary, "the").is_none(), "now it cancels a count of both");
    assert!(observe(&mut vocabulary, "the").is_some());
}

#[test]
fn a_merged_word_counts_as_the_other() {
    let mut vocabulary = Vocabulary::new(9);
    for word in ["color", "colour", "colour"] {
        observe(&mut vocabulary, word);
    }
    let (report, moves) = vocabulary.control(&[merge("colour", "color"), merge("grey", "gray")]).unwrap();
    assert_eq!((report[0].left, report[1].left), (Some(2), None));
    assert_eq!(moves.ids(), [WordId(0), WordId::NONE]);
    for word in ["colour", "color", "grey"] {
        observe(&mut vocabulary, word);
    }
    let counts: Vec<u64> = vocabulary.counts().collect();
    assert_eq!((words(&vocabulary), counts), (vec!["color", "gray"], vec![3, 1]));
}

#[test]
fn a_forgotten_word_is_in_no_list_and_stays_out_if_it_should() {
    let mut vocabulary = Vocabulary::new(9);
    let controls = [pin("a"), block("b"), merge("c", "d"), merge("e", "d")];
    vocabulary.control(&controls).unwrap();
    vocabulary.control(&[forget("a", false), forget("b", false), forget("d", true)]).unwrap();
    let Controls { pinned, blocked, kept_out, merged } = vocabulary.controls();
    assert!(pinned.is_empty() && blocked.is_empty() && merged.is_empty());
    // It was blocked, so it stays out.
    assert_eq!(kept_out.len(), 2);
    for word in ["a", "b", "c", "d"] {
        observe(&mut vocabulary, word);
    }
    assert_eq!(words(&vocabulary), ["a", "c"]);
    vocabulary.control(&[Control::Unblock { word: "d".to_owned() }]).unwrap();
    assert!(observe(&mut vocabulary, "d").is_some());
}

#[test]
fn controls_that_contradict_each_other_are_refused() {
    let mut vocabulary = Vocabulary::new(4);
    vocabulary.control(&[pin("pinned"), block("blocked"), merge("merged", "target")]).unwrap();
    vocabulary.control(&[forget("forgotten", true)]).unwrap();
    let mut refusal = |control| vocabulary.control(&[control]).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refusal(block("pinned")), "`pinned` is pinned: unpin it first");
    assert_eq!(refusal(pin("blocked")), "`blocked` is blocked: unblock it first");
    assert_eq!(refusal(pin("forgotten")), "`forgotten` is blocked: unblock it first");
    assert_eq!(refusal(block("merged")), "`merged` is merged into `target`: unmerge it first");
    assert_eq!(refusal(block("target")), "`merged` is merged into `target`: unmerge it first");
    assert_eq!(refusal(merge("target", "x")), "`merged` is merged into `target`: unmerge it first");
    assert_eq!(refusal(merge("x", "merged")), "`merged` is merged into `target`: unmerge it first");
    assert_eq!(refusal(merge("x", "x")), "`x` cannot be merged into itself");
    assert_eq!(refusal(merge("x", "blocked")), "`blocked` is blocked: unblock it first");
    assert_eq!(refusal(merge("pinned", "x")), "`pinned` is pinned: unpin it first");
    let pins = [pin("a"), pin("b")];
    let message = vocabulary.control(&pins).map(|_| ()).unwrap_err().to_string();
    assert_eq!(message, "3 words would be pinned; at most 2 can be, half of max_vocabulary");
    let long = (0..100).map(|n| block(&format!("{n}{}", "x".repeat(1 << 17)))).collect::<Vec<_>>();
    assert!(matches!(vocabulary.control(&long), Err(ControlError::TooMany { .. })));
}

#[test]
fn saved_controls_that_contradict_the_vocabulary_are_refused() {
    let mut vocabulary = Vocabulary::new(8);
    observe(&mut vocabulary, "tea");
    let mut refuse = |json: &str| {
        let controls = serde_json::from_str(json).unwrap();
        vocabulary.restore_controls(controls).unwrap_err()
    };
    assert!(refuse(r#"{"pinned":["milk"]}"#).contains("not in the vocabulary"));
    assert!(refuse(r#"{"blocked":["tea"]}"#).contains("blocked or merged"));
    assert!(refuse(r#"{"merged":{"tea":"milk"}}"#).contains("blocked or merged"));
    assert!(refuse(r#"{"merged":{"a":"b","b":"c"}}"#).contains("blocked or merged"));
    assert!(refuse(r#"{"pinned":["a","b","c","d","e"]}"#).contains("5 words would be pinned"));
    let uncounted =
        SavedWord { id: WordId(0), word: "a", counter: 0, frequency: 0, count: 0, birth: 0, latest: 0 };
    let mut vocabulary = Vocabulary::restore(2, None, Default::default(), &[uncounted]).unwrap();
    assert!(vocabulary.restore_controls(Controls::default()).unwrap_err().contains("no count"));
}
