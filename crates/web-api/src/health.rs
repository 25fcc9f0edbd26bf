//! Health checks for operators.

use std::time::Duration;

use http::StatusCode;
use http_server::reply::{Reply, json};
use library::Library;
use serde::Serialize;
use tokio::time::timeout;

/// Succeeds while the process runs.
pub(crate) const ALIVE_PATH: &str = "/healthz";
/// Succeeds while both stores can be reached and no migration is pending.
pub(crate) const READY_PATH: &str = "/readyz";

/// How long a check takes at most.
const CHECK_LIMIT: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// Handles one of the two paths.
pub(crate) async fn handle(library: &Library, path: &str) -> Reply {
    if path == ALIVE_PATH {
        return json(StatusCode::OK, &Health { status: "alive", reason: None });
    }
    match timeout(CHECK_LIMIT, ready(library)).await {
        Ok(reply) => reply,
        Err(_) => not_ready("the stores do not answer"),
    }
}

async fn ready(library: &Library) -> Reply {
    let reason = match library.pending_migrations().await {
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Some("the metadata store cannot be reached")
        }
        Ok(pending) if !pending.is_empty() => Some("migrations are pending: run `server migrate`"),
        Ok(_) => match library.probe_blobs().await {
            Err(error) => {
                tracing::warn!(%error, "not ready");
                Some("the blob store cannot be reached")
            }
            Ok(()) => None,
        },
    };
    match reason {
        None => json(StatusCode::OK, &Health { status: "ready", reason }),
        Some(reason) => not_ready(reason),
    }
}

fn not_ready(reason: &'static str) -> Reply {
    let health = Health { status: "not ready", reason: Some(reason) };
    json(StatusCode::SERVICE_UNAVAILABLE, &health)
}
