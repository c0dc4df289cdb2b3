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
    /// Time on the processor, of all threads, if the system reports it.
    pub cpu_seconds: Option<f64>,
    /// Peak memory, if the system reports it.
    pub peak_kilobytes: Option<u64>,
}

/// Runs a program to its end in a session of its own, with its output in `log`.
pub fn run(command: &Command, log: &Path) -> Result<Measured> {
    run_here(in_own_session(command), log)
}

/// Runs a program to its end beside whatever else runs: its wall-clock time means little, its time on the processor more.
pub fn run_here(mut session: Command, log: &Path) -> Result<Measured> {
    let output = File::create(log).with_context(|| format!("could not write {}", log.display()))?;
    session
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // Each program has its own threads; a linear algebra library must not add more.
        .env("OPENBLAS_NUM_THREADS", "1");

    let start = Instant::now();
    let mut child =
        session.spawn().with_context(|| format!("could not start {:?}", session.get_program()))?;
    let id = child.id();
    let done = AtomicBool::new(false);
    let (status, seconds, seen) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(id, &done));
        let status = child.wait();
        let seconds = start.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        (status, seconds, watcher.join().unwrap_or_default())
    });
    let status = status?;
    if !status.success() {
        bail!("`{}`: {status}; see {}", line(&session), log.display());
    }
    Ok(Measured { seconds, cpu_seconds: seen.cpu_seconds, peak_kilobytes: seen.peak_kilobytes })
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

/// What the system says about a process.
#[derive(Default)]
struct Seen {
    peak_kilobytes: Option<u64>,
    cpu_seconds: Option<f64>,
}

/// The last state of a process. The kernel keeps the high-water mark and the time until the process ends, so only what
/// happens after the last look is missed.
fn watch(id: u32, done: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    let read = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    while !done.load(Ordering::Relaxed) {
        seen.peak_kilobytes = high_water_mark(&read("status")).or(seen.peak_kilobytes);
        seen.cpu_seconds = processor_time(&read("stat")).or(seen.cpu_seconds);
        thread::sleep(LOOK_EVERY);
    }
    seen
}

/// User and system time of a process in seconds, from its file of statistics. Linux counts in hundredths.
fn processor_time(statistics: &str) -> Option<f64> {
    // The name of the program is in parentheses and may have spaces.
    let (_, fields) = statistics.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / 100.0)
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
    fn the_time_on_the_processor_is_read_from_the_statistics() {
        let statistics = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0\n";
        assert_eq!(processor_time(statistics), Some(3.0));
        assert_eq!(processor_time(""), None);
    }

    #[test]
    fn the_mark_is_read_from_the_status_file() {
        let status = "Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t    1234 kB\n";
        assert_eq!(high_water_mark(status), Some(1234));
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }
}
