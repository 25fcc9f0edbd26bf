use domain::{AccountId, Plan, Timestamp};
use storage::{MAX_SESSIONS, NewSession, SessionHash};

use crate::{Seed, queries::second};

const HOUR: i64 = 3600;

/// A session of one hour; its hash consists of the byte.
fn session(account: AccountId, hash: u8, at: i64) -> NewSession {
    NewSession {
        hash: [hash; 32],
        account,
        user_agent: Some("Firefox \u{1f98a}".to_owned()),
        address: "2001:db8::7".to_owned(),
        at: second(at),
        expires_at: second(at + HOUR),
    }
}

async fn start(seed: &Seed, account: AccountId, hash: u8, at: i64) -> SessionHash {
    assert!(seed.store().add_session(session(account, hash, at)).await.unwrap());
    [hash; 32]
}

/// The account that the session authenticates at that moment.
async fn holder(seed: &Seed, hash: SessionHash, at: Timestamp) -> Option<AccountId> {
    seed.store().session(&hash, at).await.unwrap().map(|holder| holder.account.id)
}

pub(crate) async fn a_session_authenticates_its_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let of_ann = start(seed, ann.account, 1, 0).await;
    let of_ben = start(seed, ben.account, 2, 0).await;
    let found = seed.store().session(&of_ann, second(1)).await.unwrap().unwrap();
    assert_eq!((found.account.id, found.account.plan), (ann.account, Plan::Free));
    assert_eq!(
        (found.created_at, found.last_seen_at, found.expires_at),
        (second(0), second(0), second(HOUR))
    );
    assert_eq!(holder(seed, of_ben, second(1)).await, Some(ben.account));
    assert_eq!(holder(seed, [3; 32], second(1)).await, None);
}

pub(crate) async fn a_session_needs_an_account(seed: &Seed) {
    assert!(!seed.store().add_session(session(AccountId(9_999_999), 1, 0)).await.unwrap());
    let ann = seed.account(Plan::Paid).await;
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    assert!(!seed.store().add_session(session(ann.account, 1, 2)).await.unwrap());
    assert_eq!(holder(seed, [1; 32], second(3)).await, None);
}

pub(crate) async fn a_session_ends_when_it_expires(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let hash = start(seed, ann.account, 1, 0).await;
    assert_eq!(holder(seed, hash, second(HOUR).plus_millis(-1)).await, Some(ann.account));
    assert_eq!(holder(seed, hash, second(HOUR)).await, None);
}

pub(crate) async fn use_extends_a_session(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (hash, other) = (start(seed, ann.account, 1, 0).await, start(seed, ann.account, 2, 0).await);
    for (seen, expires) in [(50, 2 * HOUR), (90, 3 * HOUR), (70, 2 * HOUR)] {
        seed.store().touch_session(&hash, second(seen), second(expires)).await.unwrap();
    }
    seed.store().touch_session(&[9; 32], second(90), second(HOUR)).await.unwrap();
    let found = seed.store().session(&hash, second(2 * HOUR)).await.unwrap().unwrap();
    assert_eq!(
        (found.last_seen_at, found.expires_at),
        (second(90), second(3 * HOUR)),
        "the latest times are kept"
    );
    assert_eq!(holder(seed, other, second(2 * HOUR)).await, None, "the other session is unchanged");
}

pub(crate) async fn sessions_are_listed_newest_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let old = start(seed, ann.account, 1, 10).await;
    start(seed, ben.account, 2, 15).await;
    let nameless = NewSession { user_agent: None, ..session(ann.account, 3, 20) };
    assert!(seed.store().add_session(nameless).await.unwrap());
    let listed = seed.store().sessions(ann.account).await.unwrap();
    let summary: Vec<_> = listed.iter().map(|info| (info.hash, info.user_agent.as_deref())).collect();
    assert_eq!(summary, [([3; 32], None), (old, Some("Firefox \u{1f98a}"))]);
    let oldest = listed.last().unwrap();
    assert_eq!(oldest.address, "2001:db8::7");
    assert_eq!(
        (oldest.created_at, oldest.last_seen_at, oldest.expires_at),
        (second(10), second(10), second(10 + HOUR))
    );
    assert_eq!(seed.store().sessions(AccountId(9_999_999)).await.unwrap(), []);
}

pub(crate) async fn sessions_beyond_the_maximum_end_oldest_first(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let max = u8::try_from(MAX_SESSIONS).unwrap();
    for number in 0..=max {
        start(seed, ann.account, number, i64::from(number)).await;
    }
    assert_eq!(seed.store().sessions(ann.account).await.unwrap().len(), usize::from(max));
    assert_eq!(holder(seed, [0; 32], second(200)).await, None);
    assert_eq!(holder(seed, [1; 32], second(200)).await, Some(ann.account));
}

pub(crate) async fn a_session_is_ended_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (hash, other) = (start(seed, ann.account, 1, 0).await, start(seed, ann.account, 2, 0).await);
    assert!(seed.store().end_session(&hash).await.unwrap());
    assert!(!seed.store().end_session(&hash).await.unwrap());
    assert_eq!(holder(seed, hash, second(1)).await, None);
    assert_eq!(holder(seed, other, second(1)).await, Some(ann.account));
    seed.store().touch_session(&hash, second(1), second(2 * HOUR)).await.unwrap();
    assert_eq!(holder(seed, hash, second(2)).await, None, "use does not restore it");
}

pub(crate) async fn all_sessions_but_one_can_be_ended(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    for hash in 1..=3 {
        start(seed, ann.account, hash, 0).await;
    }
    let of_ben = start(seed, ben.account, 4, 0).await;
    assert_eq!(seed.store().end_sessions(ann.account, Some([2; 32])).await.unwrap(), 2);
    assert_eq!(holder(seed, [2; 32], second(1)).await, Some(ann.account));
    assert_eq!(seed.store().end_sessions(ann.account, Some(of_ben)).await.unwrap(), 1);
    start(seed, ann.account, 5, 0).await;
    assert_eq!(seed.store().end_sessions(ann.account, None).await.unwrap(), 1);
    assert_eq!(seed.store().sessions(ann.account).await.unwrap(), []);
    assert_eq!(holder(seed, of_ben, second(1)).await, Some(ben.account));
}

pub(crate) async fn a_new_password_ends_all_sessions(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (of_ann, of_ben) = (start(seed, ann.account, 1, 0).await, start(seed, ben.account, 2, 0).await);
    assert!(seed.store().set_password_hash(ann.account, "$argon2id$other".to_owned(), None).await.unwrap());
    assert_eq!(holder(seed, of_ann, second(1)).await, None);
    assert_eq!(seed.store().sessions(ann.account).await.unwrap(), []);
    assert_eq!(holder(seed, of_ben, second(1)).await, Some(ben.account));
}

pub(crate) async fn sessions_of_a_deleted_account_end(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (of_ann, of_ben) = (start(seed, ann.account, 1, 0).await, start(seed, ben.account, 2, 0).await);
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    assert_eq!(holder(seed, of_ann, second(2)).await, None);
    assert_eq!(seed.store().sessions(ann.account).await.unwrap(), []);
    assert_eq!(holder(seed, of_ben, second(2)).await, Some(ben.account));
}

pub(crate) async fn expired_sessions_are_swept_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for hash in 1..=5 {
        start(seed, ann.account, hash, i64::from(hash)).await;
    }
    let before = second(HOUR + 4);
    for expected in [2, 1, 0] {
        assert_eq!(seed.store().sweep_sessions(before, 2).await.unwrap(), expected);
    }
    let left: Vec<_> =
        seed.store().sessions(ann.account).await.unwrap().into_iter().map(|info| info.hash).collect();
    assert_eq!(left, [[5; 32], [4; 32]]);
}
