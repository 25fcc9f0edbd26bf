use domain::{Filter, Plan, Rendition};
use storage::{AddOutcome, QueueLength};

use crate::{
    Photo, Seed, original_blob,
    queries::{circle, delete, filtered, is_missing, matching, second, timeline},
};

pub(crate) async fn only_long_deleted_images_are_purged(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..4).map(Photo::at_second).collect()).await;
    for (id, at) in ids.iter().zip([10, 20, 30]) {
        delete(seed, ann, id, second(at)).await;
    }
    assert_eq!(seed.store().purge_images(second(20), 10).await.unwrap(), 1);
    assert_eq!(seed.store().purge_images(second(20), 10).await.unwrap(), 0);
    assert!(!seed.store().restore_image(ann.account, &ids[0]).await.unwrap(), "it is removed permanently");
    assert!(seed.store().restore_image(ann.account, &ids[1]).await.unwrap());
    assert!(seed.store().restore_image(ann.account, &ids[2]).await.unwrap());
    assert_eq!(timeline(seed, ann).await.len(), 3);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 3);
}

pub(crate) async fn images_are_purged_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..7).map(Photo::at_second).collect()).await;
    for id in &ids {
        delete(seed, ann, id, second(10)).await;
    }
    for expected in [3, 3, 1, 0] {
        assert_eq!(seed.store().purge_images(second(11), 3).await.unwrap(), expected);
    }
}

pub(crate) async fn nothing_of_a_purged_image_is_left(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let photo = Photo::at_second(1).original(original).description("sea").position(1.0, 1.0);
    let id = seed.image(ann.account, photo.clone()).await;
    let other = seed.image(ann.account, Photo::at_second(2).description("sea").position(1.0, 1.0)).await;
    let album = seed.album(ann, "Mine", &[id.clone(), other.clone()]).await;
    delete(seed, ann, &id, second(10)).await;
    assert_eq!(seed.store().purge_images(second(11), 10).await.unwrap(), 1);

    assert_eq!(matching(seed, ann, &["sea"]).await, std::slice::from_ref(&other));
    let filter = Filter { circle: Some(circle(1.0, 1.0, 10.0)), ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, [other]);
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().image_count, 1);
    assert_eq!(seed.store().image_by_original(ann.account, &original).await.unwrap(), None);
    assert_eq!(seed.store().rendition(&id, Rendition::Thumb, 5).await.unwrap(), None);
    assert!(is_missing(seed, ann, &id).await);
    // Importing the same file again creates a new image without data of the old one.
    seed.announce(&[original_blob(&original)]).await;
    let again = seed.image(ann.account, Photo { description: Some("hill".to_owned()), ..photo }).await;
    assert_eq!(matching(seed, ann, &["hill"]).await, [again]);
    assert_eq!(matching(seed, ann, &["sea"]).await.len(), 1);
}

pub(crate) async fn a_deleted_account_is_purged_with_its_data(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids =
        seed.images(ann.account, (0..4).map(|at| Photo::at_second(at).description("sea")).collect()).await;
    let bens = seed.image(ben.account, Photo::at_second(1).description("sea")).await;
    seed.album(ann, "Mine", &ids).await;
    delete(seed, ann, &ids[0], second(1)).await;
    let waiting = seed.waiting(ann.account, 2).await;
    let job = seed.lease("w", second(1)).await.remove(0);
    seed.store().fail_job(job.id, "w", "no picture in it", 1).await.unwrap();
    seed.store().delete_account(ann.account, second(2)).await.unwrap();
    for expected in [4, 2, 0] {
        let gone = seed.store().purge_images(second(-1000), 4).await.unwrap();
        assert_eq!(gone, expected, "`deleted_before` does not matter");
    }
    assert_eq!(seed.store().image_states(&waiting).await.unwrap(), []);
    let left = QueueLength { renditions: 1, ..QueueLength::default() };
    assert_eq!(seed.store().queue_length().await.unwrap(), left, "the full rendition of the other account");
    assert_eq!(timeline(seed, ben).await, std::slice::from_ref(&bens));
    assert_eq!(matching(seed, ben, &["sea"]).await, [bens]);
    let taken = seed.store().take_unreferenced_blobs(second(-1000), second(3), 100).await.unwrap();
    assert_eq!(
        taken.len(),
        4 * 4 + 2,
        "its blobs can be taken at once, except announced ones of pending images"
    );
    let kept = seed.store().kept_blobs(domain::BlobKind::Original, None, 100).await.unwrap();
    assert_eq!(kept.len(), 1);
}

pub(crate) async fn a_purge_keeps_undeleted_images(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    assert_eq!(seed.store().purge_images(second(99), 10).await.unwrap(), 0);
    assert_eq!(timeline(seed, ann).await, [id]);
    let again = seed.new_image(ann.account, &Photo::at_second(1).original(original));
    let outcome = seed.store().add_image(again).await.unwrap();
    assert!(matches!(outcome, AddOutcome::Duplicate(_)));
}

pub(crate) async fn concurrent_purges_remove_each_image_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..40).map(Photo::at_second).collect()).await;
    for id in &ids {
        delete(seed, ann, id, second(10)).await;
    }
    let purges: Vec<_> = (0..8)
        .map(|_| {
            let store = seed.store().clone();
            tokio::spawn(async move { store.purge_images(second(11), 10).await.unwrap() })
        })
        .collect();
    let mut removed = 0;
    for purge in purges {
        removed += purge.await.unwrap();
    }
    assert_eq!(removed, 40);
}
