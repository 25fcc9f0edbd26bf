//! Sync passwords, which apps call app passwords.

use std::net::IpAddr;

use http::{StatusCode, request::Parts};
use http_server::{authorization_header::basic, reply::Reply};
use library::Credential;
use serde_json::json;
use web_auth::security_log;

use super::ocs::Ocs;
use crate::{Sync, authentication, replies};

/// `DELETE core/apppassword`: an app that removes its account revokes its sync password. An API key that is used in its
/// place stays, because other programs may use it: 403.
pub(super) async fn revoke(sync: &Sync, parts: &Parts, ocs: &Ocs<'_>, address: IpAddr) -> Reply {
    let caller = match authentication::caller(sync, &parts.headers).await {
        Ok(caller) => caller,
        Err(reply) => return reply,
    };
    let Credential::SyncPassword(password) = caller.credential else {
        return ocs.error(StatusCode::FORBIDDEN, "only a sync password can be revoked here");
    };
    match sync.library.accounts.sign_out_device(caller.account.id, password, address).await {
        Ok(()) => {
            security_log::sync_password_changed(address, caller.account.id, "device_disconnected");
            ocs.data(&json!([]))
        }
        Err(error) => replies::unavailable(&error),
    }
}

/// `GET core/getapppassword-onetime`: exchanges a one-time login for a sync password.
pub(super) async fn exchange(sync: &Sync, parts: &Parts, ocs: &Ocs<'_>, address: IpAddr) -> Reply {
    let Some((user, token)) = basic(&parts.headers) else { return replies::unauthorized() };
    match sync.library.accounts.redeem_one_time_login(&user, &token, address).await {
        Ok(Some(device)) => {
            security_log::sync_password_changed(address, device.account.id, "device_connected");
            ocs.data(&json!({"apppassword": device.password}))
        }
        Ok(None) => replies::unauthorized(),
        Err(error) => replies::unavailable(&error),
    }
}
