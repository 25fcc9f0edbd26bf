//! Signed URLs of renditions: access and expiry.

use std::time::Duration;

use reqwest::Method;
use tests::{SeedImage, TestAccount, TestApp};

const MINUTE: Duration = Duration::from_secs(60);

/// All URLs of a new record.
async fn urls(app: &TestApp, account: &TestAccount, id: &str) -> Vec<String> {
    let got = app.get(&format!("/images/{id}"), &account.key).await.expect(200);
    let renditions = got.result()["renditions"].as_object().unwrap().values();
    renditions.map(|url| url.as_str().unwrap().to_owned()).collect()
}

async fn seeded() -> (TestApp, TestAccount, Vec<String>) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    (app, ann, ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_works_for_15_minutes_without_a_key() {
    let (app, ann, ids) = seeded().await;
    let urls = urls(&app, &ann, &ids[0]).await;
    assert_eq!(urls.len(), 3);
    app.advance(15 * MINUTE - Duration::from_secs(1));
    for url in &urls {
        let answer = app.fetch(url).await.expect(200);
        assert_eq!(answer.header("content-type"), Some("image/webp"));
    }
    app.advance(Duration::from_secs(2));
    for url in &urls {
        assert!(!app.fetch(url).await.expect(403).error().is_empty());
    }
    // A new request for the image gives new URLs.
    let list = app.get("/images", &ann.key).await;
    app.fetch(list.results()[0]["url"].as_str().unwrap()).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_valid_for_at_least_15_minutes() {
    let (app, ann, ids) = seeded().await;
    app.clock.advance_ms(999);
    let urls = urls(&app, &ann, &ids[0]).await;
    app.clock.advance_ms(15 * 60_000 - 1);
    app.fetch(&urls[0]).await.expect(200);
    app.clock.advance_ms(1_001);
    app.fetch(&urls[0]).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_url_is_403() {
    let (app, ann, ids) = seeded().await;
    let all = urls(&app, &ann, &ids[0]).await;
    let url = all.iter().find(|url| url.contains("webp-thumb")).unwrap();
    let (path, query) = url.split_once('?').unwrap();
    let (exp, sig) = query.split_once('&').unwrap();
    let number: i64 = exp.strip_prefix("exp=").unwrap().parse().unwrap();
    let other = &urls(&app, &ann, &ids[1]).await[0];
    let flipped: String = sig.chars().rev().collect();
    for changed in [
        path.to_owned(),
        format!("{path}?{exp}"),
        format!("{path}?{sig}"),
        format!("{path}?exp=&sig="),
        format!("{path}?exp={}&{sig}", number + 1),
        format!("{path}?exp={}&{sig}", number - 1),
        format!("{path}?exp=0{number}&{sig}"),
        format!("{path}?exp=%2B{number}&{sig}"),
        format!("{path}?exp={number}.0&{sig}"),
        format!("{path}?exp=-{number}&{sig}"),
        format!("{path}?exp=99999999999999999999&{sig}"),
        format!("{path}?{exp}&{exp}&{sig}"),
        format!("{path}?{exp}&{sig}&{sig}"),
        format!("{path}?{exp}&exp={}&{sig}", number + 900),
        format!("{path}?{exp}&{sig}A"),
        format!("{path}?{exp}&{sig}="),
        format!("{path}?{exp}&{}", &sig[..sig.len() - 1]),
        format!("{path}?{exp}&sig={flipped}"),
        format!("{path}?{exp}&{}", other.split_once('&').unwrap().1),
        url.replace("webp-thumb", "webp-full"),
        url.replace("webp-thumb", "webp-medium"),
        url.replace("webp-thumb", "original"),
        url.replace("webp-thumb", "WEBP-THUMB"),
        url.replace(".webp?", ".jpg?"),
        url.replace(".webp?", "?"),
        url.replace(".webp?", ".webp/?"),
        url.replace(&ids[0], &ids[1]),
        url.replace(&ids[0], "unknown"),
        url.replace(&ids[0], &format!("{}/x", ids[0])),
        url.replace("/i/", "/i//"),
    ] {
        assert!(!app.fetch(&changed).await.expect(403).error().is_empty(), "{changed}");
    }
    app.fetch(url).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_signature_is_checked_before_anything_else() {
    let app = TestApp::start().await;
    for method in [Method::GET, Method::HEAD, Method::POST, Method::DELETE] {
        for path in ["/i/", "/i/x", "/i/unknown/webp-full.webp", "/i/unknown/webp-full.webp?exp=1&sig=x"] {
            assert_eq!(app.send(app.request(method.clone(), path)).await.status, 403, "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_signed_spelling_of_a_url_is_accepted() {
    let (app, ann, ids) = seeded().await;
    let url = urls(&app, &ann, &ids[0]).await.remove(0);
    let path = url.strip_prefix(&app.base_url).unwrap();
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = app.send(app.request(method, path)).await.expect(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_of_a_deleted_account_are_404() {
    let (app, ann, ids) = seeded().await;
    let url = urls(&app, &ann, &ids[0]).await.remove(0);
    app.library.accounts.delete_account(ann.id).await.unwrap();
    app.fetch(&url).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_start_with_the_base_url_for_any_host() {
    let app = TestApp::builder().public_base_url("https://photos.example.org").start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, SeedImage::series(1)).await;
    let request = app
        .call(Method::GET, "/images", &ann.key)
        .header("host", "evil.example")
        .header("x-forwarded-host", "evil.example")
        .header("forwarded", "host=evil.example;proto=http");
    let list = app.send(request).await;
    let url = list.results()[0]["url"].as_str().unwrap();
    let path = url.strip_prefix("https://photos.example.org").unwrap();
    app.fetch(path).await.expect(200);
    let info = app.get("/library", &ann.key).await;
    assert_eq!(info.result()["installUrl"], "https://photos.example.org/account/sync");
}
