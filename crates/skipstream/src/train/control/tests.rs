use std::io::Cursor;

use crate::corpus::Lines;
use crate::embeddings::Rows;
use crate::train::testing::{bytes, learn};
use crate::train::{AnyTrainer, Initial, InitialSource};
use crate::vocabulary::Control;
use crate::vocabulary::testing::{block, forget, merge, pin};
use crate::{
    BatchOptions, Config, Embeddings, MiniBatchOptions, PhraseOptions, PhraseScore, Strategy, Trainer,
};

fn config(strategy: Strategy) -> Config {
    Config { dimensions: 5, max_vocabulary: 12, subsample: 0.0, strategy, ..Config::default() }
}

/// So little text in a batch that some of it waits for its replay.
fn strategies() -> [Strategy; 2] {
    let options = MiniBatchOptions { batch_words: 40, replays: 2, blocks: 4, ..Default::default() };
    [Strategy::MiniBatch(options), Strategy::incremental()]
}

fn reload(trainer: &Trainer) -> Trainer {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    trainer.save(&path).unwrap();
    Trainer::load(&path, None).unwrap()
}

const TEXT: &str = "tea with milk and sugar\ncoffee with milk\nsecretname likes tea\nthe colour of coffee\n";

#[test]
fn a_model_that_was_saved_and_loaded_around_each_control_has_the_same_bytes() {
    for strategy in strategies() {
        let controls = [
            pin("cocoa"),
            block("the"),
            forget("secretname", false),
            merge("colour", "color"),
            forget("sugar", true),
            Control::Unpin { word: "cocoa".to_owned() },
        ];
        let mut whole = Trainer::new(config(strategy)).unwrap();
        let mut resumed = Trainer::new(config(strategy)).unwrap();
        for control in controls {
            for text in [TEXT, "new words come here every day\n"] {
                learn(&mut whole, &text.repeat(7));
                learn(&mut resumed, &text.repeat(7));
            }
            whole.control([control.clone()]).unwrap();
            resumed = reload(&resumed);
            resumed.control([control]).unwrap();
            resumed = reload(&resumed);
            assert!(bytes(&whole) == bytes(&resumed), "{strategy:?}");
        }
        learn(&mut whole, TEXT);
        learn(&mut resumed, TEXT);
        assert!(bytes(&whole) == bytes(&resumed), "{strategy:?}");
        let mut fork = whole.fork().unwrap();
        learn(&mut fork, "the secretname of cocoa\n");
        learn(&mut whole, "the secretname of cocoa\n");
        assert!(bytes(&fork) == bytes(&whole), "{strategy:?}: a fork has the controls too");
        assert!(fork.vocabulary().id("the").is_none());
    }
}

#[test]
fn the_other_words_keep_their_vectors_and_their_replays() {
    for strategy in strategies() {
        let mut trainer = Trainer::new(config(strategy)).unwrap();
        learn(&mut trainer, &TEXT.repeat(20));
        let before = trainer.embeddings().unwrap();
        let waiting = trainer.waiting();
        assert_eq!(waiting > 0, matches!(strategy, Strategy::MiniBatch(_)));
        let report = trainer.control([forget("tea", false), block("with")]).unwrap();
        assert_eq!(
            (report[0].left, report[1].left),
            (Some(before.count(before.index_of("tea").unwrap())), Some(40))
        );
        let after = trainer.embeddings().unwrap();
        assert_eq!(after.len(), before.len() - 2);
        let matrix = |embeddings: &Embeddings, word: &str| {
            // Joined vectors are centered by the mean of all words, which has changed.
            embeddings.count(embeddings.index_of(word).unwrap())
        };
        for word in after.words() {
            assert_eq!(matrix(&after, word), matrix(&before, word));
        }
        assert_eq!(trainer.waiting(), waiting);
        // All text that waits is trained with the words that are left, and nothing else.
        trainer.finish();
        assert_eq!(trainer.waiting(), 0);
        assert!(trainer.vocabulary().id("tea").is_none());
    }
}

#[test]
fn rows_move_with_their_words() {
    for strategy in strategies() {
        let mut trainer = Trainer::new(config(strategy)).unwrap();
        learn(&mut trainer, &TEXT.repeat(20));
        let rows = |trainer: &Trainer| -> Vec<(String, Vec<f32>, Vec<f32>)> {
            let (vocabulary, parameters) = (trainer.vocabulary(), trainer.parameters());
            let row = |id| {
                let word = vocabulary.word(id).to_owned();
                (word, parameters.target(id).to_vec(), parameters.context(id).to_vec())
            };
            vocabulary.ids().map(row).collect()
        };
        let mut expected = rows(&trainer);
        trainer.control([forget("tea", false), block("sugar")]).unwrap();
        expected.retain(|(word, ..)| word != "tea" && word != "sugar");
        assert_eq!(rows(&trainer), expected);
    }
}

#[test]
fn a_forgotten_word_is_nowhere_in_the_file_and_later_text_is_new() {
    for strategy in strategies() {
        let vectors = Embeddings::new(5, [("secretname", 2), ("tea", 1)], vec![1.0; 10]).unwrap();
        let source = InitialSource { file: "v.txt".to_owned(), fingerprint: "0".repeat(64) };
        let initial = Initial { vectors, source };
        let mut trainer = Trainer::starting_from(config(strategy), initial).unwrap();
        learn(&mut trainer, &TEXT.repeat(20));
        trainer.control([pin("secretname"), merge("nickname", "secretname")]).unwrap();
        let holds = |trainer: &Trainer| {
            let bytes = bytes(trainer);
            bytes.windows(10).any(|window| window == b"secretname")
        };
        assert!(holds(&trainer));
        trainer.control([forget("secretname", true)]).unwrap();
        assert!(!holds(&trainer));
        let mut trainer = reload(&trainer);
        learn(&mut trainer, TEXT);
        assert!(!holds(&trainer), "it stays out");
        trainer.control([Control::Unblock { word: "secretname".to_owned() }]).unwrap();
        learn(&mut trainer, TEXT);
        let id = trainer.vocabulary().id("secretname").unwrap();
        assert_eq!(trainer.vocabulary().count(id), 1, "it is a new word");
    }
}

#[test]
fn controls_that_fail_change_nothing() {
    for strategy in strategies() {
        // The rows of a file in place are not checked before they are used.
        let (words, counts) = (Embeddings::list(["secretname", "broken"]).unwrap(), vec![2, 1].into());
        let rows = Rows::owned(5, [vec![1.0; 5], vec![f32::NAN; 5]].concat());
        let vectors = Embeddings::in_place(words, counts, 5, rows).unwrap();
        let source = InitialSource { file: "v.txt".to_owned(), fingerprint: "0".repeat(64) };
        let mut trainer = Trainer::starting_from(config(strategy), Initial { vectors, source }).unwrap();
        learn(&mut trainer, &TEXT.repeat(20));
        let before = bytes(&trainer);
        let error = trainer.control([forget("secretname", false)]).unwrap_err().to_string();
        assert!(error.contains("`broken`"), "{error}");
        assert!(bytes(&trainer) == before, "{strategy:?}");
    }
}

#[test]
fn pinned_words_have_vectors_before_they_occur_and_never_leave() {
    for strategy in strategies() {
        let mut trainer = Trainer::new(config(strategy)).unwrap();
        trainer.control([pin("cocoa"), pin("chocolate")]).unwrap();
        let row = |trainer: &Trainer, word: &str| {
            let id = trainer.vocabulary().id(word).unwrap();
            trainer.parameters().target(id).to_vec()
        };
        assert_ne!(row(&trainer, "cocoa"), row(&trainer, "chocolate"));
        assert!(row(&trainer, "cocoa").iter().all(|value| value.abs() <= 0.1));
        let many: String = (0..500).map(|n| format!("word{n} other{n}\n")).collect();
        learn(&mut trainer, &many);
        assert!(trainer.vocabulary().id("cocoa").is_some() && trainer.vocabulary().totals().evictions > 0);
        let mut trainer = reload(&trainer);
        learn(&mut trainer, "hot cocoa\n");
        let cocoa = trainer.vocabulary().id("cocoa").unwrap();
        assert_eq!(trainer.vocabulary().count(cocoa), 1);
    }
}

#[test]
fn words_are_written_as_the_text_settings_write_them() {
    let mut config = config(Strategy::mini_batch());
    config.text.lowercase = true;
    let mut trainer = Trainer::new(config).unwrap();
    let report = trainer.control([block("The"), merge("Grey", "GRAY")]).unwrap();
    assert_eq!((report[0].word.as_str(), report[1].word.as_str()), ("the", "grey"));
    learn(&mut trainer, "The tea THE grey\n");
    assert_eq!(trainer.embeddings().unwrap().words().collect::<Vec<_>>(), ["gray", "tea"]);
    let message = trainer.control([block("New York")]).unwrap_err().to_string();
    assert_eq!(message, "`New York` is not a single token by the text settings of this model");
    // Tokens that were made elsewhere are taken as they are.
    trainer.train([["New York", "Tea"]]).unwrap();
    let report = trainer.control([forget("New York", false), forget("Tea", false)]).unwrap();
    assert!(report.iter().all(|one| one.left == Some(1)));
}

#[test]
fn controls_hold_in_every_pass() {
    let options = BatchOptions::default();
    let mut any = AnyTrainer::new(config(Strategy::Batch(options))).unwrap();
    any.control([block("the"), merge("colour", "color"), pin("cocoa")]).unwrap();
    let AnyTrainer::Passes(mut passes) = any else { panic!("{any:?}") };
    let text = TEXT.repeat(5);
    let options = passes.model().settings().text().clone();
    for _ in 0..2 {
        let mut open = || Ok(Box::new(Lines::new(Cursor::new(text.clone()), "text", &options)?) as Box<_>);
        passes.train(&mut open, &mut ()).unwrap();
        let vocabulary = passes.model().vocabulary();
        assert!(vocabulary.id("the").is_none() && vocabulary.id("colour").is_none());
        assert_eq!(vocabulary.count(vocabulary.id("color").unwrap()), 5);
        assert_eq!(vocabulary.count(vocabulary.id("cocoa").unwrap()), 0);
        passes.reset().unwrap();
        assert_eq!(passes.model().controls().blocked.len(), 1);
    }
}

/// A model that finds phrases, and its text.
fn trainer_with_phrases() -> Trainer {
    let phrases = PhraseOptions { score: PhraseScore::Npmi, min_count: Some(3), ..PhraseOptions::default() };
    let strategy = Strategy::MiniBatch(MiniBatchOptions { batch_words: 600, ..Default::default() });
    let config = Config { max_vocabulary: 200, phrases, ..config(strategy) };
    let mut trainer = Trainer::new(config).unwrap();
    trainer.add_phrases(["secretname hall"]).unwrap();
    let others = (0..200).map(|n| format!("{} {} {}\n", n % 7, n % 11, n % 13));
    let text = "mister secretname junior sees secretname hall\nnew york city\n".repeat(10);
    learn(&mut trainer, &(others.collect::<String>() + &text.repeat(3)));
    learn(&mut trainer, &text.repeat(3));
    trainer
}

#[test]
fn a_forgotten_word_is_nowhere_in_the_file_even_in_phrases() {
    let occurs = |trainer: &Trainer, word: &str| {
        bytes(trainer).windows(word.len()).any(|window| window == word.as_bytes())
    };
    for keep_out in [false, true] {
        let mut trainer = trainer_with_phrases();
        for phrase in ["mister_secretname", "mister_secretname_junior", "secretname_hall", "new_york_city"] {
            assert!(trainer.vocabulary().id(phrase).is_some(), "{phrase}: {:?}", trainer.phrases());
        }
        assert!(occurs(&trainer, "secretname"));
        let report = trainer.control([forget("secretname", keep_out)]).unwrap();
        assert!(report.len() == 1 && report[0].changed, "a control has one report: {report:?}");
        assert!(!trainer.control([forget("secretname", keep_out)]).unwrap()[0].changed);
        assert!(!occurs(&trainer, "secretname") && occurs(&trainer, "new_york_city"));
        assert!(trainer.phrases().iter().all(|phrase| !phrase.word.contains("secret")));
        // The model goes on, also from a file.
        let mut resumed = reload(&trainer);
        for trainer in [&mut trainer, &mut resumed] {
            learn(trainer, &"mister secretname junior\nnew york city\n".repeat(10));
        }
        assert!(bytes(&trainer) == bytes(&resumed));
        assert_eq!(occurs(&trainer, "secretname"), !keep_out);
    }
    // A word that occurs in a given phrase alone.
    let mut trainer = Trainer::new(config(Strategy::mini_batch())).unwrap();
    trainer.add_phrases(["secretname hall"]).unwrap();
    learn(&mut trainer, "the secretname hall\n");
    assert!(trainer.vocabulary().id("secretname").is_none() && occurs(&trainer, "secretname"));
    assert!(trainer.control([forget("secretname", false)]).unwrap()[0].changed);
    assert!(!occurs(&trainer, "secretname"));
    // A phrase as it is asked for.
    let mut trainer = trainer_with_phrases();
    let report = trainer.control([forget("new york", false)]).unwrap();
    assert_eq!(report[0].word, "new_york");
    assert!(!occurs(&trainer, "new_york"));
}

#[test]
fn controls_of_a_model_with_phrases_give_the_same_bytes_together_and_one_by_one() {
    let controls = [
        pin("cocoa"),
        block("city"),
        forget("junior", false),
        merge("york", "jork"),
        forget("hall", true),
        Control::Unpin { word: "cocoa".to_owned() },
    ];
    let (mut together, mut one_by_one) = (trainer_with_phrases(), trainer_with_phrases());
    together.control(controls.clone()).unwrap();
    for control in controls {
        one_by_one.control([control.clone()]).unwrap();
        one_by_one = reload(&one_by_one);
        let before = bytes(&one_by_one);
        one_by_one.control([control]).unwrap();
        assert!(bytes(&one_by_one) == before, "repeating a control changes nothing");
    }
    assert!(bytes(&together) == bytes(&one_by_one));
    let text = "mister secretname junior\nnew york city\nnew jork\n".repeat(20);
    learn(&mut together, &text);
    learn(&mut one_by_one, &text);
    assert!(bytes(&together) == bytes(&one_by_one));
    let words: Vec<String> = together.phrases().into_iter().map(|phrase| phrase.word).collect();
    assert!(words.contains(&"new_jork".to_owned()), "{words:?}");
    assert!(words.iter().all(|word| !word.contains("city") && !word.contains("hall")), "{words:?}");
}
