//! Events and the vectors of watched words, to a broker.

#[cfg(feature = "brokers")]
mod broker;

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::error::Result;
use crate::service::Service;
use crate::settings::ServeSettings;

/// Checks the URL before anything is opened.
pub fn check(settings: &ServeSettings) -> Result<()> {
    let Some(url) = &settings.publish else { return Ok(()) };
    #[cfg(feature = "brokers")]
    return crate::broker::url::SinkUrl::parse(url).map(drop);
    #[cfg(not(feature = "brokers"))]
    {
        let _ = url;
        let reason = "--publish needs a program that was built with the cargo feature `brokers`";
        Err(crate::error::Error::Setting(reason.to_owned()))
    }
}

/// Starts a thread that sends events until the service stops, if the settings name a broker.
pub fn start(service: &Arc<Service>) -> Result<Option<JoinHandle<()>>> {
    #[cfg(feature = "brokers")]
    return service.settings.publish.as_deref().map(|url| broker::start(service, url)).transpose();
    #[cfg(not(feature = "brokers"))]
    {
        let _ = service;
        Ok(None)
    }
}
