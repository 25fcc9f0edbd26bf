use domain::{BlobKind, ContentHash, Plan, Rendition};
use storage::{
    BlobUser, CheckDepth, IndexedImage, NewUpload, RuleRow, StoreRule, StoredRendition, UploadPart,
    UploadProtocol, Viewer,
};

use crate::{
    NOW, Photo, Seed,
    file_tree::{Files, overwrite, transfer},
    indexed, original_blob,
    queries::{delete, second},
    random_photos, rendition_blob,
};

/// The rows that are checked for a rule, and how many of them break it.
async fn rows(seed: &Seed, rule: StoreRule) -> (Vec<RuleRow>, usize) {
    let (mut ends, mut broken, mut after) = (Vec::new(), 0, None);
    loop {
        let page = seed.store().check_rule(rule, after, 3).await.unwrap();
        broken += page.violations.len();
        let Some(last) = page.last else { return (ends, broken) };
        ends.push(last);
        after = Some(last);
    }
}

pub(super) async fn assert_sound(seed: &Seed) {
    for rule in StoreRule::ALL {
        assert_eq!(rows(seed, rule).await.1, 0, "{rule:?}");
    }
    assert_eq!(seed.store().check_structure(CheckDepth::Full, 10).await.unwrap(), [""; 0]);
    assert_eq!(seed.store().check_references(10).await.unwrap(), [""; 0]);
}

async fn whole_image(seed: &Seed, viewer: Viewer) -> (ContentHash, [StoredRendition; 4]) {
    let original = seed.hash();
    let photo = Photo::at_second(1).original(original).file_name("a.jpg");
    let made = Rendition::ALL.map(|rendition| seed.rendition(rendition, photo.size));
    seed.image(viewer.account, photo.renditions(&made)).await;
    (original, made)
}

pub(crate) async fn operations_break_no_rule(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    let ids = seed.images(ann.account, random_photos(20, NOW, 5)).await;
    seed.images(ben.account, random_photos(10, NOW, 6)).await;
    seed.album(ann, "Album", &ids).await;
    seed.waiting(ann.account, 2).await;
    assert_sound(seed).await;
    for id in &ids[..6] {
        delete(seed, ann, id, second(5)).await;
    }
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_sound(seed).await;
    seed.store().delete_account(ben.account, NOW).await.unwrap();
    assert_sound(seed).await;
    while seed.store().purge_images(second(9), 4).await.unwrap() > 0 {}
    assert_sound(seed).await;
}

pub(crate) async fn a_repair_of_sound_rows_changes_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, random_photos(9, NOW, 5)).await;
    let before = seed.store().images(ann, &ids).await.unwrap();
    for rule in StoreRule::ALL {
        if matches!(rule, StoreRule::RenditionsExistOrQueued | StoreRule::PendingImageHasJob) {
            // These repairs queue a job, which would make the existing renditions again.
            continue;
        }
        let (ends, _) = rows(seed, rule).await;
        seed.store().repair_rule(rule, &ends, NOW).await.unwrap();
        seed.store().repair_rule(rule, &[RuleRow(1 << 40)], NOW).await.unwrap();
    }
    assert_eq!(seed.store().images(ann, &ids).await.unwrap(), before);
    assert_sound(seed).await;
}

pub(crate) async fn a_discarded_rendition_is_made_again(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (original, made) = whole_image(seed, ann).await;
    let medium = rendition_blob(&made[1]);
    assert_eq!(seed.store().discard_rendition(medium, second(1)).await.unwrap(), 1);
    assert_eq!(seed.store().taken_blobs(10).await.unwrap(), [medium], "its file is to be deleted");
    assert_eq!(rows(seed, StoreRule::RenditionsExist).await.1, 1);
    assert_eq!(rows(seed, StoreRule::RenditionsExistOrQueued).await.1, 0);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 1, "it stays visible");

    let job = seed.lease("w", second(2)).await.remove(0);
    assert_eq!((job.original, job.picture), (original, None), "its picture is to be decoded");
    let again = IndexedImage { renditions: made.to_vec(), ..indexed(&Photo::at_second(1)) };
    let done = seed.store().complete_job(job.id, "w", again.clone()).await.unwrap();
    assert!(!done, "the old file is not deleted yet");
    seed.store().forget_blobs(&[medium]).await.unwrap();
    seed.announce(&[medium]).await;
    assert!(seed.store().complete_job(job.id, "w", again).await.unwrap());
    assert_eq!(rows(seed, StoreRule::RenditionsExist).await.1, 0);
    assert_sound(seed).await;
}

pub(crate) async fn a_discarded_full_rendition_is_queued(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (original, made) = whole_image(seed, ann).await;
    assert_eq!(seed.lease_renditions("w", NOW).await, []);
    assert_eq!(seed.store().discard_rendition(rendition_blob(&made[0]), NOW).await.unwrap(), 1);
    assert_eq!(seed.lease("w", second(1)).await, [], "medium and thumb exist");
    assert_eq!(seed.lease_renditions("w", NOW).await[0].original, original);
    assert_sound(seed).await;
}

/// The worker leased its job before the rendition was lost, so it does not make the rendition again.
pub(crate) async fn a_worker_with_an_old_job_cannot_complete_a_lost_rendition(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (_, made) = whole_image(seed, ann).await;
    assert_eq!(seed.store().requeue_outdated(9, NOW, 10).await.unwrap(), 1);
    let old = seed.lease("old", NOW).await.remove(0);
    assert!(old.picture.is_some());
    seed.store().discard_rendition(rendition_blob(&made[2]), NOW).await.unwrap();
    let found = IndexedImage { renditions: vec![], ..indexed(&Photo::at_second(1)) };
    assert!(!seed.store().complete_job(old.id, "old", found).await.unwrap());
    assert_eq!(seed.lease("new", NOW).await[0].picture, None);
}

pub(crate) async fn uses_of_a_blob_are_listed(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let (original, made) = whole_image(seed, ann).await;
    let shared = Photo::at_second(1).original(original).renditions(&made);
    seed.image(ben.account, shared).await;
    let of_original = seed.store().blob_uses(BlobKind::Original, &original, 10).await.unwrap();
    assert_eq!(of_original.len(), 2);
    let BlobUser::Image(image) = &of_original[0].user else { panic!("{of_original:?}") };
    assert_eq!(image.file_name.as_deref(), Some("a.jpg"));
    assert_eq!((of_original[0].original, of_original[0].rendition), (original, None));
    let of_thumb = seed.store().blob_uses(BlobKind::Rendition, &made[2].blob, 1).await.unwrap();
    assert_eq!(of_thumb.len(), 1, "no more than requested");
    assert_eq!(of_thumb[0].rendition, Some(Rendition::Thumb));
    seed.store().delete_account(ben.account, NOW).await.unwrap();
    let left = seed.store().blob_uses(BlobKind::Original, &original, 10).await.unwrap();
    assert_eq!(left.len(), 1, "a deleted account needs none");
    let announced = original_blob(&seed.hash());
    seed.announce(&[announced]).await;
    assert_eq!(seed.store().blob_uses(announced.kind, &announced.hash, 10).await.unwrap(), []);
}

pub(crate) async fn blobs_are_unregistered_until_they_are_announced(seed: &Seed) {
    let (known, unknown) = (original_blob(&seed.hash()), seed.hash());
    seed.announce(&[known]).await;
    let found = seed.store().unregistered_blobs(BlobKind::Original, &[known.hash, unknown]).await.unwrap();
    assert_eq!(found, [unknown]);
    let other_kind = seed.store().unregistered_blobs(BlobKind::Rendition, &[known.hash]).await.unwrap();
    assert_eq!(other_kind, [known.hash]);
}

pub(crate) async fn used_blobs_are_not_released(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let (original, made) = whole_image(seed, ann).await;
    for (kind, hash) in [(BlobKind::Original, original), (BlobKind::Rendition, made[1].blob)] {
        let hashes = [hash, seed.hash()];
        assert_eq!(seed.store().kept_blobs_without_use(kind, &hashes).await.unwrap(), []);
        seed.store().release_blobs_without_use(kind, &hashes, NOW).await.unwrap();
        assert_eq!(seed.store().kept_blobs(kind, None, 1).await.unwrap().len(), 1, "a used blob stays kept");
    }
    assert_sound(seed).await;
}

/// Begins an upload and adds a part to it for each of these lengths.
async fn upload(seed: &Seed, viewer: Viewer, name: &str, parts: &[u64]) {
    let upload = NewUpload {
        account: viewer.account,
        protocol: UploadProtocol::Chunked,
        name: name.to_owned(),
        total_bytes: None,
        metadata: String::new(),
        at: second(1),
    };
    let begun = seed.store().begin_upload(upload).await.unwrap();
    let storage::BeginUpload::Begun(id) = begun else { panic!("{begun:?}") };
    for (number, bytes) in (1..).zip(parts) {
        let part = UploadPart {
            number,
            name: format!("{number:05}"),
            bytes: *bytes,
            file: format!("part-{name}{number}"),
            received_at: second(2),
        };
        seed.store().add_part(id, part, None).await.unwrap();
    }
}

pub(crate) async fn operations_on_files_and_uploads_break_no_rule(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "c"]).await;
    let original = ann.photo("a/b/1.jpg").await;
    ann.put_photo("c/2.jpg", original).await.unwrap();
    ann.put_partial("c/3.jpg.part", original).await.unwrap();
    let partial = ann.original().await;
    ann.put_partial("c/4.jpg.part", partial).await.unwrap();
    ann.junk("a/.DS_Store", 30).await;
    upload(seed, ann.viewer, "u", &[10, 20]).await;
    assert_sound(seed).await;
    ann.copy(transfer("a", "d")).await.unwrap();
    ann.rename(overwrite("a/b", "c/b")).await.unwrap();
    assert_sound(seed).await;
    for gone in ["d", "c"] {
        ann.delete(gone).await.unwrap();
        assert_sound(seed).await;
    }
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&original).await, Some(true), "its last file is gone");
    assert_sound(seed).await;
    ann.put_photo("a/again.jpg", original).await.unwrap();
    assert_sound(seed).await;
}

pub(crate) async fn the_length_of_an_original_can_be_corrected(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a"]).await;
    let original = ann.photo("1.jpg").await;
    let partial = ann.original().await;
    ann.put_partial("a/2.jpg.part", partial).await.unwrap();
    let version = ann.entry("").await.version;
    for (original, bytes) in [(original, 5), (partial, 7)] {
        seed.store().correct_length(&original, bytes).await.unwrap();
        assert_sound(seed).await;
    }
    assert_eq!(ann.stored_bytes().await, 12);
    let (folder, root) = (ann.entry("a").await, ann.entry("").await);
    assert_eq!((folder.bytes, root.version > version), (7, true));
    let uses = seed.store().blob_uses(BlobKind::Original, &partial, 10).await.unwrap();
    assert_eq!(uses[0].original_bytes, 7);
    let BlobUser::PartialFile { account, name } = &uses[0].user else { panic!("{uses:?}") };
    assert_eq!((account.is_some(), name.as_str()), (true, "2.jpg.part"));
}

pub(crate) async fn parts_of_uploads_are_listed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    upload(seed, ann, "a", &[10, 20]).await;
    upload(seed, ann, "b", &[30]).await;
    let (mut listed, mut after): (Vec<_>, Option<String>) = (Vec::new(), None);
    loop {
        let page = seed.store().upload_parts(after.as_deref(), 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.file.clone());
        listed.extend(page);
    }
    let files: Vec<_> = listed.iter().map(|part| (part.file.as_str(), part.bytes)).collect();
    assert_eq!(files, [("part-a1", 10), ("part-a2", 20), ("part-b1", 30)]);
    assert!(listed[0].account.is_some() && listed[0].upload != listed[2].upload);
}
