//! Health checks for operators.

use http::StatusCode;
use http_server::reply::{Reply, json};
use library::Library;
use serde::Serialize;

/// Succeeds while the process runs.
pub(crate) const ALIVE_PATH: &str = "/healthz";
/// Succeeds while both stores can be reached, no migration is pending, and the library is not being moved.
pub(crate) const READY_PATH: &str = "/readyz";

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
    ready(library).await
}

async fn ready(library: &Library) -> Reply {
    match not_ready(library).await {
        None => json(StatusCode::OK, &Health { status: "ready", reason: None }),
        reason => json(StatusCode::SERVICE_UNAVAILABLE, &Health { status: "not ready", reason }),
    }
}

/// Why the service is not ready.
async fn not_ready(library: &Library) -> Option<&'static str> {
    const NO_METADATA: &str = "the metadata store cannot be reached";
    match library.pending_migrations().await {
        Err(error) => return Some(logged(&error, NO_METADATA)),
        Ok(pending) if !pending.is_empty() => return Some("migrations are pending: run `server migrate`"),
        Ok(_) => {}
    }
    match library.is_open().await {
        Err(error) => return Some(logged(&error, NO_METADATA)),
        Ok(false) => return Some("the library is being moved or was moved to another store"),
        Ok(true) => {}
    }
    let probed = library.probe_blobs().await;
    probed.err().map(|error| logged(&error, "the blob store cannot be reached"))
}

fn logged(error: &dyn std::error::Error, reason: &'static str) -> &'static str {
    tracing::warn!(%error, "not ready");
    reason
}
