//! Checks whether a request is allowed.
//!
//! The role that a route needs is in the table of routes.
//!
//! Without tokens, anyone who can reach the port has full access, and that includes every web page in a browser on this
//! machine. So requests from other origins are rejected, and so are host names other than loopback's: a page could point
//! its own name at this machine and would then be of the same origin (DNS rebinding). The service speaks plain HTTP, so a
//! page of its own origin has the scheme `http`. Behind a proxy that speaks HTTPS, the origin of the page must be listed in
//! `cors_origin`; headers such as `X-Forwarded-Proto` are not trusted, because anyone can send them.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::ApiError;
use crate::auth::{Role, TokenFile};
use crate::settings::ServeSettings;

#[derive(Debug)]
pub struct Access {
    tokens: Option<TokenFile>,
    origins: Vec<String>,
}

impl Access {
    pub fn new(settings: &ServeSettings) -> Access {
        let tokens = settings.tokens.as_deref().map(TokenFile::new);
        Access { tokens, origins: settings.cors_origin.clone() }
    }

    pub fn is_token(&self, text: &str) -> bool {
        self.tokens.as_ref().is_some_and(|file| file.tokens().role(text.as_bytes()).is_some())
    }

    /// An error if a request may not do what needs this role.
    pub fn check(&self, request: &Request, needed: Role) -> Result<(), ApiError> {
        if self.tokens.is_none() {
            return self.check_origin(request);
        }
        self.check_token(request.headers(), needed)
    }

    /// An error if tokens are required and the one in these headers does not have this role, or no longer has it.
    pub fn check_token(&self, headers: &HeaderMap, needed: Role) -> Result<(), ApiError> {
        let Some(file) = &self.tokens else { return Ok(()) };
        let Some(token) = bearer(headers) else {
            return Err(unauthorized("a token is required: send `Authorization: Bearer TOKEN`"));
        };
        match file.tokens().role(token) {
            None => Err(unauthorized("unknown token; it may be mistyped or revoked")),
            Some(role) if role < needed => Err(forbidden(format!(
                "the token has the role {}; this request requires {}",
                role.name(),
                needed.name()
            ))),
            Some(_) => Ok(()),
        }
    }

    fn check_origin(&self, request: &Request) -> Result<(), ApiError> {
        let headers = request.headers();
        let host = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
        let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        if !host.is_none_or(is_loopback) {
            return Err(forbidden("without tokens, only loopback host names such as localhost are allowed"));
        }
        match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
            Some(origin) if self.origins.iter().any(|allowed| allowed == origin) => return Ok(()),
            Some(origin) if origin.strip_prefix("http://") != host => return Err(foreign()),
            _ => {}
        }
        match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            // The answer to a followed link is shown to the user; the page with the link cannot read it.
            Some(_) if request.method().is_safe() && is_navigation(headers) => Ok(()),
            Some(_) => Err(foreign()),
        }
    }
}

fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

/// The bearer token, if there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked(b"bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

fn foreign() -> ApiError {
    forbidden("web pages of other origins have no access, unless cors_origin lists them")
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

fn forbidden(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

fn is_loopback(host: &str) -> bool {
    let Some(name) = host_name(host) else { return false };
    if let Some(address) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// The name or address in a valid `Host`: a host, and perhaps a port, but no user.
pub fn host_name(host: &str) -> Option<&str> {
    let authority: Authority = host.parse().ok()?;
    let (name, port) = host.split_at_checked(authority.host().len())?;
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_whole =
        name == authority.host() && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
    let is_closed = name.find(']').is_none_or(|end| end + 1 == name.len());
    (is_whole && is_closed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_are_recognized() {
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
        for host in [
            "",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "[::2]",
            "10.0.0.1",
            "::1x",
            "127.0.0.1:1@name",
            "localhost@name",
            "name@localhost",
            "[::1]evil.com",
            "[::1]evil.com:80",
            "localhost:abc",
            "localhost:+80",
            "localhost:65536",
            "localhost:80:80",
            "localhost/",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_token_follows_bearer() {
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
