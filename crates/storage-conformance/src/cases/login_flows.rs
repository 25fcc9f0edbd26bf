use domain::{AccountId, Plan, Timestamp};
use storage::{LoginFlow, LoginTokenHash, MAX_LOGIN_FLOWS, NewLoginFlow};

use super::concurrently;
use crate::{Seed, queries::second};

/// When the flows of these cases expire, in seconds. They begin at second 1.
const END: i64 = 100;

fn page(number: u32) -> LoginTokenHash {
    let mut hash = [1; 32];
    hash[..4].copy_from_slice(&number.to_be_bytes());
    hash
}

fn poll(number: u32) -> LoginTokenHash {
    let mut hash = page(number);
    hash[31] = 2;
    hash
}

fn flow(number: u32, at: Timestamp) -> NewLoginFlow {
    NewLoginFlow {
        poll: poll(number),
        page: page(number),
        device: format!("Phone {number}"),
        at,
        expires_at: second(END),
    }
}

async fn begun(seed: &Seed, number: u32) {
    seed.store().begin_login_flow(flow(number, second(1))).await.unwrap();
}

async fn confirm(seed: &Seed, number: u32, account: AccountId, at: i64) -> bool {
    seed.store().confirm_login_flow(page(number), account, second(at)).await.unwrap()
}

async fn take(seed: &Seed, number: u32, at: i64) -> Option<(AccountId, String)> {
    seed.store().take_login_flow(poll(number), second(at)).await.unwrap()
}

pub(crate) async fn a_confirmed_flow_is_taken_once(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    begun(seed, 1).await;
    begun(seed, 2).await;
    let of_page = async || seed.store().login_flow(page(1), second(2)).await.unwrap();
    let waiting = LoginFlow { device: "Phone 1".to_owned(), account: None };
    assert_eq!(of_page().await, Some(waiting.clone()));
    assert_eq!(take(seed, 1, 2).await, None, "it waits");
    assert!(confirm(seed, 1, ann.account, 3).await);
    assert_eq!(of_page().await, Some(LoginFlow { account: Some(ann.account), ..waiting }));
    assert!(!confirm(seed, 1, ben.account, 3).await, "it is confirmed already");
    assert_eq!(take(seed, 2, 4).await, None, "the other flow waits");
    assert_eq!(take(seed, 1, 4).await, Some((ann.account, "Phone 1".to_owned())));
    assert_eq!(take(seed, 1, 4).await, None);
    assert_eq!(of_page().await, None);
}

pub(crate) async fn the_tokens_of_a_flow_have_different_uses(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 1).await;
    assert_eq!(seed.store().login_flow(poll(1), second(2)).await.unwrap(), None);
    assert!(!seed.store().confirm_login_flow(poll(1), ann.account, second(2)).await.unwrap());
    assert!(confirm(seed, 1, ann.account, 2).await);
    assert_eq!(seed.store().take_login_flow(page(1), second(2)).await.unwrap(), None);
}

pub(crate) async fn a_flow_expires(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 1).await;
    begun(seed, 2).await;
    assert!(confirm(seed, 1, ann.account, END - 1).await);
    assert_eq!(take(seed, 1, END).await, None);
    assert!(!confirm(seed, 2, ann.account, END).await);
    assert_eq!(seed.store().login_flow(page(2), second(END)).await.unwrap(), None);
}

pub(crate) async fn a_denied_flow_is_gone(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 1).await;
    begun(seed, 2).await;
    assert!(confirm(seed, 2, ann.account, 2).await);
    assert!(seed.store().deny_login_flow(page(1)).await.unwrap());
    assert!(!seed.store().deny_login_flow(page(1)).await.unwrap());
    assert!(!confirm(seed, 1, ann.account, 2).await);
    assert!(!seed.store().deny_login_flow(page(2)).await.unwrap(), "it is confirmed");
    assert!(take(seed, 2, 3).await.is_some());
}

pub(crate) async fn a_flow_needs_an_account(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 1).await;
    begun(seed, 2).await;
    assert!(!confirm(seed, 1, AccountId(9_999_999), 2).await);
    assert!(confirm(seed, 2, ann.account, 2).await);
    seed.store().delete_account(ann.account, second(3)).await.unwrap();
    assert!(!confirm(seed, 1, ann.account, 4).await);
    assert_eq!(take(seed, 2, 4).await, None);
}

pub(crate) async fn confirmed_flows_end_with_the_sessions(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    for number in 1..=5 {
        begun(seed, number).await;
    }
    assert!(confirm(seed, 1, ann.account, 2).await && confirm(seed, 2, ben.account, 2).await);
    assert!(seed.store().set_password_hash(ann.account, "$argon2id$other".to_owned(), None).await.unwrap());
    assert_eq!(take(seed, 1, 3).await, None);
    assert!(confirm(seed, 3, ann.account, 3).await);
    seed.store().end_sessions(ann.account, Some([1; 32])).await.unwrap();
    assert_eq!(take(seed, 3, 4).await, None);
    assert!(confirm(seed, 4, ann.account, 4).await);
    seed.store().delete_account(ann.account, second(5)).await.unwrap();
    assert_eq!(seed.store().login_flow(page(4), second(5)).await.unwrap(), None);
    // Flows of other accounts stay, and so do unconfirmed flows.
    assert!(take(seed, 2, 5).await.is_some());
    assert!(confirm(seed, 5, ben.account, 5).await);
}

pub(crate) async fn only_one_concurrent_poll_takes_the_flow(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 1).await;
    assert!(confirm(seed, 1, ann.account, 2).await);
    let polls = (0..16).map(|_| {
        let store = seed.store().clone();
        async move { store.take_login_flow(poll(1), second(3)).await.unwrap() }
    });
    assert_eq!(concurrently(polls).await.into_iter().flatten().count(), 1);
}

pub(crate) async fn surplus_flows_replace_the_oldest_unconfirmed_ones(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    begun(seed, 0).await;
    assert!(confirm(seed, 0, ann.account, 1).await);
    let others: Vec<u32> = (1..MAX_LOGIN_FLOWS).collect();
    // No more at once than would get a connection in time on a slow machine.
    for some in others.chunks(100) {
        let begin = |number: u32| {
            let (store, at) = (seed.store().clone(), second(1).plus_millis(i64::from(number)));
            async move { store.begin_login_flow(flow(number, at)).await.unwrap() }
        };
        concurrently(some.iter().copied().map(begin)).await;
    }
    let exists = async |number| seed.store().login_flow(page(number), second(2)).await.unwrap().is_some();
    assert!(exists(1).await);
    seed.store().begin_login_flow(flow(MAX_LOGIN_FLOWS, second(50))).await.unwrap();
    assert!(!exists(1).await);
    for number in [0, 2, MAX_LOGIN_FLOWS] {
        assert!(exists(number).await, "{number}");
    }
}

pub(crate) async fn expired_flows_are_swept_in_batches(seed: &Seed) {
    for number in 0..5 {
        begun(seed, number).await;
    }
    let later = NewLoginFlow { expires_at: second(END + 1), ..flow(5, second(1)) };
    seed.store().begin_login_flow(later).await.unwrap();
    let sweep = async || seed.store().sweep_login_flows(second(END + 1), 3).await.unwrap();
    assert_eq!((sweep().await, sweep().await, sweep().await), (3, 2, 0));
    assert!(seed.store().login_flow(page(5), second(2)).await.unwrap().is_some());
}
