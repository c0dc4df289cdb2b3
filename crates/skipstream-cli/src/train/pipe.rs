//! Standard input that can be left while it has nothing to say.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::stop::Stop;

/// What stands for standard input in messages.
pub const STDIN: &str = "<stdin>";

/// How long a pipe may be silent before we look whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);

const BUFFER_BYTES: usize = 64 << 10;

/// Standard input, read by a thread of its own.
///
/// A plain read would wait for the next byte, however long that takes, and no Ctrl-C could end it. This one fails once
/// it is told to stop and nothing comes, or the pipe ends because Ctrl-C ended its writer too. As an error, and not as
/// the end of the text, it makes sure that half a line is not taken for a whole one.
pub struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: io::Cursor<Vec<u8>>,
    ended: bool,
    stop: Stop,
}

impl Pipe {
    /// Begins to read.
    pub fn stdin(stop: Stop) -> Pipe {
        // One chunk waits: nothing is read far ahead of the training.
        let (sender, chunks) = sync_channel(1);
        // Never joined: it may wait for a byte that never comes, and ends with the process.
        thread::spawn(move || send_chunks(io::stdin(), &sender));
        Pipe { chunks, current: io::Cursor::default(), ended: false, stop }
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
                Ok(chunk) => self.current = io::Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => self.check_stop()?,
                Err(RecvTimeoutError::Disconnected) => {
                    // The signal that ended the writer may be on its way to us.
                    thread::sleep(PATIENCE);
                    self.check_stop()?;
                    self.ended = true;
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

/// Sends what there is, until the end, an error, or until nobody listens any more.
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
