//! The window of the free plan.

use domain::Plan;
use serde_json::json;
use tests::{SeedImage, TestAccount, TestApp};

/// Five images, newest first, in one album; the window shows three.
async fn library() -> (TestApp, TestAccount, Vec<String>, String) {
    let app = TestApp::builder().free_window(3).start().await;
    let ann = app.account("ann").await;
    let images = SeedImage::series(5).into_iter().map(|image| image.position(1.0, 1.0).description("lake"));
    let ids = app.seed(&ann, images).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": ids})).await.expect(201);
    let album = album.result()["id"].as_str().unwrap().to_owned();
    (app, ann, ids, album)
}

async fn check_visible(app: &TestApp, account: &TestAccount, album: &str, ids: &[String], visible: &[usize]) {
    let expect: Vec<String> = visible.iter().map(|at| ids[*at].clone()).collect();
    let circle = "latitude=1&longitude=1&radiusMeters=5";
    for path in [
        "/images".to_owned(),
        format!("/images?{circle}"),
        format!("/search?{circle}"),
        format!("/search?albumId={album}"),
        format!("/search?albumId={album}&{circle}"),
    ] {
        assert_eq!(app.get(&path, &account.key).await.ids(), expect, "{path}");
    }
    for query in ["query=lake", "query=lake&channels=text"] {
        let mut found = app.get(&format!("/search?{query}"), &account.key).await.ids();
        found.sort_unstable();
        let mut expect = expect.clone();
        expect.sort_unstable();
        assert_eq!(found, expect, "{query}");
    }
    for (at, id) in ids.iter().enumerate() {
        let status = if visible.contains(&at) { 200 } else { 404 };
        app.get(&format!("/images/{id}"), &account.key).await.expect(status);
    }
    let info = app.get("/library", &account.key).await;
    assert_eq!(info.result()["totalImages"], visible.len());
    let album = app.get(&format!("/albums/{album}"), &account.key).await;
    assert_eq!(album.result()["imageCount"], visible.len());
    let cover = album.result()["coverUrl"].as_str().unwrap();
    assert!(cover.contains(&format!("/i/{}/webp-thumb.webp?", expect[0])), "{cover}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_newest_images_are_visible_until_the_paid_plan() {
    let (app, ann, ids, album) = library().await;
    check_visible(&app, &ann, &album, &ids, &[0, 1, 2, 3, 4]).await;
    app.set_plan(&ann, Plan::Free).await;
    check_visible(&app, &ann, &album, &ids, &[0, 1, 2]).await;
    assert_eq!(app.get("/library", &ann.key).await.result()["plan"], "free");
    app.set_plan(&ann, Plan::Paid).await;
    check_visible(&app, &ann, &album, &ids, &[0, 1, 2, 3, 4]).await;
    assert_eq!(app.get("/library", &ann.key).await.result()["plan"], "paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_images_are_not_counted_in_the_window() {
    let (app, ann, ids, album) = library().await;
    app.set_plan(&ann, Plan::Free).await;
    app.delete(&format!("/images/{}", ids[1]), &ann.key).await.expect(204);
    check_visible(&app, &ann, &album, &ids, &[0, 2, 3]).await;
    // A restored image returns to its position, and a newer image pushes the oldest out.
    assert!(
        app.library
            .catalogue
            .restore_image(ann.id, &domain::ImageId::parse(ids[1].as_str()).unwrap())
            .await
            .unwrap()
    );
    check_visible(&app, &ann, &album, &ids, &[0, 1, 2]).await;
    app.seed_one(&ann, SeedImage::at("2024-05-31")).await;
    app.get(&format!("/images/{}", ids[2]), &ann.key).await.expect(404);
    assert_eq!(app.get("/library", &ann.key).await.result()["totalImages"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_is_ordered_by_capture_time() {
    let app = TestApp::builder().free_window(2).start().await;
    let ann = app.free_account("ann").await;
    let new = app.seed(&ann, [SeedImage::at("2024-03-01"), SeedImage::at("2024-02-01")]).await;
    let old = app.seed_one(&ann, SeedImage::at("2001-01-01")).await;
    assert_eq!(app.get("/images", &ann.key).await.ids(), new);
    app.get(&format!("/images/{old}"), &ann.key).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_urls_follow_the_window() {
    let (app, ann, ids, _) = library().await;
    let mut urls = Vec::new();
    for id in &ids {
        let got = app.get(&format!("/images/{id}"), &ann.key).await;
        urls.push(got.result()["url"].as_str().unwrap().to_owned());
    }
    for (plan, seen) in [(Plan::Paid, 5), (Plan::Free, 3), (Plan::Paid, 5)] {
        app.set_plan(&ann, plan).await;
        for (at, url) in urls.iter().enumerate() {
            app.fetch(url).await.expect(if at < seen { 200 } else { 404 });
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_outside_the_window_cannot_be_deleted_or_added_to_an_album() {
    let (app, ann, ids, album) = library().await;
    app.set_plan(&ann, Plan::Free).await;
    app.delete(&format!("/images/{}", ids[4]), &ann.key).await.expect(404).error();
    for body in [json!({"addImageIds": [ids[4]]}), json!({"removeImageIds": [ids[4]]})] {
        app.patch(&format!("/albums/{album}"), &ann.key, &body).await.expect(404).error();
    }
    app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": [ids[4]]})).await.expect(404).error();
    app.set_plan(&ann, Plan::Paid).await;
    check_visible(&app, &ann, &album, &ids, &[0, 1, 2, 3, 4]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_outside_another_accounts_window_is_404() {
    let (app, ann, ids, _) = library().await;
    let ben = app.account("ben").await;
    app.set_plan(&ann, Plan::Free).await;
    app.get(&format!("/images/{}", ids[0]), &ben.key).await.expect(403).error();
    app.get(&format!("/images/{}", ids[4]), &ben.key).await.expect(404).error();
    app.delete(&format!("/images/{}", ids[0]), &ann.key).await.expect(204);
    app.get(&format!("/images/{}", ids[0]), &ben.key).await.expect(404).error();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_with_all_images_outside_the_window_has_no_cover() {
    let (app, ann, ids, _) = library().await;
    let body = json!({"title": "old", "imageIds": [ids[3], ids[4]]});
    let old = app.post("/albums", &ann.key, &body).await.expect(201).result()["id"].clone();
    app.set_plan(&ann, Plan::Free).await;
    let album = app.get(&format!("/albums/{}", old.as_str().unwrap()), &ann.key).await;
    assert_eq!(album.result()["imageCount"], 0);
    assert!(album.result()["coverUrl"].is_null());
}
