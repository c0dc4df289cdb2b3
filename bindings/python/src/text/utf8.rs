//! Strings of Python as UTF-8.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A string of more characters is encoded by Python.
const SHORT: usize = 64;

/// Gives out tokens as UTF-8, in memory that is used again.
///
/// The stable interface of Python 3.9 has no view of a string's UTF-8. To encode each token would make an object of
/// bytes for it; to copy its characters out, and make bytes of them here, takes a third of the time.
#[derive(Debug, Default)]
pub struct Utf8 {
    bytes: Vec<u8>,
}

/// A string, as far as it can be UTF-8.
pub enum Encoded<'a> {
    /// It is.
    Text(&'a str),
    /// There are halves of surrogate pairs in it, which are written as if they were characters.
    Bytes(Vec<u8>),
}

impl Utf8 {
    /// A token as UTF-8.
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

/// Appends a string to bytes, with halves of surrogate pairs as if they were characters: no UTF-8 then.
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
    // The method of `str` itself: a class made of it may have another one.
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
    // SAFETY: as above, and no more than the array's length is written, as no zero is to follow.
    let copied =
        unsafe { pyo3::ffi::PyUnicode_AsUCS4(string.as_ptr(), characters.as_mut_ptr(), SHORT as isize, 0) };
    // A null pointer would mean that they are more after all, and an error to be fetched; the length says otherwise.
    (!copied.is_null()).then(|| &characters[..length])
}
