use std::collections::HashSet;

use domain::{Plan, Timestamp};

use crate::{
    Photo, Seed,
    queries::{delete, list_all, second, visible_image},
};

/// Images with the same requested time get successive free milliseconds.
async fn burst(seed: &Seed, count: usize) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at_second(1); count]).await;
    let images = list_all(seed, ann, 100).await;
    let moments: HashSet<Timestamp> = images.iter().map(|image| image.captured_at).collect();
    let expected: HashSet<Timestamp> =
        (0..i64::try_from(count).unwrap()).map(|step| second(1).plus_millis(step)).collect();
    assert_eq!((images.len(), moments), (ids.len(), expected));
}

pub(crate) async fn a_burst_of_300_equal_times_gets_unique_times(seed: &Seed) {
    burst(seed, 300).await;
}

pub(crate) async fn a_burst_of_3000_equal_times_gets_unique_times(seed: &Seed) {
    burst(seed, 3000).await;
}

async fn moments(seed: &Seed, requested_ms: &[i64]) -> Vec<i64> {
    let ann = seed.account(Plan::Paid).await;
    let mut moments = Vec::new();
    for ms in requested_ms {
        let id = seed.image(ann.account, Photo::at(second(0).plus_millis(*ms))).await;
        moments.push(visible_image(seed, ann, &id).await.captured_at.millis() - second(0).millis());
    }
    moments
}

pub(crate) async fn a_used_time_moves_to_the_next_free_one(seed: &Seed) {
    assert_eq!(moments(seed, &[5, 3, 9]).await, [5, 3, 9]);
    assert_eq!(moments(seed, &[5, 6, 8, 5]).await, [5, 6, 8, 7], "the gap is filled");
    assert_eq!(moments(seed, &[5, 5, 5, 6, 5]).await, [5, 6, 7, 8, 9]);
    assert_eq!(moments(seed, &[1, 2, 3, 4, 1, 2]).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(moments(seed, &[7, 7, 6, 6]).await, [7, 8, 6, 9]);
}

pub(crate) async fn a_deleted_image_keeps_its_capture_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let first = seed.image(ann.account, Photo::at_second(1)).await;
    delete(seed, ann, &first, second(9)).await;
    let other = seed.image(ann.account, Photo::at_second(1)).await;
    assert_eq!(visible_image(seed, ann, &other).await.captured_at, second(1).plus_millis(1));
    assert!(seed.store().restore_image(ann.account, &first).await.unwrap());
    assert_eq!(visible_image(seed, ann, &first).await.captured_at, second(1));
}

pub(crate) async fn capture_times_are_unique_per_account_only(seed: &Seed) {
    for _ in 0..2 {
        let viewer = seed.account(Plan::Paid).await;
        let id = seed.image(viewer.account, Photo::at_second(1)).await;
        assert_eq!(visible_image(seed, viewer, &id).await.captured_at, second(1));
    }
}

pub(crate) async fn images_at_the_last_moment_move_earlier(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at(Timestamp::MAX); 3]).await;
    let mut moments = Vec::new();
    for id in &ids {
        moments.push(visible_image(seed, ann, id).await.captured_at);
    }
    assert_eq!(moments, [0, -1, -2].map(|step| Timestamp::MAX.plus_millis(step)));
}

pub(crate) async fn the_first_moment_is_not_special(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at(Timestamp::MIN); 2]).await;
    assert_eq!(visible_image(seed, ann, &ids[0]).await.captured_at, Timestamp::MIN);
    assert_eq!(visible_image(seed, ann, &ids[1]).await.captured_at, Timestamp::MIN.plus_millis(1));
}
