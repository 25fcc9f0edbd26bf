use domain::{ImageId, Plan, Rendition, Timestamp};
use storage::{
    BackfillFilter, IndexedImage, NewVector, Stage, StageJob, StageOutcome, StageProgress,
    VersionPolicy::{Keep, Replace},
    Viewer,
};

use super::reindex::{outdated_job, reindexed};
use crate::{
    DECODERS, NOW, Photo, Seed, lease,
    queries::{matches, second, visible_image},
};

async fn stage(seed: &Seed, name: &str, version: &str) -> Stage {
    seed.store().open_stage(name, version, 1, Replace).await.unwrap()
}

async fn jobs_of(seed: &Seed, stage: &Stage, worker: &str, at: Timestamp) -> Vec<StageJob> {
    seed.store().lease_stage_jobs(stage.id, lease(worker, at)).await.unwrap()
}

fn ids(jobs: &[StageJob]) -> Vec<ImageId> {
    jobs.iter().map(|job| job.image.clone()).collect()
}

async fn progress(seed: &Seed, viewer: Option<Viewer>) -> Vec<(String, u64, u64)> {
    let listed = seed.store().stage_progress(viewer.map(|viewer| viewer.account)).await.unwrap();
    listed.into_iter().map(|StageProgress { stage, waiting, failed }| (stage.name, waiting, failed)).collect()
}

async fn queue_all(seed: &Seed, stage: &Stage, undone: BackfillFilter<'_>) {
    while seed.store().backfill_stage(stage.id, undone, 2).await.unwrap() {}
}

fn text(text: &str) -> StageOutcome {
    StageOutcome::Text(Some(text.to_owned()))
}

pub(crate) async fn visible_images_are_queued_for_every_stage(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (read, look) = (stage(seed, "read", "1").await, stage(seed, "look", "1").await);
    let images = seed.images(ann.account, vec![Photo::at_second(9), Photo::at_second(1)]).await;
    for stage in [&read, &look] {
        let jobs = jobs_of(seed, stage, "w", NOW).await;
        assert_eq!(ids(&jobs), [images[1].clone(), images[0].clone()], "newest first");
        for job in &jobs {
            let renditions: Vec<Rendition> = job.renditions.iter().map(|blob| blob.rendition).collect();
            assert_eq!(renditions, [Rendition::Thumb, Rendition::Medium]);
            assert!(job.original_bytes > 0 && job.renditions.iter().all(|blob| blob.bytes > 0));
        }
        assert!(jobs_of(seed, stage, "other", NOW).await.is_empty(), "a lease is exclusive");
    }
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 2, 0), ("look".to_owned(), 2, 0)]);
}

pub(crate) async fn a_new_stage_processes_all_images(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    let of_ann = seed.images(ann.account, (0..5).map(Photo::at_second).collect()).await;
    seed.waiting(ann.account, 1).await;
    seed.image(ben.account, Photo::at_second(1)).await;
    let read = stage(seed, "read", "1").await;
    assert_eq!(
        progress(seed, None).await,
        [("read".to_owned(), 6, 0)],
        "images that are not queued yet count"
    );
    assert_eq!(progress(seed, Some(ann)).await, [("read".to_owned(), 5, 0)]);
    assert!(jobs_of(seed, &read, "w", NOW).await.is_empty());
    assert!(!seed.store().mark_stage_complete(read.id, "1").await.unwrap());
    queue_all(seed, &read, BackfillFilter::All).await;
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 6, 0)]);
    let jobs = jobs_of(seed, &read, "w", NOW).await;
    assert_eq!(jobs.len(), 6);
    let waiting = seed.store().images_with_pending_stages(&of_ann, &[read.id]).await.unwrap();
    assert_eq!(waiting.len(), 5);
    for job in &jobs {
        assert!(!seed.store().mark_stage_complete(read.id, "1").await.unwrap());
        assert!(seed.store().complete_stage_job(job.id, "w", "1", text("x")).await.unwrap());
    }
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 0, 0)]);
    assert!(seed.store().images_with_pending_stages(&of_ann, &[read.id]).await.unwrap().is_empty());
    assert!(seed.store().mark_stage_complete(read.id, "1").await.unwrap());
    assert_eq!(stage(seed, "read", "1").await.complete_version.as_deref(), Some("1"));
    queue_all(seed, &read, BackfillFilter::All).await;
    assert!(jobs_of(seed, &read, "w", NOW).await.is_empty(), "all images were processed");
}

pub(crate) async fn another_version_processes_all_images_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let first = stage(seed, "read", "1").await;
    seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let jobs = jobs_of(seed, &first, "w", NOW).await;
    assert!(seed.store().complete_stage_job(jobs[0].id, "w", "1", text("old")).await.unwrap());
    seed.store().fail_stage_job(jobs[1].id, "w", "too dark").await.unwrap();
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 1, 1)]);

    let kept = seed.store().open_stage("read", "2", 2, Keep).await.unwrap();
    assert_eq!(kept.version, "1", "with `Keep` the version stays");
    let second = stage(seed, "read", "2").await;
    assert_eq!((second.id, second.version.as_str()), (first.id, "2"));
    let late = seed.store().complete_stage_job(jobs[2].id, "w", "1", text("late")).await.unwrap();
    assert!(!late, "a result of the previous version is ignored");
    queue_all(seed, &second, BackfillFilter::All).await;
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 3, 0)]);
    assert_eq!(jobs_of(seed, &second, "w", NOW).await.len(), 3);
}

pub(crate) async fn a_stage_of_a_newer_program_is_unchanged(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let open = async |version: &str, revision| {
        seed.store().open_stage("read", version, revision, Replace).await.unwrap()
    };
    let older = open("fast 1", 1).await;
    seed.images(ann.account, (0..4).map(Photo::at_second).collect()).await;
    let jobs = jobs_of(seed, &older, "old", NOW).await;
    assert!(seed.store().complete_stage_job(jobs[0].id, "old", "fast 1", text("old")).await.unwrap());

    // A program with a higher revision takes over, with any version.
    let newer = open("fast 2", 2).await;
    assert_eq!((newer.id, newer.version.as_str(), newer.revision), (older.id, "fast 2", 2));
    queue_all(seed, &newer, BackfillFilter::All).await;
    let jobs = jobs_of(seed, &newer, "new", NOW).await;
    assert_eq!(jobs.len(), 4);
    assert!(seed.store().complete_stage_job(jobs[0].id, "new", "fast 2", text("new")).await.unwrap());
    seed.store().fail_stage_job(jobs[1].id, "new", "too dark").await.unwrap();
    let before = progress(seed, None).await;
    assert_eq!(before, [("read".to_owned(), 2, 1)]);

    // The older program reverts nothing, whatever version its operator chooses, and its late result is ignored.
    for version in ["fast 1", "slow 1", "fast 2"] {
        for turn in 0..2 {
            assert_eq!(open(version, 1).await, newer, "{version} {turn}");
            assert_eq!(open("fast 2", 2).await, newer, "{version} {turn}");
        }
    }
    assert_eq!(seed.store().stage("read").await.unwrap(), Some(newer.clone()));
    assert_eq!(progress(seed, None).await, before, "queue and failures are unchanged");
    assert!(!seed.store().complete_stage_job(jobs[2].id, "new", "fast 1", text("late")).await.unwrap());
    assert!(seed.store().complete_stage_job(jobs[2].id, "new", "fast 2", text("new")).await.unwrap());
    assert!(seed.store().complete_stage_job(jobs[3].id, "new", "fast 2", text("new")).await.unwrap());
    assert!(seed.store().mark_stage_complete(newer.id, "fast 2").await.unwrap());

    // The operator of the newer program can change the version in either direction.
    for version in ["slow 2", "fast 2", "slow 2"] {
        let chosen = open(version, 2).await;
        assert_eq!((chosen.version.as_str(), chosen.revision), (version, 2));
    }
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 4, 0)], "all images must be processed again");
}

pub(crate) async fn ocr_text_is_searchable(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    stage(seed, "read", "1").await;
    let id = seed.image(ann.account, Photo::at_second(1).description("a door")).await;
    let finds = async |word: &str| !matches(seed, ann, &[word]).await.is_empty();
    for (version, text, found, lost) in [
        ("1", Some("EXIT"), "exit", "entrance"),
        ("2", Some("Entrance"), "entrance", "exit"),
        ("3", None, "door", "entrance"),
    ] {
        let read = stage(seed, "read", version).await;
        queue_all(seed, &read, BackfillFilter::All).await;
        let job = jobs_of(seed, &read, "w", NOW).await.remove(0);
        let outcome = StageOutcome::Text(text.map(str::to_owned));
        assert!(seed.store().complete_stage_job(job.id, "w", version, outcome).await.unwrap());
        assert_eq!(visible_image(seed, ann, &id).await.text.as_deref(), text);
        assert!(finds(found).await && !finds(lost).await, "{version}");
        assert!(finds("door").await);
    }
}

pub(crate) async fn ocr_text_survives_reindexing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let read = stage(seed, "read", "1").await;
    let photo = Photo::at_second(1);
    let id = seed.image(ann.account, photo.clone()).await;
    let job = jobs_of(seed, &read, "w", NOW).await.remove(0);
    assert!(seed.store().complete_stage_job(job.id, "w", "1", text("EXIT")).await.unwrap());
    let job = outdated_job(seed, "w", &id).await;
    assert!(seed.store().complete_job(job.id, "w", reindexed(&photo)).await.unwrap());
    assert_eq!(visible_image(seed, ann, &id).await.text.as_deref(), Some("EXIT"));
    assert_eq!(jobs_of(seed, &read, "w", NOW).await.len(), 0, "the picture is the same");
    seed.store().requeue_outdated(DECODERS + 2, NOW, 9).await.unwrap();
    let job = seed.lease("w", NOW).await.remove(0);
    let new = seed.rendition(Rendition::Thumb, photo.size);
    seed.announce(&[crate::rendition_blob(&new)]).await;
    let found = IndexedImage { decoder_version: DECODERS + 2, renditions: vec![new], ..reindexed(&photo) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert_eq!(jobs_of(seed, &read, "w", NOW).await.len(), 1, "the new picture is queued");
}

pub(crate) async fn an_expired_lease_frees_the_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let read = stage(seed, "read", "1").await;
    seed.image(ann.account, Photo::at_second(1)).await;
    let store = seed.store();
    let job = jobs_of(seed, &read, "a", NOW).await.remove(0);
    store.renew_stage_leases("a", &[job.id], NOW.plus_millis(9_000_000)).await.unwrap();
    assert!(jobs_of(seed, &read, "b", NOW.plus_millis(4_000_000)).await.is_empty());
    assert_eq!(jobs_of(seed, &read, "b", NOW.plus_millis(9_000_001)).await.len(), 1);
    assert!(
        !store.complete_stage_job(job.id, "a", "1", text("x")).await.unwrap(),
        "the other worker holds the lease"
    );
    store.retry_stage_job(job.id, "b", second(50)).await.unwrap();
    assert!(jobs_of(seed, &read, "c", second(49)).await.is_empty());
    assert_eq!(jobs_of(seed, &read, "c", second(50)).await.len(), 1);
    store.release_leases("c").await.unwrap();
    assert_eq!(jobs_of(seed, &read, "d", second(50)).await.len(), 1);
    store.abandon_leases("d").await.unwrap();
    assert_eq!(jobs_of(seed, &read, "e", second(50)).await.len(), 1);
}

pub(crate) async fn a_job_leased_too_often_fails(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let read = stage(seed, "read", "1").await;
    seed.image(ann.account, Photo::at_second(1)).await;
    let mut at = NOW;
    for _ in 0..3 {
        let request = storage::LeaseRequest { max_attempts: 3, ..lease("w", at) };
        assert_eq!(seed.store().lease_stage_jobs(read.id, request).await.unwrap().len(), 1);
        at = at.plus_millis(4_000_000);
    }
    let request = storage::LeaseRequest { max_attempts: 3, ..lease("w", at) };
    assert!(seed.store().lease_stage_jobs(read.id, request).await.unwrap().is_empty());
    assert_eq!(progress(seed, None).await, [("read".to_owned(), 0, 1)]);
    queue_all(seed, &read, BackfillFilter::All).await;
    assert!(
        seed.store().mark_stage_complete(read.id, "1").await.unwrap(),
        "failed images are not queued again"
    );
}

pub(crate) async fn images_without_a_vector_are_queued(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let images = seed.images(ann.account, (0..5).map(Photo::at_second).collect()).await;
    let look = stage(seed, "look", "eye-1").await;
    queue_all(seed, &look, BackfillFilter::WithoutVector("eye-1")).await;
    let jobs = jobs_of(seed, &look, "w", NOW).await;
    assert_eq!(jobs.len(), 5);
    for job in &jobs[..3] {
        let vectors = vec![NewVector { encoder: "eye-1".to_owned(), vector: vec![1, 2] }];
        let outcome = StageOutcome::Vectors(vectors);
        assert!(seed.store().complete_stage_job(job.id, "w", "eye-1", outcome).await.unwrap());
    }
    seed.store().fail_stage_job(jobs[3].id, "w", "no").await.unwrap();
    seed.store().release_leases("w").await.unwrap();
    seed.store().restart_backfill(look.id).await.unwrap();
    queue_all(seed, &look, BackfillFilter::WithoutVector("eye-1")).await;
    assert_eq!(ids(&jobs_of(seed, &look, "w", NOW).await), [images[0].clone()]);
}
