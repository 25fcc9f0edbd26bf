use async_trait::async_trait;
use domain::{AccountId, Timestamp};

use crate::StorageError;

/// The SHA-256 of a token of a login flow. The token itself is never stored.
pub type LoginTokenHash = [u8; 32];

/// Maximum number of login flows at a time; a new one replaces the oldest unconfirmed flow, or the oldest of all if all
/// are confirmed.
pub const MAX_LOGIN_FLOWS: u32 = 10_000;

/// A login flow to begin: a device that waits until its user confirms it in the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLoginFlow {
    /// The hash of the token with which the device polls.
    pub poll: LoginTokenHash,
    /// The hash of the token in the URL of the page.
    pub page: LoginTokenHash,
    /// The name of the device.
    pub device: String,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

/// A login flow that has not expired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginFlow {
    /// The name of the device.
    pub device: String,
    /// The account that confirmed it.
    pub account: Option<AccountId>,
}

/// Login flows of sync apps.
#[async_trait]
pub trait LoginFlowStore: Send + Sync + 'static {
    async fn begin_login_flow(&self, flow: NewLoginFlow) -> Result<(), StorageError>;

    async fn login_flow(
        &self,
        page: LoginTokenHash,
        at: Timestamp,
    ) -> Result<Option<LoginFlow>, StorageError>;

    /// Confirms a login flow for an account; `false` when there is no such flow or account, or it was confirmed already.
    async fn confirm_login_flow(
        &self,
        page: LoginTokenHash,
        account: AccountId,
        at: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Ends a login flow that is not confirmed; `false` when there is no such flow.
    async fn deny_login_flow(&self, page: LoginTokenHash) -> Result<bool, StorageError>;

    /// Ends a confirmed login flow and returns it, once; `None` when there is no such flow, it is not confirmed, or its account
    /// was deleted.
    async fn take_login_flow(
        &self,
        poll: LoginTokenHash,
        at: Timestamp,
    ) -> Result<Option<(AccountId, String)>, StorageError>;

    /// Deletes up to `max` login flows that expired before `before`; returns their number.
    async fn sweep_login_flows(&self, before: Timestamp, max: u32) -> Result<u64, StorageError>;
}
