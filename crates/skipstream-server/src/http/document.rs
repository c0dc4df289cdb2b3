//! The document of the API, made of the routes themselves.

use std::sync::Arc;

use axum::Extension;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use super::error::ErrorBody;
use crate::http::answer::Json;

/// What it says of the service as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "skipstream",
        description = "Word embeddings that never stop learning. Text comes in, is made safe on disk and learned; \
                       questions are answered from what was published last, and every answer says which snapshot that was."
    ),
    components(schemas(ErrorBody)),
    modifiers(&Token),
    tags(
        (name = "text", description = "Text comes in"),
        (name = "questions", description = "Questions about what was published last"),
        (name = "change", description = "What changed over time"),
        (name = "operations", description = "How the service does"),
    )
)]
pub struct Document;

struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A token of the service's file. Its role is read, write or admin; each may do what those before it may. \
             Without such a file the service is open, and listens on loopback only.",
        ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}

/// What may go wrong with any request: status and reason.
const ALWAYS: [(&str, &str); 6] = [
    ("400", "The request says something that cannot be; the message names it and the limit"),
    ("401", "There are tokens, and none of them was sent"),
    ("403", "The token's role may not do this, or the request comes from a foreign page"),
    ("408", "The answer took longer than it may"),
    ("431", "The path and the headers are longer than 24 KiB; there is no body"),
    ("503", "Too many requests at a time, or the service is stopping"),
];

/// What may go wrong with any request that has a body.
const WITH_BODY: [(&str, &str); 2] =
    [("413", "The body is too large"), ("415", "The body is of another type")];

/// Adds what may go wrong with any request, so that no route has to repeat it and none can forget it; the body of every
/// answer that says what is wrong; and what OpenAPI demands of all: a name of its own, and answers that are described.
pub fn complete(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
            ("options", &mut item.options),
            ("head", &mut item.head),
            ("patch", &mut item.patch),
            ("trace", &mut item.trace),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            operation.operation_id = Some(name(method, path));
            describe_answers(operation);
            // Whether the process lives is always said.
            if path != "/healthz" {
                complete_operation(operation);
            }
            // An empty body is no line, and no error.
            if path == "/v1/text"
                && let Some(RefOr::T(body)) = &mut operation.request_body
            {
                body.required = Some(Required::False);
            }
        }
    }
}

/// The name of an operation: functions of ours may be called alike, a method of a path is there once.
fn name(method: &str, path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "v1");
    [method].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

/// An answer of which nothing else is said is what the operation is there for.
fn describe_answers(operation: &mut Operation) {
    let purpose = operation.summary.as_deref().unwrap_or("The answer");
    for answer in operation.responses.responses.values_mut() {
        if let RefOr::T(answer) = answer
            && answer.description.is_empty()
        {
            purpose.clone_into(&mut answer.description);
        }
    }
}

fn complete_operation(operation: &mut Operation) {
    let with_body = operation.request_body.as_ref().map_or(&[][..], |_| &WITH_BODY[..]);
    let answers = &mut operation.responses.responses;
    for (status, reason) in ALWAYS.iter().chain(with_body) {
        let answer = || RefOr::T(ResponseBuilder::new().description(*reason).build());
        answers.entry((*status).to_owned()).or_insert_with(answer);
    }
    for (status, answer) in answers {
        if let RefOr::T(answer) = answer
            && status.starts_with(['4', '5'])
            // This is said before the request is understood.
            && status != "431"
            && answer.content.is_empty()
        {
            let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
            answer.content.insert("application/json".to_owned(), RefOr::T(body));
        }
    }
}

/// The finished document.
#[derive(Clone, Debug)]
pub struct Finished(Arc<Value>);

impl Finished {
    /// As it is sent.
    pub fn new(document: &utoipa::openapi::OpenApi) -> Finished {
        let mut document = serde_json::to_value(document).expect("the document is plain data");
        mend(&mut document);
        Finished(Arc::new(document))
    }
}

/// utoipa describes a schema that stands in its place as "all of the schema, and of an object with this description", and
/// no number, text or list is an object. What is meant is the schema with the description.
fn mend(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(mend),
        Value::Object(fields) => {
            fields.values_mut().for_each(mend);
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
    responses((status = 200, body = Object, description = "The document of the API")), security(("token" = ["read"]))
)]
pub async fn openapi(Extension(Finished(document)): Extension<Finished>) -> Response {
    Json(&*document).into_response()
}
