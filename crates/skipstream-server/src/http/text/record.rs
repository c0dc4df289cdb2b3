//! A line of a body → a line of the log.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use skipstream::corpus::InvalidUtf8;

use super::problem::Problem;
use crate::http::extract::place;

/// What the lines of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Plain,
    /// Objects of JSON, with a text and perhaps a time.
    Ndjson,
}

impl Kind {
    /// By the type that was sent. What `curl` says of a file without being asked is plain text too.
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

    /// The text of a line and its time, if it has one of its own.
    pub fn read<'a>(
        self,
        number: u64,
        line: &'a [u8],
        invalid_utf8: InvalidUtf8,
    ) -> Result<(Cow<'a, [u8]>, Option<Timestamp>), Problem> {
        match self {
            Kind::Plain => {
                if invalid_utf8 == InvalidUtf8::Error
                    && let Err(error) = str::from_utf8(line)
                {
                    return Err(Problem::InvalidUtf8 { line: number, offset: error.valid_up_to() });
                }
                Ok((Cow::Borrowed(line), None))
            }
            Kind::Ndjson => read_record(number, line),
        }
    }
}

/// What a line of NDJSON must have; whatever else it has is passed over.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    time: Option<Time>,
}

/// A time as people and programs write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "it must be a time as in RFC 3339, or seconds since 1970")]
enum Time {
    Seconds(f64),
    Written(String),
}

fn read_record(number: u64, line: &[u8]) -> Result<(Cow<'_, [u8]>, Option<Timestamp>), Problem> {
    let problem = |reason: String| Problem::Record { line: number, reason };
    // A blank line is a line here as in plain text.
    if line.trim_ascii().is_empty() {
        return Ok((Cow::Borrowed(b""), None));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let record: Record<'_> = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = place(error.path()).map_or_else(String::new, |place| format!("{place}: "));
        problem(format!("{place}{}", without_place(error.inner())))
    })?;
    deserializer.end().map_err(|error| problem(without_place(&error)))?;
    let time = record.time.map(|time| read_time(time).map_err(problem)).transpose()?;
    // A line end within a text would be the end of a line of the log.
    let text = match record.text {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', " ").into_bytes()),
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    Ok((text, time))
}

/// What is wrong, with the column: a line of a line is always the first.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("{reason} (column {})", error.column())
}

fn read_time(time: Time) -> Result<Timestamp, String> {
    let limits = "it must be a time as in RFC 3339, or seconds since 1970, of the years -9999 to 9999";
    match time {
        Time::Written(text) => text.parse().map_err(|_| {
            let shown: String = text.chars().take(40).collect();
            format!("time is `{shown}`; {limits}")
        }),
        Time::Seconds(seconds) => {
            let whole = seconds.floor();
            let nanoseconds = ((seconds - whole) * 1e9) as i32;
            // A number that is too large becomes the largest, which is beyond the limits too.
            Timestamp::new(whole as i64, nanoseconds).map_err(|_| format!("time is {seconds}; {limits}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(String, Option<String>), Problem> {
        let (text, time) = Kind::Ndjson.read(3, line.as_bytes(), InvalidUtf8::Replace)?;
        Ok((String::from_utf8(text.into_owned()).unwrap(), time.map(|time| time.to_string())))
    }

    #[test]
    fn types_are_known_by_their_names() {
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
    fn a_record_has_a_text_and_perhaps_a_time() {
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
    fn a_line_end_within_a_text_becomes_a_space() {
        assert_eq!(read(r#"{"text": "one\ntwo\r\nthree"}"#).unwrap().0, "one two\r three");
    }

    #[test]
    fn a_blank_line_is_a_blank_line() {
        assert_eq!(read("").unwrap(), (String::new(), None));
        assert_eq!(read(" \t").unwrap(), (String::new(), None));
    }

    #[test]
    fn what_is_wrong_with_a_record_is_said_with_its_line() {
        for (line, reason) in [
            ("{}", "line 3: missing field `text` (column 2)"),
            (r#"{"text": 7}"#, "line 3: text: invalid type: integer `7`, expected"),
            ("[]", "line 3: "),
            ("tea", "line 3: expected ident (column 2)"),
            (r#"{"text": "a"} b"#, "line 3: trailing characters (column 15)"),
            (r#"{"text": "a", "text": "b"}"#, "line 3: duplicate field `text`"),
            (r#"{"text": "a", "time": "soon"}"#, "line 3: time is `soon`; it must be a time as in RFC 3339"),
            (r#"{"text": "a", "time": 1e99}"#, "line 3: time is 1"),
            (
                r#"{"text": "a", "time": [1]}"#,
                "line 3: time: it must be a time as in RFC 3339, or seconds since 1970",
            ),
            (r#"{"text": "\ud800"}"#, "line 3: text: "),
        ] {
            let message = read(line).unwrap_err().to_string();
            assert!(message.starts_with(reason), "{line}: {message}");
        }
        let deep = format!(r#"{{"text": "a", "more": {}"#, "[".repeat(10_000));
        assert!(read(&deep).unwrap_err().to_string().starts_with("line 3: "), "no end of the stack");
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused_where_the_model_refuses_them() {
        let read = |policy| Kind::Plain.read(2, b"ab\xff", policy);
        assert_eq!(read(InvalidUtf8::Replace).unwrap().0, &b"ab\xff"[..]);
        assert_eq!(read(InvalidUtf8::Error).unwrap_err(), Problem::InvalidUtf8 { line: 2, offset: 2 });
        assert!(matches!(
            Kind::Ndjson.read(2, b"{\"text\": \"\xff\"}", InvalidUtf8::Replace),
            Err(Problem::Record { .. })
        ));
    }
}
