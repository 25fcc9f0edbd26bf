use domain::{AccountId, KeyName, Plan, Timestamp};
use storage::{CreateKeyError, KeyHash, KeyKind, NewKey};

use crate::{Seed, queries::second};

fn name(name: &str) -> KeyName {
    KeyName::parse(name).unwrap()
}

fn key(account: AccountId, key_name: &str, hash: u8, created_at: Timestamp) -> NewKey {
    NewKey { account, kind: KeyKind::Api, name: name(key_name), hash: KeyHash([hash; 32]), created_at }
}

/// The account that the key authenticates.
async fn holder(seed: &Seed, hash: u8) -> Option<AccountId> {
    seed.store().key_holder(&KeyHash([hash; 32])).await.unwrap().map(|holder| holder.account.id)
}

pub(crate) async fn a_key_authenticates_its_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    seed.store().create_key(key(ben.account, "laptop", 2, second(1))).await.unwrap();
    let found = seed.store().key_holder(&KeyHash([1; 32])).await.unwrap().unwrap();
    assert_eq!((found.account.id, found.account.plan), (ann.account, Plan::Free));
    assert_eq!(found.last_used_at, None);
    assert_eq!(holder(seed, 2).await, Some(ben.account));
    assert_eq!(holder(seed, 3).await, None);
}

pub(crate) async fn a_name_can_be_used_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    let again = seed.store().create_key(key(ann.account, "laptop", 2, second(2))).await;
    assert!(matches!(again, Err(CreateKeyError::NameTaken)));
    assert_eq!(holder(seed, 2).await, None);
}

pub(crate) async fn a_key_needs_an_account(seed: &Seed) {
    let nobody = seed.store().create_key(key(AccountId(9_999_999), "laptop", 1, second(1))).await;
    assert!(matches!(nobody, Err(CreateKeyError::NoAccount)));
    let ann = seed.account(Plan::Paid).await;
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    let gone = seed.store().create_key(key(ann.account, "laptop", 1, second(2))).await;
    assert!(matches!(gone, Err(CreateKeyError::NoAccount)));
}

pub(crate) async fn a_revoked_key_is_invalid(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    seed.store().create_key(key(ben.account, "laptop", 2, second(1))).await.unwrap();
    assert!(seed.store().revoke_key(ann.account, KeyKind::Api, &name("laptop"), second(2)).await.unwrap());
    assert_eq!(holder(seed, 1).await, None);
    assert_eq!(
        holder(seed, 2).await,
        Some(ben.account),
        "the key of the other account with the same name stays valid"
    );
    assert!(!seed.store().revoke_key(ann.account, KeyKind::Api, &name("laptop"), second(3)).await.unwrap());
    assert!(!seed.store().revoke_key(ann.account, KeyKind::Api, &name("phone"), second(3)).await.unwrap());
}

pub(crate) async fn a_revoked_name_can_be_used_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for round in 0..3 {
        seed.store().create_key(key(ann.account, "laptop", round, second(1))).await.unwrap();
        assert!(
            seed.store().revoke_key(ann.account, KeyKind::Api, &name("laptop"), second(2)).await.unwrap()
        );
    }
    seed.store().create_key(key(ann.account, "laptop", 9, second(3))).await.unwrap();
    assert_eq!(holder(seed, 0).await, None);
    assert_eq!(holder(seed, 9).await, Some(ann.account));
}

pub(crate) async fn keys_are_listed_newest_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.store().create_key(key(ann.account, "old", 1, second(1))).await.unwrap();
    seed.store().create_key(key(ann.account, "new", 2, second(2))).await.unwrap();
    seed.store().create_key(key(ben.account, "other", 3, second(3))).await.unwrap();
    seed.store().revoke_key(ann.account, KeyKind::Api, &name("old"), second(4)).await.unwrap();
    let keys = seed.store().keys(ann.account, KeyKind::Api).await.unwrap();
    let listed: Vec<_> = keys.iter().map(|key| (key.name.as_str(), key.created_at, key.revoked_at)).collect();
    assert_eq!(listed, [("new", second(2), None), ("old", second(1), Some(second(4)))]);
}

pub(crate) async fn the_last_use_is_recorded(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    let found = seed.store().key_holder(&KeyHash([1; 32])).await.unwrap().unwrap();
    for used in [5, 9, 7] {
        seed.store().touch_key(found.key, second(used)).await.unwrap();
    }
    let found = seed.store().key_holder(&KeyHash([1; 32])).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(second(9)), "uses may be recorded out of order");
    assert_eq!(seed.store().keys(ann.account, KeyKind::Api).await.unwrap()[0].last_used_at, Some(second(9)));
}

pub(crate) async fn keys_of_a_deleted_account_are_invalid(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    seed.store().delete_account(ann.account, second(2)).await.unwrap();
    assert_eq!(holder(seed, 1).await, None);
    assert_eq!(seed.store().keys(ann.account, KeyKind::Api).await.unwrap(), []);
}

pub(crate) async fn a_plan_change_is_seen_by_the_next_request(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    seed.store().set_plan(ann.account, Plan::Paid).await.unwrap();
    let found = seed.store().key_holder(&KeyHash([1; 32])).await.unwrap().unwrap();
    assert_eq!(found.account.plan, Plan::Paid);
}

fn sync_password(account: AccountId, name: &str, hash: u8) -> NewKey {
    NewKey { kind: KeyKind::Sync, ..key(account, name, hash, second(1)) }
}

pub(crate) async fn a_key_has_its_kind(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(key(ann.account, "laptop", 1, second(1))).await.unwrap();
    seed.store().create_key(sync_password(ann.account, "phone", 2)).await.unwrap();
    for (hash, kind, listed) in [(1, KeyKind::Api, "laptop"), (2, KeyKind::Sync, "phone")] {
        let found = seed.store().key_holder(&KeyHash([hash; 32])).await.unwrap().unwrap();
        assert_eq!((found.kind, found.account.id), (kind, ann.account));
        let keys = seed.store().keys(ann.account, kind).await.unwrap();
        assert_eq!(keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), [listed]);
    }
}

pub(crate) async fn each_kind_has_its_own_names(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(key(ann.account, "phone", 1, second(1))).await.unwrap();
    seed.store().create_key(sync_password(ann.account, "phone", 2)).await.unwrap();
    let again = seed.store().create_key(sync_password(ann.account, "phone", 3)).await;
    assert!(matches!(again, Err(CreateKeyError::NameTaken)));
    assert!(seed.store().revoke_key(ann.account, KeyKind::Sync, &name("phone"), second(2)).await.unwrap());
    assert_eq!(holder(seed, 2).await, None);
    assert_eq!(holder(seed, 1).await, Some(ann.account), "the API key of the same name stays valid");
    assert!(!seed.store().revoke_key(ann.account, KeyKind::Sync, &name("phone"), second(3)).await.unwrap());
}

pub(crate) async fn a_key_is_revoked_by_its_id_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.store().create_key(sync_password(ann.account, "phone", 1)).await.unwrap();
    seed.store().create_key(sync_password(ann.account, "laptop", 2)).await.unwrap();
    let phone = seed.store().key_holder(&KeyHash([1; 32])).await.unwrap().unwrap().key;
    let revoke = async |at| seed.store().revoke_key_by_id(phone, second(at)).await.unwrap();
    assert_eq!(revoke(2).await, Some(name("phone")));
    assert_eq!(revoke(3).await, None);
    assert_eq!((holder(seed, 1).await, holder(seed, 2).await), (None, Some(ann.account)));
    let keys = seed.store().keys(ann.account, KeyKind::Sync).await.unwrap();
    let phone = keys.iter().find(|key| key.name.as_str() == "phone").unwrap();
    assert_eq!(phone.revoked_at, Some(second(2)));
}
