use domain::{AccountId, Plan, SecurityEventKind as Kind};
use storage::{EVENT_MERGE_WINDOW_MS, MAX_EVENTS_PER_KIND, NewSecurityEvent, SecurityEvent};

use crate::{Seed, queries::second};

async fn record(seed: &Seed, account: AccountId, kind: Kind, detail: Option<&str>, at: i64) {
    let event = NewSecurityEvent {
        account,
        kind,
        address: Some("192.0.2.7".to_owned()),
        detail: detail.map(str::to_owned),
        at: second(at),
    };
    seed.store().record_security_event(event).await.unwrap();
}

async fn events(seed: &Seed, account: AccountId) -> Vec<SecurityEvent> {
    seed.store().security_events(account, 1000).await.unwrap()
}

pub(crate) async fn events_are_listed_newest_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    record(seed, ann, Kind::SignedIn, None, 1).await;
    record(seed, ben, Kind::PasswordChanged, None, 2).await;
    record(seed, ann, Kind::KeyCreated, Some("lap\u{1f4bb}top"), 3).await;
    let local = NewSecurityEvent {
        account: ann,
        kind: Kind::KeyRevoked,
        address: None,
        detail: Some("old".to_owned()),
        at: second(2),
    };
    seed.store().record_security_event(local).await.unwrap();
    let listed = events(seed, ann).await;
    let seen: Vec<_> = listed.iter().map(|event| (event.kind, event.address.as_deref(), event.at)).collect();
    let there = Some("192.0.2.7");
    assert_eq!(
        seen,
        [
            (Kind::KeyCreated, there, second(3)),
            (Kind::KeyRevoked, None, second(2)),
            (Kind::SignedIn, there, second(1))
        ]
    );
    assert_eq!(listed.first().and_then(|event| event.detail.as_deref()), Some("lap\u{1f4bb}top"));
    assert_eq!(seed.store().security_events(ann, 2).await.unwrap(), listed.get(..2).unwrap());
}

pub(crate) async fn repeated_events_are_counted(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let hour = EVENT_MERGE_WINDOW_MS / 1000;
    record(seed, ann, Kind::SignInFailed, None, 0).await;
    record(seed, ann, Kind::SignedIn, None, 1).await;
    record(seed, ann, Kind::SignInFailed, None, hour).await;
    record(seed, ann, Kind::SignInFailed, None, 2).await;
    record(seed, ann, Kind::SignInFailed, None, 3 * hour).await;
    record(seed, ann, Kind::KeyCreated, Some("a"), 3 * hour).await;
    record(seed, ann, Kind::KeyCreated, Some("b"), 3 * hour).await;
    let failed: Vec<_> = events(seed, ann)
        .await
        .into_iter()
        .filter(|event| event.kind == Kind::SignInFailed)
        .map(|event| (event.at, event.count))
        .collect();
    assert_eq!(failed, [(second(3 * hour), 1), (second(hour), 3)]);
    assert_eq!(events(seed, ann).await.len(), 5);
}

pub(crate) async fn many_events_of_one_kind_do_not_displace_others(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    record(seed, ann, Kind::PasswordChanged, None, 0).await;
    let flood = i64::from(MAX_EVENTS_PER_KIND) + 5;
    for number in 1..=flood {
        record(seed, ann, Kind::SignInFailed, Some(&number.to_string()), number).await;
    }
    let listed = events(seed, ann).await;
    assert_eq!(listed.len(), MAX_EVENTS_PER_KIND as usize + 1);
    assert_eq!(listed.first().map(|event| event.at), Some(second(flood)));
    assert_eq!(listed.last().map(|event| event.kind), Some(Kind::PasswordChanged));
    let oldest = listed.iter().rev().nth(1).map(|event| event.at);
    assert_eq!(oldest, Some(second(6)), "the newest of a kind are kept");
}

pub(crate) async fn events_of_a_deleted_account_are_gone(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    record(seed, ann, Kind::SignedIn, None, 0).await;
    seed.store().delete_account(ann, second(1)).await.unwrap();
    record(seed, ann, Kind::SignedIn, None, 2).await;
    assert_eq!(events(seed, ann).await, []);
}
