//! A connection to NATS.

use std::sync::Arc;

use async_nats::{Client, ConnectOptions, Event};
use tokio::sync::Notify;

use super::tls;
use super::url::Broker;

/// Connects, and notifies when the connection is lost.
pub async fn connect(broker: &Broker, disconnected: &Arc<Notify>) -> Result<Client, String> {
    let disconnected = disconnected.clone();
    let mut options =
        ConnectOptions::new().name("skipstream").require_tls(broker.tls).event_callback(move |event| {
            if matches!(event, Event::Disconnected | Event::Closed) {
                disconnected.notify_one();
            }
            async {}
        });
    if broker.tls {
        options = options.tls_client_config(tls::config(broker.ca.as_deref())?);
    }
    if let Some(login) = &broker.login {
        options = options.user_and_password(login.user.clone(), login.password.clone());
    }
    if let Some(path) = &broker.credentials {
        let read = options.credentials_file(path).await;
        options = read.map_err(|error| format!("cannot read the credentials: {error}"))?;
    }
    let servers: Vec<String> = broker.servers.iter().map(|server| format!("nats://{server}")).collect();
    options.connect(servers).await.map_err(|error| error.to_string())
}
