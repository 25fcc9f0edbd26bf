//! Authenticates uploads: a browser with a session, or a program with an API key or a sync password.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_server::{
    authorization_header::{basic, bearer_or_bare},
    reply::{Reply, WithHeader as _, error},
};
use library::Caller;
use web_auth::{is_same_origin, session_token};

use crate::{Sync, authentication, replies::unavailable};

/// The sender of a request, or 401; 403 for a request that a page of another site makes with the browser's cookie.
pub(super) async fn uploader(sync: &Sync, method: &Method, headers: &HeaderMap) -> Result<Caller, Reply> {
    if !headers.contains_key(header::AUTHORIZATION) {
        return by_session(sync, method, headers).await;
    }
    if basic(headers).is_some() {
        return authentication::caller(sync, headers).await;
    }
    let Some(key) = bearer_or_bare(headers) else { return Err(unauthorized()) };
    let caller = sync.library.accounts.caller_by_any_key(key).await;
    caller.map_err(|error| unavailable(&error))?.ok_or_else(unauthorized)
}

async fn by_session(sync: &Sync, method: &Method, headers: &HeaderMap) -> Result<Caller, Reply> {
    let Some(token) = session_token(&sync.base_url, headers) else { return Err(unauthorized()) };
    if *method != Method::HEAD && !is_same_origin(&sync.base_url, headers) {
        return Err(error(StatusCode::FORBIDDEN, "a page of another site cannot upload with your session"));
    }
    let holder = sync.library.accounts.session(&token).await.map_err(|error| unavailable(&error))?;
    let holder = holder.ok_or_else(unauthorized)?;
    Ok(Caller::signed_in(holder.account, &token))
}

/// 401. A challenge for Basic would make browsers ask for a password.
fn unauthorized() -> Reply {
    let challenge = HeaderValue::from_static("Bearer realm=\"Photo uploads\"");
    error(StatusCode::UNAUTHORIZED, "sign in, or send an API key or a sync password")
        .with(header::WWW_AUTHENTICATE, challenge)
}
