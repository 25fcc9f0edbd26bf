//! Several workers at once, of one program version or of two.

use std::collections::HashSet;

use domain::{ImageId, Plan};
use storage::{LeaseRequest, StageOutcome, VersionPolicy};

use super::{concurrently, queue::ready_to_complete};
use crate::{
    DECODERS, NOW, Photo, Seed, lease,
    queries::{second, visible_image},
};

/// After the leases of [`NOW`] have expired.
const LATER: i64 = 4000;

async fn lease_all_of_stage(seed: Seed, stage: storage::StageId, worker: String) -> Vec<ImageId> {
    let request = LeaseRequest { max: 3, ..lease(&worker, NOW) };
    let mut leased = Vec::new();
    loop {
        let jobs = seed.store().lease_stage_jobs(stage, request).await.unwrap();
        if jobs.is_empty() {
            return leased;
        }
        leased.extend(jobs.into_iter().map(|job| job.image));
    }
}

pub(crate) async fn no_stage_job_is_leased_twice(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let stage = seed.store().open_stage("read", "1", 1, VersionPolicy::Replace).await.unwrap();
    let images = seed.images(ann.account, (0..60).map(Photo::at_second).collect()).await;
    let workers = (0..8).map(|number| lease_all_of_stage(seed.clone(), stage.id, format!("worker-{number}")));
    let leased: Vec<ImageId> = concurrently(workers).await.into_iter().flatten().collect();
    assert_eq!(leased.len(), 60);
    assert_eq!(leased.into_iter().collect::<HashSet<_>>(), images.into_iter().collect());
}

pub(crate) async fn only_the_current_worker_completes_a_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for _ in 0..20 {
        let id = seed.waiting(ann.account, 1).await.remove(0);
        let job = seed.lease("former", second(0)).await.remove(0);
        assert_eq!(seed.lease("current", second(LATER)).await.remove(0).id, job.id);
        let mut results = Vec::new();
        for worker in ["former", "current"] {
            let photo = Photo::at_second(1).description(worker);
            results.push((worker, ready_to_complete(seed, photo).await));
        }
        let completed = concurrently(results.into_iter().map(|(worker, indexed)| {
            let store = seed.store().clone();
            async move { store.complete_job(job.id, worker, indexed).await.unwrap() }
        }))
        .await;
        assert_eq!(completed, [false, true]);
        let image = visible_image(seed, ann, &id).await;
        assert_eq!(image.details.description.as_deref(), Some("current"));
    }
}

pub(crate) async fn only_the_current_worker_completes_a_stage_job(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let stage = seed.store().open_stage("read", "1", 1, VersionPolicy::Replace).await.unwrap();
    for _ in 0..20 {
        seed.image(ann.account, Photo::at_second(1)).await;
        let lease_job = async |worker: &str, at| {
            seed.store().lease_stage_jobs(stage.id, lease(worker, at)).await.unwrap().remove(0)
        };
        let job = lease_job("former", second(0)).await.id;
        assert_eq!(lease_job("current", second(LATER)).await.id, job);
        let completed = concurrently(["former", "current"].into_iter().map(|worker| {
            let store = seed.store().clone();
            let outcome = StageOutcome::Text(Some(worker.to_owned()));
            async move { store.complete_stage_job(job, worker, "1", outcome).await.unwrap() }
        }))
        .await;
        assert_eq!(completed, [false, true]);
    }
}

/// Opens the stage many times, as a program of this revision does.
async fn open_often(seed: Seed, revision: u32) {
    let version = format!("made by revision {revision}");
    for _ in 0..20 {
        let stage =
            seed.store().open_stage("read", &version, revision, VersionPolicy::Replace).await.unwrap();
        assert!(stage.revision >= revision);
    }
}

pub(crate) async fn the_newer_of_two_program_versions_keeps_the_stage(seed: &Seed) {
    concurrently([1, 2, 1, 2].into_iter().map(|revision| open_often(seed.clone(), revision))).await;
    let stage = seed.store().stage("read").await.unwrap().unwrap();
    assert_eq!((stage.revision, stage.version.as_str()), (2, "made by revision 2"));
}

pub(crate) async fn older_decoders_leave_jobs_for_newer_decoders(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1)).await;
    let newer = DECODERS + 1;
    assert_eq!(seed.store().requeue_outdated(newer, NOW, 10).await.unwrap(), 1);
    let new_photo = seed.waiting(ann.account, 1).await;
    let lease_as = async |decoders| {
        let jobs = seed.store().lease_jobs(lease("w", NOW), decoders).await.unwrap();
        jobs.into_iter().map(|job| job.image).collect::<Vec<_>>()
    };
    assert_eq!(lease_as(DECODERS).await, new_photo, "it works on new photos beside the newer program");
    assert_eq!(lease_as(newer).await.len(), 1);
}
