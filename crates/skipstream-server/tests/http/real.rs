//! A service on a real port, and a client that reads as slowly as a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use skipstream::Config;
use skipstream_server::{ServeSettings, Server};
use tempfile::TempDir;

/// A running service that has learned some words.
pub struct Real {
    pub address: SocketAddr,
    stop: Box<dyn Fn() + Send>,
    running: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Real {
    /// Learns the words `w0`, `w1`, …, in 100 dimensions.
    pub fn with_words(n_words: usize, change: impl FnOnce(&mut ServeSettings)) -> Real {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ServeSettings {
            data: folder.path().to_owned(),
            listen: "127.0.0.1:0".parse().unwrap(),
            ..ServeSettings::default()
        };
        change(&mut settings);
        let config = || Ok(Config { max_vocabulary: 2 * n_words, ..Config::default() });
        let server = Server::open(settings, Some(1), &config, &|_| Ok(())).unwrap();
        let (address, stop) = (server.address().unwrap(), Box::new(server.stopper()));
        let running = std::thread::spawn(move || server.run().unwrap());
        let real = Real { address, stop, running: Some(running), _folder: folder };
        let words: Vec<String> = (0..n_words).map(|word| format!("w{word}")).collect();
        let text: String = words.chunks(20).map(|line| line.join(" ") + "\n").collect();
        let learned = real.send("POST", "/v1/text?wait=learned", "text/plain", &text).rest();
        assert!(learned.contains("\"learned\":true"), "{learned}");
        real
    }

    /// Sends a request and reads the head of the response.
    pub fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> Reply {
        self.begin(method, path, kind, body).head()
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "text/plain", "")
    }

    /// Sends a request.
    pub fn begin(&self, method: &str, path: &str, kind: &str, body: &str) -> Waiting {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let (host, length) = (self.address, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: {kind}\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        Waiting(stream)
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        (self.stop)();
        let ended = self.running.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

/// A request that was sent.
pub struct Waiting(TcpStream);

impl Waiting {
    /// Whether the response has not begun.
    pub fn is_unanswered(&self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        let unanswered = self.0.peek(&mut [0]).is_err();
        self.0.set_nonblocking(false).unwrap();
        unanswered
    }

    /// Waits for the head of the response.
    pub fn head(self) -> Reply {
        self.0.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        let mut stream = BufReader::new(self.0);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_ascii_lowercase()),
            }
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, is_chunked: lines.iter().any(|line| line == "transfer-encoding: chunked"), stream }
    }
}

/// A response whose body was not read yet.
pub struct Reply {
    pub status: u16,
    is_chunked: bool,
    stream: BufReader<TcpStream>,
}

impl Reply {
    /// The body as it was sent, with its chunk sizes; an error if the connection broke.
    pub fn body(mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes)?;
        if self.is_chunked && !bytes.ends_with(b"\r\n0\r\n\r\n") {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }

    /// The body of a successful response.
    pub fn rest(self) -> String {
        assert_eq!(self.status, 200);
        String::from_utf8(self.body().unwrap()).unwrap()
    }
}
