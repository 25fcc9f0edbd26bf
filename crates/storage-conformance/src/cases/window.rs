use domain::{Filter, Plan, Rendition};
use storage::{Lookup, Viewer};

use crate::{
    Photo, Seed,
    queries::{
        circle, delete, filtered, id_strings, is_missing, list_all, matching, newest_first, second, seconds,
        timeline, visible_image,
    },
};

/// An account on the free plan with a window of three and six images, oldest first.
async fn library(seed: &Seed) -> (Viewer, Vec<domain::ImageId>) {
    let ann = Viewer { free_window: 3, ..seed.account(Plan::Free).await };
    let photo = |at| Photo::at_second(at).description("sea").position(1.0, 1.0);
    let ids = seed.images(ann.account, (0..6).map(photo).collect()).await;
    (ann, ids)
}

pub(crate) async fn the_free_plan_sees_the_newest_images(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    assert_eq!(timeline(seed, ann).await, newest_first(&ids[3..]));
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 3);
    assert_eq!(list_all(seed, ann, 2).await.len(), 3);
    let paid = Viewer { plan: Plan::Paid, ..ann };
    assert_eq!(timeline(seed, paid).await, newest_first(&ids));
    assert_eq!(seed.store().count_images(paid).await.unwrap(), 6);
}

pub(crate) async fn fewer_images_than_the_window_are_all_visible(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    for (window, count) in [(5, 5), (6, 6), (7, 6), (0, 0), (1, 1)] {
        let viewer = Viewer { free_window: window, ..ann };
        assert_eq!(timeline(seed, viewer).await, newest_first(&ids[6 - count..]), "{window}");
        let counted = usize::try_from(seed.store().count_images(viewer).await.unwrap()).unwrap();
        assert_eq!(counted, count, "{window}");
    }
}

pub(crate) async fn the_window_is_by_capture_time(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    let late = seed.image(ann.account, Photo::at_second(-50)).await;
    assert!(is_missing(seed, ann, &late).await, "an old photo that is added later is outside");
    let new = seed.image(ann.account, Photo::at_second(50)).await;
    assert_eq!(timeline(seed, ann).await, [new, ids[5].clone(), ids[4].clone()]);
}

pub(crate) async fn deleted_images_do_not_count(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    delete(seed, ann, &ids[5], second(9)).await;
    assert_eq!(timeline(seed, ann).await, newest_first(&ids[2..5]));
    assert!(seed.store().restore_image(ann.account, &ids[5]).await.unwrap());
    assert_eq!(timeline(seed, ann).await, newest_first(&ids[3..]));
}

pub(crate) async fn images_outside_the_window_are_missing(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    assert!(is_missing(seed, ann, &ids[2]).await);
    assert_eq!(seed.store().delete_image(ann, &ids[2], second(9)).await.unwrap(), Lookup::Missing);
    visible_image(seed, ann, &ids[3]).await;
    visible_image(seed, Viewer { plan: Plan::Paid, ..ann }, &ids[2]).await;
}

pub(crate) async fn renditions_follow_the_owners_window(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    let source = async |id| seed.store().rendition(id, Rendition::Thumb, 3).await.unwrap();
    assert_eq!(source(&ids[2]).await, None);
    assert!(source(&ids[3]).await.is_some());
    seed.store().set_plan(ann.account, Plan::Paid).await.unwrap();
    assert!(source(&ids[2]).await.is_some());
}

pub(crate) async fn searches_follow_the_window(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    let seen = newest_first(&ids[3..]);
    assert_eq!(filtered(seed, ann, Filter::default()).await, seen);
    let near = Some(circle(1.0, 1.0, 10.0));
    assert_eq!(filtered(seed, ann, Filter { circle: near, ..Default::default() }).await, seen);
    let old = Filter { range: seconds(0, 2), ..Default::default() };
    assert_eq!(filtered(seed, ann, old).await, []);
    assert_eq!(matching(seed, ann, &["sea"]).await, seen);
}

pub(crate) async fn albums_follow_the_window(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    let paid = Viewer { plan: Plan::Paid, ..ann };
    let album = seed.album(paid, "Sea", &ids[..5]).await;
    let old = seed.album(paid, "Old", &ids[..2]).await;
    let store = seed.store();
    let seen = store.album(ann, &album).await.unwrap().unwrap();
    assert_eq!((seen.image_count, seen.cover), (2, Some(ids[4].clone())));
    let seen = store.album(ann, &old).await.unwrap().unwrap();
    assert_eq!((seen.image_count, seen.cover), (0, None));
    let all = store.album(paid, &album).await.unwrap().unwrap();
    assert_eq!((all.image_count, all.cover), (5, Some(ids[4].clone())));
    let filter = Filter { album: Some(album.clone()), ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, newest_first(&ids[3..5]));
    let listed = store.page_albums(ann, Default::default(), Default::default()).await.unwrap();
    assert_eq!(listed.albums.iter().map(|album| album.image_count).collect::<Vec<_>>(), [0, 2]);
}

pub(crate) async fn albums_take_no_image_from_outside_the_window(seed: &Seed) {
    let (ann, ids) = library(seed).await;
    let album = seed.album(ann, "Sea", &[]).await;
    let change = domain::AlbumChange { add: id_strings(&ids[2..4]), ..Default::default() };
    let outcome = seed.store().change_album(ann, &album, change, second(9)).await.unwrap();
    assert_eq!(outcome, storage::AlbumWrite::UnknownImage);
}
