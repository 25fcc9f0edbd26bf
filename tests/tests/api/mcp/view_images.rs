//! The tool `view_images`.

use std::{collections::HashMap, fs};

use data_encoding::BASE64;
use domain::BlobKind;
use image::RgbImage;
use media::SheetLayout;
use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

use super::{call, failure, request};

const V1: &str = "/api/mcp/v1";
const V2: &str = "/api/mcp/v2";

/// The most bytes of a response.
const MAX_BYTES: usize = 700_000;

async fn imported(names: &[&str]) -> (TestApp, TestAccount, HashMap<String, String>) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.import_fixtures(&ann, names).await;
    (app, ann, ids)
}

/// The payload and the pictures of a successful call.
fn viewed(result: &Value) -> (Value, Vec<RgbImage>) {
    assert_ne!(result["isError"], true, "{result}");
    let (text, pictures) = result["content"].as_array().unwrap().split_first().unwrap();
    assert_eq!(text["type"], "text");
    let payload = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    let decoded = |block: &Value| {
        assert_eq!((&block["type"], &block["mimeType"]), (&json!("image"), &json!("image/jpeg")));
        let jpeg = BASE64.decode(block["data"].as_str().unwrap().as_bytes()).unwrap();
        image::load_from_memory_with_format(&jpeg, image::ImageFormat::Jpeg).unwrap().to_rgb8()
    };
    (payload, pictures.iter().map(decoded).collect())
}

/// The mean colour of each quarter of a picture.
fn quarters(picture: &RgbImage) -> [[f64; 3]; 4] {
    let (width, height) = picture.dimensions();
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| {
        let part = image::imageops::crop_imm(picture, x * width / 2, y * height / 2, width / 2, height / 2)
            .to_image();
        let pixels = f64::from(part.width() * part.height());
        [0, 1, 2].map(|channel| part.pixels().map(|pixel| f64::from(pixel.0[channel])).sum::<f64>() / pixels)
    })
}

fn assert_alike(one: &RgbImage, other: &RgbImage) {
    let (one, other) = (quarters(one), quarters(other));
    let difference: f64 = one.iter().flatten().zip(other.iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
    assert!(difference / 12.0 < 6.0, "{one:?} is not {other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_follow_the_records_in_the_order_of_the_ids() {
    let names = ["samples/wisteria.jpg", "media/portrait-6.jpg", "samples/orange-lossless.webp"];
    let (app, ann, ids) = imported(&names).await;
    let wanted =
        ["portrait-6.jpg", "orange-lossless.webp", "wisteria.jpg", "portrait-6.jpg"].map(|name| &ids[name]);
    for (resource, size, longest) in [(V1, "small", 512), (V2, "medium", 1200)] {
        let result =
            call(&app, resource, &ann.key, "view_images", &json!({"imageIds": wanted, "size": size})).await;
        let (payload, pictures) = viewed(&result);
        assert_eq!(payload["source"], "photo-library");
        assert_eq!(payload["urlsExpireAt"], "2024-06-01T12:15:00.000Z");
        assert!(payload["numbers"].as_str().unwrap().contains("position"));
        let records = payload["results"].as_array().unwrap();
        assert_eq!((records.len(), pictures.len()), (3, 3), "a repeated id counts once");
        for ((number, id), (record, picture)) in (1..).zip(wanted).zip(records.iter().zip(&pictures)) {
            let alone = call(&app, resource, &ann.key, "get_image", &json!({"id": id})).await;
            let mut alone: Value =
                serde_json::from_str(alone["content"][0]["text"].as_str().unwrap()).unwrap();
            alone["result"]["number"] = json!(number);
            assert_eq!(*record, alone["result"]);

            let rendition = if size == "small" { "webp-thumb" } else { "webp-medium" };
            let rendition = app.fetch(record["renditions"][rendition].as_str().unwrap()).await.expect(200);
            let rendition = image::load_from_memory(&rendition.body).unwrap().to_rgb8();
            assert!(rendition.width().max(rendition.height()) <= longest);
            assert_eq!(picture.dimensions(), rendition.dimensions());
            assert_alike(picture, &rendition);
        }
        assert_eq!(result.get("structuredContent"), (resource == V2).then_some(&payload));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_orientation_is_upright_on_a_numbered_sheet() {
    let names: Vec<String> = (1..=8).map(|number| format!("media/landscape-{number}.jpg")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (app, ann, ids) = imported(&names).await;
    let wanted: Vec<&String> = (1..=8).map(|number| &ids[&format!("landscape-{number}.jpg")]).collect();
    let result = call(&app, V1, &ann.key, "view_images", &json!({"imageIds": wanted, "sheet": true})).await;
    let (payload, pictures) = viewed(&result);
    assert!(payload["numbers"].as_str().unwrap().contains("top left"));
    assert_eq!(payload["results"][7]["number"], 8);
    let [sheet] = &pictures[..] else { panic!("one sheet") };
    let layout = SheetLayout::new(8, 1092, domain::Rendition::Thumb);
    assert_eq!(sheet.dimensions(), (layout.size().width, layout.size().height));
    let cell = |index| {
        let ((x, y), side) = (layout.cell(index), layout.cell_px);
        // The upper quarter has the number.
        image::imageops::crop_imm(sheet, x, y + side / 4, side, side / 2).to_image()
    };
    for index in 0..8 {
        assert_alike(&cell(index), &cell(0));
        let number = layout.number(index);
        let corner = sheet.get_pixel(number.x + number.dot_px / 2, number.y + number.dot_px / 2);
        assert!(corner.0.iter().all(|channel| *channel < 80), "the box is black: {corner:?}");
        let white =
            image::imageops::crop_imm(sheet, number.x, number.y, number.size.width, number.size.height)
                .to_image()
                .pixels()
                .filter(|pixel| pixel.0.iter().all(|channel| *channel > 180))
                .count();
        assert!(white > 100, "digits are white");
    }
}

/// Pictures that no encoder compresses well, as PNG files.
fn noise(folder: &std::path::Path, count: u64) -> Vec<std::path::PathBuf> {
    let file = |seed: u64| {
        let mut random = fastrand::Rng::with_seed(seed);
        let picture =
            RgbImage::from_fn(1300, 1300, |_, _| image::Rgb([random.u8(..), random.u8(..), random.u8(..)]));
        let path = folder.join(format!("noise-{seed}.png"));
        picture.save_with_format(&path, image::ImageFormat::Png).unwrap();
        path
    };
    (0..count).map(file).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_to_sixteen_noisy_images_fit_in_every_form() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let folder = app.dir().join("noise");
    fs::create_dir_all(&folder).unwrap();
    let report = app.import(&ann, &noise(&folder, 16)).await;
    assert_eq!(report.failed, []);
    let ids = app.get("/images?limit=100", &ann.key).await.ids();
    assert_eq!(ids.len(), 16);
    for count in [1, 2, 5, 11, 16] {
        for size in ["small", "medium"] {
            for sheet in [false, true] {
                let params = json!({
                    "name": "view_images",
                    "arguments": {"imageIds": ids[..count], "size": size, "sheet": sheet},
                });
                let answer = request(&app, V2, &ann.key, "tools/call", &params).await.expect(200);
                assert!(answer.body.len() <= MAX_BYTES, "{count} {size} {sheet}: {}", answer.body.len());
                let (_, pictures) = viewed(&answer.json["result"]);
                assert_eq!(pictures.len(), if sheet { 1 } else { count });
                assert!(pictures.iter().all(|picture| picture.width() >= 192), "{count} {size} {sheet}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_cannot_be_seen_are_named() {
    let (app, ann, ids) = imported(&["media/grey.jpg", "samples/wisteria.jpg"]).await;
    let ben = app.account("ben").await;
    let foreign = app.seed_one(&ben, SeedImage::at("2024-05-01")).await;
    let (seen, deleted) = (&ids["grey.jpg"], &ids["wisteria.jpg"]);
    app.delete(&format!("/images/{deleted}"), &ann.key).await.expect(204);
    for unseen in [deleted, &foreign, "unknown"] {
        let arguments = json!({"imageIds": [seen, unseen]});
        let result = call(&app, V1, &ann.key, "view_images", &arguments).await;
        assert!(
            failure(&result).contains(unseen) && !failure(&result).contains(seen),
            "{}",
            failure(&result)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_rendition_is_made_again_and_a_broken_one_is_an_error() {
    let (app, ann, ids) = imported(&["media/grey.jpg"]).await;
    let ids: Vec<&String> = ids.values().collect();
    for hash in app.stored_renditions().await {
        app.blobs().content.delete(BlobKind::Rendition, hash).await.unwrap();
    }
    let (_, pictures) = viewed(&call(&app, V1, &ann.key, "view_images", &json!({"imageIds": ids})).await);
    assert_eq!(pictures.len(), 1);

    for hash in app.stored_renditions().await {
        app.blobs().content.delete(BlobKind::Rendition, hash).await.unwrap();
    }
    // The pictures that were made are kept in memory. These are others.
    let medium = json!({"imageIds": ids, "size": "medium"});
    let original = fs::read(tests::fixture("media/grey.jpg")).unwrap();
    app.blobs().content.delete(BlobKind::Original, blobs::content_hash(&original)).await.unwrap();
    failure(&call(&app, V1, &ann.key, "view_images", &medium).await);
    let (_, pictures) = viewed(&call(&app, V1, &ann.key, "view_images", &json!({"imageIds": ids})).await);
    assert_eq!(pictures.len(), 1, "cached");
    app.blobs().content.put_bytes(BlobKind::Original, original.into()).await.unwrap();
    let (_, pictures) = viewed(&call(&app, V1, &ann.key, "view_images", &medium).await);
    assert_eq!(pictures.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_legacy_resource_has_no_such_tool() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let params = json!({"name": "view_images", "arguments": {"imageIds": ["x"]}});
    let answer = request(&app, "/api/mcp/legacy", &ann.key, "tools/call", &params).await.expect(200);
    assert_eq!(answer.json["error"]["code"], -32602);
}
