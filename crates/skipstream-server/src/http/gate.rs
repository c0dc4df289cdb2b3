//! The middleware of each route: applies its rules.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::ApiError;
use super::access::Access;
use super::body_end::on_body_end;
use super::lanes::{Lanes, Work};
use super::limits::{Limits, busy};
use super::memory::Share;
use super::routes::{Admission, Rules};
use crate::places;
use crate::settings::{SHORT_BYTES, ServeSettings};

/// Marks a request on a connection beyond the limit.
#[derive(Clone, Copy, Debug)]
pub struct Spare;

/// What the rules are applied to.
#[derive(Debug)]
pub struct Gate {
    pub access: Arc<Access>,
    limits: Limits,
    pub lanes: Arc<Lanes>,
}

impl Gate {
    pub fn new(settings: &ServeSettings) -> Gate {
        Gate {
            access: Arc::new(Access::new(settings)),
            limits: Limits::new(settings),
            lanes: Arc::new(Lanes::new()),
        }
    }

    /// The request timeout.
    pub fn timeout(&self) -> Duration {
        self.limits.timeout
    }
}

/// Passes a request on if its route allows it, and ends it when it takes too long.
pub async fn pass(
    State((gate, rules)): State<(Arc<Gate>, Rules)>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.extensions().get::<Spare>().is_some() && rules.admission == Admission::Limited {
        let message = "all connections are in use, which is the limit; this one answers only operations";
        return ([(header::CONNECTION, "close")], busy(message.to_owned())).into_response();
    }
    if let Some(role) = rules.role
        && let Err(error) = gate.access.check(&request, role)
    {
        return error.into_response();
    }
    let client = client(&request);
    let admitted = match gate.limits.admit(&rules, client) {
        Ok(admitted) => admitted,
        Err(error) => return error.into_response(),
    };
    let work = gate.lanes.work(&rules, client);
    request.extensions_mut().insert(work.clone());
    if let Some(place) = admitted.place() {
        request.extensions_mut().insert(place);
    }
    let time = if rules.has_timeout { gate.limits.timeout } else { Duration::MAX };
    let Ok(mut response) = timeout(time, next.run(request)).await else {
        let message = format!("no answer within the timeout of {} seconds", time.as_secs_f64());
        return ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response();
    };
    // A long answer was counted while it was made.
    let answer = response.extensions_mut().remove::<Arc<Share>>();
    let response = match counted(response, answer, &work).await {
        Ok(response) => response,
        Err(error) => return error.into_response(),
    };
    // The memory of the request is free now.
    on_body_end(response, move |_| drop(admitted))
}

/// Binds a long answer to the memory that it takes. The connection drops a body as soon as it has all of its bytes, and
/// keeps those until they are sent; so the bytes own the memory.
async fn counted(response: Response, answer: Option<Arc<Share>>, work: &Work) -> Result<Response, ApiError> {
    let length = response.body().size_hint().exact().unwrap_or_default() as usize;
    if length <= SHORT_BYTES {
        return Ok(response);
    }
    let share = match answer {
        Some(share) => share,
        None => {
            let mut share = work.answer();
            share.grow_to(length)?;
            Arc::new(share)
        }
    };
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.map_err(ApiError::internal)?.to_bytes();
    Ok(Response::from_parts(head, Bytes::from_owner(Counted { bytes, _share: share }).into()))
}

struct Counted {
    bytes: Bytes,
    _share: Arc<Share>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Handlers take their work as a parameter.
impl<S: Sync> FromRequestParts<S> for Work {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Work, ApiError> {
        let work = parts.extensions.get().cloned();
        work.ok_or_else(|| ApiError::internal("a route is not in the table"))
    }
}

/// Who sent a request: an address, or all addresses that one client has.
fn client(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| places::network(peer.0.ip()))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::super::lanes::Lane;
    use super::super::routes::BodyLimit;
    use super::*;

    #[tokio::test]
    async fn a_spare_connection_answers_operations_alone() {
        let gate = Arc::new(Gate::new(&ServeSettings::default()));
        let ask = async |admission: Admission, is_spare: bool| {
            let rules =
                Rules { role: None, lane: Lane::Inline, body: BodyLimit::None, has_timeout: true, admission };
            let layer = from_fn_with_state((gate.clone(), rules), pass);
            let router: Router = Router::new().route("/", get(|| async { "answer" })).layer(layer);
            let mut request = Request::get("/").body(axum::body::Body::empty()).unwrap();
            if is_spare {
                request.extensions_mut().insert(Spare);
            }
            router.oneshot(request).await.unwrap()
        };
        for (admission, status) in
            [(Admission::Always, 200), (Admission::Vital, 200), (Admission::Limited, 503)]
        {
            assert_eq!(ask(admission, true).await.status(), status, "{admission:?}");
            assert_eq!(ask(admission, false).await.status(), 200, "{admission:?}");
        }
        assert_eq!(ask(Admission::Limited, true).await.headers()[header::CONNECTION], "close");
    }

    #[tokio::test]
    async fn answers_that_nobody_reads_are_counted() {
        let gate = Arc::new(Gate::new(&ServeSettings::default()));
        let (role, lane, body) = (None, Lane::Cpu, BodyLimit::None);
        let rules = Rules { role, lane, body, has_timeout: true, admission: Admission::Limited };
        let layer = from_fn_with_state((gate.clone(), rules), pass);
        let router: Router = Router::new().route("/", get(|| async { vec![0u8; 15 << 20] })).layer(layer);
        let ask = async || {
            let request = Request::get("/").body(axum::body::Body::empty()).unwrap();
            router.clone().oneshot(request).await.unwrap()
        };
        let mut unread = Vec::new();
        for _ in 0..4 {
            let response = ask().await;
            assert_eq!(response.status(), 200);
            // The connection has the bytes, and not the body any more.
            unread.push(response.into_body().frame().await.unwrap().unwrap());
        }
        let refused = ask().await;
        assert_eq!(
            (refused.status(), &refused.headers()[header::RETRY_AFTER]),
            (503.try_into().unwrap(), &"1".parse().unwrap())
        );
        unread.pop();
        assert_eq!(ask().await.status(), 200, "what was dropped is free again");
    }
}
