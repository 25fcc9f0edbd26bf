use domain::{Account, AccountId, Email, KeyName, Plan, SecurityEventKind, SyncHandle, Timestamp};
use keys::{
    OpenKeyError, RandomError, SignError, api_key_hash, new_api_key, new_id, new_password, session_hash,
};
use oauth_core::{Grant, UnixMillis};
use storage::{
    CreateAccountError, CreateKeyError, KeyHash, KeyId, KeyInfo, KeyKind, NewAccount, NewKey, SessionHash,
    StorageError,
};

use crate::{Library, passwords::PasswordError};

/// The shortest time between two recorded uses of a key or a grant, in milliseconds.
const USE_RESOLUTION_MS: i64 = 60_000;

/// The service is unavailable; the call can be retried later.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The random source failed.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Passwords cannot be checked.
    #[error("passwords cannot be checked: {0}")]
    Passwords(String),
    /// The key that signs access tokens cannot be opened.
    #[error(transparent)]
    SigningKey(#[from] OpenKeyError),
    /// Access tokens cannot be signed.
    #[error("access tokens cannot be signed: {0}")]
    Signing(#[from] SignError),
}

/// Why an account was not created or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// Another account has this email.
    #[error("there is already an account for this email")]
    EmailTaken,
    /// No account has this email.
    #[error("there is no account for this email")]
    NoAccount,
    /// The password is empty.
    #[error("password: must not be empty")]
    EmptyPassword,
    /// The password could not be hashed.
    #[error("the password could not be hashed: {0}")]
    Hash(String),
    /// The service is unavailable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

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

impl From<StorageError> for AccountError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<StorageError> for KeyError {
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

/// Whether a use must be recorded.
fn is_use_due(recorded_at: Option<Timestamp>, now: Timestamp) -> bool {
    recorded_at.is_none_or(|at| now.millis() - at.millis() >= USE_RESOLUTION_MS)
}

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account that the caller acts for.
    pub account: Account,
    /// How the caller was authenticated.
    pub credential: Credential,
}

impl Caller {
    /// A user who is signed in with this session token.
    pub fn signed_in(account: Account, session_token: &str) -> Self {
        Self { account, credential: Credential::Session(session_hash(session_token)) }
    }

    /// An operator on the machine of the service, who may act for every account.
    pub fn operator(account: Account) -> Self {
        Self { account, credential: Credential::Operator }
    }
}

/// The kind, id and scope of what authenticated a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A browser session, by its hash. It allows everything that the account may do.
    Session(SessionHash),
    /// An API key. It allows the whole API, every MCP tool and photo sync.
    ApiKey(KeyId),
    /// A sync password. It allows photo sync only.
    SyncPassword(KeyId),
    /// An OAuth access token of this grant, which has the id, the client and the scopes. The grant may be revoked: see
    /// [`Library::caller_by_grant`].
    AccessToken(Grant),
    /// No credential: an operator on the machine of the service. It allows everything.
    Operator,
}

impl Credential {
    /// The grant of an access token; `None` for other credentials.
    pub fn grant(&self) -> Option<&Grant> {
        match self {
            Self::AccessToken(grant) => Some(grant),
            Self::Session(_) | Self::ApiKey(_) | Self::SyncPassword(_) | Self::Operator => None,
        }
    }

    /// The scopes that the credential is limited to; `None` if it has no limits.
    pub fn scopes(&self) -> Option<&[String]> {
        self.grant().map(|grant| grant.scopes.as_slice())
    }
}

impl Library {
    /// Creates an account. Without a password it generates a strong one and returns it; only its hash is stored.
    ///
    /// # Errors
    /// [`AccountError`].
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
    ///
    /// # Errors
    /// [`StorageError`].
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
    ///
    /// # Errors
    /// [`AccountError`].
    pub async fn set_plan(&self, email: &Email, plan: Plan) -> Result<(), AccountError> {
        let account = self.account(email).await?;
        require_account(self.parts.store.set_plan(account.id, plan).await?)
    }

    /// Changes an account's password and ends its sessions. Without a password it generates a strong one and returns it.
    ///
    /// # Errors
    /// [`AccountError`].
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

    /// Deletes an account, from the next request on. [`purge_deleted`](Self::purge_deleted) or a running service removes
    /// its images later.
    ///
    /// # Errors
    /// [`AccountError`].
    pub async fn delete_account(&self, account: AccountId) -> Result<(), AccountError> {
        require_account(self.parts.store.delete_account(account, self.parts.clock.now()).await?)
    }

    /// Creates an API key and returns it; only its hash is stored.
    ///
    /// # Errors
    /// [`KeyError`].
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
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn keys(&self, email: &Email) -> Result<Vec<KeyInfo>, KeyError> {
        Ok(self.parts.store.keys(self.key_account(email).await?, KeyKind::Api).await?)
    }

    /// Revokes the key of that name, from the next request on; `false` if there is none.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn revoke_key(&self, email: &Email, name: &KeyName) -> Result<bool, KeyError> {
        let account = self.key_account(email).await?;
        Ok(self.parts.store.revoke_key(account, KeyKind::Api, name, self.parts.clock.now()).await?)
    }

    /// The caller with this API key; `None` if the key is wrong or revoked, or its account was deleted.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the key is wrong.
    pub async fn caller_by_key(&self, key: &str) -> Result<Option<Caller>, StorageError> {
        let caller = self.key_caller(key).await?;
        Ok(caller.filter(|caller| matches!(caller.credential, Credential::ApiKey(_))))
    }

    /// The caller with this API key or sync password. Records its use.
    pub(crate) async fn key_caller(&self, key: &str) -> Result<Option<Caller>, StorageError> {
        let Some(holder) = self.parts.store.key_holder(&KeyHash(api_key_hash(key))).await? else {
            return Ok(None);
        };
        let now = self.parts.clock.now();
        if is_use_due(holder.last_used_at, now) {
            let store = self.parts.store.clone();
            self.parts.key_uses.spawn(async move { store.touch_key(holder.key, now).await });
        }
        let credential = match holder.kind {
            KeyKind::Api => Credential::ApiKey(holder.key),
            KeyKind::Sync => Credential::SyncPassword(holder.key),
        };
        Ok(Some(Caller { account: holder.account, credential }))
    }

    /// The caller with an access token of this grant; `None` if the grant or its account does not exist. The grant may
    /// be revoked, so check it with `oauth_core`'s `check_access`. The use of a grant that is not revoked is recorded.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the grant is wrong.
    pub async fn caller_by_grant(&self, grant_id: &str) -> Result<Option<Caller>, StorageError> {
        let Some(holder) = self.parts.store.grant_holder(grant_id).await? else { return Ok(None) };
        let now = self.parts.clock.now();
        if holder.grant.revoked_at.is_none() && is_use_due(holder.last_used_at, now) {
            let (store, id) = (self.parts.store.clone(), holder.grant.id.clone());
            let at = UnixMillis(now.millis());
            self.parts.grant_uses.spawn(async move { store.record_use(&id, at).await });
        }
        Ok(Some(Caller { account: holder.account, credential: Credential::AccessToken(holder.grant) }))
    }

    /// A new sync handle.
    pub(crate) fn new_sync_handle(&self) -> Result<SyncHandle, Unavailable> {
        let id = new_id(self.random())?;
        // A new id is always valid.
        SyncHandle::parse(&id).ok_or(Unavailable::Random(RandomError))
    }

    async fn key_account(&self, email: &Email) -> Result<AccountId, KeyError> {
        let account = self.parts.store.account_by_email(email).await?;
        account.map(|account| account.id).ok_or(KeyError::NoAccount)
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

/// An account can be deleted between two operations.
fn require_account(exists: bool) -> Result<(), AccountError> {
    if exists { Ok(()) } else { Err(AccountError::NoAccount) }
}
