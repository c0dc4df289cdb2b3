//! Access rules, checked for every route of the OpenAPI document, so that none is forgotten.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use serde_json::Value;

use crate::client::{ADMIN, Client, READ, WRITE, request};

/// A route of the document and the role it needs; `None` if it is public.
#[derive(Debug)]
struct Route {
    method: Method,
    path: String,
    role: Option<String>,
}

impl Route {
    /// A request that would have an effect if it were allowed.
    fn request(&self, headers: &[(HeaderName, &str)]) -> Request<Body> {
        let path = self.path.replace("{word}", "king").replace("{seq}", "1").replace("{name}", "monday");
        let (kind, body) = match self.path.as_str() {
            "/v1/text" => ("text/plain", "a line\n"),
            "/v1/snapshots" => ("application/json", r#"{"name": "monday"}"#),
            "/v1/rollback" => ("application/json", r#"{"snapshot": "monday"}"#),
            "/v1/controls" => ("application/json", r#"{"controls": [{"block": {"word": "king"}}]}"#),
            _ => ("application/json", "{}"),
        };
        let mut request = request(self.method.clone(), &path, Body::from(body));
        request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        for (name, value) in headers {
            request.headers_mut().insert(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        request
    }

    fn changes(&self) -> bool {
        !self.method.is_safe()
    }
}

async fn routes() -> Vec<Route> {
    let document = Client::new().get("/openapi.json").await.good();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path}"));
            let role = security[0]["token"][0].as_str().map(str::to_owned);
            routes.push(Route { method: method.to_uppercase().parse().unwrap(), path: path.clone(), role });
        }
    }
    assert!(routes.len() > 20);
    routes
}

/// Everything that a request could have changed.
async fn state(client: &Client) -> Value {
    let mut state = vec![client.service.log.last().into()];
    for path in ["/v1/watch", "/v1/snapshots", "/v1/controls"] {
        let asked = with_token(request(Method::GET, path, Body::empty()), READ);
        let mut answer = client.send(asked).await.good();
        answer["snapshot"] = Value::Null;
        state.push(answer);
    }
    state.push(client.service.status.load().checkpoint.is_some().into());
    state.into()
}

fn with_token(mut request: Request<Body>, token: &str) -> Request<Body> {
    let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    request.headers_mut().insert(header::AUTHORIZATION, value);
    request
}

#[tokio::test]
async fn only_liveness_and_readiness_are_public() {
    let open: Vec<String> =
        routes().await.into_iter().filter(|route| route.role.is_none()).map(|route| route.path).collect();
    assert_eq!(open, ["/healthz", "/readyz"]);
}

#[tokio::test]
async fn without_a_token_nothing_is_revealed_or_changed() {
    let client = Client::with_tokens();
    let before = state(&client).await;
    let basic = format!("Basic {ADMIN}");
    let nearly = format!("Bearer {}", &ADMIN[..ADMIN.len() - 1]);
    let more = format!("Bearer {ADMIN}x");
    for route in routes().await.iter().filter(|route| route.role.is_some()) {
        for sent in ["", "Bearer", "Bearer ", "Bearer wrong-0123456789", &basic, &nearly, &more] {
            let headers = if sent.is_empty() { vec![] } else { vec![(header::AUTHORIZATION, sent)] };
            let answer = client.send(route.request(&headers)).await;
            let is_token = sent.trim().strip_prefix("Bearer ").is_some();
            let message = if is_token { "unknown token" } else { "" };
            answer.assert_refused(401, "unauthorized", message);
            assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer", "{route:?}");
        }
        // A token that is not in its place is none.
        let mut lost = route.request(&[(HeaderName::from_static("x-token"), ADMIN)]);
        *lost.uri_mut() =
            format!("{}?token={ADMIN}&access_token={ADMIN}", lost.uri().path()).parse().unwrap();
        client.send(lost).await.assert_refused(401, "unauthorized", "");
        let mut twice = with_token(route.request(&[]), ADMIN);
        twice
            .headers_mut()
            .append(header::AUTHORIZATION, HeaderValue::from_static("Bearer wrong-0123456789"));
        client.send(twice).await.assert_refused(401, "unauthorized", "");
    }
    assert_eq!(state(&client).await, before);
}

#[tokio::test]
async fn a_path_has_no_methods_but_those_of_the_document() {
    let client = Client::with_tokens();
    let routes = routes().await;
    for Route { path, .. } in &routes {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            if routes.iter().any(|route| route.method == method && route.path == *path) {
                continue;
            }
            let asked = Route { method, path: path.clone(), role: None };
            client.send(asked.request(&[])).await.assert_refused(405, "method-not-allowed", "");
        }
    }
}

#[tokio::test]
async fn an_insufficient_role_changes_nothing() {
    let client = Client::with_tokens();
    let before = state(&client).await;
    let routes = routes().await;
    for route in routes.iter().filter(|route| route.changes()) {
        let (needed, tokens) = match route.role.as_deref() {
            Some("admin") => ("admin", vec![READ, WRITE]),
            Some("write") => ("write", vec![READ]),
            Some("read") => continue,
            role => panic!("{role:?}"),
        };
        for token in tokens {
            let answer = client.send(with_token(route.request(&[]), token)).await;
            answer.assert_refused(403, "forbidden", &format!("this request requires {needed}"));
        }
    }
    assert_eq!(state(&client).await, before);
}

#[tokio::test]
async fn a_sufficient_role_is_allowed() {
    let client = Client::with_tokens();
    let send =
        |method, path: &str, token| client.send(with_token(request(method, path, Body::from("x")), token));
    for token in [READ, WRITE, ADMIN] {
        assert_eq!(send(Method::GET, "/v1/words/king", token).await.status, 200);
    }
    for token in [WRITE, ADMIN] {
        assert_eq!(send(Method::POST, "/v1/text", token).await.status, 200);
    }
    assert_eq!(client.service.log.last(), 2);
    // What answers GET answers HEAD, by the same rule.
    assert_eq!(client.send(request(Method::HEAD, "/v1/words/king", Body::empty())).await.status, 401);
    // The page is there without a token: it is what asks for one.
    for path in ["/", "/docs", "/healthz", "/readyz"] {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_has_no_access() {
    let client = Client::new();
    let before = state(&client).await;
    let site = HeaderName::from_static("sec-fetch-site");
    for route in routes().await.iter().filter(|route| route.role.is_some()) {
        for foreign in [
            vec![(header::ORIGIN, "https://example.org")],
            vec![(header::ORIGIN, "null")],
            vec![(header::ORIGIN, "http://localhost:9999")],
            vec![(header::ORIGIN, "https://localhost:8321")],
            vec![(header::ORIGIN, "localhost:8321")],
            vec![(header::ORIGIN, "http://localhost:8321.example.org")],
            vec![(site.clone(), "cross-site")],
            vec![(site.clone(), "same-site")],
            vec![(header::HOST, "example.org"), (header::ORIGIN, "http://example.org")],
            vec![(header::HOST, "example.org")],
        ] {
            client.send(route.request(&foreign)).await.assert_refused(403, "forbidden", "");
        }
    }
    assert_eq!(state(&client).await, before);
    let words = Route { method: Method::GET, path: "/v1/words".to_owned(), role: None };
    let followed = [(site.clone(), "cross-site"), (HeaderName::from_static("sec-fetch-mode"), "navigate")];
    assert_eq!(client.send(words.request(&followed)).await.status, 200);
    let own = [(header::ORIGIN, "http://localhost:8321"), (site, "same-origin")];
    let text = Route { method: Method::POST, path: "/v1/text".to_owned(), role: None };
    assert_eq!(client.send(text.request(&own)).await.status, 200);
}

#[tokio::test]
async fn dns_rebinding_is_rejected() {
    let client = Client::new();
    for route in routes().await.iter().filter(|route| route.role.is_some()) {
        let answer = client.send(route.request(&[(header::HOST, "rebound.example.org:8321")])).await;
        answer.assert_refused(403, "forbidden", "only loopback host names");
    }
}

#[tokio::test]
async fn other_origins_have_access_only_if_listed() {
    let preflight = |origin: &str| {
        let mut asked = request(Method::OPTIONS, "/v1/text", Body::empty());
        asked.headers_mut().insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        asked.headers_mut().insert(header::ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST"));
        asked
    };
    let allowed = |headers: &HeaderMap| headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned();
    let closed = Client::new();
    assert_eq!(allowed(&closed.send(preflight("https://friend.example")).await.headers), None);
    let open = Client::with(|settings| settings.cors_origin = vec!["https://friend.example".to_owned()]);
    let answer = open.send(preflight("https://friend.example")).await;
    assert_eq!(allowed(&answer.headers).unwrap(), "https://friend.example");
    assert_eq!(allowed(&open.send(preflight("https://other.example")).await.headers), None);
    let text = Route { method: Method::POST, path: "/v1/text".to_owned(), role: None };
    let friend = [
        (header::ORIGIN, "https://friend.example"),
        (HeaderName::from_static("sec-fetch-site"), "cross-site"),
    ];
    assert_eq!(open.send(text.request(&friend)).await.status, 200);
    // Behind a proxy that speaks HTTPS, the page has another origin than the service sees. The proxy's headers are not
    // trusted; the origin is listed.
    let secure = (header::ORIGIN, "https://localhost:8321");
    let forwarded = (HeaderName::from_static("x-forwarded-proto"), "https");
    let page = [secure.clone(), forwarded];
    closed.send(text.request(&page)).await.assert_refused(403, "forbidden", "unless cors_origin lists them");
    let listed = Client::with(|settings| settings.cors_origin = vec![secure.1.to_owned()]);
    assert_eq!(listed.send(text.request(&page)).await.status, 200);
}
