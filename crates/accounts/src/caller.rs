use domain::{Account, AccountId, Timestamp};
use keys::{api_key_hash, session_hash};
use oauth_core::{Grant, UnixMillis};
use storage::{KeyHash, KeyId, KeyKind, SessionHash, StorageError, Viewer};

use crate::Accounts;

/// The shortest time between two recorded uses of a key or a grant, in milliseconds.
const USE_RESOLUTION_MS: i64 = 60_000;

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

    /// The view of the caller's own photos.
    pub fn viewer(&self, free_window: u32) -> Viewer {
        Viewer { account: self.account.id, plan: self.account.plan, free_window }
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
    /// [`Accounts::caller_by_grant`].
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

/// What a caller may do to the details of photos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editor {
    pub may_edit: bool,
    /// The name of the app, key or device; `None` for the person.
    pub author: Option<String>,
}

impl Accounts {
    /// The caller with this API key; `None` if the key is wrong or revoked, or its account was deleted.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the key is wrong.
    pub async fn caller_by_key(&self, key: &str) -> Result<Option<Caller>, StorageError> {
        let caller = self.caller_by_any_key(key).await?;
        Ok(caller.filter(|caller| matches!(caller.credential, Credential::ApiKey(_))))
    }

    /// The caller with this API key or sync password, without the name of the account. Records its use.
    ///
    /// # Errors
    /// [`StorageError`]; it does not mean that the key is wrong.
    pub async fn caller_by_any_key(&self, key: &str) -> Result<Option<Caller>, StorageError> {
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

    /// Whether the caller may edit the details of photos, and the name under which its edits are listed.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn editor(&self, caller: &Caller) -> Result<Editor, StorageError> {
        let store = &self.parts.store;
        Ok(match &caller.credential {
            Credential::Session(_) | Credential::Operator => Editor { may_edit: true, author: None },
            Credential::ApiKey(key) | Credential::SyncPassword(key) => {
                let name = store.key_name(*key).await?;
                Editor { may_edit: true, author: name.map(|name| name.as_str().to_owned()) }
            }
            Credential::AccessToken(grant) => match store.grant_edits(&grant.id).await? {
                Some(edits) => {
                    let author = edits.client_name.unwrap_or_else(|| grant.client_id.clone());
                    Editor { may_edit: edits.is_allowed, author: Some(author) }
                }
                None => Editor { may_edit: false, author: None },
            },
        })
    }

    /// Allows or forbids the app of a grant to edit the details of photos. `false` if the account has no such grant.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn set_grant_edits(
        &self,
        account: AccountId,
        grant_id: &str,
        allowed: bool,
    ) -> Result<bool, StorageError> {
        self.parts.store.set_grant_edits(account, grant_id, allowed).await
    }

    /// The ids of the grants of an account whose apps may edit the details of photos.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn grants_with_edits(&self, account: AccountId) -> Result<Vec<String>, StorageError> {
        self.parts.store.grants_with_edits(account).await
    }
}
