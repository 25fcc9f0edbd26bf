use domain::{Plan, Sidecar, SidecarKind};
use storage::{AddOutcome, ExistingImage, ImageState, NewImage, QueueLength, Viewer};

use crate::{
    DECODERS, NOW, Photo, Seed,
    cases::queue::{ready_to_complete, state},
    original_blob,
    queries::{delete, is_missing, second, visible_image},
};

fn xmp(content: &str) -> Sidecar {
    Sidecar { kind: SidecarKind::Xmp, content: content.as_bytes().to_vec() }
}

fn takeout(content: &str) -> Sidecar {
    Sidecar { kind: SidecarKind::Takeout, content: content.as_bytes().to_vec() }
}

/// A request to add a new image with sidecars; its original is announced.
async fn new_with(seed: &Seed, viewer: Viewer, sidecars: &[Sidecar]) -> NewImage {
    let original = seed.hash();
    seed.announce(&[original_blob(&original)]).await;
    let photo = Photo::at_second(1).original(original);
    NewImage { sidecars: sidecars.to_vec(), ..seed.new_image(viewer.account, &photo) }
}

/// Adds the same original again with these sidecars.
async fn add_again(seed: &Seed, image: &NewImage, sidecars: &[Sidecar]) -> AddOutcome {
    let again = NewImage { id: seed.image_id(), sidecars: sidecars.to_vec(), ..image.clone() };
    seed.store().add_image(again).await.unwrap()
}

/// Adds and indexes an image with these sidecars.
async fn ready_with(seed: &Seed, viewer: Viewer, sidecars: &[Sidecar]) -> NewImage {
    let image = new_with(seed, viewer, sidecars).await;
    assert_eq!(seed.store().add_image(image.clone()).await.unwrap(), AddOutcome::Added);
    complete(seed, &image, Photo::at_second(1)).await;
    image
}

/// Indexes the image, whose job must be the next.
async fn complete(seed: &Seed, image: &NewImage, photo: Photo) {
    let job = seed.lease("completer", NOW).await.remove(0);
    assert_eq!(job.image, image.id);
    let indexed = ready_to_complete(seed, photo).await;
    assert!(seed.store().complete_job(job.id, "completer", indexed).await.unwrap());
}

fn known(image: &NewImage, state: ImageState) -> ExistingImage {
    ExistingImage { id: image.id.clone(), state, deleted: false }
}

/// Leases the only job and returns its sidecars.
async fn leased(seed: &Seed) -> Vec<Sidecar> {
    let mut jobs = seed.lease("reader", second(1)).await;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0).file.sidecars
}

pub(crate) async fn sidecars_come_with_the_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for sidecars in [vec![], vec![takeout("t")], vec![takeout("{}"), xmp("<x/>")]] {
        let image = new_with(seed, ann, &sidecars).await;
        seed.store().add_image(image).await.unwrap();
    }
    let jobs = seed.lease("w", NOW).await;
    let listed: Vec<_> = jobs.into_iter().map(|job| job.file.sidecars).collect();
    assert_eq!(listed, [vec![], vec![takeout("t")], vec![xmp("<x/>"), takeout("{}")]], "in order of kind");
}

pub(crate) async fn the_last_sidecar_of_a_kind_counts(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let both = [xmp("one"), takeout("{}"), xmp("other")];
    let image = ready_with(seed, ann, &both).await;
    assert_eq!(add_again(seed, &image, &both).await, AddOutcome::Duplicate(known(&image, ImageState::Ready)));
    add_again(seed, &image, &[xmp("third")]).await;
    assert_eq!(leased(seed).await, [xmp("third"), takeout("{}")]);
}

pub(crate) async fn a_sidecar_may_be_long_or_empty(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let long = Sidecar { kind: SidecarKind::Xmp, content: (0..=255).cycle().take(1 << 20).collect() };
    let sidecars = [long, takeout("")];
    let image = new_with(seed, ann, &sidecars).await;
    seed.store().add_image(image.clone()).await.unwrap();
    assert_eq!(leased(seed).await, sidecars);
    let outcome = add_again(seed, &image, &sidecars).await;
    assert_eq!(outcome, AddOutcome::Duplicate(known(&image, ImageState::Pending)));
}

pub(crate) async fn a_known_sidecar_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a"), takeout("b")]).await;
    let before = visible_image(seed, ann, &image.id).await;
    for sidecars in [vec![], vec![xmp("a")], vec![takeout("b")], vec![takeout("b"), xmp("a")]] {
        let outcome = add_again(seed, &image, &sidecars).await;
        assert_eq!(outcome, AddOutcome::Duplicate(known(&image, ImageState::Ready)), "{sidecars:?}");
    }
    assert_eq!(seed.lease("w", second(9)).await, []);
    assert_eq!(visible_image(seed, ann, &image.id).await, before);
}

pub(crate) async fn a_new_sidecar_reindexes_a_visible_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for (first, then) in [(vec![], takeout("{}")), (vec![xmp("older")], xmp("newer"))] {
        let image = ready_with(seed, ann, &first).await;
        let before = visible_image(seed, ann, &image.id).await;
        let outcome = add_again(seed, &image, std::slice::from_ref(&then)).await;
        assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Ready)));
        assert_eq!(visible_image(seed, ann, &image.id).await, before);
        assert_eq!(state(seed, &image.id).await, ImageState::Ready);
        let length = seed.store().queue_length().await.unwrap();
        assert_eq!((length.pending, length.reindexes), (0, 1));
        let job = seed.lease("w", NOW).await.remove(0);
        assert_eq!((&job.image, job.attempts, job.file.sidecars), (&image.id, 1, vec![then]));
        assert_eq!(
            visible_image(seed, ann, &image.id).await,
            before,
            "it is visible unchanged during indexing"
        );
        let indexed = ready_to_complete(seed, Photo::at_second(9).description("from the sidecar")).await;
        assert!(seed.store().complete_job(job.id, "w", indexed).await.unwrap());
        let after = visible_image(seed, ann, &image.id).await;
        assert_eq!(after.details.description.as_deref(), Some("from the sidecar"));
        assert_eq!(seed.lease("w", second(9)).await, [], "once");
        assert_eq!(seed.store().queue_length().await.unwrap().reindexes, 0);
    }
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 2);
}

pub(crate) async fn a_sidecar_for_a_missing_kind_replaces_none(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let only_if_missing = |image: &NewImage, sidecars: &[Sidecar]| NewImage {
        id: seed.image_id(),
        sidecars: sidecars.to_vec(),
        sidecars_if_missing: vec![xmp("listed")],
        ..image.clone()
    };
    let image = new_with(seed, ann, &[]).await;
    let image = NewImage { sidecars_if_missing: vec![xmp("first")], ..image };
    assert_eq!(seed.store().add_image(image.clone()).await.unwrap(), AddOutcome::Added);
    let queued = seed.store().queued_images(std::slice::from_ref(&image.id)).await.unwrap();
    assert_eq!(queued, std::slice::from_ref(&image.id));
    complete(seed, &image, Photo::at_second(1)).await;
    let outcome = seed.store().add_image(only_if_missing(&image, &[])).await.unwrap();
    assert_eq!(outcome, AddOutcome::Duplicate(known(&image, ImageState::Ready)), "it has one");
    assert_eq!(seed.store().queued_images(std::slice::from_ref(&image.id)).await.unwrap(), []);
    // A sidecar of the same call counts as well.
    let outcome = seed.store().add_image(only_if_missing(&image, &[xmp("given")])).await.unwrap();
    assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Ready)));
    assert_eq!(leased(seed).await, [xmp("given")]);
    let other = ready_with(seed, ann, &[takeout("t")]).await;
    let outcome = seed.store().add_image(only_if_missing(&other, &[])).await.unwrap();
    assert_eq!(outcome, AddOutcome::Reindexed(known(&other, ImageState::Ready)));
    let queued = seed.store().queued_images(&[other.id.clone(), seed.image_id()]).await.unwrap();
    assert_eq!(queued, std::slice::from_ref(&other.id));
    delete(seed, ann, &other.id, second(9)).await;
    assert_eq!(seed.store().queued_images(&[other.id]).await.unwrap(), [], "deleted");
}

pub(crate) async fn a_missing_kind_keeps_its_sidecar(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    let outcome = add_again(seed, &image, &[takeout("b")]).await;
    assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Ready)));
    assert_eq!(leased(seed).await, [xmp("a"), takeout("b")]);
}

pub(crate) async fn a_sidecar_added_during_indexing_is_used(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    // First the image is pending, then ready; each time its worker has outdated sidecars.
    for (now, content) in [(ImageState::Pending, "first"), (ImageState::Ready, "second")] {
        let early = seed.lease("w", NOW).await.remove(0);
        let outcome = add_again(seed, &image, &[xmp(content)]).await;
        assert_eq!(outcome, AddOutcome::Reindexed(known(&image, now.clone())));
        let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
        assert!(!seed.store().complete_job(early.id, "w", indexed).await.unwrap());
        seed.store().fail_job(early.id, "w", "too late", DECODERS).await.unwrap();
        seed.store().retry_job(early.id, "w", second(99)).await.unwrap();
        assert_eq!(state(seed, &image.id).await, now);
        let late = seed.lease("w", NOW).await.remove(0);
        assert_eq!((late.file.sidecars.first(), late.attempts), (Some(&xmp(content)), 1));
        let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
        assert!(
            !seed.store().complete_job(early.id, "w", indexed).await.unwrap(),
            "the older job of the same worker"
        );
        let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
        assert!(seed.store().complete_job(late.id, "w", indexed).await.unwrap());
        add_again(seed, &image, &[takeout(content)]).await;
    }
    assert_eq!(leased(seed).await, [xmp("second"), takeout("second")]);
}

pub(crate) async fn a_sidecar_added_to_a_pending_image_is_used(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    let outcome = add_again(seed, &image, &[xmp("a")]).await;
    assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Pending)));
    assert!(is_missing(seed, ann, &image.id).await);
    let expected = QueueLength { pending: 1, oldest_pending: Some(NOW), ..QueueLength::default() };
    assert_eq!(seed.store().queue_length().await.unwrap(), expected, "there is one job");
    assert_eq!(leased(seed).await, [xmp("a")]);
}

pub(crate) async fn a_failed_image_is_retried_with_its_new_sidecar(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[xmp("a")]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(job.id, "w", "no picture in it", DECODERS).await.unwrap();
    assert_eq!(add_again(seed, &image, &[xmp("b")]).await, AddOutcome::Retried(image.id.clone()));
    assert_eq!(leased(seed).await, [xmp("b")]);
}

pub(crate) async fn a_restored_image_gets_its_new_sidecar(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    let restored = AddOutcome::Restored(known(&image, ImageState::Ready));
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(add_again(seed, &image, &[xmp("a")]).await, restored);
    assert_eq!(seed.lease("w", second(9)).await, [], "the sidecar is unchanged");
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(add_again(seed, &image, &[xmp("b")]).await, restored);
    visible_image(seed, ann, &image.id).await;
    assert_eq!(leased(seed).await, [xmp("b")]);
}

pub(crate) async fn accounts_have_separate_sidecars_for_one_original(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = ready_with(seed, ann, &[xmp("ann's")]).await;
    let bens = NewImage { id: seed.image_id(), account: ben.account, sidecars: vec![], ..anns.clone() };
    assert_eq!(seed.store().add_image(bens.clone()).await.unwrap(), AddOutcome::Added);
    assert_eq!(leased(seed).await, []);
    seed.store().abandon_leases("reader").await.unwrap();
    complete(seed, &bens, Photo::at_second(1)).await;
    add_again(seed, &bens, &[xmp("ben's")]).await;
    assert_eq!(leased(seed).await, [xmp("ben's")], "ann's image is not queued");
}

pub(crate) async fn an_original_has_the_sidecars_of_its_newest_image(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = ready_with(seed, ann, &[takeout("ann's"), xmp("ann's")]).await;
    let of_original = || async { seed.store().sidecars_of_original(&anns.original).await.unwrap() };
    assert_eq!(of_original().await, [xmp("ann's"), takeout("ann's")]);
    let bens =
        NewImage { id: seed.image_id(), account: ben.account, sidecars: vec![xmp("ben's")], ..anns.clone() };
    assert_eq!(seed.store().add_image(bens.clone()).await.unwrap(), AddOutcome::Added);
    complete(seed, &bens, Photo::at_second(1)).await;
    assert_eq!(of_original().await, [xmp("ben's")]);
    delete(seed, ben, &bens.id, second(5)).await;
    assert_eq!(of_original().await, [xmp("ann's"), takeout("ann's")]);
    assert_eq!(seed.store().sidecars_of_original(&seed.hash()).await.unwrap(), []);
}

pub(crate) async fn sidecars_are_purged_with_their_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    add_again(seed, &image, &[xmp("b")]).await;
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(seed.store().purge_images(second(6), 10).await.unwrap(), 1);
    assert_eq!(seed.store().queue_length().await.unwrap(), QueueLength::default());
    seed.announce(&[original_blob(&image.original)]).await;
    assert_eq!(add_again(seed, &image, &[]).await, AddOutcome::Added);
    assert_eq!(leased(seed).await, []);
}

pub(crate) async fn only_one_of_concurrent_equal_sidecars_is_new(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[]).await;
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let (seed, image) = (seed.clone(), image.clone());
            tokio::spawn(async move { add_again(&seed, &image, &[xmp("a")]).await })
        })
        .collect();
    let mut reindexed = 0;
    for task in tasks {
        reindexed += u32::from(matches!(task.await.unwrap(), AddOutcome::Reindexed(_)));
    }
    assert_eq!(reindexed, 1);
    assert_eq!(leased(seed).await, [xmp("a")]);
}
