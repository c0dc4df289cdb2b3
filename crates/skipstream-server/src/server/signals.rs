//! Signals that end the service.

use std::io;
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::drain_and_stop;
use crate::lifecycle::Lifecycle;

/// The signals, from when they are listened to.
pub struct Signals {
    #[cfg(unix)]
    interrupt: Signal,
    /// SIGTERM, and SIGHUP: the terminal has gone.
    #[cfg(unix)]
    ends: [Signal; 2],
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    /// From a person at a terminal, who does not wait for a load balancer.
    Stop,
    Drain,
}

impl Signals {
    /// Must be called within a runtime.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            ends: [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?],
        })
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Ask {
        let [terminate, hangup] = &mut self.ends;
        tokio::select! {
            _ = self.interrupt.recv() => Ask::Stop,
            _ = terminate.recv() => Ask::Drain,
            _ = hangup.recv() => Ask::Drain,
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Ask {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Ask::Stop
    }

    /// Stops the service after the first signal, and calls `exit` after the second.
    pub async fn stop(mut self, lifecycle: Lifecycle, drain: Duration, exit: impl FnOnce()) {
        match self.next().await {
            Ask::Drain if !drain.is_zero() => {
                tracing::info!("draining: answering queries for {} s, without new text", drain.as_secs_f64());
                let lifecycle = lifecycle.clone();
                tokio::spawn(async move {
                    drain_and_stop(&lifecycle, drain).await;
                    tracing::info!("{STOPPING}");
                });
            }
            _ => {
                lifecycle.stop();
                tracing::info!("{STOPPING}");
            }
        }
        self.next().await;
        exit();
    }
}

const STOPPING: &str = "stopping: finishing requests and saving the model";
