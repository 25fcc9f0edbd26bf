//! Basic authentication with a sync password or an API key (RFC 7617).

use http::HeaderMap;
use http_server::{authorization_header::basic, reply::Reply};
use library::Caller;

use crate::{Sync, replies};

/// The sender of a request, or 401. The first authenticated request marks the account as synced.
pub(crate) async fn caller(sync: &Sync, headers: &HeaderMap) -> Result<Caller, Reply> {
    let Some((user, password)) = basic(headers) else { return Err(replies::unauthorized()) };
    let caller = sync.library.accounts.caller_by_sync_password(&user, &password).await;
    caller.map_err(|error| replies::unavailable(&error))?.ok_or_else(replies::unauthorized)
}
