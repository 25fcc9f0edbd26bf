//! Library info, and the page of its install URL.

use reqwest::Method;
use tests::{SeedImage, TestApp, fixture};

#[tokio::test(flavor = "multi_thread")]
async fn library_info_is_never_409_and_explains_photo_sync() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let info = app.get("/library", &ann.key).await.expect(200);
    let result = info.result();
    assert_eq!(result["totalImages"], 0);
    assert_eq!(result["syncEnabled"], false);
    assert_eq!(result["plan"], "paid");
    let install_url = format!("{}/account/sync", app.base_url);
    assert_eq!(result["installUrl"], install_url);
    assert!(result["help"].as_str().unwrap().contains(&install_url));
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_is_enabled_by_the_first_import() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    app.get("/images", &ann.key).await.expect(409);
    app.import(&ann, &[fixture("media/grey.jpg")]).await;
    let info = app.get("/library", &ann.key).await;
    assert_eq!((&info.result()["syncEnabled"], &info.result()["totalImages"]), (&true.into(), &1.into()));
    assert_eq!(app.get("/images", &ann.key).await.ids().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn total_images_counts_the_images_that_can_be_listed() {
    let app = TestApp::builder().free_window(2).start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(4)).await;
    let total = || async { app.get("/library", &ann.key).await.result()["totalImages"].clone() };
    assert_eq!(total().await, 4);
    app.delete(&format!("/images/{}", ids[0]), &ann.key).await.expect(204);
    assert_eq!(total().await, 3);
    app.set_plan(&ann, domain::Plan::Free).await;
    assert_eq!(total().await, 2);
    let help = app.get("/library", &ann.key).await.result()["help"].clone();
    assert!(!help.as_str().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_install_url_leads_to_a_page_that_cannot_be_framed() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let info = app.get("/library", &ann.key).await;
    for path in [info.result()["installUrl"].as_str().unwrap(), "/"] {
        let page = app.fetch(path).await.expect(200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = page.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("script-src"), "no script is allowed: {policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert!(page.header("referrer-policy").is_some());
        let text = String::from_utf8_lossy(&page.body).into_owned();
        assert!(text.starts_with("<!DOCTYPE html>") && !text.contains("<script"), "{text}");
    }
    app.send(app.request(Method::POST, "/account/sync")).await.expect(405);
}
