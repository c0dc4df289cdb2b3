//! Sentences from Arrow's buffers, without creating Python strings.

use std::ops::Range;

use arrow_array::array::{Array, ArrayRef, StringViewArray, make_array};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, OffsetSizeTrait};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use skipstream::corpus::TokenLists;

use super::column::choose_column;
use super::{CHUNK_BYTES, CHUNK_TOKENS, Kind, Supply};
use crate::call::caught;

/// A column of strings or of lists of strings.
pub struct Arrow {
    batches: Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>,
    kind: Kind,
    batch: Batch,
    /// The next row of the batch.
    next: usize,
    /// The number of rows taken, and of all rows if known.
    taken: usize,
    length: Option<usize>,
    missing: u64,
}

impl Arrow {
    /// Takes over the buffers of a column.
    pub fn new(column: &Bound<'_, PyAny>) -> PyResult<Arrow> {
        let length = column.len().ok();
        let (kind, batches): (_, Box<dyn Iterator<Item = _> + Send>) =
            if column.hasattr("__arrow_c_stream__")? {
                let stream = stream(&column.call_method0("__arrow_c_stream__")?)?;
                (kind_of(stream.field().data_type())?, Box::new(stream.map(checked)))
            } else {
                let (kind, array) = array(&column.call_method0("__arrow_c_array__")?)?;
                (kind, Box::new(std::iter::once(Ok(array))))
            };
        Ok(Arrow { batches, kind, batch: Batch::default(), next: 0, taken: 0, length, missing: 0 })
    }

    /// The next row, which may be in another batch.
    fn next_row(&mut self) -> PyResult<Option<usize>> {
        while self.next == self.batch.len {
            let batch = import_checked(|| self.batches.next().transpose()?.map(Batch::new).transpose())?;
            let Some(batch) = batch else { return Ok(None) };
            (self.batch, self.next) = (batch, 0);
        }
        self.next += 1;
        self.taken += 1;
        Ok(Some(self.next - 1))
    }
}

impl Supply for Arrow {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn fill_lines(&mut self, lines: &mut Vec<u8>) -> PyResult<()> {
        while lines.len() < CHUNK_BYTES
            && let Some(row) = self.next_row()?
        {
            let Some(text) = self.batch.string(row) else {
                self.missing += 1;
                continue;
            };
            lines.extend_from_slice(text.as_bytes());
            if !text.ends_with('\n') {
                lines.push(b'\n');
            }
        }
        Ok(())
    }

    fn fill_lists(&mut self, lists: &mut TokenLists) -> PyResult<bool> {
        while lists.waiting() < CHUNK_TOKENS {
            let Some(row) = self.next_row()? else { return Ok(false) };
            let Some(places) = self.batch.lists[row].clone() else {
                self.missing += 1;
                continue;
            };
            for place in places {
                match self.batch.string(place) {
                    Some(token) => lists.push(token),
                    None => self.missing += 1,
                }
            }
            lists.end_list();
        }
        Ok(true)
    }

    fn fraction(&self) -> Option<f64> {
        let length = self.length.filter(|&length| length > 0)?;
        Some((self.taken as f64 / length as f64).min(1.0))
    }

    fn missing(&self) -> u64 {
        self.missing
    }
}

/// A chunk of the column.
#[derive(Default)]
struct Batch {
    len: usize,
    strings: Option<StringViewArray>,
    /// Where the strings of each list are; None for a missing list.
    lists: Vec<Option<Range<usize>>>,
}

impl Batch {
    fn new(array: ArrayRef) -> Result<Batch, ArrowError> {
        let (values, lists) = match array.data_type() {
            DataType::List(_) => list_ranges::<i32>(&array),
            DataType::LargeList(_) => list_ranges::<i64>(&array),
            _ => (&array, Vec::new()),
        };
        Ok(Batch { len: array.len(), strings: Some(views(values)?), lists })
    }

    fn string(&self, place: usize) -> Option<&str> {
        let strings = self.strings.as_ref()?;
        strings.is_valid(place).then(|| strings.value(place))
    }
}

fn list_ranges<O: OffsetSizeTrait>(array: &ArrayRef) -> (&ArrayRef, Vec<Option<Range<usize>>>) {
    let lists = array.as_list::<O>();
    let range = |row: usize| {
        let ends = &lists.value_offsets()[row..];
        lists.is_valid(row).then(|| ends[0].as_usize()..ends[1].as_usize())
    };
    (lists.values(), (0..lists.len()).map(range).collect())
}

/// Strings of any of Arrow's layouts as views, which share the buffers.
fn views(array: &ArrayRef) -> Result<StringViewArray, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().into(),
        DataType::LargeUtf8 => array.as_string::<i64>().into(),
        DataType::Utf8View => array.as_string_view().clone(),
        DataType::Dictionary(..) if !array.as_any_dictionary().values().is_empty() => {
            let dictionary = array.as_any_dictionary();
            let (values, keys) = (views(dictionary.values())?, dictionary.normalized_keys());
            let rows = keys.iter().map(|&key| values.views()[key]).collect();
            let is_valid = |(row, &key): (usize, &usize)| array.is_valid(row) && values.is_valid(key);
            let nulls = keys.iter().enumerate().map(is_valid).collect();
            StringViewArray::try_new(rows, values.data_buffers().to_vec(), Some(nulls))?
        }
        _ => StringViewArray::new_null(array.len()),
    })
}

fn kind_of(data_type: &DataType) -> PyResult<Kind> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) if is_string(item.data_type()) => Ok(Kind::Lists),
        DataType::Struct(_) => Err(choose_column("table")),
        data_type if is_string(data_type) => Ok(Kind::Strings),
        // A column of only missing values has no type of its own.
        DataType::Null => Ok(Kind::Strings),
        data_type => Err(PyTypeError::new_err(format!(
            "sentences is a column of {data_type}; it must be one of strings or of lists of strings"
        ))),
    }
}

fn is_string(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_string(values),
        _ => false,
    }
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by its name, the capsule holds a stream of Arrow's C interface. It is moved out; a stream that was moved out
    // before says so, and is rejected.
    import_checked(|| unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) })
}

fn array(capsules: &Bound<'_, PyAny>) -> PyResult<(Kind, ArrayRef)> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: by its name, the capsule holds a schema of Arrow's C interface, which is moved out.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr()) };
    // SAFETY: the same for an array.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    if schema.release().is_none() || array.is_released() {
        return Err(to_python(ArrowError::CDataInterface("the array was exported before".to_owned())));
    }
    let data_type = import_checked(|| DataType::try_from(&schema))?;
    let kind = kind_of(&data_type)?;
    let array = import_checked(|| {
        if !fits(&array, &data_type) {
            return Err(ArrowError::CDataInterface(format!("the array is not one of {data_type}")));
        }
        // SAFETY: the two were exported together and have the same shape.
        let data = unsafe { from_ffi_and_data_type(array, data_type) }?;
        data.validate_full()?;
        Ok(make_array(data))
    })?;
    Ok((kind, array))
}

/// Whether an array has the parts of such a column. The length of its buffers is known only to its owner.
fn fits(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => array.num_buffers() == 3,
        DataType::Utf8View => array.num_buffers() >= 3,
        DataType::List(item) | DataType::LargeList(item) => {
            array.num_buffers() == 2 && array.num_children() == 1 && fits(array.child(0), item.data_type())
        }
        DataType::Dictionary(_, values) => {
            array.num_buffers() == 2 && array.dictionary().is_some_and(|array| fits(array, values))
        }
        _ => true,
    }
}

/// Validates the buffers, which belong to another program.
fn checked(array: Result<ArrayRef, ArrowError>) -> Result<ArrayRef, ArrowError> {
    let array = array?;
    array.to_data().validate_full()?;
    Ok(array)
}

/// Reads what another program exported. Arrow panics if that is invalid.
fn import_checked<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    match caught(read) {
        Ok(result) => result.map_err(to_python),
        Err(reason) => Err(to_python(ArrowError::CDataInterface(reason))),
    }
}

fn to_python(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("sentences: {error}"))
}
