use domain::{ImageId, Plan};
use storage::{IndexingProgress, Viewer};

use crate::{Photo, Seed, queries::second};

/// Images that could not be indexed.
async fn failed(seed: &Seed, viewer: Viewer, count: usize) -> Vec<ImageId> {
    let ids = seed.waiting(viewer.account, count).await;
    for job in seed.lease("w", second(1)).await {
        seed.store().fail_job(job.id, "w", "no picture in it", 1).await.unwrap();
    }
    ids
}

async fn problems(seed: &Seed, viewer: Viewer) -> Vec<ImageId> {
    let mut all: Vec<ImageId> = Vec::new();
    loop {
        let page = seed.store().page_problems(viewer.account, all.last(), 2).await.unwrap();
        if page.is_empty() {
            return all;
        }
        assert!(page.iter().all(|image| image.reason == "no picture in it"));
        all.extend(page.into_iter().map(|image| image.id));
    }
}

async fn progress(seed: &Seed, viewer: Viewer) -> (u32, u32) {
    let IndexingProgress { waiting, failed } = seed.store().indexing_progress(viewer.account).await.unwrap();
    (waiting, failed)
}

pub(crate) async fn failed_photos_are_paged_and_counted(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.image(ann.account, Photo::at_second(1)).await;
    let ids = failed(seed, ann, 5).await;
    let bens = failed(seed, ben, 1).await;
    seed.waiting(ann.account, 2).await;
    assert_eq!(problems(seed, ann).await, ids.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(problems(seed, ben).await, bens);
    assert_eq!((progress(seed, ann).await, progress(seed, ben).await), ((2, 5), (0, 1)));
}

pub(crate) async fn a_failed_photo_is_deleted_and_restored(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let fine = seed.image(ann.account, Photo::at_second(1)).await;
    let ids = failed(seed, ann, 2).await;
    let store = seed.store();
    assert!(!store.delete_problem(ben.account, &ids[0], second(5)).await.unwrap());
    assert!(!store.delete_problem(ann.account, &fine, second(5)).await.unwrap(), "it is no problem");
    assert!(store.delete_problem(ann.account, &ids[0], second(5)).await.unwrap());
    assert!(!store.delete_problem(ann.account, &ids[0], second(6)).await.unwrap(), "it is deleted already");
    assert_eq!((problems(seed, ann).await, progress(seed, ann).await), (vec![ids[1].clone()], (0, 1)));
    let trash = store.page_trash(ann.account, None, 9).await.unwrap();
    assert_eq!(trash.into_iter().map(|trashed| trashed.id).collect::<Vec<_>>(), [ids[0].clone()]);
    assert!(store.restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(problems(seed, ann).await.len(), 2);
}

pub(crate) async fn failed_photos_are_queued_again(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = failed(seed, ann, 5).await;
    assert!(!seed.store().retry_problem(ben.account, &ids[0], second(5)).await.unwrap());
    assert!(seed.store().retry_problem(ann.account, &ids[0], second(5)).await.unwrap());
    assert!(!seed.store().retry_problem(ann.account, &ids[0], second(5)).await.unwrap(), "it is queued");
    assert_eq!(progress(seed, ann).await, (1, 4));
    let (mut counts, mut before) = (Vec::new(), None);
    while let Some((count, last)) =
        seed.store().retry_problems(ann.account, before, second(5), 3).await.unwrap()
    {
        counts.push(count);
        before = Some(last);
    }
    assert_eq!((counts, progress(seed, ann).await), (vec![3, 1], (5, 0)));
    assert_eq!(seed.lease("w", second(6)).await.len(), 5);
}

pub(crate) async fn dismissed_photos_stay_dismissed_until_another_failure(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = failed(seed, ann, 5).await;
    let store = seed.store();
    assert!(!store.dismiss_problem(ben.account, &ids[0]).await.unwrap());
    assert!(store.dismiss_problem(ann.account, &ids[0]).await.unwrap());
    assert!(store.dismiss_problem(ann.account, &ids[0]).await.unwrap(), "it is dismissed already");
    assert_eq!(problems(seed, ann).await, ids[1..].iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(progress(seed, ann).await, (0, 4));
    assert_eq!(store.retry_problems(ann.account, None, second(5), 9).await.unwrap().unwrap().0, 4);
    for job in seed.lease("w", second(6)).await {
        store.fail_job(job.id, "w", "no picture in it", 1).await.unwrap();
    }
    let (mut counts, mut before) = (Vec::new(), None);
    while let Some((count, last)) = store.dismiss_problems(ann.account, before, 3).await.unwrap() {
        counts.push(count);
        before = Some(last);
    }
    assert_eq!((counts, progress(seed, ann).await), (vec![3, 1], (0, 0)));
    // A newer decoder reads all of them again.
    for (reason, shown) in [("no picture in it", 0), ("cut off", 5)] {
        assert_eq!(store.requeue_failed(9, second(7)).await.unwrap(), 5);
        assert_eq!(progress(seed, ann).await, (5, 0));
        for job in seed.lease("w", second(8)).await {
            store.fail_job(job.id, "w", reason, 1).await.unwrap();
        }
        assert_eq!(progress(seed, ann).await, (0, shown), "{reason}");
    }
}
