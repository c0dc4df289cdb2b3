//! Evaluation, and drift between two models.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skipstream::Error;
use skipstream::eval::{
    Case, Drift, DriftOptions, EvalOptions, Evaluator, TestSet, TestSetError, p_value, pearson, spearman,
};

use crate::call::call;
use crate::embeddings::{Embeddings, matrix, values};

/// The cosines between a vector and others.
#[pyfunction]
pub fn cosines<'py>(
    py: Python<'py>,
    vector: &Bound<'_, PyArray1<f32>>,
    others: &Bound<'_, PyArray2<f32>>,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let vector = values(vector)?;
    let (_, dimensions, others) = matrix(others)?;
    if dimensions != vector.len() {
        return Err(PyValueError::new_err(format!(
            "the vector has {} values and the others have {dimensions}",
            vector.len()
        )));
    }
    let cosines = call(py, || Ok(skipstream::embeddings::cosines(&vector, &others)))?;
    Ok(PyArray1::from_vec(py, cosines))
}

type Correlation = (f64, f64);

/// Pearson's and Spearman's correlation with human scores, each with its p-value, the number of pairs with unknown words, and
/// the number of pairs.
#[pyfunction]
#[pyo3(signature = (embeddings, path, restrict = None, ignore_case = true, unknown_is_zero = false))]
pub fn word_pairs(
    py: Python<'_>,
    embeddings: &Embeddings,
    path: PathBuf,
    restrict: Option<usize>,
    ignore_case: bool,
    unknown_is_zero: bool,
) -> PyResult<(Correlation, Correlation, usize, usize)> {
    call(py, || {
        let evaluator = Evaluator::new(embeddings.get(), options(restrict, ignore_case))?;
        let set = TestSet::open(&path)?;
        let evaluator = estimating(evaluator, embeddings, &set);
        let TestSet::WordPairs(set) = set else {
            return Err(wrong_kind(&path, "word pairs", "analogies"));
        };
        let found = evaluator.cosines(&set);
        let (mut people, mut model) = (Vec::new(), Vec::new());
        for (pair, cosine) in set.pairs.iter().zip(&found) {
            if let Some(cosine) = cosine.or(unknown_is_zero.then_some(0.0)) {
                people.push(pair.score);
                model.push(cosine);
            }
        }
        let n_unknown = found.iter().filter(|cosine| cosine.is_none()).count();
        let with_p_value = |correlation: Option<f64>| match correlation {
            Some(correlation) => (correlation, p_value(correlation, people.len())),
            None => (f64::NAN, f64::NAN),
        };
        let correlations = [pearson(&people, &model), spearman(&people, &model)].map(with_p_value);
        Ok((correlations[0], correlations[1], n_unknown, set.pairs.len()))
    })
}

/// The name of a section, its questions, and whether each was answered correctly; `None` if a word is unknown.
type Section = (String, Vec<[String; 4]>, Vec<Option<bool>>);

/// The questions of each section, and which were answered correctly.
#[pyfunction]
#[pyo3(signature = (embeddings, path, restrict = None, ignore_case = true, multiply = false))]
pub fn analogies(
    py: Python<'_>,
    embeddings: &Embeddings,
    path: PathBuf,
    restrict: Option<usize>,
    ignore_case: bool,
    multiply: bool,
) -> PyResult<Vec<Section>> {
    call(py, || {
        let evaluator = Evaluator::new(embeddings.get(), options(restrict, ignore_case))?;
        let set = TestSet::open(&path)?;
        let evaluator = estimating(evaluator, embeddings, &set);
        let TestSet::Analogies(set) = set else {
            return Err(wrong_kind(&path, "analogies", "word pairs"));
        };
        let solved = evaluator.solve(&set, &|_| ());
        let mut solved =
            solved.iter().map(|solved| solved.map(|by| if multiply { by.multiply } else { by.add }));
        let section = |section: &skipstream::eval::Section| {
            let solved = solved.by_ref().take(section.questions.len()).collect();
            (section.name.clone(), section.questions.clone(), solved)
        };
        Ok(set.sections.iter().map(section).collect())
    })
}

/// The drift from old vectors to new ones, as JSON.
#[pyfunction]
pub fn drift(
    py: Python<'_>,
    old: &Embeddings,
    new: &Embeddings,
    top: usize,
    min_count: u64,
    listed: usize,
    neighbors: usize,
) -> PyResult<String> {
    call(py, || {
        let options = DriftOptions { top, min_count, listed, neighbors };
        let drift = Drift::between(old.get(), new.get(), &options)?;
        Ok(serde_json::to_string(&drift).expect("it is plain data"))
    })
}

fn options(restrict: Option<usize>, ignore_case: bool) -> EvalOptions {
    let case = if ignore_case { Case::Ignore } else { Case::Keep };
    EvalOptions { case, restrict, ..EvalOptions::default() }
}

/// The evaluator with estimates of the words of a set, if the embeddings have subwords.
fn estimating(evaluator: Evaluator, embeddings: &Embeddings, set: &TestSet) -> Evaluator {
    match embeddings.subwords() {
        Some(subwords) => evaluator.with_estimates(subwords, set),
        None => evaluator,
    }
}

fn wrong_kind(path: &Path, expected: &'static str, found: &'static str) -> Error {
    Error::TestSet { path: path.to_owned(), cause: TestSetError::WrongKind { expected, found } }
}
