//! Pages of images and albums.

use std::collections::HashSet;

use domain::Timestamp;
use serde_json::json;
use tests::{SeedImage, TestApp};

#[tokio::test(flavor = "multi_thread")]
async fn limit_is_50_by_default_and_at_most_100() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(120)).await;
    for (path, length, limit) in [
        ("/images", 50, 50),
        ("/images?limit=1", 1, 1),
        ("/images?limit=100", 100, 100),
        ("/images?limit=100&endDate=2024-05-01T10:31:00Z", 31, 100),
    ] {
        let page = app.get(path, &ann.key).await;
        assert_eq!(page.ids().len(), length, "{path}");
        assert_eq!(page.json["pagination"], json!({"total": length, "offset": 0, "limit": limit}), "{path}");
    }
    assert_eq!(app.get("/images?limit=100", &ann.key).await.ids(), ids[..100]);
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_listed_newest_first() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let days = ["2021-01-01", "2024-01-01", "1999-01-01", "2023-01-01", "1950-01-01"];
    let ids = app.seed(&ann, days.map(SeedImage::at)).await;
    let expect = [&ids[1], &ids[3], &ids[0], &ids[2], &ids[4]].map(Clone::clone);
    assert_eq!(app.get("/images", &ann.key).await.ids(), expect);
}

#[tokio::test(flavor = "multi_thread")]
async fn end_date_is_inclusive_and_gives_the_next_page() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(5)).await;
    let first = app.get("/images?limit=2", &ann.key).await;
    let last = first.results()[1]["capturedAt"].as_str().unwrap().to_owned();
    let next = app.get(&format!("/images?limit=2&endDate={last}"), &ann.key).await;
    assert_eq!(next.ids(), ids[1..3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_by_end_date_reaches_every_image_despite_equal_times() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let seeded: HashSet<String> = app.seed(&ann, bursts(5_000, 300)).await.into_iter().collect();
    for limit in [2, 37, 100] {
        let walked = app.walk_images(&ann.key, limit).await;
        assert_eq!(walked.len(), 5_000, "limit {limit}");
        assert_eq!(walked.into_iter().collect::<HashSet<_>>(), seeded, "limit {limit}");
    }
}

/// Bursts of images with the same capture time. The store moves equal times apart, so that the bursts overlap.
fn bursts(count: i64, length: i64) -> impl Iterator<Item = SeedImage> {
    let start = Timestamp::parse_iso("2024-01-01").unwrap();
    (0..count).map(move |number| SeedImage::at_time(start.plus_millis(number / length * 7)))
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_capture_times_are_moved_to_the_next_free_milliseconds_only_once() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, (0..3).map(|_| SeedImage::at("2024-05-01T10:00:00Z"))).await;
    let times = |suffix: [&str; 3]| suffix.map(|millis| format!("2024-05-01T10:00:00.{millis}Z"));
    let first = app.get("/images", &ann.key).await;
    assert_eq!(
        first.column("capturedAt"),
        times(["002", "001", "000"]).each_ref().map(|time| json!(time)).each_ref()
    );
    assert_eq!(first.ids(), [&ids[2], &ids[1], &ids[0]].map(Clone::clone));

    // The times stay, although a deletion makes one of them available again.
    app.delete(&format!("/images/{}", ids[1]), &ann.key).await.expect(204);
    let left = app.get("/images", &ann.key).await;
    assert_eq!(
        left.column("capturedAt"),
        [&json!("2024-05-01T10:00:00.002Z"), &json!("2024-05-01T10:00:00.000Z")]
    );

    // Times need to be unique only within an account.
    let ben = app.account("ben").await;
    app.seed(&ben, [SeedImage::at("2024-05-01T10:00:00Z")]).await;
    assert_eq!(app.get("/images", &ben.key).await.column("capturedAt"), [&json!("2024-05-01T10:00:00.000Z")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn albums_are_paged_by_offset_and_total_counts_all() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let mut newest_first = Vec::new();
    for number in 0..55 {
        let album = app.post("/albums", &ann.key, &json!({"title": format!("{number}")})).await.expect(201);
        newest_first.insert(0, album.result()["id"].as_str().unwrap().to_owned());
        // Albums created at the same time have an order too.
        if number % 2 == 0 {
            app.clock.advance_ms(1);
        }
    }
    for (query, ids, offset, limit) in [
        ("", &newest_first[..50], 0, 50),
        ("?offset=50", &newest_first[50..], 50, 50),
        ("?limit=2&offset=1", &newest_first[1..3], 1, 2),
        ("?limit=100", &newest_first[..], 0, 100),
        ("?offset=55", &[][..], 55, 50),
        ("?offset=500", &[][..], 500, 50),
    ] {
        let page = app.get(&format!("/albums{query}"), &ann.key).await;
        assert_eq!(page.ids(), ids, "{query}");
        assert_eq!(
            page.json["pagination"],
            json!({"total": 55, "offset": offset, "limit": limit}),
            "{query}"
        );
    }
}
