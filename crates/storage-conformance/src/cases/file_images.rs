use domain::{ContentHash, Plan, Rendition};
use storage::{
    AddOutcome, BlobKind, FileCondition, FileContent, FileKind, FileMove, FileRefusal, ImageState, NewFile,
    NewFileContent, NewImage,
};

use super::concurrently;
use crate::{
    DECODERS, ORIGINAL_BYTES, Photo, Seed,
    file_tree::{Files, new_file, overwrite, path, transfer},
    queries::{delete, second, timeline},
};

/// A request to add the image by an import.
fn import(files: &Files, original: ContentHash) -> NewImage {
    NewImage { restore_deleted: storage::RestoreDeleted::Always, ..files.new_image(original) }
}

pub(crate) async fn several_files_may_have_one_image(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.put_photo("b.jpg", original).await.unwrap();
    ann.copy(transfer("a.jpg", "c.jpg")).await.unwrap();
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    assert_eq!((ann.image_id("b.jpg").await, ann.image_id("c.jpg").await), (id.clone(), id.clone()));
    for last in ["a.jpg", "b.jpg"] {
        ann.delete(last).await.unwrap();
        assert!(ann.is_visible(&id).await);
    }
    assert_eq!(timeline(seed, ann.viewer).await, [id]);
}

pub(crate) async fn an_image_is_deleted_with_its_last_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    assert!(!ann.is_visible(&id).await);
    assert_eq!(ann.store().count_images(ann.viewer).await.unwrap(), 0);
    assert_eq!(ann.is_deleted(&original).await, Some(true));
    assert!(ann.store().restore_image(ann.account(), &id).await.unwrap());
    assert!(ann.is_visible(&id).await, "its owner can restore it");
    assert_eq!(ann.names("").await, [""; 0]);
}

pub(crate) async fn an_image_without_files_survives_other_files(seed: &Seed) {
    let ann = Files::new(seed).await;
    let id = seed.image(ann.account(), Photo::at_second(1)).await;
    ann.photo("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    ann.sweep().await;
    assert!(ann.is_visible(&id).await);
}

pub(crate) async fn bytes_that_are_put_again_restore_the_image_of_a_deleted_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    ann.put_photo("b.jpg", original).await.unwrap();
    assert_eq!(ann.image_id("b.jpg").await, id);
    assert!(ann.is_visible(&id).await);

    ann.delete("b.jpg").await.unwrap();
    ann.announce(&original).await;
    // The image is restored even if the caller does not restore images that their owner deleted.
    let outcome = ann.store().add_image(ann.new_image(original)).await.unwrap();
    assert!(matches!(outcome, AddOutcome::Restored(_)), "{outcome:?}");
    assert!(ann.is_visible(&id).await);
}

pub(crate) async fn an_image_deleted_elsewhere_stays_deleted(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    delete(seed, ann.viewer, &id, second(2)).await;
    assert!(ann.image("a.jpg").await.is_some_and(|image| !image.is_live), "the file is still listed");
    for at in ["a.jpg", "b.jpg"] {
        ann.put_photo(at, original).await.unwrap();
        assert_eq!(ann.image_id(at).await, id);
    }
    for at in ["a.jpg", "b.jpg"] {
        ann.delete(at).await.unwrap();
    }
    ann.put_photo("c.jpg", original).await.unwrap();
    assert!(!ann.is_visible(&id).await, "the deletion of its files does not change who deleted it");
    let outcome = ann.store().add_image(import(&ann, original)).await.unwrap();
    assert!(matches!(outcome, AddOutcome::Restored(_)), "{outcome:?}");
    assert!(ann.is_visible(&id).await);
    assert!(ann.image("c.jpg").await.unwrap().is_live);
}

pub(crate) async fn a_restored_image_can_be_deleted_for_good(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    assert!(ann.store().restore_image(ann.account(), &id).await.unwrap());
    delete(seed, ann.viewer, &id, second(2)).await;
    ann.put_photo("a.jpg", original).await.unwrap();
    assert!(!ann.is_visible(&id).await);
}

pub(crate) async fn a_replaced_photo_is_deleted_with_its_last_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let (first, second) = (ann.photo("a.jpg").await, ann.photo("b.jpg").await);
    ann.put_photo("c.jpg", first).await.unwrap();
    let third = ann.photo("a.jpg").await;
    assert_eq!(ann.is_deleted(&first).await, Some(false), "another file has it");
    ann.photo("c.jpg").await;
    assert_eq!(ann.is_deleted(&first).await, Some(true));
    ann.junk("b.jpg", 1).await;
    assert_eq!(ann.is_deleted(&second).await, Some(true));
    ann.rename(overwrite("b.jpg", "a.jpg")).await.unwrap();
    assert_eq!(ann.is_deleted(&third).await, Some(true));
    ann.put_photo("a.jpg", third).await.unwrap();
    assert_eq!(ann.is_deleted(&third).await, Some(false), "its bytes were put again");
}

pub(crate) async fn putting_the_same_bytes_again_changes_no_image(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    let (before, id) = (ann.entry("a.jpg").await, ann.image_id("a.jpg").await);
    let written = ann.at(2).put_photo("a.jpg", original).await.unwrap();
    assert_eq!((written.entry.id, &written.entry.kind), (before.id, &before.kind));
    assert!(written.entry.version > before.version);
    assert!(ann.is_visible(&id).await);
    delete(seed, ann.viewer, &id, second(3)).await;
    ann.put_photo("a.jpg", original).await.unwrap();
    assert!(!ann.is_visible(&id).await);
    assert_eq!(ann.image_id("a.jpg").await, id);
}

pub(crate) async fn an_image_can_be_deleted_before_it_is_indexed(seed: &Seed) {
    let ann = Files::new(seed).await;
    let pending = ann.photo("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    ann.index().await;
    assert_eq!(timeline(seed, ann.viewer).await, []);
    assert_eq!(ann.store().count_images(ann.viewer).await.unwrap(), 0);
    assert!(ann.is_ready(&pending).await);
    ann.put_photo("a.jpg", pending).await.unwrap();
    assert!(ann.image("a.jpg").await.unwrap().is_live, "it is restored and needs no indexing");
    assert_eq!(ann.store().count_images(ann.viewer).await.unwrap(), 1);

    let again = ann.photo("b.jpg").await;
    ann.delete("b.jpg").await.unwrap();
    ann.put_photo("b.jpg", again).await.unwrap();
    ann.index().await;
    assert!(ann.image("b.jpg").await.unwrap().is_live, "it was restored before it was indexed");
    assert_eq!(ann.store().count_images(ann.viewer).await.unwrap(), 2);
}

pub(crate) async fn a_failed_image_is_deleted_with_its_last_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    let job = seed.lease("w", second(1)).await.remove(0);
    ann.store().fail_job(job.id, "w", "no picture in it", DECODERS).await.unwrap();
    ann.delete("a.jpg").await.unwrap();
    assert_eq!(ann.is_deleted(&original).await, Some(true));
    assert_eq!(ann.store().failed_images(9).await.unwrap(), []);
    assert_eq!(ann.store().queue_length().await.unwrap().failed, 0);
    ann.put_photo("a.jpg", original).await.unwrap();
    let known = ann.store().image_by_original(ann.account(), &original).await.unwrap().unwrap();
    assert_eq!((known.state, known.deleted), (ImageState::Pending, false), "it is retried");
}

/// A file whose image was deleted elsewhere and then purged; returns its original.
async fn purged(files: &Files, at: &str) -> ContentHash {
    let original = files.photo(at).await;
    files.index().await;
    delete(&files.seed, files.viewer, &files.image_id(at).await, second(2)).await;
    assert_eq!(files.store().purge_images(second(3), 9).await.unwrap(), 1);
    original
}

pub(crate) async fn a_file_outlives_its_purged_image(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = purged(&ann, "a.jpg").await;
    assert_eq!(ann.image("a.jpg").await, None);
    for at in ["a.jpg", "b.jpg"] {
        ann.put_photo(at, original).await.unwrap();
        assert_eq!(ann.image(at).await, None, "its bytes are not stored again");
    }
    assert_eq!(ann.is_deleted(&original).await, None);
    for at in ["a.jpg", "b.jpg"] {
        ann.delete(at).await.unwrap();
    }
    ann.put_photo("a.jpg", original).await.unwrap();
    assert_eq!(ann.is_deleted(&original).await, Some(false), "no file remembers it");
    assert_eq!(ann.stored_bytes().await, ORIGINAL_BYTES);
}

pub(crate) async fn an_import_links_files_whose_image_was_purged(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = purged(&ann, "a.jpg").await;
    ann.put_photo("b.jpg", original).await.unwrap();
    ann.announce(&original).await;
    let image = import(&ann, original);
    assert_eq!(ann.store().add_image(image.clone()).await.unwrap(), AddOutcome::Added);
    ann.index().await;
    for at in ["a.jpg", "b.jpg"] {
        let found = ann.image(at).await.unwrap();
        assert_eq!((found.id, found.is_live), (image.id.clone(), true));
        ann.delete(at).await.unwrap();
    }
    assert_eq!(ann.is_deleted(&original).await, Some(true), "its last file was deleted");
}

pub(crate) async fn a_partial_file_becomes_a_photo_when_it_is_moved(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.original().await;
    let partial = ann.put_partial("a.tmp", original).await.unwrap().entry;
    assert_eq!(ann.is_deleted(&original).await, None, "it has no image");
    assert_eq!(ann.rename(transfer("a.tmp", "b.tmp")).await.unwrap().entry.kind, partial.kind);
    let other = ann.original().await;
    let into = |image| FileMove { image: Some(image), ..transfer("b.tmp", "a.jpg") };
    assert_eq!(ann.rename(into(ann.new_image(other))).await, Err(FileRefusal::OriginalGone));
    let image = ann.new_image(original);
    let moved = ann.rename(into(image.clone())).await.unwrap();
    assert_eq!((moved.entry.id, moved.is_new), (partial.id, true));
    assert!(moved.entry.version > partial.version);
    ann.index().await;
    assert_eq!(ann.image("a.jpg").await.map(|image| (image.id, image.is_live)), Some((image.id, true)));
    assert_eq!(ann.stored_bytes().await, ORIGINAL_BYTES);
}

pub(crate) async fn moving_a_photo_ignores_the_given_image(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    let id = ann.image_id("a.jpg").await;
    let image = Some(ann.new_image(ann.original().await));
    ann.rename(FileMove { image, ..transfer("a.jpg", "b.jpg") }).await.unwrap();
    assert_eq!(ann.image_id("b.jpg").await, id);
    assert_eq!(ann.is_deleted(&original).await, Some(false));
}

/// Whether the original is kept, and not up for removal.
async fn is_kept(files: &Files, original: &ContentHash) -> bool {
    let kept = files.store().kept_blobs(BlobKind::Original, None, 100).await.unwrap();
    kept.iter().any(|blob| blob.hash == *original)
}

pub(crate) async fn the_original_of_a_partial_file_is_kept(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    let unannounced = seed.hash();
    let content = |original| NewFileContent::Partial { original, media_type: "image/jpeg" };
    assert_eq!(ann.put(new_file("a.tmp", content(unannounced))).await, Err(FileRefusal::OriginalGone));

    let original = ann.original().await;
    ann.put_partial("a.tmp", original).await.unwrap();
    ann.copy(transfer("a.tmp", "b.tmp")).await.unwrap();
    ben.put_partial("a.tmp", original).await.unwrap();
    assert_eq!(ann.stored_bytes().await, ORIGINAL_BYTES);
    for file in ["a.tmp", "b.tmp"] {
        ann.delete(file).await.unwrap();
        assert!(is_kept(&ann, &original).await);
    }
    assert_eq!(ann.stored_bytes().await, 0);
    assert_eq!(ben.stored_bytes().await, ORIGINAL_BYTES);
    ben.junk("a.tmp", 1).await;
    assert!(!is_kept(&ann, &original).await, "the last partial file is gone");
    assert_eq!(ben.stored_bytes().await, 0);
}

pub(crate) async fn a_purge_keeps_the_original_of_a_partial_file(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    let original = ann.photo("a.jpg").await;
    ann.index().await;
    ben.put_partial("a.tmp", original).await.unwrap();
    let id = ann.image_id("a.jpg").await;
    ann.delete("a.jpg").await.unwrap();
    assert_eq!(ann.store().purge_images(second(2), 9).await.unwrap(), 1);
    assert!(is_kept(&ann, &original).await);
    assert_eq!(ann.store().rendition(&id, Rendition::Thumb, 9).await.unwrap(), None);
    assert_eq!(ann.stored_bytes().await, 0);
    let image = Some(ben.new_image(original));
    ben.rename(FileMove { image, ..transfer("a.tmp", "a.jpg") }).await.unwrap();
    ben.index().await;
    assert!(ben.image("a.jpg").await.unwrap().is_live);
}

pub(crate) async fn an_original_counts_once_in_the_quota(seed: &Seed) {
    let ann = Files::new(seed).await;
    assert_eq!(ann.stored_bytes().await, 0);
    let original = ann.photo("a.jpg").await;
    for at in ["a.jpg", "b.jpg"] {
        ann.put_photo(at, original).await.unwrap();
    }
    ann.put_partial("c.tmp", original).await.unwrap();
    ann.copy(transfer("a.jpg", "d.jpg")).await.unwrap();
    ann.junk("e", 999).await;
    assert_eq!(ann.stored_bytes().await, ORIGINAL_BYTES);
    ann.photo("f.jpg").await;
    seed.image(ann.account(), Photo::at_second(9)).await;
    assert_eq!(ann.stored_bytes().await, 3 * ORIGINAL_BYTES);
    ann.delete("f.jpg").await.unwrap();
    assert_eq!(ann.stored_bytes().await, 3 * ORIGINAL_BYTES);
    assert_eq!(ann.store().purge_images(second(2), 9).await.unwrap(), 1);
    assert_eq!(ann.stored_bytes().await, 2 * ORIGINAL_BYTES);
}

pub(crate) async fn a_full_account_stores_no_new_original(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("a.jpg").await;
    let quota_bytes = Some(2 * ORIGINAL_BYTES - 1);
    let limited = |original| NewImage { quota_bytes, ..ann.new_image(original) };
    let photo = |at, original| new_file(at, NewFileContent::Photo(limited(original)));
    let new = ann.original().await;
    assert_eq!(ann.put(photo("b.jpg", new)).await, Err(FileRefusal::QuotaExceeded));
    let content = NewFileContent::Partial { original: new, media_type: "image/jpeg" };
    let limits = Files { quota_bytes, ..ann.clone() };
    assert_eq!(limits.put(new_file("b.tmp", content)).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!(ann.store().add_image(limited(new)).await.unwrap(), AddOutcome::QuotaExceeded);
    assert_eq!(ann.is_deleted(&new).await, None);
    assert!(!is_kept(&ann, &new).await);

    let enough = NewImage { quota_bytes: Some(2 * ORIGINAL_BYTES), ..ann.new_image(new) };
    assert!(ann.put(photo("b.jpg", original)).await.is_ok(), "these bytes are stored already");
    assert!(ann.put(new_file("b.jpg", NewFileContent::Photo(enough))).await.is_ok());
    assert_eq!(ann.stored_bytes().await, 2 * ORIGINAL_BYTES);
    let third = ann.original().await;
    ann.put_partial("c.tmp", third).await.unwrap();
    let image = Some(limited(third));
    let moved = ann.rename(FileMove { image, ..transfer("c.tmp", "c.jpg") }).await;
    assert!(moved.is_ok(), "its bytes are stored already: {moved:?}");
}

pub(crate) async fn puts_racing_the_deletion_of_another_file_keep_the_image(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.photo("0.jpg").await;
    concurrently((0..32).map(|number| {
        let ann = ann.clone();
        async move {
            if number % 2 == 0 {
                ann.put_photo(&format!("{}.jpg", number + 2), original).await.unwrap();
            } else {
                let _outcome = ann.delete(&format!("{}.jpg", number - 1)).await;
            }
        }
    }))
    .await;
    let names = ann.names("").await;
    assert!(names.contains(&"32.jpg".to_owned()));
    assert_eq!(ann.is_deleted(&original).await, Some(false));
    for name in &names {
        ann.delete(name).await.unwrap();
    }
    assert_eq!(ann.is_deleted(&original).await, Some(true));
}

pub(crate) async fn the_image_belongs_to_the_account_of_the_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let ben = seed.account(Plan::Paid).await;
    let original = ann.original().await;
    let image = NewImage { account: ben.account, ..ann.new_image(original) };
    let condition = FileCondition::Absent;
    let file = NewFile { condition, ..new_file("a.jpg", NewFileContent::Photo(image)) };
    ann.put(file).await.unwrap();
    assert_eq!(ann.is_deleted(&original).await, Some(false));
    let foreign = ann.store().image_by_original(ben.account, &original).await.unwrap();
    assert_eq!(foreign, None);
    let found = ann.store().file(ann.account(), &path("a.jpg")).await.unwrap().unwrap();
    assert!(matches!(found.kind, FileKind::File(FileContent::Photo { image: Some(_), .. })));
}

pub(crate) async fn an_image_can_be_deleted_from_the_start(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.original().await;
    let deleted = || NewImage {
        is_deleted: true,
        restore_deleted: storage::RestoreDeleted::Never,
        ..ann.new_image(original)
    };
    let add = async |image| {
        ann.announce(&original).await;
        ann.store().add_image(image).await.unwrap()
    };
    let new = deleted();
    let at = new.added_at;
    assert_eq!(add(new).await, AddOutcome::Added);
    ann.index().await;
    assert!(ann.is_ready(&original).await);
    assert_eq!(timeline(seed, ann.viewer).await, []);
    let trash = ann.store().page_trash(ann.account(), None, 9).await.unwrap();
    assert_eq!(trash.iter().map(|it| (it.deleted_at, it.image.is_some())).collect::<Vec<_>>(), [(at, true)]);
    assert!(matches!(add(deleted()).await, AddOutcome::StaysDeleted(_)));
    assert!(matches!(add(import(&ann, original)).await, AddOutcome::Restored(_)));
    assert!(matches!(add(deleted()).await, AddOutcome::Duplicate(_)));
    assert_eq!(ann.is_deleted(&original).await, Some(false));
    assert_eq!(timeline(seed, ann.viewer).await.len(), 1);
}

pub(crate) async fn a_deleted_image_stays_deleted_when_nothing_is_restored(seed: &Seed) {
    let ann = Files::new(seed).await;
    let (with_files, by_hand) = (ann.photo("a.jpg").await, ann.photo("b.jpg").await);
    ann.index().await;
    ann.delete("a.jpg").await.unwrap();
    delete(seed, ann.viewer, &ann.image_id("b.jpg").await, second(2)).await;
    for original in [with_files, by_hand] {
        ann.announce(&original).await;
        let image = NewImage { restore_deleted: storage::RestoreDeleted::Never, ..ann.new_image(original) };
        let outcome = ann.store().add_image(image).await.unwrap();
        assert!(matches!(outcome, AddOutcome::StaysDeleted(_)), "{outcome:?}");
        assert_eq!(ann.is_deleted(&original).await, Some(true));
    }
}
