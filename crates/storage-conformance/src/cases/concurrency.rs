use domain::{AlbumChange, Email, Plan};
use storage::{AddOutcome, AlbumWrite, CreateAccountError, Lookup, NewAccount};

use super::concurrently;
use crate::{
    DECODERS, NOW, Photo, Seed, indexed, lease, original_blob,
    queries::{id_strings, list_all, second, timeline},
    rendition_blob, sync_handle,
};

/// Imports and indexes one file, as a worker does.
async fn import(seed: Seed, viewer: storage::Viewer, number: i64) {
    let photo = Photo::at_second(number / 8).original(seed.hash()).description("sea");
    let made = [seed.rendition(domain::Rendition::Thumb, photo.size)];
    let photo = photo.renditions(&made);
    seed.announce(&[original_blob(&photo.original.unwrap()), rendition_blob(&made[0])]).await;
    let image = seed.new_image(viewer.account, &photo);
    assert_eq!(seed.store().add_image(image).await.unwrap(), AddOutcome::Added);
    let worker = format!("worker-{number}");
    let request = storage::LeaseRequest { max: 1, ..lease(&worker, second(1)) };
    for job in seed.store().lease_jobs(request, DECODERS).await.unwrap() {
        let done = seed.store().complete_job(job.id, &worker, indexed(&photo)).await.unwrap();
        assert!(done);
    }
}

pub(crate) async fn sixty_four_writers_lose_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    concurrently((0..64).map(|number| import(seed.clone(), ann, number))).await;
    assert_eq!(list_all(seed, ann, 50).await.len(), 64);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 64);
    assert_eq!(seed.store().queue_length().await.unwrap().pending, 0);
}

pub(crate) async fn only_one_of_concurrent_equal_addresses_gets_an_account(seed: &Seed) {
    let outcomes = concurrently((0..16).map(|_| {
        let store = seed.store().clone();
        let email = Email::parse("ann@example.org").unwrap();
        let account = NewAccount {
            email,
            password_hash: "$argon2id$".to_owned(),
            plan: Plan::Paid,
            sync_handle: sync_handle("ann@example.org"),
            created_at: NOW,
        };
        async move { store.create_account(account).await }
    }))
    .await;
    let taken = |outcome: &&Result<_, _>| matches!(outcome, Err(CreateAccountError::EmailTaken));
    assert_eq!(outcomes.iter().filter(taken).count(), 15);
    assert_eq!(seed.store().accounts().await.unwrap().len(), 1);
}

pub(crate) async fn only_one_of_concurrent_equal_files_is_added(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1).original(seed.hash());
    seed.announce(&[original_blob(&photo.original.unwrap())]).await;
    let outcomes = concurrently((0..16).map(|_| {
        let (store, image) = (seed.store().clone(), seed.new_image(ann.account, &photo));
        async move { store.add_image(image).await.unwrap() }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == AddOutcome::Added).count(), 1);
    let duplicates = outcomes.iter().filter(|outcome| matches!(outcome, AddOutcome::Duplicate(_)));
    assert_eq!(duplicates.count(), 15);
}

pub(crate) async fn only_one_concurrent_deletion_finds_the_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1)).await;
    let outcomes = concurrently((0..16).map(|_| {
        let (store, id) = (seed.store().clone(), id.clone());
        async move { store.delete_image(ann, &id, second(2)).await.unwrap() }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Lookup::Found(())).count(), 1);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 0);
}

pub(crate) async fn concurrent_album_changes_are_all_kept(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..32).map(Photo::at_second).collect()).await;
    let album = seed.album(ann, "Mine", &[]).await;
    concurrently(ids.iter().map(|id| {
        let change = AlbumChange { add: id_strings(std::slice::from_ref(id)), ..AlbumChange::default() };
        let (store, album) = (seed.store().clone(), album.clone());
        async move {
            let outcome = store.change_album(ann, &album, change, second(1)).await.unwrap();
            assert!(matches!(outcome, AlbumWrite::Done(_)));
        }
    }))
    .await;
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().image_count, 32);
}

pub(crate) async fn readers_see_consistent_albums_during_writes(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..20).map(Photo::at_second).collect()).await;
    let album = seed.album(ann, "Mine", &[]).await;
    let writer = {
        let (store, album, ids) = (seed.store().clone(), album.clone(), id_strings(&ids));
        tokio::spawn(async move {
            for _ in 0..15 {
                let add = AlbumChange { add: ids.clone(), ..AlbumChange::default() };
                store.change_album(ann, &album, add, second(1)).await.unwrap();
                let remove = AlbumChange { remove: ids.clone(), ..AlbumChange::default() };
                store.change_album(ann, &album, remove, second(2)).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        let seen = seed.store().album(ann, &album).await.unwrap().unwrap();
        let whole = match seen.image_count {
            0 => seen.cover.is_none(),
            20 => seen.cover.as_ref() == ids.last(),
            _ => false,
        };
        assert!(whole, "{seen:?}");
    }
    writer.await.unwrap();
    assert_eq!(timeline(seed, ann).await.len(), 20);
}
