//! The web page.
//!
//! The files in `page/` are embedded in the program, so the page needs neither a build step nor the network. A debug build
//! reads them from the source folder instead.

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::http::ApiError;
use crate::http::extract::Path;

/// The page may use only its own server: it works offline, and a word that looks like a script stays a word.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

/// The page at `/`, the API documentation at `/docs`, and their files. They need no token: they ask for one.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(async |headers: HeaderMap| file("index.html", &headers)))
        .route("/docs", get(async |headers: HeaderMap| file("docs.html", &headers)))
        .route(
            "/page/{*path}",
            get(async |Path(path): Path<String>, headers: HeaderMap| file(&path, &headers)),
        )
}

fn file(path: &str, request: &HeaderMap) -> Response {
    let (Some(file), Some(media_type)) = (Files::get(path), media_type(path)) else {
        return ApiError::new(StatusCode::NOT_FOUND, "not-found", "there is no such file").into_response();
    };
    let tag = entity_tag(&file);
    // A new version of the program uses the same file names, so browsers must revalidate.
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, tag.clone()),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    if is_cached(&tag, request) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, HeaderValue::from_static(media_type))], file.data).into_response()
}

/// The media type of a file; `None` if it is not part of the page.
fn media_type(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}

fn entity_tag(file: &EmbeddedFile) -> HeaderValue {
    let mut tag = String::from("\"");
    for byte in &file.metadata.sha256_hash()[..16] {
        tag.push_str(&format!("{byte:02x}"));
    }
    tag.push('"');
    HeaderValue::try_from(tag).expect("quotes and hexadecimal digits are visible ASCII")
}

/// Whether the browser has this version of the file.
fn is_cached(tag: &HeaderValue, request: &HeaderMap) -> bool {
    let tags = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    tags.flat_map(|tags| tags.split(','))
        .map(|one| one.trim())
        .any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one).as_bytes() == tag.as_bytes())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn ask(path: &str, known: Option<&str>) -> (StatusCode, HeaderMap, String) {
        let mut request = Request::get(path);
        if let Some(tag) = known {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = router::<()>().with_state(()).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn pages_and_files_have_their_types_and_a_policy() {
        for (path, media_type) in [
            ("/", "text/html; charset=utf-8"),
            ("/docs", "text/html; charset=utf-8"),
            ("/page/scripts/main.js", "text/javascript; charset=utf-8"),
            ("/page/styles/base.css", "text/css; charset=utf-8"),
            ("/page/icon.svg", "image/svg+xml"),
        ] {
            let (status, headers, body) = ask(path, None).await;
            assert_eq!(status, StatusCode::OK, "{path}");
            assert_eq!(headers[header::CONTENT_TYPE], media_type, "{path}");
            assert!(!headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("unsafe"), "{path}");
            assert!(!body.is_empty(), "{path}");
        }
    }

    #[tokio::test]
    async fn a_cached_file_is_not_sent_again() {
        let (_, headers, _) = ask("/", None).await;
        let tag = headers[header::ETAG].to_str().unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let (status, headers, body) = ask("/", Some(&known)).await;
            assert_eq!(status, StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(headers[header::ETAG], tag);
            assert!(body.is_empty());
        }
        assert_eq!(ask("/", Some("\"other\"")).await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn other_files_are_not_found() {
        for path in [
            "/page/none.js",
            "/page/scripts",
            "/page/../Cargo.toml",
            "/page/%2e%2e/Cargo.toml",
            "/page/..%2fsrc%2fpage.rs",
            "/page//etc/passwd",
            "/page/%00.js",
        ] {
            let (status, headers, body) = ask(path, None).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
            assert_eq!(headers[header::CONTENT_TYPE], "application/json");
            assert!(body.contains("not-found"), "{path}: {body}");
        }
    }

    #[test]
    fn every_file_has_a_type_and_names_no_other_host() {
        for path in Files::iter() {
            assert!(media_type(&path).is_some(), "{path}");
            let file = Files::get(&path).unwrap();
            let text = str::from_utf8(&file.data).unwrap();
            // XML namespaces look like addresses but are not loaded.
            let text = text.replace("http://www.w3.org/", "");
            for scheme in ["http://", "https://"] {
                assert!(!text.contains(scheme), "{path} has {scheme}");
            }
        }
    }
}
