//! Basic authentication with a sync password or an API key (RFC 7617).

use data_encoding::BASE64;
use http::{HeaderMap, header};
use http_server::reply::Reply;
use library::Caller;

use crate::{Sync, replies};

/// The sender of a request, or 401. The first authenticated request marks the account as synced.
pub(crate) async fn caller(sync: &Sync, headers: &HeaderMap) -> Result<Caller, Reply> {
    let Some((user, password)) = basic(headers) else { return Err(replies::unauthorized()) };
    let caller = sync.library.accounts.caller_by_sync_password(&user, &password).await;
    caller.map_err(|error| replies::unavailable(&error))?.ok_or_else(replies::unauthorized)
}

/// User and password of a single `Authorization` header.
pub(crate) fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, encoded) = value.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64.decode(encoded.trim().as_bytes()).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn user_and_password_are_read_from_a_single_header() {
        let check = |values: &[&str], expect: Option<(&str, &str)>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            let found = basic(&headers);
            let found = found.as_ref().map(|(user, password)| (user.as_str(), password.as_str()));
            assert_eq!(found, expect, "{values:?}");
        };
        check(&["Basic YW5uOnBhc3M6d29yZA=="], Some(("ann", "pass:word")));
        check(&["basic  YW5uOg=="], Some(("ann", "")));
        check(&["Basic YW5u"], None);
        check(&["Basic %%%"], None);
        check(&["Bearer YW5uOnA="], None);
        check(&["Basic YW5uOnA=", "Basic YW5uOnA="], None);
        check(&[], None);
    }
}
