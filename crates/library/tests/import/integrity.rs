//! Checks of a library whose files were lost, damaged or left over.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use domain::{Account, BlobKind, ContentHash, Rendition, Timestamp};
use library::{
    Caller, CheckDepth, Clock as _, FindingKind, IntegrityOptions, IntegrityReport, PutFile, SystemClock,
    TusPart, Upload, UploadProtocol,
};
use storage::{BlobRegistry as _, ImageStore as _, IntegrityStore as _};

use diesel::{Connection as _, SqliteConnection, connection::SimpleConnection as _};

use crate::{Process, blob_path, fixture, process};

const QUICK: IntegrityOptions = IntegrityOptions { repair: false, depth: CheckDepth::Quick, max_examples: 5 };
const CHECKSUMS: IntegrityOptions = IntegrityOptions { depth: CheckDepth::Full, ..QUICK };

fn repair(options: IntegrityOptions) -> IntegrityOptions {
    IntegrityOptions { repair: true, ..options }
}

async fn check(it: &Process, options: IntegrityOptions) -> IntegrityReport {
    it.library.upkeep.check_integrity(options, |_| {}).await.unwrap()
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
    it.library.catalogue.rendition(&id, Rendition::Thumb).await.unwrap().hash()
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

/// A program of the previous release counts photos in months of UTC.
#[tokio::test(flavor = "multi_thread")]
async fn months_of_a_program_of_the_previous_release_are_corrected() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let caller = Caller::operator(it.library.accounts.account(&ann.email).await.unwrap());
    let months = async || {
        let months = it.library.catalogue.timeline_months(&caller).await.unwrap();
        months.iter().map(|total| (total.month.number(), total.photos, total.ratio_sum)).collect::<Vec<_>>()
    };
    let before = months().await;
    for (sql, shown) in [
        ("UPDATE timeline_months SET ratio_sum = -5", before.len()),
        ("UPDATE timeline_months SET photos = photos - 9", 0),
        ("UPDATE timeline_months SET month = month - 100", before.len()),
    ] {
        let path = dir.path().join("library.sqlite");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection.batch_execute(sql).unwrap();
        let wrong = months().await;
        assert_eq!(wrong.len(), shown, "{sql}");
        assert_ne!(wrong, before, "{sql}");
        it.library.upkeep.correct_months().await.unwrap();
        assert_eq!(months().await, before, "{sql}");
        assert_eq!(found(&check(&it, QUICK).await), [], "{sql}");
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
async fn a_damaged_original_is_set_aside_and_restored_by_importing_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let original = blobs::fingerprint(&fixture("media/grey.jpg")).unwrap().hash;
    let path = blob_path(dir.path(), "originals", original);
    let sound = fs::read(&path).unwrap();
    for (damaged, options, aside) in [
        (sound[..sound.len() - 1].to_vec(), QUICK, "damaged"),
        (vec![7; sound.len()], CHECKSUMS, "damaged-2"),
        (vec![8; sound.len()], CHECKSUMS, "damaged-3"),
    ] {
        fs::write(&path, &damaged).unwrap();
        assert_eq!(found(&check(&it, options).await), [(FindingKind::DamagedOriginal, 1, 0)]);
        assert_eq!(fs::read(&path).unwrap(), damaged, "a check changes nothing");
        assert_eq!(found(&check(&it, repair(options)).await), [(FindingKind::DamagedOriginal, 1, 0)]);
        assert_eq!(fs::read(path.with_extension(aside)).unwrap(), damaged, "what is left of it is kept");
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
    // A check without checksums does not notice damaged originals of the right length.
    for original in it.stored(BlobKind::Original).await {
        let path = blob_path(dir.path(), "originals", original);
        fs::write(&path, vec![7; fs::metadata(&path).unwrap().len().try_into().unwrap()]).unwrap();
    }
    let report = check(&it, repair(QUICK)).await;
    assert_eq!(found(&report), [(FindingKind::LostRendition, 1, 1), (FindingKind::FailedRendition, 1, 0)]);
    assert_eq!(report.left(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn orphaned_files_are_registered_for_removal() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    let bytes = b"nobody refers to this";
    let orphan = blobs::content_hash(bytes);
    let path = blob_path(dir.path(), "renditions", orphan);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(found(&check(&it, QUICK).await), [(FindingKind::OrphanFile, 1, 0)]);
    assert_eq!(found(&check(&it, repair(QUICK)).await), [(FindingKind::OrphanFile, 1, 1)]);
    assert_eq!(found(&check(&it, QUICK).await), [], "it is registered now");
    it.library.upkeep.purge_deleted().await.unwrap();
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

/// A time at which unreferenced blobs have become idle.
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
                let caller = Caller::operator(other.library.accounts.account(&ann.email).await.unwrap());
                other.library.catalogue.delete_image(&caller, &id).await.unwrap();
                other.store.purge_images(later(), 10).await.unwrap();
                other.library.upkeep.purge_deleted().await.unwrap();
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

/// Changes rows in a way that no operation does.
pub(crate) fn break_rows(dir: &Path, sql: &str) {
    let mut connection = SqliteConnection::establish(dir.join("library.sqlite").to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.batch_execute(sql).unwrap();
}

/// The case: the operator has restored yesterday's metadata store, but the files are of today.
#[tokio::test(flavor = "multi_thread")]
async fn originals_that_the_store_does_not_know_are_never_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = library(dir.path()).await;
    let originals = it.stored(BlobKind::Original).await;
    drop(it);
    break_rows(
        dir.path(),
        "DELETE FROM images; DELETE FROM index_jobs; DELETE FROM renditions; DELETE FROM indexed_words;
        DELETE FROM image_places; DELETE FROM image_vectors; DELETE FROM stage_jobs; DELETE FROM rendition_jobs;
        UPDATE accounts SET live_images = 0, stored_bytes = 0;
        DELETE FROM blobs WHERE kind = 'rendition';
        DELETE FROM blobs WHERE hash = (SELECT max(hash) FROM blobs)",
    );
    let it = process(dir.path()).await;
    // One original is still registered, the other is unknown.
    let expected = (FindingKind::OriginalWithoutPhoto, 2, 0);
    for options in [QUICK, repair(QUICK)] {
        assert!(found(&check(&it, options).await).contains(&expected));
    }
    let taken = it.store.take_unreferenced_blobs(later(), later(), 100).await.unwrap();
    assert!(taken.iter().all(|blob| blob.kind == BlobKind::Rendition), "{taken:?}");
    it.store.forget_blobs(&taken).await.unwrap();
    let report = check(&it, QUICK).await;
    let findings = &report.findings[&FindingKind::OriginalWithoutPhoto];
    let paths: Vec<_> = findings.examples.iter().filter_map(|found| found.text.split(',').next()).collect();
    let files: Vec<_> = paths.iter().map(std::path::PathBuf::from).collect();
    assert_eq!(it.import(&ann, &files).await.imported, 2, "the remedy");
    let mut now = it.stored(BlobKind::Original).await;
    now.sort();
    assert_eq!(now, originals);
    assert!(!found(&check(&it, CHECKSUMS).await).iter().any(|found| found.0 == expected.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_length_in_the_store_does_not_set_a_sound_original_aside() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = library(dir.path()).await;
    let original = blobs::fingerprint(&fixture("media/grey.jpg")).unwrap().hash;
    break_rows(
        dir.path(),
        &format!(
            "UPDATE images SET original_bytes = original_bytes + 1 WHERE hex(original) = upper('{original}');
            UPDATE blobs SET bytes = bytes + 1 WHERE hex(hash) = upper('{original}')"
        ),
    );
    for options in [QUICK, CHECKSUMS] {
        let report = check(&it, options).await;
        assert_eq!(found(&report), [(FindingKind::WrongLength, 1, 0), (FindingKind::StoredBytes, 1, 0)]);
    }
    let report = check(&it, repair(QUICK)).await;
    assert_eq!(found(&report), [(FindingKind::WrongLength, 1, 1), (FindingKind::StoredBytes, 1, 1)]);
    assert!(blob_path(dir.path(), "originals", original).exists());
    assert_eq!(found(&check(&it, CHECKSUMS).await), []);
}

/// A library with synced files: two photos, one of them also as a partial file with other bytes, and an upload with parts.
async fn synced(dir: &Path) -> (Process, Account) {
    let it = process(dir).await;
    let ann = it.account("ann").await;
    let caller = Caller::operator(it.library.accounts.account(&ann.email).await.unwrap());
    for (at, source) in [
        ("a/b/1.jpg", "media/grey.jpg"),
        ("a/2.jpg", "media/cmyk.jpg"),
        ("a/3.jpg.part", "media/landscape-1.jpg"),
    ] {
        let file = PutFile {
            path: domain::FilePath::parse(at).unwrap(),
            bytes: None,
            checksums: Vec::new(),
            times: library::FileTimes::default(),
            create_folders: true,
            condition: library::FileCondition::Any,
            lock_tokens: Vec::new(),
            parts_bytes: 0,
        };
        it.library.ingest.put_file(&caller, file, bytes_of(source)).await.unwrap();
    }
    it.import(&ann, &[fixture("media/grey.jpg"), fixture("media/cmyk.jpg")]).await;
    (it, ann)
}

fn bytes_of(source: &str) -> impl futures_util::Stream<Item = std::io::Result<bytes::Bytes>> + use<> {
    let bytes = bytes::Bytes::from(fs::read(fixture(source)).unwrap());
    futures_util::stream::iter([Ok(bytes)])
}

#[tokio::test(flavor = "multi_thread")]
async fn data_derived_from_synced_files_is_repaired() {
    use FindingKind::{DeletionMark, FolderBytes, RootFolder, StoredBytes, UnlinkedFile, UnregisteredBlob};
    let partial = blobs::fingerprint(&fixture("media/landscape-1.jpg")).unwrap().hash;
    let release = format!("UPDATE blobs SET state = 'pending' WHERE hex(hash) = upper('{partial}')");
    for (kind, number, sql) in [
        (FolderBytes, 2, "UPDATE files SET bytes = bytes + 1 WHERE name = 'b'"),
        (FolderBytes, 3, "UPDATE files SET bytes = bytes * id WHERE kind = 'folder' AND (id > 1 OR 1)"),
        (StoredBytes, 1, "UPDATE accounts SET stored_bytes = 7"),
        (UnlinkedFile, 1, "UPDATE files SET image_seq = NULL WHERE name = '2.jpg'"),
        (DeletionMark, 2, "UPDATE images SET deleted_with_files = 1"),
        (
            RootFolder,
            1,
            "INSERT INTO accounts SELECT id + 1, 'ben@example.org', password_hash, plan, synced_at_ms,
            created_at_ms, deleted_at_ms, 0, 0, 'ben' FROM accounts",
        ),
        (UnregisteredBlob, 1, release.as_str()),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (it, _) = synced(dir.path()).await;
        assert_eq!(found(&check(&it, CHECKSUMS).await), [], "before {sql}");
        break_rows(dir.path(), sql);
        let report = check(&it, QUICK).await;
        let numbers = found(&report);
        assert_eq!(numbers.iter().map(|found| found.0).collect::<Vec<_>>(), [kind], "{sql}: {report:?}");
        assert!(numbers[0].1 >= number.min(2) && numbers[0].2 == 0, "{sql}: {numbers:?}");
        let repaired = check(&it, repair(QUICK)).await;
        assert_eq!((found(&repaired).len(), repaired.left()), (1, 0), "{sql}: {repaired:?}");
        assert_eq!(found(&check(&it, CHECKSUMS).await), [], "after {sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contradictions_between_synced_files_are_reported() {
    for (kind, sql) in [
        (
            FindingKind::FileParent,
            "UPDATE files SET parent_id = (SELECT id FROM files WHERE name = '2.jpg') WHERE name = '1.jpg'",
        ),
        (FindingKind::FileParent, "UPDATE files SET parent_id = id WHERE name = 'b'"),
        (
            FindingKind::FileImage,
            "UPDATE files SET image_seq = (SELECT image_seq FROM files WHERE name = '2.jpg') WHERE name = '1.jpg'",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (it, _) = synced(dir.path()).await;
        break_rows(dir.path(), sql);
        for options in [QUICK, repair(QUICK)] {
            let report = check(&it, options).await;
            let findings = &report.findings[&kind];
            assert_eq!((findings.found, findings.repaired), (1, 0), "{sql}: {report:?}");
            assert!(findings.examples[0].text.contains("ann@example.org: "), "{report:?}");
        }
        assert_eq!(check(&it, QUICK).await.findings.len(), 1, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_original_of_an_unfinished_upload_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let (it, _) = synced(dir.path()).await;
    let partial = blobs::fingerprint(&fixture("media/landscape-1.jpg")).unwrap().hash;
    let path = blob_path(dir.path(), "originals", partial);
    fs::write(&path, vec![7; fs::metadata(&path).unwrap().len().try_into().unwrap()]).unwrap();
    let report = check(&it, CHECKSUMS).await;
    assert_eq!(found(&report), [(FindingKind::DamagedOriginal, 1, 0)]);
    let text = &report.findings[&FindingKind::DamagedOriginal].examples[0].text;
    assert!(text.starts_with("ann@example.org: 3.jpg.part (unfinished upload); "), "{text}");
    fs::remove_file(path).unwrap();
    assert_eq!(found(&check(&it, QUICK).await), [(FindingKind::LostOriginal, 1, 0)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_uploads_and_their_files_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = synced(dir.path()).await;
    let caller = Caller::operator(it.library.accounts.account(&ann.email).await.unwrap());
    for name in ["lost", "short", "sound"] {
        it.library
            .ingest
            .begin_upload(&caller, UploadProtocol::Tus, name, Some(1_000_000), "")
            .await
            .unwrap();
        let part = TusPart { offset: 0, bytes: None, checksums: Vec::new() };
        let upload = it.library.ingest.continue_upload(
            caller.clone(),
            name.to_owned(),
            part,
            Upload::default(),
            bytes_of("media/grey.jpg"),
        );
        upload.await.unwrap();
    }
    let mut listed = it.store.upload_parts(None, 10).await.unwrap();
    listed.sort_by_key(|part| part.upload);
    let folder = dir.path().join("blobs/uploads");
    fs::remove_file(folder.join(&listed[0].file)).unwrap();
    fs::write(folder.join(&listed[1].file), "short").unwrap();
    let (old, young) = (folder.join("part-old"), folder.join("part-young"));
    for path in [&old, &young] {
        fs::write(path, "a part").unwrap();
    }
    let two_days_ago = fs::metadata(&young).unwrap().modified().unwrap() - Duration::from_secs(48 * 3600);
    set_modified(&old, two_days_ago);
    let kinds = |repaired| {
        let lost = (FindingKind::LostPart, 2, 2 * repaired);
        vec![lost, (FindingKind::OrphanPart, 1, repaired)]
    };
    assert_eq!(found(&check(&it, QUICK).await), kinds(0));
    assert_eq!(found(&check(&it, repair(QUICK)).await), kinds(1));
    assert!(!old.exists() && young.exists() && folder.join(&listed[2].file).exists());
    assert_eq!(found(&check(&it, CHECKSUMS).await), [], "the quota is right, too");
    assert_eq!(it.store.upload_parts(None, 10).await.unwrap().len(), 1);
}
