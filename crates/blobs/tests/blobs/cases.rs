//! Rules that hold on every backend.

use std::time::UNIX_EPOCH;

use blobs::{BlobError, PutError, StagingError, content_hash, fingerprint};
use bytes::Bytes;
use domain::{
    BlobKind::{Original, Rendition},
    Checksum, ChecksumAlgorithm,
};
use futures_util::TryStreamExt as _;

use crate::backing::{Backing, part, read, staged};

/// Runs each case in a folder and in a bucket.
macro_rules! on_each_backend {
    ($($case:ident)*) => {
        mod in_a_folder {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::Backing::folder()).await;
            })*
        }
        mod in_a_bucket {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::Backing::bucket().await).await;
            })*
        }
    };
}

on_each_backend! {
    an_upload_is_staged_stored_and_read_back
    an_unfinished_upload_leaves_nothing
    an_upload_must_match_its_checksum
    a_changed_file_is_not_stored
    concurrent_writes_of_the_same_bytes_store_one_blob
    parts_are_read_in_the_given_order
    a_lost_or_shortened_part_is_an_error
    kept_parts_survive_a_restart_and_dropped_ones_are_gone
    long_parts_are_kept_whole
    a_part_keeps_the_name_that_it_has_in_another_store
    a_damaged_blob_is_found_and_set_aside
    a_store_that_can_be_reached_is_ready
    a_part_must_match_its_checksum
}

async fn an_upload_is_staged_stored_and_read_back(it: Backing) {
    let mut writer = it.store.staging.create(None).await.unwrap();
    writer.write(b"hello ").await.unwrap();
    writer.write(b"world").await.unwrap();
    assert_eq!((writer.bytes(), writer.head()), (11, &b"hello world"[..]));
    let staged = writer.finish().await.unwrap();
    let hash = staged.fingerprint().hash;
    assert_eq!((staged.fingerprint().bytes, hash), (11, content_hash(b"hello world")));
    it.store.content.put_staged(Original, staged).await.unwrap();

    assert_eq!(it.files(), [format!("originals/{}/{hash}", &hash.to_string()[..2])]);
    let all = it.store.content.open(Original, hash, None).await.unwrap();
    assert_eq!(all.blob_bytes(), 11);
    assert_eq!(all.into_bytes().await.unwrap(), "hello world");
    let part = it.store.content.open(Original, hash, Some(6..100)).await.unwrap();
    assert_eq!(part.range(), 6..11);
    assert_eq!(part.into_stream().try_collect::<Vec<_>>().await.unwrap().concat(), b"world");
    assert!(matches!(it.store.content.open(Rendition, hash, None).await, Err(BlobError::Missing { .. })));
}

async fn an_unfinished_upload_leaves_nothing(it: Backing) {
    let mut writer = it.store.staging.create(None).await.unwrap();
    writer.write(b"hel").await.unwrap();
    assert_eq!(it.files().len(), 1);
    drop(writer);
    drop(staged(&it.store.staging, b"hello").await);
    assert_eq!(it.files(), Vec::<String>::new());
}

/// The checksums of `hello`.
const HELLO: [(ChecksumAlgorithm, &str); 7] = [
    (ChecksumAlgorithm::Sha1, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"),
    (ChecksumAlgorithm::Sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
    (
        ChecksumAlgorithm::Sha512,
        "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
    ),
    (ChecksumAlgorithm::Sha3, "3338be694f50c5f338814986cdf0686453a888b84f424d792af4b9202398f392"),
    (ChecksumAlgorithm::Md5, "5d41402abc4b2a76b9719d911017c592"),
    (ChecksumAlgorithm::Adler32, "062c0215"),
    (ChecksumAlgorithm::Crc32, "3610a686"),
];

fn checksum(algorithm: ChecksumAlgorithm, hexadecimal: &str) -> Checksum {
    let digits: Vec<char> = hexadecimal.chars().collect();
    let bytes =
        digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap());
    Checksum::new(algorithm, bytes.collect()).unwrap()
}

async fn an_upload_must_match_its_checksum(it: Backing) {
    let right: Vec<Checksum> =
        HELLO.into_iter().map(|(algorithm, value)| checksum(algorithm, value)).collect();
    assert_eq!(right.len(), ChecksumAlgorithm::ALL.len());
    let wrong = |right: &Checksum| {
        let value = right.value().iter().map(|byte| byte ^ 1).collect();
        Checksum::new(right.algorithm(), value).unwrap()
    };
    let each = right.iter().flat_map(|right| [(vec![right.clone()], true), (vec![wrong(right)], false)]);
    // All of several checksums must match, whether they have one algorithm or several.
    let first = || right.first().unwrap();
    let last = || right.last().unwrap();
    let several = [
        (right.clone(), true),
        (vec![first().clone(), wrong(last())], false),
        (vec![first().clone(), wrong(first())], false),
        (vec![wrong(first()), first().clone()], false),
    ];
    for (checksum, matches) in each.chain(several) {
        let mut writer = it.store.staging.create(checksum.clone()).await.unwrap();
        writer.write(b"he").await.unwrap();
        writer.write(b"llo").await.unwrap();
        match writer.finish().await {
            Ok(_) => assert!(matches, "{checksum:?}"),
            Err(error) => {
                assert!(matches!(error, StagingError::ChecksumMismatch) && !matches, "{checksum:?}: {error}");
            }
        }
    }
    assert_eq!(it.files(), Vec::<String>::new());
}

async fn a_changed_file_is_not_stored(it: Backing) {
    let other = tempfile::tempdir().unwrap();
    for bytes in [vec![1; 100], vec![1; 20_000_000]] {
        let path = other.path().join("photo.jpg");
        std::fs::write(&path, &bytes).unwrap();
        let hash = fingerprint(&path).unwrap().hash;
        std::fs::write(&path, vec![2; bytes.len()]).unwrap();
        assert!(matches!(it.store.content.put_file(Original, hash, &path).await, Err(PutError::Changed)));
        assert_eq!(it.files(), Vec::<String>::new());
        std::fs::write(&path, &bytes).unwrap();
        it.store.content.put_file(Original, hash, &path).await.unwrap();
        let stored = it.store.content.open(Original, hash, None).await.unwrap();
        assert_eq!(stored.into_bytes().await.unwrap(), bytes);
        it.store.content.delete(Original, hash).await.unwrap();
        it.store.content.delete(Original, hash).await.unwrap();
    }
}

async fn concurrent_writes_of_the_same_bytes_store_one_blob(it: Backing) {
    let writes = (0..16).map(|_| {
        let content = it.store.content.clone();
        tokio::spawn(async move { content.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap() })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap();
    }
    assert_eq!(it.files().len(), 1);
    let listed: Vec<_> = it.store.content.list(Rendition).try_collect().await.unwrap();
    assert_eq!(listed, [(content_hash(b"webp"), 4)]);
    assert_eq!(it.store.content.list(Original).try_collect::<Vec<_>>().await.unwrap(), []);
}

async fn parts_are_read_in_the_given_order(it: Backing) {
    let long = vec![7; 700_000];
    let (one, two) = (part(&it.store.parts, b"hello ").await, part(&it.store.parts, &long).await);
    let all = read(&it.store.parts, &[(&two, 700_000), (&one, 6)]).await.unwrap();
    assert_eq!(all, [&long[..], b"hello "].concat());
    assert_eq!(read(&it.store.parts, &[]).await.unwrap(), b"");
}

async fn a_lost_or_shortened_part_is_an_error(it: Backing) {
    let (whole, short) = (part(&it.store.parts, b"whole").await, part(&it.store.parts, b"short").await);
    std::fs::write(it.file(&format!("uploads/{short}")), b"shor").unwrap();
    assert!(read(&it.store.parts, &[(&whole, 5), (&short, 5)]).await.is_err());
    it.store.parts.delete(vec![whole.clone(), "part-unknown".to_owned()]).await.unwrap();
    assert!(read(&it.store.parts, &[(&whole, 5)]).await.is_err());
    let outside = "../originals".to_owned();
    assert!(read(&it.store.parts, &[(&outside, 0)]).await.is_err());
    assert!(it.store.parts.delete(vec![outside]).await.is_err());
}

async fn kept_parts_survive_a_restart_and_dropped_ones_are_gone(it: Backing) {
    let kept = part(&it.store.parts, b"kept").await;
    let mut dropped = it.store.parts.create(None).await.unwrap();
    dropped.write(b"dropped").await.unwrap();
    assert_eq!(it.files().len(), 2);
    drop(dropped);
    assert_eq!(it.store.temporary_files().await.unwrap(), [], "parts are not temporary");
    let it = it.restarted();
    assert_eq!(it.store.run_exclusively(async {}).await.unwrap(), Some(()));
    let names: Vec<String> =
        it.store.parts.files().await.unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, std::slice::from_ref(&kept));
    assert_eq!(it.store.parts.length(&kept).await.unwrap(), Some(4));
    assert_eq!(it.store.parts.length("part-unknown").await.unwrap(), None);
    assert_eq!(it.store.parts.length("../secret").await.unwrap(), None);
}

async fn a_part_keeps_the_name_that_it_has_in_another_store(it: Backing) {
    let name = "part-fromElsewhere".to_owned();
    for bytes in [b"half".as_slice(), b"whole".as_slice()] {
        let mut writer = it.store.parts.create(None).await.unwrap();
        writer.write(bytes).await.unwrap();
        writer.finish_as(&name).await.unwrap();
        assert_eq!(read(&it.store.parts, &[(&name, bytes.len() as u64)]).await.unwrap(), bytes);
    }
    assert_eq!(it.store.parts.files().await.unwrap().len(), 1, "it was replaced");
    let mut writer = it.store.parts.create(None).await.unwrap();
    writer.write(b"x").await.unwrap();
    assert!(writer.finish_as("../outside").await.is_err());
    assert_eq!(it.store.temporary_files().await.unwrap(), []);
}

async fn long_parts_are_kept_whole(it: Backing) {
    let long: Vec<u8> = (0..20_000_000_u32).map(|at| (at % 251) as u8).collect();
    let name = part(&it.store.parts, &long).await;
    let all = read(&it.store.parts, &[(&name, long.len() as u64)]).await.unwrap();
    assert!(all == long, "the bytes are the same");
}

async fn a_damaged_blob_is_found_and_set_aside(it: Backing) {
    let content = &it.store.content;
    let hash = content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap();
    let key = format!("originals/{}/{hash}", &hash.to_string()[..2]);
    for number in ["", "-2"] {
        assert_eq!(content.read_hash(Original, hash).await.unwrap(), hash);
        std::fs::write(it.file(&key), b"jello").unwrap();
        assert_eq!(content.read_hash(Original, hash).await.unwrap(), content_hash(b"jello"));
        let aside = content.set_aside(Original, hash).await.unwrap();
        assert!(aside.ends_with(&format!("{hash}.damaged{number}")), "{aside}");
        assert!(!content.contains(Original, hash).await.unwrap());
        assert_eq!(content.put_bytes(Original, Bytes::from_static(b"hello")).await.unwrap(), hash);
    }
    assert_eq!(it.files(), [key.clone(), format!("{key}.damaged"), format!("{key}.damaged-2")]);
    let listed: Vec<_> = content.list(Original).try_collect().await.unwrap();
    assert_eq!(listed, [(hash, 5)], "what was set aside is no blob");
}

async fn a_store_that_can_be_reached_is_ready(it: Backing) {
    it.store.content.probe().await.unwrap();
    assert_eq!(it.store.abort_uploads(UNIX_EPOCH).await.unwrap(), 0);
}

async fn a_part_must_match_its_checksum(it: Backing) {
    let right = checksum(ChecksumAlgorithm::Md5, "5d41402abc4b2a76b9719d911017c592");
    let wrong = checksum(ChecksumAlgorithm::Adler32, "00000000");
    for (checksum, is_right) in [(right, true), (wrong, false)] {
        let mut writer = it.store.parts.create(Some(checksum)).await.unwrap();
        writer.write(b"hello").await.unwrap();
        match writer.finish().await {
            Ok(_) => assert!(is_right),
            Err(error) => assert!(!is_right && matches!(error, StagingError::ChecksumMismatch)),
        }
    }
    assert_eq!(it.files().len(), 1, "the other one is deleted");
}
