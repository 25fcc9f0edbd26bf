use domain::{AccountId, Email, Plan};
use storage::{CreateAccountError, NewAccount, Viewer};

use crate::{
    NOW, Photo, Seed,
    queries::{second, timeline},
    sync_handle,
};

fn new_account(email: &str) -> NewAccount {
    NewAccount {
        email: Email::parse(email).unwrap(),
        password_hash: "$argon2id$hash".to_owned(),
        plan: Plan::Free,
        sync_handle: sync_handle(email),
        created_at: NOW,
    }
}

const UNKNOWN: AccountId = AccountId(9_999_999);

pub(crate) async fn an_account_is_created(seed: &Seed) {
    let made = seed.store().create_account(new_account("ann@example.org")).await.unwrap();
    assert_eq!(made.email.as_str(), "ann@example.org");
    assert_eq!((made.plan, made.synced_at, made.created_at), (Plan::Free, None, NOW));
    let found = seed.store().account_by_email(&made.email).await.unwrap();
    assert_eq!(found, Some(made));
}

pub(crate) async fn an_address_can_be_used_once(seed: &Seed) {
    seed.account_of("ann@example.org", Plan::Paid).await;
    let again = seed.store().create_account(new_account("ANN@example.org")).await;
    assert!(matches!(again, Err(CreateAccountError::EmailTaken)));
    assert_eq!(seed.store().accounts().await.unwrap().len(), 1);
}

pub(crate) async fn accounts_are_listed_by_address(seed: &Seed) {
    for email in ["zoe@example.org", "ann@example.org", "mia@example.org"] {
        seed.account_of(email, Plan::Paid).await;
    }
    let listed = seed.store().accounts().await.unwrap();
    let emails: Vec<&str> = listed.iter().map(|account| account.email.as_str()).collect();
    assert_eq!(emails, ["ann@example.org", "mia@example.org", "zoe@example.org"]);
}

pub(crate) async fn an_unknown_address_has_no_account(seed: &Seed) {
    let email = Email::parse("nobody@example.org").unwrap();
    assert_eq!(seed.store().account_by_email(&email).await.unwrap(), None);
}

pub(crate) async fn a_plan_can_change(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    assert!(seed.store().set_plan(ann.id, Plan::Free).await.unwrap());
    let found = seed.store().account_by_email(&ann.email).await.unwrap().unwrap();
    assert_eq!(found.plan, Plan::Free);
    assert!(!seed.store().set_plan(UNKNOWN, Plan::Free).await.unwrap());
}

pub(crate) async fn a_password_hash_can_change(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    assert!(seed.store().set_password_hash(ann.id, "$argon2id$other".to_owned(), None).await.unwrap());
    let (wrong, right) = (Some("$argon2id$hash".to_owned()), Some("$argon2id$other".to_owned()));
    let third = || "$argon2id$third".to_owned();
    assert!(!seed.store().set_password_hash(ann.id, third(), wrong).await.unwrap());
    assert!(seed.store().set_password_hash(ann.id, third(), right).await.unwrap());
    assert!(!seed.store().set_password_hash(UNKNOWN, "$argon2id$other".to_owned(), None).await.unwrap());
}

pub(crate) async fn an_account_is_found_by_id(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    seed.account_of("ben@example.org", Plan::Free).await;
    assert_eq!(seed.store().account(ann.id).await.unwrap(), Some(ann.clone()));
    assert_eq!(seed.store().account(UNKNOWN).await.unwrap(), None);
    seed.store().delete_account(ann.id, second(9)).await.unwrap();
    assert_eq!(seed.store().account(ann.id).await.unwrap(), None);
}

pub(crate) async fn a_password_hash_is_found_by_address(seed: &Seed) {
    let ann = seed.store().create_account(new_account("ann@example.org")).await.unwrap();
    let ben = seed.account_of("ben@example.org", Plan::Paid).await;
    let found = |email| {
        let email = Email::parse(email).unwrap();
        async move { seed.store().password_hash_by_email(&email).await.unwrap() }
    };
    assert_eq!(found("ANN@example.org").await, Some((ann.clone(), "$argon2id$hash".to_owned())));
    assert_eq!(found("zoe@example.org").await, None);
    seed.store().set_password_hash(ann.id, "$argon2id$other".to_owned(), None).await.unwrap();
    assert_eq!(found("ann@example.org").await.unwrap().1, "$argon2id$other");
    assert_ne!(found(ben.email.as_str()).await.unwrap().1, "$argon2id$other");
    seed.store().delete_account(ann.id, second(9)).await.unwrap();
    assert_eq!(found("ann@example.org").await, None);
}

pub(crate) async fn the_first_sync_is_recorded_once(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    seed.store().mark_synced(ann.id, second(5)).await.unwrap();
    seed.store().mark_synced(ann.id, second(9)).await.unwrap();
    let found = seed.store().account_by_email(&ann.email).await.unwrap().unwrap();
    assert_eq!(found.synced_at, Some(second(5)));
}

pub(crate) async fn a_deleted_account_disappears_at_once(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    let viewer = Viewer { account: ann.id, plan: ann.plan, free_window: 5 };
    let id = seed.image(ann.id, Photo::at_second(1)).await;
    seed.album(viewer, "Mine", &[id]).await;
    assert!(seed.store().delete_account(ann.id, second(9)).await.unwrap());

    assert_eq!(seed.store().accounts().await.unwrap(), []);
    assert_eq!(seed.store().account_by_email(&ann.email).await.unwrap(), None);
    assert_eq!(timeline(seed, viewer).await, []);
    assert_eq!(seed.store().count_images(viewer).await.unwrap(), 0);
    let albums = seed.store().page_albums(viewer, Default::default(), Default::default()).await.unwrap();
    assert_eq!((albums.albums.len(), albums.total), (0, 0));
    assert!(!seed.store().set_plan(ann.id, Plan::Free).await.unwrap());
    assert!(!seed.store().set_password_hash(ann.id, "$argon2id$x".to_owned(), None).await.unwrap());
}

pub(crate) async fn an_account_is_deleted_once(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    assert!(seed.store().delete_account(ann.id, second(9)).await.unwrap());
    assert!(!seed.store().delete_account(ann.id, second(9)).await.unwrap());
    assert!(!seed.store().delete_account(UNKNOWN, second(9)).await.unwrap());
}

pub(crate) async fn a_deleted_account_frees_its_address(seed: &Seed) {
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    seed.image(ann.id, Photo::at_second(1)).await;
    seed.store().delete_account(ann.id, second(9)).await.unwrap();
    let other = seed.account_of("ann@example.org", Plan::Paid).await;
    assert_ne!(other.id, ann.id, "account ids are never reused");
    let viewer = Viewer { account: other.id, plan: other.plan, free_window: 5 };
    assert_eq!(timeline(seed, viewer).await, []);
}
