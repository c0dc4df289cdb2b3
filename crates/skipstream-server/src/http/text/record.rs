//! Turns a line of an upload into a line of the log.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
#[cfg(feature = "brokers")]
use serde_json::Value;
use skipstream::corpus::{InvalidUtf8, Sentence};

use super::problem::Problem;
#[cfg(feature = "brokers")]
use crate::broker::url::MessageFields;
use crate::http::extract::field;

/// The text of a line, its time if it has one, and its weight.
pub type Line<'a> = (Cow<'a, [u8]>, Option<Timestamp>, f32);

/// The format of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// JSON objects with a text, and optionally a time and a weight.
    Ndjson,
}

impl Kind {
    /// The format for a content type. The types that `curl` sends by default mean plain text.
    pub fn by_type(content_type: Option<&str>) -> Option<Kind> {
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "" | "text/plain" | "application/octet-stream" | "application/x-www-form-urlencoded" => {
                Some(Kind::Plain)
            }
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Kind::Ndjson),
            _ => None,
        }
    }

    pub fn read<'a>(
        self,
        number: u64,
        line: &'a [u8],
        invalid_utf8: InvalidUtf8,
    ) -> Result<Line<'a>, Problem> {
        match self {
            Kind::Plain => {
                if invalid_utf8 == InvalidUtf8::Error
                    && let Err(error) = str::from_utf8(line)
                {
                    return Err(Problem::InvalidUtf8 { line: number, offset: error.valid_up_to() });
                }
                Ok((Cow::Borrowed(line), None, 1.0))
            }
            Kind::Ndjson => read_record(number, line),
        }
    }
}

/// A line of NDJSON. Other fields are ignored.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    time: Option<Time>,
    weight: Option<f64>,
}

/// A time as text or as a number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an RFC 3339 time or Unix seconds")]
enum Time {
    Seconds(f64),
    Written(String),
}

fn read_record(number: u64, line: &[u8]) -> Result<Line<'_>, Problem> {
    let problem = |reason: String| Problem::Record { line: number, reason };
    // A blank line counts as a line, as in plain text.
    if line.trim_ascii().is_empty() {
        return Ok((Cow::Borrowed(b""), None, 1.0));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let record =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| problem(in_field(error)))?;
    deserializer.end().map_err(|error| problem(without_line(&error)))?;
    into_line(record).map_err(problem)
}

/// A message of a broker: one JSON object, with the text in a field of this name, and perhaps a time and a weight.
#[cfg(feature = "brokers")]
pub fn read_message(message: &[u8], fields: &MessageFields) -> Result<Line<'static>, Problem> {
    let problem = |reason: String| Problem::Record { line: 1, reason };
    let object: Value = serde_json::from_slice(message).map_err(|error| problem(without_line(&error)))?;
    let MessageFields { text, time, weight } = fields;
    let optional = |name: &Option<String>| name.as_ref().and_then(|name| find(&object, name));
    let text = find(&object, text).ok_or_else(|| problem(format!("there is no field `{text}`")))?;
    let record = serde_json::json!({ "text": text, "time": optional(time), "weight": optional(weight) });
    let record = serde_path_to_error::deserialize(&record).map_err(|error| problem(in_field(error)))?;
    let (text, time, weight) = into_line(record).map_err(problem)?;
    Ok((Cow::Owned(text.into_owned()), time, weight))
}

/// A field by its name, or by the names of the objects around it.
#[cfg(feature = "brokers")]
fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    value.get(path).or_else(|| {
        let (object, rest) = path.split_once('.')?;
        find(value.get(object)?, rest)
    })
}

fn into_line(record: Record<'_>) -> Result<Line<'_>, String> {
    let time = record.time.map(read_time).transpose()?;
    let weight = record.weight.unwrap_or(1.0);
    let limit = Sentence::MAX_WEIGHT;
    if !(0.0..=f64::from(limit)).contains(&weight) {
        return Err(format!("the weight is {weight:?}; it must be from 0 to {limit}"));
    }
    // The log separates lines by line feeds.
    let text = match record.text {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', " ").into_bytes()),
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    Ok((text, time, weight as f32))
}

/// The error with the field that it is about.
fn in_field(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let field = field(error.path());
    let field = field.strip_prefix(", ").map_or_else(String::new, |field| format!("{field}: "));
    format!("{field}{}", without_line(error.inner()))
}

/// The error with its column, without serde's line number.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if error.line() == 0 {
        return text;
    }
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("{reason} (column {})", error.column())
}

fn read_time(time: Time) -> Result<Timestamp, String> {
    let expected = "expected an RFC 3339 time or Unix seconds, from year -9999 to 9999";
    match time {
        Time::Written(text) => text.parse().map_err(|_| {
            let shown: String = text.chars().take(40).collect();
            format!("invalid time `{shown}`; {expected}")
        }),
        Time::Seconds(seconds) => {
            let whole = seconds.floor();
            let nanoseconds = ((seconds - whole) * 1e9) as i32;
            // A number out of range saturates, and is still out of range.
            Timestamp::new(whole as i64, nanoseconds)
                .map_err(|_| format!("invalid time {seconds}; {expected}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(String, Option<String>), Problem> {
        let (text, time, _) = Kind::Ndjson.read(3, line.as_bytes(), InvalidUtf8::Replace)?;
        Ok((String::from_utf8(text.into_owned()).unwrap(), time.map(|time| time.to_string())))
    }

    #[test]
    fn content_types_are_recognized() {
        for (name, kind) in [
            (None, Some(Kind::Plain)),
            (Some("text/plain; charset=utf-8"), Some(Kind::Plain)),
            (Some("application/x-www-form-urlencoded"), Some(Kind::Plain)),
            (Some("Application/X-NDJSON"), Some(Kind::Ndjson)),
            (Some("application/jsonl"), Some(Kind::Ndjson)),
            (Some("application/json"), None),
            (Some("text/html"), None),
        ] {
            assert_eq!(Kind::by_type(name), kind, "{name:?}");
        }
    }

    #[test]
    fn a_record_has_a_text_and_optionally_a_time() {
        assert_eq!(read(r#"{"text": "tea"}"#).unwrap(), ("tea".to_owned(), None));
        assert_eq!(
            read(r#" {"id": [1, {}], "text": "k\u00e4se", "time": null} "#).unwrap(),
            ("käse".to_owned(), None)
        );
        for (time, expected) in [
            (r#""2026-11-15T20:00:00Z""#, "2026-11-15T20:00:00Z"),
            (r#""2026-11-15T21:00:00.5+01:00""#, "2026-11-15T20:00:00.5Z"),
            ("0", "1970-01-01T00:00:00Z"),
            ("1.5", "1970-01-01T00:00:01.5Z"),
            ("-0.5", "1969-12-31T23:59:59.5Z"),
        ] {
            let (_, found) = read(&format!(r#"{{"text": "", "time": {time}}}"#)).unwrap();
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_line_feed_within_a_text_becomes_a_space() {
        assert_eq!(read(r#"{"text": "one\ntwo\r\nthree"}"#).unwrap().0, "one two\r three");
    }

    #[test]
    fn a_blank_line_is_a_blank_line() {
        assert_eq!(read("").unwrap(), (String::new(), None));
        assert_eq!(read(" \t").unwrap(), (String::new(), None));
    }

    #[test]
    fn errors_name_the_line() {
        for (line, reason) in [
            ("{}", "line 3: missing field `text` (column 2)"),
            (r#"{"text": 7}"#, "line 3: text: invalid type: integer `7`, expected"),
            ("[]", "line 3: "),
            ("tea", "line 3: expected ident (column 2)"),
            (r#"{"text": "a"} b"#, "line 3: trailing characters (column 15)"),
            (r#"{"text": "a", "text": "b"}"#, "line 3: duplicate field `text`"),
            (r#"{"text": "a", "time": "soon"}"#, "line 3: invalid time `soon`; expected an RFC 3339 time"),
            (r#"{"text": "a", "time": 1e99}"#, "line 3: invalid time 1"),
            (r#"{"text": "a", "weight": -1}"#, "line 3: the weight is -1.0; it must be from 0 to 10"),
            (r#"{"text": "a", "weight": 10.5}"#, "line 3: the weight is 10.5; it must be from 0 to 10"),
            (r#"{"text": "a", "weight": "x"}"#, "line 3: weight: invalid type: string"),
            (r#"{"text": "a", "time": [1]}"#, "line 3: time: expected an RFC 3339 time or Unix seconds"),
            (r#"{"text": "\ud800"}"#, "line 3: text: "),
        ] {
            let message = read(line).unwrap_err().to_string();
            assert!(message.starts_with(reason), "{line}: {message}");
        }
        let deep = format!(r#"{{"text": "a", "more": {}"#, "[".repeat(10_000));
        assert!(read(&deep).unwrap_err().to_string().starts_with("line 3: "), "no stack overflow");
    }

    #[test]
    fn invalid_utf_8_is_rejected_if_the_model_rejects_it() {
        let read = |policy| Kind::Plain.read(2, b"ab\xff", policy);
        assert_eq!(read(InvalidUtf8::Replace).unwrap().0, &b"ab\xff"[..]);
        assert_eq!(read(InvalidUtf8::Error).unwrap_err(), Problem::InvalidUtf8 { line: 2, offset: 2 });
        assert!(matches!(
            Kind::Ndjson.read(2, b"{\"text\": \"\xff\"}", InvalidUtf8::Replace),
            Err(Problem::Record { .. })
        ));
    }
}
