//! One-time logins: a token of some minutes, such as in a QR code, that an app exchanges for a sync password.
//!
//! In the store it is a login flow that is confirmed from the start.

use std::net::IpAddr;

use domain::{AccountId, KeyName, Timestamp};
use keys::{hash_parts, new_session_token, new_sync_password};

use super::{ConnectedDevice, is_user};
use crate::{Accounts, Unavailable};

/// How long a one-time login lasts: 10 minutes.
const ONE_TIME_LOGIN_MS: i64 = 10 * 60 * 1000;

#[derive(Clone)]
pub struct OneTimeLogin {
    /// The token: letters and digits. Only its hash is stored.
    pub token: String,
    /// When it expires.
    pub expires_at: Timestamp,
}

impl Accounts {
    /// Creates a one-time login for a device of this name. It expires after 10 minutes.
    pub async fn create_one_time_login(
        &self,
        account: AccountId,
        device: &KeyName,
    ) -> Result<OneTimeLogin, Unavailable> {
        // The token has the length and the characters of a sync password.
        let token = new_sync_password(self.random())?;
        // A login flow needs the hash of a page token. No page gets this one, because the login is confirmed below.
        let page = hash_parts(&[b"one-time page", new_session_token(self.random())?.as_bytes()]);
        let expires_at = self.parts.clock.now().plus_millis(ONE_TIME_LOGIN_MS);
        self.store_login_flow(token_hash(&token), page, device.to_string(), ONE_TIME_LOGIN_MS).await?;
        self.parts.store.confirm_login_flow(page, account, self.parts.clock.now()).await?;
        Ok(OneTimeLogin { token, expires_at })
    }

    /// Exchanges a one-time login of the account with this email or sync handle for a sync password. `None` if it is
    /// wrong, was redeemed already or has expired.
    pub async fn redeem_one_time_login(
        &self,
        user: &str,
        token: &str,
        address: IpAddr,
    ) -> Result<Option<ConnectedDevice>, Unavailable> {
        let taken = self.take_login_flow(token_hash(token)).await?;
        match taken.filter(|(account, _)| is_user(account, user)) {
            Some((account, device)) => self.connect_device(account, device, address).await,
            None => Ok(None),
        }
    }
}

fn token_hash(token: &str) -> [u8; 32] {
    hash_parts(&[b"one-time login", token.as_bytes()])
}
