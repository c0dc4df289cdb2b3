//! Vectors ↔ file.

use std::path::Path;

use safetensors::Dtype;

use super::file::{ModelFile, slices};
use super::metadata::{Checksums, Contents, Metadata, VectorsMetadata};
use super::tensor::{Tensor, word_tensors, write_file};
use super::{PROGRAM, VERSION};
use crate::embeddings::{Embeddings, Origin, Rows, Vectors, Words};
use crate::error::{Error, Result};

/// The tensors of words, of the words' ends, of counts and of vectors, in a file of vectors.
pub(super) const VECTORS: [&str; 4] = ["words", "word_ends", "counts", "vectors"];

/// The same of the vectors with which the words of a model start.
pub(super) const INITIAL: [&str; 4] = ["initial_words", "initial_word_ends", "initial_counts", "initial"];

/// Embeddings as tensors of these names.
pub(super) fn vectors_tensors<'a>(
    embeddings: &'a Embeddings,
    names: [&'static str; 4],
) -> [(&'static str, Tensor<'a>); 4] {
    let rows = 0..embeddings.len();
    let [(_, words), (_, ends)] = word_tensors(rows.clone().map(|row| embeddings.word(row)));
    let counts = Tensor::list(Dtype::U64, rows.clone().map(|row| embeddings.count(row)));
    let vectors = Tensor::rows(vec![embeddings.len(), embeddings.dimensions()], move |to| {
        rows.clone().try_for_each(|row| to.write_all(bytemuck::cast_slice(&embeddings.vector_at(row))))
    });
    let [words_name, ends_name, counts_name, vectors_name] = names;
    [(words_name, words), (ends_name, ends), (counts_name, counts), (vectors_name, vectors)]
}

impl Embeddings {
    /// Saves words, counts and vectors in one file, without anything that only training needs.
    ///
    /// The same embeddings give the same bytes. The file is the old one until the new one is complete and on disk.
    ///
    /// ```
    /// # use skipstream::{Embeddings, Vectors};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("vectors.safetensors");
    /// let embeddings = Embeddings::new(2, [("tea", 7), ("milk", 5)], vec![1.0, 0.5, 0.5, 1.0])?;
    /// embeddings.save(&path)?;
    /// let same = Embeddings::load(&path, Vectors::default())?;
    /// assert_eq!(same.similarity("tea", "milk")?, embeddings.similarity("tea", "milk")?);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let tensors = Vec::from(vectors_tensors(self, VECTORS));
        write_file(path.as_ref(), tensors, |checksums: Checksums| VectorsMetadata {
            version: VERSION,
            kind: Contents::Vectors,
            program: PROGRAM.to_owned(),
            origin: self.origin().cloned(),
            counts_are_places: !self.has_counts(),
            checksums,
        })
    }

    /// Loads the vectors of a model, or vectors that were [saved](Embeddings::save), and verifies their checksums.
    ///
    /// A file of vectors has one kind only, so `vectors` must then be the default.
    pub fn load(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
        let path = path.as_ref();
        let (mut file, metadata) = ModelFile::open(path)?;
        let selection = Selection::new(path, metadata, vectors)?;
        let (matrix, other) = (selection.matrix, selection.other);
        let (words, ends) = file.words()?;
        let counts = file.counts(ends.len())?;
        let dimensions = file.shared_dimensions(matrix, other, ends.len())?;
        let mut values: Vec<f32> = file.tensor(matrix, Dtype::F32)?;
        if let Some(other) = other {
            let others: Vec<f32> = file.tensor(other, Dtype::F32)?;
            values.iter_mut().zip(others).for_each(|(value, other)| *value += other);
        }
        let words = slices(&words, &ends).zip(counts);
        let embeddings = Embeddings::new(dimensions, words, values).map_err(|error| file.damaged(error))?;
        Ok(selection.describe(embeddings))
    }

    /// Opens a file as [`Embeddings::load`] loads it, but leaves the vectors where they are until they are looked at.
    ///
    /// That takes milliseconds and little memory, whatever the size of the file, and several processes share what the
    /// system keeps of it. Words and counts are read and verified. The checksums of vectors are not; a row with a value
    /// that is not finite is similar to nothing, and an error when its word is asked about. A file whose rows are not in
    /// the order of frequency, as the first versions wrote them, is loaded.
    ///
    /// The file may be replaced or deleted meanwhile, but nobody must write into it or cut it short: the process ends
    /// when it looks at what is gone.
    ///
    /// ```
    /// # use skipstream::{Embeddings, Vectors};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("vectors.safetensors");
    /// # Embeddings::new(2, [("tea", 7), ("milk", 5)], vec![1.0, 0.5, 0.5, 1.0])?.save(&path)?;
    /// let embeddings = Embeddings::open(&path, Vectors::default())?;
    /// assert_eq!(embeddings.neighbors("tea", 1)?[0].word, "milk");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
        let path = path.as_ref();
        let (mut file, metadata) = ModelFile::open(path)?;
        let selection = Selection::new(path, metadata, vectors)?;
        let (matrix, other) = (selection.matrix, selection.other);
        let (words, ends) = file.words()?;
        let counts = file.counts(ends.len())?;
        let dimensions = file.shared_dimensions(matrix, other, ends.len())?;
        let matrix = file.map(matrix)?;
        let rows = match other {
            None => matrix.map(Rows::Mapped),
            Some(other) => {
                matrix.zip(file.map(other)?).map(|(matrix, other)| Rows::MappedSum([matrix, other]))
            }
        };
        let in_place = rows
            .and_then(|rows| Embeddings::in_place(Words::unindexed(words, ends), counts, dimensions, rows));
        match in_place {
            Some(embeddings) => Ok(selection.describe(embeddings)),
            None => Embeddings::load(path, vectors),
        }
    }
}

/// What was chosen of a file.
struct Selection {
    matrix: &'static str,
    /// What is added to it.
    other: Option<&'static str>,
    origin: Option<Origin>,
    has_counts: bool,
}

impl Selection {
    fn new(path: &Path, metadata: Metadata, vectors: Vectors) -> Result<Selection> {
        let (matrix, other) = match (&metadata, vectors) {
            (Metadata::Training(_), Vectors::Target) => ("target", None),
            (Metadata::Training(_), Vectors::Context) => ("context", None),
            (Metadata::Training(_), Vectors::Sum) => ("target", Some("context")),
            (Metadata::Vectors(_), Vectors::Sum) => ("vectors", None),
            (Metadata::Vectors(_), _) => return Err(one_kind(path, vectors)),
        };
        let (origin, has_counts) = match metadata {
            Metadata::Vectors(metadata) => (metadata.origin, !metadata.counts_are_places),
            Metadata::Training(_) => {
                let origin = Origin {
                    source: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                    format: "skipstream".to_owned(),
                    vectors: Some(vectors),
                };
                (Some(origin), true)
            }
        };
        Ok(Selection { matrix, other, origin, has_counts })
    }

    /// The embeddings, with what the metadata says of them.
    fn describe(self, embeddings: Embeddings) -> Embeddings {
        let embeddings = embeddings.with_origin(self.origin);
        if self.has_counts { embeddings } else { embeddings.without_counts() }
    }
}

pub(crate) fn one_kind(path: &Path, vectors: Vectors) -> Error {
    Error::Unsupported(format!(
        "{}: vectors is {vectors}; this file holds one kind of vectors only, not those of words as targets and as \
         contexts: leave the choice out",
        path.display()
    ))
}

impl ModelFile {
    fn counts(&mut self, n_words: usize) -> Result<Vec<u64>> {
        let counts: Vec<u64> = self.tensor("counts", Dtype::U64)?;
        self.expect_length("counts", counts.len(), n_words)?;
        Ok(counts)
    }

    /// Embeddings that [`vectors_tensors`] wrote.
    pub(super) fn embeddings(&mut self, names: [&'static str; 4]) -> Result<Embeddings> {
        let [words_name, ends_name, counts_name, vectors_name] = names;
        let (words, ends) = self.words_of(words_name, ends_name)?;
        let counts: Vec<u64> = self.tensor(counts_name, Dtype::U64)?;
        self.expect_length(counts_name, counts.len(), ends.len())?;
        let dimensions = self.dimensions(vectors_name, ends.len())?;
        let vectors = self.tensor(vectors_name, Dtype::F32)?;
        let words = slices(&words, &ends).zip(counts);
        Embeddings::new(dimensions, words, vectors).map_err(|error| self.damaged(error))
    }

    /// The length of the rows of one matrix or of two, one row for each word.
    fn shared_dimensions(&self, matrix: &str, other: Option<&str>, n_words: usize) -> Result<usize> {
        let dimensions = self.dimensions(matrix, n_words)?;
        if let Some(other) = other {
            self.expect_length(other, self.dimensions(other, n_words)? * n_words, dimensions * n_words)?;
        }
        Ok(dimensions)
    }

    /// The length of a matrix' rows, one for each word.
    fn dimensions(&self, matrix: &str, n_words: usize) -> Result<usize> {
        match self.info(matrix, Dtype::F32)?.shape[..] {
            [rows, dimensions] if rows == n_words && dimensions > 0 => Ok(dimensions),
            ref shape => {
                Err(self
                    .damaged(format!("`{matrix}` has the shape {shape:?}, and there are {n_words} words")))
            }
        }
    }
}
