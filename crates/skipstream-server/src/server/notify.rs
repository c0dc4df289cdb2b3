//! Messages to systemd (`Type=notify`): the service is ready, is alive, stops. Without systemd, nothing is sent.
//!
//! The watchdog message is sent from the runtime that answers requests, and only while every long-lived thread runs. So
//! systemd restarts a service that hangs, and one with a dead thread. A full disk or a bad message is not a reason to
//! restart: it would not help.

use sd_notify::NotifyState;
use tokio::time::sleep;

use crate::lifecycle::Lifecycle;

/// Says that requests are answered from now on, keeps the watchdog calm, and says when the service drains.
pub async fn keep_informed(lifecycle: Lifecycle) {
    send(NotifyState::Ready);
    let stopping = async {
        lifecycle.draining().await;
        send(NotifyState::Stopping);
        std::future::pending::<()>().await;
    };
    tokio::join!(stopping, watchdog(&lifecycle));
}

/// Sends a message in half the time after which systemd would restart the service.
async fn watchdog(lifecycle: &Lifecycle) {
    let Some(timeout) = sd_notify::watchdog_enabled().filter(|timeout| !timeout.is_zero()) else { return };
    loop {
        if lifecycle.list_threads().iter().all(|(_, runs)| *runs) {
            send(NotifyState::Watchdog);
        }
        sleep(timeout / 2).await;
    }
}

fn send(state: NotifyState) {
    let name = state.to_string();
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!("cannot send {name} to systemd: {error}");
    }
}
