use std::collections::HashSet;

use domain::{BlobKind, Timestamp};
use storage::{BlobRef, RoleFence, RoleRequest};

use super::concurrently;
use crate::{NOW, Seed, queries::second};

/// How long a role is valid in these cases, in seconds.
const VALID: i64 = 60;

/// Takes the role `sweeper` for a minute.
async fn take(seed: &Seed, holder: &str, at: Timestamp) -> Option<RoleFence> {
    take_role(seed, "sweeper", holder, at).await
}

async fn take_role(seed: &Seed, role: &str, holder: &str, at: Timestamp) -> Option<RoleFence> {
    let request = RoleRequest { role, holder, at, until: at.plus_millis(VALID * 1000) };
    seed.store().take_role(request).await.unwrap()
}

async fn renew(seed: &Seed, fence: RoleFence, until: Timestamp) -> bool {
    seed.store().renew_role("sweeper", fence, until).await.unwrap()
}

async fn holds(seed: &Seed, fence: RoleFence) -> bool {
    seed.store().holds_role("sweeper", fence).await.unwrap()
}

pub(crate) async fn a_role_has_one_holder(seed: &Seed) {
    let first = take(seed, "a", NOW).await.unwrap();
    assert_eq!(take(seed, "b", second(VALID)).await, None, "it has not expired yet");
    assert_eq!(take(seed, "a", NOW).await, None, "a holder that asks again is another taking");
    assert!(holds(seed, first).await);
    assert!(renew(seed, first, second(2 * VALID)).await);
    assert_eq!(take(seed, "b", second(2 * VALID)).await, None, "it was renewed");
}

pub(crate) async fn a_released_role_is_free_at_once(seed: &Seed) {
    let first = take(seed, "a", NOW).await.unwrap();
    seed.store().release_role("sweeper", first).await.unwrap();
    assert!(!holds(seed, first).await);
    assert!(!renew(seed, first, second(100)).await, "a released role is not renewed");
    let next = take(seed, "b", NOW).await.unwrap();
    assert!(next > first, "the number grows also after a release");
}

pub(crate) async fn an_expired_role_is_taken_over_with_a_higher_number(seed: &Seed) {
    let mut last = RoleFence(0);
    for round in 0..5 {
        let at = second(round * (VALID + 1));
        let fence = take(seed, &format!("holder-{round}"), at).await.unwrap();
        assert!(fence > last);
        last = fence;
    }
}

pub(crate) async fn the_former_holder_can_neither_renew_nor_release(seed: &Seed) {
    let former = take(seed, "a", NOW).await.unwrap();
    let at = second(VALID + 1);
    let current = take(seed, "b", at).await.unwrap();
    assert!(!holds(seed, former).await);
    assert!(!renew(seed, former, second(10 * VALID)).await);
    seed.store().release_role("sweeper", former).await.unwrap();
    seed.store().release_roles_of("a").await.unwrap();
    assert!(holds(seed, current).await, "nothing of the former holder changes the role");
    assert_eq!(take(seed, "c", at).await, None);
}

pub(crate) async fn an_expired_role_that_nobody_took_can_be_renewed(seed: &Seed) {
    let fence = take(seed, "a", NOW).await.unwrap();
    assert!(holds(seed, fence).await);
    assert!(renew(seed, fence, second(10 * VALID)).await);
    assert_eq!(take(seed, "b", second(5 * VALID)).await, None);
}

pub(crate) async fn roles_are_independent(seed: &Seed) {
    let sweeper = take(seed, "a", NOW).await.unwrap();
    let other = take_role(seed, "other", "b", NOW).await.unwrap();
    seed.store().release_role("other", other).await.unwrap();
    assert!(holds(seed, sweeper).await);
    assert!(!seed.store().holds_role("other", other).await.unwrap());
    assert!(!seed.store().holds_role("unknown", other).await.unwrap());
}

pub(crate) async fn all_roles_of_a_holder_are_released_together(seed: &Seed) {
    for role in ["one", "two"] {
        take_role(seed, role, "a", NOW).await.unwrap();
    }
    let kept = take_role(seed, "three", "b", NOW).await.unwrap();
    seed.store().release_roles_of("a").await.unwrap();
    for role in ["one", "two"] {
        assert!(take_role(seed, role, "c", NOW).await.is_some(), "{role}");
    }
    assert!(seed.store().holds_role("three", kept).await.unwrap());
}

/// Sweeps once, as a process does; returns what it removed, or `None` if another process sweeps.
async fn sweep(seed: Seed, holder: String) -> Option<Vec<BlobRef>> {
    let fence = take(&seed, &holder, NOW).await?;
    let store = seed.store();
    let taken = store.take_unreferenced_blobs(second(100), NOW, 3).await.unwrap();
    assert!(store.holds_role("sweeper", fence).await.unwrap());
    store.forget_blobs(&taken).await.unwrap();
    store.release_role("sweeper", fence).await.unwrap();
    Some(taken)
}

pub(crate) async fn only_one_of_two_concurrent_sweepers_sweeps(seed: &Seed) {
    let blobs: Vec<BlobRef> =
        (0..60).map(|_| BlobRef { kind: BlobKind::Rendition, hash: seed.hash(), bytes: 1 }).collect();
    seed.announce(&blobs).await;
    let mut removed = Vec::new();
    while removed.len() < blobs.len() {
        let sweeps = (0..8).map(|number| sweep(seed.clone(), format!("holder-{number}")));
        removed.extend(concurrently(sweeps).await.into_iter().flatten().flatten());
    }
    let distinct: HashSet<_> = removed.iter().map(|blob| blob.hash).collect();
    assert_eq!((removed.len(), distinct.len()), (60, 60), "no blob was removed twice");
}
