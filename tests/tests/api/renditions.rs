//! The bytes of renditions.

use std::{collections::HashMap, time::Duration};

use domain::BlobKind;
use futures_util::future::join_all;
use image::GenericImageView as _;
use reqwest::Method;
use serde_json::Value;
use tests::{SeedImage, TestAccount, TestApp, TestResponse};

/// The record of an image, with all renditions.
async fn record(app: &TestApp, account: &TestAccount, id: &str) -> Value {
    app.get(&format!("/images/{id}"), &account.key).await.expect(200).result().clone()
}

fn url<'a>(record: &'a Value, rendition: &str) -> &'a str {
    record["renditions"][rendition].as_str().unwrap()
}

async fn imported(names: &[&str]) -> (TestApp, TestAccount, HashMap<String, String>) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.import_fixtures(&ann, names).await;
    (app, ann, ids)
}

/// The names of the chunks of a WebP file.
fn chunks(webp: &[u8]) -> Vec<String> {
    assert_eq!((&webp[..4], &webp[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
    let mut names = Vec::new();
    let mut at = 12;
    while at + 8 <= webp.len() {
        names.push(String::from_utf8_lossy(&webp[at..at + 4]).into_owned());
        let length = u32::from_le_bytes(webp[at + 4..at + 8].try_into().unwrap());
        at += 8 + usize::try_from(length).unwrap().next_multiple_of(2);
    }
    names
}

fn decoded(answer: &TestResponse) -> image::DynamicImage {
    image::load_from_memory_with_format(&answer.body, image::ImageFormat::WebP).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn renditions_are_webp_without_metadata_in_their_documented_sizes() {
    // Photos larger than medium, between medium and thumb, and smaller than thumb; with GPS, XMP and colour profiles.
    let names = [
        "samples/wisteria.jpg",
        "samples/polemonium.jpg",
        "media/date-and-position.jpg",
        "samples/orange-lossless.webp",
    ];
    let (app, ann, ids) = imported(&names).await;
    for (name, id) in &ids {
        let record = record(&app, &ann, id).await;
        let side = |field: &str| u32::try_from(record[field].as_u64().unwrap()).unwrap();
        let (width, height) = (side("width"), side("height"));
        for (rendition, longest) in [("webp-full", u32::MAX), ("webp-medium", 1200), ("webp-thumb", 512)] {
            let answer = app.fetch(url(&record, rendition)).await.expect(200);
            assert_eq!(answer.header("content-type"), Some("image/webp"));
            let names = chunks(&answer.body);
            assert!(
                names.iter().all(|chunk| ["VP8 ", "VP8L", "VP8X", "ALPH"].contains(&chunk.as_str())),
                "{name} {rendition}: {names:?}"
            );
            let size = decoded(&answer).dimensions();
            let bound = longest.min(width.max(height));
            assert_eq!(size.0.max(size.1), bound, "{name} {rendition}");
            if rendition == "webp-full" {
                assert_eq!(size, (width, height), "{name}");
            }
            let shape = f64::from(size.0) * f64::from(height) - f64::from(size.1) * f64::from(width);
            assert!(shape.abs() <= f64::from(width.max(height)), "{name} {rendition}: {size:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_orientation_is_served_upright() {
    let names: Vec<String> = (1..=8).map(|number| format!("media/landscape-{number}.jpg")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (app, ann, ids) = imported(&names).await;
    let mut pictures = Vec::new();
    for number in 1..=8 {
        let record = record(&app, &ann, &ids[&format!("landscape-{number}.jpg")]).await;
        assert!(record["width"].as_u64() > record["height"].as_u64(), "{number}");
        let answer = app.fetch(url(&record, "webp-thumb")).await.expect(200);
        pictures.push(quarters(&decoded(&answer)));
    }
    for (number, picture) in (1..).zip(&pictures) {
        let difference: f64 =
            picture.iter().flatten().zip(pictures[0].iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
        assert!(difference / 12.0 < 6.0, "orientation {number}: {picture:?} is not {:?}", pictures[0]);
    }
}

/// The mean colour of each quarter of a picture, which differs for every orientation.
fn quarters(picture: &image::DynamicImage) -> [[f64; 3]; 4] {
    let (width, height) = picture.dimensions();
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| {
        let part = picture.crop_imm(x * width / 2, y * height / 2, width / 2, height / 2).to_rgb8();
        let pixels = f64::from(part.width() * part.height());
        let mut sums = [0.0; 3];
        for pixel in part.pixels() {
            for (sum, value) in sums.iter_mut().zip(pixel.0) {
                *sum += f64::from(value);
            }
        }
        sums.map(|sum| sum / pixels)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rendition_has_an_etag_and_cache_headers() {
    let (app, ann, ids) = imported(&["media/grey.jpg"]).await;
    let record = record(&app, &ann, &ids["grey.jpg"]).await;
    let thumb = url(&record, "webp-thumb");
    app.advance(Duration::from_millis(100_250));
    let answer = app.fetch(thumb).await.expect(200);
    let tag = answer.header("etag").unwrap().to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong validator: {tag}");
    assert_eq!(
        answer.header("cache-control"),
        Some("private, max-age=799"),
        "900 s less 100.25 s, rounded down"
    );
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    assert_eq!(answer.header("cross-origin-resource-policy"), Some("cross-origin"));
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
    assert_eq!(app.fetch(thumb).await.header("etag"), Some(tag.as_str()), "equal bytes, equal tag");
    assert_ne!(app.fetch(url(&record, "webp-full")).await.header("etag"), Some(tag.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn if_none_match_head_and_ranges_are_supported() {
    let (app, ann, ids) = imported(&["media/grey.jpg"]).await;
    let record = record(&app, &ann, &ids["grey.jpg"]).await;
    let path = url(&record, "webp-thumb").strip_prefix(&app.base_url).unwrap().to_owned();
    let whole = app.fetch(&path).await.expect(200);
    let tag = whole.header("etag").unwrap().to_owned();
    let length = whole.body.len();
    let with =
        |name: &'static str, value: String| app.send(app.request(Method::GET, &path).header(name, value));

    for value in [tag.clone(), "*".to_owned(), format!("\"x\", {tag}"), format!("W/{tag}")] {
        let answer = with("if-none-match", value.clone()).await.expect(304);
        assert!(answer.body.is_empty());
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{value}");
        assert!(answer.header("cache-control").is_some());
    }
    with("if-none-match", "\"x\"".to_owned()).await.expect(200);

    let head = app.send(app.request(Method::HEAD, &path)).await.expect(200);
    assert!(head.body.is_empty());
    for name in ["content-length", "content-type", "etag", "accept-ranges", "cache-control"] {
        assert_eq!(head.header(name), whole.header(name), "{name}");
    }

    for (range, from, to) in [
        ("bytes=0-9".to_owned(), 0, 10),
        ("bytes=10-10".to_owned(), 10, 11),
        (format!("bytes={}-", length - 5), length - 5, length),
        ("bytes=-7".to_owned(), length - 7, length),
        ("bytes=0-99999999".to_owned(), 0, length),
    ] {
        let part = with("range", range.clone()).await.expect(206);
        assert_eq!(part.body, whole.body[from..to], "{range}");
        let expect = format!("bytes {from}-{}/{length}", to - 1);
        assert_eq!(part.header("content-range"), Some(expect.as_str()));
        assert_eq!(part.header("etag"), Some(tag.as_str()));
        assert_eq!(part.header("x-content-type-options"), Some("nosniff"));
    }
    for range in [format!("bytes={length}-"), "bytes=99999999-".to_owned(), "bytes=-0".to_owned()] {
        let answer = with("range", range).await.expect(416);
        assert_eq!(answer.header("content-range"), Some(format!("bytes */{length}").as_str()));
    }
    for range in ["bytes=5-1", "items=0-1", "bytes=x-", "nonsense"] {
        assert_eq!(with("range", range.to_owned()).await.expect(200).body, whole.body, "{range}");
    }
    // Only GET has ranges (RFC 9110, section 14.2).
    for (name, value) in [("range", "bytes=0-9"), ("range", "bytes=99999999-"), ("if-range", tag.as_str())] {
        let request = app.request(Method::HEAD, &path).header(name, value).header("range", "bytes=0-9");
        let head = app.send(request).await.expect(200);
        assert_eq!(head.header("content-length"), whole.header("content-length"), "{name}: {value}");
        assert_eq!(head.header("content-range"), None, "{name}: {value}");
    }
    // If the rendition has changed since, the whole file is sent.
    for (condition, status) in [(tag.as_str(), 206), ("\"x\"", 200)] {
        let request =
            app.request(Method::GET, &path).header("range", "bytes=0-0").header("if-range", condition);
        app.send(request).await.expect(status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_visible_before_its_full_rendition_which_is_created_once() {
    let (app, ann, ids) = imported(&["samples/autumn-leaf.jpg"]).await;
    let record = record(&app, &ann, &ids["autumn-leaf.jpg"]).await;
    assert_eq!(app.stored_renditions().await.len(), 3, "medium, thumb and preview");
    let answers = join_all((0..8).map(|_| app.fetch(url(&record, "webp-full")))).await;
    for answer in &answers {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("etag"), answers[0].header("etag"));
        assert_eq!(answer.body, answers[0].body);
    }
    assert_eq!(app.stored_renditions().await.len(), 4);
    app.fetch(url(&record, "webp-full")).await.expect(200);
    assert_eq!(app.stored_renditions().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rendition_lost_together_with_its_original_is_500() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let record = record(&app, &ann, &id).await;
    let thumb = url(&record, "webp-thumb");
    for rendition in app.stored_renditions().await {
        app.blobs().content.delete(BlobKind::Rendition, rendition).await.unwrap();
    }
    let answer = app.fetch(thumb).await.expect(500);
    // The error is permanent, so there is no Retry-After.
    assert_eq!(answer.header("retry-after"), None);
    assert!(!answer.error().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_original_is_never_served() {
    let (app, ann, ids) = imported(&["media/grey.jpg"]).await;
    let original = std::fs::read(tests::fixture("media/grey.jpg")).unwrap();
    let record = record(&app, &ann, &ids["grey.jpg"]).await;
    for url in record["renditions"].as_object().unwrap().values() {
        let answer = app.fetch(url.as_str().unwrap()).await;
        assert_eq!(chunks(&answer.body)[0], "VP8 ");
        assert_ne!(answer.body, original);
    }
    let id = &ids["grey.jpg"];
    for path in [
        format!("/i/{id}/original"),
        format!("/i/{id}/original.webp"),
        format!("/i/{id}"),
        "/blobs/originals".to_owned(),
    ] {
        let answer = app.fetch(&path).await;
        assert!([403, 404].contains(&answer.status), "{path}");
    }
    for path in [format!("/images/{id}/original"), format!("/images/{id}/file")] {
        app.get(&path, &ann.key).await.expect(404);
    }
}
