//! Sync passwords, and the sign-in of sync apps.

mod device_name;
mod login_flows;
mod one_time;
mod passwords;

pub use login_flows::{ConnectedDevice, LoginFlowTokens};
pub use one_time::OneTimeLogin;
pub use passwords::{NewSyncPassword, SyncPasswordError};

use domain::Account;
use storage::StorageError;

use crate::{Accounts, Caller};

impl Accounts {
    /// The caller with this sync password or API key, whose account has this email or sync handle; `None` if one of them
    /// is wrong. The first call marks the account as synced.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the password is wrong.
    pub async fn caller_by_sync_password(
        &self,
        user: &str,
        password: &str,
    ) -> Result<Option<Caller>, StorageError> {
        let caller = self.caller_by_any_key(password).await?.filter(|caller| is_user(&caller.account, user));
        if let Some(caller) = &caller
            && caller.account.synced_at.is_none()
        {
            self.parts.store.mark_synced(caller.account.id, self.parts.clock.now()).await?;
        }
        Ok(caller)
    }
}

/// Whether a user name is the email or the sync handle of an account.
fn is_user(account: &Account, user: &str) -> bool {
    let user = user.trim();
    user == account.sync_handle.as_str() || user.to_lowercase() == account.email.as_str()
}
