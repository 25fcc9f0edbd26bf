use storage::SessionStore as _;

use crate::{DAY_MS, HOUR_MS, MINUTE_MS, eventually, with_ann};

#[tokio::test]
async fn a_session_lasts_thirty_days_from_its_last_use() {
    let (_dir, it, ann) = with_ann().await;
    let token = it.token().await;
    assert_eq!(token.len(), 43);
    let began = it.now();

    // Uses within an hour of the recorded one are not recorded.
    it.later(HOUR_MS - 1);
    let holder = it.accounts.session(&token).await.unwrap().unwrap();
    assert_eq!((holder.last_seen_at, holder.expires_at), (began, began.plus_millis(30 * DAY_MS)));
    it.later(1);
    assert!(it.is_signed_in(&token).await);
    let used = it.now();
    eventually("the use is recorded", || async {
        let sessions = it.store.sessions(ann.id).await.unwrap();
        sessions[0].last_seen_at == used && sessions[0].expires_at == used.plus_millis(30 * DAY_MS)
    })
    .await;

    it.later(30 * DAY_MS - 1);
    assert!(it.is_signed_in(&token).await);
    let used = it.now();
    eventually("the use is recorded", || async {
        it.store.sessions(ann.id).await.unwrap()[0].last_seen_at == used
    })
    .await;
    it.later(30 * DAY_MS);
    assert!(!it.is_signed_in(&token).await);
}

#[tokio::test]
async fn wrong_token_has_no_session() {
    let (_dir, it, _) = with_ann().await;
    let token = it.token().await;
    for wrong in ["", "x", &token[1..], &format!("{token}="), &token.to_uppercase(), &"x".repeat(100_000)] {
        assert!(!it.is_signed_in(wrong).await, "{wrong}");
        assert!(!it.accounts.sign_out(wrong).await.unwrap());
    }
    assert!(it.is_signed_in(&token).await);
}

#[tokio::test]
async fn signing_out_ends_one_session_or_all_or_all_others() {
    let (_dir, it, ann) = with_ann().await;
    let bob = it.account("bob", "right").await;
    let bobs = it.sign_in("bob@example.org", "right", "192.0.2.1").await.unwrap().token;
    let tokens = [it.token().await, it.token().await, it.token().await, it.token().await];
    let left = async || {
        let mut left = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            if it.is_signed_in(token).await {
                left.push(number);
            }
        }
        left
    };
    assert!(it.accounts.sign_out(&tokens[0]).await.unwrap());
    assert!(!it.accounts.sign_out(&tokens[0]).await.unwrap());
    assert_eq!(left().await, [1, 2, 3]);
    assert_eq!(it.accounts.end_sessions(ann.id, Some(&tokens[2])).await.unwrap(), 2);
    assert_eq!(left().await, [2]);
    assert_eq!(it.accounts.end_sessions(ann.id, None).await.unwrap(), 1);
    assert_eq!(left().await, [0_usize; 0]);
    assert_eq!(it.accounts.session(&bobs).await.unwrap().unwrap().account, bob);
}

#[tokio::test]
async fn new_password_and_deletion_end_sessions() {
    let (_dir, it, ann) = with_ann().await;
    let before = it.token().await;
    it.accounts.set_password(&ann.email, Some("right".into())).await.unwrap();
    assert!(!it.is_signed_in(&before).await);
    let after = it.token().await;
    it.accounts.delete_account(ann.id).await.unwrap();
    assert!(!it.is_signed_in(&after).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn password_change_ends_concurrent_sign_ins() {
    let (_dir, it, ann) = with_ann().await;
    for round in 0..8 {
        let signing_in = {
            let accounts = it.accounts.clone();
            tokio::spawn(async move {
                accounts.sign_in("ann@example.org", "right", crate::from("192.0.2.1")).await
            })
        };
        it.accounts.set_password(&ann.email, Some(format!("other{round}"))).await.unwrap();
        if let Ok(signed_in) = signing_in.await.unwrap() {
            assert!(!it.is_signed_in(&signed_in.token).await, "{round}");
        }
        it.accounts.set_password(&ann.email, Some("right".into())).await.unwrap();
        it.later(20 * MINUTE_MS);
    }
}

#[tokio::test]
async fn expired_rows_are_deleted() {
    let (_dir, it, ann) = with_ann().await;
    let address = "192.0.2.9";
    for _ in 0..10 {
        it.sign_in("ann@example.org", "wrong", address).await.unwrap_err();
    }
    let old = it.token().await;
    it.later(29 * DAY_MS);
    let new = it.token().await;
    it.later(DAY_MS);
    assert_eq!(it.store.sessions(ann.id).await.unwrap().len(), 2);
    it.later(1);
    it.accounts.delete_expired(|| false).await.unwrap();
    assert_eq!(it.store.sessions(ann.id).await.unwrap().len(), 1);
    assert!(it.is_signed_in(&new).await && !it.is_signed_in(&old).await);

    // Failed attempts of the last 15 minutes are kept.
    for _ in 0..10 {
        it.sign_in("ann@example.org", "wrong", address).await.unwrap_err();
    }
    it.later(15 * MINUTE_MS - 1);
    it.accounts.delete_expired(|| false).await.unwrap();
    it.sign_in("ann@example.org", "right", address).await.unwrap_err();
    it.later(1);
    it.sign_in("ann@example.org", "right", address).await.unwrap();
}
