//! A command whose output is learned.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::lines::LineBuffer;
use super::{PAUSE, append, pause};
use crate::log::Chunk;
use crate::service::Service;

/// The first pause before a command that ended is started again, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A command that is asked to end may take so long.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a command, and again when it has ended, until the service stops.
pub fn run(service: &Service, command: &str) {
    let mut wait = FIRST_PAUSE;
    while !service.is_stopping() {
        let start = Instant::now();
        match run_once(service, command) {
            Ok(status) => tracing::info!(command, %status, "a command has ended, and will be started again"),
            Err(error) => tracing::warn!(command, %error, "a command cannot be run"),
        }
        if start.elapsed() >= LONGEST_PAUSE {
            wait = FIRST_PAUSE;
        }
        pause(service, wait);
        wait = (2 * wait).min(LONGEST_PAUSE);
    }
}

fn run_once(service: &Service, command: &str) -> std::io::Result<std::process::ExitStatus> {
    let mut child = spawn(command)?;
    let output = child.stdout.take().expect("it was asked for");
    let errors = child.stderr.take().expect("it was asked for");
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                tracing::info!(command, line, "a command says");
            }
        });
        let watcher = scope.spawn(|| end_with_service(service, child, &has_ended));
        log_lines(service, output);
        has_ended.store(true, Ordering::Release);
        watcher.join().expect("it does not panic")
    })
}

/// A shell, with all that it starts in a group of its own, so that all of it can be ended.
fn spawn(command: &str) -> std::io::Result<Child> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell.spawn()
}

/// Logs what a command prints, as it prints it.
fn log_lines(service: &Service, mut output: impl Read) {
    let mut buffer = LineBuffer::new(service.settings.max_line_bytes);
    let mut block = vec![0; Chunk::BYTES];
    loop {
        let length = match output.read(&mut block) {
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        buffer.push(&block[..length]);
        let lines = if length > 0 { buffer.take() } else { buffer.finish() };
        if let Some((chunk, _)) = lines
            && append(service, &chunk, None).is_err()
        {
            return;
        }
        if length == 0 {
            return;
        }
    }
}

/// Waits for the end of a command whose output has ended, and ends it if the service stops.
fn end_with_service(
    service: &Service,
    mut child: Child,
    has_ended: &AtomicBool,
) -> std::io::Result<std::process::ExitStatus> {
    let mut asked_at: Option<Instant> = None;
    loop {
        let output_has_ended = has_ended.load(Ordering::Acquire);
        let status = child.try_wait()?;
        if let Some(status) = status
            && output_has_ended
        {
            return Ok(status);
        }
        // Where the command has ended and its output has not, something that it started holds that open.
        if service.is_stopping() {
            let is_patient = asked_at.get_or_insert_with(Instant::now).elapsed() < GRACE;
            end_group(&child, !is_patient);
        }
        thread::sleep(PAUSE);
    }
}

/// Asks a command and all that it started to end, or ends it.
#[cfg(unix)]
fn end_group(child: &Child, by_force: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = if by_force { Signal::KILL } else { Signal::TERM };
    // It may have ended meanwhile.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

#[cfg(not(unix))]
fn end_group(_: &Child, _: bool) {
    // There are no groups: the command ends when it finds that nobody reads its output.
}
