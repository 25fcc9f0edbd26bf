use domain::{
    AlbumId, Filter, Image, ImageId, Marks, PhotoDetails, Plan, Rendition, Sidecar, SidecarKind, Thumbhash,
    UtcOffset,
};
use storage::{
    AddOutcome, ExistingImage, ImageState, IndexJob, IndexedImage, LeaseRequest, QueueLength, Viewer,
};

use crate::{
    DECODERS, NOW, ORIGINAL_BYTES, Photo, Seed,
    cases::queue::{ready_to_complete, state},
    indexed, lease,
    queries::{circle, delete, filtered, is_missing, matching, second, timeline, visible_image},
};

/// An image that was decoded by [`DECODERS`].
async fn ready(seed: &Seed, viewer: Viewer, photo: Photo) -> ImageId {
    seed.image(viewer.account, photo).await
}

/// Queues images for newer decoders and leases the job of this one.
pub(super) async fn outdated_job(seed: &Seed, worker: &str, id: &ImageId) -> IndexJob {
    seed.store().requeue_outdated(DECODERS + 1, NOW, 1000).await.unwrap();
    let job = seed.lease(worker, NOW).await.into_iter().find(|job| job.image == *id);
    job.unwrap_or_else(|| panic!("{id} was not queued again"))
}

/// The result of indexing a photo with newer decoders, without renditions.
pub(super) fn reindexed(photo: &Photo) -> IndexedImage {
    IndexedImage { decoder_version: DECODERS + 1, renditions: Vec::new(), ..indexed(photo) }
}

/// Indexes an image again with the data of the photo.
async fn reindex(seed: &Seed, id: &ImageId, photo: &Photo) {
    let job = outdated_job(seed, "w", id).await;
    // Other images that were queued with it stay outdated.
    let found = IndexedImage { decoder_version: DECODERS, ..reindexed(photo) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    seed.store().release_leases("w").await.unwrap();
}

pub(crate) async fn metadata_is_replaced_and_ocr_text_kept(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let older = Photo::at_second(1)
        .position(10.0, 20.0)
        .place("Here, Nowhere")
        .description("a harbour")
        .text("STOP")
        .file_name("a.jpg");
    let id = ready(seed, ann, older.clone()).await;
    let newer = Photo::at_second(5).position(-30.0, 40.0).description("a lighthouse").place("There, Nowhere");
    let job = outdated_job(seed, "w", &id).await;
    let mut found = IndexedImage { decoder_version: DECODERS, ..reindexed(&newer) };
    let details = PhotoDetails {
        camera_make: None,
        camera_model: Some("Other 2".to_owned()),
        ..found.metadata.details
    };
    found.metadata.details = details.clone();
    found.metadata.capture.offset_minutes = Some(345);
    found.thumbhash = Thumbhash::new(vec![7; 21]);
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    let expected = Image {
        id: id.clone(),
        captured_at: second(5),
        utc_offset: UtcOffset::from_minutes(345),
        added_at: NOW,
        size: newer.size,
        details,
        marks: Marks::default(),
        place: Some("There, Nowhere".to_owned()),
        text: Some("STOP".to_owned()),
        file_name: Some("a.jpg".to_owned()),
        file_bytes: ORIGINAL_BYTES,
        picture_version: DECODERS,
        thumbhash: Thumbhash::new(vec![7; 21]),
    };
    assert_eq!(visible_image(seed, ann, &id).await, expected);
    for (word, finds) in [
        ("harbour", false),
        ("stop", true),
        ("here", false),
        ("lighthouse", true),
        ("there", true),
        ("a.jpg", true),
    ] {
        assert_eq!(!matching(seed, ann, &[word]).await.is_empty(), finds, "{word}");
    }
    for (place, finds) in [(circle(10.0, 20.0, 1000.0), false), (circle(-30.0, 40.0, 1000.0), true)] {
        let filter = Filter { circle: Some(place), ..Filter::default() };
        assert_eq!(!filtered(seed, ann, filter).await.is_empty(), finds, "{place:?}");
    }
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
    // A position can be removed and added again.
    for (photo, finds) in [(Photo::at_second(5), 0), (older, 1)] {
        reindex(seed, &id, &photo).await;
        let filter = Filter { circle: Some(circle(10.0, 20.0, 10.0)), ..Filter::default() };
        assert_eq!(filtered(seed, ann, filter).await.len(), finds);
        assert_eq!(matching(seed, ann, &["harbour"]).await.len(), finds);
    }
}

pub(crate) async fn renditions_not_made_again_stay(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1);
    let made = [Rendition::Medium, Rendition::Thumb].map(|rendition| seed.rendition(rendition, photo.size));
    let id = ready(seed, ann, photo.clone().renditions(&made)).await;
    reindex(seed, &id, &photo).await;
    let stored = async |rendition| seed.store().rendition(&id, rendition, 5).await.unwrap().unwrap().stored;
    assert_eq!(stored(Rendition::Medium).await, Some(made[0]));
    assert_eq!(stored(Rendition::Thumb).await, Some(made[1]));
    let new = seed.rendition(Rendition::Thumb, photo.size);
    seed.announce(&[crate::rendition_blob(&new)]).await;
    let job = outdated_job(seed, "w", &id).await;
    let found = IndexedImage { renditions: vec![new], ..reindexed(&photo) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert_eq!(stored(Rendition::Medium).await, Some(made[0]));
    assert_eq!(stored(Rendition::Thumb).await, Some(new));
    let taken = seed.store().take_unreferenced_blobs(NOW, second(1), 10).await.unwrap();
    assert_eq!(taken, [crate::rendition_blob(&made[1])]);
}

pub(crate) async fn the_decoded_picture_is_returned_with_the_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.waiting(ann.account, 1).await.remove(0);
    let job = seed.lease("w", NOW).await.remove(0);
    assert_eq!(job.picture, None, "a new image has no decoded picture");
    let mut first = ready_to_complete(seed, Photo::at_second(1).text("STOP")).await;
    first.damaged = Some("its end is missing".to_owned());
    assert!(seed.store().complete_job(job.id, "w", first.clone()).await.unwrap());
    let picture = outdated_job(seed, "w", &id).await.picture.unwrap();
    assert_eq!((picture.size, picture.decoder_version), (first.size, DECODERS));
    assert_eq!(picture.damaged, first.damaged);
}

pub(crate) async fn an_unchanged_capture_time_is_kept(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at_second(1); 4]).await;
    delete(seed, ann, &ids[0], second(5)).await;
    seed.store().purge_images(second(6), 10).await.unwrap();
    for (id, moved_ms) in ids.iter().zip(0..).skip(1) {
        reindex(seed, id, &Photo::at_second(1)).await;
        let expected = second(1).plus_millis(moved_ms);
        assert_eq!(
            visible_image(seed, ann, id).await.captured_at,
            expected,
            "although an earlier time is free now"
        );
    }
}

pub(crate) async fn a_changed_capture_time_moves_to_a_free_one(seed: &Seed) {
    let at = |ms: i64| NOW.plus_millis(ms);
    // Requested times; the index of the image that is indexed again, its new requested time, its expected time.
    let cases: [(&[i64], usize, i64, i64); 9] = [
        (&[5], 0, 9, 9),
        (&[5, 6], 0, 6, 7),
        (&[5, 5], 1, 6, 6),
        (&[5, 5], 1, 4, 4),
        (&[5, 6, 7], 1, 5, 6),
        (&[5, 6, 7], 2, 5, 7),
        (&[5, 6, 7, 8], 0, 6, 9),
        (&[5, 5, 5, 9], 3, 5, 8),
        (&[5, 6, 6, 6], 2, 5, 7),
    ];
    for (requested, which, changed, expected) in cases {
        let viewer = seed.account(Plan::Paid).await;
        let mut ids = Vec::new();
        for ms in requested {
            ids.push(ready(seed, viewer, Photo::at(at(*ms))).await);
        }
        reindex(seed, &ids[which], &Photo::at(at(changed))).await;
        let moment = visible_image(seed, viewer, &ids[which]).await.captured_at;
        assert_eq!(moment, at(expected), "{requested:?}, {which} at {changed}");
        assert_eq!(timeline(seed, viewer).await.len(), ids.len());
    }
}

pub(crate) async fn albums_use_the_new_capture_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=3).map(Photo::at_second).collect()).await;
    let albums = [seed.album(ann, "All", &ids).await, seed.album(ann, "Some", &ids[..2]).await];
    reindex(seed, &ids[0], &Photo::at_second(9)).await;
    let content = async |album: &AlbumId| {
        let filter = Filter { album: Some(album.clone()), ..Filter::default() };
        let cover = seed.store().album(ann, album).await.unwrap().unwrap().cover;
        (filtered(seed, ann, filter).await, cover)
    };
    let newest = Some(ids[0].clone());
    assert_eq!(
        content(&albums[0]).await,
        (vec![ids[0].clone(), ids[2].clone(), ids[1].clone()], newest.clone())
    );
    assert_eq!(content(&albums[1]).await, (vec![ids[0].clone(), ids[1].clone()], newest));
}

pub(crate) async fn a_deleted_image_is_indexed_again_and_stays_invisible(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=2).map(Photo::at_second).collect()).await;
    let album = seed.album(ann, "All", &ids).await;
    let job = outdated_job(seed, "w", &ids[0]).await;
    delete(seed, ann, &ids[0], second(5)).await;
    let found = reindexed(&Photo::at_second(9).description("sea"));
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert!(is_missing(seed, ann, &ids[0]).await);
    assert_eq!(matching(seed, ann, &["sea"]).await, []);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().image_count, 1);
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(visible_image(seed, ann, &ids[0]).await.captured_at, second(9));
    assert_eq!(matching(seed, ann, &["sea"]).await, [ids[0].clone()]);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 2);
    let album = seed.store().album(ann, &album).await.unwrap().unwrap();
    assert_eq!((album.image_count, album.cover.as_ref()), (2, Some(&ids[0])));
}

/// Checks that the image is unchanged and is queued again only for even newer decoders.
async fn check_unchanged(seed: &Seed, viewer: Viewer, before: &Image) {
    let image = visible_image(seed, viewer, &before.id).await;
    assert_eq!(&Image { picture_version: before.picture_version, ..image }, before);
    assert_eq!(state(seed, &before.id).await, ImageState::Ready);
    assert_eq!(seed.store().queue_length().await.unwrap().reindexes, 0);
    assert_eq!(seed.store().requeue_failed(DECODERS + 9, NOW).await.unwrap(), 0);
    assert_eq!(seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(), 0);
    assert_eq!(seed.store().requeue_outdated(DECODERS + 2, NOW, 10).await.unwrap(), 1);
}

pub(crate) async fn a_failure_leaves_the_image_unchanged(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = ready(seed, ann, Photo::at_second(1).description("sea")).await;
    let before = visible_image(seed, ann, &id).await;
    let job = outdated_job(seed, "w", &id).await;
    seed.store().fail_job(job.id, "w", "the bytes are missing", DECODERS + 1).await.unwrap();
    check_unchanged(seed, ann, &before).await;
    assert_eq!(matching(seed, ann, &["sea"]).await, [id]);
}

pub(crate) async fn a_job_leased_too_often_is_given_up(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = ready(seed, ann, Photo::at_second(1)).await;
    let before = visible_image(seed, ann, &id).await;
    seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap();
    for (attempt, leased) in [(1, 1), (2, 1), (3, 0)] {
        let at = second(attempt * 10_000);
        let request = LeaseRequest { max_attempts: 2, ..lease("w", at) };
        assert_eq!(seed.store().lease_jobs(request, DECODERS + 1).await.unwrap().len(), leased);
    }
    check_unchanged(seed, ann, &before).await;
}

pub(crate) async fn a_lost_lease_leaves_the_image_unchanged(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = ready(seed, ann, Photo::at_second(1)).await;
    let before = visible_image(seed, ann, &id).await;
    let job = outdated_job(seed, "slow", &id).await;
    let again = seed.lease("quick", second(9000)).await.remove(0);
    assert_eq!((again.id, again.attempts), (job.id, 2));
    let found = reindexed(&Photo::at_second(7));
    assert!(!seed.store().complete_job(job.id, "slow", found.clone()).await.unwrap());
    assert_eq!(visible_image(seed, ann, &id).await, before);
    seed.store().retry_job(job.id, "quick", second(9100)).await.unwrap();
    assert_eq!(seed.lease("quick", second(9099)).await, []);
    let third = seed.lease("quick", second(9100)).await.remove(0);
    assert!(seed.store().complete_job(third.id, "quick", found).await.unwrap());
    assert_eq!(visible_image(seed, ann, &id).await.captured_at, second(7));
}

pub(crate) async fn new_images_are_leased_first(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let seen = seed.images(ann.account, (1..=3).map(Photo::at_second).collect()).await;
    assert_eq!(seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(), 3);
    let new = seed.waiting(ann.account, 2).await;
    let length = seed.store().queue_length().await.unwrap();
    assert_eq!(
        length,
        QueueLength { pending: 2, oldest_pending: Some(NOW), failed: 0, reindexes: 3, renditions: 3 }
    );
    let jobs: Vec<_> = seed.lease("w", NOW).await.into_iter().map(|job| job.image).collect();
    assert_eq!(jobs[..2], new);
    assert_eq!(jobs[2..], seen.into_iter().rev().collect::<Vec<_>>(), "newest first");
}

pub(crate) async fn images_of_older_decoders_are_queued_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=5).map(Photo::at_second).collect()).await;
    assert_eq!(seed.store().requeue_outdated(DECODERS, NOW, 10).await.unwrap(), 0, "none is older");
    for expected in [2, 2, 1, 0] {
        assert_eq!(seed.store().requeue_outdated(DECODERS + 1, second(3), 2).await.unwrap(), expected);
    }
    assert_eq!(seed.lease("w", second(2)).await, []);
    for job in seed.lease("w", second(3)).await {
        assert!(ids.contains(&job.image));
        let found = reindexed(&Photo::at_second(1));
        assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    }
    assert_eq!(
        seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(),
        0,
        "all were indexed again"
    );
    assert_eq!(seed.store().requeue_outdated(DECODERS + 2, NOW, 3).await.unwrap(), 3);
}

pub(crate) async fn invisible_images_are_not_queued(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (1..=2).map(Photo::at_second).collect()).await;
    ready(seed, ben, Photo::at_second(1)).await;
    delete(seed, ann, &ids[0], second(5)).await;
    seed.store().delete_account(ben.account, second(5)).await.unwrap();
    seed.waiting(ann.account, 1).await;
    let failed = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(failed.id, "w", "no picture in it", DECODERS).await.unwrap();
    assert_eq!(seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(), 1);
    let jobs = seed.lease("w", NOW).await;
    assert_eq!(jobs.into_iter().map(|job| job.image).collect::<Vec<_>>(), ids[1..]);
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(), 1, "now it is visible");
}

pub(crate) async fn new_sidecars_come_before_newer_decoders(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let originals = [seed.hash(), seed.hash(), seed.hash()];
    let photos = originals.map(|original| Photo::at_second(1).original(original));
    let ids = seed.images(ann.account, photos.to_vec()).await;
    assert_eq!(seed.store().requeue_outdated(DECODERS + 1, NOW, 10).await.unwrap(), 3);
    let mut again = seed.new_image(ann.account, &photos[0]);
    again.sidecars = vec![Sidecar { kind: SidecarKind::Xmp, content: b"<x/>".to_vec() }];
    let known = ExistingImage { id: ids[0].clone(), state: ImageState::Ready, deleted: false };
    assert_eq!(seed.store().add_image(again).await.unwrap(), AddOutcome::Reindexed(known));
    assert_eq!(seed.store().queue_length().await.unwrap().reindexes, 3, "there is one job");
    let jobs: Vec<_> = seed.lease("w", NOW).await.into_iter().map(|job| job.image).collect();
    assert_eq!(jobs, [ids[0].clone(), ids[2].clone(), ids[1].clone()]);
}

pub(crate) async fn jobs_of_a_deleted_account_are_gone(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = ready(seed, ann, Photo::at_second(1)).await;
    let bens = ready(seed, ben, Photo::at_second(1)).await;
    let held = outdated_job(seed, "w", &anns).await;
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    let found = reindexed(&Photo::at_second(1));
    assert!(!seed.store().complete_job(held.id, "w", found).await.unwrap());
    assert_eq!(seed.store().queue_length().await.unwrap().reindexes, 1);
    let left = seed.lease("other", second(9000)).await;
    assert_eq!(left.into_iter().map(|job| job.image).collect::<Vec<_>>(), [bens]);
}

pub(crate) async fn the_free_window_uses_the_new_capture_time(seed: &Seed) {
    let ann = Viewer { free_window: 2, ..seed.account(Plan::Free).await };
    let ids = seed.images(ann.account, (1..=3).map(Photo::at_second).collect()).await;
    assert!(is_missing(seed, ann, &ids[0]).await);
    reindex(seed, &ids[0], &Photo::at_second(9)).await;
    assert_eq!(timeline(seed, ann).await, [ids[0].clone(), ids[2].clone()]);
    assert!(is_missing(seed, ann, &ids[1]).await);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 2);
}
