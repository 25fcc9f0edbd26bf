//! Originals, renditions and parts between folders and buckets.

use blobs::content_hash;
use bytes::Bytes;
use domain::{BlobKind, ContentHash, Plan, Rendition};
use fastrand::Rng;
use library_copy::{CopyError, CopyOptions, copy};
use storage::{
    AddPart, BeginUpload, BlobRef, IndexedImage, NewImage, NewUpload, StoredPart, StoredRendition,
    UploadPart, UploadProtocol,
};
use storage_conformance::{NOW, Photo, Seed, indexed};

use crate::{
    interruption::copy_interrupted,
    places::{Side, small_pages},
};

async fn store_blob(side: &Side, kind: BlobKind, bytes: Vec<u8>) -> BlobRef {
    let blob = BlobRef { kind, hash: content_hash(&bytes), bytes: bytes.len() as u64 };
    side.place.store.announce_blobs(&[blob], NOW).await.unwrap();
    side.place.blobs.content.put_bytes(kind, Bytes::from(bytes)).await.unwrap();
    blob
}

fn noise(random: &mut Rng, max: usize) -> Vec<u8> {
    let length = random.usize(1..max);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}

/// Adds photos with all their files, an upload in progress, and a blob that nothing refers to.
async fn fill(side: &Side, photos: i64) {
    let mut random = Rng::with_seed(4);
    let seed = Seed::new(side.place.store.clone());
    let ann = seed.account(Plan::Paid).await;
    for number in 0..photos {
        // One original is longer than a part of a multipart upload to S3.
        let length = if number == 1 { 9_000_000 } else { 50_000 };
        let original = store_blob(side, BlobKind::Original, noise(&mut random, length)).await;
        let mut photo = Photo::at_second(number).original(original.hash).description("a photo of a lake");
        let mut renditions = Vec::new();
        for rendition in [Rendition::Medium, Rendition::Thumb] {
            let blob = store_blob(side, BlobKind::Rendition, noise(&mut random, 5000)).await;
            let size = photo.size.fit_within(rendition.longest_side_px());
            renditions.push(StoredRendition { rendition, blob: blob.hash, bytes: blob.bytes, size });
        }
        photo = photo.renditions(&renditions);
        let image = NewImage { original_bytes: original.bytes, ..seed.new_image(ann.account, &photo) };
        side.place.store.add_image(image).await.unwrap();
        let job = seed.lease("worker", NOW).await.remove(0);
        let found: IndexedImage = indexed(&photo);
        assert!(side.place.store.complete_job(job.id, "worker", found).await.unwrap());
    }
    store_blob(side, BlobKind::Original, b"never kept".to_vec()).await;
    let upload = NewUpload {
        account: ann.account,
        protocol: UploadProtocol::Tus,
        name: "upload".to_owned(),
        total_bytes: Some(1_000_000),
        metadata: String::new(),
        at: NOW,
    };
    let BeginUpload::Begun(id) = side.place.store.begin_upload(upload).await.unwrap() else { panic!() };
    let mut offset = 0;
    for number in 0..3 {
        let bytes = noise(&mut random, 10_000);
        let mut writer = side.place.blobs.parts.create(None).await.unwrap();
        writer.write(&bytes).await.unwrap();
        let part = UploadPart {
            number: offset,
            name: number.to_string(),
            bytes: bytes.len() as u64,
            file: writer.finish().await.unwrap(),
            received_at: NOW,
        };
        offset += part.bytes;
        assert_eq!(
            side.place.store.add_part(id, part, None).await.unwrap(),
            AddPart::Added { replaced: None }
        );
    }
}

/// The name and the hash of every file that the metadata store refers to.
async fn contents(side: &Side) -> Vec<(String, ContentHash)> {
    let mut contents = Vec::new();
    for kind in [BlobKind::Original, BlobKind::Rendition] {
        for blob in side.place.store.kept_blobs(kind, None, 10_000).await.unwrap() {
            let hash = side.place.blobs.content.read_hash(kind, blob.hash).await.unwrap();
            assert_eq!(hash, blob.hash);
            contents.push((kind.as_str().to_owned(), hash));
        }
    }
    for StoredPart { file, bytes, .. } in side.place.store.upload_parts(None, 100).await.unwrap() {
        let parts = side.place.blobs.parts.read(vec![(file.clone(), bytes)]);
        let chunks: Vec<Bytes> = futures_util::TryStreamExt::try_collect(parts).await.unwrap();
        contents.push((file, content_hash(&chunks.concat())));
    }
    contents
}

#[tokio::test(flavor = "multi_thread")]
async fn files_survive_both_directions() {
    let mut random = Rng::with_seed(11);
    let mut from = Side::sqlite("folder").await;
    fill(&from, 20).await;
    let (expected, tables) = (contents(&from).await, from.tables().await);
    assert_eq!(expected.len(), 63);
    for (number, to) in
        [Side::bucket("bucket").await, Side::sqlite("folder again").await].into_iter().enumerate()
    {
        let options = small_pages(&format!("transfer-{number}"));
        let report = copy_interrupted(&from.place, &to.place, &options, 5, &mut random).await;
        assert_eq!((report.files.blobs, report.files.parts, report.lost), (60, 3, 0));
        assert!(report.files.copied <= 63);
        assert_eq!(contents(&to).await, expected);
        assert_eq!(to.tables().await, tables);
        assert!(
            to.place.blobs.temporary_files().await.unwrap().is_empty(),
            "nothing is left of interrupted files"
        );
        from = to;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_files_are_not_copied_again() {
    let (from, to) = (Side::sqlite("folder").await, Side::bucket("bucket").await);
    fill(&from, 5).await;
    let failing = tokio::spawn({
        let (from, to) = (from.place.clone(), to.place.clone());
        async move {
            let options = CopyOptions::new("transfer".to_owned(), NOW);
            copy(&from, &to, &options, |progress| assert_ne!(progress.step, "indexing words")).await
        }
    });
    assert!(failing.await.unwrap_err().is_panic(), "all files were copied");
    to.server.as_ref().unwrap().requests();
    let options = CopyOptions::new("again".to_owned(), NOW);
    let report = copy(&from.place, &to.place, &options, |_| ()).await.unwrap().unwrap();
    assert_eq!((report.files.copied, report.files.blobs, report.files.parts), (0, 15, 3));
    let requests = to.server.as_ref().unwrap().requests();
    assert!(requests.iter().all(|request| request.method != "PUT" && request.method != "POST"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_and_damaged_files_are_named_and_skipped_only_on_request() {
    let (from, to) = (Side::sqlite("folder").await, Side::sqlite("to").await);
    fill(&from, 4).await;
    let originals = from.place.store.kept_blobs(BlobKind::Original, None, 9).await.unwrap();
    let path = |blob: &BlobRef| from.place.blobs.content.location(blob.kind, blob.hash);
    std::fs::remove_file(path(&originals[0])).unwrap();
    let length = usize::try_from(originals[1].bytes).unwrap();
    std::fs::write(path(&originals[1]), vec![0; length]).unwrap();
    let options = CopyOptions::new("transfer".to_owned(), NOW);
    let Err(error) = copy(&from.place, &to.place, &options, |_| ()).await else { panic!() };
    assert!(matches!(&error, CopyError::Lost { count: 2, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("{}: missing", path(&originals[0]))), "{text}");
    assert!(text.contains(&format!("{}: damaged", path(&originals[1]))), "{text}");
    let options = CopyOptions { skip_lost: true, ..options };
    let report = copy(&from.place, &to.place, &options, |_| ()).await.unwrap().unwrap();
    assert_eq!((report.lost, report.files.blobs, report.files.copied), (2, 10, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_with_another_length_is_copied_again() {
    let (from, to) = (Side::sqlite("folder").await, Side::sqlite("to").await);
    fill(&from, 3).await;
    let original = from.place.store.kept_blobs(BlobKind::Original, None, 9).await.unwrap()[0];
    let blobs = to.place.blobs.content.clone();
    let mut spoilt = false;
    let options = CopyOptions::new("transfer".to_owned(), NOW);
    let report = copy(&from.place, &to.place, &options, |progress| {
        if progress.step == "copying files" && !spoilt {
            spoilt = true;
            let path = std::path::PathBuf::from(blobs.location(original.kind, original.hash));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"short").unwrap();
        }
    })
    .await;
    assert_eq!(report.unwrap().unwrap().lost, 0);
    assert_eq!(contents(&to).await, contents(&from).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_shares_its_files_moves_only_its_rows() {
    let (from, mut to) = (Side::bucket("bucket").await, Side::postgres("to").await);
    fill(&from, 3).await;
    to.place.blobs = from.place.blobs.clone();
    let options = CopyOptions { same_files: true, ..CopyOptions::new("transfer".to_owned(), NOW) };
    let report = copy(&from.place, &to.place, &options, |_| ()).await.unwrap().unwrap();
    assert_eq!((report.files.copied, report.files.blobs, report.files.parts), (0, 9, 3));
    assert_eq!(contents(&to).await, contents(&from).await);
}
