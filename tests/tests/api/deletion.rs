//! Deleting and restoring images.

use std::time::Duration;

use domain::ImageId;
use serde_json::json;
use tests::{SeedImage, TestApp};

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_image_is_404_everywhere_and_can_be_restored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = SeedImage::series(2).into_iter().map(|image| image.position(1.0, 1.0).description("lake"));
    let ids = app.seed(&ann, images).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": ids})).await.expect(201);
    let album = album.result()["id"].as_str().unwrap().to_owned();
    let before = app.get(&format!("/images/{}", ids[0]), &ann.key).await.expect(200);
    let path = format!("/images/{}", ids[0]);

    let deleted = app.delete(&path, &ann.key).await.expect(204);
    assert!(deleted.body.is_empty());
    app.get(&path, &ann.key).await.expect(404).error();
    app.delete(&path, &ann.key).await.expect(404).error();
    for url in before.result()["renditions"].as_object().unwrap().values() {
        app.fetch(url.as_str().unwrap()).await.expect(404).error();
    }
    for list in [
        "/images".to_owned(),
        "/search?query=lake".to_owned(),
        "/search?latitude=1&longitude=1&radiusMeters=5".to_owned(),
        format!("/search?albumId={album}"),
    ] {
        assert_eq!(app.get(&list, &ann.key).await.ids(), ids[1..], "{list}");
    }
    let left = app.get(&format!("/albums/{album}"), &ann.key).await;
    assert_eq!(left.result()["imageCount"], 1);
    assert!(left.result()["coverUrl"].as_str().unwrap().contains(&ids[1]));
    assert_eq!(app.get("/library", &ann.key).await.result()["totalImages"], 1);
    for body in [json!({"addImageIds": [ids[0]]}), json!({"removeImageIds": [ids[0]]})] {
        app.patch(&format!("/albums/{album}"), &ann.key, &body).await.expect(404).error();
    }

    assert!(
        app.library.catalogue.restore_image(ann.id, &ImageId::parse(ids[0].as_str()).unwrap()).await.unwrap()
    );
    let after = app.get(&path, &ann.key).await.expect(200);
    assert_eq!(after.json, before.json);
    assert_eq!(app.get(&format!("/search?albumId={album}"), &ann.key).await.ids(), ids);
    app.fetch(before.result()["url"].as_str().unwrap()).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_or_unknown_id_is_404() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, SeedImage::series(1)).await;
    let long = "x".repeat(129);
    let very_long = "x".repeat(10_000);
    for id in ["x", "%20", "a.b", "a%2Fb", "%00", "%FF", "%C3%A4", "..%2F..", "'", &long, &very_long] {
        for path in [format!("/images/{id}"), format!("/albums/{id}")] {
            app.get(&path, &ann.key).await.expect(404).error();
            app.delete(&path, &ann.key).await.expect(404).error();
        }
        app.patch(&format!("/albums/{id}"), &ann.key, &json!({"title": "t"})).await.expect(404).error();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_image_can_be_imported_again_by_its_owner() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.import_fixtures(&ann, &["media/grey.jpg"]).await["grey.jpg"].clone();
    app.delete(&format!("/images/{id}"), &ann.key).await.expect(204);
    app.advance(Duration::from_secs(60));
    let report = app.import(&ann, &[tests::fixture("media/grey.jpg")]).await;
    assert_eq!((report.imported, report.duplicates), (1, 0));
    assert_eq!(app.get("/images", &ann.key).await.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_an_image_keeps_those_of_other_accounts_with_the_same_bytes() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let anns = app.import_fixtures(&ann, &["media/grey.jpg"]).await["grey.jpg"].clone();
    let bens = app.import_fixtures(&ben, &["media/grey.jpg"]).await["grey.jpg"].clone();
    assert_ne!(anns, bens);
    app.delete(&format!("/images/{anns}"), &ann.key).await.expect(204);
    let url = app.get(&format!("/images/{bens}"), &ben.key).await.expect(200).result()["url"].clone();
    app.fetch(url.as_str().unwrap()).await.expect(200);
}
