use domain::{Email, Plan, SecurityEventKind};
use keys::{new_session_token, session_hash};
use storage::{NewAccount, StorageError};

use crate::{AccountError, Library, SignInSource, SignedIn, Unavailable};

/// Why the first account was not made.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The link does not hold: it is another one, or there is an account already.
    #[error("this set-up link does not hold, or no longer")]
    InvalidLink,
    /// The account could not be made.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<StorageError> for SetUpError {
    fn from(error: StorageError) -> Self {
        Self::Account(error.into())
    }
}

impl Library {
    /// The secret of a new link that creates the first account, kept nowhere; `None` when there is an account.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn create_setup_link(&self) -> Result<Option<String>, Unavailable> {
        let secret = new_session_token(self.random())?;
        let offered =
            self.parts.store.create_setup_link(session_hash(&secret), self.parts.clock.now()).await?;
        Ok(offered.then_some(secret))
    }

    /// Whether a link with this secret holds.
    ///
    /// # Errors
    /// [`StorageError`]; never to be taken for a wrong link.
    pub async fn is_setup_link_valid(&self, secret: &str) -> Result<bool, StorageError> {
        self.parts.store.is_setup_link_valid(session_hash(secret)).await
    }

    /// Makes the first account, on the paid plan, and signs its owner in. When only that fails they are told to sign in
    /// themselves: `None`.
    ///
    /// # Errors
    /// [`SetUpError`]; no account was made then.
    pub async fn create_first_account(
        &self,
        secret: &str,
        email: Email,
        password: String,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, SetUpError> {
        // Without the right link nobody has the service hash passwords.
        if !self.is_setup_link_valid(secret).await? {
            return Err(SetUpError::InvalidLink);
        }
        let (password_hash, _) = self.password_hash(Some(password)).await?;
        let account = NewAccount {
            email,
            password_hash: password_hash.clone(),
            plan: Plan::Paid,
            created_at: self.parts.clock.now(),
        };
        let made = self.parts.store.create_first_account(session_hash(secret), account).await?;
        let account = made.ok_or(SetUpError::InvalidLink)?;
        let (kind, address) = (SecurityEventKind::AccountCreated, Some(from.address));
        self.record_security_event(account.id, kind, address, None).await;
        Ok(self.session_or_none(account, &password_hash, from).await)
    }
}
