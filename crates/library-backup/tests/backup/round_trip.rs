//! Everything survives a backup, in all directions.

use domain::Plan;
use library_backup::BackupError;
use storage::{CheckDepth, CopiedTable, LibraryState};
use storage_conformance::{Photo, Seed, run_case};

use crate::places::{SERVICE_SECRET, Side, Target};

/// Cases of the conformance suite. Together they leave rows in most tables.
const CASES: [&str; 12] = [
    "api_keys::the_last_use_is_recorded",
    "sessions::sessions_are_listed_newest_first",
    "signing_keys::a_new_key_retires_the_previous_one",
    "security_events::repeated_events_are_counted",
    "uploads::a_finished_upload_stays_known_with_its_result",
    "sidecars::a_sidecar_may_be_long_or_empty",
    "stages::another_version_processes_all_images_again",
    "vectors::a_changed_vector_gets_a_new_id",
    "words::scripts_without_spaces_are_found_by_their_parts",
    "file_locks::a_deep_lock_covers_everything_below",
    "file_model::random_file_operations_agree_with_a_model",
    "model::random_operations_agree_with_a_model",
];

/// Backs a library up and restores it. The cases store no blobs, so all blobs count as lost.
async fn through_a_backup(from: &Side, to: &Side, name: &str) {
    let target = Target::new();
    let tables = from.tables().await;
    target.back_up(from, "first").await.unwrap();
    let report = target.restore(to).await.unwrap().unwrap();
    assert_eq!(report.files, 0, "{name}");
    assert_eq!(to.tables().await, tables, "{name}");
    assert_eq!(from.tables().await, tables, "{name}: the source is unchanged");
    let store = &to.place.store;
    assert_eq!(store.check_structure(CheckDepth::Full, 9).await.unwrap(), [""; 0]);
    assert_eq!(store.check_references(9).await.unwrap(), [""; 0]);
    assert_eq!(store.count_outdated_words().await.unwrap(), 0);
    assert!(matches!(store.library_state().await.unwrap(), LibraryState::Received(_)));
    assert!(target.restore(to).await.unwrap().is_none(), "it was restored before");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_all_operations_survive_a_backup() {
    for case in CASES {
        let from = Side::sqlite().await;
        run_case(case, from.place.store.clone()).await;
        through_a_backup(&from, &Side::sqlite().await, case).await;
    }
    let from = Side::sqlite().await;
    let seed = Seed::new(from.place.store.clone());
    for _ in oauth_core::conformance::SUBJECTS {
        seed.account(Plan::Paid).await;
    }
    let case = "model::random_operations_agree_with_a_model";
    oauth_core::conformance::run_case(case, from.place.store.clone()).await;
    through_a_backup(&from, &Side::sqlite().await, case).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_moves_between_sqlite_and_postgres_by_backups() {
    for case in [
        "model::random_operations_agree_with_a_model",
        "file_model::random_file_operations_agree_with_a_model",
    ] {
        let (from, there, back) = (Side::sqlite().await, Side::postgres().await, Side::sqlite().await);
        run_case(case, from.place.store.clone()).await;
        through_a_backup(&from, &there, case).await;
        through_a_backup(&there, &back, case).await;
        assert_eq!(back.tables().await, from.tables().await);
    }
    let (from, there, back) = (Side::sqlite().await, Side::postgres().await, Side::sqlite().await);
    from.fill(0, 8).await;
    let mut expected = from.contents().await;
    for (from, to) in [(&from, &there), (&there, &back)] {
        let target = Target::new();
        let made = target.back_up(from, "one").await.unwrap();
        assert_eq!((made.copied, made.lost.len()), (24, 0));
        assert_eq!(target.verify().await.unwrap().secret(), SERVICE_SECRET);
        let restored = target.restore(to).await.unwrap().unwrap();
        assert_eq!((restored.files, restored.copied, restored.lost), (24, 24, 0));
        assert_eq!(to.contents().await, expected);
        expected = to.contents().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_copies_only_what_is_new_and_deletes_what_is_gone() {
    let (side, target) = (Side::sqlite().await, Target::new());
    let first = side.fill(0, 5).await;
    let made = target.back_up(&side, "one").await.unwrap();
    assert_eq!((made.manifest.originals.files, made.manifest.renditions.files), (5, 10));
    assert_eq!((made.copied, made.deleted), (15, 0));
    side.fill(100, 3).await;
    let made = target.back_up(&side, "two").await.unwrap();
    assert_eq!((made.manifest.originals.files, made.copied, made.deleted), (8, 9, 0));
    side.purge(first).await;
    let made = target.back_up(&side, "three").await.unwrap();
    assert_eq!((made.manifest.originals.files, made.copied, made.deleted), (3, 0, 15));
    let mut names: Vec<String> = std::fs::read_dir(target.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["backup.json", "backup.lock", "blobs", "rows-three", "secret-three"]);
    let restored = Side::sqlite().await;
    target.restore(&restored).await.unwrap().unwrap();
    assert_eq!(restored.contents().await, side.contents().await);
    assert_eq!(restored.tables().await, side.tables().await);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_can_read_a_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    let (side, target) = (Side::sqlite().await, Target::new());
    side.fill(0, 2).await;
    target.back_up(&side, "one").await.unwrap();
    let mode = |path: std::path::PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(target.path()), mode(target.file("blobs"))), (0o700, 0o700));
    for name in ["backup.json", "rows-one", "secret-one"] {
        assert_eq!(mode(target.file(name)), 0o600, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_rows_after_a_restore_get_ids_that_were_never_assigned() {
    let (side, to, target) = (Side::sqlite().await, Side::sqlite().await, Target::new());
    let seed = Seed::new(side.place.store.clone());
    let ann = seed.account(Plan::Paid).await;
    let last = seed.image(ann.account, Photo::at_second(9)).await;
    seed.store().delete_image(ann, &last, storage_conformance::NOW).await.unwrap();
    while seed.store().purge_images(storage_conformance::NOW.plus_millis(1), 9).await.unwrap() > 0 {}
    let assigned = seed.store().highest_id(CopiedTable::Images).await.unwrap();
    target.back_up(&side, "one").await.unwrap();
    target.restore(&to).await.unwrap().unwrap();
    assert_eq!(to.place.store.highest_id(CopiedTable::Images).await.unwrap(), assigned);
}

#[tokio::test(flavor = "multi_thread")]
async fn places_that_are_not_empty_are_refused() {
    let (side, other, target) = (Side::sqlite().await, Side::sqlite().await, Target::new());
    side.fill(0, 1).await;
    other.fill(50, 1).await;
    let before = other.tables().await;
    target.back_up(&side, "one").await.unwrap();
    let error = target.restore(&other).await.unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    assert_eq!(other.tables().await, before);
    assert_eq!(other.place.store.library_state().await.unwrap(), LibraryState::Open);
    // A folder with other files gets no backup, either.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "Dear Ann").unwrap();
    let options = crate::places::backup_options("two");
    let refused = library_backup::back_up(&side.place, SERVICE_SECRET, folder.path(), &options, |_| ()).await;
    assert!(matches!(refused, Err(BackupError::NotABackup(_))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
