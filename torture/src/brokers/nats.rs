//! A NATS server with JetStream.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use async_nats::ConnectOptions;
use async_nats::jetstream::{self, Context, stream};

use super::{Broker, Endpoint, LOGIN, PASSWORD, USER};

const STREAM: &str = "LINES";
const SUBJECTS: &str = "lines.>";
const EVENTS: &str = "EVENTS";

pub struct Nats(Context);

impl Broker for Nats {
    const IS_DURABLE: bool = true;

    fn command(program: &Path, Endpoint { folder, port }: &Endpoint) -> Result<Command> {
        // By default the server syncs every two minutes, and a message that it has acknowledged is lost if it is killed.
        let store = folder.join("jetstream");
        let config = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n\
             authorization {{ user: {USER:?}, password: {PASSWORD:?} }}\n"
        );
        let path = folder.join("nats.conf");
        fs::write(&path, config)?;
        let mut command = Command::new(program);
        command.arg("--config").arg(path);
        Ok(command)
    }

    async fn create(endpoint: &Endpoint) -> Result<()> {
        let nats = Nats::connect(endpoint).await?;
        nats.create_stream(STREAM, SUBJECTS).await?;
        nats.create_stream(EVENTS, "events.>").await
    }

    fn url(endpoint: &Endpoint) -> String {
        format!("nats://{LOGIN}@127.0.0.1:{}/{STREAM}?field=text&time=time", endpoint.port)
    }

    fn sink(endpoint: &Endpoint) -> String {
        format!("nats://{LOGIN}@127.0.0.1:{}/events", endpoint.port)
    }

    async fn connect(endpoint: &Endpoint) -> Result<Nats> {
        let options = ConnectOptions::with_user_and_password(USER.to_owned(), PASSWORD.to_owned());
        Ok(Nats(jetstream::new(options.connect(format!("127.0.0.1:{}", endpoint.port)).await?)))
    }

    async fn publish(&self, messages: Vec<String>, random: u64) -> Result<()> {
        let mut acknowledgements = Vec::new();
        for message in messages {
            let subject = format!("lines.{}", random % 3);
            acknowledgements.push(self.0.publish(subject, message.into()).await?);
        }
        for acknowledgement in acknowledgements {
            acknowledgement.await?;
        }
        Ok(())
    }

    async fn read(&self) -> Result<Vec<Vec<String>>> {
        let messages = self.read_stream(STREAM).await?;
        Ok(vec![messages.iter().map(|message| super::marker(message)).collect::<Result<_>>()?])
    }

    async fn read_events(&self) -> Result<Vec<Vec<u8>>> {
        self.read_stream(EVENTS).await
    }
}

impl Nats {
    /// Deletes the first messages, as retention does.
    pub async fn delete_first(&self, messages: u64) -> Result<()> {
        self.0.get_stream(STREAM).await?.purge().sequence(messages + 1).await?;
        Ok(())
    }

    /// Deletes the stream and creates another one of the same name.
    pub async fn create_again(endpoint: &Endpoint) -> Result<()> {
        let nats = Nats::connect(endpoint).await?;
        nats.0.delete_stream(STREAM).await?;
        nats.create_stream(STREAM, SUBJECTS).await
    }

    async fn create_stream(&self, name: &str, subject: &str) -> Result<()> {
        let subjects = vec![subject.to_owned()];
        let config = stream::Config { name: name.to_owned(), subjects, ..stream::Config::default() };
        self.0.create_stream(config).await?;
        Ok(())
    }

    async fn read_stream(&self, name: &str) -> Result<Vec<Vec<u8>>> {
        let stream = self.0.get_stream(name).await?;
        let mut messages = Vec::new();
        for sequence in 1..=stream.cached_info().state.last_sequence {
            messages.push(stream.get_raw_message(sequence).await?.payload.to_vec());
        }
        Ok(messages)
    }
}
