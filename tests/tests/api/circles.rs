//! Circles.

use domain::Timestamp;
use serde_json::Value;
use tests::{SeedImage, TestApp};

/// Tolerance for the Earth's flattening, which great-circle distances ignore.
const TOLERANCE: f64 = 0.005;

#[tokio::test(flavor = "multi_thread")]
async fn a_circle_needs_all_three_parameters_and_the_error_names_the_missing_one() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (given, missing) in [
        ("longitude=1&radiusMeters=1", "latitude"),
        ("latitude=1&radiusMeters=1", "longitude"),
        ("latitude=1&longitude=1", "radiusMeters"),
        ("latitude=1&longitude=1&radiusMeters=", "radiusMeters"),
        ("longitude=1&latitude=%20&radiusMeters=1", "latitude"),
    ] {
        for path in ["/images?", "/search?query=x&"] {
            let answer = app.get(&format!("{path}{given}"), &ann.key).await.expect(400);
            assert!(answer.error().starts_with(missing), "{given}: {}", answer.error());
        }
    }
    for (given, missing) in
        [("latitude=1", "longitude"), ("longitude=1", "latitude"), ("radiusMeters=1", "latitude")]
    {
        let answer = app.get(&format!("/search?query=x&{given}"), &ann.key).await.expect(400);
        assert!(answer.error().contains(missing), "{given}: {}", answer.error());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_images_inside_the_circle_are_returned() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let places = [
        ("fiji-east", -17.0, -179.98),
        ("fiji-west", -17.0, 179.98),
        ("fiji-far", -17.0, 178.0),
        ("north-pole", 90.0, 0.0),
        ("beyond-the-pole", 89.9, 170.0),
        ("south-pole", -90.0, 77.0),
        ("greenwich", 51.4779, 0.0015),
        ("on-the-meridian", 10.0, 180.0),
        ("null-island", 0.0, 0.0),
    ];
    let images = places.iter().zip(1..).map(|((name, latitude, longitude), day)| {
        SeedImage::at(&format!("2024-01-{day:02}")).position(*latitude, *longitude).file_name(name)
    });
    app.seed(&ann, images).await;
    app.seed(&ann, [SeedImage::at("2024-05-01").file_name("nowhere")]).await;
    for (latitude, longitude, radius, expect) in [
        // Circles across the 180° meridian, with centres on both sides.
        (-17.0, 179.99, 10_000.0, &["fiji-west", "fiji-east"][..]),
        (-17.0, -179.99, 10_000.0, &["fiji-west", "fiji-east"]),
        (10.0, -180.0, 1.0, &["on-the-meridian"]),
        // Circles that contain a pole.
        (89.9, -10.0, 30_000.0, &["beyond-the-pole", "north-pole"]),
        (-89.99, -100.0, 5_000.0, &["south-pole"]),
        // Two circles whose edges are just beyond and just before a place, a very small one, and the whole Earth.
        (51.4779, 0.0, 110.0, &["greenwich"]),
        (51.4779, 0.0, 95.0, &[]),
        (0.0, 0.0, 0.5, &["null-island"]),
        (0.0, 0.0, 20_037_508.0, &places.map(|(name, ..)| name)),
    ] {
        let query = format!("latitude={latitude}&longitude={longitude}&radiusMeters={radius}");
        for path in ["/images", "/search"] {
            let found = app.get(&format!("{path}?{query}"), &ann.key).await;
            let mut names: Vec<&str> =
                found.column("fileName").into_iter().filter_map(Value::as_str).collect();
            let mut expect = expect.to_vec();
            names.sort_unstable();
            expect.sort_unstable();
            assert_eq!(names, expect, "{path}?{query}");
            assert_eq!(found.json["pagination"]["total"], expect.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn distances_are_great_circle_metres_from_the_centre() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    // Distances on the WGS 84 ellipsoid by Vincenty's formula.
    let cases = [
        ((48.8584, 2.2945), (52.5163, 13.3777), 881_329.9),
        ((51.5007, -0.1246), (40.6892, -74.0445), 5_589_857.4),
        ((-33.8568, 151.2153), (-36.8485, 174.7633), 2_160_330.9),
        ((59.3293, 18.0686), (59.3326, 18.0649), 423.7),
        ((-17.7134, 178.0650), (-13.8333, -171.7667), 1_170_783.5),
        ((78.2232, 15.6267), (64.1466, -21.9426), 1_999_348.2),
    ];
    for ((from, to, metres), day) in cases.into_iter().zip(1..) {
        let moment = format!("2024-01-{day:02}");
        let id = app.seed_one(&ann, SeedImage::at(&moment).position(to.0, to.1).description("sight")).await;
        for path in ["/images?", "/search?", "/search?query=sight&"] {
            let circle =
                format!("latitude={}&longitude={}&radiusMeters={:.0}", from.0, from.1, metres * 1.01);
            let url = format!("{path}{circle}&startDate={moment}&endDate={moment}");
            let found = app.get(&url, &ann.key).await;
            assert_eq!(found.ids(), std::slice::from_ref(&id), "{url}");
            let distance = found.results()[0]["distanceMeters"].as_f64().unwrap();
            assert!((distance / metres - 1.0).abs() < TOLERANCE, "{url}: {distance} is not {metres}");
        }
    }
    let without = app.get("/search?query=sight", &ann.key).await;
    assert!(without.column("distanceMeters").iter().all(|distance| distance.is_null()));
}

#[tokio::test(flavor = "multi_thread")]
async fn list_covers_the_newest_1000_images_and_search_the_whole_library() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let start = Timestamp::parse_iso("2024-01-01").unwrap();
    let here = |minute: i64| SeedImage::at_time(start.plus_millis(60_000 * minute)).position(1.0, 1.0);
    let elsewhere = |minute: i64| SeedImage::at_time(start.plus_millis(60_000 * minute)).position(-1.0, 1.0);
    // Three images inside the circle, then 999 outside: the third one is the thousandth newest.
    let old = app.seed(&ann, [here(0), here(1)]).await;
    let thousandth = app.seed_one(&ann, here(2)).await;
    app.seed(&ann, (3..1002).map(elsewhere)).await;
    let circle = "latitude=1&longitude=1&radiusMeters=1000";
    let list = app.get(&format!("/images?{circle}"), &ann.key).await;
    assert_eq!(list.ids(), std::slice::from_ref(&thousandth));
    assert_eq!(list.json["pagination"]["total"], 1);
    let search = app.get(&format!("/search?{circle}"), &ann.key).await;
    assert_eq!(search.ids(), [&thousandth, &old[1], &old[0]].map(Clone::clone));
    // The limit applies to the newest images of the date range, not of the library.
    let ranged = app.get(&format!("/images?{circle}&endDate=2024-01-01T16:00"), &ann.key).await;
    assert_eq!(ranged.ids(), search.ids());
    // `limit` counts only images inside the circle.
    assert_eq!(
        app.get(&format!("/images?{circle}&endDate=2024-01-01T16:00&limit=2"), &ann.key).await.ids(),
        search.ids()[..2]
    );
}
