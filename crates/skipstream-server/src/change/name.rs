//! Names of snapshots.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The pattern in the OpenAPI document.
const PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$";

/// The name of a snapshot, which is part of a file name: 1 to 64 of the characters A–Z, a–z, 0–9, `.`, `_` and `-`, and not
/// starting with `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SnapshotName(String);

impl SnapshotName {
    pub fn new(name: &str) -> Option<SnapshotName> {
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_good);
        fits.then(|| SnapshotName(name.to_owned()))
    }

    /// The name of a scheduled snapshot: its time, without colons, which some file systems reject.
    pub fn of_time(time: Timestamp) -> SnapshotName {
        SnapshotName(time.strftime("%Y-%m-%dT%H-%M-%SZ").to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SnapshotName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SnapshotName, D::Error> {
        let name = Cow::<'_, str>::deserialize(deserializer)?;
        SnapshotName::new(&name).ok_or_else(|| {
            D::Error::custom(
                "invalid snapshot name; use 1 to 64 of the characters A-Z, a-z, 0-9, `.`, `_` and `-`, and do not start \
                 with `.`",
            )
        })
    }
}

impl PartialSchema for SnapshotName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(PATTERN))
            .min_length(Some(1))
            .max_length(Some(64))
            .into()
    }
}

impl ToSchema for SnapshotName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_anywhere() {
        for name in ["", ".", "..", ".hidden", "a/b", "a\\b", "../up", "nul\0", "ü", "a b", "a:b", "a\n"] {
            assert!(SnapshotName::new(name).is_none(), "{name:?}");
        }
        assert!(SnapshotName::new(&"x".repeat(65)).is_none());
        for name in ["a", "before-launch", "v1.2_final", "-", &"x".repeat(64)] {
            assert!(SnapshotName::new(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_time_is_a_name() {
        let time: Timestamp = "2026-11-15T20:00:07.5Z".parse().unwrap();
        let name = SnapshotName::of_time(time);
        assert_eq!(name.as_str(), "2026-11-15T20-00-07Z");
        assert_eq!(SnapshotName::new(name.as_str()), Some(name));
    }
}
