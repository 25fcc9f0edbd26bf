use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// Who tries to sign in, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempt {
    /// A hash of the email and the address it is tried from.
    pub pair: [u8; 32],
    /// A hash of the address.
    pub address: [u8; 32],
    /// A hash of the network that the address is in.
    pub network: [u8; 32],
}

/// How many attempts may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInLimits {
    /// For one email from one address; at least 1.
    pub per_pair: u32,
    /// From one address; at least 1.
    pub per_address: u32,
    /// From one network; at least 1.
    pub per_network: u32,
    /// How long a failed attempt counts, in milliseconds.
    pub window_ms: i64,
}

/// Names an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptId(pub i64);

/// Whether somebody may try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInDecision {
    /// Yes. It counts as failed unless it is told to have succeeded.
    Allowed(AttemptId),
    /// Not before that moment. It does not count.
    LockedUntil(Timestamp),
}

/// Attempts to sign in, counted so that passwords cannot be guessed.
#[async_trait]
pub trait SignInStore: Send + Sync + 'static {
    /// Begins an attempt, unless as many as are allowed failed within the window before it, of the same pair or from
    /// the same address or network. Attempts count as failed from their beginning, so that parallel ones cannot pass the
    /// limit. Attempts later than `at` do not count: the clock was set back since.
    async fn begin_sign_in(
        &self,
        attempt: &SignInAttempt,
        at: Timestamp,
        limits: SignInLimits,
    ) -> Result<SignInDecision, StorageError>;

    /// Has an attempt not count any more; failures before it do.
    async fn record_sign_in_success(&self, attempt: AttemptId) -> Result<(), StorageError>;

    /// Deletes up to `max` attempts that were begun before that moment; gives how many.
    async fn sweep_sign_in_attempts(&self, before: Timestamp, max: u32) -> Result<u64, StorageError>;
}
