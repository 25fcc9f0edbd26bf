//! Operations that run at the same time and meet at the same rows.

use std::collections::HashSet;

use domain::{AccountId, BlobKind, ContentHash, ImageId, Plan, Rendition};
use storage::{
    AddOutcome, AnnounceOutcome, BackfillFilter, LeaseRequest, Lookup, NewVector, StageOutcome, StoreRule,
    VersionPolicy, Viewer,
};

use super::{concurrently, vectors::vectors_after};
use crate::{
    DECODERS, NOW, Photo, Seed, indexed, lease, original_blob,
    queries::{delete, second},
    rendition_blob,
};

/// After all leases, deletions and announcements of a case.
const LATER: i64 = 100_000;

async fn assert_sound(seed: &Seed) {
    for rule in StoreRule::ALL {
        let page = seed.store().check_rule(rule, None, 10_000).await.unwrap();
        assert_eq!(page.violations, [], "{rule:?}");
    }
}

/// Announces an original as an upload does, and repeats this while the original is being removed.
async fn announce(seed: &Seed, original: &ContentHash) {
    let blob = original_blob(original);
    while seed.store().announce_blobs(&[blob], second(LATER)).await.unwrap() == AnnounceOutcome::BeingRemoved
    {
        seed.store().forget_blobs(&[blob]).await.unwrap();
    }
}

/// Uploads a photo, and repeats this if its original was removed before the photo was added.
async fn upload(seed: &Seed, account: AccountId, original: ContentHash) {
    loop {
        announce(seed, &original).await;
        let image = seed.new_image(account, &Photo::at_second(1).original(original));
        match seed.store().add_image(image).await.unwrap() {
            AddOutcome::OriginalGone => {}
            _ => return,
        }
    }
}

/// Indexes all queued images. Images of one original have the same renditions, as identical bytes do.
async fn index_all(seed: &Seed, worker: &str) {
    let request = LeaseRequest { max: 3, ..lease(worker, second(1)) };
    loop {
        let jobs = seed.store().lease_jobs(request, DECODERS).await.unwrap();
        if jobs.is_empty() {
            return;
        }
        for job in jobs {
            let photo = Photo::at_second(1).description("sea and sky").position(10.0, 20.0);
            let made: Vec<_> = (0..)
                .zip(Rendition::displayable())
                .map(|(number, rendition)| {
                    let mut made = seed.rendition(rendition, photo.size);
                    let mut bytes = *job.original.as_bytes();
                    bytes[0] = number;
                    made.blob = ContentHash::from_slice(&bytes).unwrap();
                    made
                })
                .collect();
            for rendition in &made {
                let blob = rendition_blob(rendition);
                while seed.store().announce_blobs(&[blob], second(LATER)).await.unwrap()
                    == AnnounceOutcome::BeingRemoved
                {
                    seed.store().forget_blobs(&[blob]).await.unwrap();
                }
            }
            // The completion fails if the job went to another worker, or a rendition was removed meanwhile.
            let done = seed.store().complete_job(job.id, worker, indexed(&photo.renditions(&made))).await;
            if !done.unwrap() {
                seed.store().retry_job(job.id, worker, NOW).await.unwrap();
            }
        }
    }
}

async fn sweep(seed: &Seed) {
    let store = seed.store();
    while store.purge_images(second(LATER), 3).await.unwrap() > 0 {}
    let taken = store.take_unreferenced_blobs(second(LATER + 1), second(LATER), 10).await.unwrap();
    store.forget_blobs(&taken).await.unwrap();
}

pub(crate) async fn an_original_survives_the_purge_of_another_accounts_image(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    for round in 0..12 {
        let original = seed.hash();
        upload(seed, ann.account, original).await;
        index_all(seed, &format!("first-{round}")).await;
        let id = seed.store().image_by_original(ann.account, &original).await.unwrap().unwrap().id;
        delete(seed, ann, &id, NOW).await;
        let (purging, adding) = (seed.clone(), seed.clone());
        tokio::join!(
            async move {
                sweep(&purging).await;
            },
            async move {
                upload(&adding, ben.account, original).await;
                index_all(&adding, &format!("second-{round}")).await;
            },
        );
        index_all(seed, &format!("third-{round}")).await;
        let added = seed.store().image_by_original(ben.account, &original).await.unwrap().unwrap();
        assert!(matches!(seed.store().image(ben, &added.id).await.unwrap(), Lookup::Found(_)));
        let kept = seed.store().kept_blobs(BlobKind::Original, None, 10_000).await.unwrap();
        assert!(kept.iter().any(|blob| blob.hash == original), "round {round}");
        assert_sound(seed).await;
    }
}

/// Acts as one of several users and workers that add and remove references to a few originals.
async fn disturb(seed: Seed, number: u64, accounts: [Viewer; 2], originals: Vec<ContentHash>) {
    let mut random = fastrand::Rng::with_seed(number);
    let worker = format!("worker-{number}");
    for _ in 0..25 {
        let viewer = accounts[random.usize(..2)];
        let original = originals[random.usize(..originals.len())];
        let known = seed.store().image_by_original(viewer.account, &original).await.unwrap();
        match (random.u8(..10), known) {
            (0..3, _) => upload(&seed, viewer.account, original).await,
            (3..5, _) => index_all(&seed, &worker).await,
            (5..7, Some(image)) => {
                let _ = seed.store().delete_image(viewer, &image.id, NOW).await.unwrap();
            }
            (7, Some(image)) => {
                let _ = seed.store().restore_image(viewer.account, &image.id).await.unwrap();
            }
            (8, _) => sweep(&seed).await,
            _ => {
                let _ = seed.store().reindex_words(5).await.unwrap();
            }
        }
    }
}

pub(crate) async fn operations_at_the_same_time_break_no_rule(seed: &Seed) {
    let accounts = [seed.account(Plan::Paid).await, seed.account(Plan::Paid).await];
    let originals: Vec<ContentHash> = (0..6).map(|_| seed.hash()).collect();
    concurrently((0..8).map(|number| disturb(seed.clone(), number, accounts, originals.clone()))).await;
    assert_sound(seed).await;
}

async fn complete_stage_jobs(seed: Seed, stage: storage::StageId, worker: String) {
    let request = LeaseRequest { max: 1, ..lease(&worker, NOW) };
    loop {
        let jobs = seed.store().lease_stage_jobs(stage, request).await.unwrap();
        let Some(job) = jobs.first() else { return };
        let vector = NewVector { encoder: "eye".to_owned(), vector: vec![1, 2] };
        let outcome = StageOutcome::Vectors(vec![vector]);
        seed.store().complete_stage_job(job.id, &worker, "1", outcome).await.unwrap();
    }
}

pub(crate) async fn a_reader_of_new_vectors_misses_none(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let stage = seed.store().open_stage("look", "1", 1, VersionPolicy::Replace).await.unwrap();
    seed.images(ann.account, (0..80).map(Photo::at_second).collect()).await;
    let workers: Vec<_> = (0..8)
        .map(|number| tokio::spawn(complete_stage_jobs(seed.clone(), stage.id, format!("worker-{number}"))))
        .collect();
    let mut last = None;
    let mut seen = HashSet::new();
    loop {
        let is_done = workers.iter().all(tokio::task::JoinHandle::is_finished);
        if let Some(encoder) = seed.store().encoder("eye").await.unwrap() {
            for vector in vectors_after(seed, ann, encoder, last).await {
                last = Some(vector.id);
                seen.insert(vector.image);
            }
        }
        // A last look after the last worker has ended.
        if is_done && seen.len() >= 80 {
            break;
        }
        if is_done {
            let encoder = seed.store().encoder("eye").await.unwrap().unwrap();
            let left = vectors_after(seed, ann, encoder, last).await;
            assert!(!left.is_empty(), "{} of 80 vectors were seen", seen.len());
        }
    }
}

pub(crate) async fn a_stage_that_opens_during_completions_reaches_every_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let store = seed.store();
    store.open_stage("read", "1", 1, VersionPolicy::Replace).await.unwrap();
    for number in 0..30 {
        upload(seed, ann.account, seed.hash()).await;
        if number == 15 {
            // Some images are complete before the stages open.
            index_all(seed, "early").await;
        }
    }
    let indexing = (0..4).map(|number| {
        let seed = seed.clone();
        tokio::spawn(async move { index_all(&seed, &format!("indexer-{number}")).await })
    });
    let indexing: Vec<_> = indexing.collect();
    let newer = store.open_stage("read", "2", 2, VersionPolicy::Replace).await.unwrap();
    let added = store.open_stage("look", "1", 1, VersionPolicy::Replace).await.unwrap();
    for task in indexing {
        task.await.unwrap();
    }
    index_all(seed, "late").await;
    for stage in [newer.id, added.id] {
        while store.backfill_stage(stage, BackfillFilter::All, 7).await.unwrap() {}
        let request = LeaseRequest { max: 100, ..lease("last", second(LATER)) };
        let queued: HashSet<ImageId> =
            store.lease_stage_jobs(stage, request).await.unwrap().into_iter().map(|job| job.image).collect();
        assert_eq!(queued.len(), 30);
    }
}
