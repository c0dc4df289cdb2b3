//! Logs the body of an upload while it arrives.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout};

use super::decoder::Decoder;
use super::problem::Problem;
use crate::error::Error;
use crate::http::ApiError;
use crate::log::{Accepted, Chunk, IdempotencyKey, Upload};
use crate::places::Place;
use crate::service::Service;

/// A line is logged after this delay, even if no chunk is full by then.
const LOG_AFTER: Duration = Duration::from_millis(200);

/// A pipe may be idle for this many request timeouts, an hour by default.
const IDLE_TIMES: u32 = 120;

/// An upload that brings fewer bytes than this within the 5 seconds that it may pause has paused: it gives way to others. That is
/// 16 KiB per second, the least rate of a download.
const LEAST_BYTES: usize = 80 << 10;

/// Interval at which an idle upload checks for shutdown.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Logs all lines of a body, as long as there is permission. An error says which lines were accepted before it.
pub async fn log(
    service: &Service,
    mut decoder: Decoder,
    body: Body,
    key: Option<IdempotencyKey>,
    place: &Place,
    permission: impl Fn() -> Result<(), ApiError>,
) -> Result<Option<Accepted>, ApiError> {
    let mut upload = service.log.upload(key).await?;
    let result = log_chunks(service, &mut decoder, body, &mut upload, place, permission).await;
    let accepted = upload.accepted();
    let result = match result {
        Ok(last) => {
            let patience = patience(service, &upload);
            service.prose.examine(&last.text);
            upload.finish(last, patience).await.map_err(ApiError::from)
        }
        Err(error) => Err(error),
    };
    result.map_err(|mut error| {
        error.detail.accepted = Some(accepted);
        error
    })
}

/// Logs all lines but the last chunk, which it returns.
async fn log_chunks(
    service: &Service,
    decoder: &mut Decoder,
    mut body: Body,
    upload: &mut Upload<'_>,
    place: &Place,
    permission: impl Fn() -> Result<(), ApiError>,
) -> Result<Chunk, ApiError> {
    let idle_limit = service.settings.request_timeout.saturating_mul(IDLE_TIMES);
    let mut last_data = Instant::now();
    // Fewer than `LEAST_BYTES` have arrived since then.
    let (mut slow_since, mut arrived) = (Instant::now(), 0);
    // When the oldest line that is not logged arrived.
    let mut unlogged_since: Option<Instant> = None;
    loop {
        let wait = idle_limit.saturating_sub(last_data.elapsed()).min(CHECK_EVERY);
        let log_in = unlogged_since.map(|since| LOG_AFTER.saturating_sub(since.elapsed()));
        let wait = log_in.map_or(wait, |log_in| wait.min(log_in));
        let frame = tokio::select! {
            frame = timeout(wait, body.frame()) => frame,
            () = place.needed() => {
                let seconds = slow_since.elapsed().as_secs();
                return Err(Problem::GaveWay { line: decoder.line(), seconds }.into());
            }
        };
        // The token may be revoked while the body arrives.
        permission()?;
        match frame {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => {
                place.set_busy();
                let begun = Instant::now();
                if let Some(piece) = frame.data_ref() {
                    arrived += piece.len();
                    for part in piece.chunks(decoder.step()) {
                        decoder.take(part)?;
                        flush(service, decoder, upload, 1).await?;
                    }
                }
                last_data = Instant::now();
                unlogged_since = decoder.has_lines().then(|| unlogged_since.unwrap_or(last_data));
                // A body that never pauses must delay neither its first lines nor the shutdown.
                let is_stopping = service.is_stopping();
                if is_stopping || unlogged_since.is_some_and(|since| since.elapsed() >= LOG_AFTER) {
                    flush(service, decoder, upload, 0).await?;
                    unlogged_since = None;
                }
                if is_stopping {
                    return Err(Error::Stopping.into());
                }
                // The time that the service took is not the client's.
                slow_since += begun.elapsed();
                if arrived >= LEAST_BYTES {
                    (slow_since, arrived) = (Instant::now(), 0);
                }
                place.set_idle_since(slow_since.into_std());
            }
            Ok(Some(Err(error))) => {
                return Err(Problem::Broken { line: decoder.line(), reason: error.to_string() }.into());
            }
            Err(_) if service.is_stopping() => {
                flush(service, decoder, upload, 0).await?;
                return Err(Error::Stopping.into());
            }
            Err(_) if last_data.elapsed() >= idle_limit => {
                let seconds = idle_limit.as_secs();
                return Err(Problem::Stalled { line: decoder.line(), seconds }.into());
            }
            Err(_) => {
                flush(service, decoder, upload, 0).await?;
                unlogged_since = None;
            }
        }
    }
    decoder.finish()?;
    flush(service, decoder, upload, 1).await?;
    Ok(decoder.chunks.pop().unwrap_or_default())
}

/// Logs the chunks of a decoder, except for the last `leave`.
async fn flush(
    service: &Service,
    decoder: &mut Decoder,
    upload: &mut Upload<'_>,
    leave: usize,
) -> Result<(), ApiError> {
    let full = decoder.chunks.len().saturating_sub(leave);
    for chunk in decoder.chunks.drain(..full) {
        if !chunk.is_empty() {
            let patience = patience(service, upload);
            service.prose.examine(&chunk.text);
            upload.append(chunk, patience).await?;
        }
    }
    Ok(())
}

/// How long to wait for a full queue. A client that has sent nothing yet gets the error at once; so does everyone at shutdown.
fn patience(service: &Service, upload: &Upload<'_>) -> Duration {
    if upload.accepted().is_some() && !service.is_stopping() {
        service.settings.request_timeout
    } else {
        Duration::ZERO
    }
}
