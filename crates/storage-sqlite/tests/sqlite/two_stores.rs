use std::sync::Arc;

use domain::{KeyName, Plan};
use storage::{
    AccountStore, IndexQueue, KeyHash, KeyKind, Lookup, NewKey, NewSession, NewSigningKey, SchemaStore,
};
use storage_conformance::{NOW, Photo, Seed};
use storage_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{fresh_store, open};

/// Two stores on one file, like two processes.
async fn two_seeds() -> (Seed, Seed, TempDir) {
    let (store, folder) = fresh_store().await;
    let other = open(&folder.path().join("library.sqlite")).await;
    (Seed::tagged(Arc::new(store), "one"), Seed::tagged(Arc::new(other), "other"), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_store_sees_the_writes_of_the_other() {
    let (one, other, _folder) = two_seeds().await;
    let ann = one.account(Plan::Paid).await;
    for round in 0..30 {
        let (writes, reads) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let id = writes.image(ann.account, Photo::at_second(round)).await;
        assert!(matches!(reads.store().image(ann, &id).await.unwrap(), Lookup::Found(_)));
        assert_eq!(i64::from(reads.store().count_images(ann).await.unwrap()), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_revoked_in_one_store_is_invalid_in_the_other() {
    let (one, other, _folder) = two_seeds().await;
    let ann = one.account(Plan::Paid).await;
    let (hash, name) = (KeyHash([7; 32]), KeyName::parse("laptop").unwrap());
    let key = NewKey { account: ann.account, kind: KeyKind::Api, name: name.clone(), hash, created_at: NOW };
    one.store().create_key(key).await.unwrap();
    assert!(other.store().key_holder(&hash).await.unwrap().is_some());
    assert!(one.store().revoke_key(ann.account, KeyKind::Api, &name, NOW).await.unwrap());
    assert!(other.store().key_holder(&hash).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_of_two_stores_are_not_lost() {
    let (one, other, _folder) = two_seeds().await;
    let ann = one.account(Plan::Paid).await;
    let writers: Vec<_> = (0..16)
        .map(|number| {
            let seed = if number % 2 == 0 { one.clone() } else { other.clone() };
            tokio::spawn(async move {
                for _ in 0..10 {
                    seed.waiting(ann.account, 1).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(other.store().queue_length().await.unwrap().pending, 160);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_first_signing_key_of_both_stores_becomes_active() {
    let (one, other, _folder) = two_seeds().await;
    let makers: Vec<_> = (0..16)
        .map(|number| {
            let store = if number % 2 == 0 { one.store().clone() } else { other.store().clone() };
            let key = NewSigningKey { kid: format!("key-{number}"), sealed: vec![number; 40] };
            tokio::spawn(async move { store.add_signing_key(key, true, NOW).await.unwrap() })
        })
        .collect();
    let mut active = 0;
    for maker in makers {
        active += i32::from(maker.await.unwrap());
    }
    assert_eq!(active, 1);
    let keys = one.store().signing_keys().await.unwrap();
    assert_eq!((keys.len(), keys[0].retired_at), (1, None));
    assert_eq!(other.store().signing_keys().await.unwrap(), keys);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ended_in_one_store_is_gone_in_the_other() {
    let (one, other, _folder) = two_seeds().await;
    for round in 0..20 {
        let ann = one.account(Plan::Paid).await.account;
        let session = NewSession {
            hash: [round; 32],
            account: ann,
            user_agent: None,
            address: "127.0.0.1".to_owned(),
            at: NOW,
            expires_at: NOW.plus_millis(1000),
        };
        let hash = session.hash;
        assert!(one.store().add_session(session).await.unwrap());
        assert!(other.store().session(&hash, NOW).await.unwrap().is_some());
        assert!(one.store().end_session(&hash).await.unwrap());
        assert!(other.store().session(&hash, NOW).await.unwrap().is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_opened_before_the_migration_sees_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("library.sqlite");
    let (early, migrating): (SqliteStore, SqliteStore) = (open(&path).await, open(&path).await);
    assert!(!early.pending_migrations().await.unwrap().is_empty());
    migrating.migrate().await.unwrap();
    assert!(early.pending_migrations().await.unwrap().is_empty());
    assert!(early.accounts().await.unwrap().is_empty());
    assert_eq!(early.queue_length().await.unwrap().pending, 0);
}
