//! JSON lines: one object per line.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{MAX_RECORD_BYTES, Record, Records};
use crate::Result;
use crate::bytes::read_error;
use crate::corpus::layout::RecordField;
use crate::corpus::marks::take_mark;
use crate::corpus::position::Position;

pub(super) struct JsonLines {
    reader: Box<dyn BufRead + Send>,
    name: PathBuf,
    field: RecordField,
    position: Position,
    line: Vec<u8>,
}

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
        field: &RecordField,
    ) -> JsonLines {
        let position = Position { words: 0, ..position };
        JsonLines { reader, name: name.to_owned(), field: field.clone(), position, line: Vec::new() }
    }

    /// Reads a line without its end. Nothing is kept of one that is too long.
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
            let mut record = Record::new(start);
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
            if let Some(field) = &self.field.weight {
                record.weigh(field, weight(&self.line, field, text));
            }
            if let Err(defect) = extract(&self.line, &self.field.field, text) {
                record.defect = Some(defect);
            }
            return Ok(Some(record));
        }
    }

    fn position(&self) -> Position {
        self.position
    }
}

/// Appends the text of a field, or says why there is none. Nothing else of the object is kept, whatever its size.
fn extract(json: &[u8], field: &str, text: &mut Vec<u8>) -> std::result::Result<(), String> {
    let what = match find(json, field, text)? {
        Found::Text => return Ok(()),
        Found::Nothing => return Err(format!("there is no field `{field}`")),
        Found::NoObject => return Err("this is JSON, but no object with fields".to_owned()),
        Found::Number(_) => "a number",
        Found::Other(what) => what,
    };
    Err(format!("the field `{field}` is {what}; it must be a string or an array of strings"))
}

/// The number in a field, or what is there instead. Text that is found is of no use.
fn weight(json: &[u8], field: &str, text: &mut Vec<u8>) -> std::result::Result<f64, String> {
    match find(json, field, text) {
        Ok(Found::Number(number)) => Ok(number),
        Ok(Found::Text) => Err("is text".to_owned()),
        Ok(Found::Other(what)) => Err(format!("is {what}")),
        Ok(Found::Nothing | Found::NoObject) | Err(_) => Err("is missing".to_owned()),
    }
}

/// What a field has. If it is text, that replaces `text`.
fn find(json: &[u8], field: &str, text: &mut Vec<u8>) -> std::result::Result<Found, String> {
    text.clear();
    let mut found = Found::Nothing;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let line = Value { role: Role::Line { path: field }, text, found: &mut found };
    let read = line.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    read.map(|()| found).map_err(|error| format!("this is not JSON: {}", without_line(&error)))
}

/// The message without its line number, which would always be 1.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.replace(&format!(" at line {} column", error.line()), " at column")
}

enum Found {
    Nothing,
    Text,
    Number(f64),
    Other(&'static str),
    NoObject,
}

/// A value on the path to the text.
struct Value<'a> {
    role: Role<'a>,
    text: &'a mut Vec<u8>,
    found: &'a mut Found,
}

/// What a value is expected to be. The path `user.text` is a field of that name, or `text` in the object `user`. If several
/// fields match, the last one counts, as in other JSON readers.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// The object of the line, in which to look for a field.
    Line { path: &'a str },
    /// An object in it. The field may be elsewhere, so this may be anything.
    Inside { path: &'a str },
    /// The field.
    Field,
    /// A string of the field's array.
    Element,
}

impl Value<'_> {
    /// Notes a value that is not what its role requires.
    fn reject(self, what: &'static str) {
        match self.role {
            Role::Line { .. } => *self.found = Found::NoObject,
            Role::Inside { .. } => {}
            Role::Field => *self.found = Found::Other(what),
            Role::Element => *self.found = Found::Other("an array with other things than strings"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let (Role::Line { path } | Role::Inside { path }) = self.role else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            self.reject("an object");
            return Ok(());
        };
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let inside = path.strip_prefix(&*key).and_then(|rest| rest.strip_prefix('.'));
            let role = match inside {
                _ if path == key => Role::Field,
                Some(path) => Role::Inside { path },
                None => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Value { role, text: self.text, found: self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> std::result::Result<(), A::Error> {
        if !matches!(self.role, Role::Field) {
            while values.next_element::<IgnoredAny>()?.is_some() {}
            self.reject("an array");
            return Ok(());
        }
        self.text.clear();
        *self.found = Found::Text;
        let role = Role::Element;
        while values.next_element_seed(Value { role, text: self.text, found: self.found })?.is_some() {}
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, string: &str) -> std::result::Result<(), E> {
        match self.role {
            Role::Line { .. } | Role::Inside { .. } => {
                self.reject("a string");
                return Ok(());
            }
            Role::Field => {
                self.text.clear();
                *self.found = Found::Text;
            }
            Role::Element => {}
        }
        self.text.extend_from_slice(string.as_bytes());
        self.text.push(b'\n');
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> std::result::Result<(), E> {
        self.reject("true or false");
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> std::result::Result<(), E> {
        match self.role {
            Role::Field => *self.found = Found::Number(number),
            _ => self.reject("a number"),
        }
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<(), E> {
        self.reject("null");
        Ok(())
    }
}
