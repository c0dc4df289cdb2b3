//! Controls of words, between two batches.

use super::fresh::FreshRows;
use super::{Initial, Method, Stream, Trainer};
use crate::embeddings::Embeddings;
use crate::error::Result;
use crate::phrases::{contains, word_of};
use crate::vocabulary::{Control, ControlError, Controlled, Controls, Moves, WordId};

/// Words under control: see [`Control`].
impl Trainer {
    /// Carries out controls, all or none, and returns what each of them did.
    ///
    /// Words are taken as they are if the model has them in this form, and else as the text settings write them: in a
    /// model of text in lower case, `Berlin` is `berlin`. The end of a training call ends a batch, so the model is a
    /// function of the texts and of the controls between them.
    ///
    /// ```
    /// use skipstream::vocabulary::Control;
    /// use skipstream::{Config, Trainer};
    ///
    /// let mut trainer = Trainer::new(Config { dimensions: 16, ..Config::default() })?;
    /// trainer.control([Control::Block { word: "the".to_owned() }, Control::Pin { word: "cocoa".to_owned() }])?;
    /// trainer.train([["the", "tea", "with", "the", "milk"]])?;
    /// let mut words: Vec<_> = trainer.embeddings()?.words().map(str::to_owned).collect();
    /// words.sort();
    /// assert_eq!(words, ["cocoa", "milk", "tea", "with"]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn control(&mut self, controls: impl IntoIterator<Item = Control>) -> Result<Vec<Controlled>> {
        let controls = controls.into_iter().map(|control| control.try_map(|word| self.token(word)));
        let mut controls = controls.collect::<Result<Vec<Control>, _>>()?;
        let phrases = self.forgotten_phrases(&controls);
        let in_phrases: Vec<bool> = controls
            .iter()
            .map(|control| self.is_forgotten_in(control, &phrases) || self.has_initial(control))
            .collect();
        controls.extend(phrases);
        let initial_vectors = self.initial_without_forgotten(&controls)?;
        let (mut report, moves) = self.stream.vocabulary.control(&controls)?;
        // Words have moved, so nothing fails from here on: what belongs to them must follow.
        report.truncate(in_phrases.len());
        report.iter_mut().zip(in_phrases).for_each(|(one, in_phrases)| one.changed |= in_phrases);
        if let (Some(initial), Some(vectors)) = (&mut self.stream.initial, initial_vectors) {
            initial.vectors = vectors;
        }
        // The times of slots are followed only if they are those of the vocabulary.
        let vocabulary = &self.stream.vocabulary;
        self.word_times = self.word_times.take().filter(|times| times.is_current(vocabulary));
        if let Method::MiniBatch(method) = &mut self.method {
            method.phrases_mut().control(&controls, self.stream.vocabulary.controls());
        }
        if !moves.is_empty() {
            self.move_words(&moves);
        }
        Ok(report)
    }

    /// The words under control.
    pub fn controls(&self) -> &Controls {
        self.stream.vocabulary.controls()
    }

    /// Gives an empty model the controls of another.
    pub(super) fn set_controls(&mut self, controls: Controls) -> Result<()> {
        self.control(controls.pinned.iter().map(|word| Control::Pin { word: word.clone() }))?;
        self.stream.vocabulary.restore_controls(controls).expect("nothing else is in the vocabulary");
        Ok(())
    }

    fn token(&self, word: String) -> Result<String, ControlError> {
        if self.stream.vocabulary.mentions(&word) {
            return Ok(word);
        }
        let text = self.settings.text();
        let phrase = || word_of(&word, text).filter(|word| self.stream.vocabulary.mentions(word));
        text.only_token(&word).or_else(phrase).ok_or(ControlError::NotAToken { text: word })
    }

    /// Whether it forgets a word in phrases.
    fn is_forgotten_in(&self, control: &Control, phrases: &[Control]) -> bool {
        let word = control.word();
        matches!(control, Control::Forget { .. })
            && (phrases.iter().any(|phrase| contains(phrase.word(), word))
                || self.phrases_of_stream().is_some_and(|phrases| phrases.mentions(word)))
    }

    /// A forgotten word is forgotten in phrases too: they contain it.
    fn forgotten_phrases(&self, controls: &[Control]) -> Vec<Control> {
        let Some(phrases) = self.phrases_of_stream() else { return Vec::new() };
        let forgotten = controls.iter().filter(|control| matches!(control, Control::Forget { .. }));
        let words = forgotten.map(Control::word).collect();
        let containing = phrases.containing(&words, &self.stream.vocabulary).into_iter();
        let others = containing.filter(|word| !words.contains(word.as_str()));
        others.map(|word| Control::Forget { word, keep_out: false }).collect()
    }

    /// Moves everything that belongs to a word to the word's new slot.
    fn move_words(&mut self, moves: &Moves) {
        let Stream { vocabulary, parameters, initial, .. } = &mut self.stream;
        let (dimensions, seed) = (parameters.layout().dimensions, parameters.seed);
        // Words move down, so no row is overwritten before it was copied.
        for (id, origin) in moves.origins() {
            match origin {
                Some(origin) if origin != id => parameters.copy_row(origin, id),
                Some(_) => {}
                None => FreshRows::of_pinned(id, vocabulary.word(id), initial.as_ref()).reset(
                    parameters.rows_mut(id),
                    dimensions,
                    seed,
                    initial.as_ref(),
                ),
            }
        }
        if let Some(times) = &mut self.word_times {
            times.follow(moves);
        }
        match &mut self.method {
            Method::MiniBatch(method) => {
                let ids = moves.ids();
                method.replay_mut().replace_words(|number, word| {
                    let id = ids.get(word.index()).copied().unwrap_or(WordId::NONE);
                    let is_same = id != WordId::NONE && vocabulary.is_same_word_since(id, number);
                    if is_same { id } else { WordId::NONE }
                });
            }
            Method::Sentences(method) => {
                let counts: Vec<u64> = vocabulary.counts().collect();
                method.noise.recount(&counts, &mut method.random);
            }
            Method::Passes(_) => {}
        }
    }

    /// The initial vectors without those of forgotten words; `None` if all stay.
    fn initial_without_forgotten(&self, controls: &[Control]) -> Result<Option<Embeddings>> {
        let Some(Initial { vectors, .. }) = &self.stream.initial else { return Ok(None) };
        let forgotten = controls.iter().filter(|control| matches!(control, Control::Forget { .. }));
        let forgotten: Vec<&str> = forgotten.map(Control::word).collect();
        let joins = self.joins_phrases();
        let stays =
            |row: &usize| !forgotten.iter().any(|word| is_or_contains(vectors.word(*row), word, joins));
        let rows: Vec<usize> = (0..vectors.len()).filter(stays).collect();
        (rows.len() < vectors.len()).then(|| vectors.select(&rows)).transpose()
    }

    /// Whether it forgets a word that has an initial vector, or is in a phrase that has one.
    fn has_initial(&self, control: &Control) -> bool {
        let joins = self.joins_phrases();
        matches!(control, Control::Forget { .. })
            && self.stream.initial.as_ref().is_some_and(|Initial { vectors, .. }| {
                vectors.words().any(|word| is_or_contains(word, control.word(), joins))
            })
    }
}

/// Whether a word is another, or with phrases contains it.
fn is_or_contains(word: &str, other: &str, joins_phrases: bool) -> bool {
    word == other || joins_phrases && contains(word, other)
}

#[cfg(test)]
mod tests;
