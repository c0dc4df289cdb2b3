//! Values with limits, which are checked on deserialization and appear in the OpenAPI document.
//!
//! Routes give them names (`type Words = Number<1, 100>`), because utoipa's macros do not accept const parameters.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Number<LEAST, MOST> {
    pub fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Number<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole<const LEAST: u64, const MOST: u64>;
        impl<const LEAST: u64, const MOST: u64> Visitor<'_> for Whole<LEAST, MOST> {
            type Value = Number<LEAST, MOST>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a whole number from {LEAST} to {MOST}")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                if (LEAST..=MOST).contains(&value) {
                    return Ok(Number(value));
                }
                Err(E::custom(format_args!("{value} is out of range; it must be from {LEAST} to {MOST}")))
            }

            // In JSON, 3.0 is a whole number.
            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
                    return self.visit_u64(value as u64);
                }
                Err(E::invalid_value(serde::de::Unexpected::Float(value), &self))
            }
        }
        deserializer.deserialize_u64(Whole::<LEAST, MOST>)
    }
}

impl<const LEAST: u64, const MOST: u64> PartialSchema for Number<LEAST, MOST> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(LEAST as f64))
            .maximum(Some(MOST as f64))
            .into()
    }
}

impl<const LEAST: u64, const MOST: u64> ToSchema for Number<LEAST, MOST> {
    fn name() -> Cow<'static, str> {
        format!("NumberFrom{LEAST}To{MOST}").into()
    }
}

/// A word in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(String);

impl Word {
    /// Maximum length in characters.
    pub const MAX_CHARACTERS: usize = 1_000;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let characters = word.chars().count();
        if (1..=Word::MAX_CHARACTERS).contains(&characters) {
            return Ok(Word(word));
        }
        Err(D::Error::custom(format_args!(
            "the word has {characters} characters; it must have from 1 to {}",
            Word::MAX_CHARACTERS
        )))
    }
}

impl PartialSchema for Word {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(Word::MAX_CHARACTERS))
            .into()
    }
}

impl ToSchema for Word {}

/// A list of `LEAST` to `MOST` values. Reading stops at the first one beyond the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const LEAST: usize, const MOST: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const LEAST: usize, const MOST: usize> Deserialize<'de>
    for List<T, LEAST, MOST>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values<T, const LEAST: usize, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const LEAST: usize, const MOST: usize> Visitor<'de>
            for Values<T, LEAST, MOST>
        {
            type Value = List<T, LEAST, MOST>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a list of {LEAST} to {MOST}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = values.next_element()? {
                    if list.len() == MOST {
                        return Err(A::Error::custom(format_args!(
                            "the list is longer than {MOST}; its length must be from {LEAST} to {MOST}"
                        )));
                    }
                    list.push(value);
                }
                if list.len() < LEAST {
                    return Err(A::Error::custom(format_args!(
                        "the list has length {}; it must be from {LEAST} to {MOST}",
                        list.len()
                    )));
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Values(PhantomData))
    }
}

impl<T: PartialSchema, const LEAST: usize, const MOST: usize> PartialSchema for List<T, LEAST, MOST> {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(T::schema()).min_items(Some(LEAST)).max_items(Some(MOST)).into()
    }
}

impl<T: ToSchema, const LEAST: usize, const MOST: usize> ToSchema for List<T, LEAST, MOST> {
    fn name() -> Cow<'static, str> {
        format!("{}From{LEAST}To{MOST}", T::name()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: for<'de> Deserialize<'de> + fmt::Debug>(json: &str) -> String {
        serde_json::from_str::<T>(json).unwrap_err().to_string()
    }

    #[test]
    fn a_number_out_of_range_is_rejected_with_the_range() {
        type Few = Number<1, 9>;
        assert_eq!(serde_json::from_str::<Few>("9").unwrap().get(), 9);
        assert_eq!(serde_json::from_str::<Few>("9.0").unwrap().get(), 9);
        assert!(refusal::<Few>("0").starts_with("0 is out of range; it must be from 1 to 9"));
        for wrong in ["-1", "1.5", "\"3\"", "null", "1e99", "[1]"] {
            assert!(
                refusal::<Few>(wrong).contains("a whole number from 1 to 9"),
                "{wrong}: {}",
                refusal::<Few>(wrong)
            );
        }
    }

    #[test]
    fn a_word_has_a_limited_length() {
        assert_eq!(serde_json::from_str::<Word>("\"ü\"").unwrap().as_str(), "ü");
        assert!(
            refusal::<Word>("\"\"").starts_with("the word has 0 characters; it must have from 1 to 1000")
        );
        assert!(serde_json::from_str::<Word>(&format!("\"{}\"", "ü".repeat(1_000))).is_ok());
        assert!(
            refusal::<Word>(&format!("\"{}\"", "ü".repeat(1_001)))
                .starts_with("the word has 1001 characters")
        );
    }

    #[test]
    fn a_list_of_the_wrong_length_is_rejected_with_its_limits() {
        type Three = List<u8, 2, 3>;
        assert_eq!(serde_json::from_str::<Three>("[1,2]").unwrap().0, [1, 2]);
        assert!(refusal::<Three>("[1]").starts_with("the list has length 1; it must be from 2 to 3"));
        assert!(refusal::<Three>("[1,2,3,4]").starts_with("the list is longer than 3"));
    }
}
