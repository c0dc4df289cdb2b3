//! One timed run of a program.
//!
//! The kernel shares the processor among sessions first (autogroups), so a busy terminal slows down its programs. A run
//! gets a session of its own and, if permitted, the highest priority. It is killed when we die, because Ctrl-C does not
//! reach another session.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use xtask::command::{exists, line};

/// The shell replaces itself with the program, so that the program is our child.
const IN_OWN_SESSION: [&str; 8] = [
    "setsid",
    "setpriv",
    "--pdeathsig",
    "KILL",
    "sh",
    "-c",
    "(echo -19 > /proc/self/autogroup) 2> /dev/null; exec \"$@\"",
    "sh",
];

/// Interval between two looks at the memory of the program.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Time and memory of a run.
pub struct Measured {
    /// Wall-clock time from start to end.
    pub seconds: f64,
    /// Peak memory, if the system reports it.
    pub peak_kilobytes: Option<u64>,
}

/// Runs a program to its end, with its output in `log`.
pub fn run(command: &Command, log: &Path) -> Result<Measured> {
    let mut session = in_own_session(command);
    let output = File::create(log).with_context(|| format!("could not write {}", log.display()))?;
    session
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // Each program has its own threads; a linear algebra library must not add more.
        .env("OPENBLAS_NUM_THREADS", "1");

    let start = Instant::now();
    let mut child =
        session.spawn().with_context(|| format!("could not start {:?}", command.get_program()))?;
    let id = child.id();
    let done = AtomicBool::new(false);
    let (status, seconds, peak_kilobytes) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch_memory(id, &done));
        let status = child.wait();
        let seconds = start.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        (status, seconds, watcher.join().ok().flatten())
    });
    let status = status?;
    if !status.success() {
        bail!("`{}`: {status}; see {}", line(command), log.display());
    }
    Ok(Measured { seconds, peak_kilobytes })
}

/// The same command in a session of its own, with the highest permitted priority.
pub fn in_own_session(command: &Command) -> Command {
    let mut session = if exists("setsid") && exists("setpriv") {
        let mut session = Command::new(IN_OWN_SESSION[0]);
        session.args(&IN_OWN_SESSION[1..]).arg(command.get_program());
        session
    } else {
        Command::new(command.get_program())
    };
    session.args(command.get_args());
    session
}

/// The last seen high-water mark of a process. The kernel keeps the mark until the process ends, so only a late
/// increase can be missed.
fn watch_memory(id: u32, done: &AtomicBool) -> Option<u64> {
    let mut peak = None;
    while !done.load(Ordering::Relaxed) {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        peak = high_water_mark(&status).or(peak);
        thread::sleep(LOOK_EVERY);
    }
    peak
}

/// Peak memory of a process in kilobytes, from its status file.
pub fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_timed_and_its_output_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo hello; sleep 0.1"]);
        let measured = run(&command, &log).unwrap();
        assert!(measured.seconds >= 0.1);
        assert_eq!(fs::read_to_string(&log).unwrap(), "hello\n");
    }

    #[test]
    fn a_failed_run_names_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let Err(error) = run(&Command::new("false"), &log) else {
            panic!("`false` must fail");
        };
        assert!(error.to_string().contains(&log.display().to_string()));
    }

    #[test]
    fn the_mark_is_read_from_the_status_file() {
        let status = "Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t    1234 kB\n";
        assert_eq!(high_water_mark(status), Some(1234));
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }
}
