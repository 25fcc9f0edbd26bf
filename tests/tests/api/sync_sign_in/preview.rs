//! Previews of synced photos.

use std::io;

use bytes::Bytes;
use domain::{FilePath, Plan};
use futures_util::stream;
use library::{Caller, FileCondition, FileTimes, PutFile};
use reqwest::{Method, header};
use tests::{TestAccount, TestApp, TestResponse, fixture};

use super::Device;

const PHOTO: &str = "media/landscape-6.jpg";

/// Uploads a photo and returns the id of its file. It is not indexed yet.
async fn uploaded(app: &TestApp, account: &TestAccount, fixture_name: &str) -> i64 {
    let path = FilePath::parse(fixture_name.rsplit('/').next().unwrap()).unwrap();
    let file = PutFile {
        path,
        bytes: None,
        checksums: Vec::new(),
        times: FileTimes::default(),
        create_folders: false,
        condition: FileCondition::Any,
        lock_tokens: Vec::new(),
        parts_bytes: 0,
    };
    let caller = Caller::operator(app.store.account(account.id).await.unwrap().unwrap());
    let bytes = Bytes::from(std::fs::read(fixture(fixture_name)).unwrap());
    let stream = stream::iter([Ok::<_, io::Error>(bytes)]);
    app.library.ingest.put_file(&caller, file, stream).await.unwrap().entry.id.0
}

fn device(account: &TestAccount) -> Device {
    Device { user: account.email.to_string(), password: account.key.clone() }
}

async fn preview(app: &TestApp, device: &Device, file: i64, side: &str) -> TestResponse {
    let path = format!("/index.php/core/preview?fileId={file}&x={side}&y={side}&a=1&forceIcon=0");
    device.send(app, Method::GET, &path).await
}

/// The longer side of a WebP picture.
fn longest_side(answer: &TestResponse) -> u32 {
    let picture = image::load_from_memory_with_format(&answer.body, image::ImageFormat::WebP).unwrap();
    picture.width().max(picture.height())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_the_nearest_rendition_once_the_photo_is_indexed() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let phone = device(&anna);
    let file = uploaded(&app, &anna, PHOTO).await;
    let pending = preview(&app, &phone, file, "64").await;
    assert_eq!((pending.status, pending.body.len()), (404, 0));
    app.import(&anna, &[fixture(PHOTO)]).await;
    let image = app.get("/images", &anna.key).await.results()[0].clone();
    let full =
        u32::try_from(image["width"].as_u64().unwrap().max(image["height"].as_u64().unwrap())).unwrap();
    for (side, expect) in [
        ("64", full.min(256)),
        ("257", full.min(512)),
        ("513", full.min(1200)),
        ("4000", full),
        ("-1", full),
        ("x", full.min(256)),
    ] {
        let answer = preview(&app, &phone, file, side).await.expect(200);
        assert_eq!(answer.header("content-type"), Some("image/webp"));
        assert_eq!(longest_side(&answer), expect, "{side}");
    }
    let answer = preview(&app, &phone, file, "64").await;
    assert!(answer.header("cache-control").unwrap().starts_with("private"));
    let path = format!("/index.php/core/preview?fileId={file}&x=64&y=64");
    let request = app.request(Method::GET, &path).basic_auth(&phone.user, Some(&phone.password));
    let again =
        app.send(request.header(header::IF_NONE_MATCH, answer.header("etag").unwrap())).await.expect(304);
    assert!(again.body.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_of_deleted_foreign_and_hidden_photos_are_404() {
    let app = TestApp::builder().free_window(1).start().await;
    let (anna, bert) = (app.person("anna").await, app.person("bert").await);
    let phone = device(&anna);
    let (file, other) =
        (uploaded(&app, &anna, PHOTO).await, uploaded(&app, &anna, "media/portrait-8.jpg").await);
    app.import(&anna, &[fixture(PHOTO), fixture("media/portrait-8.jpg")]).await;
    preview(&app, &phone, file, "64").await.expect(200);
    preview(&app, &phone, other, "64").await.expect(200);
    preview(&app, &device(&bert), file, "64").await.expect(404);
    for id in ["0", "-1", "99999999999999999999", "x", ""] {
        let path = format!("/index.php/core/preview?fileId={id}&x=64&y=64");
        phone.send(&app, Method::GET, &path).await.expect(404);
    }
    app.set_plan(&anna, Plan::Free).await;
    let visible =
        [preview(&app, &phone, file, "64").await.status, preview(&app, &phone, other, "64").await.status];
    assert_eq!(
        visible.iter().filter(|status| **status == 200).count(),
        1,
        "the window has one photo: {visible:?}"
    );
    app.set_plan(&anna, Plan::Paid).await;
    for image in app.get("/images", &anna.key).await.ids() {
        app.delete(&format!("/images/{image}"), &anna.key).await.expect(204);
    }
    preview(&app, &phone, file, "64").await.expect(404);
    preview(&app, &phone, other, "64").await.expect(404);
}
