//! Search by album and circle, and the parameters of searches.

use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

const EVERYWHERE: &str = "latitude=0&longitude=0&radiusMeters=20037508";

async fn album(app: &TestApp, account: &TestAccount, ids: &[String]) -> String {
    let album = app.post("/albums", &account.key, &json!({"title": "t", "imageIds": ids})).await.expect(201);
    album.result()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn search_requires_words_an_album_or_a_whole_circle() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = album(&app, &ann, &[]).await;
    for incomplete in ["", "?limit=5", "?startDate=2024-01-01", "?query=%20", "?albumId="] {
        let answer = app.get(&format!("/search{incomplete}"), &ann.key).await.expect(400);
        assert!(answer.error().contains("query"), "{}", answer.error());
    }
    for enough in
        ["query=x", &format!("albumId={id}"), EVERYWHERE, &format!("query=x&albumId={id}&{EVERYWHERE}")]
    {
        app.get(&format!("/search?{enough}"), &ann.key).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_require_words_without_circle_or_album() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = album(&app, &ann, &[]).await;
    for (query, status) in [
        ("channels=text".to_owned(), 400),
        (format!("channels=text&albumId={id}"), 400),
        (format!("channels=text&{EVERYWHERE}"), 400),
        (format!("query=x&channels=text&{EVERYWHERE}"), 400),
        (format!("query=x&channels=text&albumId={id}"), 400),
        (format!("query=x&channels=image&albumId={id}"), 400),
        (format!("query=x&albumId={id}"), 200),
        ("query=x&channels=text".to_owned(), 200),
        ("query=x&channels=text,text".to_owned(), 200),
        ("query=x&channels=%20text%20".to_owned(), 200),
        ("query=x&channels=".to_owned(), 200),
    ] {
        let answer = app.get(&format!("/search?{query}"), &ann.key).await.expect(status);
        if status == 400 {
            assert!(answer.error().contains("channels"), "{query}: {}", answer.error());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_words_results_are_newest_first_unscored_and_paged_by_end_date() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(7).into_iter().map(|image| image.position(1.0, 1.0))).await;
    let id = album(&app, &ann, &ids[..6]).await;
    for (query, expect) in [(format!("albumId={id}"), &ids[..6]), (EVERYWHERE.to_owned(), &ids[..])] {
        let found = app.get(&format!("/search?{query}"), &ann.key).await;
        assert_eq!(found.ids(), expect);
        let total = expect.len();
        assert_eq!(found.json["pagination"], json!({"total": total, "offset": 0, "limit": 50}));
        assert!(found.column("score").into_iter().all(Value::is_null));
        assert!(found.column("matchedText").into_iter().all(Value::is_null));

        let first = app.get(&format!("/search?{query}&limit=3"), &ann.key).await;
        assert_eq!(first.ids(), expect[..3]);
        assert_eq!(first.json["pagination"], json!({"total": 3, "offset": 0, "limit": 3}));
        let last = first.results()[2]["capturedAt"].as_str().unwrap();
        let next = app.get(&format!("/search?{query}&limit=3&endDate={last}"), &ann.key).await;
        assert_eq!(next.ids(), expect[2..5]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_album_and_circle_can_be_combined() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-04").position(1.0, 1.0).description("harbour"),
        SeedImage::at("2024-01-03").position(50.0, 1.0).description("harbour"),
        SeedImage::at("2024-01-02").position(1.0, 1.0).description("harbour"),
        SeedImage::at("2024-01-01").position(1.0, 1.0).description("meadow"),
    ];
    let ids = app.seed(&ann, images).await;
    let album = album(&app, &ann, &[ids[0].clone(), ids[1].clone(), ids[3].clone()]).await;
    let near = "latitude=1&longitude=1&radiusMeters=1000";
    for (query, mut expect) in [
        (format!("albumId={album}&{near}"), vec![&ids[0], &ids[3]]),
        (format!("query=harbour&albumId={album}"), vec![&ids[0], &ids[1]]),
        (format!("query=harbour&{near}"), vec![&ids[0], &ids[2]]),
        (format!("query=harbour&albumId={album}&{near}"), vec![&ids[0]]),
        (format!("albumId={album}&endDate=2024-01-03"), vec![&ids[1], &ids[3]]),
    ] {
        let found = app.get(&format!("/search?{query}"), &ann.key).await;
        let mut found = found.ids();
        found.sort_unstable();
        expect.sort_unstable();
        assert_eq!(found.iter().collect::<Vec<_>>(), expect, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_in_an_unknown_album_is_404() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for id in ["unknown", "a%20b", "%C3%A4", &"x".repeat(129), &"x".repeat(5000)] {
        app.get(&format!("/search?albumId={id}"), &ann.key).await.expect(404).error();
        app.get(&format!("/search?query=x&albumId={id}"), &ann.key).await.expect(404).error();
    }
    app.get("/search?albumId=unknown&limit=0", &ann.key).await.expect(400).error();
}
