use domain::{BlobKind, Plan, Rendition, Timestamp};
use storage::{AddOutcome, AnnounceOutcome, BlobRef};

use crate::{
    NOW, Photo, Seed, indexed, original_blob,
    queries::{delete, is_missing, second, visible_image},
    rendition_blob,
};

/// Takes blobs as a sweeper with an idle time of `idle_s` seconds.
async fn take(seed: &Seed, at: Timestamp, idle_s: i64) -> Vec<BlobRef> {
    let idle_since = at.plus_millis(-idle_s * 1000);
    seed.store().take_unreferenced_blobs(idle_since, at, 100).await.unwrap()
}

fn sorted(mut blobs: Vec<BlobRef>) -> Vec<BlobRef> {
    blobs.sort_by_key(|blob| (blob.kind, blob.hash));
    blobs
}

pub(crate) async fn an_announced_blob_is_taken_once_it_is_idle(seed: &Seed) {
    let blob = original_blob(&seed.hash());
    seed.announce(&[blob]).await;
    assert_eq!(take(seed, second(60), 60).await, [], "a blob announced at that moment is not idle");
    assert_eq!(take(seed, second(61), 60).await, [blob]);
    assert_eq!(take(seed, second(62), 60).await, [], "it is taken already");
}

pub(crate) async fn announcing_again_restarts_the_idle_time(seed: &Seed) {
    let blob = original_blob(&seed.hash());
    seed.announce(&[blob]).await;
    seed.store().announce_blobs(&[blob], second(50)).await.unwrap();
    assert_eq!(take(seed, second(100), 60).await, []);
    assert_eq!(take(seed, second(111), 60).await, [blob]);
}

pub(crate) async fn a_taken_blob_cannot_be_written_until_it_is_forgotten(seed: &Seed) {
    let (blob, other) = (original_blob(&seed.hash()), original_blob(&seed.hash()));
    seed.announce(&[blob]).await;
    assert_eq!(take(seed, second(100), 60).await, [blob]);
    let both = seed.store().announce_blobs(&[other, blob], second(101)).await.unwrap();
    assert_eq!(both, AnnounceOutcome::BeingRemoved);
    seed.store().forget_blobs(&[blob]).await.unwrap();
    let both = seed.store().announce_blobs(&[other, blob], second(102)).await.unwrap();
    assert_eq!(both, AnnounceOutcome::Ready);
    assert_eq!(take(seed, second(200), 60).await.len(), 2);
}

pub(crate) async fn blobs_taken_by_a_killed_sweeper_are_listed(seed: &Seed) {
    let blob = original_blob(&seed.hash());
    seed.announce(&[blob]).await;
    assert_eq!(seed.store().taken_blobs(10).await.unwrap(), []);
    assert_eq!(take(seed, second(100), 60).await, [blob]);
    assert_eq!(take(seed, second(1_000_000), 60).await, [], "it is never taken twice");
    assert_eq!(seed.store().taken_blobs(10).await.unwrap(), [blob]);
    seed.store().forget_blobs(&[blob]).await.unwrap();
    assert_eq!(seed.store().taken_blobs(10).await.unwrap(), []);
}

pub(crate) async fn a_batch_is_no_larger_than_requested(seed: &Seed) {
    let blobs: Vec<BlobRef> = (0..5).map(|_| original_blob(&seed.hash())).collect();
    seed.announce(&blobs).await;
    let mut taken = Vec::new();
    for expected in [2, 2, 1, 0] {
        let batch = seed.store().take_unreferenced_blobs(second(50), second(100), 2).await.unwrap();
        assert_eq!(batch.len(), expected);
        taken.extend(batch);
    }
    assert_eq!(sorted(taken), sorted(blobs));
}

pub(crate) async fn referenced_blobs_are_never_taken(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1)).await;
    seed.waiting(ann.account, 1).await;
    let taken = take(seed, second(1_000_000), 60).await;
    assert_eq!(
        taken.iter().map(|blob| blob.kind).collect::<Vec<_>>(),
        [BlobKind::Rendition; 3],
        "only the announced renditions of the pending image, which were never made"
    );
}

pub(crate) async fn announcing_a_kept_blob_keeps_it_kept(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    seed.image(ann.account, Photo::at_second(1).original(original)).await;
    seed.announce(&[original_blob(&original)]).await;
    assert_eq!(take(seed, second(1_000_000), 60).await, []);
    let kept = seed.store().kept_blobs(BlobKind::Original, None, 10).await.unwrap();
    assert_eq!(kept, [original_blob(&original)]);
}

pub(crate) async fn forgetting_a_kept_blob_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    seed.image(ann.account, Photo::at_second(1).original(original)).await;
    seed.store().forget_blobs(&[original_blob(&original)]).await.unwrap();
    assert_eq!(seed.store().kept_blobs(BlobKind::Original, None, 10).await.unwrap().len(), 1);
}

pub(crate) async fn a_taken_original_cannot_be_added(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1).original(seed.hash());
    let blob = original_blob(&photo.original.unwrap());
    seed.announce(&[blob]).await;
    take(seed, second(100), 60).await;
    let add = || seed.store().add_image(seed.new_image(ann.account, &photo));
    assert_eq!(add().await.unwrap(), AddOutcome::OriginalGone);
    seed.store().forget_blobs(&[blob]).await.unwrap();
    assert_eq!(add().await.unwrap(), AddOutcome::OriginalGone, "it was not announced again");
    seed.announce(&[blob]).await;
    assert_eq!(add().await.unwrap(), AddOutcome::Added);
}

pub(crate) async fn a_taken_rendition_prevents_completion(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.waiting(ann.account, 1).await.remove(0);
    let mut photo = Photo::at_second(1);
    photo.renditions = vec![seed.rendition(Rendition::Medium, photo.size)];
    let blob = rendition_blob(&photo.renditions[0]);
    let job = seed.lease("w", NOW).await.remove(0);
    seed.announce(&[blob]).await;
    let taken = take(seed, second(100), 60).await;
    assert!(taken.contains(&blob));
    assert!(!seed.store().complete_job(job.id, "w", indexed(&photo)).await.unwrap());
    assert!(is_missing(seed, ann, &id).await, "nothing changed");
    seed.store().forget_blobs(&taken).await.unwrap();
    seed.announce(&[blob]).await;
    assert!(seed.store().complete_job(job.id, "w", indexed(&photo)).await.unwrap());
    visible_image(seed, ann, &id).await;
}

/// An image with an original and two renditions, deleted and purged.
async fn purged(seed: &Seed) -> Vec<BlobRef> {
    let ann = seed.account(Plan::Paid).await;
    let mut photo = Photo::at_second(1).original(seed.hash());
    photo.renditions =
        [Rendition::Medium, Rendition::Thumb].map(|name| seed.rendition(name, photo.size)).to_vec();
    let mut blobs: Vec<BlobRef> = photo.renditions.iter().map(rendition_blob).collect();
    blobs.push(original_blob(&photo.original.unwrap()));
    let id = seed.image(ann.account, photo).await;
    delete(seed, ann, &id, second(1)).await;
    assert_eq!(seed.store().purge_images(second(2), 10).await.unwrap(), 1);
    blobs
}

pub(crate) async fn released_blobs_can_be_taken_at_once(seed: &Seed) {
    let blobs = purged(seed).await;
    assert_eq!(sorted(take(seed, second(3), 86_400).await), sorted(blobs));
}

pub(crate) async fn a_released_blob_announced_again_must_be_idle(seed: &Seed) {
    let blobs = purged(seed).await;
    seed.store().announce_blobs(&blobs, second(4)).await.unwrap();
    assert_eq!(take(seed, second(5), 60).await, []);
    assert_eq!(take(seed, second(65), 60).await.len(), 3);
}

pub(crate) async fn a_kept_blob_announced_again_must_be_idle_after_release(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    delete(seed, ann, &id, second(1)).await;
    // Another import announces the same original just before it is released.
    seed.store().announce_blobs(&[original_blob(&original)], second(3)).await.unwrap();
    seed.store().purge_images(second(2), 10).await.unwrap();
    assert!(!take(seed, second(5), 60).await.contains(&original_blob(&original)));
    let ben = seed.account(Plan::Paid).await;
    let image = seed.new_image(ben.account, &Photo::at_second(1).original(original));
    assert_eq!(seed.store().add_image(image).await.unwrap(), AddOutcome::Added);
    assert!(!take(seed, second(1_000_000), 60).await.contains(&original_blob(&original)));
}

pub(crate) async fn a_shared_rendition_is_released_with_the_last_original(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let shared = [seed.rendition(Rendition::Thumb, Photo::at(NOW).size)];
    let first = seed.image(ann.account, Photo::at_second(1).renditions(&shared)).await;
    let second_one = seed.image(ann.account, Photo::at_second(2).renditions(&shared)).await;
    for (id, released) in [(first, false), (second_one, true)] {
        delete(seed, ann, &id, second(1)).await;
        assert_eq!(seed.store().purge_images(second(2), 10).await.unwrap(), 1);
        let taken = take(seed, second(4), 60).await;
        assert_eq!(taken.contains(&rendition_blob(&shared[0])), released);
        seed.store().forget_blobs(&taken).await.unwrap();
    }
}

pub(crate) async fn a_shared_original_is_released_with_the_last_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1)
        .original(seed.hash())
        .renditions(&[seed.rendition(Rendition::Thumb, Photo::at(NOW).size)]);
    let anns = seed.image(ann.account, photo.clone()).await;
    let bens = seed.image(ben.account, photo).await;
    delete(seed, ann, &anns, second(1)).await;
    seed.store().purge_images(second(2), 10).await.unwrap();
    assert_eq!(take(seed, second(4), 60).await, []);
    let source = seed.store().rendition(&bens, Rendition::Thumb, 5).await.unwrap().unwrap();
    assert!(source.stored.is_some(), "the other account's rendition remains");
    delete(seed, ben, &bens, second(1)).await;
    seed.store().purge_images(second(2), 10).await.unwrap();
    assert_eq!(take(seed, second(4), 60).await.len(), 2);
}

pub(crate) async fn kept_blobs_are_listed_in_order(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, (0..7).map(Photo::at_second).collect()).await;
    for (kind, count) in [(BlobKind::Original, 7), (BlobKind::Rendition, 21)] {
        let mut listed: Vec<BlobRef> = Vec::new();
        loop {
            let after = listed.last().map(|blob| blob.hash);
            let page = seed.store().kept_blobs(kind, after, 3).await.unwrap();
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        assert_eq!(listed.len(), count);
        assert!(listed.is_sorted_by(|a, b| a.hash < b.hash));
        assert!(listed.iter().all(|blob| blob.kind == kind));
    }
}
