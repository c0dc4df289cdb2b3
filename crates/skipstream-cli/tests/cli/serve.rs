//! `skipstream serve`: a process that is started, asked, stopped and killed.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use serde_json::Value;

use crate::desk::{Desk, assert_refused, small, text};

/// A service that is running.
struct Serving {
    child: Child,
    log: Box<dyn BufRead + Send>,
    address: String,
}

/// The arguments that serve a small model on a free port.
fn serve<'a>(args: &[&'a str]) -> Vec<&'a str> {
    small(&["serve", "--data", "data", "--listen", "127.0.0.1:0", "--drain-time", "0s"], args)
}

impl Serving {
    fn start(desk: &Desk, args: &[&str]) -> Serving {
        Serving::of(desk.start(&serve(args)))
    }

    /// Waits until a service listens.
    fn of(mut child: Child) -> Serving {
        let mut log = Box::new(BufReader::new(child.stderr.take().unwrap()));
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the service ended before it listened");
            if let Some((_, rest)) = line.split_once("listening on http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        Serving { child, log, address }
    }

    /// Lets go of what the service tells.
    fn stop_reading(&mut self) {
        self.log = Box::new(std::io::empty());
    }

    fn get(&self, path: &str) -> Value {
        let mut answer = ureq::get(format!("http://{}{path}", self.address)).call().unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        ureq::get(format!("http://{}{path}", self.address)).call().unwrap().body_mut().read_to_vec().unwrap()
    }

    /// Sends text, and waits until it is learned.
    fn learn(&self, text: &str) -> Value {
        let url = format!("http://{}/v1/text?wait=learned", self.address);
        let mut answer = ureq::post(url).content_type("text/plain").send(text).unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }

    fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Sends a signal, and gives the exit code and what was told.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        self.signal(signal);
        let mut told = String::new();
        while self.log.read_line(&mut told).unwrap() > 0 {}
        (self.child.wait().unwrap().code(), told)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // After a failed assertion; one that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_service_learns_answers_and_ends_with_0_after_sigterm() {
    let desk = Desk::new();
    let serving = Serving::start(&desk, &[]);
    let logged = serving.learn(&text(10_000, 1));
    assert_eq!(
        (&logged["first"], &logged["last"], &logged["learned"]),
        (&1.into(), &1_000.into(), &true.into())
    );
    let answer = serving.get("/v1/words/moon/neighbors?n=100");
    assert_eq!(answer["snapshot"]["seq"], 1_000);
    let neighbors = answer["neighbors"].as_array().unwrap();
    // A name that was seen twice may be anywhere.
    let frequent = neighbors.iter().filter(|neighbor| neighbor["count"].as_u64() > Some(100));
    let mut nearest: Vec<&str> =
        frequent.take(5).map(|neighbor| neighbor["word"].as_str().unwrap()).collect();
    nearest.sort_unstable();
    assert_eq!(nearest, ["comet", "galaxy", "orbit", "planet", "star"], "{answer}");
    let (code, told) = serving.end("-TERM");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("the model is saved"), "{told}");
    // The folder holds a model like any other.
    let answer = desk.run(&["inspect", "--model", "data/model.safetensors"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn a_service_drains_after_sigterm_until_a_second_signal() {
    let desk = Desk::new();
    let start = ["serve", "--data", "data", "--listen", "127.0.0.1:0", "--drain-time", "1h"];
    let mut serving = Serving::of(desk.start(&start));
    serving.signal("-TERM");
    let mut line = String::new();
    serving.log.read_line(&mut line).unwrap();
    assert!(line.contains("draining: answering queries for 3600 s"), "{line}");
    let error = ureq::get(format!("http://{}/readyz", serving.address)).call().unwrap_err();
    assert!(matches!(error, ureq::Error::StatusCode(503)), "{error}");
    assert_eq!(serving.bytes("/healthz"), b"ok\n");
    assert_eq!(serving.end("-TERM").0, Some(130));
    // At a terminal nobody waits for a load balancer.
    assert_eq!(Serving::of(desk.start(&start)).end("-INT").0, Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn systemd_learns_that_a_service_is_ready_alive_and_stopping() {
    let desk = Desk::new();
    let socket = std::os::unix::net::UnixDatagram::bind(desk.path("notify")).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let path = desk.path("notify").into_os_string().into_string().unwrap();
    let environment = [("NOTIFY_SOCKET", path.as_str()), ("WATCHDOG_USEC", "200000")];
    let serving = Serving::of(desk.start_in(&environment, &serve(&[])));
    let next = || {
        let mut message = [0; 100];
        let length = socket.recv(&mut message).expect("a message within a minute");
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    assert_eq!(next(), "READY=1\n");
    assert_eq!(next(), "WATCHDOG=1\n");
    assert_eq!(next(), "WATCHDOG=1\n", "it repeats");
    // The socket holds ten messages and drops more, so it is read while the service stops.
    let stopping = std::thread::spawn(move || serving.end("-TERM").0);
    let last = std::iter::repeat_with(next).find(|message| message != "WATCHDOG=1\n");
    assert_eq!(last.as_deref(), Some("STOPPING=1\n"));
    assert_eq!(stopping.join().unwrap(), Some(0));
}

#[test]
fn a_service_that_was_killed_has_the_vectors_that_train_makes_of_the_same_lines() {
    let desk = Desk::new();
    let (first, second) = (text(9_000, 1), text(7_000, 2));
    let serving = Serving::start(&desk, &["--checkpoint-every", "10ms"]);
    serving.learn(&first);
    serving.end("-KILL");
    let serving = Serving::start(&desk, &[]);
    assert_eq!(serving.learn(&second)["last"], 1_600);
    let vectors = serving.bytes("/v1/export?format=word2vec-text");
    assert_eq!(serving.end("-INT").0, Some(0));
    let serving = Serving::start(&desk, &[]);
    serving.get("/v1/text/1600/wait");
    assert_eq!(serving.bytes("/v1/export?format=word2vec-text"), vectors);

    desk.write("all.txt", first + &second);
    desk.train("m", &["all.txt"]);
    let answer = desk.run(&["export", "--model", "m", "--to", "word2vec-text", "vectors.txt"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(String::from_utf8(vectors).unwrap(), String::from_utf8(desk.bytes("vectors.txt")).unwrap());
}

/// The process is killed while it logs the controls, learns the text before them, saves the model, or clears files.
#[test]
fn controls_survive_a_kill_at_any_moment() {
    let (first, second) = (text(9_000, 1) + "jdoe likes the moon\n", text(3_000, 2));
    let desk = Desk::new();
    desk.write("first.txt", &first);
    desk.write("second.txt", &second);
    desk.train("m", &["first.txt"]);
    let words = |args: &str| {
        let answer = desk.run(&args.split(' ').collect::<Vec<_>>());
        assert_eq!(answer.code, Some(0), "{answer:?}");
    };
    words("words pin --model m cocoa");
    words("words block --model m bread");
    words("words merge --model m comet --into star");
    words("words forget --model m --keep-out jdoe");
    desk.train("m", &["second.txt"]);
    words("export --model m --to word2vec-text vectors.txt");

    let body = r#"{"controls":[{"pin":{"word":"cocoa"}},{"block":{"word":"bread"}},
        {"merge":{"word":"comet","into":"star"}},{"forget":{"word":"jdoe","keep_out":true}}]}"#;
    let control = move |address: &str| {
        let url = format!("http://{address}/v1/controls");
        ureq::post(url).content_type("application/json").send(body)
    };
    for moment in 0..12 {
        let desk_of_service = Desk::new();
        let serving = Serving::start(&desk_of_service, &["--checkpoint-every", "20ms"]);
        let url = format!("http://{}/v1/text", serving.address);
        ureq::post(url).content_type("text/plain").send(&first).unwrap();
        let address = serving.address.clone();
        let sent = std::thread::spawn(move || drop(control(&address)));
        std::thread::sleep(std::time::Duration::from_millis(moment * moment));
        serving.end("-KILL");
        sent.join().unwrap();
        // The client does not know whether they were logged, and sends them again.
        let serving = Serving::start(&desk_of_service, &[]);
        control(&serving.address).unwrap();
        assert_eq!(serving.get("/v1/controls")["kept_out"], 1);
        serving.learn(&second);
        let vectors = serving.bytes("/v1/export?format=word2vec-text");
        assert!(vectors == desk.bytes("vectors.txt"), "killed after {} ms", moment * moment);
        assert_eq!(serving.end("-TERM").0, Some(0));
        for name in ["data/model.safetensors", "data/log.sqlite"] {
            assert!(!desk_of_service.bytes(name).windows(4).any(|bytes| bytes == b"jdoe"), "{name}");
        }
        let answer = desk_of_service.run(&["inspect", "--model", "data/model.safetensors"]);
        let expected = "1 pinned, 1 blocked, 1 merged, 1 forgotten and kept out";
        assert!(answer.out.contains(expected), "{answer:?}");
    }
}

#[test]
fn a_service_whose_log_nobody_reads_goes_on() {
    let desk = Desk::new();
    let mut serving = Serving::start(&desk, &[]);
    serving.stop_reading();
    assert_eq!(serving.learn("one two three\n")["last"], 1);
    assert_eq!(serving.get("/v1/words/two")["count"], 1);
    assert_eq!(serving.end("-TERM").0, Some(0));
}

#[test]
fn a_flag_stands_above_the_environment_and_both_above_the_file() {
    let desk = Desk::new();
    desk.write(
        "s.toml",
        "window = 3\nnegatives = 7\nseed = 9\n\n[serve]\nqueue_size = '3Mi'\nmax_requests = 9\n",
    );
    let environment =
        [("SKIPSTREAM_WINDOW", "8"), ("SKIPSTREAM_NEGATIVES", "6"), ("SKIPSTREAM_QUEUE_SIZE", "2Mi")];
    let serving =
        Serving::of(desk.start_in(&environment, &serve(&["--settings", "s.toml", "--window", "4"])));
    let stats = serving.get("/v1/stats");
    let settings = &stats["settings"];
    let of = |name: &str| settings[name].as_u64();
    assert_eq!((of("window"), of("negatives"), of("seed")), (Some(4), Some(6), Some(9)), "{stats}");
    assert_eq!(stats["queue"]["limit_bytes"], 2 << 20, "{stats}");
}

#[test]
fn what_cannot_be_served_is_refused() {
    let desk = Desk::new();
    let answer = desk.run(&serve(&["--publish-every", "soon"]));
    assert_refused(&answer, &["invalid duration `soon`; expected one such as 2s or 5m"]);
    let answer = desk.run(&["serve", "--listen", "everywhere"]);
    assert_refused(
        &answer,
        &["invalid address `everywhere`; expected an address and port such as 127.0.0.1:8321"],
    );
    desk.write("s.toml", "window = 3\n[serve]\nlisten_on = 'all'\n");
    let answer = desk.run(&serve(&["--settings", "s.toml"]));
    assert_refused(&answer, &["s.toml, line 3: unknown field `listen_on`, expected one of `listen`"]);
    let answer = desk.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_refused(&answer, &["0.0.0.0", "tokens"]);
    let answer = desk.run(&serve(&["--strategy", "batch"]));
    assert_refused(&answer, &["batch"]);

    let serving = Serving::start(&desk, &[]);
    serving.learn("one two three\n");
    let answer = desk.run(&serve(&[]));
    assert_refused(&answer, &["data: another process is using this folder"]);
    let answer = desk.run(&["serve", "--data", "elsewhere", "--listen", &serving.address]);
    assert_refused(&answer, &["cannot listen on", &serving.address]);
    assert_eq!(serving.end("-TERM").0, Some(0));
    let other = ["serve", "--data", "data", "--listen", "127.0.0.1:0", "--dimensions", "17"];
    assert_refused(&desk.run(&other), &["--dimensions is 17, the model's is 16"]);
}

#[test]
fn prose_is_pointed_out_once_unless_the_words_were_chosen() {
    let prose = "The Dog, however, barked; my dog didn't. So it goes!\n".repeat(20);
    for (args, times) in [(&[][..], 1), (&["--text", "tokens"], 0), (&["--for", "items"], 0)] {
        let desk = Desk::new();
        let serving = Serving::start(&desk, args);
        for _ in 0..2 {
            assert_eq!(serving.learn(&prose).get("warning").is_some(), times > 0, "{args:?}");
        }
        let (_, told) = serving.end("-TERM");
        assert_eq!(told.matches("the text looks like prose").count(), times, "{told}");
    }
}

#[test]
fn more_memory_than_the_machine_has_is_warned_of() {
    let desk = Desk::new();
    let mut child = desk.start(&serve(&["--max-line-size", "512Mi", "--max-requests", "100000"]));
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("listening on") {
        assert!(log.read_line(&mut told).unwrap() > 0, "{told}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        told.contains("of memory, and this machine has") && told.contains("lower --max-line-size"),
        "{told}"
    );
}

#[test]
fn a_trained_model_is_served_by_the_advice_of_the_error() {
    let desk = Desk::new();
    desk.write("a.txt", text(5_000, 1));
    desk.train("m", &["a.txt"]);
    for wrong in [&["serve", "--model", "m"][..], &["serve", "--data", "m"]] {
        let advice = "copy it to `DIR/model.safetensors`, and run `skipstream serve --data DIR`";
        assert_refused(&desk.run(wrong), &[advice]);
    }
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::copy(desk.path("m"), desk.path("data/model.safetensors")).unwrap();
    let mut serving = Serving::start(&desk, &[]);
    serving.stop_reading();
    assert_eq!(serving.get("/v1/words/moon")["word"], "moon");
}
