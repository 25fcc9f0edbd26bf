use domain::{Plan, Sidecar, SidecarKind};
use storage::{AddOutcome, ExistingImage, ImageState, NewImage, QueueLength, Viewer};

use crate::{
    DECODERS, NOW, Photo, Seed,
    cases::queue::{ready_to_complete, state},
    look::{delete, is_missing, second, see},
    original_blob,
};

fn xmp(content: &str) -> Sidecar {
    Sidecar { kind: SidecarKind::Xmp, content: content.as_bytes().to_vec() }
}

fn takeout(content: &str) -> Sidecar {
    Sidecar { kind: SidecarKind::Takeout, content: content.as_bytes().to_vec() }
}

/// What adds a new image with sidecars; its original is announced.
async fn new_with(seed: &Seed, viewer: Viewer, sidecars: &[Sidecar]) -> NewImage {
    let original = seed.hash();
    seed.announce(&[original_blob(&original)]).await;
    let photo = Photo::at_second(1).original(original);
    NewImage { sidecars: sidecars.to_vec(), ..seed.new_image(viewer.account, &photo) }
}

/// The same bytes, brought once more with these sidecars.
async fn bring_again(seed: &Seed, image: &NewImage, sidecars: &[Sidecar]) -> AddOutcome {
    let again = NewImage { id: seed.image_id(), sidecars: sidecars.to_vec(), ..image.clone() };
    seed.store().add_image(again).await.unwrap()
}

/// An image that is ready, with these sidecars.
async fn ready_with(seed: &Seed, viewer: Viewer, sidecars: &[Sidecar]) -> NewImage {
    let image = new_with(seed, viewer, sidecars).await;
    assert_eq!(seed.store().add_image(image.clone()).await.unwrap(), AddOutcome::Added);
    complete(seed, &image, Photo::at_second(1)).await;
    image
}

/// Indexes the image whose job comes next.
async fn complete(seed: &Seed, image: &NewImage, photo: Photo) {
    let job = seed.lease("completer", NOW).await.remove(0);
    assert_eq!(job.image, image.id);
    let indexed = ready_to_complete(seed, photo).await;
    assert!(seed.store().complete_job(job.id, "completer", indexed).await.unwrap());
}

fn known(image: &NewImage, state: ImageState) -> ExistingImage {
    ExistingImage { id: image.id.clone(), state, deleted: false }
}

/// The sidecars of the only job that is free.
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
    let told: Vec<_> = jobs.into_iter().map(|job| job.file.sidecars).collect();
    assert_eq!(told, [vec![], vec![takeout("t")], vec![xmp("<x/>"), takeout("{}")]], "each one's by kind");
}

pub(crate) async fn of_two_of_a_kind_the_last_counts(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let both = [xmp("one"), takeout("{}"), xmp("other")];
    let image = ready_with(seed, ann, &both).await;
    assert_eq!(
        bring_again(seed, &image, &both).await,
        AddOutcome::Duplicate(known(&image, ImageState::Ready))
    );
    bring_again(seed, &image, &[xmp("third")]).await;
    assert_eq!(leased(seed).await, [xmp("third"), takeout("{}")]);
}

pub(crate) async fn a_sidecar_may_be_long_or_empty(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let long = Sidecar { kind: SidecarKind::Xmp, content: (0..=255).cycle().take(1 << 20).collect() };
    let sidecars = [long, takeout("")];
    let image = new_with(seed, ann, &sidecars).await;
    seed.store().add_image(image.clone()).await.unwrap();
    assert_eq!(leased(seed).await, sidecars);
    let outcome = bring_again(seed, &image, &sidecars).await;
    assert_eq!(outcome, AddOutcome::Duplicate(known(&image, ImageState::Pending)));
}

pub(crate) async fn a_sidecar_that_is_known_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a"), takeout("b")]).await;
    let before = see(seed, ann, &image.id).await;
    for sidecars in [vec![], vec![xmp("a")], vec![takeout("b")], vec![takeout("b"), xmp("a")]] {
        let outcome = bring_again(seed, &image, &sidecars).await;
        assert_eq!(outcome, AddOutcome::Duplicate(known(&image, ImageState::Ready)), "{sidecars:?}");
    }
    assert_eq!(seed.lease("w", second(9)).await, []);
    assert_eq!(see(seed, ann, &image.id).await, before);
}

pub(crate) async fn a_new_sidecar_has_an_image_indexed_again_while_it_is_seen(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for (first, then) in [(vec![], takeout("{}")), (vec![xmp("older")], xmp("newer"))] {
        let image = ready_with(seed, ann, &first).await;
        let before = see(seed, ann, &image.id).await;
        let outcome = bring_again(seed, &image, std::slice::from_ref(&then)).await;
        assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Ready)));
        assert_eq!(see(seed, ann, &image.id).await, before);
        assert_eq!(state(seed, &image.id).await, ImageState::Ready);
        let length = seed.store().queue_length().await.unwrap();
        assert_eq!((length.pending, length.reindexes), (0, 1));
        let job = seed.lease("w", NOW).await.remove(0);
        assert_eq!((&job.image, job.attempts, job.file.sidecars), (&image.id, 1, vec![then]));
        assert_eq!(see(seed, ann, &image.id).await, before, "it is being indexed");
        let indexed = ready_to_complete(seed, Photo::at_second(9).description("told beside it")).await;
        assert!(seed.store().complete_job(job.id, "w", indexed).await.unwrap());
        let after = see(seed, ann, &image.id).await;
        assert_eq!(after.details.description.as_deref(), Some("told beside it"));
        assert_eq!(seed.lease("w", second(9)).await, [], "once");
        assert_eq!(seed.store().queue_length().await.unwrap().reindexes, 0);
    }
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 2);
}

pub(crate) async fn a_kind_that_does_not_come_again_stays(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    let outcome = bring_again(seed, &image, &[takeout("b")]).await;
    assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Ready)));
    assert_eq!(leased(seed).await, [xmp("a"), takeout("b")]);
}

pub(crate) async fn a_sidecar_that_comes_while_its_image_is_indexed_is_not_missed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    // At first the image is not seen, then it is: what its worker knows is out of date both times.
    for (now, content) in [(ImageState::Pending, "first"), (ImageState::Ready, "second")] {
        let early = seed.lease("w", NOW).await.remove(0);
        let outcome = bring_again(seed, &image, &[xmp(content)]).await;
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
            "the same worker's older job"
        );
        let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
        assert!(seed.store().complete_job(late.id, "w", indexed).await.unwrap());
        bring_again(seed, &image, &[takeout(content)]).await;
    }
    assert_eq!(leased(seed).await, [xmp("second"), takeout("second")]);
}

pub(crate) async fn a_sidecar_that_comes_while_its_image_waits_is_read_with_it(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    let outcome = bring_again(seed, &image, &[xmp("a")]).await;
    assert_eq!(outcome, AddOutcome::Reindexed(known(&image, ImageState::Pending)));
    assert!(is_missing(seed, ann, &image.id).await);
    let expected = QueueLength { pending: 1, ..QueueLength::default() };
    assert_eq!(seed.store().queue_length().await.unwrap(), expected, "it is one job");
    assert_eq!(leased(seed).await, [xmp("a")]);
}

pub(crate) async fn a_failed_image_is_tried_again_with_its_new_sidecar(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = new_with(seed, ann, &[xmp("a")]).await;
    seed.store().add_image(image.clone()).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(job.id, "w", "no picture in it", DECODERS).await.unwrap();
    assert_eq!(bring_again(seed, &image, &[xmp("b")]).await, AddOutcome::Retried(image.id.clone()));
    assert_eq!(leased(seed).await, [xmp("b")]);
}

pub(crate) async fn deleted_bytes_that_come_again_bring_their_sidecar(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    let restored = AddOutcome::Restored(known(&image, ImageState::Ready));
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(bring_again(seed, &image, &[xmp("a")]).await, restored);
    assert_eq!(seed.lease("w", second(9)).await, [], "it says nothing new");
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(bring_again(seed, &image, &[xmp("b")]).await, restored);
    see(seed, ann, &image.id).await;
    assert_eq!(leased(seed).await, [xmp("b")]);
}

pub(crate) async fn the_same_bytes_of_another_account_have_sidecars_of_their_own(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = ready_with(seed, ann, &[xmp("ann's")]).await;
    let bens = NewImage { id: seed.image_id(), account: ben.account, sidecars: vec![], ..anns.clone() };
    assert_eq!(seed.store().add_image(bens.clone()).await.unwrap(), AddOutcome::Added);
    assert_eq!(leased(seed).await, []);
    seed.store().release_all_leases().await.unwrap();
    complete(seed, &bens, Photo::at_second(1)).await;
    bring_again(seed, &bens, &[xmp("ben's")]).await;
    assert_eq!(leased(seed).await, [xmp("ben's")], "and ann's image is left alone");
}

pub(crate) async fn sidecars_go_with_their_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[xmp("a")]).await;
    bring_again(seed, &image, &[xmp("b")]).await;
    delete(seed, ann, &image.id, second(5)).await;
    assert_eq!(seed.store().purge_images(second(6), 10).await.unwrap(), 1);
    assert_eq!(seed.store().queue_length().await.unwrap(), QueueLength::default());
    seed.announce(&[original_blob(&image.original)]).await;
    assert_eq!(bring_again(seed, &image, &[]).await, AddOutcome::Added);
    assert_eq!(leased(seed).await, []);
}

pub(crate) async fn of_equal_sidecars_at_once_one_is_new(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let image = ready_with(seed, ann, &[]).await;
    let bringing: Vec<_> = (0..16)
        .map(|_| {
            let (seed, image) = (seed.clone(), image.clone());
            tokio::spawn(async move { bring_again(&seed, &image, &[xmp("a")]).await })
        })
        .collect();
    let mut refreshed = 0;
    for task in bringing {
        refreshed += u32::from(matches!(task.await.unwrap(), AddOutcome::Reindexed(_)));
    }
    assert_eq!(refreshed, 1);
    assert_eq!(leased(seed).await, [xmp("a")]);
}
