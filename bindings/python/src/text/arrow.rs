//! Sentences from Arrow's buffers, without creating Python strings.

use arrow_array::array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, make_array};
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
use super::{Kind, Supply};
use crate::call::caught;

/// The number of bytes taken at once.
const CHUNK_TOKENS: usize = 50_000;
const CHUNK_BYTES: usize = 256 << 10;

/// A column of strings or of lists of strings.
pub struct Arrow {
    batches: Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>,
    kind: Kind,
    current: Option<Batch>,
    /// The number of rows taken, and of all rows if known.
    taken: usize,
    length: Option<usize>,
    missing: u64,
}

/// A chunk of the column, and its first row that was not taken.
struct Batch {
    array: ArrayRef,
    next: usize,
    /// For a dictionary, the index of each row's value.
    keys: Vec<usize>,
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
        Ok(Arrow { batches, kind, current: None, taken: 0, length, missing: 0 })
    }

    /// The current chunk, or the next one.
    fn batch(&mut self) -> PyResult<Option<Batch>> {
        loop {
            let batch = match self.current.take() {
                Some(batch) => batch,
                None => match believed(|| self.batches.next().transpose())? {
                    Some(array) => Batch::new(array),
                    None => return Ok(None),
                },
            };
            if batch.next < batch.array.len() {
                return Ok(Some(batch));
            }
        }
    }
}

impl Supply for Arrow {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn fill_lines(&mut self, lines: &mut Vec<u8>) -> PyResult<()> {
        while lines.len() < CHUNK_BYTES {
            let Some(mut batch) = self.batch()? else { break };
            let first = batch.next;
            let strings = Strings::of(&batch.array, &batch.keys);
            while batch.next < batch.array.len() && lines.len() < CHUNK_BYTES {
                match strings.at(batch.next) {
                    Some(text) => {
                        lines.extend_from_slice(text.as_bytes());
                        if !text.ends_with('\n') {
                            lines.push(b'\n');
                        }
                    }
                    None => self.missing += 1,
                }
                batch.next += 1;
            }
            self.taken += batch.next - first;
            self.current = Some(batch);
        }
        Ok(())
    }

    fn fill_lists(&mut self, lists: &mut TokenLists) -> PyResult<bool> {
        while lists.waiting() < CHUNK_TOKENS {
            let Some(mut batch) = self.batch()? else { return Ok(false) };
            let first = batch.next;
            match batch.array.data_type() {
                DataType::LargeList(_) => self.missing += take_lists::<i64>(&mut batch, lists),
                _ => self.missing += take_lists::<i32>(&mut batch, lists),
            }
            self.taken += batch.next - first;
            self.current = Some(batch);
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

impl Batch {
    fn new(array: ArrayRef) -> Batch {
        // Once for the whole chunk: it looks at every row.
        let keys = match array.data_type() {
            DataType::List(_) => keys(array.as_list::<i32>().values()),
            DataType::LargeList(_) => keys(array.as_list::<i64>().values()),
            _ => keys(&array),
        };
        Batch { array, next: 0, keys }
    }
}

/// The index of each row's value, if the column is a dictionary.
fn keys(array: &ArrayRef) -> Vec<usize> {
    match array.data_type() {
        DataType::Dictionary(..) if !array.as_any_dictionary().values().is_empty() => {
            array.as_any_dictionary().normalized_keys()
        }
        _ => Vec::new(),
    }
}

/// Takes lists until there are enough. Returns the number of missing values.
fn take_lists<O: OffsetSizeTrait>(batch: &mut Batch, lists: &mut TokenLists) -> u64 {
    let mut missing = 0;
    let array = batch.array.as_list::<O>();
    let strings = Strings::of(array.values(), &batch.keys);
    while batch.next < array.len() && lists.waiting() < CHUNK_TOKENS {
        if array.is_null(batch.next) {
            missing += 1;
        } else {
            let ends = &array.value_offsets()[batch.next..];
            for place in ends[0].as_usize()..ends[1].as_usize() {
                match strings.at(place) {
                    Some(token) => lists.push(token),
                    None => missing += 1,
                }
            }
            lists.end_list();
        }
        batch.next += 1;
    }
    missing
}

/// Strings in one of Arrow's layouts.
enum Strings<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
    Dictionary { rows: &'a dyn Array, keys: &'a [usize], values: Box<Strings<'a>> },
    Missing,
}

impl<'a> Strings<'a> {
    fn of(array: &'a ArrayRef, keys: &'a [usize]) -> Strings<'a> {
        match array.data_type() {
            DataType::Utf8 => Strings::Small(array.as_string()),
            DataType::LargeUtf8 => Strings::Large(array.as_string()),
            DataType::Utf8View => Strings::View(array.as_string_view()),
            DataType::Dictionary(..) => {
                let values = Box::new(Strings::of(array.as_any_dictionary().values(), &[]));
                Strings::Dictionary { rows: array, keys, values }
            }
            _ => Strings::Missing,
        }
    }

    fn at(&self, row: usize) -> Option<&'a str> {
        match self {
            Strings::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::View(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Dictionary { rows, keys, values } => {
                rows.is_valid(row).then(|| values.at(*keys.get(row)?)).flatten()
            }
            Strings::Missing => None,
        }
    }
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
        DataType::Dictionary(_, values) => {
            matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        _ => false,
    }
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by its name, the capsule holds a stream of Arrow's C interface. It is moved out; a stream that was moved out
    // before says so, and is rejected.
    believed(|| unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) })
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
    let data_type = believed(|| DataType::try_from(&schema))?;
    let kind = kind_of(&data_type)?;
    let array = believed(|| {
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
fn believed<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    match caught(read) {
        Ok(result) => result.map_err(to_python),
        Err(reason) => Err(to_python(ArrowError::CDataInterface(reason))),
    }
}

fn to_python(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("sentences: {error}"))
}
