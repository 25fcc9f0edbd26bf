use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
};

use diesel::{
    Connection, QueryableByName, RunQueryDsl, SqliteConnection,
    connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation},
    sql_query,
    sql_types::{Double, Nullable, Text},
};
use domain::{
    AccountId, AlbumChange, AlbumId, AlbumMove, AlbumOrder, BlobKind, Circle, ContentHash, DateRange, EditId,
    FilePath, Filter, ImageId, Keyword, Keywords, Limit, ListQuery, LocalRange, Marks, Plan, Position,
    QueryText, Rendition, Selection, Sidecar, SidecarKind, Timestamp,
};
use oauth_core::{
    AuthMethod, Client, ClientMetadata, CurrentRefreshToken, Eviction, Grant, GrantKey, Grants, IssuedCode,
    NewClient, NewCode, NewRefreshToken, REREGISTRATION_INTERVAL_MS, Redemption, Rotation, SecretHash, Sweep,
    UnixMillis, UsedAssertion,
};
use storage::{
    ChangeImage, Edit, FileChange, FileCondition, FileLock, FileMove, FilePosition, FileTimes, ImageChange,
    ImageKey, ImagesToEdit, IndexedImage, NameKind, NewFile, NewFileContent, NewImage, NewSession,
    PairedKind, Positions, SelectionCursor, SharedStore, SignInAttempt, SignInDecision, SignInLimits,
    TextColumns, TimelineOrder, UndoCursor, Viewer,
};
use storage_conformance::{NOW, Photo, Seed, indexed, original_blob, rendition_blob};

use crate::fresh_store;

/// Every statement that a connection has run since the recorder was set.
static STATEMENTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct Recorder;

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text.split(" -- binds").next().unwrap_or_default().trim().to_owned();
            STATEMENTS.lock().unwrap().insert(sql);
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that diesel needs")]
fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(Recorder))
}

diesel::define_sql_function! {
    fn distance_m(
        lat_a: Nullable<Double>, lon_a: Nullable<Double>, lat_b: Nullable<Double>, lon_b: Nullable<Double>
    ) -> Nullable<Double>;
}

#[derive(QueryableByName)]
struct PlanStep {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Each of these look-ups uses an index that has exactly the wanted rows, in the wanted order: a page, the end of the
/// free window, the count of an album, pages of an album in both kinds of order, the places that images of an album move to, jobs to lease, images to index again, words, stems,
/// prefixes, images by their words, files between two times, sidecars and photos by their names, and partial files of an
/// original, pages of a camera, the next camera with its newest image, files without content, files of an original, and pages and
/// selections of the timeline.
const EXPECTED: [&str; 29] = [
    "SEARCH images USING INDEX images_timeline (account_id=? AND live=? AND captured_at_ms>? AND captured_at_ms<?)",
    "SEARCH images USING INDEX images_timeline (account_id=? AND live=?)",
    "SEARCH n USING COVERING INDEX album_images_timeline (album_seq=? AND live=? AND captured_at_ms>?)",
    "SEARCH album_images USING COVERING INDEX album_images_timeline (album_seq=? AND live=? AND captured_at_ms>? \
     AND captured_at_ms<?)",
    "SEARCH album_images USING COVERING INDEX album_images_position (album_seq=? AND position>?)",
    "SEARCH album_images USING COVERING INDEX album_images_position (album_seq=? AND position<?)",
    "SEARCH n USING COVERING INDEX album_images_position (album_seq=? AND position>?)",
    "SEARCH n USING COVERING INDEX album_images_position (album_seq=? AND position<?)",
    "SCAN index_jobs USING INDEX index_jobs_order",
    "SCAN rendition_jobs",
    "SEARCH i USING INDEX images_read_by (decoder_version<?)",
    "SEARCH w USING INDEX sqlite_autoindex_words_1 (account_id=? AND word=?)",
    "SEARCH s USING PRIMARY KEY (account_id=? AND stem=?)",
    "SEARCH words USING INDEX words_common (account_id=? AND word>? AND word<?)",
    "SEARCH words USING INDEX sqlite_autoindex_words_1 (account_id=? AND word>? AND word<?)",
    "SEARCH w USING COVERING INDEX sqlite_autoindex_indexed_words_1 (key=?)",
    "SEARCH word_stems USING PRIMARY KEY (account_id=? AND stem=? AND word_id=?)",
    "SEARCH files USING INDEX files_modified (account_id=? AND last_modified_ms=? AND rowid<?)",
    "SEARCH files USING INDEX files_modified (account_id=? AND last_modified_ms>? AND last_modified_ms<?)",
    "SEARCH files USING INDEX files_sidecars (account_id=? AND parent_id=? AND name>? AND name<?)",
    "SEARCH files USING INDEX files_name (account_id=? AND parent_id=? AND name>? AND name<?)",
    "SEARCH files USING COVERING INDEX files_partial (original=? AND account_id=?)",
    "SEARCH images USING INDEX images_camera (account_id=? AND live=? AND camera=? AND captured_at_ms>? \
     AND captured_at_ms<?)",
    "SEARCH i USING INDEX images_camera (account_id=? AND live=? AND camera>?)",
    "SEARCH i USING INDEX images_camera (account_id=? AND live=? AND camera=?)",
    "SEARCH files USING COVERING INDEX files_empty (account_id=? AND kind=?)",
    "SEARCH files USING COVERING INDEX files_original (original=? AND account_id=?)",
    "SEARCH images USING INDEX images_local (account_id=? AND live=? AND <expr>>? AND <expr><?)",
    "SEARCH i USING INDEX images_local (account_id=? AND live=? AND <expr>>? AND <expr><?)",
];

fn plan(connection: &mut SqliteConnection, sql: &str) -> Vec<String> {
    let steps: Vec<PlanStep> = sql_query(format!("EXPLAIN QUERY PLAN {sql}"))
        .load(connection)
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
    steps.into_iter().map(|step| step.detail).collect()
}

fn connection(path: &Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    type Degrees = Option<f64>;
    let distance = |_: Degrees, _: Degrees, _: Degrees, _: Degrees| Some(0.0);
    distance_m_utils::register_impl(&mut connection, distance).unwrap();
    connection
}

/// Runs the operations that requests and workers run often.
async fn run_hot_operations(store: SharedStore) {
    let seed = Seed::new(store.clone());
    let ann = Viewer { free_window: 2, ..seed.account(Plan::Free).await };
    let photo = |at| Photo::at_second(at).description("red sea").place("Lisbon, Portugal").position(1.0, 1.0);
    let original = seed.hash();
    let ids = seed
        .images(
            ann.account,
            vec![
                photo(1),
                photo(1),
                photo(2).place("Munich, Germany"),
                photo(3).original(original).text("lanterns"),
            ],
        )
        .await;
    let album = seed.album(ann, "Sea", &ids[2..3]).await;
    let circle = Some(Circle::new(Position::new(1.0, 1.0).unwrap(), 1000.0).unwrap());
    let range = DateRange::default();
    for circle in [None, circle] {
        let filter = Filter { range, circle, ..Filter::default() };
        store
            .page_images(ann, &ListQuery { limit: Limit::default(), filter, ..ListQuery::default() })
            .await
            .unwrap();
        for (album, camera) in [(None, None), (Some(&album), None), (None, Some("Acme Pinhole 1"))] {
            let filter = Filter {
                album: album.cloned(),
                circle,
                cameras: camera.map(|name| vec![name.to_owned()]),
                range,
                ..Filter::default()
            };
            store.filter_images(ann, &filter, Limit::default()).await.unwrap();
            for query in ["red car", "re", "sae reds lighthouse", "lighthouse"] {
                let (text, columns) = (QueryText::parse(query).unwrap(), TextColumns::ContentAndContext);
                store.match_text(ann, &text, columns, &filter, 50).await.unwrap();
            }
        }
    }
    for kind in [NameKind::Camera, NameKind::Place, NameKind::Keyword] {
        store.names(ann, kind, 9).await.unwrap();
    }
    let of_camera = Filter { cameras: Some(vec!["Acme Pinhole 1".to_owned()]), ..Filter::default() };
    store.candidate_image_keys(ann, &of_camera, 9).await.unwrap();
    store.count_images(ann).await.unwrap();
    // As many ids as a page has images.
    store.images(ann, &vec![ids[3].clone(); 50]).await.unwrap();
    store.images_by_key(ann, &(0..50).map(ImageKey).collect::<Vec<_>>()).await.unwrap();
    store.image(ann, &ids[3]).await.unwrap();
    store.rendition(&ids[3], Rendition::Thumb, 2).await.unwrap();
    store.image_by_original(ann.account, &original).await.unwrap();
    store.image_states(&ids).await.unwrap();
    store.queue_length().await.unwrap();
    store.page_albums(ann, Limit::default(), Default::default()).await.unwrap();
    let change = AlbumChange { add: vec![ids[3].to_string()], ..Default::default() };
    store.change_album(ann, &album, change, NOW).await.unwrap();
    store.delete_image(ann, &ids[3], NOW).await.unwrap();
    store.restore_image(ann.account, &ids[3]).await.unwrap();
    correct(&store, ann, &ids[3]).await;
    select(&store, ann, &album).await;
    reindex(&seed, ann, original).await;
    make_full_renditions(&seed).await;
    sync_files(&seed, ann.account).await;
    sign_in(&store, ann.account).await;
    grant(&store, ann.account).await;
    store.delete_image(ann, &ids[3], NOW).await.unwrap();
    store.purge_images(NOW.plus_millis(1), 10).await.unwrap();
    store.take_unreferenced_blobs(NOW, NOW, 10).await.unwrap();
    store.kept_blobs(BlobKind::Original, None, 10).await.unwrap();
    store.renew_leases("w", &[], NOW).await.unwrap();
    store.requeue_failed(9, NOW).await.unwrap();
    while store.reindex_words(10).await.unwrap() > 0 {}
    store.count_outdated_words().await.unwrap();
    let versions = [storage::FileVersion([1; 16]), storage::FileVersion([2; 16])];
    store.remember_watched_files(ann.account, &versions, NOW).await.unwrap();
    store.watched_files(ann.account, &versions).await.unwrap();
    store.sweep_watched_files(NOW, 10).await.unwrap();
    store.delete_account(ann.account, NOW).await.unwrap();
}

async fn correct(store: &SharedStore, ann: Viewer, id: &ImageId) {
    let edit = Edit { id: EditId::parse("edit").unwrap(), at: NOW, author: None };
    let marks = Marks {
        favorite: true,
        archived: true,
        keywords: Keywords::parse(["Sea"]).unwrap(),
        ..Marks::default()
    };
    let described: ChangeImage = Arc::new(move |_| {
        let description = Some(Some("a pier".to_owned()));
        Some(ImageChange { description, marks: Some(marks.clone()), ..ImageChange::default() })
    });
    let range = ImagesToEdit::Range {
        range: LocalRange::ALL,
        newest_first: true,
        selection: Selection::everything(),
        max: 2,
    };
    let (every, visible) = (ImagesToEdit::Every(vec![id.clone()]), ImagesToEdit::Visible(vec![id.clone()]));
    for images in [every, visible, range] {
        store.edit_images(ann, &edit, images, described.clone(), false).await.unwrap();
    }
    let marked = Filter {
        favorite: Some(true),
        archived: Some(true),
        keyword: Keyword::parse("sea").ok(),
        places: Some(vec!["Here".to_owned(), "There".to_owned()]),
        ..Filter::default()
    };
    let placed = Filter { favorite: Some(false), places: marked.places.clone(), ..Filter::default() };
    let regions = Some(vec!["Germany".to_owned(), "Portugal".to_owned()]);
    let regional = Filter { regions, ..Filter::default() };
    let city = Filter { places: marked.places.clone(), ..regional.clone() };
    store.names(ann, NameKind::Region, 10).await.unwrap();
    let kinds = [NameKind::Place, NameKind::Keyword];
    store.names_like(ann.account, &kinds, &["here".to_owned(), "sea".to_owned()], 10).await.unwrap();
    let cameras = Some(vec!["Acme Pinhole 1".to_owned()]);
    let shot = Filter { favorite: Some(true), cameras, ..Filter::default() };
    for filter in [&marked, &placed, &regional, &city, &shot] {
        store.filter_images(ann, filter, Limit::default()).await.unwrap();
        store
            .page_images(
                ann,
                &ListQuery { limit: Limit::default(), filter: filter.clone(), ..ListQuery::default() },
            )
            .await
            .unwrap();
    }
    store.image_edits(ann, id).await.unwrap();
    store.photo_context(ann, id, None).await.unwrap();
    store.edits(ann.account, Timestamp::MAX, 10).await.unwrap();
    assert!(store.undo_edit(ann, &edit.id, UndoCursor::default(), 10).await.unwrap().undone > 0);
    assert!(store.forget_edits(Timestamp::MAX, 10).await.unwrap() > 0);
}

/// Counts, deletes and restores selections, pages the trash and the problems, and pages an album.
async fn select(store: &SharedStore, ann: Viewer, album: &AlbumId) {
    let (chosen, cursor) = (Selection::everything(), SelectionCursor::default());
    store.count_selection(ann, &chosen).await.unwrap();
    store.delete_selection(ann, &chosen, NOW, cursor, 10).await.unwrap();
    store.page_trash(ann.account, None, 10).await.unwrap();
    store.count_trash(ann.account).await.unwrap();
    store.restore_selection(ann.account, &chosen, Some(NOW), cursor, 10).await.unwrap();
    store.add_selection_to_album(ann, &chosen, album, NOW, cursor, 10).await.unwrap();
    let order = TimelineOrder::OldestFirst;
    store.album_images(ann, album, DateRange::default(), order, Limit::default()).await.unwrap();
    let by_hand = AlbumChange { order: Some(AlbumOrder::ByHand), ..AlbumChange::default() };
    store.change_album(ann, album, by_hand, NOW).await.unwrap();
    for positions in [Positions::From(0), Positions::Before(i64::MAX)] {
        let shown = store.positioned_images(ann, album, positions, Limit::default()).await.unwrap().unwrap();
        let first = shown.first().unwrap().image.id.clone();
        store.photo_context(ann, &first, Some(album)).await.unwrap();
        let last = shown.last().unwrap().image.id.to_string();
        let moved = AlbumMove { images: vec![last], before: Some(first.to_string()) };
        store.move_images(ann, album, vec![moved], NOW).await.unwrap();
    }
    store.list_albums(ann).await.unwrap();
    store.images_in_album(ann, album, vec![ImageId::parse("none").unwrap()]).await.unwrap();
    store.page_problems(ann.account, None, 10).await.unwrap();
    store.delete_problem(ann.account, &ImageId::parse("none").unwrap(), NOW).await.unwrap();
    store.indexing_progress(ann.account).await.unwrap();
    store.dismiss_problem(ann.account, &ImageId::parse("none").unwrap()).await.unwrap();
    store.dismiss_problems(ann.account, None, 10).await.unwrap();
    store.timeline_state(ann).await.unwrap();
    for order in [TimelineOrder::NewestFirst, TimelineOrder::OldestFirst] {
        store.timeline_page(ann, LocalRange::ALL, order, 10).await.unwrap();
    }
}

/// Indexes images again: one because of a sidecar, the others because of newer decoders.
async fn reindex(seed: &Seed, ann: Viewer, original: ContentHash) {
    let store = seed.store();
    let mut again = seed.new_image(ann.account, &Photo::at_second(3).original(original));
    again.sidecars = vec![Sidecar { kind: SidecarKind::Xmp, content: b"<x/>".to_vec() }];
    store.add_image(again).await.unwrap();
    assert_eq!(store.requeue_outdated(9, NOW, 10).await.unwrap(), 3);
    let jobs = seed.lease("w", NOW).await;
    let found = |second| IndexedImage { renditions: vec![], ..indexed(&Photo::at_second(second)) };
    assert!(store.complete_job(jobs[0].id, "w", found(9)).await.unwrap());
    store.fail_job(jobs[1].id, "w", "the bytes are missing", 9).await.unwrap();
    store.renew_leases("w", &[jobs[2].id], NOW).await.unwrap();
    store.retry_job(jobs[2].id, "w", NOW).await.unwrap();
    store.release_leases("w").await.unwrap();
}

/// Signs in and uses the session; sweeps old sessions and attempts.
async fn sign_in(store: &SharedStore, account: AccountId) {
    let attempt = SignInAttempt { pair: [1; 32], address: [2; 32], network: [3; 32] };
    let limits = SignInLimits { per_pair: 10, per_address: 100, per_network: 1_000, window_ms: 900_000 };
    let SignInDecision::Allowed(id) = store.begin_sign_in(&attempt, NOW, limits).await.unwrap() else {
        panic!("the first attempt is refused");
    };
    store.record_sign_in_success(id).await.unwrap();
    let session = NewSession {
        hash: [1; 32],
        account,
        user_agent: None,
        address: "127.0.0.1".to_owned(),
        at: NOW,
        expires_at: NOW.plus_millis(1000),
    };
    assert!(store.add_session(session).await.unwrap());
    store.session(&[1; 32], NOW).await.unwrap();
    store.touch_session(&[1; 32], NOW, NOW).await.unwrap();
    store.sessions(account).await.unwrap();
    store.end_sessions(account, Some([1; 32])).await.unwrap();
    store.end_session(&[1; 32]).await.unwrap();
    store.sweep_sessions(NOW, 10).await.unwrap();
    store.sweep_sign_in_attempts(NOW, 10).await.unwrap();
}

/// Registers a client, then issues, refreshes, uses and sweeps a grant.
async fn grant(store: &SharedStore, account: AccountId) {
    let at = UnixMillis(NOW.millis());
    let hash = SecretHash([1; 32]);
    let subject = account.0.to_string();
    let grant = Grant {
        id: "grant".to_owned(),
        client_id: "client".to_owned(),
        subject: subject.clone(),
        resource: String::new(),
        scopes: vec![],
        created_at: at,
        revoked_at: None,
    };
    let code = IssuedCode {
        redirect_uri: String::new(),
        challenge: String::new(),
        expires_at: at.plus_ms(1),
        redeemed_at: None,
    };
    let metadata = ClientMetadata {
        client_name: "An app".to_owned(),
        redirect_uris: vec![],
        grant_types: vec![],
        scopes: vec![],
        token_endpoint_auth_method: AuthMethod::None,
        requires_assertion: false,
        software_id: None,
        software_version: None,
    };
    let mut new = NewClient {
        client: Client { id: "client".to_owned(), metadata, secret: None, issued_at: at },
        digest: Some(hash),
        eviction: Some(Eviction { keep: 1, before: at, max: 1 }),
    };
    store.register_client(new.clone()).await.unwrap();
    new.client.issued_at = at.plus_ms(REREGISTRATION_INTERVAL_MS);
    store.register_client(new).await.unwrap();
    store.client("client").await.unwrap();
    store.issue_code(NewCode { hash, code, grant, client: None }).await.unwrap();
    let token =
        CurrentRefreshToken { hash, generation: 0, expires_at: at.plus_ms(1), recent_rotations: vec![] };
    let refresh = Some(NewRefreshToken { handle: hash, token: token.clone() });
    let redemption = Redemption { code: hash, at, refresh, access_expires_at: at };
    assert!(store.redeem_code(redemption).await.unwrap());
    for key in [GrantKey::Id("grant"), GrantKey::Code(&hash), GrantKey::RefreshHandle(&hash)] {
        store.grant(key).await.unwrap();
    }
    let grant_id = "grant".to_owned();
    let rotation = Rotation { grant_id, presented: hash, next: token, access_expires_at: at, at };
    assert!(store.rotate_refresh_token(rotation).await.unwrap());
    store.grant_holder("grant").await.unwrap();
    store.record_use("grant", at).await.unwrap();
    store.connections(&subject).await.unwrap();
    for grants in [Grants::WithId("grant"), Grants::OfSubject(&subject)] {
        store.revoke(grants, at).await.unwrap();
    }
    assert!(store.record_assertion(UsedAssertion { hash, expires_at: at }).await.unwrap());
    let [codes_before, grants_before, clients_before, assertions_before] = [at; 4];
    let sweep = Sweep { codes_before, grants_before, clients_before, assertions_before, max: 10 };
    oauth_core::GrantStore::sweep(&**store, sweep).await.unwrap();
}

/// Puts, lists, locks, moves, copies and deletes files.
async fn sync_files(seed: &Seed, account: AccountId) {
    let store = seed.store();
    let path = |path| FilePath::parse(path).unwrap();
    let change = || FileChange { account, lock_tokens: vec!["token".to_owned()], at: NOW, quota_bytes: None };
    let file = |at, content| NewFile {
        path: path(at),
        content,
        bytes: 9,
        times: FileTimes::default(),
        sha1: None,
        create_folders: true,
        condition: FileCondition::Any,
    };
    let image = NewImage { quota_bytes: Some(u64::MAX), ..seed.new_image(account, &Photo::at_second(1)) };
    let original = image.original;
    seed.announce(&[original_blob(&original)]).await;
    let partial = NewFileContent::Partial { original, media_type: "image/jpeg" };
    store.put_file(change(), file("a/x.tmp", partial)).await.unwrap().unwrap();
    for at in ["a/x.jpg", "a/y.jpg"] {
        let content = NewFileContent::Photo(image.clone());
        store.put_file(change(), file(at, content)).await.unwrap().unwrap();
    }
    let sidecar = NewFileContent::Sidecar(SidecarKind::Xmp, b"<x/>".to_vec());
    let written = store.put_file(change(), file("a/x.jpg", sidecar)).await.unwrap().unwrap();
    let id = written.entry.id;
    store.list_files(account, &path("a")).await.unwrap();
    for (kind, prefix) in [(PairedKind::Photo, "x"), (PairedKind::Sidecar, "x"), (PairedKind::Sidecar, "")] {
        store.files_with_prefix(account, &path("a"), kind, prefix, 9).await.unwrap();
    }
    store.file_by_id(account, id).await.unwrap();
    store.located_file(account, id).await.unwrap();
    store.recent_files(account, NOW, FilePosition::after(NOW), 9).await.unwrap();
    store.sidecar_content(account, id).await.unwrap();
    let expires_at = NOW.plus_millis(9);
    let lock =
        FileLock { token: "token".to_owned(), root: path("a/x.jpg"), is_deep: true, owner: None, expires_at };
    store.lock_file(change(), lock).await.unwrap().unwrap();
    store.account_locks(account, NOW).await.unwrap();
    store.refresh_lock(change(), &path("a/x.jpg"), "token", expires_at).await.unwrap();
    let times = FileTimes { modified_at: Some(NOW), created_at: None };
    store.set_file_times(change(), &path("a/x.jpg"), times).await.unwrap().unwrap();
    let to = |from, to| FileMove {
        from: path(from),
        to: path(to),
        overwrite: true,
        create_folders: true,
        condition: FileCondition::Any,
        image: Some(image.clone()),
    };
    store.copy_file(change(), to("a", "b")).await.unwrap().unwrap();
    store.move_file(change(), to("a", "b/c/d")).await.unwrap().unwrap();
    store.move_file(change(), to("b/x.tmp", "b/x.jpg")).await.unwrap().unwrap();
    store.delete_file(change(), &path("b"), FileCondition::Any).await.unwrap().unwrap();
    store.sweep_deleted_files(Some(account), NOW, 2).await.unwrap();
    while store.sweep_deleted_files(None, NOW, 2).await.unwrap() > 0 {}
}

async fn make_full_renditions(seed: &Seed) {
    let store = seed.store();
    let jobs = seed.lease_renditions("w", NOW).await;
    let full = seed.rendition(Rendition::Full, Photo::at_second(1).size);
    seed.announce(&[rendition_blob(&full)]).await;
    assert!(store.add_rendition(&jobs[0].original, full).await.unwrap());
    store.renew_rendition_leases("w", &[jobs[1].original], NOW).await.unwrap();
    store.retry_rendition_job(&jobs[1].original, "w", NOW).await.unwrap();
    store.drop_rendition_job(&jobs[2].original, "w").await.unwrap();
    store.abandon_leases("w").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn hot_operations_use_indexes() {
    set_default_instrumentation(recorder).unwrap();
    let (store, folder) = fresh_store().await;
    run_hot_operations(Arc::new(store)).await;
    let mut connection = connection(&folder.path().join("library.sqlite"));
    let statements = STATEMENTS.lock().unwrap().clone();
    let is_operation = |sql: &&String| {
        let verb = sql.split_whitespace().next().unwrap_or_default();
        ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT", "REPLACE"].contains(&verb)
            && !sql.contains("__diesel")
            && !sql.contains("sqlite_master")
    };
    let mut planned = 0;
    let mut by_many_keys = 0;
    let mut scans = Vec::new();
    let mut steps = BTreeSet::new();
    for sql in statements.iter().filter(is_operation) {
        planned += 1;
        for step in plan(&mut connection, sql) {
            let large = [
                "images",
                "i",
                "a",
                "b",
                "album_images",
                "renditions",
                "blobs",
                "api_keys",
                "albums",
                "sidecars",
                "sessions",
                "sign_in_attempts",
                "oauth_clients",
                "oauth_grants",
                "oauth_assertions",
                "words",
                "w",
                "word_stems",
                "s",
                "indexed_words",
                "files",
                "f",
                "file_locks",
                "watched_files",
            ];
            // Scans of these partial indexes are fine: they have few rows.
            let small = [
                "images_failed",
                "images_problems",
                "images_deleted",
                "images_trash",
                "blobs_unreferenced",
                "files_deleted",
            ];
            let scanned = large
                .iter()
                .any(|table| step == format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} ")));
            steps.insert(step.clone());
            // Jobs are read in the order of their queue, and files in the order of their times, without sorting.
            if step.contains("TEMP B-TREE") && (sql.contains("_jobs") || sql.contains("last_modified_ms")) {
                scans.push(format!("{step}: {sql}"));
            }
            // So are images in the order of their clocks.
            let is_local = sql.contains("* 4096") && sql.contains("ORDER BY");
            if is_local && (step.contains("TEMP B-TREE FOR ORDER BY") || step.contains("images_timeline")) {
                scans.push(format!("{step}: {sql}"));
            }
            // Images are looked up by a list of keys, without a scan of the timeline.
            let by_keys = ["`images`.`seq` IN (", "`images`.`id` IN ("].iter().any(|list| sql.contains(list));
            by_many_keys += usize::from(by_keys);
            if by_keys && step.contains("images_timeline") {
                scans.push(format!("{step}: {sql}"));
            }
            if scanned && !small.iter().any(|index| step.ends_with(index)) {
                scans.push(format!("{step}: {sql}"));
            }
        }
    }
    assert!(planned > 50, "only {planned} statements were recorded");
    assert!(by_many_keys >= 2, "the look-ups by keys were not recorded");
    assert!(scans.is_empty(), "{scans:#?}");
    for expected in EXPECTED {
        assert!(steps.contains(expected), "{expected} is not among {steps:#?}");
    }
}

#[derive(QueryableByName)]
struct CompileOption {
    #[diesel(sql_type = Text)]
    compile_options: String,
}

/// `.cargo/config.toml` sets these options. Without them, every query is slower.
#[test]
fn sqlite_is_compiled_with_the_options_of_the_workspace() {
    let mut c = SqliteConnection::establish(":memory:").unwrap();
    let options: Vec<CompileOption> = sql_query("PRAGMA compile_options").load(&mut c).unwrap();
    let options: BTreeSet<&str> = options.iter().map(|option| option.compile_options.as_str()).collect();
    for expect in ["ENABLE_QPSG", "DEFAULT_MEMSTATUS=0", "THREADSAFE=2"] {
        assert!(options.contains(expect), "{expect} is missing in {options:?}");
    }
    assert!(!options.contains("ENABLE_MEMORY_MANAGEMENT"));
}
