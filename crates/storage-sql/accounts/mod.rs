mod api_keys;
mod rows;
mod setup;

use domain::{Account, AccountId, Email, KeyName, Plan, Timestamp};
use storage::{
    AccountStore, CreateAccountError, CreateKeyError, KeyHash, KeyHolder, KeyId, KeyInfo, KeyKind,
    NewAccount, NewKey, SetupHash, SetupStore,
};

use crate::Lock;

operations! {
    impl AccountStore {
        read accounts() -> Vec<Account> = rows::all;
        read account_by_email(email: &Email) -> Option<Account> = rows::by_email;
        query account(account: AccountId) -> Option<Account> = rows::by_id;
        query password_hash_by_email(email: &Email) -> Option<(Account, String)> = rows::password_hash;
        write(Lock::Nothing) set_plan(account: AccountId, plan: Plan) -> bool = rows::set_plan;
        write(Lock::Account(account.0)) set_password_hash(
            account: AccountId, password_hash: String, expected: Option<String>
        ) -> bool { |c| rows::set_password_hash(c, account, &password_hash, expected.as_deref()) }
        write(Lock::Account(account.0)) delete_account(account: AccountId, at: Timestamp) -> bool
            = rows::delete;
        write(Lock::Nothing) mark_synced(account: AccountId, at: Timestamp) -> () = rows::mark_synced;
        read keys(account: AccountId, kind: KeyKind) -> Vec<KeyInfo> = api_keys::all;
        write(Lock::Nothing) revoke_key(
            account: AccountId, kind: KeyKind, name: &KeyName, at: Timestamp
        ) -> bool = api_keys::revoke;
        write(Lock::Nothing) revoke_key_by_id(key: KeyId, at: Timestamp) -> Option<KeyName>
            = api_keys::revoke_by_id;
        query key_name(key: KeyId) -> Option<KeyName> = api_keys::name;
        query_inline key_holder(hash: &KeyHash) -> Option<KeyHolder> = api_keys::holder;
        write(Lock::Nothing) touch_key(key: KeyId, at: Timestamp) -> () = api_keys::touch;
    }
    by hand {
        async fn create_account(&self, account: NewAccount) -> Result<Account, CreateAccountError> {
            self.write(Lock::Setup, move |c| rows::create(c, &account))
                .await?
                .ok_or(CreateAccountError::EmailTaken)
        }

        async fn create_key(&self, key: NewKey) -> Result<(), CreateKeyError> {
            match self.write(Lock::Account(key.account.0), move |c| api_keys::create(c, &key)).await? {
                api_keys::Creation::Done => Ok(()),
                api_keys::Creation::NameTaken => Err(CreateKeyError::NameTaken),
                api_keys::Creation::NoAccount => Err(CreateKeyError::NoAccount),
            }
        }
    }
}

operations! {
    impl SetupStore {
        write(Lock::Setup) create_setup_link(link: SetupHash as ref, at: Timestamp) -> bool
            = setup::create_link;
        query_inline has_account() -> bool = setup::has_account;
        read is_setup_link_valid(link: SetupHash as ref) -> bool = setup::is_valid;
        write(Lock::Setup) create_first_account(
            link: SetupHash as ref, account: NewAccount as ref
        ) -> Option<Account> = setup::create_first_account;
    }
}
