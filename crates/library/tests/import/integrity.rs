//! Checks of a library whose files were lost, damaged or left over.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use domain::{Account, BlobKind, ContentHash, Rendition, Timestamp};
use library::{Caller, CheckDepth, Clock as _, FindingKind, IntegrityOptions, IntegrityReport, SystemClock};
use storage::{BlobRegistry as _, ImageStore as _, IntegrityStore as _};

use crate::{Process, blob_path, fixture, process};

const QUICK: IntegrityOptions = IntegrityOptions { repair: false, depth: CheckDepth::Quick, max_examples: 5 };
const CHECKSUMS: IntegrityOptions = IntegrityOptions { depth: CheckDepth::Full, ..QUICK };

fn repair(options: IntegrityOptions) -> IntegrityOptions {
    IntegrityOptions { repair: true, ..options }
}

async fn check(it: &Process, options: IntegrityOptions) -> IntegrityReport {
    it.library.check_integrity(options, |_| {}).await.unwrap()
}

/// The kinds of findings with the numbers found and repaired.
fn found(report: &IntegrityReport) -> Vec<(FindingKind, u64, u64)> {
    report.findings.iter().map(|(kind, findings)| (*kind, findings.found, findings.repaired)).collect()
}

/// A library with two photos.
async fn library(dir: &Path) -> (Process, Account) {
    let it = process(dir).await;
    let ann = it.account("ann").await;
    let report = it.import(&ann, &[fixture("media/grey.jpg"), fixture("media/landscape-6.jpg")]).await;
    assert_eq!(report.imported, 2);
    (it, ann)
}

async fn thumb(it: &Process, ann: &Account) -> ContentHash {
    let id = it.first_image(ann).await;
    it.library.rendition(&id, Rendition::Thumb).await.unwrap().hash()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_library_has_no_findings() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    for options in [QUICK, CHECKSUMS, repair(CHECKSUMS)] {
        let report = check(&it, options).await;
        assert_eq!((found(&report), report.left()), (vec![], 0));
        assert!(report.files >= 6 && report.rows > 0, "{report:?}");
        assert_eq!(report.bytes_read > 0, options.depth == CheckDepth::Full);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_renditions_are_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    let renditions = it.stored(BlobKind::Rendition).await;
    for hash in &renditions {
        fs::remove_file(blob_path(dir.path(), "renditions", *hash)).unwrap();
    }
    let lost = renditions.len() as u64;
    assert_eq!(found(&check(&it, QUICK).await), [(FindingKind::LostRendition, lost, 0)]);
    let report = check(&it, repair(QUICK)).await;
    assert_eq!(found(&report), [(FindingKind::LostRendition, lost, lost)]);
    assert_eq!((report.left(), report.renditions_pending), (0, false));
    assert_eq!(found(&check(&it, CHECKSUMS).await), []);
    for hash in renditions {
        if it.stored(BlobKind::Rendition).await.contains(&hash) {
            assert!(blob_path(dir.path(), "renditions", hash).exists());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_renditions_are_found_by_their_checksum_and_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let thumb = thumb(&it, &ann).await;
    let path = blob_path(dir.path(), "renditions", thumb);
    let sound = fs::read(&path).unwrap();
    let mut damaged = sound.clone();
    damaged[40] ^= 1;
    fs::write(&path, damaged).unwrap();
    assert_eq!(found(&check(&it, QUICK).await), [], "the length is right");
    assert_eq!(found(&check(&it, repair(CHECKSUMS)).await), [(FindingKind::DamagedRendition, 1, 1)]);
    assert_eq!(fs::read(&path).unwrap(), sound);
    assert_eq!(found(&check(&it, CHECKSUMS).await), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_original_is_reported_until_the_same_file_is_imported() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let original = blobs::fingerprint(&fixture("media/grey.jpg")).unwrap().hash;
    fs::remove_file(blob_path(dir.path(), "originals", original)).unwrap();
    for options in [QUICK, repair(QUICK)] {
        let report = check(&it, options).await;
        assert_eq!(found(&report), [(FindingKind::LostOriginal, 1, 0)]);
        let text = &report.findings[&FindingKind::LostOriginal].examples[0].text;
        assert!(text.contains("ann@example.org") && text.contains("grey.jpg"), "{text}");
    }
    it.import(&ann, &[fixture("media/grey.jpg")]).await;
    assert_eq!(found(&check(&it, CHECKSUMS).await), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_original_is_set_aside_and_healed_by_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let original = blobs::fingerprint(&fixture("media/grey.jpg")).unwrap().hash;
    let path = blob_path(dir.path(), "originals", original);
    let sound = fs::read(&path).unwrap();
    for (damaged, options) in [(sound[..sound.len() - 1].to_vec(), QUICK), (vec![7; sound.len()], CHECKSUMS)]
    {
        fs::write(&path, &damaged).unwrap();
        assert_eq!(found(&check(&it, options).await), [(FindingKind::DamagedOriginal, 1, 0)]);
        assert_eq!(fs::read(&path).unwrap(), damaged, "a check changes nothing");
        assert_eq!(found(&check(&it, repair(options)).await), [(FindingKind::DamagedOriginal, 1, 0)]);
        let aside = path.with_extension("damaged");
        assert_eq!(fs::read(&aside).unwrap(), damaged, "what is left of it is kept");
        assert_eq!(found(&check(&it, options).await), [(FindingKind::LostOriginal, 1, 0)]);
        it.import(&ann, &[fixture("media/grey.jpg")]).await;
        assert_eq!(fs::read(&path).unwrap(), sound);
        assert_eq!(found(&check(&it, options).await), []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rendition_stays_when_its_original_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    for original in it.stored(BlobKind::Original).await {
        fs::remove_file(blob_path(dir.path(), "originals", original)).unwrap();
    }
    let path = blob_path(dir.path(), "renditions", thumb(&it, &ann).await);
    let mut damaged = fs::read(&path).unwrap();
    damaged[40] ^= 1;
    fs::write(&path, &damaged).unwrap();
    let report = check(&it, repair(CHECKSUMS)).await;
    assert_eq!(found(&report), [(FindingKind::LostOriginal, 2, 0), (FindingKind::DamagedRendition, 1, 0)]);
    assert_eq!(fs::read(&path).unwrap(), damaged, "it may still show something");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rendition_that_cannot_be_made_again_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    fs::remove_file(blob_path(dir.path(), "renditions", thumb(&it, &ann).await)).unwrap();
    // Without checksums, damaged originals of the right length are not noticed.
    for original in it.stored(BlobKind::Original).await {
        let path = blob_path(dir.path(), "originals", original);
        fs::write(&path, vec![7; fs::metadata(&path).unwrap().len().try_into().unwrap()]).unwrap();
    }
    let report = check(&it, repair(QUICK)).await;
    assert_eq!(found(&report), [(FindingKind::LostRendition, 1, 1), (FindingKind::FailedRendition, 1, 0)]);
    assert_eq!(report.left(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn orphan_files_are_handed_to_the_clean_up() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    let bytes = b"nobody refers to this";
    let orphan = blobs::content_hash(bytes);
    let path = blob_path(dir.path(), "originals", orphan);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(found(&check(&it, QUICK).await), [(FindingKind::OrphanFile, 1, 0)]);
    assert_eq!(found(&check(&it, repair(QUICK)).await), [(FindingKind::OrphanFile, 1, 1)]);
    assert_eq!(found(&check(&it, QUICK).await), [], "it is registered now");
    it.library.purge_deleted().await.unwrap();
    assert!(path.exists(), "it is younger than the idle time");
    let later = later();
    let taken = it.store.take_unreferenced_blobs(later, later, 10).await.unwrap();
    assert_eq!(taken.iter().map(|blob| blob.hash).collect::<Vec<_>>(), [orphan]);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_temporary_files_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    let staging = dir.path().join("blobs/staging");
    let (old, young) = (staging.join("upload-old"), staging.join("upload-young"));
    for path in [&old, &young] {
        fs::write(path, "half a photo").unwrap();
    }
    let two_days_ago = fs::metadata(&young).unwrap().modified().unwrap() - Duration::from_secs(48 * 3600);
    set_modified(&old, two_days_ago);
    assert_eq!(found(&check(&it, QUICK).await), [(FindingKind::TemporaryFile, 1, 0)]);
    assert_eq!(found(&check(&it, repair(QUICK)).await), [(FindingKind::TemporaryFile, 1, 1)]);
    assert!(!old.exists() && young.exists());
}

/// After the idle time of blobs.
fn later() -> Timestamp {
    SystemClock.now().plus_millis(2 * 3600 * 1000)
}

fn set_modified(path: &Path, at: SystemTime) {
    fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_beside_a_working_library_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let other = process(dir.path()).await;
    let importing = tokio::spawn({
        let ann = ann.clone();
        async move {
            for name in ["media/landscape-1.jpg", "media/landscape-3.jpg", "media/landscape-8.jpg"] {
                other.import(&ann, &[fixture(name)]).await;
                let id = other.first_image(&ann).await;
                let caller = Caller::operator(other.library.account(&ann.email).await.unwrap());
                other.library.delete_image(&caller, &id).await.unwrap();
                other.store.purge_images(later(), 10).await.unwrap();
                other.library.purge_deleted().await.unwrap();
            }
        }
    });
    let mut checks = 0;
    while !importing.is_finished() || checks == 0 {
        assert_eq!(found(&check(&it, CHECKSUMS).await), []);
        checks += 1;
    }
    importing.await.unwrap();
    assert_eq!(it.store.check_references(1).await.unwrap(), [""; 0]);
    assert_eq!(found(&check(&it, CHECKSUMS).await), []);
}
