//! The table of routes: the only list of what the service answers, to whom, where the work is done, and within which limits.
//!
//! The path, the methods and the documentation of a route are written at its handler. Everything else is here, and access
//! control, limits and the OpenAPI document follow from it: each route is wrapped in a gate that knows its rules.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::MethodRouter;
use serde_json::Value;
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;

use super::gate::{self, Gate};
use super::lanes::Lane;
use super::{change, controls, document, events, export, map, operations, query, text};
use crate::auth::Role;
use crate::page;
use crate::service::Service;
use crate::settings::MAX_JSON_BYTES;

/// The largest JSON body that has only a name, in bytes.
const MAX_NAME_BYTES: usize = 4 << 10;

/// The largest list of controls, in bytes.
const MAX_CONTROLS_BYTES: usize = 1 << 20;

/// The rules of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The role that it needs; `None` if it is public.
    pub role: Option<Role>,
    pub lane: Lane,
    pub body: BodyLimit,
    /// Whether the request timeout ends it.
    pub has_timeout: bool,
    pub admission: Admission,
}

/// The largest request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLimit {
    /// A body is not read.
    None,
    /// JSON of at most this many bytes.
    Json(usize),
    /// Text, of which the setting `max_body_size` is the limit.
    Text,
}

/// When a request is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// If its lane has room.
    Limited,
    /// Also on the connections that are spared for operations.
    Vital,
    /// Always.
    Always,
}

/// A route with its rules.
pub struct Route {
    rules: Rules,
    handlers: Handlers,
}

enum Handlers {
    Documented(Box<UtoipaMethodRouter<Arc<Service>>>),
    /// The web page.
    Page(Router<Arc<Service>>),
}

impl Route {
    fn new(role: Option<Role>, lane: Lane, handlers: Handlers) -> Route {
        let (body, admission) = (BodyLimit::None, Admission::Limited);
        Route { rules: Rules { role, lane, body, has_timeout: true, admission }, handlers }
    }

    fn body(mut self, body: BodyLimit) -> Route {
        self.rules.body = body;
        self
    }

    fn without_timeout(mut self) -> Route {
        self.rules.has_timeout = false;
        self
    }

    fn admission(mut self, admission: Admission) -> Route {
        self.rules.admission = admission;
        self
    }
}

/// All routes. A new one is one entry.
pub fn table() -> Vec<Route> {
    use Admission::{Always, Vital};
    use Lane::{Cpu, Disk, Download, Inline, Scan, Search, Stream, Upload};
    type Handler = UtoipaMethodRouter<Arc<Service>>;
    let documented = |handler: Handler| Handlers::Documented(Box::new(handler));
    let public = |lane, handler| Route::new(None, lane, documented(handler));
    let of = |role| move |lane, handler| Route::new(Some(role), lane, documented(handler));
    let (read, write, admin) = (of(Role::Read), of(Role::Write), of(Role::Admin));
    let batch = BodyLimit::Json(MAX_JSON_BYTES);
    vec![
        write(Upload, routes!(text::send)).body(BodyLimit::Text).without_timeout(),
        read(Stream, routes!(text::wait::wait)).without_timeout(),
        read(Scan, routes!(query::words::complete)),
        read(Inline, routes!(query::words::word)),
        read(Inline, routes!(query::phrases::list)),
        read(Search, routes!(query::neighbors::of_word)),
        read(Cpu, routes!(query::neighbors::of_many)).body(batch),
        read(Search, routes!(query::analogy::one)),
        read(Cpu, routes!(query::analogy::many)).body(batch),
        read(Search, routes!(query::next::predict)),
        read(Inline, routes!(query::similarity::one)),
        read(Cpu, routes!(query::similarity::many)).body(batch),
        read(Inline, routes!(query::odd_one_out::one)),
        read(Cpu, routes!(query::odd_one_out::many)).body(batch),
        read(Inline, routes!(query::vectors::one)),
        read(Cpu, routes!(query::vectors::many)).body(batch),
        read(Cpu, routes!(query::embeddings::create)).body(batch),
        read(Inline, routes!(query::embeddings::models)),
        read(Cpu, routes!(map::draw)),
        read(Cpu, routes!(change::history::of_word)),
        read(Cpu, routes!(change::emerging::list)),
        read(Cpu, routes!(change::movers::list)),
        read(Inline, routes!(change::snapshots::list)),
        admin(Disk, routes!(change::snapshots::save)).body(BodyLimit::Json(MAX_NAME_BYTES)).without_timeout(),
        admin(Disk, routes!(change::snapshots::delete)),
        admin(Stream, routes!(change::snapshots::roll_back))
            .body(BodyLimit::Json(MAX_NAME_BYTES))
            .without_timeout(),
        read(Inline, routes!(change::watch::list)),
        write(Disk, routes!(change::watch::add)),
        write(Disk, routes!(change::watch::remove)),
        read(Stream, routes!(events::listen)).without_timeout(),
        public(Inline, routes!(operations::healthz)).admission(Always),
        public(Inline, routes!(operations::readyz)).admission(Always),
        read(Inline, routes!(operations::metrics)).admission(Always),
        read(Inline, routes!(operations::stats)).admission(Vital),
        read(Inline, routes!(operations::history)),
        read(Inline, routes!(operations::settings)),
        read(Download, routes!(export::export)),
        admin(Disk, routes!(operations::checkpoint)).admission(Vital),
        read(Inline, routes!(controls::list)),
        admin(Stream, routes!(controls::control)).body(BodyLimit::Json(MAX_CONTROLS_BYTES)).without_timeout(),
        read(Inline, routes!(document::openapi)),
        Route::new(None, Inline, Handlers::Page(page::router())),
    ]
}

/// The routes of a table behind their gates, and the OpenAPI document.
pub fn build(table: Vec<Route>, gate: &Arc<Gate>) -> (Router<Arc<Service>>, Value) {
    let mut router = Router::new();
    let mut document = document::start();
    for Route { rules, handlers } in table {
        let layer = from_fn_with_state((gate.clone(), rules), gate::pass);
        router = match handlers {
            Handlers::Page(page) => router.merge(page.route_layer(layer)),
            Handlers::Documented(documented) => {
                let (schemas, paths, handler) = *documented;
                let handler: MethodRouter<Arc<Service>> = handler.route_layer(layer);
                let path = paths.paths.keys().next().expect("a handler has a path").clone();
                document::add(&mut document, &rules, gate.timeout(), paths, schemas);
                router.route(&path, handler)
            }
        };
    }
    (router, document)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::settings::ServeSettings;

    fn built() -> (Router<Arc<Service>>, Value) {
        build(table(), &Arc::new(Gate::new(&ServeSettings::default())))
    }

    /// Each documented method and path with its rules.
    fn entries() -> Vec<(String, String, Rules)> {
        let mut entries = Vec::new();
        for Route { rules, handlers } in table() {
            let Handlers::Documented(documented) = handlers else { continue };
            let (_, paths, _) = *documented;
            let paths = serde_json::to_value(paths).unwrap();
            for (path, item) in paths.as_object().unwrap() {
                for method in item.as_object().unwrap().keys() {
                    entries.push((method.clone(), path.clone(), rules));
                }
            }
        }
        entries
    }

    #[test]
    fn the_router_has_the_routes_of_the_table_and_no_others() {
        // The list that axum itself matches requests with.
        let shown = format!("{:?}", built().0);
        let (_, list) = shown.split_once("paths: {").unwrap();
        let (list, _) = list.split_once("\"}").unwrap();
        let routed: BTreeSet<&str> = list.split(['"', ',']).filter(|part| part.starts_with('/')).collect();
        let entries = entries();
        let mut expected: BTreeSet<&str> = entries.iter().map(|(_, path, _)| path.as_str()).collect();
        expected.extend(["/", "/docs", "/page/{*path}"]);
        assert_eq!(routed, expected);
    }

    #[test]
    fn the_document_has_the_roles_and_limits_of_the_table() {
        let (_, document) = built();
        let documented: usize =
            document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum();
        let entries = entries();
        assert_eq!(documented, entries.len());
        for (method, path, rules) in entries {
            let operation = &document["paths"][&path][&method];
            let role = operation["security"][0]["token"][0].as_str().map(|name| Role::by_name(name).unwrap());
            assert_eq!(role, rules.role, "{method} {path}");
            let has = |status: &str| operation["responses"].get(status).is_some();
            assert_eq!(has("401"), rules.role.is_some(), "{method} {path}");
            assert_eq!(operation["x-timeout-seconds"].is_number(), rules.has_timeout, "{method} {path}");
            assert!(has("408") || !rules.has_timeout, "{method} {path}");
            assert!(has("503") || path == "/healthz" || path == "/metrics", "{method} {path}");
            let has_body = operation.get("requestBody").is_some();
            assert_eq!(has_body, rules.body != BodyLimit::None, "{method} {path}");
            assert_eq!(has("413"), has_body, "{method} {path}");
            if let BodyLimit::Json(most) = rules.body {
                assert_eq!(operation["x-max-body-bytes"], most, "{method} {path}");
            }
            assert_eq!(operation["x-lane"], rules.lane.name(), "{method} {path}");
        }
    }

    #[test]
    fn only_health_checks_and_the_page_are_public_and_whatever_changes_anything_is_not_for_readers() {
        for (method, path, rules) in entries() {
            assert_eq!(rules.role.is_none(), path == "/healthz" || path == "/readyz", "{path}");
            let asks = method == "get" || matches!(rules.body, BodyLimit::Json(MAX_JSON_BYTES));
            assert_eq!(asks, rules.role <= Some(Role::Read), "{method} {path}");
        }
    }
}
