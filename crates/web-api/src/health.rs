//! Health checks for operators.

use std::time::Duration;

use http::StatusCode;
use http_server::reply::{Reply, json};
use library::Library;
use serde::Serialize;
use tokio::time::timeout;

/// Succeeds while the process runs.
pub(crate) const ALIVE_PATH: &str = "/healthz";
/// Succeeds while both stores can be reached, no migration is pending, and the library is not being moved.
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
    match obstacle(library).await {
        None => json(StatusCode::OK, &Health { status: "ready", reason: None }),
        Some(reason) => not_ready(reason),
    }
}

/// Why the service is not ready.
async fn obstacle(library: &Library) -> Option<&'static str> {
    const NO_METADATA: &str = "the metadata store cannot be reached";
    match library.upkeep.pending_migrations().await {
        Err(error) => return Some(logged(&error, NO_METADATA)),
        Ok(pending) if !pending.is_empty() => return Some("migrations are pending: run `server migrate`"),
        Ok(_) => {}
    }
    match library.upkeep.is_open().await {
        Err(error) => return Some(logged(&error, NO_METADATA)),
        Ok(false) => return Some("the library is being moved or was moved to another store"),
        Ok(true) => {}
    }
    let probed = library.upkeep.probe_blobs().await;
    probed.err().map(|error| logged(&error, "the blob store cannot be reached"))
}

fn logged(error: &dyn std::error::Error, reason: &'static str) -> &'static str {
    tracing::warn!(%error, "not ready");
    reason
}

fn not_ready(reason: &'static str) -> Reply {
    let health = Health { status: "not ready", reason: Some(reason) };
    json(StatusCode::SERVICE_UNAVAILABLE, &health)
}
