//! Messages of a broker → lines.

use std::fmt;

use bytes::Bytes;
use jiff::Timestamp;
use skipstream::corpus::InvalidUtf8;

use crate::broker::url::MessageFields;
use crate::http::{Decoder, Kind, Problem, read_message};
use crate::log::Chunk;
use crate::settings::ServeSettings;

/// A message as the broker has it.
#[derive(Clone, Debug)]
pub struct Message {
    pub id: MessageId,
    pub payload: Bytes,
}

/// Which message of a stream it is.
#[derive(Clone, Copy, Debug)]
pub struct MessageId {
    /// The partition; NATS has none.
    pub partition: Option<i32>,
    /// Its number in the stream or partition.
    pub offset: u64,
    /// When it was published.
    pub time: Option<Timestamp>,
}

impl fmt::Display for MessageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.partition {
            Some(partition) => write!(out, "partition {partition}, offset {}", self.offset),
            None => write!(out, "message {}", self.offset),
        }
    }
}

impl Message {
    /// Adds its lines to a chunk: all or, if the message is invalid, none. A message of plain text may have several lines; a
    /// JSON message is one line. A line without a time of its own has the time of the message.
    pub fn add_to(
        &self,
        chunk: &mut Chunk,
        fields: Option<&MessageFields>,
        invalid_utf8: InvalidUtf8,
        settings: &ServeSettings,
    ) -> Result<(), Problem> {
        if let Some(fields) = fields {
            let (text, time, weight) = read_message(&self.payload, fields)?;
            let most = settings.max_line_size as usize;
            if text.len() > most {
                return Err(Problem::LongLine { line: 1, most });
            }
            chunk.push_weighted(&text, time.or(self.id.time), weight);
            return Ok(());
        }
        let mut decoder = Decoder::new(Kind::Plain, false, invalid_utf8, settings);
        decoder.take(&self.payload)?;
        decoder.finish()?;
        for (line, ..) in decoder.chunks.iter().flat_map(Chunk::iter) {
            chunk.push(line, self.id.time);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a message with their times and weights. JSON has its text in the field of this name.
    fn lines(payload: &str, text: Option<&str>) -> Result<Vec<(String, i64, f32)>, String> {
        let fields = text.map(|text| MessageFields {
            text: text.to_owned(),
            time: Some("at".to_owned()),
            weight: Some("meta.weight".to_owned()),
        });
        let time = Some(Timestamp::from_second(9).unwrap());
        let message = Message {
            id: MessageId { partition: Some(3), offset: 17, time },
            payload: Bytes::copy_from_slice(payload.as_bytes()),
        };
        assert_eq!(message.id.to_string(), "partition 3, offset 17");
        let settings = ServeSettings { max_line_size: 40, ..ServeSettings::default() };
        let mut chunk = Chunk::default();
        let added = message.add_to(&mut chunk, fields.as_ref(), InvalidUtf8::Error, &settings);
        assert!(added.is_ok() || chunk.is_empty(), "all or nothing");
        added.map_err(|problem| problem.to_string())?;
        let line = |(line, time, weight): (&[u8], Option<Timestamp>, f32)| {
            (String::from_utf8(line.to_vec()).unwrap(), time.unwrap().as_second(), weight)
        };
        Ok(chunk.iter().map(line).collect())
    }

    #[test]
    fn plain_text_is_split_at_line_feeds_and_has_the_time_of_the_message() {
        let line = |text: &str| (text.to_owned(), 9, 1.0);
        assert_eq!(lines("tea with milk", None).unwrap(), [line("tea with milk")]);
        assert_eq!(lines("one\r\n\ntwo\n", None).unwrap(), [line("one"), line(""), line("two")]);
        assert_eq!(lines("", None).unwrap(), []);
    }

    #[test]
    fn a_json_message_is_one_line_and_may_have_a_time_and_a_weight() {
        for (json, field, text, time, weight) in [
            (r#"{"text": "a\nb", "at": 5}"#, "text", "a b", 5, 1.0),
            (
                "{\n \"user\": {\"says\": \"hi\"},\n \"at\": \"1970-01-01T00:00:07Z\"}",
                "user.says",
                "hi",
                7,
                1.0,
            ),
            (r#"{"user.says": "dot", "at": null}"#, "user.says", "dot", 9, 1.0),
            (r#"{"text": "a", "meta": {"weight": 0.5}}"#, "text", "a", 9, 0.5),
            (r#"{"text": "a", "weight": "7 kg", "time": "noon"}"#, "text", "a", 9, 1.0),
        ] {
            assert_eq!(lines(json, Some(field)).unwrap(), [(text.to_owned(), time, weight)], "{json}");
        }
    }

    #[test]
    fn an_invalid_message_adds_nothing() {
        let json = Some("body");
        for (payload, field, reason) in [
            (
                "one\n0123456789 0123456789 0123456789 0123456789",
                None,
                "line 2 is longer than 40 bytes, which is the limit",
            ),
            ("{}", json, "line 1: there is no field `body`"),
            ("", json, "line 1: EOF while parsing a value (column 0)"),
            (r#"{"body": 7}"#, json, "line 1: text: invalid type: integer `7`"),
            (r#"{"body": "a", "at": "soon"}"#, json, "line 1: invalid time `soon`"),
            (
                r#"{"body": "a", "meta": {"weight": 11}}"#,
                json,
                "line 1: the weight is 11.0; it must be from 0",
            ),
            (r#"["body"]"#, json, "line 1: there is no field `body`"),
            (r#"{"body": "0123456789 0123456789 0123456789 0123456789"}"#, json, "line 1 is longer than 40"),
        ] {
            let error = lines(payload, field).unwrap_err();
            assert!(error.starts_with(reason), "{payload}: {error}");
        }
    }
}
