use std::path::Path;

use accounts::{SigningKeys, Unavailable};
use keys::Secret;
use oauth_core::jwt::UnverifiedToken;
use storage::SigningKeyStore as _;

use crate::{HOUR_MS, MINUTE_MS, Process, SECOND_MS, clock, process};

const CLAIMS: &[u8] = br#"{"sub":"1"}"#;

fn secret(letter: &str) -> Secret {
    Secret::from_text(&letter.repeat(32)).unwrap()
}

/// Two processes on one store, with one clock and one secret.
async fn two(dir: &Path) -> [(Process, SigningKeys); 2] {
    let clock = clock();
    let (one, two) = (process(dir, clock.clone(), 1, 64).await, process(dir, clock, 2, 64).await);
    let keys = |it: &Process| it.accounts.signing_keys(secret("a"));
    let (first, second) = (keys(&one), keys(&two));
    [(one, first), (two, second)]
}

async fn reads(keys: &SigningKeys, token: &str) -> bool {
    let Some(token) = UnverifiedToken::parse(token) else { return false };
    match keys.verify(token).await.unwrap() {
        Some(claims) => claims == CLAIMS,
        None => false,
    }
}

fn kid(token: &str) -> String {
    UnverifiedToken::parse(token).unwrap().kid().to_owned()
}

async fn published(keys: &SigningKeys) -> Vec<String> {
    keys.jwks().await.unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn token_is_verified_by_every_process() {
    let dir = tempfile::tempdir().unwrap();
    let [(_, ours), (_, theirs)] = two(dir.path()).await;
    let token = ours.sign(CLAIMS).await.unwrap();
    assert!(reads(&ours, &token).await && reads(&theirs, &token).await);
    assert_eq!(kid(&theirs.sign(CLAIMS).await.unwrap()), kid(&token));
    assert_eq!(published(&theirs).await, [kid(&token)]);
    for wrong in ["", "a.b.c", &token[1..], &format!("{token}x")] {
        assert!(!reads(&ours, wrong).await, "{wrong}");
    }
    assert!(ours.sign(b"[]").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_create_one_first_key() {
    let dir = tempfile::tempdir().unwrap();
    let [(it, ours), (_, theirs)] = two(dir.path()).await;
    let signing: Vec<_> = (0..8)
        .map(|number| {
            let keys = if number % 2 == 0 { ours.clone() } else { theirs.clone() };
            tokio::spawn(async move { keys.sign(CLAIMS).await.unwrap() })
        })
        .collect();
    let mut tokens = Vec::new();
    for signed in signing {
        tokens.push(signed.await.unwrap());
    }
    assert!(tokens.iter().all(|token| kid(token) == kid(&tokens[0])));
    assert_eq!(it.store.signing_keys().await.unwrap().len(), 1);
}

#[tokio::test]
async fn new_key_signs_at_once_and_old_key_verifies_for_an_hour() {
    let dir = tempfile::tempdir().unwrap();
    let [(it, ours), (_, theirs)] = two(dir.path()).await;
    let old = ours.sign(CLAIMS).await.unwrap();
    assert!(reads(&theirs, &old).await);
    it.later(MINUTE_MS);
    let new_kid = theirs.rotate(false).await.unwrap();
    let new = ours.sign(CLAIMS).await.unwrap();
    assert_eq!(kid(&new), new_kid);
    assert_ne!(kid(&old), new_kid);
    assert!(reads(&ours, &old).await && reads(&theirs, &old).await && reads(&theirs, &new).await);
    assert_eq!(published(&ours).await, [new_kid.clone(), kid(&old)]);

    it.later(HOUR_MS - 1);
    it.accounts.delete_expired(|| false).await.unwrap();
    assert!(reads(&ours, &old).await && reads(&theirs, &old).await);
    it.later(1);
    assert!(!reads(&ours, &old).await && !reads(&theirs, &old).await);
    assert!(reads(&ours, &new).await && reads(&theirs, &new).await);
    assert_eq!(published(&ours).await, [new_kid]);
    it.later(1);
    it.accounts.delete_expired(|| false).await.unwrap();
    assert_eq!(it.store.signing_keys().await.unwrap().len(), 1);
}

#[tokio::test]
async fn retired_key_expires_in_other_processes() {
    let dir = tempfile::tempdir().unwrap();
    let [(it, ours), (_, theirs)] = two(dir.path()).await;
    let token = ours.sign(CLAIMS).await.unwrap();
    assert!(reads(&theirs, &token).await);
    ours.rotate(false).await.unwrap();
    // The reads keep the cache of the other process fresh.
    for _ in 0..119 {
        it.later(MINUTE_MS / 2);
        assert!(reads(&theirs, &token).await);
    }
    it.later(MINUTE_MS / 2);
    assert!(!reads(&theirs, &token).await);
}

#[tokio::test]
async fn unknown_key_ids_read_the_store_at_most_once_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let [(it, ours), (_, theirs)] = two(dir.path()).await;
    let known = ours.sign(CLAIMS).await.unwrap();
    assert!(reads(&theirs, &known).await);
    // A key of another service.
    let other = keys::SigningKey::generate(&keys::SeededRandom::new(99)).unwrap();
    let junk = other.sign(CLAIMS).unwrap();
    assert!(!reads(&theirs, &junk).await, "reads the store");
    ours.rotate(false).await.unwrap();
    let new = ours.sign(CLAIMS).await.unwrap();
    assert!(!reads(&theirs, &new).await, "it read the store less than a second ago");
    assert!(reads(&theirs, &known).await);
    it.later(SECOND_MS);
    assert!(reads(&theirs, &new).await && !reads(&theirs, &junk).await);
}

#[tokio::test]
async fn wrong_secret_is_an_error_and_not_a_wrong_token() {
    let dir = tempfile::tempdir().unwrap();
    let [(it, ours), _] = two(dir.path()).await;
    let token = ours.sign(CLAIMS).await.unwrap();
    let changed = it.accounts.signing_keys(secret("b"));
    let check = |outcome: Result<(), Unavailable>| {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("differs from the one that the key was sealed with"), "{error}");
    };
    check(changed.sign(CLAIMS).await.map(drop));
    check(changed.jwks().await.map(drop));
    check(changed.rotate(false).await.map(drop));
    for _ in 0..2 {
        check(changed.verify(UnverifiedToken::parse(&token).unwrap()).await.map(drop));
    }
    assert!(!reads(&changed, "junk").await);

    // Rotation with `true` creates a new key, although the secret of the old one is lost.
    changed.rotate(true).await.unwrap();
    let new = changed.sign(CLAIMS).await.unwrap();
    assert!(reads(&changed, &new).await && !reads(&changed, &token).await);
    assert_eq!(published(&changed).await, [kid(&new)]);
}
