//! Vectors ↔ file.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use super::error::ModelFileError;
use super::file::{ModelFile, VectorsNames, Verify, slices};
use super::metadata::{Contents, TrainingMetadata, VectorsMetadata};
use super::tensor::{self, Named, Tensor, word_tensors, write_file};
use crate::config::Connectors;
use crate::embeddings::{
    Composition, Counts, Embeddings, MappedPair, Origin, Quantization, QuantizedRows, QuantizedValues, Rows,
    Values, Vectors, WordList,
};
use crate::error::{Error, Result};
use crate::phrases::{Reading, ReadingMetadata, saved_text};
use crate::vocabulary::Controls;

pub(super) const VECTORS: VectorsNames = VectorsNames {
    words: "words",
    ends: "word_ends",
    counts: "counts",
    recent_counts: Some("recent_counts"),
    document_counts: Some("document_counts"),
    vectors: "vectors",
};

/// The tensors of the vectors that the words of a model start with.
pub(super) const INITIAL: VectorsNames = VectorsNames {
    words: "initial_words",
    ends: "initial_word_ends",
    counts: "initial_counts",
    recent_counts: None,
    document_counts: None,
    vectors: "initial",
};

/// The tensor with the scales of quantized vectors.
const SCALES: &str = "scales";

/// The tensors of the parts of phrases, whose counts are apart.
pub(super) const PHRASE_PARTS: VectorsNames =
    VectorsNames { words: "phrase_parts", ends: "phrase_part_ends", ..VECTORS };

/// Embeddings as tensors of these names, with vectors in full precision.
pub(super) fn vectors_tensors(embeddings: &Embeddings, names: VectorsNames) -> Vec<Named<'_>> {
    let shape = [embeddings.len(), embeddings.dimensions()];
    let vectors = Tensor::rows(shape, move |to| {
        embeddings.vectors().try_for_each(|vector| to.write_all(bytemuck::cast_slice(&vector)))
    });
    let mut tensors = word_and_count_tensors(embeddings, names);
    tensors.push((names.vectors, vectors));
    tensors
}

/// The tensors of a vectors file.
fn file_tensors(embeddings: &Embeddings) -> Vec<Named<'_>> {
    let Some(rows) = embeddings.quantized_rows() else { return vectors_tensors(embeddings, VECTORS) };
    let (len, shape) = (embeddings.len(), [embeddings.len(), embeddings.dimensions()]);
    let n_values = shape[0] * shape[1];
    let mut tensors = word_and_count_tensors(embeddings, VECTORS);
    match rows.values() {
        QuantizedValues::Halves(values) => {
            tensors.push((VECTORS.vectors, Tensor::matrix(shape, &values[..n_values])));
        }
        QuantizedValues::Bytes { values, scales } => {
            tensors.push((VECTORS.vectors, Tensor::matrix(shape, &values[..n_values])));
            tensors.push((SCALES, Tensor::borrowed(&scales[..len])));
        }
    }
    tensors
}

fn word_and_count_tensors(embeddings: &Embeddings, names: VectorsNames) -> Vec<Named<'_>> {
    let rows = 0..embeddings.len();
    let [words, ends] = word_tensors(rows.clone().map(move |row| embeddings.word(row)));
    let counts = Tensor::list(rows.clone().map(|row| embeddings.count(row)));
    let recent_counts = names.recent_counts.filter(|_| embeddings.has_recent_counts());
    let recent_counts =
        recent_counts.map(|name| (name, Tensor::list(rows.clone().map(|row| embeddings.recent_count(row)))));
    let document_counts = names.document_counts.filter(|_| embeddings.has_document_counts());
    let document_counts =
        document_counts.map(|name| (name, Tensor::list(rows.map(|row| embeddings.document_count(row)))));
    let mut tensors = vec![(names.words, words), (names.ends, ends), (names.counts, counts)];
    tensors.extend(recent_counts);
    tensors.extend(document_counts);
    tensors
}

impl Embeddings {
    /// Saves words, counts and vectors in one file, without the training state. [Quantized](Embeddings::quantized) vectors
    /// stay so.
    ///
    /// The same embeddings give the same bytes. The old file stays in place until the new one is complete and on disk.
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
        write_file(path.as_ref(), file_tensors(self), self.contents())
    }

    /// Writes the bytes of the file that [`Embeddings::save`] makes. `name` is for error messages.
    pub(crate) fn write(&self, mut writer: impl Write, name: &Path) -> Result<()> {
        let written = tensor::write(&mut writer, file_tensors(self), self.contents());
        written.and_then(|()| writer.flush()).map_err(Error::io(name))
    }

    fn contents(&self) -> Contents {
        let origin = self.origin().cloned();
        Contents::Vectors(VectorsMetadata {
            origin,
            counts_are_places: !self.has_counts(),
            recent_counts: self.has_recent_counts(),
            document_counts: self.has_document_counts(),
            quantization: self.quantization(),
            reading: self.reading_metadata(),
        })
    }

    /// Loads the vectors of a model file or a vectors file, and verifies their checksums.
    ///
    /// A vectors file has one kind of vectors only, so `vectors` must then be that kind or the default.
    pub fn load(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
        let (mut file, selection) = Selection::open(path.as_ref(), vectors)?;
        let embeddings = match selection.matrices {
            Matrices::One(matrix) => file.embeddings(VectorsNames { vectors: matrix, ..VECTORS })?,
            Matrices::Pair(matrices) => file.composed(vectors, matrices)?,
            Matrices::Quantized(quantization) => file.quantized(quantization)?,
        };
        Ok(selection.describe(embeddings))
    }

    /// Opens a file as [`Embeddings::load`] does, but memory-maps the vectors instead of reading them.
    ///
    /// That takes milliseconds and little memory whatever the size of the file, and processes share the pages. Words and
    /// counts are read and verified; the checksums of vectors are not (see [`Embeddings::open_verified`]). A row with a value that is not finite is similar
    /// to nothing, and asking about its word is an error.
    ///
    /// The file may be replaced or deleted meanwhile, but must not be changed in place or truncated: reading a page that
    /// is gone ends the process.
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
        Embeddings::open_by(path.as_ref(), vectors, Verify::Words)
    }

    /// Opens a file as [`Embeddings::open`] does, and verifies the checksums of the vectors too. That reads the file once:
    /// about a third of a second per gigabyte if it is in the page cache.
    pub fn open_verified(path: impl AsRef<Path>, vectors: Vectors) -> Result<Embeddings> {
        Embeddings::open_by(path.as_ref(), vectors, Verify::All)
    }

    fn open_by(path: &Path, vectors: Vectors, verify: Verify) -> Result<Embeddings> {
        let (mut file, selection) = Selection::open(path, vectors)?;
        let (words, ends) = file.words(VECTORS)?;
        let counts = file.counts(VECTORS)?;
        let (dimensions, rows) = match selection.matrices {
            Matrices::One(matrix) => (file.sizes.dimensions, file.map(matrix, verify)?.map(Rows::Mapped)),
            Matrices::Pair([target, context]) => {
                let dimensions = file.sizes.dimensions;
                let pair = file.map(target, verify)?.zip(file.map(context, verify)?);
                let pair =
                    pair.map(|(target, context)| MappedPair::new(vectors, dimensions, [target, context]));
                (vectors.dimensions(dimensions), pair.map(Rows::MappedPair))
            }
            Matrices::Quantized(quantization) => {
                let values = match quantization {
                    Quantization::F16 => {
                        file.map("vectors", verify)?.map(Values::Mapped).map(QuantizedValues::Halves)
                    }
                    Quantization::Int8 => {
                        let (values, scales) = (file.map("vectors", verify)?, file.scales()?);
                        values.map(|map| QuantizedValues::Bytes { values: Values::Mapped(map), scales })
                    }
                };
                (file.sizes.dimensions, values.map(QuantizedRows::new).map(Rows::Quantized))
            }
        };
        // Another program may have written the tensors without alignment.
        let Some(rows) = rows else { return Embeddings::load(path, vectors) };
        let words = WordList::unindexed(words, ends);
        let embeddings = Embeddings::in_place(words, counts, dimensions, rows);
        Ok(selection.describe(embeddings.ok_or_else(|| file.defect(ModelFileError::Order))?))
    }
}

/// The tensors that hold the chosen vectors.
#[derive(Clone, Copy)]
enum Matrices {
    One(&'static str),
    /// Target and context, from which the vectors are composed.
    Pair([&'static str; 2]),
    /// The vectors of a quantized file.
    Quantized(Quantization),
}

/// The vectors that were chosen of a file.
struct Selection {
    matrices: Matrices,
    origin: Option<Origin>,
    has_counts: bool,
    reading: Reading,
}

impl Selection {
    fn open(path: &Path, vectors: Vectors) -> Result<(ModelFile, Selection)> {
        let (mut file, metadata) = ModelFile::open(path)?;
        let selection = match metadata.contents {
            Contents::Training(training) => {
                let matrices = match vectors {
                    Vectors::Target => Matrices::One("target"),
                    Vectors::Context => Matrices::One("context"),
                    Vectors::Sum | Vectors::Joined => Matrices::Pair(["target", "context"]),
                };
                let origin = Origin {
                    source: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                    format: "skipstream".to_owned(),
                    vectors: Some(vectors),
                };
                let reading = file.reading(*training)?;
                Selection { matrices, origin: Some(origin), has_counts: true, reading }
            }
            Contents::Vectors(VectorsMetadata {
                origin, counts_are_places, quantization, reading, ..
            }) => {
                let own = origin.as_ref().and_then(|origin| origin.vectors);
                if ![Vectors::default(), own.unwrap_or_default()].contains(&vectors) {
                    return Err(Error::model_file(path, ModelFileError::OneKind { vectors }));
                }
                let reading = Reading::restore(reading, &Controls::default());
                let reading = reading.map_err(|reason| file.contradiction(reason))?;
                let matrices = quantization.map_or(Matrices::One(VECTORS.vectors), Matrices::Quantized);
                Selection { matrices, origin, has_counts: !counts_are_places, reading }
            }
        };
        Ok((file, selection))
    }

    /// The embeddings, with what the metadata says of them.
    fn describe(self, embeddings: Embeddings) -> Embeddings {
        let embeddings = embeddings.with_origin(self.origin).with_reading(self.reading);
        if self.has_counts { embeddings } else { embeddings.without_counts() }
    }
}

impl ModelFile {
    /// How the model of a training state reads text.
    fn reading(&mut self, training: TrainingMetadata) -> Result<Reading> {
        let TrainingMetadata { config, controls, phrases, .. } = training;
        let connectors = config.phrases.settings().map(|settings| settings.connectors);
        let metadata = ReadingMetadata {
            given_phrases: phrases.given,
            found_phrases: connectors.map(|words| self.found_phrases(words)).transpose()?.unwrap_or_default(),
            phrase_connectors: connectors.unwrap_or_default(),
            merged_words: controls.merged.clone(),
            text: Some(config.text),
        };
        Reading::restore(metadata, &controls).map_err(|reason| self.contradiction(reason))
    }

    /// The phrases that were found.
    fn found_phrases(&mut self, connectors: Connectors) -> Result<BTreeSet<String>> {
        let found: Vec<[u64; 2]> = self.tensor("phrases")?;
        if found.is_empty() {
            return Ok(BTreeSet::new());
        }
        let (words, ends) = self.words(PHRASE_PARTS)?;
        let parts: Vec<&str> = slices(&words, &ends).collect();
        let pairs: Vec<[u32; 3]> = self.tensor("phrase_pairs")?;
        let text = |[pair, _]: [u64; 2]| {
            let key = usize::try_from(pair).ok().and_then(|pair| pairs.get(pair));
            let text = key.and_then(|&key| saved_text(&parts, key, connectors));
            text.ok_or_else(|| self.contradiction(format!("`phrases` has pair {pair}, which is not one")))
        };
        found.into_iter().map(text).collect()
    }

    /// Embeddings with the vectors of one matrix.
    pub(super) fn embeddings(&mut self, names: VectorsNames) -> Result<Embeddings> {
        let values = self.tensor(names.vectors)?;
        self.embeddings_of(self.sizes.dimensions, names, values)
    }

    /// Embeddings with vectors composed of two matrices.
    fn composed(&mut self, vectors: Vectors, [target, context]: [&str; 2]) -> Result<Embeddings> {
        let matrices: [Vec<f32>; 2] = [self.tensor(target)?, self.tensor(context)?];
        let dimensions = self.sizes.dimensions;
        let rows = matrices.each_ref().map(|matrix| matrix.chunks_exact(dimensions));
        let composition = Composition::of(vectors, dimensions, rows);
        let mut values = vec![0.0; vectors.dimensions(matrices[0].len())];
        composition.write_rows(matrices.each_ref().map(Vec::as_slice), &mut values);
        drop(matrices);
        let embeddings = self.embeddings_of(vectors.dimensions(dimensions), VECTORS, values)?;
        Ok(embeddings.with_composition(&composition))
    }

    /// Embeddings with quantized vectors, which must be finite.
    fn quantized(&mut self, quantization: Quantization) -> Result<Embeddings> {
        let values = match quantization {
            Quantization::F16 => QuantizedValues::Halves(Values::Owned(self.tensor(VECTORS.vectors)?)),
            Quantization::Int8 => {
                let values = Values::Owned(self.tensor(VECTORS.vectors)?);
                QuantizedValues::Bytes { values, scales: self.scales()? }
            }
        };
        let (words, ends) = self.words(VECTORS)?;
        let counts = self.counts(VECTORS)?;
        let words = Embeddings::list(slices(&words, &ends)).map_err(|error| self.contradiction(error))?;
        let rows = Rows::Quantized(QuantizedRows::new(values));
        let embeddings = Embeddings::in_place(words, counts, self.sizes.dimensions, rows)
            .ok_or_else(|| self.defect(ModelFileError::Order))?;
        let check = |row| embeddings.checked_vector(row).map(drop);
        (0..embeddings.len()).try_for_each(check).map_err(|error| self.contradiction(error))?;
        Ok(embeddings)
    }

    /// The scales of quantized vectors. Their products with bytes are finite.
    fn scales(&mut self) -> Result<Vec<f32>> {
        self.numbers(SCALES, |scale| (0.0..=f32::MAX / 128.0).contains(&scale))
    }

    fn embeddings_of(
        &mut self,
        dimensions: usize,
        names: VectorsNames,
        values: Vec<f32>,
    ) -> Result<Embeddings> {
        let (words, ends) = self.words(names)?;
        let counts = self.counts(names)?;
        let words = Embeddings::list(slices(&words, &ends));
        words
            .and_then(|words| Embeddings::from_list(dimensions, words, counts, values))
            .map_err(|error| self.contradiction(error))
    }

    pub(super) fn counts(&mut self, names: VectorsNames) -> Result<Counts> {
        let is_there = |name: &&str| self.names().iter().any(|own| own == name);
        let recent = names.recent_counts.filter(is_there);
        let documents = names.document_counts.filter(is_there);
        Ok(Counts {
            all: self.tensor(names.counts)?,
            recent: recent.map(|name| self.tensor(name)).transpose()?,
            documents: documents.map(|name| self.tensor(name)).transpose()?,
        })
    }
}
