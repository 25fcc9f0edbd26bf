//! The date range.

use tests::{SeedImage, TestApp};

/// One image before, at and after each edge of 1 May 2024.
const MOMENTS: [&str; 5] = [
    "2024-04-30T23:59:59.999Z",
    "2024-05-01T00:00:00.000Z",
    "2024-05-01T10:00:00.123Z",
    "2024-05-01T23:59:59.999Z",
    "2024-05-02T00:00:00.000Z",
];

#[tokio::test(flavor = "multi_thread")]
async fn start_and_end_are_inclusive_in_every_format() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, MOMENTS.map(|moment| SeedImage::at(moment).position(0.0, 0.0))).await;
    for (query, expect) in [
        ("", &MOMENTS[..]),
        // A date alone means midnight UTC.
        ("startDate=2024-05-01", &MOMENTS[1..]),
        ("endDate=2024-05-01", &MOMENTS[..2]),
        ("startDate=2024-05-01&endDate=2024-05-02", &MOMENTS[1..]),
        ("startDate=2024-05-01&endDate=2024-05-01", &MOMENTS[1..2]),
        // A time without a zone is UTC.
        ("startDate=2024-05-01T10:00:00.123", &MOMENTS[2..]),
        ("startDate=2024-05-01T10:00:00.124", &MOMENTS[3..]),
        ("endDate=2024-05-01T10:00:00.122", &MOMENTS[..2]),
        ("startDate=2024-05-01T10:01", &MOMENTS[3..]),
        ("startDate=2024-05-01T10:00:01", &MOMENTS[3..]),
        ("endDate=2024-05-01T00:00Z", &MOMENTS[..2]),
        // Offsets, with the plus encoded and unencoded.
        ("startDate=2024-05-01T02:00%2B02:00", &MOMENTS[1..]),
        ("startDate=2024-05-01T02:00+02:00", &MOMENTS[1..]),
        ("startDate=2024-04-30T18:30-05:30", &MOMENTS[1..]),
        ("endDate=2024-05-02T05:30:00.000%2B05:30", &MOMENTS[..]),
        // Fractions of a millisecond are truncated.
        ("startDate=2024-05-01T10:00:00.1239999Z", &MOMENTS[2..]),
        ("endDate=2024-04-30T23:59:59.9999999Z", &MOMENTS[..1]),
        ("startDate=2024-05-03", &[][..]),
    ] {
        let expect: Vec<_> = expect.iter().rev().map(|moment| serde_json::json!(moment)).collect();
        let listed = app.get(&format!("/images?{query}"), &ann.key).await;
        assert_eq!(listed.column("capturedAt"), expect.iter().collect::<Vec<_>>(), "{query}");
        let circle = "latitude=0&longitude=0&radiusMeters=1";
        for path in ["/images", "/search"] {
            let found = app.get(&format!("{path}?{query}&{circle}"), &ann.key).await;
            assert_eq!(found.column("capturedAt"), expect.iter().collect::<Vec<_>>(), "{path} {query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_respects_the_range() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, MOMENTS.map(|moment| SeedImage::at(moment).description("beach"))).await;
    let found =
        app.get("/search?query=beach&startDate=2024-05-01T01:00&endDate=2024-05-01T12:00", &ann.key).await;
    assert_eq!(found.ids(), ids[2..3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_after_the_end_is_400() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for path in ["/images?", "/search?query=x&"] {
        let url = format!("{path}startDate=2024-05-01T00:00:00.001Z&endDate=2024-05-01");
        assert!(app.get(&url, &ann.key).await.expect(400).error().contains("startDate"));
        app.get(&format!("{path}startDate=2024-05-01T02:00%2B02:00&endDate=2024-05-01"), &ann.key)
            .await
            .expect(200);
    }
}
