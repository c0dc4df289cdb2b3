//! The process that is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const DIMENSIONS: usize = 4;

/// Where the service listens now, if it does.
#[derive(Clone, Default)]
pub struct Address(Arc<(Mutex<Option<String>>, Condvar)>);

impl Address {
    /// Waits until there is one, but not for ever: the service may be killed before.
    pub fn wait(&self) -> Option<String> {
        let (address, changed) = &*self.0;
        let wait =
            changed.wait_timeout_while(address.lock().unwrap(), Duration::from_millis(100), |address| {
                address.is_none()
            });
        wait.unwrap().0.clone()
    }

    fn set(&self, new: Option<String>) {
        *self.0.0.lock().unwrap() = new;
        self.0.1.notify_all();
    }
}

/// A service that is starting or running.
pub struct Serving {
    child: Child,
    address: Address,
    listener: Option<JoinHandle<String>>,
}

impl Serving {
    /// Starts it, and does not wait until it listens.
    pub fn start(data: &Path, address: &Address) -> Serving {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skipstream"));
        command.arg("serve").arg("--data").arg(data);
        // Batches of 200 new words, and something is published or saved all the time.
        command.args(
            "--listen 127.0.0.1:0 --publish-every 50ms --checkpoint-every 30ms --drain-time 0s".split(' '),
        );
        command.args("--max-vocabulary 1000000 --batch-words 400 --replay-words 2000".split(' '));
        command.args([
            "--threads",
            "2",
            "--max-sentence-words",
            "10",
            "--dimensions",
            &DIMENSIONS.to_string(),
        ]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let listening = address.clone();
        let listener = thread::spawn(move || {
            let mut told = String::new();
            for line in errors.lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("listening on http://") {
                    listening.set(rest.split('/').next().map(str::to_owned));
                }
                told.push_str(&line);
                told.push('\n');
            }
            told
        });
        Serving { child, address: address.clone(), listener: Some(listener) }
    }

    pub fn wait_until_it_listens(&mut self) {
        while self.address.wait().is_none() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the service ended by itself with {status}: {}", self.told());
            }
        }
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let told = self.told();
        self.address.set(None);
        assert!(!told.contains("panicked"), "{told}");
        assert!(!told.contains("ERROR"), "{told}");
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Waits until a line is learned.
    pub fn wait_for(&self, line: u64) {
        let answer = ureq::get(self.url(&format!("/v1/text/{line}/wait?timeout=30"))).call().unwrap();
        assert_eq!(answer.status(), 200, "line {line} was not learned");
    }

    /// Takes vectors of these words, and ends the service as it should be ended.
    pub fn end(mut self, words: &[String]) -> Vec<u8> {
        let body = serde_json::json!({ "words": words }).to_string();
        let request = ureq::post(self.url("/v1/vectors")).header("accept", "application/octet-stream");
        let mut answer = request.content_type("application/json").send(&body).unwrap();
        let vectors = answer.body_mut().read_to_vec().unwrap();
        assert_eq!(vectors.len(), words.len() * DIMENSIONS * size_of::<f32>());
        self.terminate();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.told());
        self.address.set(None);
        vectors
    }

    fn url(&self, path: &str) -> String {
        loop {
            if let Some(address) = self.address.wait() {
                return format!("http://{address}{path}");
            }
        }
    }

    fn told(&mut self) -> String {
        self.listener.take().map(|listener| listener.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // After a failed assertion; one that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
