use domain::{ImageId, Plan, Rendition, Selection};
use storage::{AddOutcome, SelectionCursor, SelectionStep, TrashedImage, Viewer};

use crate::{
    Photo, Seed,
    queries::{delete, id_strings, is_missing, second, timeline},
};

async fn page(seed: &Seed, viewer: Viewer, max: u32) -> Vec<TrashedImage> {
    let mut all: Vec<TrashedImage> = Vec::new();
    loop {
        let after = all.last().map(|image| &image.id);
        let page = seed.store().page_trash(viewer.account, after, max).await.unwrap();
        if page.is_empty() {
            return all;
        }
        assert!(page.len() <= usize::try_from(max).unwrap());
        all.extend(page);
    }
}

fn ids_of(trash: &[TrashedImage]) -> Vec<ImageId> {
    trash.iter().map(|image| image.id.clone()).collect()
}

pub(crate) async fn the_trash_is_paged_newest_deletion_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photos = (0..6).map(|at| Photo::at_second(at).file_name("sea.jpg")).collect();
    let ids = seed.images(ann.account, photos).await;
    let bens = seed.image(ben.account, Photo::at_second(1)).await;
    delete(seed, ben, &bens, second(11)).await;
    for (image, at) in [(3, 10), (0, 12), (1, 11), (5, 11)] {
        delete(seed, ann, &ids[image], second(at)).await;
    }
    let expected = [0, 5, 1, 3].map(|image| ids[image].clone());
    for max in [1, 3, 9] {
        assert_eq!(ids_of(&page(seed, ann, max).await), expected);
    }
    assert_eq!(seed.store().count_trash(ann.account).await.unwrap(), 4);
    let first = page(seed, ann, 9).await.remove(0);
    assert_eq!((first.file_name.as_deref(), first.deleted_at), (Some("sea.jpg"), second(12)));
    assert_eq!(first.image.unwrap().captured_at, second(0));
}

pub(crate) async fn only_the_owner_gets_renditions_of_deleted_images(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    let source = async |viewer: Viewer| {
        seed.store().trashed_rendition(viewer.account, &id, Rendition::Thumb).await.unwrap()
    };
    let before = seed.store().rendition(&id, Rendition::Thumb, 5).await.unwrap();
    assert_eq!(source(ann).await, None, "it is not deleted");
    delete(seed, ann, &id, second(2)).await;
    assert_eq!(source(ann).await, before);
    assert!(before.unwrap().stored.is_some());
    assert_eq!(source(ben).await, None);
    seed.store().delete_account(ann.account, second(3)).await.unwrap();
    assert_eq!(source(ann).await, None);
    assert_eq!(page(seed, ann, 9).await, []);
}

pub(crate) async fn the_trash_is_emptied_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..7).map(Photo::at_second).collect()).await;
    for (id, at) in ids.iter().zip([10, 10, 10, 20, 30, 40]) {
        delete(seed, ann, id, second(at)).await;
    }
    let chosen =
        Selection::new(id_strings(&[ids[4].clone(), ids[6].clone()]), Vec::new(), Vec::new()).unwrap();
    let cursor = SelectionCursor::default();
    let step = seed.store().purge_selection(ann.account, &chosen, cursor, 9).await.unwrap();
    assert_eq!(step, SelectionStep { changed: 1, next: None }, "one is not deleted");
    for expected in [2, 2, 0] {
        assert_eq!(seed.store().empty_trash(ann.account, second(20), 2).await.unwrap(), expected);
    }
    assert_eq!(ids_of(&page(seed, ann, 9).await), [ids[5].clone()]);
    assert!(is_missing(seed, ann, &ids[0]).await);
    assert_eq!(timeline(seed, ann).await, [ids[6].clone()]);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
}

pub(crate) async fn a_purged_photo_can_be_added_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let photo = Photo::at_second(1).original(original);
    let id = seed.image(ann.account, photo.clone()).await;
    delete(seed, ann, &id, second(2)).await;
    seed.store().empty_trash(ann.account, second(2), 9).await.unwrap();
    seed.announce(&[crate::original_blob(&original)]).await;
    let added = seed.store().add_image(seed.new_image(ann.account, &photo)).await.unwrap();
    assert_eq!(added, AddOutcome::Added);
}
