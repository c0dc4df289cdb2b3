//! A moment in the past, as people name it.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use serde::de::{Deserialize, Deserializer, Error};
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::kept::Kept;
use super::name::SnapshotName;
use crate::events::KeptInfo;

/// A moment in the past: a time, so long ago, or when a snapshot was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// A time.
    Time(Timestamp),
    /// So long ago.
    Ago(SignedDuration),
    /// When the snapshot of this name was kept.
    Snapshot(SnapshotName),
}

impl Since {
    /// The time that is meant, and the snapshot that shows how things were then: the last one that was kept before, or
    /// else the oldest. Nothing if a snapshot is named that is not there.
    pub fn resolve(&self, kept: &Kept, now: Timestamp) -> Option<(Timestamp, Option<KeptInfo>)> {
        let time = match self {
            Since::Time(time) => *time,
            Since::Ago(duration) => now.checked_sub(*duration).unwrap_or(Timestamp::MIN),
            Since::Snapshot(name) => {
                let info = kept.find(name)?;
                return Some((info.time, Some(info)));
            }
        };
        let list = kept.list();
        let before = list.iter().rfind(|info| info.time <= time).or(list.first());
        Some((time, before.cloned()))
    }
}

/// `24h` and `7d` are durations (of `s`, `m`, `h`, `d` or `w`), `2026-11-15T20:00:00Z` is a time, everything else a name.
impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Since, String> {
        if let Some(duration) = duration(text) {
            return Ok(Since::Ago(duration));
        }
        if let Ok(time) = text.parse() {
            return Ok(Since::Time(time));
        }
        SnapshotName::new(text).map(Since::Snapshot).ok_or_else(|| {
            format!("`{text}` is no moment; it must be a duration (24h, 7d), a time (RFC 3339) or the name of a snapshot")
        })
    }
}

impl<'de> Deserialize<'de> for Since {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Since, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl PartialSchema for Since {
    fn schema() -> RefOr<Schema> {
        let time = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
        // A duration looks like a name.
        AnyOfBuilder::new().item(SnapshotName::schema()).item(time).into()
    }
}

impl ToSchema for Since {}

fn duration(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    // `+5` is a number, too, but no duration.
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(SignedDuration::from_secs(number.parse::<i64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::published_at;

    #[test]
    fn durations_times_and_names_are_told_apart() {
        assert_eq!("24h".parse(), Ok(Since::Ago(SignedDuration::from_hours(24))));
        assert_eq!("7d".parse(), Ok(Since::Ago(SignedDuration::from_hours(7 * 24))));
        let time = "2026-11-15T20:00:00Z";
        assert_eq!(time.parse(), Ok(Since::Time(time.parse().unwrap())));
        for name in ["before-launch", "2026-11-15T20-00-00Z", "7", "d", "99999999999999999999d", "1y"] {
            assert_eq!(name.parse(), Ok(Since::Snapshot(SnapshotName::new(name).unwrap())));
        }
        for nothing in ["", "+5d", "5 d", "../x", "yesterday?"] {
            let message = nothing.parse::<Since>().unwrap_err();
            assert!(message.contains("it must be a duration (24h, 7d)"), "{message}");
        }
    }

    #[test]
    fn the_last_snapshot_before_a_time_shows_how_things_were() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::open(folder.path());
        let time = |hour: i64| Timestamp::from_second(1_000_000 + hour * 3_600).unwrap();
        for hour in [10, 20] {
            let name = SnapshotName::new(&format!("h{hour}")).unwrap();
            kept.keep(&published_at(time(hour), hour as u64, &[]), Some(name), 9).unwrap();
        }
        let resolved = |since: &str| {
            let (time, info) = since.parse::<Since>().unwrap().resolve(&kept, time(24))?;
            Some((time, info.unwrap().name))
        };
        assert_eq!(resolved("1h"), Some((time(23), "h20".to_owned())));
        assert_eq!(resolved("4h"), Some((time(20), "h20".to_owned())));
        assert_eq!(resolved("5h"), Some((time(19), "h10".to_owned())));
        assert_eq!(resolved("100h"), Some((time(-76), "h10".to_owned())));
        assert_eq!(resolved("h20"), Some((time(20), "h20".to_owned())));
        assert_eq!(resolved("h30"), None);
        assert!(resolved("9999999999w").is_some());

        let nothing = Kept::open(&folder.path().join("elsewhere"));
        let since: Since = "1h".parse().unwrap();
        assert_eq!(since.resolve(&nothing, time(24)), Some((time(23), None)));
    }
}
