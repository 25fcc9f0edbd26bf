use std::{
    borrow::Borrow,
    mem::take,
    sync::{Arc, Mutex},
};

use domain::{Circle, Filter, ImageId, Plan, Position};
use storage::{
    EncoderId, ImageKey, NewVector, StageOutcome, StoredVector, VectorId, VersionPolicy::Replace, Viewer,
};

use super::reindex::{outdated_job, reindexed};
use crate::{
    NOW, Photo, Seed, lease,
    queries::{delete, second, seconds},
};

/// Adds a vector to every queued image, numbered from the oldest image on.
pub(super) async fn add_vectors(seed: &Seed, encoder: &str) -> EncoderId {
    let store = seed.store();
    let stage = store.open_stage("look", encoder, 1, Replace).await.unwrap();
    store.restart_backfill(stage.id).await.unwrap();
    while store.backfill_stage(stage.id, storage::BackfillFilter::WithoutVector(encoder), 100).await.unwrap()
    {
    }
    let mut jobs = store.lease_stage_jobs(stage.id, lease("w", NOW)).await.unwrap();
    jobs.reverse();
    for (job, number) in jobs.iter().zip(1..) {
        let vector = NewVector { encoder: encoder.to_owned(), vector: vec![number, 0] };
        let outcome = StageOutcome::Vectors(vec![vector]);
        assert!(store.complete_stage_job(job.id, "w", encoder, outcome).await.unwrap());
    }
    store.encoder(encoder).await.unwrap().unwrap()
}

pub(super) async fn all(seed: &Seed, viewer: Viewer, encoder: EncoderId) -> Vec<StoredVector> {
    vectors_after(seed, viewer, encoder, None).await
}

/// The vectors of an account after another one, in order of id.
pub(super) async fn vectors_after(
    seed: &Seed,
    viewer: Viewer,
    encoder: EncoderId,
    after: Option<VectorId>,
) -> Vec<StoredVector> {
    vectors_between(seed, viewer, encoder, (after, VectorId(i64::MAX))).await
}

async fn vectors_between(
    seed: &Seed,
    viewer: Viewer,
    encoder: EncoderId,
    (after, last): (Option<VectorId>, VectorId),
) -> Vec<StoredVector> {
    let visited = Arc::new(Mutex::new(Vec::new()));
    let to = visited.clone();
    let visit = Arc::new(move |vector| to.lock().unwrap().push(vector));
    seed.store().visit_vectors(viewer.account, encoder, after, last, visit).await.unwrap();
    take(&mut *visited.lock().unwrap())
}

pub(super) async fn visible(
    seed: &Seed,
    viewer: Viewer,
    encoder: EncoderId,
    vectors: &[VectorId],
    filter: impl Borrow<Filter>,
) -> Vec<u8> {
    let found = seed.store().visible_vectors(viewer, encoder, vectors, filter.borrow()).await.unwrap();
    let mut numbers: Vec<u8> = found.iter().map(|vector| vector.vector[0]).collect();
    numbers.sort_unstable();
    numbers
}

pub(super) fn ids_of(vectors: &[StoredVector]) -> Vec<VectorId> {
    vectors.iter().map(|vector| vector.id).collect()
}

pub(crate) async fn vectors_are_ordered_and_separate_by_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    assert_eq!(seed.store().encoder("eye").await.unwrap(), None);
    seed.images(ann.account, vec![Photo::at_second(1).position(10.5, -20.25), Photo::at_second(2)]).await;
    seed.image(ben.account, Photo::at_second(3)).await;
    let eye = add_vectors(seed, "eye").await;
    let of_ann = all(seed, ann, eye).await;
    assert_eq!(of_ann.len(), 2);
    assert!(of_ann.is_sorted_by_key(|vector| vector.id));
    assert_eq!((of_ann[0].captured_at, &of_ann[0].vector), (second(1), &vec![1, 0]));
    assert_eq!(of_ann[0].position, Some(Position::new(10.5, -20.25).unwrap()));
    assert_eq!(of_ann[1].position, None);
    let newest = async |viewer: Viewer| seed.store().newest_vector(viewer.account, eye).await.unwrap();
    assert_eq!(newest(ann).await, Some(of_ann[1].id));
    assert_eq!(all(seed, ben, eye).await.len(), 1);
    assert_eq!(ids_of(&vectors_after(seed, ann, eye, Some(of_ann[0].id)).await), [of_ann[1].id]);
    assert_eq!(ids_of(&vectors_between(seed, ann, eye, (None, of_ann[0].id)).await), [of_ann[0].id]);
    assert_eq!(ids_of(&vectors_between(seed, ann, eye, (None, of_ann[1].id)).await), ids_of(&of_ann));
    let nth = async |after, n| seed.store().nth_vector_after(ann.account, eye, after, n).await.unwrap();
    assert_eq!(nth(None, 1).await, Some(of_ann[0].id));
    assert_eq!(nth(None, 2).await, Some(of_ann[1].id));
    assert_eq!(nth(None, 3).await, None);
    assert_eq!(nth(Some(of_ann[0].id), 1).await, Some(of_ann[1].id));
    assert_eq!(nth(Some(of_ann[1].id), 1).await, None);
    // Encoders have separate vectors.
    let other = add_vectors(seed, "other").await;
    assert_ne!(other, eye);
    assert_eq!(ids_of(&all(seed, ann, eye).await), ids_of(&of_ann));
    assert!(visible(seed, ann, other, &ids_of(&of_ann), Filter::default()).await.is_empty());
    assert_eq!(newest(seed.account(Plan::Paid).await).await, None);
}

pub(crate) async fn only_visible_vectors_are_returned(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (1..=8).map(Photo::at_second).collect()).await;
    seed.image(ben.account, Photo::at_second(3)).await;
    let eye = add_vectors(seed, "eye").await;
    let vectors = [ids_of(&all(seed, ann, eye).await), ids_of(&all(seed, ben, eye).await)].concat();
    let everything = Filter::default();
    assert_eq!(
        visible(seed, ann, eye, &vectors, &everything).await,
        [4, 5, 6, 7, 8],
        "five images are in the window"
    );
    assert_eq!(seed.store().visible_since(ann).await.unwrap(), Some(second(4)));
    assert_eq!(seed.store().visible_since(ben).await.unwrap(), None);
    let new = seed.account(Plan::Free).await;
    assert_eq!(seed.store().visible_since(new).await.unwrap(), None, "all its images are in the window");
    delete(seed, ann, &ids[6], NOW).await;
    assert_eq!(visible(seed, ann, eye, &vectors, &everything).await, [3, 4, 5, 6, 8]);
    seed.store().restore_image(ann.account, &ids[6]).await.unwrap();
    assert_eq!(visible(seed, ann, eye, &vectors, &everything).await, [4, 5, 6, 7, 8]);
    assert_eq!(visible(seed, ben, eye, &vectors, &everything).await, [9]);
    assert_eq!(visible(seed, ann, eye, &[VectorId(i64::MAX)], &everything).await, [0; 0]);
}

pub(crate) async fn filters_apply_to_vectors(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let near = |second| Photo::at_second(second).position(10.0, 10.0);
    let ids = seed.images(ann.account, vec![near(1), near(2), Photo::at_second(3), near(4)]).await;
    let eye = add_vectors(seed, "eye").await;
    let vectors = ids_of(&all(seed, ann, eye).await);
    let album = seed.album(ann, "some", &[ids[0].clone(), ids[2].clone()]).await;
    let circle = Some(Circle::new(Position::new(10.0, 10.0).unwrap(), 5.0).unwrap());
    let range = seconds(2, 3);
    for (filter, expect) in [
        (Filter { album: Some(album.clone()), ..Filter::default() }, vec![1, 3]),
        (Filter { circle, ..Filter::default() }, vec![1, 2, 4]),
        (Filter { range, ..Filter::default() }, vec![2, 3]),
        (Filter { album: Some(album.clone()), circle, ..Filter::default() }, vec![1]),
        (Filter { album: Some(album.clone()), circle, range, ..Filter::default() }, vec![]),
    ] {
        assert_eq!(visible(seed, ann, eye, &vectors, filter).await, expect);
    }
    let of_album = Filter { album: Some(album.clone()), ..Filter::default() };
    let mut keys = seed.store().candidate_image_keys(ann, &of_album, 0).await.unwrap().unwrap();
    keys.sort_unstable();
    let found = seed.store().images_by_key(ann, &keys).await.unwrap();
    let listed: Vec<ImageId> = found.iter().map(|(_, image)| image.id.clone()).collect();
    assert_eq!(listed, [ids[0].clone(), ids[2].clone()]);
    let ben = seed.account(Plan::Paid).await;
    assert_eq!(seed.store().candidate_image_keys(ben, &of_album, 0).await.unwrap(), Some(vec![]));
    assert!(seed.store().images_by_key(ben, &keys).await.unwrap().is_empty());
    keys.reverse();
    let reversed =
        seed.store().images_by_key(ann, &[&keys[..], &[ImageKey(i64::MAX)]].concat()).await.unwrap();
    assert_eq!(reversed.iter().map(|(key, _)| *key).collect::<Vec<_>>(), keys);
}

pub(crate) async fn a_changed_vector_gets_a_new_id(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1);
    let id = seed.image(ann.account, photo.clone()).await;
    seed.image(ann.account, Photo::at_second(2)).await;
    let eye = add_vectors(seed, "eye").await;
    let before = all(seed, ann, eye).await;
    let job = outdated_job(seed, "w", &id).await;
    let moved = reindexed(&Photo::at_second(7).position(1.0, 2.0));
    assert!(seed.store().complete_job(job.id, "w", moved).await.unwrap());
    let last = before.last().map(|vector| vector.id);
    let after = vectors_after(seed, ann, eye, last).await;
    assert_eq!(after.len(), 1);
    assert_eq!((after[0].image, after[0].captured_at), (before[0].image, second(7)));
    assert_eq!(after[0].vector, before[0].vector);
    assert!(visible(seed, ann, eye, &[before[0].id], Filter::default()).await.is_empty());
    assert_eq!(visible(seed, ann, eye, &[after[0].id], Filter::default()).await, [1]);
}

pub(crate) async fn vectors_of_purged_images_and_old_encoders_are_deleted(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=4).map(Photo::at_second).collect()).await;
    let old = add_vectors(seed, "old").await;
    let new = add_vectors(seed, "new").await;
    delete(seed, ann, &ids[0], NOW).await;
    seed.store().purge_images(second(1), 10).await.unwrap();
    assert_eq!(all(seed, ann, old).await.len(), 3);
    let drop = async |max| seed.store().prune_vectors(&["new", "newer"], max).await.unwrap();
    assert_eq!(drop(2).await, 2);
    assert_eq!(all(seed, ann, old).await.len(), 1);
    assert_eq!((drop(2).await, drop(2).await), (1, 0));
    assert_eq!(seed.store().encoder("old").await.unwrap(), None);
    assert_eq!(all(seed, ann, new).await.len(), 3);
}
