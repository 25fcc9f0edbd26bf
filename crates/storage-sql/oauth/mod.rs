mod assertions;
mod clients;
mod codes;
mod edits;
mod holder;
mod refresh;
mod row;
mod stored;
mod sweep;

pub(crate) use codes::delete_unredeemed as delete_unredeemed_codes;
pub(crate) use row::revoke_all_of as revoke_all_grants;

use async_trait::async_trait;
use domain::AccountId;
use oauth_core::{
    Client, ClientStore, CodeStatus, Connection, GrantKey, GrantStore, Grants, NewClient, NewCode,
    Redemption, Rotation, StoreError, StoredGrant, Sweep, UnixMillis, UsedAssertion,
};
use storage::{GrantEdits, GrantHolder, GrantHolderStore, StorageError};

use crate::{Lock, SqlStore};

operations! {
    impl GrantHolderStore {
        query_inline grant_holder(grant_id: &str) -> Option<GrantHolder> = holder::of;
        query grant_edits(grant_id: &str) -> Option<GrantEdits> = edits::of;
        write(Lock::Nothing) set_grant_edits(account: AccountId, grant_id: &str, allowed: bool) -> bool
            = edits::set;
        query grants_with_edits(account: AccountId) -> Vec<String> = edits::of_account;
    }
}

#[async_trait]
impl ClientStore for SqlStore {
    async fn register_client(&self, client: NewClient) -> Result<Client, StoreError> {
        let (digest, now) = (client.digest, client.client.issued_at);
        // Clients register repeatedly. To save write locks, a repetition is recorded only once per interval.
        if let Some((known, registered_last_at)) =
            self.query_inline(move |c| clients::by_digest(c, digest)).await.map_err(store_error)?
            && !clients::should_record_registration(registered_last_at, now)
        {
            return Ok(known);
        }
        self.write(Lock::Clients, move |c| clients::register(c, &client)).await.map_err(store_error)
    }

    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError> {
        let id = id.to_owned();
        self.query_inline(move |c| clients::by_id(c, &id)).await.map_err(store_error)
    }

    async fn record_assertion(&self, used: UsedAssertion) -> Result<bool, StoreError> {
        self.write(Lock::Nothing, move |c| assertions::record(c, used)).await.map_err(store_error)
    }
}

#[async_trait]
impl GrantStore for SqlStore {
    async fn issue_code(&self, code: NewCode) -> Result<CodeStatus, StoreError> {
        let Some(account) = row::account_of(&code.grant.subject) else { return Ok(CodeStatus::Spent) };
        self.write(Lock::Account(account.0), move |c| codes::issue(c, account, &code))
            .await
            .map_err(store_error)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        self.write(Lock::Nothing, move |c| codes::redeem(c, &redemption)).await.map_err(store_error)
    }

    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError> {
        self.write(Lock::Nothing, move |c| refresh::rotate(c, &rotation)).await.map_err(store_error)
    }

    async fn grant(&self, key: GrantKey<'_>) -> Result<Option<StoredGrant>, StoreError> {
        match key {
            GrantKey::Id(id) => {
                let id = id.to_owned();
                self.query_inline(move |c| stored::by_id(c, &id)).await
            }
            GrantKey::Code(hash) => {
                let hash = *hash;
                self.query_inline(move |c| stored::by_code(c, &hash)).await
            }
            GrantKey::RefreshHandle(hash) => {
                let hash = *hash;
                self.query_inline(move |c| stored::by_refresh_handle(c, &hash)).await
            }
        }
        .map_err(store_error)
    }

    async fn revoke(&self, grants: Grants<'_>, at: UnixMillis) -> Result<u64, StoreError> {
        match grants {
            Grants::WithId(id) => {
                let id = id.to_owned();
                self.write(Lock::Nothing, move |c| row::revoke(c, &id, at)).await
            }
            Grants::OfSubject(subject) => {
                let Some(account) = row::account_of(subject) else { return Ok(0) };
                self.write(Lock::Account(account.0), move |c| row::revoke_all_of(c, account, at)).await
            }
        }
        .map_err(store_error)
    }

    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError> {
        let Some(account) = row::account_of(subject) else { return Ok(Vec::new()) };
        self.query(move |c| holder::connections(c, account)).await.map_err(store_error)
    }

    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError> {
        let id = grant_id.to_owned();
        self.write(Lock::Nothing, move |c| row::record_use(c, &id, at)).await.map_err(store_error)
    }

    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError> {
        self.write(Lock::Clients, move |c| sweep::sweep(c, &sweep)).await.map_err(store_error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn store_error(error: StorageError) -> StoreError {
    StoreError(error.to_string())
}
