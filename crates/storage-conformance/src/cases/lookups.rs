use domain::Plan;
use storage::{Lookup, Viewer};

use crate::{
    NOW, Photo, Seed,
    queries::{delete, is_missing, second, timeline, visible_image},
};

pub(crate) async fn an_own_image_is_found(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).description("Mine")).await;
    let image = visible_image(seed, ann, &id).await;
    assert_eq!((image.id, image.details.description.as_deref()), (id, Some("Mine")));
}

pub(crate) async fn another_accounts_visible_image_is_foreign(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    assert_eq!(seed.store().image(ben, &id).await.unwrap(), Lookup::Foreign);
    let refused = seed.store().delete_image(ben, &id, second(9)).await.unwrap();
    assert_eq!(refused, Lookup::Foreign);
    visible_image(seed, ann, &id).await;
}

pub(crate) async fn an_image_invisible_to_its_owner_is_missing_for_all(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let waiting = seed.waiting(ann.account, 2).await;
    let job = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(job.id, "w", "no picture in it", 1).await.unwrap();
    let deleted = seed.image(ann.account, Photo::at_second(1)).await;
    delete(seed, ann, &deleted, second(2)).await;
    for id in [&waiting[0], &waiting[1], &deleted, &seed.image_id()] {
        for viewer in [ann, ben] {
            assert!(is_missing(seed, viewer, id).await);
            assert_eq!(seed.store().delete_image(viewer, id, second(3)).await.unwrap(), Lookup::Missing);
        }
    }
}

pub(crate) async fn images_of_a_deleted_account_are_missing(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    seed.store().delete_account(ann.account, second(2)).await.unwrap();
    assert!(is_missing(seed, ann, &id).await);
    assert!(is_missing(seed, ben, &id).await);
    assert!(!seed.store().restore_image(ann.account, &id).await.unwrap());
    assert_eq!(seed.store().image_states(&[id]).await.unwrap(), []);
}

pub(crate) async fn a_foreign_image_follows_its_owners_window(seed: &Seed) {
    let ann = Viewer { free_window: 2, ..seed.account(Plan::Free).await };
    let ben = Viewer { free_window: 2, ..seed.account(Plan::Paid).await };
    let ids = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    assert!(is_missing(seed, ben, &ids[0]).await, "it is invisible to its owner");
    assert_eq!(seed.store().image(ben, &ids[1]).await.unwrap(), Lookup::Foreign);
    seed.store().set_plan(ann.account, Plan::Paid).await.unwrap();
    assert_eq!(seed.store().image(ben, &ids[0]).await.unwrap(), Lookup::Foreign);
}

pub(crate) async fn a_deleted_image_is_gone_and_can_be_restored(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..2).map(Photo::at_second).collect()).await;
    let before = visible_image(seed, ann, &ids[0]).await;
    delete(seed, ann, &ids[0], second(9)).await;
    assert_eq!(timeline(seed, ann).await, [ids[1].clone()]);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(visible_image(seed, ann, &ids[0]).await, before);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 2);
    assert!(!seed.store().restore_image(ann.account, &ids[0]).await.unwrap(), "it is not deleted");
}

pub(crate) async fn only_its_owner_restores_an_image(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    delete(seed, ann, &id, second(2)).await;
    assert!(!seed.store().restore_image(ben.account, &id).await.unwrap());
    assert!(!seed.store().restore_image(ann.account, &seed.image_id()).await.unwrap());
    assert!(is_missing(seed, ann, &id).await);
}

pub(crate) async fn own_visible_images_are_returned_in_the_order_of_ids(seed: &Seed) {
    let ann = Viewer { free_window: 3, ..seed.account(Plan::Free).await };
    let ben = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..5).map(Photo::at_second).collect()).await;
    let foreign = seed.image(ben.account, Photo::at_second(1)).await;
    let unknown = seed.image_id();
    delete(seed, ann, &ids[3], second(9)).await;
    let requested = [&ids[2], &foreign, &ids[4], &unknown, &ids[3], &ids[0], &ids[1]].map(Clone::clone);
    let ids_of = |images: Vec<domain::Image>| images.into_iter().map(|image| image.id).collect::<Vec<_>>();
    let seen = ids_of(seed.store().images(ann, &requested).await.unwrap());
    assert_eq!(seen, [&ids[2], &ids[4], &ids[1]].map(Clone::clone), "the oldest is outside the window");
    assert_eq!(ids_of(seed.store().images(ben, &requested).await.unwrap()), [foreign]);
    assert_eq!(seed.store().images(ann, &[]).await.unwrap(), []);
    seed.store().delete_account(ann.account, second(9)).await.unwrap();
    assert_eq!(seed.store().images(ann, &requested).await.unwrap(), []);
}

pub(crate) async fn a_text_with_a_null_character_is_no_id(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let album = seed.album(ann, "Album", &[]).await;
    let change = domain::AlbumChange {
        add: vec!["a\0b".to_owned()],
        remove: vec!["\0".to_owned()],
        ..Default::default()
    };
    let outcome = seed.store().change_album(ann, &album, change, NOW).await.unwrap();
    assert_eq!(outcome, storage::AlbumWrite::UnknownImage);
}
