use std::{collections::HashSet, net::IpAddr};

use domain::{AccountId, KeyName, SecurityEventKind};
use keys::{api_key_hash, new_sync_password};
use storage::{CreateKeyError, KeyHash, KeyId, KeyInfo, KeyKind, NewKey, StorageError};

use crate::{Accounts, Unavailable};

/// Maximum length of the number that is appended to a taken name, with the space before it, in characters.
const MAX_NUMBER_CHARS: usize = 10;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 100;

/// A new sync password, which is shown once.
#[derive(Clone)]
pub struct NewSyncPassword {
    /// Its name, which differs from that of every other sync password of the account.
    pub name: KeyName,
    /// The password: letters and digits.
    pub password: String,
}

/// Why a sync password was not created.
#[derive(Debug, thiserror::Error)]
pub enum SyncPasswordError {
    /// The account does not exist.
    #[error("there is no such account")]
    NoAccount,
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for SyncPasswordError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Accounts {
    /// Creates a sync password for a device; only its hash is stored. A number is added to a name that is taken.
    pub async fn create_sync_password(
        &self,
        account: AccountId,
        device: KeyName,
        address: Option<IpAddr>,
    ) -> Result<NewSyncPassword, SyncPasswordError> {
        let password = new_sync_password(self.random()).map_err(Unavailable::from)?;
        let hash = KeyHash(api_key_hash(&password));
        loop {
            let name = self.free_name(account, &device).await?;
            let created_at = self.parts.clock.now();
            let key = NewKey { account, kind: KeyKind::Sync, name: name.clone(), hash, created_at };
            match self.parts.store.create_key(key).await {
                Ok(()) => {
                    let kind = SecurityEventKind::SyncPasswordCreated;
                    self.record_security_event(account, kind, address, Some(name.as_str())).await;
                    return Ok(NewSyncPassword { name, password });
                }
                // Another request took the name in the meantime.
                Err(CreateKeyError::NameTaken) => {}
                Err(CreateKeyError::NoAccount) => return Err(SyncPasswordError::NoAccount),
                Err(CreateKeyError::Storage(error)) => return Err(error.into()),
            }
        }
    }

    /// The sync passwords of an account that are not revoked, newest first.
    pub async fn sync_passwords(&self, account: AccountId) -> Result<Vec<KeyInfo>, StorageError> {
        let mut passwords = self.parts.store.keys(account, KeyKind::Sync).await?;
        passwords.retain(|password| password.revoked_at.is_none());
        Ok(passwords)
    }

    /// Revokes the sync password of that name, from the next request on; `false` if there is none.
    pub async fn revoke_sync_password(
        &self,
        account: AccountId,
        name: &KeyName,
        address: IpAddr,
    ) -> Result<bool, StorageError> {
        let revoked =
            self.parts.store.revoke_key(account, KeyKind::Sync, name, self.parts.clock.now()).await?;
        if revoked {
            let kind = SecurityEventKind::SyncPasswordRevoked;
            self.record_security_event(account, kind, Some(address), Some(name.as_str())).await;
        }
        Ok(revoked)
    }

    /// Revokes the sync password that a device of the account signed in with, from the next request on.
    pub async fn sign_out_device(
        &self,
        account: AccountId,
        password: KeyId,
        address: IpAddr,
    ) -> Result<(), StorageError> {
        if let Some(name) = self.parts.store.revoke_key_by_id(password, self.parts.clock.now()).await? {
            let kind = SecurityEventKind::SyncPasswordRevoked;
            self.record_security_event(account, kind, Some(address), Some(name.as_str())).await;
        }
        Ok(())
    }

    /// The name of a device, with the lowest number that makes it unique if it is taken.
    async fn free_name(&self, account: AccountId, device: &KeyName) -> Result<KeyName, StorageError> {
        let taken: HashSet<KeyName> =
            self.sync_passwords(account).await?.into_iter().map(|password| password.name).collect();
        let free = numbered_names(device).find(|name| !taken.contains(name));
        // The iterator of numbered names does not end, so a free name is always found.
        Ok(free.unwrap_or_else(|| device.clone()))
    }
}

/// A name, then the name followed by 2, 3 and so on.
fn numbered_names(name: &KeyName) -> impl Iterator<Item = KeyName> + '_ {
    let numbered = (2_u32..).filter_map(move |number| {
        let short: String = name.as_str().chars().take(MAX_NAME_CHARS - MAX_NUMBER_CHARS).collect();
        KeyName::parse(&format!("{} {number}", short.trim_end())).ok()
    });
    std::iter::once(name.clone()).chain(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_valid_and_unique() {
        let check = |name: &str, expect: &[&str]| {
            let names = numbered_names(&KeyName::parse(name).unwrap()).take(3).collect::<Vec<_>>();
            assert_eq!(names.iter().map(KeyName::as_str).collect::<Vec<_>>(), expect);
        };
        check("Phone", &["Phone", "Phone 2", "Phone 3"]);
        check("Phone 2", &["Phone 2", "Phone 2 2", "Phone 2 3"]);
        let long = "ä".repeat(100);
        let short = "ä".repeat(90);
        check(&long, &[&long, &format!("{short} 2"), &format!("{short} 3")]);
    }
}
