//! A command whose output is learned.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::lines::LineBuffer;
use super::{append, pause};
use crate::service::Service;

/// The first and the longest pause before a command that ended is started again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The size of a read from a command's output.
const BLOCK_BYTES: usize = 1 << 16;

/// Longer lines of a command's standard error are logged in pieces.
const MESSAGE_BYTES: usize = 4 << 10;

/// Runs a command, and again when it has ended, until the service stops.
pub async fn run(service: &Service, command: &str) {
    let name = name(command);
    let mut wait = FIRST_PAUSE;
    while !service.is_stopping() {
        let start = Instant::now();
        match run_once(service, command).await {
            Ok(status) => {
                tracing::info!(command = name, %status, "a command has ended and will be started again")
            }
            Err(error) => tracing::warn!(command = name, %error, "cannot run a command"),
        }
        if start.elapsed() >= LONGEST_PAUSE {
            wait = FIRST_PAUSE;
        }
        pause(service, wait).await;
        wait = (2 * wait).min(LONGEST_PAUSE);
    }
}

/// The name of a command in messages: its first word, if that is a plain name. The other words, or a variable before
/// them, may hold a password.
fn name(command: &str) -> &str {
    let is_plain =
        |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    command.split_whitespace().next().filter(is_plain).unwrap_or("sh")
}

async fn run_once(service: &Service, command: &str) -> io::Result<ExitStatus> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // In a process group of its own, everything that it starts can be ended with it.
    #[cfg(unix)]
    shell.process_group(0);
    let mut child = shell.spawn()?;
    let group = child.id();
    let mut output = child.stdout.take().expect("it was asked for");
    let errors = child.stderr.take().expect("it was asked for");
    let name = name(command).to_owned();
    // On its own: a process that has left the group may keep the pipe open.
    tokio::spawn(for_each_line(errors, move |line| {
        tracing::info!(command = name, line, "standard error of a command");
    }));
    let running = async {
        log_lines(service, &mut output).await;
        child.wait().await
    };
    tokio::select! {
        biased;
        () = service.lifecycle.stopping() => end(child, group, output).await,
        status = running => status,
    }
}

/// Calls `tell` for every line. Long lines come in pieces, and invalid UTF-8 is replaced.
async fn for_each_line(errors: impl AsyncRead + Unpin, mut tell: impl FnMut(&str)) {
    let mut errors = BufReader::with_capacity(MESSAGE_BYTES, errors);
    let mut line = Vec::with_capacity(MESSAGE_BYTES);
    loop {
        line.clear();
        let read = (&mut errors).take(MESSAGE_BYTES as u64).read_until(b'\n', &mut line).await;
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        tell(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
    }
}

/// Logs a command's output as it is printed, until it ends.
async fn log_lines(service: &Service, output: &mut ChildStdout) {
    let mut buffer = LineBuffer::new(service.settings.max_line_size as usize);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let length = output.read(&mut block).await.unwrap_or(0);
        buffer.push(&block[..length]);
        let lines = if length > 0 { buffer.take() } else { buffer.finish() };
        if let Some((chunk, _)) = lines
            && append(service, &chunk, None).await.is_err()
        {
            return;
        }
        if length == 0 {
            return;
        }
    }
}

/// Ends a command and everything it started that has not left the group. Its output from now on is dropped.
async fn end(mut child: Child, group: Option<u32>, mut output: ChildStdout) -> io::Result<ExitStatus> {
    end_group(group, false);
    // If the command has ended and its output has not, a process that it started keeps the pipe open.
    let ended = async {
        tokio::io::copy(&mut output, &mut tokio::io::sink()).await?;
        child.wait().await
    };
    if let Ok(status) = timeout(GRACE, ended).await {
        return status;
    }
    end_group(group, true);
    // The shell cannot ignore SIGKILL. A process that keeps the output open and left the group is abandoned.
    let _ = child.kill().await;
    child.wait().await
}

/// Sends a signal to a process group.
#[cfg(unix)]
fn end_group(group: Option<u32>, by_force: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = if by_force { Signal::KILL } else { Signal::TERM };
    if let Some(group) = group.and_then(|group| Pid::from_raw(group as i32)) {
        // It may have ended meanwhile.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(not(unix))]
fn end_group(_: Option<u32>, _: bool) {
    // There are no process groups: the command ends when it finds its output closed.
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_names_a_command_without_what_may_be_secret() {
        assert_eq!(name("tail -F a.log"), "tail");
        assert_eq!(name(r#"PASSWORD="my secret" curl x"#), "sh");
        assert_eq!(name("https://me:secret@host/"), "sh");
    }

    #[tokio::test]
    async fn messages_may_be_anything() {
        let long = "x".repeat(MESSAGE_BYTES + 5);
        let errors = [b"one\r\n\nb\xFFd\n", long.as_bytes(), b"\nlast"].concat();
        let mut told = Vec::new();
        for_each_line(&errors[..], |line| told.push(line.to_owned())).await;
        assert_eq!(told, ["one", "", "b\u{FFFD}d", &long[5..], "xxxxx", "last"]);
    }
}
