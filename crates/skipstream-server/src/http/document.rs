//! The OpenAPI document, generated from the table of routes.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa::openapi::path::Paths;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{RefOr, security::SecurityRequirement};

use super::error::ErrorBody;
use super::routes::{Admission, BodyLimit, Rules};

/// The service as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "skipstream",
        description = "Word embeddings that keep learning. Text is stored on disk and then learned; queries read the last \
                       published version of the vectors, and every answer says which version that was."
    ),
    components(schemas(ErrorBody)),
    tags(
        (name = "text", description = "Send text"),
        (name = "queries", description = "Query the current version"),
        (name = "change", description = "Changes over time"),
        (name = "operations", description = "Operate the service"),
    )
)]
struct Whole;

const TOKEN: &str = "A token from the token file. Its role is read, write or admin; each role includes the previous ones. \
                     Without a token file no token is needed, and the service listens on loopback only.";

/// The bytes of the complete document.
#[derive(Clone, Debug)]
pub struct Document(Bytes);

impl Document {
    pub fn new(document: &Value) -> Document {
        Document(format!("{document}\n").into())
    }
}

/// The document without routes.
pub fn start() -> Value {
    let mut document = serde_json::to_value(Whole::openapi()).expect("the document is plain data");
    document["components"]["securitySchemes"]["token"] =
        json!({"type": "http", "scheme": "bearer", "description": TOKEN});
    merge_descriptions(&mut document);
    document
}

/// Adds the operations of a route. From its rules follow the role that it needs, its limits and their errors.
pub fn add(
    document: &mut Value,
    rules: &Rules,
    timeout: Duration,
    paths: Paths,
    schemas: Vec<(String, RefOr<Schema>)>,
) {
    for (name, schema) in schemas {
        let mut schema = serde_json::to_value(schema).expect("a schema is plain data");
        merge_descriptions(&mut schema);
        document["components"]["schemas"][name] = schema;
    }
    let mut paths = serde_json::to_value(paths).expect("the paths are plain data");
    merge_descriptions(&mut paths);
    for (path, item) in paths.as_object_mut().into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            operation["operationId"] = operation_id(method, path).into();
            complete(operation, rules, timeout);
            document["paths"][path][method] = operation.take();
        }
    }
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "v1");
    [method].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

/// Adds what follows from the rules of a route, so that no route can forget it.
fn complete(operation: &mut Value, rules: &Rules, timeout: Duration) {
    let security = match rules.role {
        Some(role) => SecurityRequirement::new("token", [role.name()]),
        None => SecurityRequirement::default(),
    };
    operation["security"] = json!([security]);
    operation["x-lane"] = rules.lane.name().into();
    if rules.has_timeout {
        operation["x-timeout-seconds"] = timeout.as_secs_f64().into();
    }
    match rules.body {
        BodyLimit::Json(most) => operation["x-max-body-bytes"] = most.into(),
        // An empty body has no lines, which is not an error.
        BodyLimit::Text => operation["requestBody"]["required"] = false.into(),
        BodyLimit::None => {}
    }
    let summary = operation["summary"].clone();
    let responses = &mut operation["responses"];
    for (status, reason) in errors(rules) {
        if responses.get(status).is_none() {
            responses[status] = json!({ "description": reason });
        }
    }
    for (status, response) in responses.as_object_mut().into_iter().flatten() {
        if response["description"].as_str().is_none_or(str::is_empty) {
            response["description"] = summary.clone();
        }
        if status.starts_with(['4', '5']) && status != "431" && response.get("content").is_none() {
            let schema = json!({"$ref": "#/components/schemas/ErrorBody"});
            response["content"] = json!({"application/json": { "schema": schema }});
        }
    }
}

/// The errors that a gate, an extractor and the connection may answer with.
fn errors(rules: &Rules) -> Vec<(&'static str, &'static str)> {
    let mut errors = vec![("431", "The path and headers exceed 24 KiB; the response has no body")];
    if rules.role.is_some() {
        errors.extend([
            ("401", "The token is missing or unknown"),
            ("403", "The role of the token is not sufficient, or the request comes from another web page"),
        ]);
    }
    if rules.has_timeout {
        errors.push(("408", "The request timed out"));
    }
    if rules.body != BodyLimit::None {
        errors
            .extend([("413", "The request body is too large"), ("415", "The content type is not supported")]);
    }
    if rules.admission != Admission::Always {
        errors.extend([
            ("400", "The request is invalid; the message names the value and the limit"),
            ("503", "There are too many requests, or the service is stopping"),
        ]);
    }
    errors
}

/// utoipa describes an inline schema as "all of the schema and an object with this description", but numbers, strings and
/// arrays are not objects. This moves the description into the schema.
fn merge_descriptions(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(merge_descriptions),
        Value::Object(fields) => {
            fields.values_mut().for_each(merge_descriptions);
            let described = match fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                Some([schema, note]) if is_note(note) => Some((schema.clone(), note["description"].clone())),
                _ => None,
            };
            if let Some((Value::Object(schema), description)) = described {
                fields.remove("allOf");
                fields.extend(schema);
                fields.insert("description".to_owned(), description);
            }
        }
        _ => {}
    }
}

fn is_note(schema: &Value) -> bool {
    schema.as_object().is_some_and(|fields| {
        fields.len() == 2
            && fields.get("type").is_some_and(|kind| kind == "object")
            && fields.contains_key("description")
    })
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", tag = "operations",
    responses((status = 200, body = Object, description = "The OpenAPI document"))
)]
pub async fn openapi(Extension(Document(bytes)): Extension<Document>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
