//! A model in several files, in the convention of Hugging Face: `model-00001-of-00003.safetensors` and so on, and an index.
//!
//! The first file is the state without the rows, which the coordinator writes. Each other file has the rows of one worker:
//! for each of its blocks b, the tensors `block.b.target`, `block.b.context`, `block.b.target_squares` and
//! `block.b.context_squares`, where row r is that of the word with the id r · blocks + b. So the files can be read by any
//! number of workers.
//!
//! The files of a checkpoint are in a folder of their own, and the index, which is replaced in one step, says which
//! checkpoint is the model. It also has the checksum of each file's header, so that files of different checkpoints are
//! never mixed.
//!
//! Invariant: a file of the last checkpoint is deleted only after the index of the next one is on disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::ModelFileError;
use super::file::{MAX_HEADER_BYTES, ModelFile, Verify};
use super::metadata::{Contents, RowsMetadata, RowsOfBlocks, TrainingMetadata, row_names};
use super::tensor::{Tensor, write_described, write_file};
use super::{PROGRAM, metadata};
use crate::bytes::{Mapped, create_folder, replace};
use crate::embeddings::{Embeddings, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameters, Side};
use crate::train::Trainer;
use crate::train::cluster::{Coordinator, Session, Worker};
use crate::vocabulary::WordId;

/// The name of the index.
pub const INDEX: &str = "model.safetensors.index.json";

/// The beginning of the names of checkpoints' folders.
const CHECKPOINT: &str = "checkpoint-";

/// A file of a sharded model, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its path within the folder of the model.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// The checksum of its header, which has the checksums of its tensors.
    pub checksum: String,
    /// The names of its tensors.
    pub tensors: Vec<String>,
}

/// A model in several files. It is opened by its folder.
#[derive(Debug)]
pub struct ShardedModel {
    index: PathBuf,
    /// The state, and then the rows.
    shards: Vec<(PathBuf, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    metadata: IndexMetadata,
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct IndexMetadata {
    total_size: u64,
    skipstream: Checkpoint,
}

#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    program: String,
    /// The header's checksum of each file. The first file has the state.
    headers: BTreeMap<String, String>,
}

impl ShardedModel {
    /// Whether a folder has a sharded model.
    pub fn is_at(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(INDEX).is_file()
    }

    /// Opens the last checkpoint in a folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<ShardedModel> {
        let folder = folder.as_ref();
        let index = folder.join(INDEX);
        let defect = |reason: String| Error::model_file(&index, ModelFileError::Metadata { reason });
        let bytes = fs::metadata(&index).map_err(Error::io(&index))?.len();
        if bytes > MAX_HEADER_BYTES {
            return Err(defect(format!("it has {bytes} bytes, more than {MAX_HEADER_BYTES}")));
        }
        let json = fs::read(&index).map_err(Error::io(&index))?;
        let Index { metadata, .. } =
            serde_json::from_slice(&json).map_err(|error| defect(error.to_string()))?;
        let headers = metadata.skipstream.headers.into_iter();
        let is_inside = |file: &str| {
            Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        let shards = headers.map(|(file, checksum)| match is_inside(&file) {
            true => Ok((folder.join(file), checksum)),
            false => Err(defect(format!("`{file}` is not in the folder"))),
        });
        let shards = shards.collect::<Result<Vec<_>>>()?;
        if shards.len() < 2 {
            return Err(defect("there are no files of rows".to_owned()));
        }
        Ok(ShardedModel { index, shards })
    }

    /// Makes the files of a checkpoint the model in the folder, and deletes those of other checkpoints.
    ///
    /// The first file must be that of [`Coordinator::save`], and the others those of [`Worker::save`].
    pub fn commit(folder: impl AsRef<Path>, shards: &[Shard]) -> Result<()> {
        let folder = folder.as_ref();
        let index = Index {
            metadata: IndexMetadata {
                total_size: shards.iter().map(|shard| shard.bytes).sum(),
                skipstream: Checkpoint {
                    program: PROGRAM.to_owned(),
                    headers: shards
                        .iter()
                        .map(|shard| (shard.file.clone(), shard.checksum.clone()))
                        .collect(),
                },
            },
            weight_map: shards
                .iter()
                .flat_map(|shard| shard.tensors.iter().map(|tensor| (tensor.clone(), shard.file.clone())))
                .collect(),
        };
        let path = folder.join(INDEX);
        replace(&path, |file| {
            let written = serde_json::to_writer_pretty(&mut *file, &index).map_err(std::io::Error::from);
            written.and_then(|()| file.write_all(b"\n")).map_err(Error::io(&path))
        })?;
        ShardedModel::clean(folder)
    }

    /// Deletes the files of checkpoints that the index does not name: of older ones, and of one that was interrupted.
    ///
    /// No other process may write to the folder.
    pub fn clean(folder: impl AsRef<Path>) -> Result<()> {
        let folder = folder.as_ref();
        let named = match ShardedModel::is_at(folder) {
            true => ShardedModel::open(folder)?.shards,
            false => Vec::new(),
        };
        for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
            let path = entry.map_err(Error::io(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_named = named.iter().any(|(file, _)| file.starts_with(&path));
            if name.starts_with(CHECKPOINT) && path.is_dir() && !is_named {
                fs::remove_dir_all(&path).map_err(Error::io(&path))?;
            }
        }
        Ok(())
    }

    /// Writes the model as one file, the same bytes that training on one machine gives. The files are mapped and not
    /// copied, so this takes the memory of the vocabulary and the replay buffer.
    pub fn join(&self, path: impl AsRef<Path>) -> Result<()> {
        let (trainer, rows) = self.read()?;
        let ids = trainer.ids_by_frequency(usize::MAX);
        let mut tensors = trainer.state_tensors(&ids);
        let shape = [ids.len(), trainer.settings.dimensions()];
        for (which, name) in [(0, "target"), (1, "context")] {
            let (ids, rows) = (&ids, &rows);
            let tensor = Tensor::rows(shape, move |to| {
                ids.iter().try_for_each(|&id| to.write_all(bytemuck::cast_slice(rows.row(id, which))))
            });
            tensors.push((name, tensor));
        }
        for (which, name) in [(2, "target_squares"), (3, "context_squares")] {
            tensors.push((name, Tensor::list(ids.iter().map(|&id| rows.row(id, which)[0]))));
        }
        write_file(path.as_ref(), tensors, Contents::Training(Box::new(trainer.metadata())))
    }

    /// The vectors of the most frequent words, at most `most`.
    pub fn embeddings(&self, vectors: Vectors, most: usize) -> Result<Embeddings> {
        let (trainer, rows) = self.read()?;
        trainer.embeddings_of_rows(vectors, most, &|id| [rows.row(id, 0), rows.row(id, 1)])
    }

    /// The state, and the rows in place, verified.
    fn read(&self) -> Result<(Trainer, MappedRows)> {
        let trainer = self.state(None)?;
        let layout = trainer.parameters().layout();
        let mut blocks: Vec<Option<[Mapped<f32>; 4]>> = (0..layout.blocks).map(|_| None).collect();
        for (path, checksum) in &self.shards[1..] {
            let (file, metadata) = self.rows(path, checksum)?;
            let shard = &metadata.shard;
            if (shard.dimensions, shard.of_blocks) != (layout.dimensions, layout.blocks) {
                return Err(file.contradiction("the files are of different settings"));
            }
            for &block in shard.rows.keys() {
                let place =
                    blocks.get_mut(block).ok_or_else(|| file.contradiction("a block is too large"))?;
                let map = |name: String| {
                    let mapped = file.map(&name, Verify::All)?;
                    mapped.ok_or_else(|| file.contradiction(format!("`{name}` is not aligned")))
                };
                let [target, context, target_squares, context_squares] = row_names(block).map(map);
                *place = Some([target?, context?, target_squares?, context_squares?]);
            }
        }
        let missing =
            || Error::model_file(&self.index, ModelFileError::State { reason: "rows are missing".into() });
        let blocks = blocks.into_iter().collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        let rows = MappedRows { dimensions: layout.dimensions, blocks };
        if trainer.vocabulary().ids().any(|id| !rows.has(id)) {
            return Err(missing());
        }
        Ok((trainer, rows))
    }

    /// The trainer, but its rows.
    fn state(&self, threads: Option<usize>) -> Result<Trainer> {
        let (path, checksum) = &self.shards[0];
        let (mut file, metadata) = ModelFile::open_state(path)?;
        self.check(&file, path, checksum)?;
        file.trainer(metadata.contents, threads, Parameters::without_rows).map(|(trainer, _)| trainer)
    }

    fn rows(&self, path: &Path, checksum: &str) -> Result<(ModelFile, RowsMetadata)> {
        let (file, metadata) = ModelFile::open_rows(path)?;
        self.check(&file, path, checksum)?;
        Ok((file, metadata))
    }

    fn check(&self, file: &ModelFile, path: &Path, checksum: &str) -> Result<()> {
        if file.header_checksum == checksum {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Err(Error::model_file(&self.index, ModelFileError::OtherShard { file: name }))
    }
}

/// The rows of all blocks, in files.
struct MappedRows {
    dimensions: usize,
    /// Target rows, context rows and their sums.
    blocks: Vec<[Mapped<f32>; 4]>,
}

impl MappedRows {
    fn place(&self, id: WordId) -> (usize, usize) {
        (id.index() % self.blocks.len(), id.index() / self.blocks.len())
    }

    fn has(&self, id: WordId) -> bool {
        let (block, row) = self.place(id);
        row < self.blocks[block][2].values().len()
    }

    /// The row of a word in a matrix, or the one value in a list.
    fn row(&self, id: WordId, which: usize) -> &[f32] {
        let (block, row) = self.place(id);
        let width = if which < 2 { self.dimensions } else { 1 };
        &self.blocks[block][which].values()[row * width..][..width]
    }
}

/// The path of a file within the folder of the model.
fn shard_path(checkpoint: &str, number: usize, of: usize) -> String {
    format!("{CHECKPOINT}{checkpoint}/model-{number:05}-of-{of:05}.safetensors")
}

/// Writes a file of a checkpoint.
fn write_shard<N: AsRef<str>, M: Serialize>(
    folder: &Path,
    file: String,
    tensors: Vec<(N, Tensor<'_>)>,
    metadata: impl FnOnce(metadata::Checksums) -> M,
) -> Result<Shard> {
    let path = folder.join(&file);
    create_folder(path.parent().expect("it is in the folder of a checkpoint"))?;
    let names = tensors.iter().map(|(name, _)| name.as_ref().to_owned()).collect();
    let mut checksum = String::new();
    replace(&path, |to| {
        checksum = write_described(to, tensors, metadata).map_err(Error::io(&path))?;
        Ok(())
    })?;
    let bytes = fs::metadata(&path).map_err(Error::io(&path))?.len();
    Ok(Shard { file, bytes, checksum, tensors: names })
}

impl Coordinator {
    /// Saves the state without the rows, as the first file of a checkpoint. [`ShardedModel::commit`] makes it the model.
    ///
    /// No other checkpoint may have the same name.
    pub fn save(&self, folder: impl AsRef<Path>, checkpoint: &str) -> Result<Shard> {
        let trainer = &self.trainer;
        if !trainer.progress().totals.loss.is_finite() {
            return Err(Error::Diverged { learning_rate: trainer.settings.learning_rate() });
        }
        let ids = trainer.ids_by_frequency(usize::MAX);
        let metadata = TrainingMetadata { rows_in_shards: true, ..trainer.metadata() };
        let file = shard_path(checkpoint, 1, self.workers() + 1);
        write_shard(folder.as_ref(), file, trainer.state_tensors(&ids), |checksums| {
            metadata::Metadata::new(Contents::Training(Box::new(metadata)), checksums)
        })
    }

    /// Loads the state of a model for this many workers: that of a sharded model, by its folder, or of a model file. The
    /// workers load the rows.
    pub fn load(
        model: impl AsRef<Path>,
        workers: usize,
        session: Session,
        threads: Option<usize>,
    ) -> Result<Coordinator> {
        let model = model.as_ref();
        let trainer = if model.is_dir() {
            ShardedModel::open(model)?.state(threads)?
        } else {
            let (mut file, metadata) = ModelFile::open(model)?;
            file.trainer(metadata.contents, threads, Parameters::without_rows)?.0
        };
        Coordinator::of(trainer, workers, session)
    }
}

impl Worker {
    /// Saves its rows as a file of a checkpoint.
    pub fn save(&self, folder: impl AsRef<Path>, checkpoint: &str) -> Result<Shard> {
        let dimensions = self.settings.dimensions();
        let per_block = self.rows_per_block();
        let blocks = || self.blocks().zip(self.frequencies.iter().map(Vec::len)).enumerate();
        let mut tensors = Vec::new();
        for (index, (block, rows)) in blocks() {
            let range = index * per_block..index * per_block + rows;
            let is_finite = |side: &Side| {
                let mut rows = range.clone().map(|at| &side.rows.row(at).as_flattened()[..dimensions]);
                rows.all(|row| row.iter().all(|value| value.is_finite()))
            };
            if !is_finite(&self.target) || !is_finite(&self.context) {
                return Err(Error::Diverged { learning_rate: self.settings.learning_rate() });
            }
            let [target, context, target_squares, context_squares] = row_names(block);
            for (name, side) in [(target, &self.target), (context, &self.context)] {
                let range = range.clone();
                let tensor = Tensor::rows([rows, dimensions], move |to| {
                    range.clone().try_for_each(|at| {
                        let values = &side.rows.row(at).as_flattened()[..dimensions];
                        to.write_all(bytemuck::cast_slice(values))
                    })
                });
                tensors.push((name, tensor));
            }
            for (name, side) in [(target_squares, &self.target), (context_squares, &self.context)] {
                tensors.push((name, Tensor::borrowed(&side.sums()[range.clone()])));
            }
        }
        let shard = RowsOfBlocks {
            dimensions,
            of_blocks: self.share.blocks,
            rows: blocks().map(|(_, (block, rows))| (block, rows)).collect(),
        };
        let file = shard_path(checkpoint, self.number + 2, self.share.workers + 1);
        write_shard(folder.as_ref(), file, tensors, |checksums| RowsMetadata::new(shard, checksums))
    }

    /// Loads the rows of its blocks: from a sharded model of any number of workers, by its folder, or from a model file.
    pub fn load(&mut self, model: impl AsRef<Path>) -> Result<()> {
        let model = model.as_ref();
        if model.is_dir() { self.load_shards(&ShardedModel::open(model)?) } else { self.load_file(model) }
    }

    fn load_shards(&mut self, model: &ShardedModel) -> Result<()> {
        let (dimensions, per_block, own) = (self.settings.dimensions(), self.rows_per_block(), self.blocks());
        let mut missing = own.len();
        for (path, checksum) in &model.shards[1..] {
            let (file, metadata) = model.rows(path, checksum)?;
            let shard = metadata.shard;
            if (shard.dimensions, shard.of_blocks) != (dimensions, self.share.blocks)
                || shard.rows.values().any(|&rows| rows > per_block)
            {
                return Err(file.contradiction("the files are of different settings"));
            }
            for (&block, &rows) in shard.rows.iter().filter(|(block, _)| own.contains(block)) {
                let index = block - own.start;
                self.frequencies[index].clear();
                self.frequencies[index].resize(rows, 0);
                let [target, context, target_squares, context_squares] = row_names(block);
                for (matrix, list, side) in [
                    (target, target_squares, &mut self.target),
                    (context, context_squares, &mut self.context),
                ] {
                    let [matrix, list]: [Option<Mapped<f32>>; 2] =
                        [file.map(&matrix, Verify::All)?, file.map(&list, Verify::All)?];
                    let (Some(matrix), Some(list)) = (matrix, list) else {
                        return Err(file.contradiction("a tensor is not aligned"));
                    };
                    let values = matrix.values().chunks_exact(dimensions).zip(list.values());
                    for (row, (values, &sum)) in values.enumerate() {
                        set_row(side, index * per_block + row, values, sum)
                            .map_err(|reason| file.contradiction(reason))?;
                    }
                }
                missing -= 1;
            }
        }
        if missing > 0 {
            return Err(Error::model_file(
                &model.index,
                ModelFileError::State { reason: "rows are missing".into() },
            ));
        }
        Ok(())
    }

    fn load_file(&mut self, path: &Path) -> Result<()> {
        let (mut file, metadata) = ModelFile::open(path)?;
        let Contents::Training(metadata) = metadata.contents else {
            return Err(file.defect(ModelFileError::OnlyVectors));
        };
        let config = self.settings.resolved();
        if (metadata.config.dimensions, metadata.config.strategy) != (config.dimensions, config.strategy) {
            return Err(file.contradiction("its settings are others than those of the worker"));
        }
        let (dimensions, per_block, own) = (self.settings.dimensions(), self.rows_per_block(), self.blocks());
        let slots: Vec<u32> = file.tensor("slots")?;
        let n_slots = slots.iter().max().map_or(0, |&last| last as usize + 1);
        if n_slots > self.settings.max_vocabulary() {
            return Err(file.contradiction("a slot is outside the vocabulary"));
        }
        for (block, frequencies) in own.clone().zip(&mut self.frequencies) {
            frequencies.clear();
            frequencies.resize(self.share.rows(block, n_slots), 0);
        }
        for (matrix, list, side) in [
            ("target", "target_squares", &mut self.target),
            ("context", "context_squares", &mut self.context),
        ] {
            let matrix: Option<Mapped<f32>> = file.map(matrix, Verify::All)?;
            let matrix = matrix.ok_or_else(|| file.contradiction("a tensor is not aligned"))?;
            let list: Vec<f32> = file.tensor(list)?;
            let rows = matrix.values().chunks_exact(dimensions).zip(list).zip(&slots);
            for ((values, sum), &slot) in rows {
                let (block, row) = (slot as usize % self.share.blocks, slot as usize / self.share.blocks);
                if own.contains(&block) {
                    let at = (block - own.start) * per_block + row;
                    set_row(side, at, values, sum).map_err(|reason| file.contradiction(reason))?;
                }
            }
        }
        Ok(())
    }
}

fn set_row(side: &mut Side, row: usize, values: &[f32], sum: f32) -> Result<(), &'static str> {
    let is_valid = values.iter().all(|value| value.is_finite()) && sum.is_finite() && sum >= 0.0;
    if !is_valid {
        return Err("a value of the rows is infinite, NaN or a negative sum");
    }
    side.rows.row_mut(row).as_flattened_mut()[..values.len()].copy_from_slice(values);
    side.sums_mut()[row] = sum;
    Ok(())
}
