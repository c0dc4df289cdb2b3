//! State → file.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytemuck::NoUninit;
use safetensors::Dtype;
use safetensors::tensor::{Metadata as Header, TensorInfo};

use super::state::Metadata;
use super::{METADATA_KEY, VERSION};
use crate::bytes::replace;
use crate::error::{Error, Result};
use crate::parameters::{Accumulators, Parameters, Side};
use crate::train::{Method, ReplayBuffer, Stream, Trainer};
use crate::vocabulary::WordId;

impl Trainer {
    /// Saves the whole state. The file is the old one until the new one is complete and on disk.
    ///
    /// ```
    /// # use skipstream::{Config, Trainer};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    /// let trainer = Trainer::new(Config::default())?;
    /// trainer.save(&path)?;
    /// let same = Trainer::load(&path, None)?;
    /// assert_eq!(same.settings().dimensions, 100);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.check_finite()?;
        let mut tensors = self.tensors();
        // The largest type first: then every tensor is aligned.
        tensors.sort_by_key(|(name, tensor)| (Reverse(tensor.dtype.bitsize()), *name));
        let header = self.header(&tensors).map_err(|reason| Error::malformed(path, reason))?;
        replace(path, |file| {
            let mut write = || {
                file.write_all(&(header.len() as u64).to_le_bytes())?;
                file.write_all(&header)?;
                tensors.iter().try_for_each(|(_, tensor)| tensor.write(file))
            };
            write().map_err(Error::io(path))
        })
    }

    /// A model that has diverged must not take the place of a good one.
    fn check_finite(&self) -> Result<()> {
        let Stream { vocabulary, parameters, totals } = &self.stream;
        let diverged = |id| {
            let rows = [parameters.target(id), parameters.context(id)];
            rows.into_iter().flatten().any(|value| !value.is_finite())
        };
        if totals.loss.is_finite() && !vocabulary.ids().any(diverged) {
            return Ok(());
        }
        let rate = self.settings.learning_rate();
        Err(Error::Unsupported(format!(
            "training has diverged: a value is infinite; a smaller learning_rate than {rate} may help"
        )))
    }

    /// The header of a safetensors file: JSON, padded with spaces to whole words of eight bytes.
    fn header(&self, tensors: &[(&'static str, Tensor<'_>)]) -> std::result::Result<Vec<u8>, String> {
        let checksums = tensors.iter().map(|(name, tensor)| Ok(((*name).to_owned(), tensor.checksum()?)));
        let checksums = checksums.collect::<io::Result<_>>().map_err(|error| error.to_string())?;
        let metadata = serde_json::to_string(&self.metadata(checksums)).map_err(|error| error.to_string())?;
        let metadata = HashMap::from([(METADATA_KEY.to_owned(), metadata)]);
        let mut end = 0;
        let infos = tensors.iter().map(|(name, tensor)| {
            let start = end;
            end += tensor.bytes();
            let shape = tensor.shape.clone();
            ((*name).to_owned(), TensorInfo { dtype: tensor.dtype, shape, data_offsets: (start, end) })
        });
        let header = Header::new(Some(metadata), infos.collect()).map_err(|error| error.to_string())?;
        let mut header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
        header.resize(header.len().next_multiple_of(8), b' ');
        Ok(header)
    }

    fn metadata(&self, checksums: BTreeMap<String, String>) -> Metadata {
        let Trainer { settings, stream, method, ledger, .. } = self;
        let mut metadata = Metadata {
            version: VERSION,
            program: concat!("skipstream ", env!("CARGO_PKG_VERSION")).to_owned(),
            config: settings.resolved(),
            vocabulary: stream.vocabulary.totals(),
            slots: stream.vocabulary.slots(),
            totals: stream.totals,
            ledger: ledger.clone(),
            batches: 0,
            random: None,
            noise_totals: None,
            checksums,
        };
        match method {
            Method::MiniBatch(method) => metadata.batches = method.batches(),
            Method::Sentences(method) => {
                metadata.random = Some(method.random.clone());
                metadata.noise_totals = Some(method.noise.totals());
            }
        }
        metadata
    }

    fn tensors(&self) -> Vec<(&'static str, Tensor<'_>)> {
        let vocabulary = &self.stream.vocabulary;
        let parameters = &self.stream.parameters;
        let ids: Vec<WordId> = vocabulary.ids().collect();
        let n_bytes = vocabulary.saved_words().map(|saved| saved.word.len()).sum();
        let mut words = Vec::with_capacity(n_bytes);
        vocabulary.saved_words().for_each(|saved| words.extend_from_slice(saved.word.as_bytes()));
        let mut end = 0;
        let ends = vocabulary.saved_words().map(|saved| {
            end += saved.word.len() as u64;
            end
        });
        let mut tensors = vec![
            (
                "words",
                Tensor { dtype: Dtype::U8, shape: vec![n_bytes], data: Data::Bytes(Cow::Owned(words)) },
            ),
            ("word_ends", Tensor::list(Dtype::U64, ends)),
            ("slots", Tensor::list(Dtype::U32, indices(&ids))),
            ("counts", Tensor::list(Dtype::U64, vocabulary.saved_words().map(|saved| saved.count))),
            ("counters", Tensor::list(Dtype::U64, vocabulary.saved_words().map(|saved| saved.counter))),
            ("births", Tensor::list(Dtype::U64, vocabulary.saved_words().map(|saved| saved.birth))),
            ("free_slots", Tensor::list(Dtype::U32, indices(vocabulary.free_slots()))),
        ];
        for (names, side) in [
            (["target", "target_squares"], &parameters.target),
            (["context", "context_squares"], &parameters.context),
        ] {
            tensors.push((names[0], Tensor::rows(parameters, side, &ids, Part::Rows)));
            if !matches!(side.accumulators, Accumulators::None) {
                tensors.push((names[1], Tensor::rows(parameters, side, &ids, Part::Squares)));
            }
        }
        match &self.method {
            Method::MiniBatch(method) => replay_tensors(method.replay(), &mut tensors),
            Method::Sentences(method) => {
                let slots = method.noise.saved_slots();
                tensors.push((
                    "noise_generations",
                    Tensor::list(Dtype::U32, method.noise.generations().into_iter()),
                ));
                tensors.push(("noise_slots", Tensor::borrowed(Dtype::U32, vec![slots.len() / 2, 2], slots)));
            }
        }
        tensors
    }
}

fn indices(ids: &[WordId]) -> impl Iterator<Item = u32> {
    ids.iter().map(|id| id.index() as u32)
}

fn replay_tensors(replay: &ReplayBuffer, tensors: &mut Vec<(&'static str, Tensor<'_>)>) {
    let segments = replay.segments();
    let words = segments.iter().flat_map(|segment| indices(&segment.words));
    let ends = segments.iter().flat_map(|segment| segment.ends.iter().copied());
    let table = segments.iter().map(|segment| {
        let [words, ends] = [segment.words.len() as u64, segment.ends.len() as u64];
        [segment.start, words, ends, u64::from(segment.remaining)]
    });
    tensors.push(("replay_words", Tensor::list(Dtype::U32, words)));
    tensors.push(("replay_ends", Tensor::list(Dtype::U32, ends)));
    tensors.push(("replay_segments", Tensor::table(Dtype::U64, table.collect())));
}

/// A tensor of the file.
struct Tensor<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Data<'a>,
}

enum Data<'a> {
    Bytes(Cow<'a, [u8]>),
    Rows { parameters: &'a Parameters, side: &'a Side, ids: Vec<WordId>, part: Part },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Rows,
    Squares,
}

impl<'a> Tensor<'a> {
    fn list<T: NoUninit>(dtype: Dtype, values: impl Iterator<Item = T>) -> Tensor<'a> {
        let mut bytes = Vec::with_capacity(values.size_hint().0 * size_of::<T>());
        values.for_each(|value| bytes.extend_from_slice(bytemuck::bytes_of(&value)));
        let shape = vec![bytes.len() / size_of::<T>()];
        Tensor { dtype, shape, data: Data::Bytes(Cow::Owned(bytes)) }
    }

    fn borrowed<T: NoUninit>(dtype: Dtype, shape: Vec<usize>, values: &'a [T]) -> Tensor<'a> {
        Tensor { dtype, shape, data: Data::Bytes(Cow::Borrowed(bytemuck::cast_slice(values))) }
    }

    fn table<T: NoUninit, const N: usize>(dtype: Dtype, rows: Vec<[T; N]>) -> Tensor<'a> {
        Tensor {
            dtype,
            shape: vec![rows.len(), N],
            data: Data::Bytes(Cow::Owned(bytemuck::cast_slice(rows.as_flattened()).to_vec())),
        }
    }

    fn rows(parameters: &'a Parameters, side: &'a Side, ids: &[WordId], part: Part) -> Tensor<'a> {
        let by_row = part == Part::Squares && matches!(side.accumulators, Accumulators::Row(_));
        let dimensions = parameters.layout().dimensions;
        Tensor {
            dtype: Dtype::F32,
            shape: if by_row { vec![ids.len()] } else { vec![ids.len(), dimensions] },
            data: Data::Rows { parameters, side, ids: ids.to_vec(), part },
        }
    }
}

impl Tensor<'_> {
    /// Writes the values, row by row: a matrix is never copied as a whole.
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (parameters, side, ids, part) = match &self.data {
            Data::Bytes(bytes) => return to.write_all(bytes),
            Data::Rows { parameters, side, ids, part } => (parameters, side, ids, *part),
        };
        let layout = parameters.layout();
        for &id in ids {
            let row = layout.row_in_matrix(id);
            let matrix = match (part, &side.accumulators) {
                (Part::Rows, _) => &side.rows,
                (Part::Squares, Accumulators::Dimension(matrix)) => matrix,
                (Part::Squares, Accumulators::Row(values)) => {
                    to.write_all(bytemuck::bytes_of(&values[row]))?;
                    continue;
                }
                (Part::Squares, Accumulators::None) => continue,
            };
            let values = &matrix.row(row).as_flattened()[..layout.dimensions];
            to.write_all(bytemuck::cast_slice(values))?;
        }
        Ok(())
    }

    /// BLAKE3 of the values, in hexadecimal.
    fn checksum(&self) -> io::Result<String> {
        let mut hasher = BufWriter::with_capacity(1 << 16, blake3::Hasher::new());
        self.write(&mut hasher)?;
        let hasher = hasher.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bitsize() / 8
    }
}
