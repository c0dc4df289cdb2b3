//! Traces, as a collector of OpenTelemetry receives them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skipstream");

fn serve(folder: &std::path::Path, collector: &str) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0", "--drain-time", "0s", "--dimensions", "8", "--data"]);
    command.arg(folder.join("data")).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Accepts one export, and returns its path and its spans.
fn export(listener: &TcpListener) -> (String, Vec<Value>) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.to_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    reader.get_mut().write_all(answer.as_bytes()).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let resource = &body["resourceSpans"][0];
    let service = resource["resource"]["attributes"].as_array().unwrap();
    let has_name = |one: &Value| one["key"] == "service.name" && one["value"]["stringValue"] == "skipstream";
    assert!(service.iter().any(has_name), "{resource}");
    let spans = resource["scopeSpans"].as_array().unwrap().iter();
    let spans = spans.flat_map(|scope| scope["spans"].as_array().unwrap().clone()).collect();
    (head[0].split(' ').nth(1).unwrap().to_owned(), spans)
}

#[test]
fn a_collector_receives_the_span_of_each_request_and_nothing_private() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", listener.local_addr().unwrap());
    let mut service = serve(folder.path(), &collector);
    let mut log = BufReader::new(service.stderr.take().unwrap());
    let mut line = String::new();
    let address = loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the service ended before it listened");
        if let Some((_, rest)) = line.split_once("listening on ") {
            break rest.split("/;").next().unwrap().to_owned();
        }
    };
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let request = ureq::get(format!("{address}/v1/words/secret"))
        .header("traceparent", format!("00-{trace}-b7ad6b7169203331-01"));
    assert!(matches!(request.call(), Err(ureq::Error::StatusCode(404))));
    let kill = Command::new("kill").arg(service.id().to_string()).status().unwrap();
    assert!(kill.success());

    let (path, spans) = export(&listener);
    assert_eq!(path, "/v1/traces");
    let [span] = &spans[..] else { panic!("one request, but {spans:?}") };
    assert_eq!(span["name"], "GET /v1/words/{word}");
    assert_eq!(span["traceId"], trace, "it continues the trace of its client");
    assert_eq!(span["parentSpanId"], "b7ad6b7169203331");
    let attributes = span["attributes"].as_array().unwrap();
    let of = |key: &str| attributes.iter().find(|one| one["key"] == key).map(|one| &one["value"]);
    assert_eq!(of("http.route").unwrap()["stringValue"], "/v1/words/{word}");
    assert_eq!(of("http.response.status_code").unwrap()["intValue"].to_string().trim_matches('"'), "404");
    assert!(!span.to_string().contains("secret"), "{span}");
    assert_eq!(service.wait().unwrap().code(), Some(0));
    let mut told = String::new();
    log.read_to_string(&mut told).unwrap();
    assert!(told.contains("\"route\":\"/v1/words/{word}\"") && !told.contains("otel."), "{told}");
}

#[test]
fn a_collector_without_http_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = serve(folder.path(), "grpc://collector:4317").wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("OTEL_EXPORTER_OTLP_ENDPOINT is grpc://collector:4317; expected http://"),
        "{told}"
    );
}
