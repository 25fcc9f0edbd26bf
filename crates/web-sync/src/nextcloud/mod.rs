//! The endpoints that Nextcloud's apps need besides WebDAV: status, sign-in, account, previews.
//!
//! Most apps first send `GET /status.php`, sign in by the login flow ([`login`]), and then ask for the account and the
//! [`capabilities`]. Other requests, such as for notifications, get 404, which all apps accept.

mod account;
mod app_password;
mod capabilities;
mod login;
mod ocs;
mod preview;
mod status;

use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, empty, method_not_allowed, not_found},
};

use web_auth::LOGIN_PAGE_PREFIX;

use crate::Sync;
use ocs::{Ocs, OcsVersion};

/// Whether a path belongs to Nextcloud's apps.
pub(crate) fn is_path(path: &str) -> bool {
    path == "/status.php"
        || OcsVersion::of(path).is_some()
        || (path.starts_with("/index.php/") && !path.starts_with(LOGIN_PAGE_PREFIX))
}

pub(crate) async fn handle(sync: &Sync, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    if let Some((version, path)) = OcsVersion::of(path) {
        return handle_ocs(sync, parts, &Ocs::new(version, parts), path, address).await;
    }
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    let is_post = parts.method == Method::POST;
    match path {
        "/status.php" if is_read => status::status(),
        "/index.php/204" if is_read => empty(StatusCode::NO_CONTENT),
        "/index.php/core/preview" if is_read => preview::preview(sync, parts).await,
        "/status.php" | "/index.php/204" | "/index.php/core/preview" => method_not_allowed("GET, HEAD"),
        "/index.php/login/v2" if is_post => login::begin(sync, parts, address).await,
        "/index.php/login/v2/poll" if is_post => login::poll(sync, parts, body, address).await,
        "/index.php/login/v2" | "/index.php/login/v2/poll" => method_not_allowed("POST"),
        // An app requests this path after its password was rejected. A response other than 404 would make it delete its data.
        "/index.php/core/wipe/check" => empty(StatusCode::NOT_FOUND),
        _ => not_found(),
    }
}

/// Handles a request to a path below `/ocs/v1.php/` or `/ocs/v2.php/`.
async fn handle_ocs(sync: &Sync, parts: &Parts, ocs: &Ocs<'_>, path: &str, address: IpAddr) -> Reply {
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    match path {
        "cloud/user" if is_read => account::user(sync, parts, ocs).await,
        "cloud/capabilities" if is_read => capabilities::capabilities(sync, parts, ocs).await,
        // The request uses up the one-time login, so HEAD is not allowed.
        "core/getapppassword-onetime" if parts.method == Method::GET => {
            app_password::exchange(sync, parts, ocs, address).await
        }
        "core/getapppassword-onetime" => ocs.method_not_allowed("GET"),
        "core/apppassword" if parts.method == Method::DELETE => {
            app_password::revoke(sync, parts, ocs, address).await
        }
        "cloud/user" | "cloud/capabilities" => ocs.method_not_allowed("GET, HEAD"),
        "core/apppassword" => ocs.method_not_allowed("DELETE"),
        _ => ocs.not_found(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_login_flow_is_no_endpoint() {
        for (path, expect) in [
            ("/status.php", true),
            ("/status.php/", false),
            ("/ocs/v1.php/cloud/user", true),
            ("/ocs/v2.php/cloud/user", true),
            ("/ocs/v3.php/cloud/user", false),
            ("/index.php/login/v2", true),
            ("/index.php/login/v2/flow/abc", false),
            ("/index.php", false),
        ] {
            assert_eq!(is_path(path), expect, "{path}");
        }
    }
}
