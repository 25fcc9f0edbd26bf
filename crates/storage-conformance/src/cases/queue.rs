use std::collections::HashSet;

use domain::{CaptureSource, CaptureTime, ImageId, PixelSize, Plan, Position, Rendition, UtcOffset};
use storage::{ImageState, IndexedImage, JobId, LeaseRequest, QueueLength};

use crate::{
    DECODERS, NOW, Photo, Seed, indexed, lease,
    queries::{is_missing, second, timeline, visible_image},
    rendition_blob,
};

/// The result of indexing a photo, with announced renditions.
pub(super) async fn ready_to_complete(seed: &Seed, photo: Photo) -> IndexedImage {
    let renditions: Vec<_> =
        Rendition::displayable().map(|rendition| seed.rendition(rendition, photo.size)).collect();
    seed.announce(&renditions.iter().map(rendition_blob).collect::<Vec<_>>()).await;
    indexed(&photo.renditions(&renditions))
}

pub(super) async fn state(seed: &Seed, id: &ImageId) -> ImageState {
    seed.store().image_states(std::slice::from_ref(id)).await.unwrap().remove(0).1
}

pub(crate) async fn jobs_are_leased_oldest_first(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.waiting(ann.account, 5).await;
    let request = LeaseRequest { max: 3, ..lease("w", second(1)) };
    let first = seed.store().lease_jobs(request, DECODERS).await.unwrap();
    let rest = seed.store().lease_jobs(request, DECODERS).await.unwrap();
    let leased: Vec<_> = first.iter().chain(&rest).map(|job| job.image.clone()).collect();
    assert_eq!((first.len(), leased), (3, ids));
    assert_eq!(seed.store().lease_jobs(request, DECODERS).await.unwrap(), []);
}

pub(crate) async fn a_job_describes_its_file(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    seed.announce(&[crate::original_blob(&original)]).await;
    let mut image = seed.new_image(ann.account, &Photo::at_second(1).original(original).file_name("a.jpg"));
    image.modified_at = Some(second(-5));
    seed.store().add_image(image.clone()).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    assert_eq!((job.image, job.original, job.original_bytes), (image.id, original, image.original_bytes));
    assert_eq!((job.file.name.as_deref(), job.file.modified_at), (Some("a.jpg"), Some(second(-5))));
    assert_eq!((job.file.added_at, job.attempts), (image.added_at, 1));
    assert_eq!((job.file.sidecars, job.picture), (vec![], None));
}

pub(crate) async fn a_lease_is_exclusive(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.waiting(ann.account, 120).await;
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let seed = seed.clone();
            tokio::spawn(async move {
                let name = format!("worker-{worker}");
                let mut leased = Vec::new();
                loop {
                    let request = LeaseRequest { max: 3, ..lease(&name, second(1)) };
                    let jobs = seed.store().lease_jobs(request, DECODERS).await.unwrap();
                    if jobs.is_empty() {
                        return leased;
                    }
                    leased.extend(jobs.into_iter().map(|job| job.image));
                }
            })
        })
        .collect();
    let mut leased = Vec::new();
    for worker in workers {
        leased.extend(worker.await.unwrap());
    }
    assert_eq!(leased.len(), 120, "no job was leased twice");
    assert_eq!(leased.into_iter().collect::<HashSet<_>>(), ids.into_iter().collect());
}

pub(crate) async fn an_expired_lease_can_be_leased_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.waiting(ann.account, 1).await.remove(0);
    let job = seed.lease("slow", second(1)).await.remove(0);
    assert_eq!(seed.lease("quick", second(3601)).await, [], "the lease has not expired yet");
    let again = seed.lease("quick", second(3602)).await.remove(0);
    assert_eq!((again.id, again.attempts), (job.id, 2));
    let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
    assert!(!seed.store().complete_job(job.id, "slow", indexed.clone()).await.unwrap());
    assert!(is_missing(seed, ann, &id).await);
    assert!(seed.store().complete_job(job.id, "quick", indexed).await.unwrap());
    visible_image(seed, ann, &id).await;
}

pub(crate) async fn a_lost_lease_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.waiting(ann.account, 1).await.remove(0);
    let job = seed.lease("slow", second(1)).await.remove(0);
    seed.lease("quick", second(9000)).await;
    seed.store().fail_job(job.id, "slow", "too late", DECODERS).await.unwrap();
    assert_eq!(state(seed, &id).await, ImageState::Pending);
    seed.store().retry_job(job.id, "slow", NOW).await.unwrap();
    seed.store().release_leases("slow").await.unwrap();
    seed.store().renew_leases("slow", &[job.id], second(1)).await.unwrap();
    assert_eq!(seed.lease("third", second(9001)).await, [], "the quick worker still holds the lease");
}

pub(crate) async fn a_renewed_lease_is_extended(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 2).await;
    let jobs: Vec<JobId> = seed.lease("w", second(1)).await.iter().map(|job| job.id).collect();
    seed.store().renew_leases("w", &jobs, second(7200)).await.unwrap();
    assert_eq!(seed.lease("other", second(7200)).await, []);
    assert_eq!(seed.lease("other", second(7201)).await.len(), 2);
}

pub(crate) async fn only_leases_of_listed_jobs_are_renewed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 2).await;
    let jobs = seed.lease("w", second(1)).await;
    seed.store().renew_leases("w", &[jobs[0].id], second(70_000)).await.unwrap();
    let free = seed.lease("other", second(60_000)).await;
    assert_eq!(free.iter().map(|job| job.id).collect::<Vec<_>>(), [jobs[1].id]);
}

pub(crate) async fn a_released_attempt_does_not_count(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 2).await;
    for _ in 0..5 {
        let jobs = seed.lease("w", second(1)).await;
        assert_eq!(jobs.iter().map(|job| job.attempts).collect::<Vec<_>>(), [1, 1]);
        seed.store().release_leases("w").await.unwrap();
    }
}

pub(crate) async fn leases_of_a_killed_worker_can_be_ended(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 4).await;
    for worker in ["one", "other"] {
        let request = LeaseRequest { max: 2, ..lease(worker, second(1)) };
        assert_eq!(seed.store().lease_jobs(request, DECODERS).await.unwrap().len(), 2);
    }
    seed.store().abandon_leases("one").await.unwrap();
    let jobs = seed.lease("third", second(1)).await;
    let attempts: Vec<_> = jobs.iter().map(|job| job.attempts).collect();
    assert_eq!(attempts, [2, 2], "the other worker lives; one of the jobs may have killed the first one");
    let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
    assert!(!seed.store().complete_job(jobs[0].id, "one", indexed).await.unwrap());
}

pub(crate) async fn a_retry_is_delayed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 1).await;
    let job = seed.lease("w", second(1)).await.remove(0);
    seed.store().retry_job(job.id, "w", second(10)).await.unwrap();
    assert_eq!(seed.lease("w", second(9)).await, []);
    let again = seed.lease("w", second(10)).await.remove(0);
    assert_eq!((again.id, again.attempts), (job.id, 1), "the attempt did not count");
}

pub(crate) async fn a_job_leased_too_often_fails(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let exhausted = seed.waiting(ann.account, 1).await.remove(0);
    for attempt in 1..=3 {
        let request = LeaseRequest { max_attempts: 3, ..lease("w", second(attempt * 10_000)) };
        assert_eq!(seed.store().lease_jobs(request, DECODERS).await.unwrap().len(), 1);
    }
    let next = seed.waiting(ann.account, 1).await;
    let request = LeaseRequest { max_attempts: 3, max: 1, ..lease("w", second(50_000)) };
    let jobs = seed.store().lease_jobs(request, DECODERS).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.image.clone()).collect::<Vec<_>>(), next, "the next one is leased");
    let ImageState::Failed { reason, decoder_version } = state(seed, &exhausted).await else {
        panic!("the image did not fail");
    };
    assert!(reason.contains('3'), "{reason}");
    assert_eq!(decoder_version, DECODERS);
}

pub(crate) async fn a_failed_image_has_a_reason_and_is_invisible(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.waiting(ann.account, 1).await.remove(0);
    let job = seed.lease("w", NOW).await.remove(0);
    seed.store().fail_job(job.id, "w", "no picture in it", 7).await.unwrap();
    let failed = ImageState::Failed { reason: "no picture in it".to_owned(), decoder_version: 7 };
    assert_eq!(state(seed, &id).await, failed);
    assert!(is_missing(seed, ann, &id).await);
    assert_eq!(seed.lease("w", second(9)).await, []);
}

pub(crate) async fn completion_makes_the_image_visible(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let original = seed.hash();
    seed.announce(&[crate::original_blob(&original)]).await;
    let photo = Photo::at_second(-100)
        .original(original)
        .position(47.5, -8.25)
        .place("Zürich, Switzerland")
        .description("A tram")
        .text("LINE 11")
        .file_name("tram.jpg");
    let new = seed.new_image(ann.account, &photo);
    seed.store().add_image(new.clone()).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    let mut indexed = ready_to_complete(seed, photo.clone()).await;
    indexed.metadata.capture = CaptureTime {
        at: photo.captured_at,
        wall: Some("2025-12-31T23:58:20".parse().unwrap()),
        offset_minutes: Some(-210),
        source: CaptureSource::ExifOriginal,
    };
    indexed.damaged = Some("its end is missing".to_owned());
    assert!(seed.store().complete_job(job.id, "w", indexed).await.unwrap());
    let image = visible_image(seed, ann, &new.id).await;
    assert_eq!((image.captured_at, image.added_at), (photo.captured_at, NOW));
    assert_eq!(image.utc_offset, UtcOffset::from_minutes(-210));
    assert_eq!(image.size, PixelSize { width: 3000, height: 2000 });
    assert_eq!(image.details.position, Some(Position::new(47.5, -8.25).unwrap()));
    let words =
        [&image.place, &image.details.description, &image.text, &image.file_name].map(|text| text.as_deref());
    assert_eq!(words, [Some("Zürich, Switzerland"), Some("A tram"), Some("LINE 11"), Some("tram.jpg")]);
    let camera = [&image.details.camera_make, &image.details.camera_model].map(|text| text.as_deref());
    assert_eq!(camera, [Some("Acme"), Some("Pinhole 1")]);
    assert_eq!(timeline(seed, ann).await, [new.id]);
}

pub(crate) async fn a_job_is_completed_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.waiting(ann.account, 1).await;
    let job = seed.lease("w", NOW).await.remove(0);
    let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
    assert!(seed.store().complete_job(job.id, "w", indexed.clone()).await.unwrap());
    assert!(!seed.store().complete_job(job.id, "w", indexed).await.unwrap());
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1);
}

pub(crate) async fn images_failed_under_older_decoders_are_requeued(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.waiting(ann.account, 3).await;
    for (job, version) in seed.lease("w", NOW).await.into_iter().zip([1, 2, 3]) {
        seed.store().fail_job(job.id, "w", "no picture in it", version).await.unwrap();
    }
    assert_eq!(seed.store().requeue_failed(3, second(5)).await.unwrap(), 2);
    assert_eq!(seed.store().requeue_failed(3, second(5)).await.unwrap(), 0);
    let jobs = seed.lease("w", second(5)).await;
    assert_eq!(jobs.iter().map(|job| &job.image).collect::<Vec<_>>(), [&ids[0], &ids[1]]);
    assert!(jobs.iter().all(|job| job.attempts == 1), "attempts start again");
    assert!(matches!(state(seed, &ids[2]).await, ImageState::Failed { .. }));
}

pub(crate) async fn the_queue_length_is_counted(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    assert_eq!(seed.store().queue_length().await.unwrap(), QueueLength::default());
    seed.waiting(ann.account, 4).await;
    let jobs = seed.lease("w", NOW).await;
    seed.store().fail_job(jobs[0].id, "w", "no picture in it", DECODERS).await.unwrap();
    let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
    seed.store().complete_job(jobs[1].id, "w", indexed).await.unwrap();
    let length = seed.store().queue_length().await.unwrap();
    assert_eq!(
        length,
        QueueLength { pending: 2, oldest_pending: Some(NOW), failed: 1, reindexes: 0, renditions: 1 }
    );
}

pub(crate) async fn failed_images_are_listed_with_reasons(seed: &Seed) {
    let account = async |name: &str| seed.account_of(&format!("{name}@example.org"), Plan::Paid).await;
    let (ann, ben) = (account("ann").await, account("ben").await);
    seed.waiting(ann.id, 3).await;
    seed.waiting(ben.id, 1).await;
    for (number, job) in seed.lease("w", NOW).await.into_iter().enumerate() {
        seed.store().fail_job(job.id, "w", &format!("reason {number}"), DECODERS).await.unwrap();
    }
    let listed = async |max| {
        let failed = seed.store().failed_images(max).await.unwrap();
        failed.into_iter().map(|image| (image.email, image.reason)).collect::<Vec<_>>()
    };
    let expect = [(&ben, 3), (&ann, 2), (&ann, 1), (&ann, 0)]
        .map(|(whose, number)| (whose.email.clone(), format!("reason {number}")));
    assert_eq!(listed(10).await, expect);
    assert_eq!(listed(2).await, expect[..2]);
    seed.store().delete_account(ben.id, second(1)).await.unwrap();
    assert_eq!(listed(10).await, expect[1..]);
}

pub(crate) async fn jobs_of_a_deleted_account_are_gone(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.waiting(ann.account, 2).await;
    let request = LeaseRequest { max: 1, ..lease("w", NOW) };
    let held = seed.store().lease_jobs(request, DECODERS).await.unwrap().remove(0);
    let bens = seed.waiting(ben.account, 1).await;
    seed.store().delete_account(ann.account, second(1)).await.unwrap();
    let indexed = ready_to_complete(seed, Photo::at_second(1)).await;
    assert!(!seed.store().complete_job(held.id, "w", indexed).await.unwrap());
    let jobs = seed.lease("w", second(2)).await;
    assert_eq!(jobs.into_iter().map(|job| job.image).collect::<Vec<_>>(), bens);
    assert_eq!(
        seed.store().queue_length().await.unwrap(),
        QueueLength { pending: 1, oldest_pending: Some(NOW), ..QueueLength::default() }
    );
}
