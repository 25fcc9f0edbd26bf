//! `cloud/user`: the account and its quota.

use http::request::Parts;
use http_server::reply::Reply;
use serde_json::{Value, json};

use super::ocs::Ocs;
use crate::{Sync, authentication, replies};

/// The number that means "no limit" in place of a number of bytes.
const UNLIMITED: i64 = -3;

/// `GET cloud/user`.
pub(super) async fn user(sync: &Sync, parts: &Parts, ocs: &Ocs<'_>) -> Reply {
    let caller = match authentication::caller(sync, &parts.headers).await {
        Ok(caller) => caller,
        Err(reply) => return reply,
    };
    let (used, quota) = match sync.library.ingest.storage_use(&caller).await {
        Ok(storage_use) => storage_use,
        Err(error) => return replies::unavailable(&error),
    };
    let (handle, email) = (caller.account.sync_handle.as_str(), caller.account.email.as_str());
    ocs.data(&json!({
        "id": handle,
        "display-name": email,
        "displayname": email,
        "email": email,
        "quota": quota_of(used, quota),
        "enabled": true,
    }))
}

/// The bytes that an account stores and may store. `relative` is the share in percent, with two decimals.
fn quota_of(used: u64, quota: Option<u64>) -> Value {
    match quota {
        Some(quota) => {
            let hundredths = u128::from(used) * 10_000 / u128::from(quota.max(1));
            let relative = f64::from(u32::try_from(hundredths).unwrap_or(u32::MAX)) / 100.0;
            let free = quota.saturating_sub(used);
            json!({"free": free, "used": used, "total": quota, "relative": relative, "quota": quota})
        }
        None => json!({
            "free": UNLIMITED, "used": used, "total": UNLIMITED, "relative": 0, "quota": UNLIMITED,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unlimited_quota_is_negative() {
        assert_eq!(
            quota_of(1, Some(3)),
            json!({"free": 2, "used": 1, "total": 3, "relative": 33.33, "quota": 3})
        );
        assert_eq!(quota_of(9, Some(0))["free"], 0);
        assert_eq!(quota_of(u64::MAX, Some(u64::MAX))["relative"], 100.0);
        assert_eq!(
            quota_of(5, None),
            json!({"free": -3, "used": 5, "total": -3, "relative": 0, "quota": -3})
        );
    }
}
