//! Nextcloud's login flow, version 2: an app polls while its user confirms it in the browser.

use std::{fmt, net::IpAddr};

use domain::{Account, AccountId, KeyName};
use keys::{hash_parts, new_session_token};
use storage::{LoginFlow, LoginTokenHash, NewLoginFlow, StorageError};

use super::{device_name::device_name, passwords::SyncPasswordError};
use crate::{Accounts, Unavailable};

/// How long a login flow lasts: 20 minutes.
const LOGIN_FLOW_MS: i64 = 20 * 60 * 1000;

/// The tokens of a new login flow, of 256 random bits each. Only their hashes are stored.
#[derive(Clone)]
pub struct LoginFlowTokens {
    /// The token with which the device polls.
    pub poll: String,
    /// The token in the URL of the page.
    pub page: String,
}

/// The credentials that a connected device signs in with.
#[derive(Clone)]
pub struct ConnectedDevice {
    pub account: Account,
    /// The sync password of the device, which is returned once.
    pub password: String,
}

impl fmt::Debug for ConnectedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedDevice").field("account", &self.account.id).finish_non_exhaustive()
    }
}

impl Accounts {
    /// Begins a login flow of a device with this `User-Agent`. It expires after 20 minutes.
    pub async fn begin_login_flow(&self, user_agent: Option<&str>) -> Result<LoginFlowTokens, Unavailable> {
        let tokens = LoginFlowTokens {
            poll: new_session_token(self.random())?,
            page: new_session_token(self.random())?,
        };
        let device = device_name(user_agent).to_string();
        self.store_login_flow(poll_hash(&tokens.poll), page_hash(&tokens.page), device, LOGIN_FLOW_MS)
            .await?;
        Ok(tokens)
    }

    pub(super) async fn store_login_flow(
        &self,
        poll: LoginTokenHash,
        page: LoginTokenHash,
        device: String,
        lifetime_ms: i64,
    ) -> Result<(), StorageError> {
        let at = self.parts.clock.now();
        let flow = NewLoginFlow { poll, page, device, at, expires_at: at.plus_millis(lifetime_ms) };
        self.parts.store.begin_login_flow(flow).await
    }

    /// The login flow of a page; `None` if there is none or it has expired.
    pub async fn login_flow(&self, page: &str) -> Result<Option<LoginFlow>, StorageError> {
        self.parts.store.login_flow(page_hash(page), self.parts.clock.now()).await
    }

    /// Connects the device of a login flow to an account; `false` if there is no such flow or it was answered already.
    pub async fn confirm_login_flow(&self, page: &str, account: AccountId) -> Result<bool, StorageError> {
        self.parts.store.confirm_login_flow(page_hash(page), account, self.parts.clock.now()).await
    }

    /// Ends a login flow that nobody confirmed; `false` if there is no such flow.
    pub async fn deny_login_flow(&self, page: &str) -> Result<bool, StorageError> {
        self.parts.store.deny_login_flow(page_hash(page)).await
    }

    /// Ends a confirmed login flow and creates the sync password of its device. `None` while it is not confirmed, when it
    /// has expired or was redeemed already, and when there is none.
    pub async fn redeem_login_flow(
        &self,
        poll: &str,
        address: IpAddr,
    ) -> Result<Option<ConnectedDevice>, Unavailable> {
        let Some((account, device)) = self.take_login_flow(poll_hash(poll)).await? else { return Ok(None) };
        self.connect_device(account, device, address).await
    }

    /// Ends a confirmed login flow; returns its account and device, once.
    pub(super) async fn take_login_flow(
        &self,
        poll: LoginTokenHash,
    ) -> Result<Option<(Account, KeyName)>, StorageError> {
        let taken = self.parts.store.take_login_flow(poll, self.parts.clock.now()).await?;
        let Some((account, device)) = taken else { return Ok(None) };
        let account = self.parts.store.account(account).await?;
        Ok(account.zip(Some(KeyName::parse(&device).unwrap_or_else(|_| KeyName::unnamed_device()))))
    }

    /// Creates the sync password of a device; `None` if the account was deleted in the meantime.
    pub(super) async fn connect_device(
        &self,
        account: Account,
        device: KeyName,
        address: IpAddr,
    ) -> Result<Option<ConnectedDevice>, Unavailable> {
        match self.create_sync_password(account.id, device, Some(address)).await {
            Ok(created) => Ok(Some(ConnectedDevice { account, password: created.password })),
            Err(SyncPasswordError::NoAccount) => Ok(None),
            Err(SyncPasswordError::Unavailable(error)) => Err(error),
        }
    }
}

/// Tokens of different purposes have different hashes, so that a token is accepted for its own purpose only.
fn poll_hash(token: &str) -> LoginTokenHash {
    hash_parts(&[b"login flow poll", token.as_bytes()])
}

fn page_hash(token: &str) -> LoginTokenHash {
    hash_parts(&[b"login flow page", token.as_bytes()])
}
