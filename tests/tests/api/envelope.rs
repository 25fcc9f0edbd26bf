//! The format of responses.

use reqwest::Method;
use serde_json::{Value, json};
use tests::{SeedImage, TestApp, TestResponse, redacted};

const IMAGE_FIELDS: [&str; 28] = [
    "addedAt",
    "archived",
    "cameraMake",
    "cameraModel",
    "capturedAt",
    "description",
    "distanceMeters",
    "durationMs",
    "favorite",
    "fileName",
    "height",
    "id",
    "keywords",
    "labels",
    "latitude",
    "longitude",
    "matchedText",
    "mediaType",
    "people",
    "place",
    "rating",
    "renditions",
    "score",
    "text",
    "url",
    "utcOffset",
    "videoUrl",
    "width",
];
const ALBUM_FIELDS: [&str; 6] = ["coverUrl", "createdAt", "id", "imageCount", "title", "updatedAt"];

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Checks that a list has only results and a pagination of three numbers.
fn check_list(answer: &TestResponse, fields: &[&str]) {
    assert_eq!(keys(&answer.json), ["pagination", "results"]);
    assert_eq!(keys(&answer.json["pagination"]), ["limit", "offset", "total"]);
    for number in answer.json["pagination"].as_object().unwrap().values() {
        assert!(number.is_u64(), "{number}");
    }
    for record in answer.results() {
        assert_eq!(keys(record), fields);
    }
}

fn full_image() -> SeedImage {
    SeedImage::at("2023-07-04T18:03:22.125Z")
        .offset_minutes(120)
        .position(48.858_37, 2.294_48)
        .place("Paris, France")
        .description("The tower at dusk")
        .text("TOUR EIFFEL")
        .camera("Fujifilm", "X100V")
        .file_name("DSCF0001.JPG")
        .size(6240, 4160)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_of_an_image_is_present_and_null_without_a_value() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, [full_image(), SeedImage::at("2023-01-01")]).await;
    let fields = IMAGE_FIELDS;

    check_list(&app.get("/images", &ann.key).await, &fields);
    check_list(&app.get("/search?query=tower", &ann.key).await, &fields);
    check_list(&app.get("/search?latitude=48.8&longitude=2.3&radiusMeters=9000", &ann.key).await, &fields);
    for id in &ids {
        let got = app.get(&format!("/images/{id}"), &ann.key).await.expect(200);
        assert_eq!(keys(&got.json), ["result"]);
        assert_eq!(keys(got.result()), fields);
    }

    let bare = app.get(&format!("/images/{}", ids[1]), &ann.key).await;
    let nulls: Vec<&str> = fields.into_iter().filter(|field| bare.result()[field].is_null()).collect();
    assert_eq!(
        nulls,
        [
            "cameraMake",
            "cameraModel",
            "description",
            "distanceMeters",
            "durationMs",
            "fileName",
            "latitude",
            "longitude",
            "matchedText",
            "place",
            "rating",
            "score",
            "text",
            "utcOffset",
            "videoUrl",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn records_contain_the_utc_offset_if_it_is_known() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (day, minutes, expect) in [
        (1, None, json!(null)),
        (2, Some(0), json!("+00:00")),
        (3, Some(180), json!("+03:00")),
        (4, Some(-210), json!("-03:30")),
        (5, Some(345), json!("+05:45")),
        (6, Some(-296), json!("-04:56")),
        (7, Some(14 * 60), json!("+14:00")),
    ] {
        let image = SeedImage::at(&format!("2024-05-0{day}T21:30Z")).description("lake").position(1.0, 1.0);
        let image = minutes.map_or(image.clone(), |minutes| image.offset_minutes(minutes));
        let id = app.seed_one(&ann, image).await;
        let got = app.get(&format!("/images/{id}"), &ann.key).await.expect(200);
        for list in
            ["/images?limit=1", "/search?query=lake", "/search?latitude=1&longitude=1&radiusMeters=5&limit=1"]
        {
            let list = app.get(list, &ann.key).await.expect(200);
            let record = list.results().iter().find(|record| record["id"] == id.as_str()).unwrap().clone();
            assert_eq!((&record["utcOffset"], &got.result()["utcOffset"]), (&expect, &expect));
            assert_eq!(record["capturedAt"], format!("2024-05-0{day}T21:30:00.000Z"), "it stays UTC");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_record_contains_the_indexed_values() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, full_image()).await;
    let names = [(app.base_url.as_str(), "[base_url]"), (&id, "[image]")];
    let list = app.get("/images", &ann.key).await;
    insta::assert_json_snapshot!("list_of_images", redacted(list.json, &names));
    let got = app.get(&format!("/images/{id}"), &ann.key).await;
    insta::assert_json_snapshot!("image", redacted(got.json, &names));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_of_an_album_is_present_and_null_without_a_value() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let image = app.seed_one(&ann, SeedImage::at("2023-01-01")).await;
    let empty = app.post("/albums", &ann.key, &json!({"title": "Empty"})).await.expect(201);
    assert_eq!(keys(&empty.json), ["result"]);
    assert_eq!(keys(empty.result()), ALBUM_FIELDS);
    assert_eq!(empty.result()["coverUrl"], Value::Null);
    let body = json!({"title": "Full", "imageIds": [image]});
    let full = app.post("/albums", &ann.key, &body).await.expect(201);
    let id = full.result()["id"].as_str().unwrap();
    let names = [(app.base_url.as_str(), "[base_url]"), (&image, "[image]"), (id, "[album]")];
    insta::assert_json_snapshot!("album", redacted(full.json.clone(), &names));
    assert_eq!(keys(app.get(&format!("/albums/{id}"), &ann.key).await.result()), ALBUM_FIELDS);
    check_list(&app.get("/albums", &ann.key).await, &ALBUM_FIELDS);
}

#[tokio::test(flavor = "multi_thread")]
async fn library_info_has_five_fields() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let info = app.get("/library", &ann.key).await.expect(200);
    assert_eq!(keys(&info.json), ["result"]);
    insta::assert_json_snapshot!("library_info", redacted(info.json, &[(&app.base_url, "[base_url]")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_utc_with_milliseconds_and_z() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (moment, expect) in [
        ("2024-05-01", "2024-05-01T00:00:00.000Z"),
        ("2024-05-01T10:00:00.5+02:00", "2024-05-01T08:00:00.500Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ] {
        let id = app.seed_one(&ann, SeedImage::at(moment)).await;
        let got = app.get(&format!("/images/{id}"), &ann.key).await;
        assert_eq!(got.result()["capturedAt"], expect);
        assert_eq!(got.result()["addedAt"], tests::START_TIME);
    }
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await;
    assert_eq!(album.result()["createdAt"], tests::START_TIME);
    assert_eq!(album.result()["updatedAt"], tests::START_TIME);
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_have_the_documented_characters_and_length() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let image = app.seed_one(&ann, SeedImage::at("2023-01-01")).await;
    let imported = app.import_fixtures(&ann, &["media/grey.jpg"]).await["grey.jpg"].clone();
    let album = app.post("/albums", &ann.key, &json!({"title": "t"})).await.result()["id"].clone();
    for id in [image, imported, album.as_str().unwrap().to_owned()] {
        assert!((1..=128).contains(&id.len()), "{id}");
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn renditions_are_filled_in_get_image_and_empty_in_lists() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, full_image()).await;
    for path in ["/images", "/search?query=tower", "/search?latitude=48&longitude=2&radiusMeters=1000000"] {
        let list = app.get(path, &ann.key).await;
        assert_eq!(list.results()[0]["renditions"], json!({}), "{path}");
        assert!(list.results()[0]["url"].as_str().unwrap().contains("/webp-medium.webp?"), "{path}");
    }
    let got = app.get(&format!("/images/{id}"), &ann.key).await;
    let renditions = &got.result()["renditions"];
    assert_eq!(keys(renditions), ["webp-full", "webp-medium", "webp-thumb"]);
    for (name, url) in renditions.as_object().unwrap() {
        let expect = format!("{}/i/{id}/{name}.webp?exp=", app.base_url);
        assert!(url.as_str().unwrap().starts_with(&expect), "{url}");
    }
    assert_eq!(got.result()["url"], renditions["webp-medium"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_display_size_is_full_up_to_1200_pixels_and_medium_above() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for (width, height, name) in [
        (1200, 900, "webp-full"),
        (800, 1200, "webp-full"),
        (1, 1, "webp-full"),
        (1201, 900, "webp-medium"),
        (900, 1201, "webp-medium"),
    ] {
        let day = format!("2020-01-01T00:00:00.{:03}Z", width % 1000);
        let id = app.seed_one(&ann, SeedImage::at(&day).size(width, height)).await;
        let got = app.get(&format!("/images/{id}"), &ann.key).await;
        assert_eq!(got.result()["url"], got.result()["renditions"][name], "{width} × {height}");
        assert_eq!((&got.result()["width"], &got.result()["height"]), (&json!(width), &json!(height)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_not_cached() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for path in ["/library", "/images", "/albums", "/images/unknown"] {
        let answer = app.get(path, &ann.key).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_forbid_content_type_sniffing() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (request, status) in [
        (app.call(Method::GET, "/images", &ann.key), 200),
        (app.call(Method::GET, "/images", "wrong"), 401),
        (app.call(Method::GET, "/images/unknown", &ann.key), 404),
        (app.call(Method::POST, "/albums", &ann.key).json(&json!({"title": "t"})), 201),
        (app.request(Method::GET, "/api/ext/v2/openapi.json"), 200),
        (app.request(Method::GET, "/healthz"), 200),
        (app.request(Method::GET, "/readyz"), 200),
        (app.request(Method::GET, "/nothing"), 404),
        (app.request(Method::GET, "/healthz").header("host", "evil.example"), 403),
        (app.request(Method::GET, "/.well-known/oauth-authorization-server"), 200),
        (app.request(Method::GET, "/api/oauth/jwks"), 200),
        (app.request(Method::POST, "/api/oauth/token").json(&json!({})), 400),
        (app.request(Method::POST, "/api/oauth/register").json(&json!({})), 400),
        (app.request(Method::GET, "/api/mcp/v1"), 405),
        (app.request(Method::POST, "/api/mcp/v1"), 401),
        (app.request(Method::POST, "/api/mcp/v1").bearer_auth(&ann.key).json(&ping), 200),
        (app.request(Method::POST, "/api/mcp/v1").bearer_auth(&ann.key).json(&json!([])), 400),
    ] {
        let answer = app.send(request).await.expect(status);
        let text = answer.text();
        assert_eq!(answer.header("content-type"), Some("application/json"), "{text}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{text}");
    }
}
