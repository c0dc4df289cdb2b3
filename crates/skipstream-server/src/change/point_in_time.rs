//! A point in time as given in a query: `24h`, a date, or the name of a snapshot.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use serde::de::{Deserialize, Deserializer, Error};
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::name::SnapshotName;
use super::store::{SnapshotInfo, SnapshotStore};

/// A point in the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointInTime {
    Time(Timestamp),
    /// A duration before now.
    Ago(SignedDuration),
    /// The time of the snapshot with this name.
    Snapshot(SnapshotName),
}

impl PointInTime {
    /// The time, and the last snapshot before it or else the oldest one. `None` if there is no snapshot with this name.
    pub fn resolve(
        &self,
        snapshots: &SnapshotStore,
        now: Timestamp,
    ) -> Option<(Timestamp, Option<SnapshotInfo>)> {
        let time = match self {
            PointInTime::Time(time) => *time,
            PointInTime::Ago(duration) => now.checked_sub(*duration).unwrap_or(Timestamp::MIN),
            PointInTime::Snapshot(name) => {
                let info = snapshots.find(name)?;
                return Some((info.time, Some(info)));
            }
        };
        let list = snapshots.list();
        let before = list.iter().rfind(|info| info.time <= time).or(list.first());
        Some((time, before.cloned()))
    }
}

/// `24h` and `7d` are durations (of `s`, `m`, `h`, `d` or `w`), `2026-11-15T20:00:00Z` is a time, anything else a name.
impl FromStr for PointInTime {
    type Err = String;

    fn from_str(text: &str) -> Result<PointInTime, String> {
        if let Some(duration) = duration(text) {
            return Ok(PointInTime::Ago(duration));
        }
        if let Ok(time) = text.parse() {
            return Ok(PointInTime::Time(time));
        }
        SnapshotName::new(text).map(PointInTime::Snapshot).ok_or_else(|| {
            format!(
                "invalid time `{text}`; use a duration (24h, 7d), an RFC 3339 time or the name of a snapshot"
            )
        })
    }
}

impl<'de> Deserialize<'de> for PointInTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PointInTime, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl PartialSchema for PointInTime {
    fn schema() -> RefOr<Schema> {
        let time = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
        // A duration matches the pattern of a name.
        AnyOfBuilder::new().item(SnapshotName::schema()).item(time).into()
    }
}

impl ToSchema for PointInTime {}

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
    // `parse` would accept `+5`.
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
        assert_eq!("24h".parse(), Ok(PointInTime::Ago(SignedDuration::from_hours(24))));
        assert_eq!("7d".parse(), Ok(PointInTime::Ago(SignedDuration::from_hours(7 * 24))));
        let time = "2026-11-15T20:00:00Z";
        assert_eq!(time.parse(), Ok(PointInTime::Time(time.parse().unwrap())));
        for name in ["before-launch", "2026-11-15T20-00-00Z", "7", "d", "99999999999999999999d", "1y"] {
            assert_eq!(name.parse(), Ok(PointInTime::Snapshot(SnapshotName::new(name).unwrap())));
        }
        for nothing in ["", "+5d", "5 d", "../x", "yesterday?"] {
            let message = nothing.parse::<PointInTime>().unwrap_err();
            assert!(message.contains("use a duration (24h, 7d)"), "{message}");
        }
    }

    #[test]
    fn a_time_resolves_to_the_last_snapshot_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let snapshots = SnapshotStore::open(folder.path());
        let time = |hour: i64| Timestamp::from_second(1_000_000 + hour * 3_600).unwrap();
        for hour in [10, 20] {
            let name = SnapshotName::new(&format!("h{hour}")).unwrap();
            snapshots.save(&published_at(time(hour), hour as u64, &[]), Some(name), 9).unwrap();
        }
        let resolved = |since: &str| {
            let (time, info) = since.parse::<PointInTime>().unwrap().resolve(&snapshots, time(24))?;
            Some((time, info.unwrap().name.to_string()))
        };
        assert_eq!(resolved("1h"), Some((time(23), "h20".to_owned())));
        assert_eq!(resolved("4h"), Some((time(20), "h20".to_owned())));
        assert_eq!(resolved("5h"), Some((time(19), "h10".to_owned())));
        assert_eq!(resolved("100h"), Some((time(-76), "h10".to_owned())));
        assert_eq!(resolved("h20"), Some((time(20), "h20".to_owned())));
        assert_eq!(resolved("h30"), None);
        assert!(resolved("9999999999w").is_some());

        let nothing = SnapshotStore::open(&folder.path().join("elsewhere"));
        let since: PointInTime = "1h".parse().unwrap();
        assert_eq!(since.resolve(&nothing, time(24)), Some((time(23), None)));
    }
}
