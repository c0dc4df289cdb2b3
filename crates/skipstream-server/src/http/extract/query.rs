//! Query parameters.
//!
//! Unlike axum's extractor, this one accepts repeated parameters as a list, rejects them elsewhere, rejects invalid UTF-8
//! instead of replacing it, and says which numbers are allowed.

use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use percent_encoding::percent_decode;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::field;
use crate::http::ApiError;

type Error = serde::de::value::Error;

#[derive(Clone, Copy, Debug)]
pub struct Parameters<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default())
            .map(Parameters)
            .map_err(|message| ApiError::new(StatusCode::BAD_REQUEST, "bad-query", message))
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, String> {
    let mut fields: BTreeMap<Cow<'_, str>, Values<'_>> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        match fields.entry(name) {
            Entry::Occupied(mut values) => values.get_mut().0.push(value),
            Entry::Vacant(entry) => {
                entry.insert(Values(vec![value]));
            }
        }
    }
    let fields = MapDeserializer::<_, Error>::new(fields.into_iter());
    serde_path_to_error::deserialize(fields)
        .map_err(|error| format!("the query{}: {}", field(error.path()), error.inner()))
}

fn decoded(text: &str) -> Result<Cow<'_, str>, String> {
    let spaced: Cow<'_, str> = if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    let bytes = percent_decode(spaced.as_bytes()).collect::<Vec<u8>>();
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| format!("the query: `{text}` is not UTF-8"))
}

/// The values of one parameter.
struct Values<'a>(Vec<Cow<'a, str>>);

impl Values<'_> {
    fn single(self) -> Result<String, Error> {
        let times = self.0.len();
        let mut values = self.0.into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(value.into_owned()),
            _ => Err(Error::custom(format_args!("given {times} times; give it once"))),
        }
    }
}

impl<'de> IntoDeserializer<'de, Error> for Values<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Values<'_> {
    type Error = Error;

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = self.single()?;
        match text.parse() {
            Ok(value) if !text.starts_with('+') => visitor.visit_u64(value),
            // The visitor's error says what it expects.
            _ => visitor.visit_string(text),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = self.single()?;
        match text.parse() {
            Ok(value) => visitor.visit_bool(value),
            Err(_) => visitor.visit_string(text),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.single()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let values = self.0.into_iter().map(|value| Values(vec![value]));
        visitor.visit_seq(SeqDeserializer::new(values))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.single()?.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        u8 u16 u32 u128 i8 i16 i32 i64 i128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::{List, Number, Word};
    use super::*;

    #[derive(Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Rule {
        #[default]
        Add,
        Multiply,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Query {
        n: Option<Number<1, 1000>>,
        word: Option<List<Word, 1, 3>>,
        #[serde(default)]
        rule: Rule,
        prefix: Option<String>,
    }

    fn refusal(query: &str) -> String {
        read::<Query>(query).unwrap_err()
    }

    #[test]
    fn values_are_decoded_and_may_be_missing() {
        let query = read::<Query>("n=7&word=a&word=b%20c&word=%C3%BC&rule=multiply&prefix=new+york").unwrap();
        assert_eq!(query.n.unwrap().get(), 7);
        let words = query.word.unwrap().0;
        assert_eq!(words.iter().map(Word::as_str).collect::<Vec<_>>(), ["a", "b c", "ü"]);
        assert_eq!((query.rule, query.prefix.as_deref()), (Rule::Multiply, Some("new york")));
        let nothing = read::<Query>("").unwrap();
        assert!(nothing.n.is_none() && nothing.word.is_none() && nothing.prefix.is_none());
    }

    #[test]
    fn errors_name_the_field_and_the_limit() {
        assert_eq!(
            refusal("n=many"),
            "the query, n: invalid type: string \"many\", expected a whole number from 1 to 1000"
        );
        assert_eq!(refusal("n=0"), "the query, n: 0 is out of range; it must be from 1 to 1000");
        assert!(refusal("n=%2B5").contains("a whole number from 1 to 1000"));
        assert!(refusal("n=-1").contains("a whole number from 1 to 1000"));
        assert!(refusal("n=99999999999999999999999999").contains("a whole number from 1 to 1000"));
        assert_eq!(refusal("n=1&n=2"), "the query, n: given 2 times; give it once");
        assert!(refusal("rule=divide").starts_with("the query, rule: unknown variant `divide`"));
        assert!(refusal("m=1").contains("unknown field `m`"));
        assert!(refusal("word=a&word=b&word=c&word=d").contains("the list is longer than 3"));
        assert_eq!(refusal("prefix=%ff"), "the query: `%ff` is not UTF-8");
    }
}
