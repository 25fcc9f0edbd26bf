//! The conventions of query parameters.

use serde_json::json;
use tests::{SeedImage, TestApp};

#[tokio::test(flavor = "multi_thread")]
async fn the_first_value_of_a_repeated_key_counts() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(3)).await;
    assert_eq!(app.get("/images?limit=1&limit=2", &ann.key).await.ids(), ids[..1]);
    assert_eq!(app.get("/images?limit=1&limit=nonsense", &ann.key).await.ids(), ids[..1]);
    app.get("/images?limit=nonsense&limit=1", &ann.key).await.expect(400);
    // The first value counts even if it is blank: the parameter is then absent.
    assert_eq!(app.get("/images?limit=&limit=1", &ann.key).await.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blank_value_counts_as_absent() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await.result()["id"].clone();
    for blank in ["", "%20", "+", "%09%20"] {
        let everything = ["limit", "startDate", "endDate", "latitude", "longitude", "radiusMeters"]
            .map(|name| format!("{name}={blank}"))
            .join("&");
        assert_eq!(app.get(&format!("/images?{everything}"), &ann.key).await.ids(), ids);
        let albums = app.get(&format!("/albums?limit={blank}&offset={blank}"), &ann.key).await;
        assert_eq!(albums.ids(), [album.as_str().unwrap()]);
        let nothing = format!("/search?query={blank}&albumId={blank}&channels={blank}&{everything}");
        assert!(app.get(&nothing, &ann.key).await.expect(400).error().starts_with("query"));
    }
    assert_eq!(app.get("/images?limit", &ann.key).await.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_parameters_are_ignored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    for path in [
        "/library?limit=x".to_owned(),
        "/images?Limit=0&offset=-1&query=x&cursor=&=&&%FF=%00".to_owned(),
        format!("/images/{id}?limit=0&startDate=x"),
        "/albums?startDate=x&latitude=1".to_owned(),
        "/search?query=x&offset=900&title=".to_owned(),
    ] {
        app.get(&path, &ann.key).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_value_of_a_known_parameter_is_400_and_the_message_names_it() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, SeedImage::series(1)).await;
    let circle = "latitude=1&longitude=1&radiusMeters=1";
    let bad: Vec<(&str, Vec<String>)> = vec![
        (
            "limit",
            values(&["0", "101", "-1", "1.0", "1e1", "%2B5", "0x5", "five", "99999999999999999999", "٣"]),
        ),
        (
            "startDate",
            values(&["yesterday", "2024", "2024-13-01", "2024-02-30", "20240501", "1714557600", "%00"]),
        ),
        ("endDate", values(&["tomorrow", "2024-05-01T25:00", "2024-05-01T10:00%2B25:00", "2024-05-01T10"])),
        ("latitude", values(&["90.1", "-90.1", "1e1", "north", "NaN", "inf", "1,5", ".5", "1.", "%2B1"])),
        ("longitude", values(&["180.1", "-180.1", "1e2", "east", "0x1"])),
        ("radiusMeters", values(&["0", "-1", "20037508.1", "1e3", "far", "0.0"])),
    ];
    for (name, values) in &bad {
        for value in values {
            for path in ["/images?", "/search?query=x&"] {
                // The parameter under test is first, so it counts.
                let url = format!("{path}{name}={value}&{circle}");
                let answer = app.get(&url, &ann.key).await.expect(400);
                assert!(answer.error().contains(name), "{url}: {}", answer.error());
            }
        }
    }
    let long = "x".repeat(2001);
    for (url, name) in [
        (format!("/search?query={long}"), "query"),
        ("/search?query=a%00b".to_owned(), "query"),
        ("/search?query=x&channels=video".to_owned(), "channels"),
        ("/search?query=x&channels=text;image".to_owned(), "channels"),
        ("/search?query=x&channels=text,".to_owned(), "channels"),
        ("/search?query=x&channels=Text".to_owned(), "channels"),
        ("/albums?limit=0".to_owned(), "limit"),
        ("/albums?limit=101".to_owned(), "limit"),
        ("/albums?offset=501".to_owned(), "offset"),
        ("/albums?offset=-1".to_owned(), "offset"),
        ("/albums?offset=1.5".to_owned(), "offset"),
    ] {
        let answer = app.get(&url, &ann.key).await.expect(400);
        assert!(answer.error().contains(name), "{url}: {}", answer.error());
    }
}

fn values(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_plain_decimals() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, [SeedImage::at("2024-05-01").position(1.5, -2.25)]).await;
    for (latitude, longitude, radius) in [
        ("1.5", "-2.25", "1"),
        ("01.50", "-2.250", "0.5"),
        ("1.5", "-2.25", "20037508"),
        ("1.5", "-2.25", "20037508.0"),
    ] {
        let path =
            format!("/images?limit=07&latitude={latitude}&longitude={longitude}&radiusMeters={radius}");
        let answer = app.get(&path, &ann.key).await;
        assert_eq!(answer.ids().len(), 1, "{path}");
        assert_eq!(answer.json["pagination"]["limit"], 7);
    }
}
