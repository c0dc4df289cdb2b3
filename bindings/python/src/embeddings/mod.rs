//! Word vectors.

mod arrays;
mod keys;
mod subwords;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use skipstream::embeddings::{
    AnalogyRule, Combine, Expression, Lengths, Neighbor, Projection, Query, SubwordOptions, Subwords, Term,
    Weighting,
};
use skipstream::formats::{self, FirstLine, Format, LoadOptions, SaveOptions};

use crate::call::call;
use crate::error::to_python;
use crate::means;
use arrays::{frozen, matrix_of};
pub use arrays::{matrix, prepare_arrays, values};
use subwords::estimating;

/// Words with their counts and vectors; never changes.
#[pyclass(frozen, weakref, module = "skipstream._engine")]
pub struct Embeddings {
    embeddings: skipstream::Embeddings,
    /// The matrix, if it had to be computed.
    computed: OnceLock<Vec<f32>>,
    /// For words that are unknown or rare.
    subwords: Option<Arc<Subwords>>,
}

impl Embeddings {
    pub fn new(embeddings: skipstream::Embeddings) -> Embeddings {
        Embeddings { embeddings, computed: OnceLock::new(), subwords: None }
    }

    fn count_at(&self, row: usize) -> i64 {
        i64::try_from(self.embeddings.count(row)).unwrap_or(i64::MAX)
    }

    pub fn get(&self) -> &skipstream::Embeddings {
        &self.embeddings
    }

    pub fn subwords(&self) -> Option<&Subwords> {
        self.subwords.as_deref()
    }

    /// The table of n-grams for vectors of this length, or an error if there is none.
    pub fn table(&self, dimensions: usize) -> PyResult<&Subwords> {
        subwords::table(self, dimensions)
    }
}

type Words = Vec<(String, f32)>;

#[pymethods]
impl Embeddings {
    /// Loads a file of any format; our own can be memory-mapped.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (path, vectors, format = None, invalid_utf8 = "error", limit = None, counts = None, in_place = true))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        vectors: &str,
        format: Option<&str>,
        invalid_utf8: &str,
        limit: Option<usize>,
        counts: Option<PathBuf>,
        in_place: bool,
    ) -> PyResult<Embeddings> {
        let invalid_utf8 = serde_json::from_value(invalid_utf8.into())
            .map_err(|error| PyValueError::new_err(format!("invalid_utf8: {error}")))?;
        let embeddings = call(py, || {
            let mut options = LoadOptions::default();
            options.vectors = vectors.parse()?;
            options.format = format.map(str::parse).transpose()?;
            options.invalid_utf8 = invalid_utf8;
            options.limit = limit;
            options.in_place = in_place;
            let (_, embeddings) = formats::load_with(path, &options)?;
            match counts {
                None => Ok(embeddings),
                Some(path) => {
                    let counts = formats::read_counts(path)?;
                    embeddings.with_counts(|word| counts.get(word).copied())
                }
            }
        })?;
        Ok(Embeddings::new(embeddings))
    }

    /// Embeddings from words and vectors.
    #[staticmethod]
    #[pyo3(signature = (words, vectors, counts = None))]
    fn from_arrays(
        py: Python<'_>,
        words: &Bound<'_, PyList>,
        vectors: &Bound<'_, PyArray2<f32>>,
        counts: Option<Vec<u64>>,
    ) -> PyResult<Embeddings> {
        let words = keys::words(words)?;
        let (n_vectors, dimensions, vectors) = matrix(vectors)?;
        if n_vectors != words.len() {
            return Err(PyValueError::new_err(format!(
                "there are {} words and {n_vectors} vectors; the numbers must be equal",
                words.len()
            )));
        }
        if let Some(counts) = counts.as_ref().filter(|counts| counts.len() != words.len()) {
            return Err(PyValueError::new_err(format!(
                "there are {} words and {} counts; the numbers must be equal",
                words.len(),
                counts.len()
            )));
        }
        let embeddings = call(py, || match counts {
            Some(counts) => skipstream::Embeddings::new(dimensions, words.iter().zip(counts), vectors),
            None => skipstream::Embeddings::uncounted(dimensions, &words, vectors),
        })?;
        Ok(Embeddings::new(embeddings))
    }

    /// The vector of each text, one row each. Unknown words are estimated if there are subwords.
    #[pyo3(signature = (texts, weighting, normalize))]
    fn mean_vectors<'py>(
        slf: &Bound<'py, Self>,
        texts: &Bound<'py, PyAny>,
        weighting: &Bound<'_, PyAny>,
        normalize: bool,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (py, this) = (slf.py(), slf.get());
        let embeddings = &this.embeddings;
        let dimensions = embeddings.dimensions();
        let subwords = this.subwords.is_some().then_some(this);
        let options = means::options(weighting, normalize, subwords, dimensions)?;
        if options.weighting != Weighting::None && !embeddings.has_counts() {
            let reason = "these vectors have no counts, so weighting must be \"none\"";
            return Err(PyValueError::new_err(reason));
        }
        let text = embeddings.text().cloned().unwrap_or_default();
        means::of_texts(py, texts, dimensions, &text, |texts, rows| {
            call(py, || {
                means::append(texts, dimensions, &text, rows, |source, mean| {
                    embeddings.mean_vector(source, &options, mean)
                })
            })
        })
    }

    fn __len__(&self) -> usize {
        self.embeddings.len()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        keys::find(&self.embeddings, key).is_ok_and(|row| row.is_some())
    }

    /// The length of every vector.
    #[getter]
    fn dimensions(&self) -> usize {
        self.embeddings.dimensions()
    }

    /// Whether the counts are known.
    #[getter]
    fn has_counts(&self) -> bool {
        self.embeddings.has_counts()
    }

    /// Whether the vectors are memory-mapped.
    #[getter]
    fn is_mapped(&self) -> bool {
        self.embeddings.is_mapped()
    }

    /// The words, most frequent first.
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.embeddings.words())
    }

    /// The count of each word.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let counts: Vec<i64> = (0..self.embeddings.len()).map(|row| self.count_at(row)).collect();
        frozen(counts.into_pyarray(py))
    }

    /// The count of a word.
    fn count(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<i64> {
        let slf = &estimating(slf, [key.clone()])?;
        Ok(slf.get().count_at(keys::row(slf, key)?))
    }

    /// All vectors, without a copy if possible.
    fn vectors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let this = slf.get();
        let values = match this.computed.get() {
            Some(values) => values,
            None => match call(slf.py(), || Ok(this.embeddings.matrix()))? {
                Cow::Borrowed(values) => values,
                Cow::Owned(values) => this.computed.get_or_init(|| values),
            },
        };
        arrays::view(slf, values, this.embeddings.dimensions())
    }

    /// The row of a word.
    fn row(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        keys::row(slf, key)
    }

    /// The rows of words.
    fn rows(slf: &Bound<'_, Self>, keys: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
        keys::rows(slf, keys)
    }

    /// The row of a key, or `None`.
    fn find(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        keys::find(&estimating(slf, [key.clone()])?.get().embeddings, key)
    }

    /// The vector of a word.
    #[pyo3(signature = (key, unit = false))]
    fn vector<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'_, PyAny>,
        unit: bool,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let slf = &estimating(slf, [key.clone()])?;
        let row = keys::row(slf, key)?;
        let embeddings = &slf.get().embeddings;
        let vector = call(slf.py(), || {
            let vector = embeddings.checked_vector(row)?;
            Ok(if unit { embeddings.unit_vector(row) } else { vector.into_owned() })
        })?;
        frozen(vector.into_pyarray(slf.py()))
    }

    /// The vectors of words, as rows.
    fn vectors_of<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'_, PyList>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let slf = &estimating(slf, keys)?;
        let rows = keys::rows(slf, keys)?;
        let embeddings = &slf.get().embeddings;
        let vectors = call(slf.py(), || {
            let mut vectors = Vec::with_capacity(rows.len() * embeddings.dimensions());
            for &row in &rows {
                vectors.extend_from_slice(&embeddings.checked_vector(row)?);
            }
            Ok(vectors)
        })?;
        matrix_of(slf.py(), vectors, [rows.len(), embeddings.dimensions()])
    }

    /// All vectors, scaled to length 1.
    fn unit_vectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = 0..self.embeddings.len();
        let vectors: Vec<f32> =
            call(py, || Ok(rows.flat_map(|row| self.embeddings.unit_vector(row)).collect()))?;
        matrix_of(py, vectors, [self.embeddings.len(), self.embeddings.dimensions()])
    }

    /// The weighted mean of words and vectors.
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        terms: Vec<(Bound<'py, PyAny>, f64)>,
        unit: bool,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (terms, weights): (Vec<_>, Vec<_>) = terms.into_iter().unzip();
        let slf = &estimating(slf, terms.iter().cloned())?;
        let terms = keys::terms(slf, &terms)?;
        let lengths = if unit { Lengths::One } else { Lengths::Own };
        let embeddings = &slf.get().embeddings;
        let mean = call(slf.py(), || {
            let terms: Vec<(Term<'_>, f64)> = terms.into_iter().zip(weights).collect();
            embeddings.mean(&terms, lengths)
        })?;
        Ok(mean.into_pyarray(slf.py()))
    }

    /// The scores of a range of rows; see `query`.
    fn scores<'py>(
        slf: &Bound<'py, Self>,
        positive: Vec<Bound<'py, PyAny>>,
        negative: Vec<Bound<'py, PyAny>>,
        epsilon: Option<f32>,
        rows: (usize, usize),
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let slf = &estimating(slf, positive.iter().chain(&negative).cloned())?;
        let query = query(slf, &positive, &negative, epsilon, rows)?;
        let embeddings = &slf.get().embeddings;
        Ok(call(slf.py(), || embeddings.scores(&query))?.into_pyarray(slf.py()))
    }

    /// The best words among a range of rows, without some rows and those of the query; see `query`.
    fn search<'py>(
        slf: &Bound<'py, Self>,
        positive: Vec<Bound<'py, PyAny>>,
        negative: Vec<Bound<'py, PyAny>>,
        epsilon: Option<f32>,
        rows: (usize, usize),
        n: usize,
        exclude: Vec<usize>,
    ) -> PyResult<Words> {
        let slf = &estimating(slf, positive.iter().chain(&negative).cloned())?;
        let mut query = query(slf, &positive, &negative, epsilon, rows)?;
        let terms = query.positive.iter().chain(&query.negative);
        let used = terms.filter_map(|term| if let Term::Row(row) = term { Some(*row) } else { None });
        query.exclude = used.chain(exclude).collect();
        query.n = n;
        let embeddings = &slf.get().embeddings;
        call(slf.py(), || Ok(owned(embeddings.search(&query)?)))
    }

    /// The words that come next after some, among the first `end` rows.
    fn predict_next(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyList>,
        n: usize,
        end: usize,
    ) -> PyResult<Words> {
        let slf = &estimating(slf, keys)?;
        let rows = keys::rows(slf, keys)?;
        let embeddings = &slf.get().embeddings;
        call(slf.py(), || {
            Ok(owned(embeddings.search(&embeddings.predict_next_query(&rows, n)?.among(0..end))?))
        })
    }

    /// The rows nearest to each of some words, among the first `end` rows, and their similarities.
    fn neighbors_of_rows<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'_, PyList>,
        n: usize,
        end: usize,
    ) -> PyResult<arrays::RowsAndSimilarities<'py>> {
        let slf = &estimating(slf, keys)?;
        let embeddings = &slf.get().embeddings;
        // A word that is no candidate itself could have one answer more than others.
        let n = n.min(end.min(embeddings.len()).saturating_sub(1));
        let queries = keys::rows(slf, keys)?.into_iter().map(|row| Query::neighbors(row, n));
        arrays::nearest(slf.py(), embeddings, queries, n, end)
    }

    /// The rows nearest to each of some vectors, among the first `end` rows, and their similarities.
    fn neighbors_of_vectors<'py>(
        &self,
        py: Python<'py>,
        vectors: &Bound<'_, PyArray2<f32>>,
        n: usize,
        end: usize,
    ) -> PyResult<arrays::RowsAndSimilarities<'py>> {
        let (_, dimensions, vectors) = matrix(vectors)?;
        if dimensions != self.embeddings.dimensions() {
            return Err(PyValueError::new_err(format!(
                "the vectors have {dimensions} values; the embeddings have {} dimensions",
                self.embeddings.dimensions()
            )));
        }
        let n = n.min(end.min(self.embeddings.len()));
        let queries = vectors.chunks_exact(dimensions).map(|vector| Query::nearest(vector, n));
        arrays::nearest(py, &self.embeddings, queries, n, end)
    }

    /// The similarities of two lists of words, pair by pair.
    fn pair_similarities<'py>(
        slf: &Bound<'py, Self>,
        first: &Bound<'_, PyList>,
        second: &Bound<'_, PyList>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let slf = &estimating(slf, first.iter().chain(second.iter()))?;
        let (first, second) = (keys::rows(slf, first)?, keys::rows(slf, second)?);
        let embeddings = &slf.get().embeddings;
        let similarities: Vec<f32> = call(slf.py(), || {
            let pairs = first.iter().zip(&second);
            pairs.map(|(&first, &second)| embeddings.similarity_of_rows(first, second)).collect()
        })?;
        Ok(similarities.into_pyarray(slf.py()))
    }

    /// The coordinates of words on a plane: two principal components.
    fn project<'py>(slf: &Bound<'py, Self>, keys: &Bound<'_, PyList>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = keys::rows(slf, keys)?;
        let embeddings = &slf.get().embeddings;
        let points = call(slf.py(), || Ok(embeddings.project(&rows, Projection::Pca).concat()))?;
        matrix_of(slf.py(), points, [rows.len(), 2])
    }

    /// The best answers to "a is to b as c is to …", or to an expression, among the first `end` rows.
    fn analogy(
        slf: &Bound<'_, Self>,
        question: Vec<Bound<'_, PyAny>>,
        n: usize,
        multiply: bool,
        end: usize,
    ) -> PyResult<Words> {
        let rule = if multiply { AnalogyRule::Multiply } else { AnalogyRule::Add };
        let expression = match &question[..] {
            [_, _, _] => None,
            question => {
                let text: String =
                    question.first().ok_or_else(|| PyValueError::new_err("no words"))?.extract()?;
                Some(text.parse::<Expression>().map_err(to_python)?)
            }
        };
        let words = match &expression {
            None => question,
            Some(expression) => {
                expression.words().map(|word| PyString::new(slf.py(), word).into_any()).collect()
            }
        };
        let slf = &estimating(slf, words.iter().cloned())?;
        let rows = words.iter().map(|word| keys::row(slf, word)).collect::<PyResult<Vec<usize>>>()?;
        let embeddings = &slf.get().embeddings;
        let mut query = match (&expression, &rows[..]) {
            (None, &[a, b, c]) => embeddings.analogy_query([a, b, c], n, rule),
            (Some(expression), _) => expression.query(embeddings, n, rule).map_err(to_python)?,
            (None, _) => unreachable!("a question without an expression has three words"),
        };
        query.rows = 0..end;
        call(slf.py(), || Ok(owned(embeddings.search(&query)?)))
    }

    /// The rows that are nearer to a word than another word is.
    fn closer_than(
        slf: &Bound<'_, Self>,
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        let slf = &estimating(slf, [first.clone(), second.clone()])?;
        let (first, second) = (keys::row(slf, first)?, keys::row(slf, second)?);
        let embeddings = &slf.get().embeddings;
        call(slf.py(), || embeddings.closer_than(first, second))
    }

    /// Words sorted by how well they match the others, the odd one first.
    fn odd_one_out(slf: &Bound<'_, Self>, keys: &Bound<'_, PyList>) -> PyResult<Words> {
        let slf = &estimating(slf, keys)?;
        let rows = keys::rows(slf, keys)?;
        let embeddings = &slf.get().embeddings;
        call(slf.py(), || {
            let words: Vec<&str> = rows.iter().map(|&row| embeddings.word(row)).collect();
            Ok(owned(embeddings.odd_one_out(&words)?))
        })
    }

    /// Words with a similar spelling.
    fn suggestions(&self, py: Python<'_>, word: &Bound<'_, PyString>, n: usize) -> PyResult<Vec<String>> {
        // No word has a lone surrogate.
        let Ok(word) = word.to_cow() else { return Ok(Vec::new()) };
        call(py, || Ok(self.embeddings.suggestions(&word, n).into_iter().map(str::to_owned).collect()))
    }

    /// The most frequent words.
    fn top(&self, n: usize) -> Embeddings {
        Embeddings::new(self.embeddings.top(n))
    }

    /// The minimum count of answers, by default.
    #[getter]
    fn default_min_count(&self) -> u64 {
        self.embeddings.default_min_count()
    }

    /// The number of rows that may be answers.
    fn candidates(&self, min_count: Option<u64>, top: Option<usize>) -> usize {
        self.embeddings.candidates(min_count, top).end
    }

    /// The words with at least this count.
    fn with_min_count(&self, count: u64) -> Embeddings {
        Embeddings::new(self.embeddings.with_min_count(count))
    }

    /// A copy with vectors of length 1.
    fn normalized(&self, py: Python<'_>) -> PyResult<Embeddings> {
        Ok(Embeddings::new(call(py, || self.embeddings.normalized())?))
    }

    /// A copy of some words, each once, with their counts or in the given order.
    fn select(slf: &Bound<'_, Self>, keys: &Bound<'_, PyList>, counted: bool) -> PyResult<Embeddings> {
        let slf = &estimating(slf, keys)?;
        let mut rows = keys::rows(slf, keys)?;
        let mut seen = HashSet::new();
        rows.retain(|&row| seen.insert(row));
        let embeddings = &slf.get().embeddings;
        let selected = call(slf.py(), || {
            if counted {
                return embeddings.select(&rows);
            }
            let vectors = rows.iter().flat_map(|&row| embeddings.vector_at(row).into_owned()).collect();
            let words = rows.iter().map(|&row| embeddings.word(row));
            skipstream::Embeddings::uncounted(embeddings.dimensions(), words, vectors)
        })?;
        Ok(Embeddings::new(selected))
    }

    /// Writes the vectors to a file.
    #[pyo3(signature = (path, format, quantize = None))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: &str, quantize: Option<&str>) -> PyResult<()> {
        call(py, || {
            let (format, quantization) = (format.parse()?, quantize.map(str::parse).transpose()?);
            let embeddings = formats::quantized(self.embeddings.clone(), quantization, format, &path)?;
            formats::save(&embeddings, format, &path)
        })
    }

    /// Writes a word2vec file.
    fn save_word2vec(
        &self,
        py: Python<'_>,
        path: PathBuf,
        binary: bool,
        header: bool,
        prefix: &str,
    ) -> PyResult<()> {
        let format = if binary { Format::Word2vecBinary } else { Format::Word2vecText };
        let first_line = if header { FirstLine::Sizes } else { FirstLine::Word };
        let options = SaveOptions { first_line, prefix };
        call(py, || formats::save_word2vec(&self.embeddings, format, path, &options))
    }

    /// The same vectors, with a table of n-grams that is fitted to them.
    fn with_subwords(&self, py: Python<'_>, buckets: usize, min: usize, max: usize) -> PyResult<Embeddings> {
        subwords::with_subwords(py, self, SubwordOptions { buckets, min, max })
    }

    /// The defaults of `with_subwords`: rows of the table, and the lengths of the shortest and the longest n-grams.
    #[staticmethod]
    fn subword_defaults() -> (usize, usize, usize) {
        let SubwordOptions { buckets, min, max } = SubwordOptions::default();
        (buckets, min, max)
    }

    /// The options that `with_subwords` was called with, if words are estimated.
    #[getter]
    fn subword_options(&self) -> Option<(usize, usize, usize)> {
        self.subwords.as_deref().map(|subwords| {
            let SubwordOptions { buckets, min, max } = *subwords.options();
            (buckets, min, max)
        })
    }

    /// Where the vector of a word comes from.
    fn source(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<String> {
        let slf = &estimating(slf, [key.clone()])?;
        Ok(slf.get().embeddings.source(keys::row(slf, key)?).to_string())
    }

    /// Writes the table of n-grams in floret's format.
    fn save_floret(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        subwords::save_floret(py, self, path)
    }

    /// Writes the words' counts in word2vec's format.
    fn save_counts(&self, py: Python<'_>, path: PathBuf, prefix: &str) -> PyResult<()> {
        call(py, || formats::save_counts(&self.embeddings, path, prefix))
    }
}

/// A query of words and vectors: by 3CosMul if there is an epsilon, otherwise by cosine.
fn query(
    embeddings: &Bound<'_, Embeddings>,
    positive: &[Bound<'_, PyAny>],
    negative: &[Bound<'_, PyAny>],
    epsilon: Option<f32>,
    (start, end): (usize, usize),
) -> PyResult<Query<'static>> {
    let mut query = Query::nearest(Term::Row(0), 0);
    query.positive = keys::terms(embeddings, positive)?;
    query.negative = keys::terms(embeddings, negative)?;
    query.rows = start..end;
    if let Some(epsilon) = epsilon {
        query.combine = Combine::Multiply { epsilon };
    }
    Ok(query)
}

fn owned(neighbors: Vec<Neighbor<'_>>) -> Words {
    neighbors.into_iter().map(|neighbor| (neighbor.word.to_owned(), neighbor.similarity)).collect()
}
