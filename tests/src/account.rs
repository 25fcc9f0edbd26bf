//! The accounts of tests.

use domain::{AccountId, Email};

/// The password of every account in these flows.
pub const PASSWORD: &str = "correct horse battery staple";

/// An account with an API key.
#[derive(Debug, Clone)]
pub struct TestAccount {
    pub id: AccountId,
    /// Its email address.
    pub email: Email,
    /// Its API key.
    pub key: String,
}
