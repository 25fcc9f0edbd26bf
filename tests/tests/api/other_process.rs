//! Changes by another process in the same store take effect at the next request.

use domain::{KeyName, Plan};
use library::IndexingScope;
use serde_json::json;
use tests::{SeedImage, TestApp, fixture};

#[tokio::test(flavor = "multi_thread")]
async fn account_changes_take_effect_at_once() {
    let app = TestApp::builder().free_window(1).start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let other = app.other_process().await;

    assert_eq!(app.get("/images", &ann.key).await.ids(), ids);
    other.accounts.set_plan(&ann.email, Plan::Free).await.unwrap();
    assert_eq!(app.get("/images", &ann.key).await.ids(), ids[..1]);

    let name = KeyName::parse("second").unwrap();
    let second = other.accounts.create_key(&ann.email, name.clone()).await.unwrap();
    app.get("/images", &second).await.expect(200);
    assert!(other.accounts.revoke_key(&ann.email, &name).await.unwrap());
    app.get("/images", &second).await.expect(401);

    let url = app.get("/images", &ann.key).await.results()[0]["url"].as_str().unwrap().to_owned();
    app.fetch(&url).await.expect(200);
    other.accounts.delete_account(ann.id).await.unwrap();
    app.get("/library", &ann.key).await.expect(401);
    app.fetch(&url).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_photo_is_visible_at_once() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let other = app.other_process().await;
    app.get("/images", &ann.key).await.expect(409);

    let indexing = other.indexer.start_indexing(IndexingScope::Search).unwrap();
    let report =
        other.ingest.import_folder(ann.id, &[fixture("media/grey.jpg")], IndexingScope::Search, |_| {}).await;
    assert_eq!(report.imported, 1);
    let list = app.get("/images", &ann.key).await;
    assert_eq!(list.column("fileName"), ["grey.jpg"]);
    app.fetch(list.results()[0]["url"].as_str().unwrap()).await.expect(200);
    indexing.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_indexes_jobs_of_another() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let other = app.other_process().await;
    let indexing = other.indexer.start_indexing(IndexingScope::Search).unwrap();
    let report = app
        .library
        .ingest
        .import_folder(ann.id, &[fixture("media/grey.jpg")], IndexingScope::Search, |_| {})
        .await;
    assert_eq!(report.imported, 1);
    indexing.stop().await;
    assert_eq!(app.get("/images", &ann.key).await.ids().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn image_and_album_changes_take_effect_at_once() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let other = app.other_process().await;
    let caller = library::Caller::operator(other.accounts.account(&ann.email).await.unwrap());

    other.catalogue.delete_image(&caller, &ids[0]).await.unwrap();
    app.get(&format!("/images/{}", ids[0]), &ann.key).await.expect(404);
    let id = domain::ImageId::parse(ids[0].as_str()).unwrap();
    other.catalogue.restore_image(ann.id, &id).await.unwrap();
    app.get(&format!("/images/{}", ids[0]), &ann.key).await.expect(200);

    let title = domain::AlbumTitle::parse("t").unwrap();
    other.catalogue.create_album(&caller, title, vec![ids[1].clone()]).await.unwrap();
    let albums = app.get("/albums", &ann.key).await;
    assert_eq!(albums.column("imageCount"), [&json!(1)]);
}
