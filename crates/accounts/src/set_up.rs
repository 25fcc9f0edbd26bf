use domain::{Email, Plan, SecurityEventKind};
use keys::{new_session_token, session_hash};
use storage::{NewAccount, StorageError};

use crate::{AccountError, Accounts, SignInSource, SignedIn, Unavailable};

/// Why the first account was not created.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The link is wrong, or an account already exists.
    #[error("this set-up link is invalid or has expired")]
    InvalidLink,
    /// The account could not be created.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<StorageError> for SetUpError {
    fn from(error: StorageError) -> Self {
        Self::Account(error.into())
    }
}

impl Accounts {
    /// Whether the service has an account, so that people can sign in.
    pub async fn has_account(&self) -> Result<bool, StorageError> {
        self.parts.store.has_account().await
    }

    /// Creates a set-up link for the first account and returns its secret; `None` if an account exists. Only a hash of the
    /// secret is stored.
    pub async fn create_setup_link(&self) -> Result<Option<String>, Unavailable> {
        let secret = new_session_token(self.random())?;
        let offered =
            self.parts.store.create_setup_link(session_hash(&secret), self.parts.clock.now()).await?;
        Ok(offered.then_some(secret))
    }

    /// Whether the set-up link with this secret is valid.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the link is wrong.
    pub async fn is_setup_link_valid(&self, secret: &str) -> Result<bool, StorageError> {
        self.parts.store.is_setup_link_valid(session_hash(secret)).await
    }

    /// Creates the first account, on the paid plan, and signs its owner in; `None` if the account was created but the
    /// session was not.
    ///
    /// # Errors
    /// [`SetUpError`]; no account was created.
    pub async fn create_first_account(
        &self,
        secret: &str,
        email: Email,
        password: String,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, SetUpError> {
        // Checked first, so that requests without a valid link cause no password hashing.
        if !self.is_setup_link_valid(secret).await? {
            return Err(SetUpError::InvalidLink);
        }
        let (password_hash, _) = self.password_hash(Some(password)).await?;
        let account = NewAccount {
            email,
            password_hash: password_hash.clone(),
            plan: Plan::Paid,
            sync_handle: self.new_sync_handle().map_err(AccountError::from)?,
            created_at: self.parts.clock.now(),
        };
        let made = self.parts.store.create_first_account(session_hash(secret), account).await?;
        let account = made.ok_or(SetUpError::InvalidLink)?;
        let (kind, address) = (SecurityEventKind::AccountCreated, Some(from.address));
        self.record_security_event(account.id, kind, address, None).await;
        Ok(self.session_or_none(account, &password_hash, from).await)
    }
}
