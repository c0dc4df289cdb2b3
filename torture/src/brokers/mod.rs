//! `serve --source` reads a broker, and both are killed at random moments while messages are published. Afterwards every
//! message that the broker has is learned exactly once and in order, the model is byte for byte that of a service that was
//! never killed and got the same lines, and the vectors are those of `train` on these lines. The broker also gets the events of
//! the service (`--publish`), and has each that was stored at least once. `train --follow --source` is attacked in the same way
//! (`train.rs`).

mod broker;
mod kafka;
mod nats;
mod retention;
mod train;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use tempfile::TempDir;

use crate::client::{COMMON, Client, line};
use crate::learned::learned_lines;
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::{Report, Torture};
use broker::{Broker, Endpoint, Process};
use kafka::Kafka;

#[derive(Args)]
pub struct Options {
    /// Number of kills, of the service, of the broker or of both [default: 100, with --short 6]
    #[arg(long)]
    kills: Option<u64>,
    /// The NATS server
    #[arg(long, env = "NATS_SERVER", default_value = "nats-server")]
    nats_server: PathBuf,
    /// A Python with confluent-kafka, which contains librdkafka's mock cluster of Kafka; only the service is killed then
    #[arg(long, env = "KAFKA_PYTHON", default_value = "python3")]
    kafka_python: PathBuf,
}

/// How long a broker may take to start, and the service to make progress.
const PATIENCE: Duration = Duration::from_secs(90);

/// A frequent word, whose vectors are sent to the broker.
const WATCHED: &str = COMMON[0];

/// The login at brokers that need one, and as it is in a URL.
const USER: &str = "skipstream";
const PASSWORD: &str = "pass/w@rd";
const LOGIN: &str = "skipstream:pass%2Fw%40rd";

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    let kills = options.kills.unwrap_or(if torture.short { 6 } else { 100 });
    attack_both::<nats::Nats>(torture, "NATS", &options.nats_server, kills, report);
    attack_both::<Kafka>(torture, "Kafka", &options.kafka_python, kills, report);
    let deleted = retention::attack(torture, &options.nats_server);
    report.outcome("serve and NATS, with messages that were deleted unread", deleted, |()| {
        "it stopped and said how many, went on when asked to, and did not take a new stream for the old one".to_owned()
    });
    Ok(())
}

/// Attacks `serve` and `train` with a broker.
fn attack_both<B: Broker>(torture: &Torture, name: &str, program: &Path, kills: u64, report: &mut Report) {
    let served = attack::<B>(torture, program, kills);
    report.outcome(&format!("serve and {name}, killed at random moments"), served, |outcome| {
        let Outcome { kills, messages, unknown, events } = outcome;
        format!(
            "{kills} kills, and each of {messages} messages was learned exactly once; of {unknown} that were published the \
             broker did not say whether it has them; no event of {events} is missing"
        )
    });
    let trained = train::attack::<B>(torture, program, kills);
    report.outcome(&format!("train and {name}, killed at random moments"), trained, |messages| {
        format!("{kills} kills, and each of {messages} messages was learned exactly once")
    });
}

struct Outcome {
    kills: u64,
    messages: usize,
    unknown: usize,
    events: usize,
}

fn attack<B: Broker>(torture: &Torture, program: &Path, kills: u64) -> Result<Outcome> {
    let folder = TempDir::new()?;
    let killed = folder.path().join("killed");
    let (broker, endpoint) = Process::start::<B>(program, &Endpoint::new(folder.path())?)?;
    wait_for(B::create(&endpoint)).context("cannot create the stream")?;
    let (unknown, (mut serving, mut broker)) = while_producing::<B, _>(torture, &endpoint, || {
        let mut random = Random::new(torture.seed, 0);
        let mut broker = broker;
        let mut serving = start_with_sink::<B>(torture, &killed, &endpoint)?;
        for _ in 0..kills {
            serving.wait_until_it_listens()?;
            thread::sleep(Duration::from_micros(random.below(700_000)));
            let victim = Victim::choose::<B>(&mut random);
            if victim.is_broker() {
                broker.kill()?;
            }
            if victim.is_program() {
                serving.kill()?;
                serving = start_with_sink::<B>(torture, &killed, &endpoint)?;
            }
            if victim.is_broker() {
                thread::sleep(Duration::from_micros(random.below(300_000)));
                (broker, _) = Process::start::<B>(program, &endpoint)?;
            }
        }
        Ok((serving, broker))
    })?;
    serving.wait_until_it_listens()?;
    let partitions = wait_for(async { B::connect(&endpoint).await?.read().await });
    let partitions = partitions.context("cannot read the messages back")?;
    let messages: usize = partitions.iter().map(Vec::len).sum();
    ensure!(messages as u64 > 10 * kills, "only {messages} messages were published");
    wait_until(&serving, "logged", messages as u64)?;
    wait_until_sent(&serving)?;
    let events = check_events(&wait_for(async { B::connect(&endpoint).await?.read_events().await })?)?;
    // The broker is not needed any more, and must not be missed.
    broker.kill()?;
    let (exported, last) = finish(torture, serving, messages)?;
    ensure!(last == (messages + crate::client::FILLING_LINES) as u64, "{last} lines were logged");

    let lines = learned_lines(&killed)?;
    check_learned(&lines, &partitions)?;

    // The same lines in the same order, without a broker, and nothing happens.
    let undisturbed = folder.path().join("undisturbed");
    let serving = start(torture, &undisturbed, None)?;
    let client = Client::new(0, &serving.address, Random::new(torture.seed, 0));
    for part in lines.chunks(5_000) {
        client.send_as(part)?;
    }
    ensure!(finish(torture, serving, lines.len())?.0 == exported, "the published vectors differ");
    let [one, other] = [&undisturbed, &killed].map(|data| fs::read(data.join("model.safetensors")));
    ensure!(one? == other?, "the models differ");
    ensure!(vectors_of_train(torture, folder.path(), &lines)? == exported, "the vectors of `train` differ");
    Ok(Outcome { kills, messages, unknown, events })
}

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    Program,
    Broker,
    Both,
}

impl Victim {
    /// A broker that would lose its messages is left alone.
    fn choose<B: Broker>(random: &mut Random) -> Victim {
        let victims = [Victim::Program, Victim::Broker, Victim::Both];
        victims[if B::IS_DURABLE { random.below(3) as usize } else { 0 }]
    }

    fn is_program(self) -> bool {
        self != Victim::Broker
    }

    fn is_broker(self) -> bool {
        self != Victim::Program
    }
}

/// Does something while messages are published. Returns for how many the broker did not say whether it has them.
fn while_producing<B: Broker, T>(
    torture: &Torture,
    endpoint: &Endpoint,
    work: impl FnOnce() -> Result<T>,
) -> Result<(usize, T)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let producer = scope.spawn(|| produce::<B>(endpoint, torture.seed, &is_over));
        let done = work();
        is_over.store(true, Ordering::Release);
        let unknown = producer.join().map_err(|_| anyhow!("the producer panicked"))??;
        Ok((unknown, done?))
    })
}

/// Checks that the lines are the messages of the broker, each once, and those of each partition in order.
fn check_learned(lines: &[String], partitions: &[Vec<String>]) -> Result<()> {
    let messages: usize = partitions.iter().map(Vec::len).sum();
    let learned: HashSet<&String> = lines.iter().collect();
    for partition in partitions {
        let lost = partition.iter().find(|message| !learned.contains(message));
        ensure!(lost.is_none(), "{lost:?} was lost");
        let of_partition: HashSet<&String> = partition.iter().collect();
        let order = lines.iter().filter(|line| of_partition.contains(line));
        ensure!(order.eq(partition), "the messages of a partition changed places");
    }
    ensure!(lines.len() == messages, "{} of {messages} messages were learned", lines.len());
    Ok(())
}

/// Publishes messages until it is over, whatever happens to the broker. Returns for how many it did not say whether it has them. A
/// message is never sent again, so that the broker has each once.
fn produce<B: Broker>(endpoint: &Endpoint, seed: u64, is_over: &AtomicBool) -> Result<usize> {
    let mut random = Random::new(seed, 1);
    let mut unknown = 0;
    let runtime = runtime()?;
    runtime.block_on(async {
        let mut broker = None;
        for request in 0.. {
            if is_over.load(Ordering::Acquire) {
                break;
            }
            let producer = match broker.take() {
                Some(producer) => producer,
                None => match timeout(B::connect(endpoint)).await {
                    Ok(producer) => producer,
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                },
            };
            let n = 1 + random.below(30);
            let messages: Vec<String> =
                (0..n).map(|number| line(&format!("c0r{request}l{number}"))).collect();
            if timeout(producer.publish(messages, random.below(1 << 20))).await.is_ok() {
                broker = Some(producer);
            } else {
                unknown += n as usize;
            }
            tokio::time::sleep(Duration::from_micros(random.below(20_000))).await;
        }
        Ok(unknown)
    })
}

/// The first word of a message, by which it is known.
fn marker(message: &[u8]) -> Result<String> {
    let record: serde_json::Value = serde_json::from_slice(message)?;
    let text = record["text"].as_str().context("a message has a text")?;
    Ok(text.split(' ').next().unwrap_or_default().to_owned())
}

async fn timeout<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(Duration::from_secs(1), work).await?
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn wait_for<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(async { tokio::time::timeout(PATIENCE, work).await? })
}

fn start(torture: &Torture, data: &Path, source: Option<&str>) -> Result<Serving> {
    let mut command = Serving::command(torture, data);
    if let Some(source) = source {
        // Not in the arguments, where other users of the machine could see a password.
        command.env("SKIPSTREAM_SOURCE", source);
    }
    Serving::start(command, &Address::default())
}

fn start_with_sink<B: Broker>(torture: &Torture, data: &Path, endpoint: &Endpoint) -> Result<Serving> {
    let mut command = Serving::command(torture, data);
    command.env("SKIPSTREAM_SOURCE", B::url(endpoint)).env("SKIPSTREAM_PUBLISH", B::sink(endpoint));
    command.args(["--watch", WATCHED]);
    Serving::start(command, &Address::default())
}

/// Waits until the broker has all events, and the vectors of the words that are watched.
fn wait_until_sent(serving: &Serving) -> Result<()> {
    let begin = Instant::now();
    loop {
        let (_, stats) = serving.get("/v1/stats")?;
        let sink = &stats["sink"];
        if sink["state"] == "sending" && sink["waiting"] == 0 {
            return Ok(());
        }
        ensure!(begin.elapsed() < PATIENCE, "not all events were sent: {sink}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Each start of the service numbers its events. A kill may come before an event is stored, but then nothing after it is stored
/// either: the events of each start have no gap. Returns how many different ones there are.
fn check_events(messages: &[Vec<u8>]) -> Result<usize> {
    let mut starts: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let (mut kinds, mut published) = (BTreeSet::new(), None);
    for message in messages {
        let message: serde_json::Value = serde_json::from_slice(message)?;
        let text = |name: &str| message[name].as_str().with_context(|| format!("{name} of {message}"));
        kinds.insert(text("event")?.to_owned());
        if message["event"] == "vector" {
            ensure!(message["data"]["word"] == WATCHED, "a vector of another word: {message}");
            continue;
        }
        if message["event"] == "published" {
            published = published.max(message["data"]["seq"].as_u64());
        }
        let (start, number) = text("id")?.rsplit_once('-').context("an id has a number")?;
        starts.entry(start.to_owned()).or_default().insert(number.parse()?);
    }
    for (start, numbers) in &starts {
        ensure!(
            numbers.iter().copied().eq(0..numbers.len() as u64),
            "events of {start} are missing: {numbers:?}"
        );
    }
    for kind in ["published", "arrived", "vector"] {
        ensure!(kinds.contains(kind), "no event `{kind}` among {kinds:?}");
    }
    ensure!(published > Some(0), "nothing was published");
    Ok(starts.values().map(BTreeSet::len).sum())
}

/// Waits until this many lines are `logged` or `learned`, as long as there is progress.
fn wait_until(serving: &Serving, what: &str, lines: u64) -> Result<()> {
    let (mut progress, mut before) = (Instant::now(), 0);
    loop {
        let (_, stats) = serving.get("/v1/stats")?;
        ensure!(!stats.to_string().contains(PASSWORD), "the password is shown: {stats}");
        let done = stats[what].as_u64().context("no number of lines")?;
        if done >= lines {
            return Ok(());
        }
        if done > before {
            (progress, before) = (Instant::now(), done);
        }
        ensure!(progress.elapsed() < PATIENCE, "{done} of {lines} lines were {what}: {}", stats["sources"]);
        thread::sleep(Duration::from_millis(20));
    }
}

/// When these lines are learned, fills the last batch, so that everything is in the model on disk, and ends the service. Returns
/// the published vectors and the last line.
fn finish(torture: &Torture, serving: Serving, lines: usize) -> Result<(Vec<u8>, u64)> {
    wait_until(&serving, "learned", lines as u64)?;
    let client = Client::new(1, &serving.address, Random::new(torture.seed, 2));
    let last = client.fill()?.last;
    serving.wait_for(last)?;
    let answer = ureq::get(serving.url("/v1/export?format=word2vec-binary")?).call()?;
    let exported = answer.into_body().into_with_config().limit(1 << 30).read_to_vec()?;
    serving.end()?;
    Ok((exported, last))
}

/// The vectors of `train` on the lines and the filling of the last batch.
fn vectors_of_train(torture: &Torture, folder: &Path, lines: &[String]) -> Result<Vec<u8>> {
    let (text, model, vectors) = (folder.join("lines.txt"), folder.join("trained"), folder.join("vectors"));
    let filling = (0..crate::client::FILLING_LINES).map(crate::client::filler);
    let mut all = String::new();
    for marker in lines.iter().cloned().chain(filling) {
        let record: serde_json::Value = serde_json::from_str(&line(&marker))?;
        all.push_str(record["text"].as_str().context("a line has a text")?);
        all.push('\n');
    }
    fs::write(&text, all)?;
    let run = |mut command: Command| -> Result<()> {
        let output = command.stdout(Stdio::null()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    };
    let mut train = torture.program.command("train");
    run({
        train.arg(&text).arg("--model").arg(&model).args(Serving::MODEL.split(' '));
        train
    })?;
    let mut export = torture.program.command("export --to word2vec-binary");
    run({
        export.arg("--model").arg(&model).arg(&vectors);
        export
    })?;
    Ok(fs::read(vectors)?)
}
