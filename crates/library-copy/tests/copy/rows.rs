//! All tables survive both directions.

use std::collections::BTreeSet;

use domain::{Circle, FilePath, Filter, Plan, Position, QueryText};
use fastrand::Rng;
use library_copy::CopyOptions;
use storage::{
    CheckDepth, CopiedTable, FileChange, FileCondition, FileMove, LibraryState, RuleRow, SharedStore,
    StoreRule, TextColumns,
};
use storage_conformance::{NOW, Photo, Seed, random_photos, run_case};

use crate::{
    interruption::copy_interrupted,
    places::{Side, small_pages},
};

/// Cases of the conformance suite. Together they leave rows in all tables.
const CASES: [&str; 25] = [
    "accounts::a_deleted_account_frees_its_address",
    "api_keys::the_last_use_is_recorded",
    "sessions::sessions_are_listed_newest_first",
    "sign_in::ten_failures_lock_a_pair_out",
    "signing_keys::a_new_key_retires_the_previous_one",
    "setup::only_the_newest_links_are_valid",
    "security_events::repeated_events_are_counted",
    "login_flows::the_tokens_of_a_flow_have_different_uses",
    "watched_files::imported_versions_are_known_by_account",
    "integrity::parts_of_uploads_are_listed",
    "uploads::a_finished_upload_stays_known_with_its_result",
    "sidecars::a_sidecar_may_be_long_or_empty",
    "stages::another_version_processes_all_images_again",
    "stages::a_job_leased_too_often_fails",
    "vectors::a_changed_vector_gets_a_new_id",
    "full_renditions::a_lease_is_exclusive",
    "queue::a_failed_image_has_a_reason_and_is_invisible",
    "edits::corrections_survive_indexing",
    "grants::the_app_of_a_grant_edits_only_if_it_is_allowed",
    "marks::each_mark_filters_lists",
    "problems::dismissed_photos_stay_dismissed_until_another_failure",
    "words::scripts_without_spaces_are_found_by_their_parts",
    "file_locks::a_deep_lock_covers_everything_below",
    "file_model::random_file_operations_agree_with_a_model",
    "model::random_operations_agree_with_a_model",
];

const OAUTH_CASES: [&str; 3] = [
    "model::random_operations_agree_with_a_model",
    "connections::only_redeemed_unrevoked_grants_of_the_user_are_listed",
    "assertions::an_assertion_is_recorded_once",
];

macro_rules! names {
    ([] $($topic:ident { $($case:ident,)+ })+) => {
        &[$($(concat!(stringify!($topic), "::", stringify!($case)),)+)+]
    };
}

/// The cases to copy: all cases of the suite if `PHOTOS_TEST_FULL` is 1, else `CASES`.
fn cases() -> Vec<&'static str> {
    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    let all: &[&str] = storage_conformance::each_case!([names] []);
    if full { all.to_vec() } else { CASES.to_vec() }
}

/// Number of rows that break each rule. Some cases break rules on purpose.
async fn violations(store: &SharedStore) -> Vec<(StoreRule, usize)> {
    let mut violations = Vec::new();
    for rule in StoreRule::ALL {
        let (mut after, mut broken): (Option<RuleRow>, _) = (None, 0);
        loop {
            let page = store.check_rule(rule, after, 1000).await.unwrap();
            broken += page.violations.len();
            match page.last {
                Some(last) => after = Some(last),
                None => break,
            }
        }
        violations.push((rule, broken));
    }
    violations
}

/// Copies a library to Postgres and back, interrupted five times each; returns the tables with rows.
async fn round_trip(original: Side, name: &str) -> Vec<CopiedTable> {
    let mut random =
        Rng::with_seed(name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31) ^ u64::from(byte)));
    let (tables, broken) = (original.tables().await, violations(&original.place.store).await);
    let mut from = original;
    for (number, to) in
        [Side::postgres("postgres").await, Side::sqlite("sqlite").await].into_iter().enumerate()
    {
        let options = CopyOptions { skip_lost: true, ..small_pages(&format!("transfer-{number}")) };
        copy_interrupted(&from.place, &to.place, &options, 5, &mut random).await;
        assert_eq!(to.tables().await, tables, "{name}");
        assert_eq!(from.tables().await, tables, "{name}: the source is unchanged");
        assert_eq!(violations(&to.place.store).await, broken, "{name}");
        assert_eq!(to.place.store.check_structure(CheckDepth::Full, 9).await.unwrap(), [""; 0]);
        assert_eq!(to.place.store.check_references(9).await.unwrap(), [""; 0]);
        assert_eq!(to.place.store.count_outdated_words().await.unwrap(), 0);
        assert!(matches!(to.place.store.library_state().await.unwrap(), LibraryState::Received(_)));
        assert!(matches!(from.place.store.library_state().await.unwrap(), LibraryState::Moved(_)));
        from = to;
    }
    tables.into_iter().filter(|(_, rows, _)| *rows > 0).map(|(table, ..)| table).collect()
}

/// Leaves a folder whose parent has a higher id.
async fn move_into_a_newer_folder(store: SharedStore) {
    let account = Seed::new(store.clone()).account(Plan::Paid).await.account;
    let change = || FileChange { account, lock_tokens: Vec::new(), at: NOW, quota_bytes: None };
    let path = |path: &str| FilePath::parse(path).unwrap();
    for folder in ["older", "older/inner", "newer"] {
        store.create_folder(change(), &path(folder), false).await.unwrap().unwrap();
    }
    let to = FileMove {
        from: path("older"),
        to: path("newer/older"),
        overwrite: false,
        create_folders: false,
        condition: FileCondition::default(),
        image: None,
    };
    store.move_file(change(), to).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_all_operations_survive_both_directions() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        let original = Side::sqlite("original").await;
        run_case(case, original.place.store.clone()).await;
        seen.extend(round_trip(original, case).await);
    }
    for case in OAUTH_CASES {
        let original = Side::sqlite("original").await;
        let seed = Seed::new(original.place.store.clone());
        for _ in oauth_core::conformance::SUBJECTS {
            seed.account(Plan::Paid).await;
        }
        oauth_core::conformance::run_case(case, original.place.store.clone()).await;
        seen.extend(round_trip(original, case).await);
    }
    let original = Side::sqlite("original").await;
    move_into_a_newer_folder(original.place.store.clone()).await;
    seen.extend(round_trip(original, "newer folder").await);
    let all: BTreeSet<CopiedTable> = CopiedTable::ALL.iter().copied().collect();
    assert_eq!(seen, all, "every table has rows in some case");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_answers_searches_and_assigns_higher_ids() {
    let (from, to) = (Side::sqlite("from").await, Side::postgres("to").await);
    let seed = Seed::new(from.place.store.clone());
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, random_photos(300, NOW, 3)).await;
    // The rows with the highest ids of the source are deleted.
    let last = seed.image(ann.account, Photo::at_second(9)).await;
    seed.store().delete_image(ann, &last, NOW).await.unwrap();
    while seed.store().purge_images(NOW.plus_millis(1), 9).await.unwrap() > 0 {}
    let assigned = seed.store().highest_id(CopiedTable::Images).await.unwrap();
    let options = CopyOptions { skip_lost: true, ..CopyOptions::new("transfer".to_owned(), NOW) };
    library_copy::copy(&from.place, &to.place, &options, |_| ()).await.unwrap();
    let europe = Circle::new(Position::new(50.0, 5.0).unwrap(), 3_000_000.0).unwrap();
    let found = async |store: &SharedStore| {
        let text = QueryText::parse("glaciers").unwrap();
        let nearby = Filter { circle: Some(europe), ..Filter::default() };
        let mut found = Vec::new();
        for filter in [Filter::default(), nearby] {
            found.push(store.match_text(ann, &text, TextColumns::Content, &filter, 100).await.unwrap());
        }
        (store.images(ann, &ids).await.unwrap(), found)
    };
    let expected = found(&from.place.store).await;
    assert!(expected.1.iter().all(|matches| !matches.is_empty()));
    assert_eq!(found(&to.place.store).await, expected);
    assert_eq!(to.place.store.highest_id(CopiedTable::Images).await.unwrap(), assigned);
    let later = Seed::tagged(to.place.store.clone(), "later");
    later.image(ann.account, Photo::at_second(5)).await;
    assert!(to.place.store.highest_id(CopiedTable::Images).await.unwrap() > assigned);
}
