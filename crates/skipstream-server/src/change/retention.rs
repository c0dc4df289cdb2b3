//! Decides which snapshots to delete.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::name::SnapshotName;
use super::store::SnapshotInfo;

/// The snapshots to delete: all but the pinned ones, the newest `keep_recent`, and the last of each day (UTC) of the past
/// `keep_days`. Snapshots from the future, left by a wrong clock, stay until their time and do not count.
pub(super) fn expired(
    snapshots: &[SnapshotInfo],
    now: Timestamp,
    keep_recent: usize,
    keep_days: usize,
) -> Vec<SnapshotName> {
    let mut by_time: Vec<&SnapshotInfo> =
        snapshots.iter().filter(|info| !info.pinned && info.time <= now).collect();
    by_time.sort_by_key(|info| std::cmp::Reverse((info.time, info.seq)));
    let most_hours = i64::try_from(keep_days).unwrap_or(i64::MAX).saturating_mul(24);
    let mut days_seen = BTreeSet::new();
    let mut names = Vec::new();
    for (index, info) in by_time.into_iter().enumerate() {
        // The newest of a day comes first.
        let is_last_of_day = days_seen.insert(info.time.to_zoned(TimeZone::UTC).date());
        let is_young = now.duration_since(info.time).as_hours() <= most_hours;
        if index >= keep_recent.max(1) && !(is_last_of_day && is_young) {
            names.push(info.name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    fn hourly(n: i64) -> Vec<SnapshotInfo> {
        let start: Timestamp = "2026-11-01T00:30:00Z".parse().unwrap();
        let info = |hour: i64| SnapshotInfo {
            name: SnapshotName::new(&format!("h{hour}")).unwrap(),
            time: start + SignedDuration::from_hours(hour),
            seq: hour as u64,
            vocabulary: 0,
            words: 0,
            pinned: false,
        };
        (0..n).map(info).collect()
    }

    fn staying(snapshots: &[SnapshotInfo], recent: usize, days: usize) -> Vec<String> {
        let now = snapshots.last().unwrap().time;
        staying_at(now, snapshots, recent, days)
    }

    fn staying_at(now: Timestamp, snapshots: &[SnapshotInfo], recent: usize, days: usize) -> Vec<String> {
        let gone = expired(snapshots, now, recent, days);
        let is_gone = |info: &&SnapshotInfo| gone.contains(&info.name);
        snapshots.iter().filter(|info| !is_gone(info)).map(|info| info.name.to_string()).collect()
    }

    #[test]
    fn the_newest_stay_and_then_one_per_day() {
        // Four whole days and 10 hours: the last of the days are 23, 47, 71 and 95.
        let snapshots = hourly(106);
        assert_eq!(staying(&snapshots, 3, 90), ["h23", "h47", "h71", "h95", "h103", "h104", "h105"]);
        assert_eq!(staying(&snapshots, 3, 2), ["h71", "h95", "h103", "h104", "h105"]);
        assert_eq!(staying(&snapshots, 3, 0), ["h103", "h104", "h105"]);
    }

    #[test]
    fn thinning_again_and_again_keeps_the_last_of_each_day() {
        let mut snapshots: Vec<SnapshotInfo> = Vec::new();
        for info in hourly(24 * 5) {
            snapshots.push(info);
            let stay = staying(&snapshots, 4, 90);
            snapshots.retain(|info| stay.contains(&info.name.to_string()));
            assert!(snapshots.len() <= 4 + 5);
        }
        let names: Vec<&str> = snapshots.iter().map(|info| info.name.as_str()).collect();
        assert_eq!(names, ["h23", "h47", "h71", "h95", "h116", "h117", "h118", "h119"]);
    }

    #[test]
    fn pinned_ones_stay_and_do_not_count() {
        let mut snapshots = hourly(30);
        snapshots[2].pinned = true;
        assert_eq!(staying(&snapshots, 1, 0), ["h2", "h29"]);
        assert!(expired(&[], Timestamp::UNIX_EPOCH, 1, 1).is_empty());
    }

    #[test]
    fn snapshots_from_the_future_stay_and_do_not_count() {
        let mut snapshots = hourly(60);
        snapshots[58].time += SignedDuration::from_hours(24 * 365);
        snapshots[59].time += SignedDuration::from_hours(24 * 365);
        assert_eq!(staying_at(snapshots[57].time, &snapshots, 2, 1), ["h47", "h56", "h57", "h58", "h59"]);
    }
}
