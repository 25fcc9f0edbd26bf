use std::collections::HashSet;

use domain::{ContentHash, Plan, Rendition};
use storage::{LeaseRequest, RenditionJob, StoredRendition, Viewer};

use crate::{
    DECODERS, NOW, ORIGINAL_BYTES, Photo, Seed, lease,
    queries::{delete, second},
    rendition_blob,
};

/// Adds visible images in this order; returns their originals.
async fn seen(seed: &Seed, viewer: Viewer, count: usize) -> Vec<ContentHash> {
    let originals: Vec<ContentHash> = (0..count).map(|_| seed.hash()).collect();
    let photos = originals.iter().map(|original| Photo::at_second(1).original(*original));
    seed.images(viewer.account, photos.collect()).await;
    originals
}

/// A full rendition whose blob is announced.
async fn full(seed: &Seed) -> StoredRendition {
    let full = seed.rendition(Rendition::Full, Photo::at(NOW).size);
    seed.announce(&[rendition_blob(&full)]).await;
    full
}

/// The number of queued jobs.
async fn waiting(seed: &Seed) -> u64 {
    seed.store().queue_length().await.unwrap().renditions
}

fn originals(jobs: &[RenditionJob]) -> Vec<ContentHash> {
    jobs.iter().map(|job| job.original).collect()
}

pub(crate) async fn visible_images_are_queued_for_full_renditions(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    assert_eq!(seed.lease_renditions("w", NOW).await, []);
    seed.waiting(ann.account, 2).await;
    let failed = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(failed.id, "w", "no picture in it", DECODERS).await.unwrap();
    assert_eq!(waiting(seed).await, 0, "pending and failed images have no jobs");
    seed.store().abandon_leases("w").await.unwrap();
    let seen = seen(seed, ann, 5).await;
    assert_eq!(waiting(seed).await, 5);
    let request = LeaseRequest { max: 2, ..lease("w", NOW) };
    let mut leased = Vec::new();
    for expected in [2, 2, 1, 0] {
        let jobs = seed.store().lease_rendition_jobs(request).await.unwrap();
        assert_eq!(jobs.len(), expected);
        leased.extend(jobs);
    }
    assert!(leased.iter().all(|job| (job.original_bytes, job.attempts) == (ORIGINAL_BYTES, 1)));
    assert_eq!(originals(&leased), seen.into_iter().rev().collect::<Vec<_>>(), "newest first");
    assert_eq!(waiting(seed).await, 5, "leased jobs count until they complete");
}

pub(crate) async fn an_existing_full_rendition_is_not_queued(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let made = Rendition::ALL.map(|rendition| seed.rendition(rendition, Photo::at(NOW).size));
    seed.image(ann.account, Photo::at_second(1).renditions(&made)).await;
    assert_eq!(waiting(seed).await, 0);
    assert_eq!(seed.lease_renditions("w", NOW).await, []);
}

pub(crate) async fn a_shared_original_is_queued_once(seed: &Seed) {
    let (ann, ben, cleo) =
        (seed.account(Plan::Paid).await, seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1).original(seed.hash());
    seed.image(ann.account, photo.clone()).await;
    seed.image(ben.account, photo.clone()).await;
    assert_eq!(originals(&seed.lease_renditions("w", NOW).await), [photo.original.unwrap()]);
    // A full rendition of one image serves all images of the original.
    let made = Rendition::ALL.map(|rendition| seed.rendition(rendition, photo.size));
    seed.image(cleo.account, photo.renditions(&made)).await;
    assert_eq!(waiting(seed).await, 0);
}

pub(crate) async fn adding_the_full_rendition_completes_its_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seen(seed, ann, 2).await;
    let jobs = seed.lease_renditions("w", NOW).await;
    let (full, medium) = (full(seed).await, seed.rendition(Rendition::Medium, Photo::at(NOW).size));
    seed.announce(&[rendition_blob(&medium)]).await;
    assert!(seed.store().add_rendition(&jobs[0].original, medium).await.unwrap());
    assert_eq!(waiting(seed).await, 2, "it was not the full rendition");
    assert!(!seed.store().add_rendition(&seed.hash(), full).await.unwrap());
    assert_eq!(waiting(seed).await, 2);
    assert!(seed.store().add_rendition(&jobs[0].original, full).await.unwrap());
    let left = seed.lease_renditions("w", second(9000)).await;
    assert_eq!(originals(&left), [seen[0]], "the other one");
}

pub(crate) async fn a_rendition_made_elsewhere_completes_the_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seen(seed, ann, 1).await.remove(0);
    seed.lease_renditions("w", NOW).await;
    assert!(seed.store().holds_rendition_job(&original, "w").await.unwrap());
    assert!(!seed.store().holds_rendition_job(&original, "other").await.unwrap());
    // A request made the rendition.
    assert!(seed.store().add_rendition(&original, full(seed).await).await.unwrap());
    assert_eq!(waiting(seed).await, 0);
    assert!(!seed.store().holds_rendition_job(&original, "w").await.unwrap());
    // The worker is too late: nothing that it does now has an effect.
    assert!(seed.store().add_rendition(&original, full(seed).await).await.unwrap());
    seed.store().renew_rendition_leases("w", &[original], second(9000)).await.unwrap();
    seed.store().retry_rendition_job(&original, "w", NOW).await.unwrap();
    seed.store().drop_rendition_job(&original, "w").await.unwrap();
    assert_eq!(waiting(seed).await, 0);
}

pub(crate) async fn a_lease_is_exclusive(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seen(seed, ann, 120).await;
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let seed = seed.clone();
            tokio::spawn(async move {
                let name = format!("worker-{worker}");
                let request = LeaseRequest { max: 3, ..lease(&name, second(1)) };
                let mut leased = Vec::new();
                loop {
                    let jobs = seed.store().lease_rendition_jobs(request).await.unwrap();
                    if jobs.is_empty() {
                        return leased;
                    }
                    leased.extend(originals(&jobs));
                }
            })
        })
        .collect();
    let mut leased = Vec::new();
    for worker in workers {
        leased.extend(worker.await.unwrap());
    }
    assert_eq!(leased.len(), 120, "no job was leased twice");
    assert_eq!(leased.into_iter().collect::<HashSet<_>>(), seen.into_iter().collect());
}

pub(crate) async fn an_expired_lease_can_be_leased_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seen(seed, ann, 1).await;
    seed.lease_renditions("killed", second(1)).await;
    assert_eq!(seed.lease_renditions("other", second(3601)).await, [], "the lease has not expired yet");
    let again = seed.lease_renditions("other", second(3602)).await;
    assert_eq!((originals(&again), again[0].attempts), (seen, 2));
}

pub(crate) async fn a_lost_lease_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seen(seed, ann, 1).await.remove(0);
    seed.lease_renditions("slow", second(1)).await;
    seed.lease_renditions("quick", second(9000)).await;
    seed.store().drop_rendition_job(&original, "slow").await.unwrap();
    seed.store().retry_rendition_job(&original, "slow", NOW).await.unwrap();
    seed.store().release_leases("slow").await.unwrap();
    seed.store().renew_rendition_leases("slow", &[original], second(1)).await.unwrap();
    assert_eq!(
        seed.lease_renditions("third", second(9001)).await,
        [],
        "the quick worker still holds the lease"
    );
    assert_eq!(waiting(seed).await, 1);
}

pub(crate) async fn only_leases_of_listed_jobs_are_renewed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seen(seed, ann, 2).await;
    seed.lease_renditions("w", second(1)).await;
    seed.store().renew_rendition_leases("w", &[seen[0]], second(70_000)).await.unwrap();
    let free = seed.lease_renditions("other", second(60_000)).await;
    assert_eq!(originals(&free), seen[1..]);
}

pub(crate) async fn leases_can_be_released(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seen(seed, ann, 3).await;
    for _ in 0..3 {
        let jobs = seed.lease_renditions("w", second(1)).await;
        assert_eq!(jobs.iter().map(|job| job.attempts).collect::<Vec<_>>(), [1, 1, 1]);
        seed.store().release_leases("other").await.unwrap();
        assert_eq!(seed.lease_renditions("third", second(1)).await, []);
        seed.store().release_leases("w").await.unwrap();
    }
    for worker in ["one", "other"] {
        let request = LeaseRequest { max: 1, ..lease(worker, second(1)) };
        assert_eq!(seed.store().lease_rendition_jobs(request).await.unwrap().len(), 1);
    }
    for worker in ["one", "other"] {
        seed.store().abandon_leases(worker).await.unwrap();
    }
    let jobs = seed.lease_renditions("third", second(1)).await;
    let attempts: Vec<_> = jobs.iter().map(|job| job.attempts).collect();
    assert_eq!(attempts, [2, 2, 1], "one of the jobs may have killed its worker");
}

pub(crate) async fn a_retry_is_delayed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seen(seed, ann, 2).await;
    seed.lease_renditions("w", second(1)).await;
    seed.store().retry_rendition_job(&seen[1], "w", second(10)).await.unwrap();
    assert_eq!(seed.lease_renditions("w", second(9)).await, []);
    let again = seed.lease_renditions("w", second(10)).await;
    assert_eq!((originals(&again), again[0].attempts), (vec![seen[1]], 1), "the attempt did not count");
}

pub(crate) async fn a_job_leased_too_often_is_dropped(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let exhausted = seen(seed, ann, 1).await;
    for attempt in 1..=3 {
        let at = second(attempt * 10_000);
        let request = LeaseRequest { max_attempts: 3, ..lease("w", at) };
        assert_eq!(originals(&seed.store().lease_rendition_jobs(request).await.unwrap()), exhausted);
    }
    let next = seen(seed, ann, 1).await;
    let at = second(50_000);
    let request = LeaseRequest { max_attempts: 3, max: 2, ..lease("w", at) };
    assert_eq!(originals(&seed.store().lease_rendition_jobs(request).await.unwrap()), next);
    assert_eq!(waiting(seed).await, 1);
}

pub(crate) async fn a_rendition_can_be_added_after_its_job_was_dropped(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    seed.lease_renditions("w", NOW).await;
    seed.store().drop_rendition_job(&original, "w").await.unwrap();
    assert_eq!(waiting(seed).await, 0);
    assert_eq!(seed.lease_renditions("w", second(9000)).await, []);
    let full = full(seed).await;
    assert!(seed.store().add_rendition(&original, full).await.unwrap());
    let source = seed.store().rendition(&id, Rendition::Full, 5).await.unwrap().unwrap();
    assert_eq!(source.stored, Some(full));
}

pub(crate) async fn originals_without_visible_images_are_not_queued(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    seed.lease_renditions("w", NOW).await;
    delete(seed, ann, &id, second(1)).await;
    assert_eq!(waiting(seed).await, 0);
    assert!(seed.store().restore_image(ann.account, &id).await.unwrap());
    assert_eq!(originals(&seed.lease_renditions("w", NOW).await), [original], "it can be leased again");
    delete(seed, ann, &id, second(1)).await;
    // Importing the file again restores the job; purging the image removes it.
    let again = seed.new_image(ann.account, &Photo::at_second(1).original(original));
    seed.store().add_image(again).await.unwrap();
    assert_eq!(waiting(seed).await, 1);
    delete(seed, ann, &id, second(1)).await;
    assert_eq!(seed.store().purge_images(second(2), 10).await.unwrap(), 1);
    assert_eq!(waiting(seed).await, 0);
    // An image that was deleted with its full rendition is restored with it.
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    assert!(seed.store().add_rendition(&original, full(seed).await).await.unwrap());
    delete(seed, ann, &id, second(1)).await;
    assert!(seed.store().restore_image(ann.account, &id).await.unwrap());
    assert_eq!(waiting(seed).await, 0);
}

pub(crate) async fn jobs_of_a_deleted_account_are_removed(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seen(seed, ann, 3).await;
    let shared = Photo::at_second(1).original(seed.hash());
    seed.image(ann.account, shared.clone()).await;
    seed.image(ben.account, shared.clone()).await;
    let bens = seen(seed, ben, 1).await;
    assert_eq!(waiting(seed).await, 5);
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    let wanted = [bens[0], shared.original.unwrap()];
    assert_eq!(
        originals(&seed.lease_renditions("w", second(2)).await),
        wanted,
        "the other account still has the image"
    );
    seed.store().release_leases("w").await.unwrap();
    for purged in [4, 0] {
        assert_eq!(seed.store().purge_images(second(-1000), 10).await.unwrap(), purged);
        assert_eq!(waiting(seed).await, 2);
    }
    assert_eq!(originals(&seed.lease_renditions("w", second(2)).await), wanted);
}

pub(crate) async fn a_shared_original_is_queued_until_both_images_are_deleted(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1).original(seed.hash());
    let anns = seed.image(ann.account, photo.clone()).await;
    let bens = seed.image(ben.account, photo).await;
    delete(seed, ann, &anns, second(1)).await;
    assert_eq!(seed.store().purge_images(second(2), 10).await.unwrap(), 1);
    assert_eq!(waiting(seed).await, 1);
    delete(seed, ben, &bens, second(1)).await;
    assert_eq!(waiting(seed).await, 0);
}
