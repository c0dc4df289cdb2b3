//! Python strings as UTF-8.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Longer strings are encoded by Python.
const SHORT: usize = 64;

/// Gives tokens as UTF-8, in a reused buffer.
///
/// The stable interface of Python 3.9 has no view of a string's UTF-8. Encoding each token would create a bytes object;
/// copying its characters and encoding them here takes a third of the time.
#[derive(Debug, Default)]
pub struct Utf8 {
    bytes: Vec<u8>,
}

/// A string that may not be valid UTF-8.
pub enum Encoded<'a> {
    Text(&'a str),
    /// It contains unpaired surrogates, which are written as if they were characters.
    Bytes(Vec<u8>),
}

impl Utf8 {
    #[inline]
    pub fn encode(&mut self, token: &Bound<'_, PyString>) -> PyResult<Encoded<'_>> {
        let mut characters = [0; SHORT];
        let Some(characters) = copy_short(token, &mut characters) else {
            return self.encode_long(token);
        };
        self.bytes.clear();
        if characters.iter().all(|&character| character < 0x80) {
            self.bytes.extend(characters.iter().map(|&character| character as u8));
        } else {
            for &character in characters {
                let Some(character) = char::from_u32(character) else {
                    return encode_surrogates(token).map(Encoded::Bytes);
                };
                self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(Encoded::Text(std::str::from_utf8(&self.bytes).expect("whole characters were written")))
    }

    fn encode_long(&mut self, token: &Bound<'_, PyString>) -> PyResult<Encoded<'_>> {
        self.bytes.clear();
        append(token, &mut self.bytes)?;
        Ok(match std::str::from_utf8(&self.bytes) {
            Ok(text) => Encoded::Text(text),
            Err(_) => Encoded::Bytes(self.bytes.clone()),
        })
    }
}

/// Appends a string to bytes, with unpaired surrogates as if they were characters, which is not valid UTF-8.
pub fn append(string: &Bound<'_, PyString>, bytes: &mut Vec<u8>) -> PyResult<()> {
    match string.encode_utf8() {
        Ok(encoded) => bytes.extend_from_slice(encoded.as_bytes()),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(string.py()) => {
            bytes.extend(encode_surrogates(string)?);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn encode_surrogates(string: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    // The method of `str` itself: a subclass may override it.
    let method = string.py().get_type::<PyString>().getattr("encode")?;
    let encoded = method.call1((string, "utf-8", "surrogatepass"))?;
    Ok(encoded.cast_into::<PyBytes>()?.as_bytes().to_vec())
}

/// The characters of a string, if they are few.
#[inline]
fn copy_short<'a>(string: &Bound<'_, PyString>, characters: &'a mut [u32; SHORT]) -> Option<&'a [u32]> {
    // SAFETY: the object is a string, and Python's lock is held.
    let length = unsafe { pyo3::ffi::PyUnicode_GetLength(string.as_ptr()) };
    let length = usize::try_from(length).ok().filter(|&length| length <= SHORT)?;
    // SAFETY: as above, and at most the array's length is written, without a trailing zero.
    let copied =
        unsafe { pyo3::ffi::PyUnicode_AsUCS4(string.as_ptr(), characters.as_mut_ptr(), SHORT as isize, 0) };
    // A null pointer would mean that there are more characters, and a pending error; the length excludes that.
    (!copied.is_null()).then(|| &characters[..length])
}
