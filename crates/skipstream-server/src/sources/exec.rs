//! A command whose output is learned.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use super::lines::LineBuffer;
use super::{PAUSE, append, pause};
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
pub fn run(service: &Service, command: &str) {
    let name = name(command);
    let mut wait = FIRST_PAUSE;
    while !service.is_stopping() {
        let start = Instant::now();
        match run_once(service, command) {
            Ok(status) => {
                tracing::info!(command = name, %status, "a command has ended and will be started again")
            }
            Err(error) => tracing::warn!(command = name, %error, "cannot run a command"),
        }
        if start.elapsed() >= LONGEST_PAUSE {
            wait = FIRST_PAUSE;
        }
        pause(service, wait);
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

fn run_once(service: &Service, command: &str) -> io::Result<ExitStatus> {
    let mut child = spawn(command)?;
    let output = match listen(command, &mut child) {
        Ok(output) => output,
        Err(error) => {
            let _ = end(child, None);
            return Err(error);
        }
    };
    log_lines(service, &output);
    while !service.is_stopping() {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(PAUSE);
    }
    end(child, Some(&output))
}

/// Starts a shell in a process group of its own, so that everything it starts can be ended with it.
fn spawn(command: &str) -> io::Result<Child> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell.spawn()
}

/// Reads a command's output and logs its standard error, each in a thread of its own. These threads do not hold the
/// service: a process that has left the group may keep the pipes open, and then the threads are abandoned.
fn listen(command: &str, child: &mut Child) -> io::Result<Receiver<Vec<u8>>> {
    let output = child.stdout.take().expect("it was asked for");
    let errors = child.stderr.take().expect("it was asked for");
    let (sender, receiver) = mpsc::sync_channel(1);
    let builder = || thread::Builder::new().name("source-pipe".to_owned());
    builder().spawn(move || send_blocks(output, &sender))?;
    let name = name(command).to_owned();
    builder().spawn(move || {
        for_each_line(errors, |line| tracing::info!(command = name, line, "standard error of a command"));
    })?;
    Ok(receiver)
}

/// Sends what is read, until the end or until nobody receives.
fn send_blocks(mut output: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let length = match output.read(&mut block) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        if length == 0 || sender.send(block[..length].to_vec()).is_err() {
            return;
        }
    }
}

/// Calls `tell` for every line. Long lines come in pieces, and invalid UTF-8 is replaced.
fn for_each_line(errors: impl Read, mut tell: impl FnMut(&str)) {
    let mut errors = BufReader::with_capacity(MESSAGE_BYTES, errors);
    let mut line = Vec::with_capacity(MESSAGE_BYTES);
    loop {
        line.clear();
        let read = errors.by_ref().take(MESSAGE_BYTES as u64).read_until(b'\n', &mut line);
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        tell(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
    }
}

/// Logs a command's output as it is printed, until it ends or the service stops.
fn log_lines(service: &Service, output: &Receiver<Vec<u8>>) {
    let mut buffer = LineBuffer::new(service.settings.max_line_bytes);
    while !service.is_stopping() {
        let (lines, is_end) = match output.recv_timeout(PAUSE) {
            Ok(block) => {
                buffer.push(&block);
                (buffer.take(), false)
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => (buffer.finish(), true),
        };
        if let Some((chunk, _)) = lines
            && append(service, &chunk, None).is_err()
        {
            return;
        }
        if is_end {
            return;
        }
    }
}

/// Ends a command and everything it started that has not left the group. Its output from now on is dropped.
fn end(mut child: Child, output: Option<&Receiver<Vec<u8>>>) -> io::Result<ExitStatus> {
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        let has_printed_all = output.is_none_or(has_ended);
        // If the command has ended and its output has not, a process that it started keeps the pipe open.
        let is_patient = start.elapsed() < GRACE;
        if let Some(status) = status
            && has_printed_all
        {
            return Ok(status);
        }
        end_group(&child, !is_patient);
        if !is_patient {
            // The shell cannot ignore SIGKILL. A process that keeps the output open and left the group is abandoned.
            let _ = child.kill();
            return child.wait();
        }
        thread::sleep(PAUSE);
    }
}

/// Drops what there is, and says whether the output has ended.
fn has_ended(output: &Receiver<Vec<u8>>) -> bool {
    loop {
        match output.try_recv() {
            Ok(_) => {}
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => return true,
        }
    }
}

/// Sends a signal to a command and everything it started.
#[cfg(unix)]
fn end_group(child: &Child, by_force: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = if by_force { Signal::KILL } else { Signal::TERM };
    // It may have ended meanwhile.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

#[cfg(not(unix))]
fn end_group(_: &Child, _: bool) {
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

    #[test]
    fn messages_may_be_anything() {
        let long = "x".repeat(MESSAGE_BYTES + 5);
        let errors = [b"one\r\n\nb\xFFd\n", long.as_bytes(), b"\nlast"].concat();
        let mut told = Vec::new();
        for_each_line(&errors[..], |line| told.push(line.to_owned()));
        assert_eq!(told, ["one", "", "b\u{FFFD}d", &long[5..], "xxxxx", "last"]);
    }
}
