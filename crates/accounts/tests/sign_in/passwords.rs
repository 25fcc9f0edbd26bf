use accounts::SignInError;
use storage::AccountStore as _;

use crate::{MINUTE_MS, Process, SECOND_MS, clock, from, process, with_ann};

const ANN: &str = "ann@example.org";
const HOME: &str = "192.0.2.1";

#[tokio::test]
async fn right_password_signs_in_whatever_the_case_of_the_email() {
    let (_dir, it, ann) = with_ann().await;
    for email in [ANN, " Ann@Example.ORG "] {
        let signed_in = it.sign_in(email, "right", HOME).await.unwrap();
        assert_eq!(signed_in.account, ann);
        let holder = it.accounts.session(&signed_in.token).await.unwrap().unwrap();
        assert_eq!((holder.account, holder.expires_at), (ann.clone(), signed_in.expires_at));
        let shown = format!("{signed_in:?}");
        assert!(!shown.contains(&signed_in.token) && !shown.contains("ann@"), "{shown}");
    }
    for (email, password) in [
        (ANN, "wrong"),
        (ANN, ""),
        (ANN, "right "),
        (ANN, "Right"),
        ("bob@example.org", "right"),
        ("", "right"),
        ("ann", "right"),
        ("ann@example.org\0", "right"),
    ] {
        let outcome = it.sign_in(email, password, HOME).await;
        assert!(matches!(outcome, Err(SignInError::Wrong)), "{email:?} {password:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn ten_failures_lock_out_one_email_from_one_address() {
    let (_dir, it, _) = with_ann().await;
    it.account("bob", "right").await;
    for _ in 0..9 {
        assert!(matches!(it.sign_in(ANN, "wrong", HOME).await, Err(SignInError::Wrong)));
        it.later(MINUTE_MS);
    }
    it.sign_in(ANN, "right", HOME).await.unwrap();
    assert!(matches!(it.sign_in("ANN@example.org", "wrong", HOME).await, Err(SignInError::Wrong)));
    let locked_out = async |email: &str, address: &str| match it.sign_in(email, "right", address).await {
        Ok(_) => None,
        Err(SignInError::LockedOut { retry_after_s }) => Some(retry_after_s),
        Err(error) => panic!("{email} {address}: {error}"),
    };
    // The first failure was nine minutes ago.
    assert_eq!(locked_out(ANN, HOME).await, Some(6 * 60));
    assert_eq!(locked_out(" Ann@Example.org", "::ffff:192.0.2.1").await, Some(6 * 60));
    assert_eq!(locked_out(ANN, "192.0.2.2").await, None);
    assert_eq!(locked_out("bob@example.org", HOME).await, None);
    it.later(6 * MINUTE_MS - 1);
    assert_eq!(locked_out(ANN, HOME).await, Some(1));
    it.later(1);
    assert_eq!(locked_out(ANN, HOME).await, None);
}

#[tokio::test]
async fn ipv6_network_counts_as_one_address() {
    let (_dir, it, _) = with_ann().await;
    for host in 1..=10 {
        let address = format!("2001:db8:1:2::{host}");
        assert!(matches!(it.sign_in(ANN, "wrong", &address).await, Err(SignInError::Wrong)));
    }
    let outcome = it.sign_in(ANN, "right", "2001:db8:1:2:ffff::1").await;
    assert!(matches!(outcome, Err(SignInError::LockedOut { .. })), "{outcome:?}");
    it.sign_in(ANN, "right", "2001:db8:1:3::1").await.unwrap();
}

#[tokio::test]
async fn a_hundred_failures_lock_out_an_address() {
    let (_dir, it, _) = with_ann().await;
    for number in 0..100 {
        // Attempts with invalid emails count, too.
        let name =
            if number % 2 == 0 { format!("user{number}@example.org") } else { format!("user{number}") };
        assert!(matches!(it.sign_in(&name, "wrong", HOME).await, Err(SignInError::Wrong)), "{number}");
    }
    let outcome = it.sign_in(ANN, "right", HOME).await;
    assert!(matches!(outcome, Err(SignInError::LockedOut { retry_after_s: 900 })), "{outcome:?}");
    it.sign_in(ANN, "right", "192.0.2.2").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_failures_are_counted() {
    let (_dir, it, _) = with_ann().await;
    let guesses: Vec<_> = (0..40)
        .map(|number| {
            let accounts = it.accounts.clone();
            tokio::spawn(async move { accounts.sign_in(ANN, &format!("guess{number}"), from(HOME)).await })
        })
        .collect();
    let (mut wrong, mut locked_out) = (0, 0);
    for guess in guesses {
        match guess.await.unwrap() {
            Err(SignInError::Wrong) => wrong += 1,
            Err(SignInError::LockedOut { .. }) => locked_out += 1,
            outcome => panic!("{outcome:?}"),
        }
    }
    assert_eq!((wrong, locked_out), (10, 30));
}

#[tokio::test(flavor = "multi_thread")]
async fn full_queue_refuses_sign_ins_without_counting_them() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path(), clock(), 1, 1).await;
    it.account("ann", "right").await;
    let busy = count_busy(&it, ANN, "right").await;
    assert!(busy > 10, "there is room for two: {busy}");
    it.sign_in(ANN, "right", HOME).await.unwrap();
}

/// An unknown or invalid email costs as much work as a wrong password, so that timing does not reveal accounts.
#[tokio::test(flavor = "multi_thread")]
async fn unknown_email_takes_the_work_of_a_password_check() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path(), clock(), 1, 1).await;
    for email in ["bob@example.org", "no address"] {
        let busy = count_busy(&it, email, "wrong").await;
        assert!(busy > 10, "there is room for two: {busy}");
    }
}

/// Runs 32 concurrent sign-ins from different addresses, and returns how many were refused because the queue was full.
async fn count_busy(it: &Process, email: &'static str, password: &'static str) -> u32 {
    let sign_ins: Vec<_> = (1..=32)
        .map(|number| {
            let accounts = it.accounts.clone();
            tokio::spawn(async move {
                accounts.sign_in(email, password, from(&format!("192.0.2.{number}"))).await
            })
        })
        .collect();
    let mut busy = 0;
    for one in sign_ins {
        match one.await.unwrap() {
            Ok(_) | Err(SignInError::Wrong) => {}
            Err(SignInError::Busy { retry_after_s }) => {
                assert!((1..60).contains(&retry_after_s));
                busy += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    busy
}

#[tokio::test]
async fn deleted_account_cannot_sign_in() {
    let (_dir, it, ann) = with_ann().await;
    it.store.delete_account(ann.id, it.now()).await.unwrap();
    it.later(SECOND_MS);
    assert!(matches!(it.sign_in(ANN, "right", HOME).await, Err(SignInError::Wrong)));
}
