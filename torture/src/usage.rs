//! Memory and processor time of a process.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// What a process has used.
#[derive(Clone, Copy)]
pub struct Usage {
    /// Resident memory in bytes.
    pub resident: u64,
    /// Time on a processor.
    pub cpu: Duration,
}

impl Usage {
    /// What a process that was not waited for has used so far.
    pub fn of(process: u32) -> Result<Usage> {
        let read = |name: &str| {
            let path = format!("/proc/{process}/{name}");
            fs::read_to_string(&path).with_context(|| format!("could not read {path}"))
        };
        let status = read("status")?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident: u64 =
            resident.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        // The name of the program may contain spaces. The 12th and 13th fields after it are ticks of 10 ms.
        let stat = read("stat")?;
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let ticks: u64 =
            fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        let cpu = Duration::from_millis(10 * ticks);
        Ok(Usage { resident: resident * 1024, cpu })
    }
}
