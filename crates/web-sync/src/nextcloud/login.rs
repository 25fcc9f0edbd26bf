//! The login flow, version 2. The page that confirms it is one of the pages for people.

use std::net::IpAddr;

use http::{HeaderMap, StatusCode, header, request::Parts};
use http_server::{
    Query,
    body::{BodyKind, RequestBody},
    reply::{Reply, empty, json, retry_after},
};
use serde_json::json;
use url::form_urlencoded;
use web_auth::{LOGIN_PAGE_PREFIX, security_log};

use crate::{Sync, replies};

/// Upper bound on the body of a poll.
const MAX_POLL_BYTES: usize = 4096;

/// `POST /index.php/login/v2`: begins a login flow.
pub(super) async fn begin(sync: &Sync, parts: &Parts, address: IpAddr) -> Reply {
    if let Err(retry_after_s) = sync.authorization.limits.check_login_flow(address) {
        security_log::rate_limited(address, "login flows");
        // Apps give up after 429.
        return retry_after(empty(StatusCode::SERVICE_UNAVAILABLE), retry_after_s);
    }
    let tokens = match sync.library.accounts.begin_login_flow(user_agent(&parts.headers).as_deref()).await {
        Ok(tokens) => tokens,
        Err(error) => return replies::unavailable(&error),
    };
    let base_url = sync.base_url.as_str();
    let endpoint = format!("{base_url}/index.php/login/v2/poll");
    let login = format!("{base_url}{LOGIN_PAGE_PREFIX}{}", tokens.page);
    json(StatusCode::OK, &json!({"poll": {"token": tokens.poll, "endpoint": endpoint}, "login": login}))
}

/// `POST /index.php/login/v2/poll`: the sync password of a confirmed login flow, once. While there is none, 404 without a
/// body: Android gives up on any other answer.
pub(super) async fn poll(sync: &Sync, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let Some(token) = token(parts, body).await else { return empty(StatusCode::NOT_FOUND) };
    match sync.library.accounts.redeem_login_flow(&token, address).await {
        Ok(Some(device)) => {
            security_log::sync_password_changed(address, device.account.id, "device_connected");
            let answer = json!({
                "server": sync.base_url.as_str(),
                "loginName": device.account.sync_handle.as_str(),
                "appPassword": device.password,
            });
            json(StatusCode::OK, &answer)
        }
        Ok(None) => empty(StatusCode::NOT_FOUND),
        Err(error) => replies::unavailable(&error),
    }
}

/// The token of a poll, in the query or in a form.
async fn token(parts: &Parts, body: RequestBody) -> Option<String> {
    if let Some(token) = Query::parse(parts.uri.query()).get("token") {
        return Some(token.to_owned());
    }
    if BodyKind::of(&parts.headers) != Some(BodyKind::Form) {
        return None;
    }
    let body = body.read(MAX_POLL_BYTES).await.ok()?;
    form_urlencoded::parse(&body).find(|(name, _)| name == "token").map(|(_, token)| token.into_owned())
}

/// The name of the app and its device. Apps send names of devices in UTF-8.
fn user_agent(headers: &HeaderMap) -> Option<String> {
    headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
