//! JSON objects, one a line.

use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{MAX_RECORD_BYTES, Record, Records};
use crate::Result;
use crate::bytes::read_error;
use crate::corpus::marks::take_mark;
use crate::corpus::position::Position;

/// Reads the field of one JSON object a line.
pub(super) struct JsonLines {
    reader: Box<dyn BufRead + Send>,
    name: PathBuf,
    field: String,
    position: Position,
    line: Vec<u8>,
}

/// How a line ended.
#[derive(PartialEq, Eq)]
enum Ending {
    Newline,
    TooLong,
    Stream,
}

impl JsonLines {
    pub(super) fn new(
        reader: Box<dyn BufRead + Send>,
        position: Position,
        name: &Path,
        field: &str,
    ) -> JsonLines {
        let position = Position { words: 0, ..position };
        JsonLines { reader, name: name.to_owned(), field: field.to_owned(), position, line: Vec::new() }
    }

    /// Reads a line without its end; of one that is too long, nothing is kept.
    fn read_line(&mut self) -> Result<Ending> {
        self.line.clear();
        if self.position.offset == 0 {
            let taken = take_mark(&mut self.reader, &self.name)?;
            self.position.offset = taken.bytes;
            self.line.extend_from_slice(taken.text);
        }
        let mut too_long = false;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&self.name, error)),
            };
            if chunk.is_empty() {
                return Ok(if too_long { Ending::TooLong } else { Ending::Stream });
            }
            let newline = memchr::memchr(b'\n', chunk);
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            too_long |= self.line.len() + part.len() > MAX_RECORD_BYTES;
            if too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(newline.is_some());
            self.reader.consume(taken);
            self.position.offset += taken as u64;
            if newline.is_some() {
                self.position.lines += 1;
                return Ok(if too_long { Ending::TooLong } else { Ending::Newline });
            }
        }
    }
}

impl Records for JsonLines {
    fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<Record>> {
        loop {
            let start = self.position;
            let ending = self.read_line()?;
            text.clear();
            let mut record = Record { start, invalid: None, defect: None };
            if ending == Ending::TooLong {
                record.defect = Some(format!("the line is longer than {MAX_RECORD_BYTES} bytes"));
                return Ok(Some(record));
            }
            if self.line.trim_ascii().is_empty() {
                if ending == Ending::Stream {
                    return Ok(None);
                }
                continue;
            }
            if let Err(error) = std::str::from_utf8(&self.line) {
                record.invalid = Some(start.offset + error.valid_up_to() as u64);
                self.line = String::from_utf8_lossy(&self.line).into_owned().into_bytes();
            }
            record.defect = extract(&self.line, &self.field, text).err();
            return Ok(Some(record));
        }
    }

    fn position(&self) -> Position {
        self.position
    }
}

/// Appends the text of a field, or says why there is none. Nothing else of the object is kept, whatever its size.
fn extract(json: &[u8], field: &str, text: &mut Vec<u8>) -> std::result::Result<(), String> {
    let mut found = Found::Nothing;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let object = Object { path: field, text, found: &mut found };
    let read = object.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (read, found) {
        (_, Found::Other(what)) => {
            Err(format!("the field `{field}` is {what}; it must be a string or an array of strings"))
        }
        (_, Found::NoObject) => Err("this is JSON, but no object with fields".to_owned()),
        (Err(error), _) => Err(format!("this is not JSON: {}", without_line(&error))),
        (Ok(()), Found::Nothing) => Err(format!("there is no field `{field}`")),
        (Ok(()), Found::Text) => Ok(()),
    }
}

/// The message, whose line would always be the first.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.replace(&format!(" at line {} column", error.line()), " at column")
}

/// What was found of the field.
enum Found {
    Nothing,
    Text,
    Other(&'static str),
    /// The line itself is something else.
    NoObject,
}

/// Looks for a field in an object; `user.text` is a field of that name, or `text` in the object `user`.
struct Object<'a> {
    path: &'a str,
    text: &'a mut Vec<u8>,
    found: &'a mut Found,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let inside = self.path.strip_prefix(&*key).and_then(|rest| rest.strip_prefix('.'));
            if self.path == key {
                self.text.clear();
                map.next_value_seed(Field { text: self.text, found: self.found })?;
            } else if let Some(path) = inside {
                map.next_value_seed(Object { path, text: self.text, found: self.found })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> std::result::Result<(), A::Error> {
        *self.found = Found::NoObject;
        Err(A::Error::custom("no object"))
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<(), E> {
        *self.found = Found::NoObject;
        Ok(())
    }
}

/// Takes the text of a field.
struct Field<'a> {
    text: &'a mut Vec<u8>,
    found: &'a mut Found,
}

impl Field<'_> {
    fn is(self, what: &'static str) {
        *self.found = Found::Other(what);
    }
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string or an array of strings")
    }

    fn visit_str<E: serde::de::Error>(self, string: &str) -> std::result::Result<(), E> {
        self.text.extend_from_slice(string.as_bytes());
        self.text.push(b'\n');
        if !matches!(self.found, Found::Other(_)) {
            *self.found = Found::Text;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut strings: A) -> std::result::Result<(), A::Error> {
        *self.found = Found::Text;
        while strings.next_element_seed(Field { text: self.text, found: self.found })?.is_some() {}
        if matches!(self.found, Found::Other(_)) {
            self.is("an array with other things than strings");
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.is("an object");
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> std::result::Result<(), E> {
        self.is("true or false");
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> std::result::Result<(), E> {
        self.is("a number");
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> std::result::Result<(), E> {
        self.is("a number");
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> std::result::Result<(), E> {
        self.is("a number");
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<(), E> {
        self.is("null");
        Ok(())
    }
}
