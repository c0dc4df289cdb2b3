//! Addresses of message brokers: `nats://host:4222/STREAM?subject=logs.>`, `kafka://host:9092/topic`.
//!
//! Invariant: no message and no output names a password. An error never repeats the URL.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use percent_encoding::percent_decode_str;

use crate::error::{Error, Result};

/// A stream of messages to learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUrl {
    pub broker: Broker,
    /// The stream of NATS, or the topic of Kafka.
    pub stream: String,
    /// Only messages with a subject that matches this pattern; NATS.
    pub subject: Option<String>,
    /// Where to start if nothing was read yet.
    pub start: Start,
    /// The fields of a JSON message; `None` for messages of plain text.
    pub fields: Option<MessageFields>,
    /// What to do if the broker has deleted messages that were not read.
    pub on_loss: OnLoss,
    /// The name under which the position is stored, if it does not follow from the URL.
    name: Option<String>,
}

/// Where to publish messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkUrl {
    pub broker: Broker,
    /// The start of the subjects of NATS, or the topic of Kafka.
    pub name: String,
}

/// How to reach a broker.
#[derive(Clone, PartialEq, Eq)]
pub struct Broker {
    pub protocol: Protocol,
    /// Servers as `host:port`; one of them suffices to find the others.
    pub servers: Vec<String>,
    pub tls: bool,
    /// Certificate authorities in a PEM file, instead of those of the system.
    pub ca: Option<PathBuf>,
    pub login: Option<Login>,
    /// A credentials file of NATS.
    pub credentials: Option<PathBuf>,
    pub sasl: Sasl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Nats,
    Kafka,
}

/// A user and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
}

/// How a password is sent to Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sasl {
    #[default]
    Plain,
    ScramSha256,
    ScramSha512,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Beginning,
    End,
    /// The first message at or after this time.
    Time(Timestamp),
    /// A sequence number of NATS, or an offset in each partition of Kafka.
    Offset(u64),
}

/// The names of the fields of a JSON message. `a.b` is a field of that name, or `b` in the object `a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFields {
    pub text: String,
    pub time: Option<String>,
    pub weight: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Stop reading and say how many messages are lost.
    #[default]
    Stop,
    /// Go on with the first message that is still there.
    Continue,
}

impl SourceUrl {
    pub fn parse(url: &str) -> Result<SourceUrl> {
        read_source(url).map_err(|reason| Error::Setting(format!("invalid URL in --source: {reason}")))
    }

    /// The name of its position in the log. Without the servers: a stream that moves to others must not be read again.
    pub fn position_name(&self) -> String {
        match (&self.name, &self.subject) {
            (Some(name), _) => format!("broker:{name}"),
            (None, Some(subject)) => {
                format!("{}:{}?subject={subject}", self.broker.protocol.scheme(), self.stream)
            }
            (None, None) => format!("{}:{}", self.broker.protocol.scheme(), self.stream),
        }
    }
}

impl SinkUrl {
    pub fn parse(url: &str) -> Result<SinkUrl> {
        read_sink(url).map_err(|reason| Error::Setting(format!("invalid URL in --publish: {reason}")))
    }
}

/// The URL without the login.
impl fmt::Display for SinkUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.broker, self.name)
    }
}

/// The URL without the login and the options that do not change what is read.
impl fmt::Display for SourceUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.broker, self.stream)?;
        self.subject.as_ref().map_or(Ok(()), |subject| write!(out, "?subject={subject}"))
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.tls { "+tls" } else { "" };
        write!(out, "{}{tls}://{}", self.protocol.scheme(), self.servers.join(","))
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Broker({self})")
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Login")
    }
}

impl Sasl {
    const NAMES: [(&str, Sasl); 3] =
        [("plain", Sasl::Plain), ("scram-sha-256", Sasl::ScramSha256), ("scram-sha-512", Sasl::ScramSha512)];
}

impl OnLoss {
    const NAMES: [(&str, OnLoss); 2] = [("stop", OnLoss::Stop), ("continue", OnLoss::Continue)];
}

impl Protocol {
    fn scheme(self) -> &'static str {
        match self {
            Protocol::Nats => "nats",
            Protocol::Kafka => "kafka",
        }
    }

    fn port(self) -> u16 {
        match self {
            Protocol::Nats => 4222,
            Protocol::Kafka => 9092,
        }
    }
}

fn read_source(url: &str) -> Result<SourceUrl, String> {
    let (broker, stream, mut options) = read_broker(url)?;
    let source = SourceUrl {
        broker,
        stream,
        subject: options.take_of(Protocol::Nats, "subject")?,
        start: options.take("start").map_or(Ok(Start::default()), |start| read_start(&start))?,
        fields: read_fields(&mut options)?,
        on_loss: choose("lost", options.take("lost"), &OnLoss::NAMES)?,
        name: options.take("name"),
    };
    options.end().map(|()| source)
}

fn read_sink(url: &str) -> Result<SinkUrl, String> {
    let (broker, name, options) = read_broker(url)?;
    let is_subject = !name.contains(|c: char| c.is_whitespace() || c.is_control() || "*>".contains(c))
        && name.split('.').all(|part| !part.is_empty());
    if broker.protocol == Protocol::Nats && !is_subject {
        return Err(format!("`{name}` cannot be the start of a subject of NATS"));
    }
    options.end().map(|()| SinkUrl { broker, name })
}

/// Reads what all URLs have. The rest of the options is returned.
fn read_broker(url: &str) -> Result<(Broker, String, Options), String> {
    let (scheme, rest) = url.split_once("://").ok_or("there is no `://`")?;
    let (protocol, tls) = match scheme {
        "nats" => (Protocol::Nats, false),
        "nats+tls" => (Protocol::Nats, true),
        "kafka" => (Protocol::Kafka, false),
        "kafka+tls" => (Protocol::Kafka, true),
        _ => return Err("the scheme must be nats, nats+tls, kafka or kafka+tls".to_owned()),
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    // What follows may be part of a password, and must not be shown.
    if path.contains('@') || query.contains('@') {
        return Err("special characters in the login must be percent-encoded".to_owned());
    }
    let (login, servers) = match authority.rsplit_once('@') {
        Some((login, servers)) => (Some(read_login(login)?), servers),
        None => (None, authority),
    };
    let servers = servers.split(',').map(|server| read_server(server, protocol)).collect::<Result<_, _>>()?;
    let stream = decoded(path)?;
    if stream.is_empty() || stream.contains('/') {
        return Err(format!("expected {}://HOST/NAME, with one name after the host", protocol.scheme()));
    }
    let mut options = Options::read(query, protocol)?;
    let broker = Broker {
        protocol,
        servers,
        tls,
        ca: options.take("ca").map(PathBuf::from),
        login,
        credentials: options.take_of(Protocol::Nats, "credentials")?.map(PathBuf::from),
        sasl: choose("sasl", options.take_of(Protocol::Kafka, "sasl")?, &Sasl::NAMES)?,
    };
    if broker.ca.is_some() && !tls {
        return Err(format!("`ca` needs {}+tls://", protocol.scheme()));
    }
    Ok((broker, stream, options))
}

/// Options of a URL that were not read yet.
struct Options {
    protocol: Protocol,
    values: BTreeMap<String, String>,
}

impl Options {
    fn read(query: &str, protocol: Protocol) -> Result<Options, String> {
        let mut values = BTreeMap::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let name = decoded(name)?;
            if value.is_empty() {
                return Err(format!("`{name}` has no value"));
            }
            if values.insert(name.clone(), decoded(value)?).is_some() {
                return Err(format!("`{name}` is there twice"));
            }
        }
        Ok(Options { protocol, values })
    }

    /// Refuses options that nobody has taken.
    fn end(self) -> Result<(), String> {
        match self.values.into_keys().next() {
            Some(name) => Err(format!("unknown option `{name}`")),
            None => Ok(()),
        }
    }

    fn take(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    /// An option that only one protocol has.
    fn take_of(&mut self, protocol: Protocol, name: &str) -> Result<Option<String>, String> {
        let value = self.take(name);
        if value.is_some() && self.protocol != protocol {
            return Err(format!("`{name}` is an option of {}:// only", protocol.scheme()));
        }
        Ok(value)
    }
}

fn choose<T: Copy + Default>(name: &str, value: Option<String>, choices: &[(&str, T)]) -> Result<T, String> {
    let Some(value) = value else { return Ok(T::default()) };
    let choice = choices.iter().find(|(choice, _)| *choice == value).map(|(_, choice)| *choice);
    choice.ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("`{name}` is `{value}`; it must be {}", names.join(" or "))
    })
}

fn read_fields(options: &mut Options) -> Result<Option<MessageFields>, String> {
    let (text, time, weight) = (options.take("field"), options.take("time"), options.take("weight"));
    match text {
        Some(text) => Ok(Some(MessageFields { text, time, weight })),
        None if time.is_some() || weight.is_some() => {
            Err("`time` and `weight` need `field`: only a JSON message has fields".to_owned())
        }
        None => Ok(None),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(|text| text.into_owned()).map_err(|_| "it is not valid UTF-8".to_owned())
}

fn read_login(login: &str) -> Result<Login, String> {
    let (user, password) = login.split_once(':').ok_or("the login must be USER:PASSWORD")?;
    Ok(Login { user: decoded(user)?, password: decoded(password)? })
}

/// A server with its port. An IPv6 address is in brackets.
fn read_server(server: &str, protocol: Protocol) -> Result<String, String> {
    let port = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("a bracket is not closed")?.1.strip_prefix(':'),
        None => server.split_once(':').map(|(_, port)| port),
    };
    if server.is_empty() || server.starts_with(':') {
        return Err("there is no host".to_owned());
    }
    match port {
        Some(port) if port.parse::<u16>().is_ok() => Ok(server.to_owned()),
        // Not the port itself: without a host, it is a password.
        Some(_) => Err("invalid port".to_owned()),
        None => Ok(format!("{server}:{}", protocol.port())),
    }
}

fn read_start(start: &str) -> Result<Start, String> {
    match start {
        "beginning" => Ok(Start::Beginning),
        "end" => Ok(Start::End),
        _ => {
            let offset = start.parse().map(Start::Offset).ok();
            offset.or_else(|| start.parse().map(Start::Time).ok()).ok_or_else(|| {
                format!("`start` is `{start}`; it must be beginning, end, an RFC 3339 time or an offset")
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_url_has_defaults() {
        let source = SourceUrl::parse("nats://localhost/LOGS").unwrap();
        assert_eq!(source.broker.servers, ["localhost:4222"]);
        assert_eq!((source.stream.as_str(), source.start, &source.fields), ("LOGS", Start::Beginning, &None));
        assert_eq!(source.on_loss, OnLoss::Stop);
        assert_eq!(
            (source.to_string(), source.position_name()),
            ("nats://localhost:4222/LOGS".into(), "nats:LOGS".into())
        );
        let source = SourceUrl::parse("kafka://a,b:19092,[::1]/posts").unwrap();
        assert_eq!(source.broker.servers, ["a:9092", "b:19092", "[::1]:9092"]);
        assert!(!source.broker.tls && source.broker.login.is_none());
    }

    #[test]
    fn every_option_is_read() {
        let source = SourceUrl::parse(
            "nats+tls://h/LOGS?subject=logs.%3E&start=2026-11-15T20:00:00Z&field=user.text&time=at&weight=w\
             &lost=continue&name=news&ca=/etc/ca.pem&credentials=/etc/user.creds",
        )
        .unwrap();
        assert_eq!(source.subject.as_deref(), Some("logs.>"));
        assert_eq!(source.start, Start::Time("2026-11-15T20:00:00Z".parse().unwrap()));
        let [text, time, weight] = ["user.text", "at", "w"].map(str::to_owned);
        assert_eq!(source.fields, Some(MessageFields { text, time: Some(time), weight: Some(weight) }));
        assert_eq!((source.on_loss, source.broker.tls), (OnLoss::Continue, true));
        assert_eq!(source.broker.ca, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(source.broker.credentials, Some(PathBuf::from("/etc/user.creds")));
        assert_eq!(source.to_string(), "nats+tls://h:4222/LOGS?subject=logs.>");
        assert_eq!(source.position_name(), "broker:news");
        let source = SourceUrl::parse("kafka://h/t?start=17&sasl=scram-sha-512").unwrap();
        assert_eq!((source.start, source.broker.sasl), (Start::Offset(17), Sasl::ScramSha512));
    }

    #[test]
    fn a_password_is_read_and_never_shown() {
        let source = SourceUrl::parse("kafka://me:p%40ss%2Fw@h:1/t?subject=x");
        assert!(!source.unwrap_err().to_string().contains("ss"));
        let source = SourceUrl::parse("kafka://me:p%40ss%2Fw@h:1/t").unwrap();
        assert_eq!(source.broker.login, Some(Login { user: "me".to_owned(), password: "p@ss/w".to_owned() }));
        for shown in [source.to_string(), source.position_name(), format!("{source:?}")] {
            assert!(!shown.contains("ss/w") && !shown.contains("ss%2Fw"), "{shown}");
        }
        for password in
            ["secret/x", "12/secret", "12?secret", "12/x?secret", "12/x?start=secret", "secret@x/y"]
        {
            let error = SourceUrl::parse(&format!("kafka://me:{password}@h/t")).unwrap_err().to_string();
            assert!(!error.contains("secret") && error.contains("percent-encoded"), "{error}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_with_a_reason() {
        for (url, reason) in [
            ("localhost", "there is no `://`"),
            ("amqp://h/q", "the scheme must be nats, nats+tls, kafka or kafka+tls"),
            ("nats://h", "expected nats://HOST/NAME, with one name after the host"),
            ("kafka://h/a/b", "expected kafka://HOST/NAME, with one name after the host"),
            ("kafka:///a", "there is no host"),
            ("kafka://h:99999/a", "invalid port"),
            ("kafka://me@h/a", "the login must be USER:PASSWORD"),
            ("kafka://h/a?subject=b", "`subject` is an option of nats:// only"),
            ("nats://h/a?sasl=plain", "`sasl` is an option of kafka:// only"),
            ("kafka://h/a?sasl=md5", "`sasl` is `md5`; it must be plain or scram-sha-256 or scram-sha-512"),
            ("nats://h/a?lost=maybe", "`lost` is `maybe`; it must be stop or continue"),
            (
                "nats://h/a?start=soon",
                "`start` is `soon`; it must be beginning, end, an RFC 3339 time or an offset",
            ),
            ("nats://h/a?time=t", "`time` and `weight` need `field`"),
            ("nats://h/a?weight=w", "`time` and `weight` need `field`"),
            ("nats://h/a?ca=x", "`ca` needs nats+tls://"),
            ("nats://h/a?colour-of-text=x", "unknown option `colour-of-text`"),
            ("nats://h/a?field=", "`field` has no value"),
            ("nats://h/a?field=x&field=y", "`field` is there twice"),
        ] {
            let error = SourceUrl::parse(url).unwrap_err().to_string();
            let expected = format!("invalid URL in --source: {reason}");
            assert!(error.starts_with(&expected), "{url}: {error}");
        }
    }

    #[test]
    fn a_sink_has_a_subject_or_a_topic() {
        let sink = SinkUrl::parse("nats+tls://me:secret@h/skipstream.news?ca=/etc/ca.pem").unwrap();
        assert_eq!((sink.name.as_str(), sink.broker.tls), ("skipstream.news", true));
        assert_eq!(sink.to_string(), "nats+tls://h:4222/skipstream.news");
        assert_eq!(SinkUrl::parse("kafka://h/events").unwrap().to_string(), "kafka://h:9092/events");
        for (url, reason) in [
            ("nats://h", "expected nats://HOST/NAME"),
            ("nats://h/a.%3E", "`a.>` cannot be the start of a subject of NATS"),
            ("nats://h/a..b", "`a..b` cannot be the start of a subject of NATS"),
            ("nats://h/a?start=end", "unknown option `start`"),
        ] {
            let error = SinkUrl::parse(url).unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid URL in --publish: {reason}")), "{url}: {error}");
        }
    }
}
