//! Pipes whose reading can be interrupted.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a read waits before it checks for an interruption or, if the pipe is followed, reports that there is nothing now.
const PATIENCE: Duration = Duration::from_millis(50);

const BUFFER_BYTES: usize = 64 << 10;

/// The start of a longer line is passed on before its end has arrived.
const MAX_HELD_BYTES: usize = 1 << 20;

/// A pipe, opened and read by a thread of its own.
///
/// A plain read would wait for the next byte, and a named pipe for a writer, however long that takes, and Ctrl-C could not
/// end it. This one asks a function now and then while nothing arrives, and when the pipe ends, because Ctrl-C may have
/// ended its writer too. It fails with the error of that function. It is an error and not the end of the text, so that half
/// a line is not taken for a whole one.
pub struct InterruptiblePipe {
    /// What the thread does, until the first read starts it.
    start: Option<Box<dyn FnOnce() + Send>>,
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: io::Cursor<Vec<u8>>,
    ended: bool,
    check: Box<dyn FnMut() -> io::Result<()> + Send>,
    is_followed: bool,
}

impl InterruptiblePipe {
    /// Reads what `open` returns. `check` fails if the reading is to end.
    pub fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        check: impl FnMut() -> io::Result<()> + Send + 'static,
    ) -> InterruptiblePipe {
        // A channel of one chunk: nothing is read far ahead of training.
        let (sender, chunks) = sync_channel(1);
        let start = move || match open() {
            Ok(input) => send_lines(input, &sender),
            Err(error) => drop(sender.send(Err(error))),
        };
        let (start, current, check) = (Some(Box::new(start) as _), io::Cursor::default(), Box::new(check));
        InterruptiblePipe { start, chunks, current, ended: false, check, is_followed: false }
    }

    /// The same pipe, but a read fails with `WouldBlock` while there is nothing after a whole line.
    pub fn followed(self) -> InterruptiblePipe {
        InterruptiblePipe { is_followed: true, ..self }
    }
}

impl Read for InterruptiblePipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(start) = self.start.take() {
            // Never joined: it may wait for a byte that never comes, and ends with the process.
            thread::spawn(start);
        }
        loop {
            let n = self.current.read(buffer)?;
            if n > 0 || self.ended || buffer.is_empty() {
                return Ok(n);
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => self.current = io::Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => {
                    (self.check)()?;
                    if self.is_followed && self.current.get_ref().last().is_none_or(|&byte| byte == b'\n') {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // The signal that ended the writer may not have reached us yet.
                    thread::sleep(PATIENCE);
                    (self.check)()?;
                    self.ended = true;
                }
            }
        }
    }
}

/// Sends whole lines, and long ones in parts, until the end, an error, or until nobody receives.
fn send_lines(mut input: impl Read, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; BUFFER_BYTES];
    // The start of a line whose end has not arrived, and whether part of that line was sent.
    let (mut held, mut is_within_line) = (Vec::new(), false);
    loop {
        let n = match input.read(&mut buffer) {
            Ok(0) if held.is_empty() => return,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = chunks.send(Err(error));
                return;
            }
        };
        let chunk = &buffer[..n];
        let line_end = chunk.iter().rposition(|&byte| byte == b'\n').map(|newline| newline + 1);
        held.extend_from_slice(chunk);
        let rest = match line_end {
            Some(end) => held.split_off(held.len() - (n - end)),
            None if n == 0 || is_within_line || held.len() > MAX_HELD_BYTES => Vec::new(),
            None => continue,
        };
        is_within_line = line_end.is_none();
        if chunks.send(Ok(std::mem::replace(&mut held, rest))).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_pipe_ends_with_the_error_of_the_check() {
        let (silent, _writer) = io::pipe().unwrap();
        let mut checks = 0;
        let mut pipe = InterruptiblePipe::new(
            || Ok(io::Cursor::new(b"one\n").chain(silent)),
            move || {
                checks += 1;
                if checks < 3 { Ok(()) } else { Err(io::Error::other("enough")) }
            },
        );
        let mut read = Vec::new();
        assert_eq!(pipe.read_to_end(&mut read).unwrap_err().to_string(), "enough");
        assert_eq!(read, b"one\n");
    }

    #[test]
    fn a_pipe_that_cannot_be_opened_is_an_error() {
        let open = || Err::<io::Empty, _>(io::ErrorKind::PermissionDenied.into());
        let mut pipe = InterruptiblePipe::new(open, || Ok(()));
        assert_eq!(pipe.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn the_beginning_of_a_line_is_held_back_unless_it_is_long() {
        let long = vec![b'x'; MAX_HELD_BYTES + 1];
        let mut input: Box<dyn Read> = Box::new(io::empty());
        for part in [b"one\ntw", &b"o"[..], b"\n", &long, b"y", b"\nthr", b"ee\nfo", b"ur"] {
            input = Box::new(input.chain(io::Cursor::new(part.to_vec())));
        }
        let (sender, chunks) = sync_channel(100);
        send_lines(input, &sender);
        drop(sender);
        let sent: Vec<Vec<u8>> = chunks.iter().map(Result::unwrap).collect();
        assert_eq!(sent, [b"one\n", &b"two\n"[..], &long, b"y", b"\n", b"three\n", b"four"]);
    }
}
