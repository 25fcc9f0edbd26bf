use storage::{NewSigningKey, StoredSigningKey};

use super::concurrently;
use crate::{Seed, queries::second};

fn key(kid: &str) -> NewSigningKey {
    NewSigningKey { kid: kid.to_owned(), sealed: format!("sealed {kid}").into_bytes() }
}

fn stored(kid: &str, created_at: i64, retired_at: Option<i64>) -> StoredSigningKey {
    let NewSigningKey { kid, sealed } = key(kid);
    StoredSigningKey { kid, sealed, created_at: second(created_at), retired_at: retired_at.map(second) }
}

async fn add(seed: &Seed, kid: &str, only_if_none_active: bool, at: i64) -> bool {
    seed.store().add_signing_key(key(kid), only_if_none_active, second(at)).await.unwrap()
}

pub(crate) async fn the_first_key_is_active(seed: &Seed) {
    assert_eq!(seed.store().signing_keys().await.unwrap(), []);
    assert!(add(seed, "a", true, 1).await);
    assert_eq!(seed.store().signing_keys().await.unwrap(), [stored("a", 1, None)]);
}

pub(crate) async fn a_first_key_is_added_only_if_none_is_active(seed: &Seed) {
    assert!(add(seed, "a", true, 1).await);
    assert!(!add(seed, "b", true, 2).await);
    assert_eq!(seed.store().signing_keys().await.unwrap(), [stored("a", 1, None)]);
}

pub(crate) async fn a_new_key_retires_the_previous_one(seed: &Seed) {
    for (kid, at) in [("a", 1), ("b", 5), ("c", 5)] {
        assert!(add(seed, kid, false, at).await);
    }
    let expected = [stored("c", 5, None), stored("b", 5, Some(5)), stored("a", 1, Some(5))];
    assert_eq!(seed.store().signing_keys().await.unwrap(), expected);
}

pub(crate) async fn a_refused_key_retires_nothing(seed: &Seed) {
    assert!(add(seed, "a", false, 1).await);
    assert!(seed.store().add_signing_key(key("a"), false, second(2)).await.is_err());
    assert_eq!(seed.store().signing_keys().await.unwrap(), [stored("a", 1, None)]);
}

pub(crate) async fn only_one_concurrent_first_key_becomes_active(seed: &Seed) {
    let added = concurrently((0..16).map(|number| {
        let store = seed.store().clone();
        async move { store.add_signing_key(key(&format!("key-{number}")), true, second(1)).await.unwrap() }
    }))
    .await;
    assert_eq!(added.iter().filter(|added| **added).count(), 1);
    assert_eq!(seed.store().signing_keys().await.unwrap().len(), 1);
}

pub(crate) async fn concurrent_rotations_leave_one_active_key(seed: &Seed) {
    concurrently(
        (0..16).map(|number| {
            let store = seed.store().clone();
            async move {
                store.add_signing_key(key(&format!("key-{number}")), false, second(number)).await.unwrap()
            }
        }),
    )
    .await;
    let keys = seed.store().signing_keys().await.unwrap();
    assert_eq!(keys.len(), 16);
    let active: Vec<bool> = keys.iter().map(|key| key.retired_at.is_none()).collect();
    assert_eq!(active.iter().position(|active| *active), Some(0), "the newest");
    assert_eq!(active.iter().filter(|active| **active).count(), 1);
}

pub(crate) async fn long_retired_keys_are_deleted(seed: &Seed) {
    for (kid, at) in [("a", 1), ("b", 5), ("c", 9)] {
        assert!(add(seed, kid, false, at).await);
    }
    assert_eq!(seed.store().delete_retired_signing_keys(second(9)).await.unwrap(), 1);
    assert_eq!(seed.store().signing_keys().await.unwrap(), [stored("c", 9, None), stored("b", 5, Some(9))]);
    assert_eq!(seed.store().delete_retired_signing_keys(second(1000)).await.unwrap(), 1);
    assert_eq!(seed.store().signing_keys().await.unwrap(), [stored("c", 9, None)], "the active key stays");
}
