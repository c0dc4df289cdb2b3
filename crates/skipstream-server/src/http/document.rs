//! The OpenAPI document, generated from the routes.

use std::sync::Arc;

use axum::Extension;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::answer::Json;
use super::error::ErrorBody;

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
pub struct Document;

const TOKEN: &str = "A token from the token file. Its role is read, write or admin; each role includes the previous ones. \
                     Without a token file no token is needed, and the service listens on loopback only.";

/// Errors of every operation.
const ALWAYS: [(&str, &str); 6] = [
    ("400", "The request is invalid; the message names the value and the limit"),
    ("401", "The token is missing or unknown"),
    ("403", "The role of the token is not sufficient, or the request comes from another web page"),
    ("408", "The request timed out"),
    ("431", "The path and headers exceed 24 KiB; the response has no body"),
    ("503", "There are too many requests, or the service is stopping"),
];

/// Errors of every operation with a request body.
const WITH_BODY: [(&str, &str); 2] =
    [("413", "The request body is too large"), ("415", "The content type is not supported")];

/// Adds the token scheme, and to every operation a unique id, descriptions and the common errors, so that no route can
/// forget them.
pub fn complete(document: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(document).expect("the document is plain data");
    merge_descriptions(&mut document);
    document["components"]["securitySchemes"]["token"] =
        json!({"type": "http", "scheme": "bearer", "description": TOKEN});
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            operation["operationId"] = operation_id(method, path).into();
            complete_operation(path, operation);
        }
    }
    document
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "v1");
    [method].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

fn complete_operation(path: &str, operation: &mut Value) {
    let summary = operation["summary"].clone();
    let has_body = !operation["requestBody"].is_null();
    if path == "/v1/text" {
        // An empty body has no lines, which is not an error.
        operation["requestBody"]["required"] = false.into();
    }
    let responses = &mut operation["responses"];
    // `/healthz` always succeeds.
    if path != "/healthz" {
        let with_body = if has_body { &WITH_BODY[..] } else { &[] };
        for (status, reason) in ALWAYS.iter().chain(with_body) {
            if responses.get(status).is_none() {
                responses[*status] = json!({ "description": reason });
            }
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
    responses((status = 200, body = Object, description = "The OpenAPI document")), security(("token" = ["read"]))
)]
pub async fn openapi(Extension(document): Extension<Arc<Value>>) -> Response {
    Json(&*document).into_response()
}
