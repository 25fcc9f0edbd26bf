use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// Identifies the origin of an attempt to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempt {
    /// A hash of the email and the client's address.
    pub pair: [u8; 32],
    /// A hash of the client's address.
    pub address: [u8; 32],
    /// A hash of the network of that address.
    pub network: [u8; 32],
}

/// Maximum numbers of failed attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInLimits {
    /// For one email from one address; at least 1.
    pub per_pair: u32,
    /// From one address; at least 1.
    pub per_address: u32,
    /// From one network; at least 1.
    pub per_network: u32,
    /// For how many milliseconds a failed attempt counts.
    pub window_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptId(pub i64);

/// Whether an attempt is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInDecision {
    /// Allowed. It counts as failed until [`record_sign_in_success`](SignInStore::record_sign_in_success).
    Allowed(AttemptId),
    /// Refused until that moment. It does not count as an attempt.
    LockedUntil(Timestamp),
}

/// Limits failed attempts to sign in, so that passwords cannot be guessed.
#[async_trait]
pub trait SignInStore: Send + Sync + 'static {
    /// Starts an attempt, unless the failed attempts of its pair, address or network have reached their limit within
    /// the window. An attempt counts as failed as soon as it starts, so that concurrent attempts cannot exceed the
    /// limit. Attempts with a time later than `at` do not count; the clock was set back after them.
    async fn begin_sign_in(
        &self,
        attempt: &SignInAttempt,
        at: Timestamp,
        limits: SignInLimits,
    ) -> Result<SignInDecision, StorageError>;

    /// Records that an attempt succeeded, so that it no longer counts. Earlier failures still do.
    async fn record_sign_in_success(&self, attempt: AttemptId) -> Result<(), StorageError>;

    /// Deletes up to `max` attempts that started before `before`; returns their number.
    async fn sweep_sign_in_attempts(&self, before: Timestamp, max: u32) -> Result<u64, StorageError>;
}
