use domain::{Account, AccountId, Email, Plan, SecurityEventKind, SyncHandle};
use keys::{RandomError, new_id, new_password};
use storage::{CreateAccountError, NewAccount, StorageError};

use crate::{Accounts, Unavailable, passwords::PasswordError};

/// Why an account was not created or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// Another account has this email.
    #[error("there is already an account for this email")]
    EmailTaken,
    /// No account has this email.
    #[error("there is no account for this email")]
    NoAccount,
    #[error("password: must not be empty")]
    EmptyPassword,
    /// The password could not be hashed.
    #[error("the password could not be hashed: {0}")]
    Hash(String),
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for AccountError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<PasswordError> for AccountError {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::Random(error) => Self::Unavailable(error.into()),
            PasswordError::Hash(reason) => Self::Hash(reason),
        }
    }
}

impl Accounts {
    /// Creates an account. Without a password it generates a strong one and returns it; only its hash is stored.
    pub async fn create_account(
        &self,
        email: Email,
        plan: Plan,
        password: Option<String>,
    ) -> Result<(Account, Option<String>), AccountError> {
        let (password_hash, generated) = self.password_hash(password).await?;
        let sync_handle = self.new_sync_handle()?;
        let created_at = self.parts.clock.now();
        let account = NewAccount { email, password_hash, plan, sync_handle, created_at };
        match self.parts.store.create_account(account).await {
            Ok(account) => {
                let kind = SecurityEventKind::AccountCreated;
                self.record_security_event(account.id, kind, None, None).await;
                Ok((account, generated))
            }
            Err(CreateAccountError::EmailTaken) => Err(AccountError::EmailTaken),
            Err(CreateAccountError::Storage(error)) => Err(error.into()),
        }
    }

    /// All accounts, by email.
    pub async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        self.parts.store.accounts().await
    }

    /// The account with this email.
    ///
    /// # Errors
    /// [`AccountError::NoAccount`], or the store failed.
    pub async fn account(&self, email: &Email) -> Result<Account, AccountError> {
        self.parts.store.account_by_email(email).await?.ok_or(AccountError::NoAccount)
    }

    /// Changes the plan of an account, from the next request on.
    pub async fn set_plan(&self, email: &Email, plan: Plan) -> Result<(), AccountError> {
        let account = self.account(email).await?;
        require_account(self.parts.store.set_plan(account.id, plan).await?)
    }

    /// Changes an account's password and ends its sessions. Without a password it generates a strong one and returns it.
    pub async fn set_password(
        &self,
        email: &Email,
        password: Option<String>,
    ) -> Result<Option<String>, AccountError> {
        let account = self.account(email).await?;
        let (password_hash, generated) = self.password_hash(password).await?;
        require_account(self.parts.store.set_password_hash(account.id, password_hash, None).await?)?;
        self.record_security_event(account.id, SecurityEventKind::PasswordChanged, None, None).await;
        Ok(generated)
    }

    /// Deletes an account, from the next request on. The images are removed later, by
    /// [`purge_deleted`](Self::purge_deleted) or a running service.
    pub async fn delete_account(&self, account: AccountId) -> Result<(), AccountError> {
        require_account(self.parts.store.delete_account(account, self.parts.clock.now()).await?)
    }

    pub(crate) fn new_sync_handle(&self) -> Result<SyncHandle, Unavailable> {
        let id = new_id(self.random())?;
        // A new id is always valid.
        SyncHandle::parse(&id).ok_or(Unavailable::Random(RandomError))
    }

    /// The hash of a password. Without a password it generates one and returns it, too.
    pub(crate) async fn password_hash(
        &self,
        password: Option<String>,
    ) -> Result<(String, Option<String>), AccountError> {
        if password.as_deref().is_some_and(str::is_empty) {
            return Err(AccountError::EmptyPassword);
        }
        let generated = match &password {
            Some(_) => None,
            None => Some(new_password(self.random()).map_err(Unavailable::from)?),
        };
        let password = password.or_else(|| generated.clone()).unwrap_or_default();
        Ok((self.parts.passwords.hash(password, self.random()).await?, generated))
    }
}

/// Fails if a write found no account: the account may have been deleted since it was looked up.
fn require_account(exists: bool) -> Result<(), AccountError> {
    if exists { Ok(()) } else { Err(AccountError::NoAccount) }
}
