//! Sentences from Arrow's buffers: no string of Python is made of them.

use arrow_array::array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, make_array};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, OffsetSizeTrait};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use skipstream::corpus::TokenLists;

use super::column::choose_column;
use super::{Kind, Supply};

/// What is taken at once.
const CHUNK_TOKENS: usize = 50_000;
const CHUNK_BYTES: usize = 256 << 10;

/// A column of strings or of lists of strings.
pub struct Arrow {
    batches: Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>,
    kind: Kind,
    current: Option<Batch>,
    /// The rows taken, of so many if that is known.
    taken: usize,
    length: Option<usize>,
    missing: u64,
}

/// A piece of the column, and its first row that was not taken.
struct Batch {
    array: ArrayRef,
    next: usize,
    /// For a dictionary, where each row's value is.
    keys: Vec<usize>,
}

impl Arrow {
    /// Takes over the buffers of a column.
    pub fn new(column: &Bound<'_, PyAny>) -> PyResult<Arrow> {
        let length = column.len().ok();
        let (data_type, batches): (_, Box<dyn Iterator<Item = _> + Send>) =
            if column.hasattr("__arrow_c_stream__")? {
                let stream = stream(&column.call_method0("__arrow_c_stream__")?)?;
                (stream.field().data_type().clone(), Box::new(stream))
            } else {
                let array = array(&column.call_method0("__arrow_c_array__")?)?;
                (array.data_type().clone(), Box::new(std::iter::once(Ok(array))))
            };
        let kind = match &data_type {
            DataType::List(item) | DataType::LargeList(item) if is_string(item.data_type()) => Kind::Lists,
            DataType::Struct(_) => return Err(choose_column("table")),
            data_type if is_string(data_type) => Kind::Strings,
            // A column of nothing but missing values has no type of its own.
            DataType::Null => Kind::Strings,
            data_type => {
                return Err(PyTypeError::new_err(format!(
                    "sentences is a column of {data_type}; it must be one of strings or of lists of strings"
                )));
            }
        };
        Ok(Arrow { batches, kind, current: None, taken: 0, length, missing: 0 })
    }

    /// The piece that is taken now, or the next one.
    fn batch(&mut self) -> PyResult<Option<Batch>> {
        loop {
            let batch = match self.current.take() {
                Some(batch) => batch,
                None => match self.batches.next() {
                    Some(array) => Batch::new(array.map_err(to_python)?)?,
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
    /// Believes the buffers only once they were looked through: they are another program's.
    fn new(array: ArrayRef) -> PyResult<Batch> {
        array.to_data().validate_full().map_err(to_python)?;
        let keys = keys(&array);
        Ok(Batch { array, next: 0, keys })
    }
}

/// Where each row's value is, if it is in a dictionary that has any.
fn keys(array: &ArrayRef) -> Vec<usize> {
    match array.data_type() {
        DataType::Dictionary(..) if !array.as_any_dictionary().values().is_empty() => {
            array.as_any_dictionary().normalized_keys()
        }
        _ => Vec::new(),
    }
}

/// Takes lists until there are enough; how many values were missing.
fn take_lists<O: OffsetSizeTrait>(batch: &mut Batch, lists: &mut TokenLists) -> u64 {
    let mut missing = 0;
    let array = batch.array.as_list::<O>();
    let keys = keys(array.values());
    let strings = Strings::of(array.values(), &keys);
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
    // SAFETY: by its name, the capsule holds a stream of Arrow's C interface, which may be moved out of it once.
    unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(to_python)
}

fn array(capsules: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let capsules = capsules.cast::<PyTuple>()?;
    let [schema, array] = [capsules.get_item(0)?, capsules.get_item(1)?];
    let (schema, array) = (schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?);
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: by its name, the capsule holds a schema of Arrow's C interface, which may be moved out of it once.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr()) };
    // SAFETY: the same for an array.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    // SAFETY: the two belong together, as they were given out together.
    let data = unsafe { from_ffi(array, &schema) }.map_err(to_python)?;
    Ok(make_array(data))
}

fn to_python(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("sentences: {error}"))
}
