//! `cloud/capabilities`: what the service can do.

use http::request::Parts;
use http_server::reply::Reply;
use serde_json::{Value, json};

use super::{
    ocs::Ocs,
    status::{PRODUCT_NAME, STATUS, VERSION, VERSION_TEXT},
};
use crate::{Sync, authentication};

/// How often apps may look for changes, in seconds.
const POLL_INTERVAL_S: u32 = 60;
/// The colour of the buttons on the pages.
const COLOR: &str = "#0a6355";
/// The line below the name in apps.
const SLOGAN: &str = "Your photos, on your own server";

/// `GET cloud/capabilities`.
pub(super) async fn capabilities(sync: &Sync, parts: &Parts, ocs: &Ocs<'_>) -> Reply {
    match authentication::caller(sync, &parts.headers).await {
        Ok(_) => ocs.cached_data(&document(sync.base_url.as_str())).await,
        Err(reply) => reply,
    }
}

/// The capabilities. The presence of a member switches on the feature in apps, so everything that the service lacks is left
/// out: activity, notifications, external storage, group folders, terms of service, end-to-end encryption, and bulk upload.
fn document(base_url: &str) -> Value {
    let [major, minor, micro] = VERSION;
    json!({
        "version": {
            "major": major,
            "minor": minor,
            "micro": micro,
            "string": VERSION_TEXT,
            "edition": "",
            "extendedSupport": false,
        },
        "capabilities": {
            "core": {"pollinterval": POLL_INTERVAL_S, "webdav-root": "remote.php/webdav", "status": STATUS},
            "dav": {"chunking": "1.0"},
            "files": {"bigfilechunking": true, "undelete": false, "versioning": false},
            "files_sharing": {"api_enabled": false},
            "user_status": {"enabled": false, "supports_emoji": false},
            "checksums": {"supportedTypes": ["SHA1"], "preferredUploadType": "SHA1"},
            "theming": {"name": PRODUCT_NAME, "slogan": SLOGAN, "color": COLOR, "url": base_url},
        },
    })
}
