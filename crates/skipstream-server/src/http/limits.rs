//! Limits on concurrent requests. Each lane has its own, so that none can fill another.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ApiError;
use super::lanes::Lane;
use super::routes::{Admission, Rules};
use crate::places::{self, Place, Places};
use crate::settings::{MAX_DOWNLOADS, MAX_TEXTS, ServeSettings};

/// How long an upload or a download may pause while others wait.
const PAUSE: Duration = Duration::from_secs(5);

/// The lanes whose requests are counted only.
const COUNTED: [Lane; 6] = [Lane::Inline, Lane::Scan, Lane::Search, Lane::Cpu, Lane::Disk, Lane::Stream];

#[derive(Debug)]
pub struct Limits {
    counted: HashMap<Lane, Arc<Semaphore>>,
    most: usize,
    /// An upload or a download that has paused for a while gives way to others.
    uploads: Arc<Places>,
    most_uploads: usize,
    downloads: Arc<Places>,
    pub timeout: Duration,
}

/// What a request holds until its response is sent.
#[derive(Debug)]
pub enum Admitted {
    Always,
    Counted(#[allow(dead_code, reason = "its drop matters")] OwnedSemaphorePermit),
    Placed(Arc<Place>),
}

impl Admitted {
    pub fn place(&self) -> Option<Arc<Place>> {
        match self {
            Admitted::Placed(place) => Some(place.clone()),
            _ => None,
        }
    }
}

impl Limits {
    pub fn new(settings: &ServeSettings) -> Limits {
        let most = settings.max_requests;
        let places = |total: usize| {
            let idle = PAUSE.min(settings.request_timeout);
            Places::new(places::Limits { total, per_address: total.div_ceil(2), spare: 0, idle })
        };
        let most_uploads = MAX_TEXTS.min(most);
        Limits {
            counted: COUNTED.map(|lane| (lane, Arc::new(Semaphore::new(most)))).into(),
            most,
            uploads: places(most_uploads),
            most_uploads,
            downloads: places(MAX_DOWNLOADS),
            timeout: settings.request_timeout,
        }
    }

    /// Accepts a request, or rejects it beyond the limit of its lane.
    pub fn admit(&self, rules: &Rules, client: IpAddr) -> Result<Admitted, ApiError> {
        if rules.admission == Admission::Always {
            return Ok(Admitted::Always);
        }
        let (places, most) = match rules.lane {
            Lane::Upload => (&self.uploads, self.most_uploads),
            Lane::Download => (&self.downloads, MAX_DOWNLOADS),
            lane => {
                let permit = self.counted[&lane].clone().try_acquire_owned();
                return permit.map(Admitted::Counted).map_err(|_| too_many(self.most));
            }
        };
        places.take(client).map(|place| Admitted::Placed(Arc::new(place))).ok_or_else(|| too_many(most))
    }
}

fn too_many(most: usize) -> ApiError {
    busy(format!("there are already {most} requests of this kind, which is the limit"))
}

/// A request beyond a limit: the client may try again.
pub fn busy(message: String) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(1)
}
