use domain::{Plan, Rendition};
use storage::{RenditionSource, StoredRendition};

use crate::{
    DECODERS, NOW, ORIGINAL_BYTES, Photo, Seed, indexed,
    queries::{delete, second},
    rendition_blob,
};

async fn source(seed: &Seed, id: &domain::ImageId, rendition: Rendition) -> Option<RenditionSource> {
    seed.store().rendition(id, rendition, 5).await.unwrap()
}

pub(crate) async fn renditions_of_indexing_are_stored(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let size = Photo::at(NOW).size;
    let made: Vec<_> = Rendition::displayable().map(|rendition| seed.rendition(rendition, size)).collect();
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original).renditions(&made)).await;
    for stored in made {
        let expected = RenditionSource {
            owner: ann.account,
            original,
            original_bytes: ORIGINAL_BYTES,
            picture_version: DECODERS,
            stored: Some(stored),
        };
        assert_eq!(source(seed, &id, stored.rendition).await, Some(expected));
    }
    let full = source(seed, &id, Rendition::Full).await.unwrap();
    assert_eq!((full.original, full.stored), (original, None));
}

pub(crate) async fn invisible_images_have_no_renditions(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let waiting = seed.waiting(ann.account, 1).await.remove(0);
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    for unseen in [&waiting, &seed.image_id()] {
        assert_eq!(source(seed, unseen, Rendition::Thumb).await, None);
    }
    delete(seed, ann, &id, second(2)).await;
    assert_eq!(source(seed, &id, Rendition::Thumb).await, None);
    seed.store().restore_image(ann.account, &id).await.unwrap();
    assert!(source(seed, &id, Rendition::Thumb).await.is_some());
    seed.store().delete_account(ann.account, second(3)).await.unwrap();
    assert_eq!(source(seed, &id, Rendition::Thumb).await, None);
}

pub(crate) async fn a_rendition_can_be_added_later(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1).original(seed.hash());
    let original = photo.original.unwrap();
    let photo = photo.clone().renditions(&[seed.rendition(Rendition::Thumb, photo.size)]);
    let anns = seed.image(ann.account, photo.clone()).await;
    let full = seed.rendition(Rendition::Full, photo.size);
    assert!(!seed.store().add_rendition(&original, full).await.unwrap(), "it was not announced");
    seed.announce(&[rendition_blob(&full)]).await;
    assert!(seed.store().add_rendition(&original, full).await.unwrap());
    assert_eq!(source(seed, &anns, Rendition::Full).await.unwrap().stored, Some(full));
    let taken = seed.store().take_unreferenced_blobs(second(9000), second(9000), 10).await.unwrap();
    assert_eq!(taken, [], "it is kept");
    let bens = seed.image(ben.account, photo).await;
    assert_eq!(
        source(seed, &bens, Rendition::Full).await.unwrap().stored,
        Some(full),
        "images of the same original share it"
    );
}

pub(crate) async fn an_existing_rendition_stays(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1).original(seed.hash());
    let original = photo.original.unwrap();
    let id = seed.image(ann.account, photo.clone()).await;
    let first: StoredRendition = source(seed, &id, Rendition::Thumb).await.unwrap().stored.unwrap();
    let other = seed.rendition(Rendition::Thumb, photo.size);
    seed.announce(&[rendition_blob(&other)]).await;
    assert!(seed.store().add_rendition(&original, other).await.unwrap());
    assert_eq!(source(seed, &id, Rendition::Thumb).await.unwrap().stored, Some(first));
    let taken = seed.store().take_unreferenced_blobs(second(9000), second(9000), 10).await.unwrap();
    assert_eq!(taken, [rendition_blob(&other)], "the blob of the second is not referenced");
}

pub(crate) async fn a_rendition_needs_its_original_and_its_blob(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let full = seed.rendition(Rendition::Full, Photo::at(NOW).size);
    seed.announce(&[rendition_blob(&full)]).await;
    assert!(!seed.store().add_rendition(&seed.hash(), full).await.unwrap(), "no image has this original");
    let photo = Photo::at_second(1).original(seed.hash());
    let original = photo.original.unwrap();
    seed.image(ann.account, photo).await;
    seed.store().take_unreferenced_blobs(second(9000), second(9000), 10).await.unwrap();
    assert!(!seed.store().add_rendition(&original, full).await.unwrap(), "its blob is being removed");
}

pub(crate) async fn new_renditions_replace_older_ones(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1).original(seed.hash());
    let older = [seed.rendition(Rendition::Thumb, photo.size)];
    let newer = [seed.rendition(Rendition::Thumb, photo.size)];
    let anns = seed.image(ann.account, photo.clone().renditions(&older)).await;
    let full = seed.rendition(Rendition::Full, photo.size);
    seed.announce(&[rendition_blob(&newer[0]), rendition_blob(&full)]).await;
    assert!(seed.store().add_rendition(&photo.original.unwrap(), full).await.unwrap());
    let image = seed.new_image(ben.account, &photo);
    seed.store().add_image(image).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    assert!(seed.store().complete_job(job.id, "w", indexed(&photo.renditions(&newer))).await.unwrap());
    assert_eq!(source(seed, &anns, Rendition::Thumb).await.unwrap().stored, Some(newer[0]));
    assert_eq!(source(seed, &anns, Rendition::Full).await.unwrap().stored, None, "it may show another turn");
    let taken = seed.store().take_unreferenced_blobs(NOW, second(1), 10).await.unwrap();
    let released = [&older[0], &full].map(rendition_blob);
    assert!(taken.len() == 2 && released.iter().all(|blob| taken.contains(blob)), "{taken:?}");
}
