use domain::{AccountId, Plan, Timestamp};
use oauth_core::{
    CodeStatus, CurrentRefreshToken, Grant, GrantKey, Grants, IssuedCode, NewCode, NewRefreshToken,
    Redemption, Rotation, SecretHash, UnixMillis,
};

use super::concurrently;
use crate::{NOW, Photo, Seed, queries::second};

fn millis(at: Timestamp) -> UnixMillis {
    UnixMillis(at.millis())
}

/// A code that is valid for ten minutes; its hash and the id of its grant are derived from the byte.
fn code(subject: &str, number: u8) -> NewCode {
    let grant = Grant {
        id: format!("grant-{number}"),
        client_id: "client".to_owned(),
        subject: subject.to_owned(),
        resource: "https://photos.example.org/api/mcp/v1".to_owned(),
        scopes: vec!["mcp:images".to_owned()],
        created_at: millis(NOW),
        revoked_at: None,
    };
    let code = IssuedCode {
        redirect_uri: "http://127.0.0.1/back".to_owned(),
        challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
        expires_at: millis(second(600)),
        redeemed_at: None,
    };
    NewCode { hash: SecretHash([number; 32]), code, grant, client: None }
}

fn redemption(number: u8) -> Redemption {
    let token = CurrentRefreshToken {
        hash: SecretHash([number; 32]),
        generation: 0,
        expires_at: millis(second(86_400)),
        recent_rotations: vec![],
    };
    Redemption {
        code: SecretHash([number; 32]),
        at: millis(second(1)),
        refresh: Some(NewRefreshToken { handle: SecretHash([number; 32]), token }),
        access_expires_at: millis(second(3600)),
    }
}

async fn issue(seed: &Seed, account: AccountId, number: u8) -> CodeStatus {
    seed.store().issue_code(code(&account.0.to_string(), number)).await.unwrap()
}

/// A grant whose code was redeemed.
async fn granted(seed: &Seed, account: AccountId, number: u8) -> String {
    assert_eq!(issue(seed, account, number).await, CodeStatus::Pending);
    assert!(seed.store().redeem_code(redemption(number)).await.unwrap());
    format!("grant-{number}")
}

pub(crate) async fn a_grant_authenticates_its_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let (of_ann, of_ben) = (granted(seed, ann.account, 1).await, granted(seed, ben.account, 2).await);
    let found = seed.store().grant_holder(&of_ann).await.unwrap().unwrap();
    assert_eq!((found.account.id, found.account.plan), (ann.account, Plan::Free));
    assert_eq!(found.grant, code(&ann.account.0.to_string(), 1).grant);
    assert_eq!(found.last_used_at, None);
    seed.store().record_use(&of_ann, millis(second(9))).await.unwrap();
    let found = seed.store().grant_holder(&of_ann).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(second(9)));
    let found = seed.store().grant_holder(&of_ben).await.unwrap().unwrap();
    assert_eq!(found.account.id, ben.account);
    assert_eq!(seed.store().grant_holder("grant-3").await.unwrap(), None);
}

pub(crate) async fn a_revoked_grant_is_returned_as_revoked(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = granted(seed, ann.account, 1).await;
    assert_eq!(seed.store().revoke(Grants::WithId(&id), millis(second(5))).await.unwrap(), 1);
    let found = seed.store().grant_holder(&id).await.unwrap().unwrap();
    assert_eq!(found.grant.revoked_at, Some(millis(second(5))));
}

pub(crate) async fn a_plan_change_is_seen_by_the_next_request(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    let id = granted(seed, ann.account, 1).await;
    seed.store().set_plan(ann.account, Plan::Paid).await.unwrap();
    let found = seed.store().grant_holder(&id).await.unwrap().unwrap();
    assert_eq!(found.account.plan, Plan::Paid);
}

pub(crate) async fn a_code_needs_an_account(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let gone = seed.account(Plan::Paid).await;
    seed.store().delete_account(gone.account, NOW).await.unwrap();
    let (ann, gone) = (ann.account.0.to_string(), gone.account.0.to_string());
    let invalid =
        ["", "9999999", "no number", &format!("0{ann}"), &format!("+{ann}"), &format!(" {ann}"), &gone];
    for subject in invalid {
        assert_eq!(
            seed.store().issue_code(code(subject, 1)).await.unwrap(),
            CodeStatus::Spent,
            "{subject:?}"
        );
        assert_eq!(
            seed.store().grant(GrantKey::Code(&SecretHash([1; 32]))).await.unwrap(),
            None,
            "{subject:?}"
        );
        assert_eq!(seed.store().connections(subject).await.unwrap(), []);
        assert_eq!(seed.store().revoke(Grants::OfSubject(subject), millis(NOW)).await.unwrap(), 0);
    }
    assert_eq!(seed.store().issue_code(code(&ann, 1)).await.unwrap(), CodeStatus::Pending);
}

pub(crate) async fn grants_of_a_deleted_account_are_revoked(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (of_ann, of_ben) = (granted(seed, ann.account, 1).await, granted(seed, ben.account, 2).await);
    assert_eq!(issue(seed, ann.account, 3).await, CodeStatus::Pending);
    let revoked = granted(seed, ann.account, 4).await;
    assert_eq!(seed.store().revoke(Grants::WithId(&revoked), millis(second(5))).await.unwrap(), 1);
    assert!(seed.store().delete_account(ann.account, second(9)).await.unwrap());

    assert_eq!(seed.store().grant_holder(&of_ann).await.unwrap(), None);
    assert_eq!(seed.store().connections(&ann.account.0.to_string()).await.unwrap(), []);
    assert!(!seed.store().redeem_code(redemption(3)).await.unwrap(), "its code is invalid");
    let next = CurrentRefreshToken {
        hash: SecretHash([9; 32]),
        generation: 1,
        ..redemption(1).refresh.unwrap().token
    };
    let rotation = Rotation {
        grant_id: of_ann.clone(),
        presented: SecretHash([1; 32]),
        next,
        access_expires_at: millis(second(3600)),
        at: millis(second(10)),
    };
    assert!(!seed.store().rotate_refresh_token(rotation).await.unwrap(), "its refresh token is invalid");
    for (id, revoked_at) in [(of_ann, 9), ("grant-3".to_owned(), 9), ("grant-4".to_owned(), 5)] {
        if let Some(found) = seed.store().grant(GrantKey::Id(&id)).await.unwrap() {
            assert_eq!(found.grant.revoked_at, Some(millis(second(revoked_at))), "{id}");
        }
    }
    let found = seed.store().grant_holder(&of_ben).await.unwrap().unwrap();
    assert_eq!((found.account.id, found.grant.revoked_at), (ben.account, None));
}

pub(crate) async fn purging_an_account_deletes_its_grants(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (of_ann, of_ben) = (granted(seed, ann.account, 1).await, granted(seed, ben.account, 2).await);
    seed.image(ann.account, Photo::at_second(1)).await;
    seed.store().delete_account(ann.account, second(9)).await.unwrap();
    while seed.store().purge_images(second(10), 10).await.unwrap() > 0 {}
    assert_eq!(seed.store().grant(GrantKey::Id(&of_ann)).await.unwrap(), None);
    assert!(seed.store().grant(GrantKey::Id(&of_ben)).await.unwrap().is_some());
}

pub(crate) async fn consent_racing_account_deletion_leaves_no_valid_grant(seed: &Seed) {
    for round in 0..8 {
        let ann = seed.account(Plan::Paid).await;
        let tasks = (0..4_u8).map(|task| {
            let (store, subject) = (seed.store().clone(), ann.account.0.to_string());
            async move {
                if task == 3 {
                    store.delete_account(ann.account, second(1)).await.unwrap();
                    return;
                }
                let number = round * 4 + task;
                store.issue_code(code(&subject, number)).await.unwrap();
                store.redeem_code(redemption(number)).await.unwrap();
            }
        });
        concurrently(tasks).await;
        for number in round * 4..round * 4 + 3 {
            let id = format!("grant-{number}");
            assert_eq!(seed.store().grant_holder(&id).await.unwrap(), None);
            if let Some(found) = seed.store().grant(GrantKey::Id(&id)).await.unwrap() {
                assert_eq!(found.grant.revoked_at, Some(millis(second(1))));
            }
        }
    }
}

pub(crate) async fn the_app_of_a_grant_edits_only_if_it_is_allowed(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (one, two) = (granted(seed, ann.account, 1).await, granted(seed, ann.account, 2).await);
    let store = seed.store();
    let is_allowed =
        async |grant: &str| store.grant_edits(grant).await.unwrap().map(|edits| edits.is_allowed);
    assert_eq!(is_allowed(&one).await, Some(false), "a new grant does not allow it");
    assert_eq!(is_allowed("unknown").await, None);
    assert!(!store.set_grant_edits(ben.account, &one, true).await.unwrap(), "another account's grant");
    assert!(!store.set_grant_edits(ann.account, "unknown", true).await.unwrap());
    for grant in [&one, &one, &two] {
        assert!(store.set_grant_edits(ann.account, grant, true).await.unwrap());
    }
    assert_eq!(is_allowed(&one).await, Some(true));
    assert_eq!(store.grants_with_edits(ann.account).await.unwrap().len(), 2);
    assert!(store.set_grant_edits(ann.account, &two, false).await.unwrap());
    assert_eq!(is_allowed(&two).await, Some(false));
    assert_eq!(store.grants_with_edits(ann.account).await.unwrap(), [one]);
    assert!(store.grants_with_edits(ben.account).await.unwrap().is_empty());
}
