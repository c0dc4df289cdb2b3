//! Traces for a collector of OpenTelemetry (feature `otel`): a span per request, continued from the `traceparent` of its client.
//!
//! Like the log, a span has the route of a request and never its path, query, headers or body.

use std::env;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::extract::Request;
use axum::http::HeaderMap;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The address of the collector, by the name that all programs with OpenTelemetry use.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";

/// How long the collector may take to accept spans. Meanwhile, the next ones wait in bounded memory, or are dropped.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends spans to a collector on a thread of its own, and the last ones when it is dropped.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// The exporter to the collector that the environment names, if it names one.
    pub fn from_environment() -> Result<Option<Exporter>> {
        let Some(endpoint) = env::var_os(ENDPOINT).filter(|endpoint| !endpoint.is_empty()) else {
            return Ok(None);
        };
        let is_http = endpoint.to_str().is_some_and(|endpoint| endpoint.starts_with("http://"));
        ensure!(
            is_http,
            "{ENDPOINT} is {}; expected http://HOST:4318, a collector near the service: it can pass spans on with TLS",
            endpoint.display()
        );
        let exporter = SpanExporter::builder().with_http().with_http_client(Client::new()).build();
        let exporter = exporter.with_context(|| format!("{ENDPOINT} is {}", endpoint.display()))?;
        let mut resource = Resource::builder();
        if env::var_os(SERVICE_NAME).is_none() {
            resource = resource.with_service_name("skipstream");
        }
        let provider = SdkTracerProvider::builder().with_resource(resource.build());
        Ok(Some(Exporter(provider.with_batch_exporter(exporter).build())))
    }

    /// The subscriber that takes the spans of requests.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("skipstream"));
        let layer = layer.with_location(false).with_threads(false).with_target(false);
        layer.with_filter(filter_fn(|metadata| metadata.is_span() && metadata.target() == module_path!()))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // A collector that is away has already been reported.
        let _ = self.0.shutdown();
    }
}

/// The span of a request, until its response was sent.
#[derive(Clone, Debug)]
pub struct RequestSpan(Span);

impl RequestSpan {
    pub fn of(request: &Request, route: &str, id: &str) -> RequestSpan {
        let method = request.method();
        let span = tracing::info_span!(
            "request",
            otel.name = format!("{method} {route}"),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = %method,
            http.route = route,
            http.response.status_code = Empty,
            request_id = id,
        );
        // It fails if nobody takes spans.
        let _ = span.set_parent(parent(request.headers()));
        RequestSpan(span)
    }

    /// The span itself, for what is done meanwhile.
    pub fn span(&self) -> Span {
        self.0.clone()
    }

    pub fn answered(&self, status: u16) {
        // As a number with a sign: others become text.
        self.0.record("http.response.status_code", i64::from(status));
        if status >= 500 {
            self.0.record("otel.status_code", "ERROR");
        }
    }
}

/// The span of the client, if it sent one.
fn parent(headers: &HeaderMap) -> opentelemetry::Context {
    TraceContextPropagator::new().extract(&HeaderExtractor(headers))
}

/// A client for the thread of the exporter, which may block.
#[derive(Debug)]
struct Client(ureq::Agent);

impl Client {
    fn new() -> Client {
        let config = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false);
        Client(config.build().into())
    }
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(
        &self,
        request: axum::http::Request<Bytes>,
    ) -> Result<axum::http::Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let response = self.0.run(axum::http::Request::from_parts(parts, &body[..]))?;
        let (parts, mut body) = response.into_parts();
        Ok(axum::http::Response::from_parts(parts, body.read_to_vec()?.into()))
    }
}
