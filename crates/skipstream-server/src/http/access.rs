//! Whether a request may be answered.
//!
//! Which role a route needs stands in one place, beside the route: its `security` in the document of the API. A route
//! that says nothing needs `admin`, so that a forgotten line locks and does not open.
//!
//! Without tokens the service is open to whoever reaches loopback, and that includes every page in a browser on this
//! machine. So pages of other origins are refused, and a name that is not loopback's is refused as well: a foreign page could have its own name lead here, and would then be of the same origin.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa::openapi::OpenApi;

use super::ApiError;
use crate::auth::{Role, TokenFile};
use crate::settings::ServeSettings;

/// Who may do what.
#[derive(Debug)]
pub struct Access {
    tokens: Option<TokenFile>,
    origins: Vec<String>,
    routes: HashMap<(Method, String), Need>,
}

/// What a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    Role(Role),
}

impl Access {
    /// As the settings and the document of the API say.
    pub fn new(settings: &ServeSettings, document: &OpenApi) -> Access {
        let document = serde_json::to_value(document).expect("the document is plain data");
        let mut routes = HashMap::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                if let Ok(method) = Method::from_bytes(method.to_ascii_uppercase().as_bytes()) {
                    routes.insert((method, path.clone()), need(&operation["security"]));
                }
            }
        }
        let tokens = settings.tokens.as_deref().map(TokenFile::new);
        Access { tokens, origins: settings.cors_origins.clone(), routes }
    }

    /// Whether it is one of the tokens.
    pub fn is_token(&self, text: &str) -> bool {
        self.tokens.as_ref().is_some_and(|file| file.tokens().role(text.as_bytes()).is_some())
    }

    /// Whether whoever sent these headers may still ask: a token may have been taken back meanwhile.
    pub fn may_read(&self, headers: &HeaderMap) -> bool {
        self.tokens
            .as_ref()
            .is_none_or(|file| bearer(headers).is_some_and(|token| file.tokens().role(token).is_some()))
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        let Some(path) = request.extensions().get::<MatchedPath>() else { return Ok(()) };
        // What answers GET answers HEAD.
        let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
        // A method that is not there at all is refused as such before; one that does not stand in the document is locked.
        let locked = Need::Role(Role::Admin);
        match self.routes.get(&(method, path.as_str().to_owned())).copied().unwrap_or(locked) {
            Need::Nothing => Ok(()),
            Need::Role(needed) => match &self.tokens {
                Some(file) => {
                    let Some(token) = bearer(request.headers()) else {
                        return Err(unauthorized("a token is needed: `Authorization: Bearer TOKEN`"));
                    };
                    check_role(file.tokens().role(token), needed)
                }
                None => self.check_open(request),
            },
        }
    }

    fn check_open(&self, request: &Request) -> Result<(), ApiError> {
        let host = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or_default());
        let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        if !host.is_none_or(is_loopback) {
            return Err(forbidden(
                "without tokens only loopback's own names are answered, such as localhost",
            ));
        }
        let headers = request.headers();
        match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
            Some(origin) if self.origins.iter().any(|allowed| allowed == origin) => return Ok(()),
            Some(origin) if origin.split_once("://").map(|(_, rest)| rest) != host => {
                return Err(foreign());
            }
            _ => {}
        }
        match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            // Who follows a link sees the answer; the page with the link does not.
            Some(_) if request.method().is_safe() && is_navigation(headers) => Ok(()),
            Some(_) => Err(foreign()),
        }
    }
}

/// Lets a request through, or not.
pub async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    match access.check(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn need(security: &Value) -> Need {
    let Some(requirements) = security.as_array() else { return Need::Role(Role::Admin) };
    if requirements.iter().any(|requirement| requirement.as_object().is_some_and(|one| one.is_empty())) {
        return Need::Nothing;
    }
    let names = requirements.iter().filter_map(|requirement| requirement["token"][0].as_str());
    Need::Role(names.filter_map(Role::by_name).max().unwrap_or(Role::Admin))
}

fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

fn foreign() -> ApiError {
    forbidden("a page of another origin may neither ask nor change anything, unless cors_origins names it")
}

/// The token that was sent, if there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked(b"bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

fn check_role(role: Option<Role>, needed: Role) -> Result<(), ApiError> {
    match role {
        None => Err(unauthorized("the token is not known; it may be mistyped, or no longer valid")),
        Some(role) if role < needed => Err(forbidden(format!(
            "the token has the role {}; {} is needed here",
            role.name(),
            needed.name()
        ))),
        Some(_) => Ok(()),
    }
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

fn forbidden(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_route_that_says_nothing_needs_the_highest_role() {
        assert_eq!(need(&Value::Null), Need::Role(Role::Admin));
        assert_eq!(need(&json!([])), Need::Role(Role::Admin));
        assert_eq!(need(&json!([{"token": []}])), Need::Role(Role::Admin));
        assert_eq!(need(&json!([{"token": ["reed"]}])), Need::Role(Role::Admin));
        assert_eq!(need(&json!([{"token": ["read"]}])), Need::Role(Role::Read));
        assert_eq!(need(&json!([{}])), Need::Nothing);
    }

    #[test]
    fn loopback_is_known_by_its_names() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "page.localhost:8321",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:8321",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "127.0.0.1.example.org", "[::2]", "10.0.0.1", "::1x"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_token_is_what_stands_behind_bearer() {
        let one = |value: &'static str| {
            HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))])
        };
        assert_eq!(bearer(&one("Bearer abc")), Some(b"abc".as_slice()));
        assert_eq!(bearer(&one("bEARER   abc ")), Some(b"abc".as_slice()));
        for wrong in ["", "Bearer", "Basic abc", "abc"] {
            assert_eq!(bearer(&one(wrong)), None);
        }
        let mut two = one("Bearer abc");
        two.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        assert_eq!(bearer(&two), None);
    }
}
