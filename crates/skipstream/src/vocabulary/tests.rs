use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Counts a token, and adds the id and birth of a new word to `births`.
fn observe(vocabulary: &mut Vocabulary, word: &str, births: &mut Vec<(WordId, u64)>) -> Option<WordId> {
    match vocabulary.observe(word) {
        Observed::Known(id) => Some(id),
        Observed::Admitted(fresh) => Some(fresh.reset(|id, birth| births.push((id, birth)))),
        Observed::Rejected => None,
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![4 => 0u8..4, 2 => 0u8..16, 1 => 0u8..=255], 0..600)
}

proptest! {
    #[test]
    fn counts_are_a_hash_maps_while_there_is_room(tokens in stream()) {
        let mut vocabulary = Vocabulary::new(256);
        let mut truth = HashMap::new();
        for token in &tokens {
            let word = format!("w{token}");
            observe(&mut vocabulary, &word, &mut Vec::new());
            *truth.entry(word).or_insert(0u64) += 1;
        }
        prop_assert_eq!(vocabulary.len(), truth.len());
        for (word, &count) in &truth {
            let id = vocabulary.id(word).unwrap();
            prop_assert_eq!(vocabulary.word(id), word);
            prop_assert_eq!(vocabulary.count(id), count);
            prop_assert_eq!(vocabulary.counter(id), count);
        }
    }

    #[test]
    fn counters_are_within_misra_and_gries_bound(tokens in stream(), capacity in 1usize..20) {
        let mut vocabulary = Vocabulary::new(capacity);
        let mut truth = HashMap::new();
        for (n, token) in (1u64..).zip(&tokens) {
            let word = format!("w{token}");
            observe(&mut vocabulary, &word, &mut Vec::new());
            *truth.entry(word).or_insert(0u64) += 1;
            prop_assert!(vocabulary.len() <= capacity);
            for (word, &count) in &truth {
                let (counter, since) = vocabulary
                    .id(word)
                    .map_or((0, 0), |id| (vocabulary.counter(id), vocabulary.count(id)));
                prop_assert!(counter <= count);
                // true − n/(m + 1) ≤ counter, without fractions.
                prop_assert!((count - counter) * (capacity as u64 + 1) <= n);
                prop_assert!(counter <= since && since <= count);
            }
        }
    }

    #[test]
    fn a_token_means_its_word_until_the_word_leaves(tokens in stream(), capacity in 1usize..12) {
        let mut vocabulary = Vocabulary::new(capacity);
        let mut births = Vec::new();
        let mut past = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            let word = format!("w{token}");
            let id = observe(&mut vocabulary, &word, &mut births);
            past.push(id.map(|id| (id, word, position as u64)));
            for (id, word, position) in past.iter().flatten() {
                // A word that left may get the same id again: then it has a new birth.
                if vocabulary.is_same_word_since(*id, *position) {
                    prop_assert_eq!(vocabulary.word(*id), word);
                }
            }
        }
        for id in vocabulary.ids() {
            let birth = births.iter().rev().find(|(other, _)| *other == id).unwrap().1;
            prop_assert_eq!(vocabulary.first_token(id), birth);
        }
    }

    #[test]
    fn what_is_saved_is_restored(tokens in stream(), more in stream(), capacity in 1usize..20) {
        let mut vocabulary = Vocabulary::new(capacity);
        for token in &tokens {
            observe(&mut vocabulary, &format!("w{token}"), &mut Vec::new());
        }
        let mut restored = Vocabulary::restore(
            capacity,
            None,
            vocabulary.totals(),
            &vocabulary.ids().map(|id| vocabulary.saved(id)).collect::<Vec<_>>(),
        )
        .unwrap();
        for token in &more {
            let word = format!("w{token}");
            let a = observe(&mut vocabulary, &word, &mut Vec::new());
            let b = observe(&mut restored, &word, &mut Vec::new());
            prop_assert_eq!(a, b);
        }
        let saved = |vocabulary: &Vocabulary| -> Vec<String> {
            vocabulary.ids().map(|id| format!("{:?}", vocabulary.saved(id))).collect()
        };
        prop_assert_eq!(saved(&vocabulary), saved(&restored));
        prop_assert_eq!(vocabulary.totals(), restored.totals());
    }
}

proptest! {
    /// Tokens are looked up long before they are counted, while others are admitted and evicted.
    #[test]
    fn tokens_that_were_looked_up_are_counted_as_any_other(
        tokens in stream(), capacity in 1usize..20, lengths in prop::collection::vec(1usize..50, 1..5),
    ) {
        let (mut vocabulary, mut other) = (Vocabulary::new(capacity), Vocabulary::new(capacity));
        let words: Vec<String> = tokens.iter().map(|token| format!("w{token}")).collect();
        let (mut rest, mut lengths) = (&words[..], lengths.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            let hashes: Vec<u64> = now.iter().map(|word| vocabulary.hasher().hash(word.as_bytes())).collect();
            let (mut found, since) = (Vec::new(), vocabulary.tokens());
            vocabulary.look_up(now.iter().map(|word| word.as_bytes()), &hashes, &mut found);
            let mut births = [Vec::new(), Vec::new()];
            let expected: Vec<_> = now.iter().map(|word| observe(&mut other, word, &mut births[0])).collect();
            let mut counted = Vec::new();
            while counted.len() < now.len() {
                let rest = &found[counted.len()..];
                let known = vocabulary.observe_found(rest, since);
                counted.extend(rest[..known].iter().copied().map(Some));
                if let Some(word) = now.get(counted.len()) {
                    counted.push(observe(&mut vocabulary, word, &mut births[1]));
                }
            }
            prop_assert_eq!(counted, expected);
            prop_assert_eq!(&births[0], &births[1]);
            rest = later;
        }
        for id in other.ids() {
            prop_assert_eq!(vocabulary.saved(id), other.saved(id));
        }
        prop_assert_eq!(vocabulary.totals(), other.totals());
    }
}

/// The exact weight of each word, in plain numbers: 2^(start of the batch / half-life) for each token.
fn exact_weights(tokens: &[u8], batch: usize, half_life: u64) -> HashMap<String, f64> {
    let mut truth = HashMap::new();
    for (number, token) in tokens.iter().enumerate() {
        let start = (number / batch * batch) as f64;
        *truth.entry(format!("w{token}")).or_insert(0.0) += (start / half_life as f64).exp2();
    }
    truth
}

proptest! {
    /// The bound holds for weights as it does for counts: exact − total/(m + 1) ≤ counter ≤ exact. Weights and halves are
    /// rounded: by a millionth of a token each, which is less than `slack` here.
    #[test]
    fn counters_of_weights_are_within_misra_and_gries_bound(
        tokens in stream(), capacity in 1usize..20, batch in 1usize..80, half_life in 5u64..400,
    ) {
        let slack = 0.01;
        let mut vocabulary = Vocabulary::with_half_life(capacity, Some(HalfLife::Words(half_life)));
        let mut seen = 0;
        for tokens_of_batch in tokens.chunks(batch) {
            vocabulary.begin_batch(None);
            for token in tokens_of_batch {
                observe(&mut vocabulary, &format!("w{token}"), &mut Vec::new());
            }
            // In tokens of the batch.
            let now = (seen as f64 / half_life as f64).exp2();
            let unit = HalfLife::Words(half_life).weight(seen as u64) as f64;
            seen += tokens_of_batch.len();
            let exact = exact_weights(&tokens[..seen], batch, half_life);
            let total = exact.values().sum::<f64>() / now;
            prop_assert!((vocabulary.total_frequency() as f64 / unit - total).abs() < slack);
            for (word, weight) in &exact {
                let weight = weight / now;
                let (counter, frequency) = vocabulary
                    .id(word)
                    .map_or((0, 0), |id| (vocabulary.counter(id), vocabulary.frequency(id)));
                let [counter, frequency] = [counter, frequency].map(|sum| sum as f64 / unit);
                prop_assert!(counter <= frequency && frequency <= weight + slack);
                prop_assert!(weight - total / (capacity as f64 + 1.0) <= counter + slack);
            }
        }
    }

    #[test]
    fn weights_that_are_saved_are_restored(
        tokens in stream(), more in stream(), capacity in 1usize..20, batch in 1usize..80, half_life in 1u64..400,
    ) {
        let half_life = Some(HalfLife::Words(half_life));
        let mut vocabulary = Vocabulary::with_half_life(capacity, half_life);
        let learn = |vocabulary: &mut Vocabulary, tokens: &[u8]| {
            let mut ids = Vec::new();
            for batch in tokens.chunks(batch) {
                vocabulary.begin_batch(None);
                ids.extend(batch.iter().map(|token| observe(vocabulary, &format!("w{token}"), &mut Vec::new())));
            }
            ids
        };
        learn(&mut vocabulary, &tokens);
        let saved: Vec<_> = vocabulary.ids().map(|id| vocabulary.saved(id)).collect();
        let mut restored = Vocabulary::restore(capacity, half_life, vocabulary.totals(), &saved).unwrap();
        prop_assert_eq!(learn(&mut vocabulary, &more), learn(&mut restored, &more));
        for id in vocabulary.ids() {
            prop_assert_eq!(vocabulary.saved(id), restored.saved(id));
        }
        prop_assert_eq!(vocabulary.totals(), restored.totals());
    }
}

#[test]
fn a_word_that_is_not_seen_any_more_fades_and_leaves() {
    let mut vocabulary = Vocabulary::with_half_life(2, Some(HalfLife::Words(100)));
    let recent = |vocabulary: &Vocabulary, word| vocabulary.id(word).map(|id| vocabulary.recent_count(id));
    let mut learn = |words: &[&str]| {
        vocabulary.begin_batch(None);
        for word in words.iter().cycle().take(100) {
            observe(&mut vocabulary, word, &mut Vec::new());
        }
        [recent(&vocabulary, "old"), recent(&vocabulary, "new")]
    };
    assert_eq!(learn(&["old"]), [Some(100), None]);
    assert_eq!(learn(&["other"]), [Some(50), None]);
    // 100 tokens cancel all that is left of `old`, and the rest counts.
    assert_eq!(learn(&["new"]), [None, Some(75)]);
    assert_eq!(learn(&["new"]), [None, Some(138)]);
}

/// With a half-life in time, the clock stands still if the time of the text does.
#[test]
fn weights_that_no_time_halves_can_still_be_saved() {
    let half_life = Some(HalfLife::Seconds(HalfLife::MAX_SECONDS));
    let most = (1 << 60) - 1;
    let totals =
        VocabularyTotals { tokens: 1 << 39, weight: Some(most), clock: Some(0), ..Default::default() };
    let word = |id, word, frequency| SavedWord {
        id: WordId(id),
        word,
        counter: frequency,
        frequency,
        count: 1 << 38,
        birth: 0,
        latest: 9,
    };
    let words = [word(0, "often", most / 4 * 3), word(1, "rare", most / 4)];
    let mut vocabulary = Vocabulary::restore(2, half_life, totals, &words).unwrap();
    vocabulary.begin_batch(None);
    (0..1000).for_each(|_| observe(&mut vocabulary, "rare", &mut Vec::new()).map(drop).unwrap());
    let saved: Vec<SavedWord<'_>> = vocabulary.ids().map(|id| vocabulary.saved(id)).collect();
    Vocabulary::restore(2, half_life, vocabulary.totals(), &saved).unwrap();
    let [often, rare] = ["often", "rare"].map(|word| vocabulary.frequency(vocabulary.id(word).unwrap()));
    assert!((often as f64 / rare as f64 - 3.0).abs() < 1e-6, "{often} and {rare}");
}

#[test]
fn the_arena_does_not_leak_over_evictions() {
    let mut vocabulary = Vocabulary::new(10);
    let mut longest = 0;
    for n in 0..100_000 {
        let word = format!("word-number-{n:08}");
        observe(&mut vocabulary, &word, &mut Vec::new());
        longest = longest.max(vocabulary.arena.len());
    }
    assert!(vocabulary.totals().evictions > 80_000);
    // Ten words of 20 bytes live; the rest is slack.
    assert!(longest < 2 * (arena::SLACK + 200), "{longest}");
}

#[test]
fn a_full_vocabulary_stays_full_and_a_word_that_returns_in_time_keeps_its_count() {
    let mut vocabulary = Vocabulary::new(3);
    for word in ["a", "a", "a", "b", "b", "c", "x"] {
        observe(&mut vocabulary, word, &mut Vec::new());
    }
    // `x` and one count of each cancelled each other, and `c` has none left.
    let counters =
        |vocabulary: &Vocabulary| vocabulary.ids().map(|id| vocabulary.counter(id)).collect::<Vec<_>>();
    assert_eq!((counters(&vocabulary), vocabulary.totals().evictions), (vec![2, 1, 0], 0));
    assert!(matches!(vocabulary.observe("c"), Observed::Known(_)));
    assert_eq!((counters(&vocabulary), vocabulary.count(WordId(2))), (vec![2, 1, 1], 2));
    // All three have a count again, so `x` cancels once more, and then takes the place of the rarest.
    for word in ["x", "x"] {
        observe(&mut vocabulary, word, &mut Vec::new());
    }
    let words: Vec<&str> = vocabulary.ids().map(|id| vocabulary.word(id)).collect();
    assert_eq!((words, counters(&vocabulary)), (vec!["a", "x", "c"], vec![1, 1, 0]));
    assert_eq!(
        (vocabulary.len(), vocabulary.totals().evictions, vocabulary.totals().cancellations),
        (3, 1, 2)
    );
}

#[test]
fn saved_words_that_contradict_each_other_are_refused() {
    let word = |id, word| SavedWord {
        id: WordId(id),
        word,
        counter: 1,
        frequency: 1,
        count: 1,
        birth: 0,
        latest: 0,
    };
    let totals = VocabularyTotals { tokens: 9, ..VocabularyTotals::default() };
    let restore = |words: Vec<SavedWord<'static>>| Vocabulary::restore(2, None, totals, &words).map(|_| ());
    assert!(restore(vec![word(1, "a"), word(0, "b")]).is_ok());
    assert!(restore(vec![word(0, "a"), word(1, "b"), word(2, "c")]).is_err(), "too many words");
    assert!(restore(vec![word(7, "a")]).is_err(), "a slot that does not exist");
    assert!(restore(vec![word(0, "a"), word(0, "b")]).is_err(), "a slot twice");
    assert!(restore(vec![word(0, "a"), word(1, "a")]).is_err(), "a word twice");
    // `restore_controls` checks that it is pinned.
    let unseen = SavedWord { count: 0, frequency: 0, counter: 0, ..word(0, "a") };
    assert!(restore(vec![unseen]).is_ok(), "never seen");
    assert!(restore(vec![SavedWord { counter: 2, ..word(0, "a") }]).is_err(), "counted more often than seen");
}

/// A counter has 64 bits, and a saved one at most 60: at ten million words a second that is 3,600 years.
#[test]
fn counters_near_their_limit_count_on() {
    let near = (1 << 60) - 100;
    let word = |id, word, count| SavedWord {
        id: WordId(id),
        word,
        counter: count,
        frequency: count,
        count,
        birth: 0,
        latest: near - 1,
    };
    let totals = VocabularyTotals {
        tokens: near,
        evictions: 1 << 60,
        cancellations: 1 << 60,
        ..VocabularyTotals::default()
    };
    let words = [word(0, "often", near - 10), word(1, "rare", 1)];
    let mut vocabulary = Vocabulary::restore(2, None, totals, &words).unwrap();
    let counters = |vocabulary: &Vocabulary, word: &str| {
        vocabulary.id(word).map(|id| (vocabulary.counter(id), vocabulary.count(id)))
    };
    assert!(matches!(vocabulary.observe("often"), Observed::Known(_)));
    assert_eq!(counters(&vocabulary, "often"), Some((near - 9, near - 9)));
    assert!(matches!(vocabulary.observe("new"), Observed::Rejected), "it cancels a count of both");
    assert_eq!(counters(&vocabulary, "often"), Some((near - 10, near - 9)));
    assert!(matches!(vocabulary.observe("new"), Observed::Admitted(_)), "it takes the place of `rare`");
    assert_eq!((counters(&vocabulary, "rare"), counters(&vocabulary, "new")), (None, Some((1, 1))));
    assert_eq!(vocabulary.first_token(vocabulary.id("new").unwrap()), near + 2);
    let counted = VocabularyTotals {
        tokens: near + 3,
        evictions: totals.evictions + 1,
        cancellations: totals.cancellations + 1,
        ..VocabularyTotals::default()
    };
    assert_eq!(vocabulary.totals(), counted);
    let beyond = VocabularyTotals { tokens: 1 << 60, ..totals };
    assert!(Vocabulary::restore(2, None, beyond, &words).is_err(), "a larger one is refused");
}

/// Learns sentences, each with the number of its document.
fn learn_documents(vocabulary: &mut Vocabulary, sentences: &[(u64, &str)]) {
    for (document, sentence) in sentences {
        vocabulary.begin_sentence(Some(*document));
        for word in sentence.split(' ') {
            observe(vocabulary, word, &mut Vec::new());
        }
    }
}

fn documents(vocabulary: &Vocabulary) -> Vec<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> =
        vocabulary.ids().map(|id| (vocabulary.word(id), vocabulary.document_count(id))).collect();
    counts.sort_unstable();
    counts
}

#[test]
fn a_document_counts_once_for_each_of_its_words() {
    let mut vocabulary = Vocabulary::new(3);
    learn_documents(&mut vocabulary, &[(1, "a a b"), (1, "b a"), (2, "a"), (3, "c c"), (3, "a")]);
    assert_eq!(documents(&vocabulary), [("a", 3), ("b", 1), ("c", 1)]);
    // It cancels the counts of others until it has the place of `b`.
    learn_documents(&mut vocabulary, &[(4, "d"), (5, "d d d d")]);
    assert_eq!(documents(&vocabulary), [("a", 3), ("c", 1), ("d", 1)]);
    // Text that does not say which document it is of ends the counts.
    vocabulary.begin_sentence(None);
    assert!(!vocabulary.has_documents() && vocabulary.totals().document.is_none());
    learn_documents(&mut vocabulary, &[(9, "a a"), (10, "a")]);
    assert_eq!(documents(&vocabulary), [("a", 2), ("c", 0), ("d", 0)]);
}

#[test]
fn documents_follow_words_under_control() {
    use control::testing::{forget, merge, pin};
    let mut vocabulary = Vocabulary::new(6);
    learn_documents(&mut vocabulary, &[(1, "a b c"), (2, "c d"), (3, "c d")]);
    let controls = [forget("a", false), merge("b", "d"), pin("e")];
    let _ = vocabulary.control(&controls).unwrap();
    assert_eq!(documents(&vocabulary), [("c", 3), ("d", 2), ("e", 0)]);
    learn_documents(&mut vocabulary, &[(4, "e b"), (4, "d e"), (5, "b b a")]);
    assert_eq!(documents(&vocabulary), [("a", 1), ("c", 3), ("d", 4), ("e", 1)]);
}

#[test]
fn saved_documents_that_contradict_the_counts_are_refused() {
    let mut vocabulary = Vocabulary::new(3);
    learn_documents(&mut vocabulary, &[(1, "a a b"), (2, "a")]);
    let ids: Vec<WordId> = vocabulary.ids().collect();
    assert_eq!(vocabulary.totals().document, Some([2, 3]));
    let mut restore = |first, saved: &[u64]| vocabulary.restore_documents([2, first], &ids, saved);
    assert_eq!(restore(3, &[2, 1]), Ok(()));
    assert_eq!(restore(3, &[2, 2]), Err("`b` occurs 1 times in 2 documents".to_owned()));
    assert_eq!(restore(5, &[2, 1]), Err("a document begins with token 5 of 4".to_owned()));
}
