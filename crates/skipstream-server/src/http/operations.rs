//! Operations: the state of the service, checkpoints, health and metrics.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use skipstream::{Config, Setting};
use utoipa::ToSchema;

use super::ApiError;
use super::answer::Json;
use super::lanes::Lanes;
use crate::metrics::resident_bytes;
use crate::published::{PublishedInfo, Seq};
use crate::samples::Sample;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::sink_status::{SinkState, SinkStatus};
use crate::source_status::{SourceState, SourceStatus};
use crate::status::Checkpoint;

/// The state of the service
#[derive(Debug, Serialize, ToSchema)]
pub struct Stats {
    #[serde(flatten)]
    progress: Progress,
    /// Time since the service started
    uptime_seconds: f64,
    /// Maximum size of the vocabulary
    max_vocabulary: usize,
    /// Settings of the model
    #[schema(value_type = Object)]
    settings: skipstream::Config,
    /// Memory
    memory: Memory,
}

/// The state of training: the part of the stats that changes every second
#[derive(Debug, Serialize, ToSchema)]
pub struct Progress {
    /// The version that queries read
    snapshot: PublishedInfo,
    /// Training speed over the last few seconds
    words_per_second: f64,
    /// Mean loss per pair over the last few seconds; null if nothing was trained
    loss: Option<f64>,
    /// Number of tokens learned
    words: u64,
    /// Size of the vocabulary
    vocabulary: usize,
    /// Number of departures from the vocabulary; a word that returned and left again counts each time
    evictions: u64,
    /// Text that waits to be learned
    queue: Queue,
    /// The last line on disk
    logged: Seq,
    /// The last line that queries know of
    learned: Seq,
    /// The last checkpoint; null before the first
    checkpoint: Option<Checkpoint>,
    /// Why training is impaired; null if it is not
    problem: Option<String>,
    /// What is probably wrong with the text that arrived, and what to do; null if nothing is
    warning: Option<&'static str>,
    /// The message brokers that are read
    sources: Vec<SourceStatus>,
    /// The message broker that gets events; null without `--publish`
    sink: Option<SinkStatus>,
}

/// Text that waits to be learned
#[derive(Debug, Serialize, ToSchema)]
pub struct Queue {
    /// Bytes
    pub bytes: u64,
    /// Capacity in bytes
    pub limit_bytes: u64,
    /// Lines
    pub lines: u64,
}

/// Memory of the process
#[derive(Debug, Serialize, ToSchema)]
pub struct Memory {
    /// Upper bound in bytes
    pub bound_bytes: u64,
    /// Resident bytes; null if the system does not report them
    pub resident_bytes: Option<u64>,
}

impl Progress {
    pub fn now(service: &Service) -> Progress {
        let published = service.published();
        let status = service.status.load();
        let progress = status.progress.as_ref().unwrap_or(&published.progress);
        Progress {
            snapshot: (&*published).into(),
            words_per_second: status.words_per_second,
            loss: status.loss,
            words: progress.tokens,
            vocabulary: progress.vocabulary,
            evictions: progress.evictions,
            queue: Queue {
                bytes: service.log.waiting_bytes(),
                limit_bytes: service.settings.queue_size,
                lines: service.log.waiting_lines(),
            },
            logged: service.log.last(),
            learned: published.seq,
            checkpoint: status.checkpoint,
            problem: service.problem(),
            warning: service.prose.warning(),
            sources: service.sources.list(),
            sink: service.sink.status(),
        }
    }
}

/// State of the service
#[utoipa::path(
    get, path = "/v1/stats", tag = "operations",
    responses((status = 200, body = Stats))
)]
pub async fn stats(State(service): State<Arc<Service>>) -> Json<Stats> {
    Json(Stats {
        progress: Progress::now(&service),
        uptime_seconds: service.metrics.uptime().as_secs_f64(),
        max_vocabulary: service.model.max_vocabulary,
        settings: service.model.clone(),
        memory: Memory { bound_bytes: service.memory_bound, resident_bytes: resident_bytes() },
    })
}

/// Measurements over time
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// The samples since the service started, oldest first: every 5 seconds in the first hour, fewer later
    samples: Vec<Sample>,
}

/// Speed, loss, memory, requests and disk over time
#[utoipa::path(
    get, path = "/v1/stats/history", tag = "operations",
    responses((status = 200, body = History))
)]
pub async fn history(State(service): State<Arc<Service>>) -> Json<History> {
    Json(History { samples: service.samples.list() })
}

/// All settings
#[derive(Debug, Serialize, ToSchema)]
pub struct AllSettings {
    /// Settings of the model
    model: Vec<SettingInfo>,
    /// Settings of the service, except for paths and commands
    service: Vec<SettingInfo>,
}

/// A setting
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingInfo {
    /// Its name, as in a settings file
    name: String,
    /// Its value
    value: Value,
    /// Its default
    default: Value,
    /// Its meaning
    help: String,
}

impl SettingInfo {
    /// The settings that have a value.
    fn list(
        about: impl Iterator<Item = (String, String)>,
        values: &Value,
        defaults: &Value,
    ) -> Vec<SettingInfo> {
        let info = |(name, help): (String, String)| {
            let default = defaults.get(&name).cloned().unwrap_or_default();
            Some(SettingInfo { value: values.get(&name)?.clone(), default, name, help })
        };
        about.filter_map(info).collect()
    }
}

/// Settings of the model and of the service
#[utoipa::path(
    get, path = "/v1/settings", tag = "operations",
    responses((status = 200, body = AllSettings))
)]
pub async fn settings(State(service): State<Arc<Service>>) -> Result<Json<AllSettings>, ApiError> {
    let json = |values: serde_json::Result<Value>| values.map_err(ApiError::internal);
    let model = Setting::ALL.iter().map(|setting| (setting.name.to_owned(), setting.help.to_owned()));
    let default = Config::default().check()?.resolved();
    let model = SettingInfo::list(
        model,
        &json(serde_json::to_value(&service.model))?,
        &json(serde_json::to_value(default))?,
    );
    let values = json(serde_json::to_value(&service.settings))?;
    let defaults = json(serde_json::to_value(ServeSettings::default()))?;
    let service = SettingInfo::list(ServeSettings::help().into_iter(), &values, &defaults);
    Ok(Json(AllSettings { model, service }))
}

/// Write a checkpoint now
///
/// The response is sent when it is on disk. The service also writes checkpoints on its own, every minute by default.
#[utoipa::path(
    post, path = "/v1/checkpoint", tag = "operations",
    responses((status = 200, body = Checkpoint), (status = 507, description = "The disk is full"))
)]
pub async fn checkpoint(State(service): State<Arc<Service>>) -> Result<Json<Checkpoint>, ApiError> {
    Ok(Json(service.checkpoint().await?))
}

/// Liveness: the process runs
#[utoipa::path(
    get, path = "/healthz", tag = "operations", responses((status = 200, body = str))
)]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness: the service learns, stores text and is not shutting down
///
/// After a restart it fails until the text that was accepted before is learned, but for at most 10 minutes; then the response
/// has a line that says how far it is.
///
/// A message broker that is away does not make the service unready: it answers queries and accepts text from others. The
/// response has a line for each broker that is not being read, and for a sink that cannot send.
#[utoipa::path(
    get, path = "/readyz", tag = "operations",
    responses(
        (status = 200, body = str),
        (status = 503, description = "The reason"),
        (status = 507, description = "The disk is full")
    )
)]
pub async fn readyz(State(service): State<Arc<Service>>) -> Result<String, ApiError> {
    service.check()?;
    let mut answer = "ok\n".to_owned();
    if let Some(reason) = service.catching_up() {
        answer.push_str(&format!("{reason}\n"));
    }
    for (source, number) in service.sources.list().iter().zip(1..) {
        // Without the URL: anyone may ask.
        if source.state != SourceState::Reading {
            answer.push_str(&format!("source {number} is {}\n", source.state.name()));
        }
    }
    if let Some(sink) = service.sink.status()
        && sink.state != SinkState::Sending
    {
        answer.push_str(&format!("the sink is {}\n", sink.state.name()));
    }
    Ok(answer)
}

/// Prometheus metrics
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, body = str, content_type = "application/openmetrics-text"))
)]
pub async fn metrics(
    State(service): State<Arc<Service>>,
    Extension(lanes): Extension<Arc<Lanes>>,
) -> Result<Response, ApiError> {
    let text = service.metrics.text(&service, &lanes.counts()).map_err(ApiError::internal)?;
    let kind = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((kind, text).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;
    use crate::change::testing::published;
    use crate::error::Error;
    use crate::http::router;
    use crate::log::{Chunk, Log};
    use crate::requests::LearnerRequest;

    #[tokio::test]
    async fn a_restarted_service_is_ready_when_it_has_learned_what_it_accepted_before() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ServeSettings { data: folder.path().to_owned(), ..ServeSettings::default() };
        let log = Log::open(folder.path(), settings.queue_size).unwrap();
        let mut chunk = Chunk::default();
        ["tea", "with", "milk"].iter().for_each(|line| chunk.push(line.as_bytes(), None));
        log.append(chunk).await.unwrap();
        // The last checkpoint has one of the three lines.
        let words = [("tea", 1, [1.0, 0.0])];
        let service = Service::new(settings, log, published(1, &words), Config::default(), 1);
        let ready = async || {
            let request = Request::get("/readyz").body(Body::empty()).unwrap();
            let response = router(service.clone()).oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 1 << 10).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        };
        for learned in [1, 2] {
            service.publish(published(learned, &words));
            let (status, body) = ready().await;
            assert_eq!(status, 503, "{body}");
            assert!(body.contains(&format!("line {learned} of 3")), "{body}");
        }
        // What arrives after the start is no reason.
        let mut chunk = Chunk::default();
        chunk.push(b"more", None);
        service.log.append(chunk).await.unwrap();
        service.publish(published(3, &words));
        assert_eq!(ready().await, (200, "ok\n".to_owned()));
    }

    /// How the learner answers when the disk is full; `cargo xtask torture abuse full-disk` fills a real one.
    #[tokio::test]
    async fn a_checkpoint_on_a_full_disk_is_insufficient_storage() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ServeSettings { data: folder.path().to_owned(), ..ServeSettings::default() };
        let log = Log::open(folder.path(), settings.queue_size).unwrap();
        let first = published(1, &[("word", 1, [1.0, 0.0])]);
        let service = Service::new(settings, log, first, Config::default(), 1);
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = folder.path().join("model.safetensors");
        let saving = Error::from(skipstream::Error::Io { path, source: full() });
        let request = Request::post("/v1/checkpoint").body(Body::empty()).unwrap();
        let learner = async {
            while !service.requests.is_any() {
                tokio::task::yield_now().await;
            }
            let request = service.requests.take().remove(0);
            let LearnerRequest::Checkpoint { answer } = request else { panic!("{request:?}") };
            answer.send(Err(saving)).unwrap();
        };
        let (response, ()) = tokio::join!(router(service.clone()).oneshot(request), learner);
        let response = response.unwrap();
        assert_eq!(response.status(), 507);
        let body = axum::body::to_bytes(response.into_body(), 1 << 10).await.unwrap();
        let error: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(error["error"]["code"], "disk-full", "{error}");
    }
}
