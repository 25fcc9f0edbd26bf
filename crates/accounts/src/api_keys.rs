use domain::{AccountId, Email, KeyName};
use keys::{api_key_hash, new_api_key};
use storage::{CreateKeyError, KeyHash, KeyInfo, KeyKind, NewKey, StorageError};

use crate::{Accounts, Unavailable};

/// Why an API key was not created, listed or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A key of that name is in use.
    #[error("there is already a key of this name; revoke it or choose another name")]
    NameTaken,
    /// No account has this email.
    #[error("there is no account for this email")]
    NoAccount,
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for KeyError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Accounts {
    /// Creates an API key and returns it; only its hash is stored.
    pub async fn create_key(&self, email: &Email, name: KeyName) -> Result<String, KeyError> {
        let account = self.key_account(email).await?;
        let key = new_api_key(self.random()).map_err(Unavailable::from)?;
        let hash = KeyHash(api_key_hash(&key));
        let created_at = self.parts.clock.now();
        match self
            .parts
            .store
            .create_key(NewKey { account, kind: KeyKind::Api, name, hash, created_at })
            .await
        {
            Ok(()) => Ok(key),
            Err(CreateKeyError::NameTaken) => Err(KeyError::NameTaken),
            Err(CreateKeyError::NoAccount) => Err(KeyError::NoAccount),
            Err(CreateKeyError::Storage(error)) => Err(error.into()),
        }
    }

    /// The keys of an account, newest first, revoked ones included.
    pub async fn keys(&self, email: &Email) -> Result<Vec<KeyInfo>, KeyError> {
        Ok(self.parts.store.keys(self.key_account(email).await?, KeyKind::Api).await?)
    }

    /// Revokes the key of that name, from the next request on; `false` if there is none.
    pub async fn revoke_key(&self, email: &Email, name: &KeyName) -> Result<bool, KeyError> {
        let account = self.key_account(email).await?;
        Ok(self.parts.store.revoke_key(account, KeyKind::Api, name, self.parts.clock.now()).await?)
    }

    async fn key_account(&self, email: &Email) -> Result<AccountId, KeyError> {
        let account = self.parts.store.account_by_email(email).await?;
        account.map(|account| account.id).ok_or(KeyError::NoAccount)
    }
}
