use http::StatusCode;
use library::Library;
use serde::Serialize;

use http_server::reply::{Reply, json};

#[derive(Serialize)]
struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The process answers.
pub(crate) fn alive() -> Reply {
    json(StatusCode::OK, &Health { status: "alive", reason: None })
}

/// The stores can be reached and the schema is current.
pub(crate) async fn ready(library: &Library) -> Reply {
    let reason = match library.pending_migrations().await {
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Some("the metadata store cannot be reached")
        }
        Ok(pending) if !pending.is_empty() => Some("the metadata store needs `server migrate`"),
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
        Some(_) => json(StatusCode::SERVICE_UNAVAILABLE, &Health { status: "not ready", reason }),
    }
}
