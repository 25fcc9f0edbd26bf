use domain::{AccountId, Plan};
use storage::{AddOutcome, ExistingImage, ImageState, NewImage, Viewer};

use crate::{
    DECODERS, NOW, Photo, Seed, original_blob,
    queries::{delete, second, timeline, visible_image},
};

/// Adds an image, which is then pending; returns the request that added it.
async fn added(seed: &Seed, viewer: Viewer) -> NewImage {
    let photo = Photo::at_second(1).original(seed.hash());
    let image = seed.new_image(viewer.account, &photo);
    seed.announce(&[original_blob(&image.original)]).await;
    assert_eq!(seed.store().add_image(image.clone()).await.unwrap(), AddOutcome::Added);
    image
}

/// A request to add the same original again, with a new id.
fn again(seed: &Seed, image: &NewImage) -> NewImage {
    NewImage { id: seed.image_id(), ..image.clone() }
}

async fn known(seed: &Seed, image: &NewImage) -> Option<ExistingImage> {
    seed.store().image_by_original(image.account, &image.original).await.unwrap()
}

async fn fail(seed: &Seed, image: &NewImage) {
    let job = seed.lease("failer", NOW).await.into_iter().find(|job| job.image == image.id).unwrap();
    seed.store().fail_job(job.id, "failer", "no picture in it", DECODERS).await.unwrap();
}

pub(crate) async fn a_new_image_is_pending_and_invisible(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = added(seed, ann).await;
    let expected = ExistingImage { id: image.id.clone(), state: ImageState::Pending, deleted: false };
    assert_eq!(known(seed, &image).await, Some(expected));
    assert_eq!(timeline(seed, ann).await, []);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 0);
}

pub(crate) async fn an_image_needs_an_announced_original(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = seed.new_image(ann.account, &Photo::at_second(1));
    assert_eq!(seed.store().add_image(image.clone()).await.unwrap(), AddOutcome::OriginalGone);
    assert_eq!(known(seed, &image).await, None);
}

pub(crate) async fn a_deleted_account_gets_no_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = added(seed, ann).await;
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    assert_eq!(seed.store().add_image(again(seed, &image)).await.unwrap(), AddOutcome::AccountGone);
    assert_eq!(known(seed, &image).await, None);
    let nobody = NewImage { account: AccountId(9_999_999), ..again(seed, &image) };
    assert_eq!(seed.store().add_image(nobody).await.unwrap(), AddOutcome::AccountGone);
}

pub(crate) async fn the_same_bytes_are_one_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let waiting = added(seed, ann).await;
    let AddOutcome::Duplicate(existing) = seed.store().add_image(again(seed, &waiting)).await.unwrap() else {
        panic!("a second image was added");
    };
    assert_eq!((existing.id, existing.state), (waiting.id, ImageState::Pending));

    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(2).original(original)).await;
    let image = seed.new_image(ann.account, &Photo::at_second(9).original(original));
    let AddOutcome::Duplicate(existing) = seed.store().add_image(image).await.unwrap() else {
        panic!("a second image was added");
    };
    assert_eq!((&existing.id, existing.state, existing.deleted), (&id, ImageState::Ready, false));
    assert_eq!(timeline(seed, ann).await, [id]);
}

pub(crate) async fn two_accounts_can_have_the_same_bytes(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = Photo::at_second(1).original(seed.hash());
    let anns = seed.image(ann.account, photo.clone()).await;
    let bens = seed.image(ben.account, photo).await;
    assert_eq!(timeline(seed, ann).await, [anns]);
    assert_eq!(timeline(seed, ben).await, [bens]);
}

pub(crate) async fn importing_a_deleted_image_again_restores_it(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    let id = seed.image(ann.account, Photo::at_second(1).original(original)).await;
    let before = visible_image(seed, ann, &id).await;
    delete(seed, ann, &id, second(5)).await;
    let image = seed.new_image(ann.account, &Photo::at_second(9).original(original));
    let known = seed.store().image_by_original(ann.account, &original).await.unwrap().unwrap();
    assert!(known.deleted);
    let outcome = seed.store().add_image(image).await.unwrap();
    let expected = ExistingImage { id: id.clone(), state: ImageState::Ready, deleted: false };
    assert_eq!(outcome, AddOutcome::Restored(expected));
    assert_eq!(visible_image(seed, ann, &id).await, before);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
}

pub(crate) async fn importing_a_failed_image_again_retries_it(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = added(seed, ann).await;
    fail(seed, &image).await;
    let failed = ImageState::Failed { reason: "no picture in it".to_owned(), decoder_version: DECODERS };
    assert_eq!(known(seed, &image).await.unwrap().state, failed);
    assert_eq!(seed.lease("w", second(9)).await, []);
    let outcome = seed.store().add_image(again(seed, &image)).await.unwrap();
    assert_eq!(outcome, AddOutcome::Retried(image.id.clone()));
    assert_eq!(known(seed, &image).await.unwrap().state, ImageState::Pending);
    let jobs = seed.lease("w", second(9)).await;
    assert_eq!((&jobs[0].image, jobs[0].attempts), (&image.id, 1));
}

pub(crate) async fn states_of_images_are_returned(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let failed = added(seed, ann).await;
    fail(seed, &failed).await;
    let ready = seed.image(ann.account, Photo::at_second(1)).await;
    let pending = added(seed, ann).await;
    let ids = [seed.image_id(), pending.id.clone(), ready.clone(), failed.id.clone()];
    let states = seed.store().image_states(&ids).await.unwrap();
    let state = |id| states.iter().find(|(of, _)| of == id).map(|(_, state)| state.clone());
    assert_eq!(states.len(), 3, "the unknown id is left out");
    assert_eq!(state(&pending.id), Some(ImageState::Pending));
    assert_eq!(state(&ready), Some(ImageState::Ready));
    assert!(matches!(state(&failed.id), Some(ImageState::Failed { .. })));
}

pub(crate) async fn known_originals_are_neither_deleted_nor_failed(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (pending, failed, foreign) = (added(seed, ann).await, added(seed, ann).await, added(seed, ben).await);
    fail(seed, &failed).await;
    let (ready, deleted) = (seed.hash(), seed.hash());
    seed.image(ann.account, Photo::at_second(1).original(ready)).await;
    let gone = seed.image(ann.account, Photo::at_second(2).original(deleted)).await;
    delete(seed, ann, &gone, second(5)).await;
    let asked = [ready, seed.hash(), deleted, pending.original, failed.original, foreign.original, ready];
    let mut known = seed.store().known_originals(ann.account, &asked).await.unwrap();
    known.sort();
    let mut expected = [ready, pending.original];
    expected.sort();
    assert_eq!(known, expected);
    assert_eq!(seed.store().known_originals(ann.account, &[]).await.unwrap(), []);
    seed.store().delete_account(ann.account, second(6)).await.unwrap();
    assert_eq!(seed.store().known_originals(ann.account, &asked).await.unwrap(), []);
}
