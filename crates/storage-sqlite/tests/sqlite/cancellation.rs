use std::{sync::Arc, time::Duration};

use domain::{Limit, ListQuery, Plan};
use storage::{AccountStore, ImageStore, IndexQueue};
use storage_conformance::{DECODERS, NOW, Photo, Seed, lease};

use crate::{fresh_store, open};

/// Polls a future once, or until a time-out, and drops it.
async fn cancel<T>(future: impl Future<Output = T>, after: Duration) {
    if after.is_zero() {
        tokio::select! {
            biased;
            _ = future => {}
            () = tokio::task::yield_now() => {}
        }
    } else {
        let _outcome = tokio::time::timeout(after, future).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_callers_leave_no_transaction_open() {
    let (store, folder) = fresh_store().await;
    let other = open(&folder.path().join("library.sqlite")).await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 50).await;
    let page = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    for round in 0..60_u64 {
        let after = Duration::from_micros(round % 6 * 80);
        let worker = format!("worker-{round}");
        cancel(store.lease_jobs(lease(&worker, NOW), DECODERS), after).await;
        cancel(store.release_leases(&worker), after).await;
        cancel(store.page_images(ann, &page), after).await;
        // If a cancelled call left a transaction open, the other store would wait for the lock until its time-out.
        other.mark_synced(ann.account, NOW).await.unwrap();
        store.abandon_leases(&worker).await.unwrap();
    }
    let jobs = store.lease_jobs(lease("last", NOW), DECODERS).await.unwrap();
    assert_eq!(jobs.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_operations_are_atomic() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..60).map(Photo::at_second).collect()).await;
    let album = seed.album(ann, "All", &ids).await;
    for (round, id) in (0_u64..).zip(&ids) {
        cancel(store.delete_image(ann, id, NOW), Duration::from_micros(round % 6 * 80)).await;
    }
    // This write runs after all earlier ones, including the cancelled ones.
    store.abandon_leases("nobody").await.unwrap();
    let counted = store.count_images(ann).await.unwrap();
    let listed = seed.store().album(ann, &album).await.unwrap().unwrap().image_count;
    let page = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    let on_page = store.page_images(ann, &page).await.unwrap().len();
    assert_eq!(listed, counted);
    assert_eq!(on_page, usize::try_from(counted).unwrap());
}
