//! The trainer: the state of a stream, and the strategy that learns it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::marker::PhantomData;
use std::path::Path;

use super::{Initial, MemoryBound, MiniBatch, Observer, Passes, Progress, Sentences, StopReason, Totals};
use crate::config::{Config, MiniBatchOptions, Settings, Strategy};
use crate::corpus::{Files, Follow, Input, Layout, Ledger, Lines, Read, Sentence, Source, TokenLists};
use crate::embeddings::{Composition, Counts, Embeddings, Vectors};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::parameters::Parameters;
use crate::phrases::{Phrase, Phrases, Reading, refuse_strategy};
use crate::vocabulary::{Vocabulary, WordId, WordTimes};

/// Learns word vectors from a stream of text.
///
/// A trainer owns everything that changes; [`Trainer::embeddings`] copies the vectors for reading.
///
/// ```
/// use skipstream::{Config, Trainer};
///
/// let mut trainer = Trainer::new(Config { dimensions: 16, ..Config::default() })?;
/// trainer.train([["tea", "with", "milk"], ["coffee", "with", "sugar"]])?;
/// assert_eq!(trainer.embeddings()?.len(), 5);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Trainer {
    pub(crate) settings: Settings,
    pub(crate) stream: Stream,
    pub(crate) method: Method,
    pub(crate) ledger: Ledger,
    pub(crate) notes: BTreeMap<String, String>,
    pub(crate) word_times: Option<WordTimes>,
    pub(super) kernel: Kernel,
}

/// What every strategy works on.
#[derive(Debug)]
pub(crate) struct Stream {
    pub vocabulary: Vocabulary,
    pub parameters: Parameters,
    pub totals: Totals,
    /// The vectors that words start with.
    pub initial: Option<Initial>,
}

impl Stream {
    pub fn progress(&self) -> Progress {
        Progress {
            tokens: self.vocabulary.tokens(),
            totals: self.totals,
            vocabulary: self.vocabulary.len(),
            evictions: self.vocabulary.totals().evictions,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Method {
    MiniBatch(Box<MiniBatch>),
    Sentences(Box<Sentences>),
    Passes(Box<Passes>),
}

impl Trainer {
    /// An empty model. The strategy must be `mini-batch` or `incremental`; [`MultiPass`](super::MultiPass) has the others.
    pub fn new(config: Config) -> Result<Trainer> {
        Trainer::with_kernel(config, Kernel::best())
    }

    /// An empty model whose words start with the given vectors, if they are among them. Contexts start at zero.
    ///
    /// The model keeps the vectors of the `max_vocabulary` most frequent words.
    pub fn starting_from(config: Config, initial: Initial) -> Result<Trainer> {
        Trainer::new(config)?.with_initial(initial)
    }

    pub(crate) fn with_initial(mut self, initial: Initial) -> Result<Trainer> {
        let (dimensions, max_vocabulary) = (self.settings.dimensions(), self.settings.max_vocabulary());
        if initial.vectors.dimensions() != dimensions {
            return Err(Error::Setting {
                field: "dimensions",
                value: dimensions.to_string(),
                limit: format!("{}, as in {}", initial.vectors.dimensions(), initial.source.file),
            });
        }
        self.stream.initial = Some(initial.cut_to(max_vocabulary)?);
        Ok(self)
    }

    /// An empty model that is trained with the given instruction set. The result is the same for all of them.
    #[doc(hidden)]
    pub fn with_kernel(config: Config, kernel: Kernel) -> Result<Trainer> {
        if config.strategy.passes().is_some() {
            let name = config.strategy.name();
            return Err(Error::setting("strategy", name, "mini-batch or incremental to learn a stream"));
        }
        Trainer::of_any_strategy(config, kernel)
    }

    pub(crate) fn of_any_strategy(config: Config, kernel: Kernel) -> Result<Trainer> {
        Trainer::of_rows(config, kernel, Parameters::new)
    }

    /// A trainer with the parameters that `rows` makes.
    pub(crate) fn of_rows(
        config: Config,
        kernel: Kernel,
        rows: impl FnOnce(&Settings) -> Result<Parameters>,
    ) -> Result<Trainer> {
        let settings = config.check()?;
        let mut vocabulary = Vocabulary::with_half_life(settings.max_vocabulary(), settings.half_life());
        vocabulary.reserve()?;
        Ok(Trainer {
            stream: Stream {
                vocabulary,
                parameters: rows(&settings)?,
                totals: Totals::default(),
                initial: None,
            },
            method: match settings.strategy() {
                Strategy::MiniBatch(_) => Method::MiniBatch(Box::new(MiniBatch::new(&settings, kernel)?)),
                Strategy::Incremental(options) => {
                    Method::Sentences(Box::new(Sentences::new(&settings, options, kernel)))
                }
                Strategy::Batch(_) | Strategy::Word2vec(_) => {
                    Method::Passes(Box::new(Passes::new(&settings, kernel)))
                }
            },
            ledger: Ledger::default(),
            notes: BTreeMap::new(),
            word_times: None,
            kernel,
            settings,
        })
    }

    /// Learns lines of text. Each line is a sentence; the settings say how it is split into tokens.
    ///
    /// [`Trainer::lines`] with [`Trainer::train_source`] also reports lines that were cut or left out.
    pub fn train_lines(&mut self, text: impl BufRead) -> Result<StopReason> {
        let mut lines = self.lines(text, "text")?;
        self.train_source(&mut lines)
    }

    /// Learns sentences that are already split into tokens. The limits of the settings apply to them too.
    pub fn train<T: AsRef<str>>(
        &mut self,
        sentences: impl IntoIterator<Item: AsRef<[T]>>,
    ) -> Result<StopReason> {
        let lists = TokenLists::new("sentences", self.settings.text())?;
        let mut source = TokenSource { sentences: sentences.into_iter(), lists, token: PhantomData };
        self.train_source(&mut source)
    }

    /// Learns from a source until it has no more text. When this returns, all text that was read is learned.
    ///
    /// If the source fails, the text before the failure is learned, and the error is returned.
    pub fn train_source(&mut self, source: &mut dyn Source) -> Result<StopReason> {
        self.train_observed(source, &mut ())
    }

    /// [`Trainer::train_source`] with an observer, which may ask for a pause.
    pub fn train_observed(
        &mut self,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        match &mut self.method {
            Method::MiniBatch(method) => method.train(&mut self.stream, source, observer),
            Method::Sentences(method) => method.train(&self.settings, &mut self.stream, source, observer),
            Method::Passes(_) => unreachable!("`MultiPass` shows its trainer for reading only"),
        }
    }

    /// Trains the text that still waits for its replay, at a rate that falls to zero. Call it before a last export. Text that
    /// comes later is trained at the full rate again.
    pub fn finish(&mut self) {
        self.finish_observed(&mut ());
    }

    /// [`Trainer::finish`] with an observer. If it asks for a pause, some of the text may still wait.
    pub fn finish_observed(&mut self, observer: &mut dyn Observer) -> StopReason {
        match &mut self.method {
            Method::MiniBatch(method) => method.finish(&self.settings, &mut self.stream, observer),
            Method::Sentences(_) | Method::Passes(_) => StopReason::EndOfText,
        }
    }

    /// Changes how often new text is replayed (strategy `mini-batch`).
    ///
    /// No text may be waiting for its replay; call [`Trainer::finish`] first. The learning rate stays as it is.
    pub fn set_replays(&mut self, replays: u32) -> Result<()> {
        let Method::MiniBatch(method) = &mut self.method else {
            let name = self.settings.strategy().name();
            return Err(Error::setting("replays", replays, format!("left out with the strategy {name}")));
        };
        let options = self.settings.mini_batch();
        if replays == options.replays {
            return Ok(());
        }
        let strategy = Strategy::MiniBatch(MiniBatchOptions { replays, ..options });
        // The default rate depends on the replays, but a model has one rate.
        let learning_rate = Some(self.settings.learning_rate());
        let settings = Config { strategy, learning_rate, ..self.settings.config().clone() }.check()?;
        if method.replay().due() > 0 {
            return Err(Error::ReplaysDue { from: options.replays, to: replays });
        }
        method.set_replays(&settings);
        self.settings = settings;
        Ok(())
    }

    /// A reader of lines with the text settings of this trainer; errors call it `name`.
    pub fn lines<R: BufRead>(&self, text: R, name: impl AsRef<Path>) -> Result<Lines<R>> {
        Lines::new(text, name, self.settings.text())
    }

    /// A reader of files as one stream, with the text settings of this trainer.
    ///
    /// Files that were learned before are skipped, and a file that has grown is continued, if the caller has recorded
    /// positions in [`Trainer::ledger_mut`]. [`Files::plan`] has more options.
    pub fn files(&self, paths: impl IntoIterator<Item = impl Into<Input>>) -> Result<Files> {
        Files::plan(paths, &self.ledger, false, self.settings.text(), &Layout::Text)
    }

    /// [`Trainer::files`] for files that grow: at their end, training returns [`StopReason::Pending`].
    pub fn follow(&self, paths: impl IntoIterator<Item = impl Into<Input>>) -> Result<Follow> {
        Follow::plan(paths, &self.ledger, false, self.settings.text(), &Layout::Text)
    }

    /// A copy of the vectors of the [default](Vectors::default) kind as they are now.
    pub fn embeddings(&self) -> Result<Embeddings> {
        self.embeddings_of(Vectors::default())
    }

    /// A copy of the vectors of one kind as they are now.
    pub fn embeddings_of(&self, vectors: Vectors) -> Result<Embeddings> {
        self.top_embeddings(vectors, usize::MAX)
    }

    /// A copy of the vectors of the most frequent words, at most `most`: the first rows of [`Trainer::embeddings_of`].
    pub fn top_embeddings(&self, vectors: Vectors, most: usize) -> Result<Embeddings> {
        self.embeddings_of_rows(vectors, most, &|id| self.rows(id))
    }

    /// The same with the rows of words from elsewhere.
    pub(crate) fn embeddings_of_rows<'a>(
        &self,
        vectors: Vectors,
        most: usize,
        rows: &(dyn Fn(WordId) -> [&'a [f32]; 2] + Sync),
    ) -> Result<Embeddings> {
        let vocabulary = &self.stream.vocabulary;
        // In order already, so that nothing is copied twice.
        let mut ids = self.ids_by_frequency(if vectors.is_centered() { usize::MAX } else { most });
        let sides = [0, 1].map(|side| ids.iter().map(move |&id| rows(id)[side]));
        let composition = Composition::of(vectors, self.settings.dimensions(), sides);
        ids.truncate(most);
        let dimensions = vectors.dimensions(self.settings.dimensions());
        let mut values = vec![0.0; ids.len() * dimensions];
        for (&id, vector) in ids.iter().zip(values.chunks_exact_mut(dimensions)) {
            composition.write(rows(id), vector);
        }
        let words = Embeddings::list(ids.iter().map(|&id| vocabulary.word(id)))?;
        let counts =
            |count: fn(&Vocabulary, WordId) -> u64| ids.iter().map(|&id| count(vocabulary, id)).collect();
        let counts = Counts {
            all: counts(Vocabulary::count),
            recent: self.settings.half_life().map(|_| counts(Vocabulary::recent_count)),
            documents: vocabulary.has_documents().then(|| counts(Vocabulary::document_count)),
        };
        let reading = Reading::of_stream(self.settings.text(), self.phrases_of_stream(), self.controls());
        let embeddings = Embeddings::from_list(dimensions, words, counts, values)?;
        Ok(embeddings.with_reading(reading).with_composition(&composition))
    }

    /// The most frequent words in the order of the rows of embeddings and files: equal counts are sorted by word.
    pub(crate) fn ids_by_frequency(&self, most: usize) -> Vec<WordId> {
        let vocabulary = &self.stream.vocabulary;
        let rank = |id: &WordId| (Reverse(vocabulary.recent_count(*id)), vocabulary.word(*id));
        let mut ids: Vec<WordId> = vocabulary.ids().collect();
        if most < ids.len() {
            ids.select_nth_unstable_by(most, |one, other| rank(one).cmp(&rank(other)));
            ids.truncate(most);
        }
        ids.sort_unstable_by(|one, other| rank(one).cmp(&rank(other)));
        ids
    }

    /// How vectors are composed of rows now. If they are centered, all words must be given, in order.
    pub(super) fn composition(&self, vectors: Vectors, by_frequency: &[WordId]) -> Composition {
        let rows = [0, 1].map(|side| by_frequency.iter().map(move |&id| self.rows(id)[side]));
        Composition::of(vectors, self.settings.dimensions(), rows)
    }

    /// The target and context row of a word.
    pub(super) fn rows(&self, id: WordId) -> [&[f32]; 2] {
        let parameters = &self.stream.parameters;
        [parameters.target(id), parameters.context(id)]
    }

    /// The phrases that are joined now, the most frequent first.
    pub fn phrases(&self) -> Vec<Phrase> {
        self.phrases_of_stream().map_or_else(Vec::new, |phrases| phrases.list(&self.stream.vocabulary))
    }

    /// Whether phrases are joined: some were given, or they are found in the text.
    pub fn joins_phrases(&self) -> bool {
        self.phrases_of_stream().is_some_and(Phrases::is_on)
    }

    /// The state of phrases, if the strategy has it.
    pub(crate) fn phrases_of_stream(&self) -> Option<&Phrases> {
        match &self.method {
            Method::MiniBatch(method) => Some(method.phrases()),
            Method::Sentences(_) | Method::Passes(_) => None,
        }
    }

    /// Adds phrases that are always joined from now on, whether phrases are found in the text or not; all or none. Returns
    /// how many are new. The strategy must be `mini-batch`.
    ///
    /// ```
    /// use skipstream::{Config, Trainer};
    ///
    /// let mut trainer = Trainer::new(Config { dimensions: 16, ..Config::default() })?;
    /// trainer.add_phrases(["new york"])?;
    /// trainer.train([["new", "york", "is", "new"]])?;
    /// let embeddings = trainer.embeddings()?;
    /// assert_eq!((embeddings.len(), embeddings.index_of("new york")), (3, embeddings.index_of("new_york")));
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn add_phrases(&mut self, phrases: impl IntoIterator<Item = impl AsRef<str>>) -> Result<usize> {
        let phrases: Vec<_> = phrases.into_iter().collect();
        let Method::MiniBatch(method) = &mut self.method else {
            let name = self.settings.strategy().name();
            return if phrases.is_empty() { Ok(0) } else { Err(refuse_strategy(name)) };
        };
        let (text, controls) = (self.settings.text(), self.stream.vocabulary.controls());
        method.phrases_mut().give(phrases.iter().map(AsRef::as_ref), text, controls)
    }

    /// Sets the number of threads; by default all cores. The model does not depend on it.
    pub fn set_threads(&mut self, threads: Option<usize>) -> Result<()> {
        self.settings = Config { threads, ..self.settings.config().clone() }.check()?;
        if let Method::MiniBatch(method) = &mut self.method {
            method.set_threads(&self.settings);
        }
        Ok(())
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The words, with their counts.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.stream.vocabulary
    }

    /// The rows.
    #[doc(hidden)]
    pub fn parameters(&self) -> &Parameters {
        &self.stream.parameters
    }

    /// Number of tokens that wait for their replay, counted once per replay.
    pub fn waiting(&self) -> u64 {
        match &self.method {
            Method::MiniBatch(method) => method.replay().due() as u64,
            Method::Sentences(_) | Method::Passes(_) => 0,
        }
    }

    /// The progress since the stream began.
    pub fn progress(&self) -> Progress {
        self.stream.progress()
    }

    /// The sources that were learned.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The sources that were learned, for the reader to update.
    pub fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// Texts that a program keeps with the model, by name. They are saved with it; the engine does not use them.
    pub fn notes(&self) -> &BTreeMap<String, String> {
        &self.notes
    }

    /// The notes, for changes.
    pub fn notes_mut(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.notes
    }

    /// The times when words were seen, if the model has them. They are saved with the model, unless text without times
    /// was learned since they were set.
    pub fn word_times(&self) -> Option<&WordTimes> {
        self.word_times.as_ref()
    }

    /// Sets the times when words were seen.
    pub fn set_word_times(&mut self, times: WordTimes) {
        self.word_times = Some(times);
    }

    /// The memory bound, which holds for any stream.
    pub fn memory_bound(&self) -> MemoryBound {
        let initial = self.stream.initial.as_ref().map_or(0, Initial::bytes);
        let bound = MemoryBound::new(&self.settings);
        // The lists, and the table that is made of them.
        let controls = 2 * self.controls().bytes() as u64;
        let given = self.phrases_of_stream().map_or(0, Phrases::given_bytes) as u64;
        let (vocabulary, phrases) = (bound.vocabulary + controls, bound.phrases + given);
        MemoryBound { initial, vocabulary, phrases, ..bound }
    }

    /// The vectors that words start with, if any.
    pub fn initial(&self) -> Option<&Initial> {
        self.stream.initial.as_ref()
    }

    /// The instruction set in use, such as `avx2`. The model does not depend on it.
    pub fn instruction_set(&self) -> &'static str {
        self.kernel.name()
    }
}

struct TokenSource<I, T> {
    sentences: I,
    lists: TokenLists,
    token: PhantomData<T>,
}

impl<T: AsRef<str>, I: Iterator<Item: AsRef<[T]>>> Source for TokenSource<I, T> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        loop {
            let read = self.lists.read(sentence)?;
            if read.is_sentence() {
                return Ok(read);
            }
            let Some(tokens) = self.sentences.next() else { return Ok(Read::End) };
            for token in tokens.as_ref() {
                self.lists.push(token.as_ref());
            }
            self.lists.end_list();
        }
    }
}
