//! Standard input whose reading can be interrupted.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::stop::Stop;

/// The name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// How long a read waits before it checks for a signal or, if the pipe is followed, reports that there is nothing now.
const PATIENCE: Duration = Duration::from_millis(50);

const BUFFER_BYTES: usize = 64 << 10;

/// The start of a longer line is passed on before its end has arrived.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Standard input, read by a thread of its own.
///
/// A plain read would wait for the next byte, however long that takes, and Ctrl-C could not end it. This one fails when the
/// session is stopped and nothing arrives, or when the pipe ends because Ctrl-C ended its writer too. It is an error and not
/// the end of the text, so that half a line is not taken for a whole one.
pub struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: io::Cursor<Vec<u8>>,
    ended: bool,
    stop: Stop,
    following: Option<Following>,
}

/// What a followed pipe needs to report that there is nothing now, which it does only after a whole line.
#[derive(Default)]
struct Following {
    /// The start of a line whose end has not arrived.
    held: Vec<u8>,
    /// Whether the start of a long line was passed on.
    is_within_line: bool,
}

impl Pipe {
    /// Starts to read.
    pub fn stdin(stop: Stop) -> Pipe {
        // A channel of one chunk: nothing is read far ahead of training.
        let (sender, chunks) = sync_channel(1);
        // Never joined: it may wait for a byte that never comes, and ends with the process.
        thread::spawn(move || send_chunks(io::stdin(), &sender));
        Pipe { chunks, current: io::Cursor::default(), ended: false, stop, following: None }
    }

    /// Starts to read by whole lines, and fails with `WouldBlock` while there is nothing now.
    pub fn followed(stop: Stop) -> Pipe {
        Pipe { following: Some(Following::default()), ..Pipe::stdin(stop) }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.current.read(buffer)?;
            if n > 0 || self.ended || buffer.is_empty() {
                return Ok(n);
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => {
                    let chunk = chunk?;
                    let chunk = match &mut self.following {
                        Some(following) => following.whole_lines(chunk),
                        None => chunk,
                    };
                    self.current = io::Cursor::new(chunk);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.check_stop()?;
                    if self.following.as_ref().is_some_and(|following| !following.is_within_line) {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // The signal that ended the writer may not have reached us yet.
                    thread::sleep(PATIENCE);
                    self.check_stop()?;
                    self.ended = true;
                    if let Some(following) = &mut self.following {
                        self.current = io::Cursor::new(std::mem::take(&mut following.held));
                    }
                }
            }
        }
    }
}

impl Pipe {
    fn check_stop(&self) -> io::Result<()> {
        if self.stop.is_asked() {
            return Err(io::Error::other("stopped"));
        }
        Ok(())
    }
}

impl Following {
    /// What to pass on when a chunk has arrived. The start of a line is held back.
    fn whole_lines(&mut self, chunk: Vec<u8>) -> Vec<u8> {
        let line_end = chunk.iter().rposition(|&byte| byte == b'\n').map(|newline| newline + 1);
        let mut lines = std::mem::take(&mut self.held);
        lines.extend_from_slice(&chunk);
        match line_end {
            Some(end) => {
                self.held = lines.split_off(lines.len() - (chunk.len() - end));
                self.is_within_line = false;
            }
            None if self.is_within_line || lines.len() > MAX_HELD_BYTES => self.is_within_line = true,
            None => self.held = std::mem::take(&mut lines),
        }
        lines
    }
}

/// Sends chunks until the end, an error, or until nobody receives.
fn send_chunks(mut input: impl Read, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; BUFFER_BYTES];
        let result = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => {
                chunk.truncate(n);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = result.is_err();
        if chunks.send(result).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_line_is_held_back_unless_it_is_long() {
        let mut following = Following::default();
        let mut feed = |chunk: &[u8]| {
            let lines = following.whole_lines(chunk.to_vec());
            (lines, following.is_within_line)
        };
        assert_eq!(feed(b"one\ntw"), (b"one\n".to_vec(), false));
        assert_eq!(feed(b""), (b"".to_vec(), false));
        assert_eq!(feed(b"o"), (b"".to_vec(), false));
        assert_eq!(feed(b"\n"), (b"two\n".to_vec(), false));
        let long = vec![b'x'; MAX_HELD_BYTES + 1];
        assert_eq!(feed(&long), (long, true));
        assert_eq!(feed(b"y"), (b"y".to_vec(), true));
        assert_eq!(feed(b"\nthr"), (b"\n".to_vec(), false));
        assert_eq!(feed(b"ee\n"), (b"three\n".to_vec(), false));
    }
}
