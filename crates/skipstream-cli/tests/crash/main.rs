//! `skipstream serve` is killed at random moments while clients send text. Afterwards every line that was acknowledged is
//! learned exactly once, and the model is byte for byte that of a service which was never killed and got the lines in the
//! same order.
//!
//! `SKIPSTREAM_KILLS` says how often it is killed (10 by default, 200 in the long run), `SKIPSTREAM_SEED` from which seed the
//! moments are drawn; the seed of a run is printed.
#![cfg(unix)]
// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

mod client;
mod order;
mod random;
mod server;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use client::{Client, Sent};
use random::Random;
use server::{Address, Serving};

const CLIENTS: u64 = 4;

/// Words of a line that others have too, so that there is something to learn.
const COMMON: [&str; 12] =
    ["the", "sun", "moon", "star", "comet", "orbit", "tea", "milk", "cup", "sugar", "pot", "spoon"];

/// So many words surely fill the open batch, whatever is in it: see the settings in `server.rs`.
const FILLING_LINES: usize = 100;

#[test]
fn a_service_that_is_killed_at_random_moments_loses_nothing_and_learns_nothing_twice() {
    let kills: u64 = number("SKIPSTREAM_KILLS").unwrap_or(10);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let seed = number("SKIPSTREAM_SEED").unwrap_or(now);
    eprintln!("SKIPSTREAM_SEED={seed} SKIPSTREAM_KILLS={kills}");

    let folder = tempfile::tempdir().unwrap();
    let killed = folder.path().join("killed");
    let address = Address::default();
    let is_over = AtomicBool::new(false);
    let (mut sent, vectors): (Vec<Sent>, Vec<u8>) = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = Client::new(number, address.clone(), Random::new(seed, number + 1));
                let is_over = &is_over;
                scope.spawn(move || client.run(is_over))
            })
            .collect();
        let mut random = Random::new(seed, 0);
        for _ in 0..kills {
            kill_at_random(Serving::start(&killed, &address), &mut random);
        }
        // The clients end with what they have begun, and see that it is accepted.
        let serving = Serving::start(&killed, &address);
        is_over.store(true, Ordering::Release);
        let sent = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        // Text that no client sent closes the last batch, so that all lines are in the model on disk.
        let filler = Client::new(CLIENTS, address.clone(), Random::new(seed, CLIENTS + 1));
        let last = filler.fill(FILLING_LINES).last;
        serving.wait_for(last);
        (sent, serving.end(&words()))
    });
    sent.sort_by_key(|request| request.first);

    let lines = order::learned_lines(&killed);
    check_acknowledged(&sent, &lines);
    eprintln!("{} requests with {} lines were acknowledged", sent.len(), lines.len());

    // The same lines in the same order, and nothing happens.
    let undisturbed = folder.path().join("undisturbed");
    let address = Address::default();
    let serving = Serving::start(&undisturbed, &address);
    let client = Client::new(CLIENTS + 1, address.clone(), Random::new(seed, 0));
    let mut last = 0;
    for part in lines.chunks(5_000) {
        last = client.send_as(part).last;
    }
    let filler = Client::new(CLIENTS, address.clone(), Random::new(seed, CLIENTS + 1));
    assert_eq!(filler.fill(FILLING_LINES).last, last + FILLING_LINES as u64);
    serving.wait_for(last + FILLING_LINES as u64);
    assert!(serving.end(&words()) == vectors, "the vectors differ");
    let [one, other] =
        [&undisturbed, &killed].map(|data| std::fs::read(data.join("model.safetensors")).unwrap());
    assert!(one == other, "the models differ");
}

/// Words that are in every run, and whose vectors are compared as they are published.
fn words() -> Vec<String> {
    let common = COMMON.iter().map(|word| (*word).to_owned());
    common.chain((0..FILLING_LINES).map(client::filler)).collect()
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is {value}")))
}

/// Some services are killed before they listen, some while they end.
fn kill_at_random(mut serving: Serving, random: &mut Random) {
    match random.below(8) {
        0 | 1 => thread::sleep(Duration::from_micros(random.below(40_000))),
        2 => {
            serving.wait_until_it_listens();
            thread::sleep(Duration::from_micros(random.below(200_000)));
            serving.terminate();
            thread::sleep(Duration::from_micros(random.below(20_000)));
        }
        _ => {
            serving.wait_until_it_listens();
            thread::sleep(Duration::from_micros(random.below(600_000)));
        }
    }
    serving.kill();
}

/// Each request's lines are there once, in their order, with the numbers that were answered.
fn check_acknowledged(sent: &[Sent], lines: &[String]) {
    let numbers: std::collections::HashMap<&str, u64> = lines.iter().map(String::as_str).zip(1..).collect();
    assert_eq!(numbers.len(), lines.len(), "a line is there twice");
    let mut acknowledged = 0;
    for request in sent {
        let numbers: Vec<u64> = request
            .lines
            .iter()
            .map(|line| *numbers.get(line.as_str()).unwrap_or_else(|| panic!("`{line}` was lost")))
            .collect();
        assert!(numbers.is_sorted(), "the lines of a request changed places");
        assert_eq!((numbers.first(), numbers.last()), (Some(&request.first), Some(&request.last)));
        acknowledged += numbers.len();
    }
    assert_eq!(acknowledged, lines.len(), "all that was sent was acknowledged in the end");
}
