use data_encoding::BASE64;
use reqwest::Method;
use tests::TestApp;

use super::{BYTES, TUS, begin, beginning, head, movie, part_files, patch, photo, photos, tus};

#[tokio::test(flavor = "multi_thread")]
async fn options_name_what_the_server_supports() {
    let app = TestApp::builder().settings(|settings| settings.limits.max_upload_bytes = 12_345).start().await;
    let options = app.send(app.request(Method::OPTIONS, "/upload/")).await.expect(204);
    for (name, value) in [
        TUS,
        ("tus-version", "1.0.0"),
        ("tus-extension", "creation,creation-with-upload,expiration,termination,checksum"),
        ("tus-max-size", "12345"),
        ("tus-checksum-algorithm", "sha1,sha256,sha512,sha3-256,md5,crc32,adler32"),
    ] {
        assert_eq!(options.header(name), Some(value), "{name}");
    }
    assert_eq!(options.header("access-control-allow-origin"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_is_uploaded_in_parts() {
    let app = TestApp::start().await;
    let ann = app.unsynced_account("ann").await;
    let bytes = photo();
    let begun = app.send(beginning(&app, &ann, bytes.len(), "Sommer ä.jpg")).await.expect(201);
    let path = begun.header("location").unwrap().to_owned();
    assert_eq!(begun.header("upload-offset"), Some("0"));
    assert_eq!(begun.header("upload-expires"), Some("Sun, 02 Jun 2024 12:00:00 GMT"));
    let part = patch(&app, &ann, &path, 0, &bytes[..9_000]).await.expect(204);
    assert_eq!((part.header("upload-offset"), part.header("photo-result")), (Some("9000"), None));
    let state = head(&app, &ann, &path).await.expect(200);
    assert_eq!(state.header("upload-offset"), Some("9000"));
    assert_eq!(state.header("upload-length"), Some(&*bytes.len().to_string()));
    assert_eq!(state.header("upload-metadata"), Some(&*super::metadata("Sommer ä.jpg")));
    assert_eq!(state.header("cache-control"), Some("no-store"));
    let last = patch(&app, &ann, &path, 9_000, &bytes[9_000..]).await.expect(204);
    assert_eq!(last.header("photo-result"), Some("imported"));
    let id = last.header("photo-id").unwrap().to_owned();
    let again = head(&app, &ann, &path).await.expect(200);
    assert_eq!((again.header("photo-result"), again.header("photo-id")), (Some("imported"), Some(&*id)));
    assert_eq!(again.header("upload-offset"), Some(&*bytes.len().to_string()));
    assert_eq!((photos(&app).await, part_files(&app).await), (1, 0));
    let info = app.get("/library", &ann.key).await;
    assert_eq!(info.result()["syncEnabled"], true, "the upload set the sync up");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_may_begin_with_bytes() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let with = |body: &[u8], length: usize| {
        beginning(&app, &ann, length, "a.jpg").header("content-type", BYTES).body(body.to_vec())
    };
    let whole = app.send(with(&bytes, bytes.len())).await.expect(201);
    assert_eq!(whole.header("photo-result"), Some("imported"));
    let start = app.send(with(&bytes[..100], bytes.len())).await.expect(201);
    assert_eq!(start.header("upload-offset"), Some("100"));
    let path = start.header("location").unwrap().to_owned();
    let last = patch(&app, &ann, &path, 100, &bytes[100..]).await.expect(204);
    assert_eq!(last.header("photo-result"), Some("duplicate"));
    assert_eq!(last.header("photo-id"), whole.header("photo-id"));
    let refused = app.send(with(&movie()[..5_000], movie().len())).await.expect(415);
    assert!(refused.json["error"].as_str().is_some_and(|reason| !reason.is_empty()), "{refused:?}");
    assert_eq!(part_files(&app).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_image_is_restored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.import_fixtures(&ann, &["media/grey.jpg"]).await;
    let id = app.get("/images", &ann.key).await.ids().remove(0);
    app.delete(&format!("/images/{id}"), &ann.key).await.expect(204);
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let last = patch(&app, &ann, &path, 0, &bytes).await.expect(204);
    assert_eq!((last.header("photo-result"), last.header("photo-id")), (Some("restored"), Some(&*id)));
    assert_eq!(app.get("/images", &ann.key).await.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let post = || tus(&app, &ann, Method::POST, "/upload/");
    for (request, status) in [
        (post(), 400),
        (post().header("upload-length", "-1"), 400),
        (post().header("upload-length", "1e3"), 400),
        (post().header("upload-defer-length", "1"), 400),
        (post().header("upload-length", "5").header("upload-concat", "partial"), 400),
        (post().header("upload-length", "5").header("upload-metadata", "filename %"), 400),
        (post().header("upload-length", "200000001"), 413),
        (post().header("upload-length", "0"), 415),
        (tus(&app, &ann, Method::GET, "/upload/"), 405),
        (tus(&app, &ann, Method::PUT, "/upload/abc"), 405),
        (tus(&app, &ann, Method::HEAD, "/upload/abc"), 404),
        (tus(&app, &ann, Method::DELETE, "/upload/abc"), 404),
        (tus(&app, &ann, Method::GET, "/upload/a/b"), 404),
    ] {
        let answer = app.send(request).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header(TUS.0), Some("1.0.0"));
    }
    let path = begin(&app, &ann, 10).await;
    let request = || tus(&app, &ann, Method::PATCH, &path).body("hello");
    for (request, status) in [
        (request().header("upload-offset", "0"), 415),
        (request().header("upload-offset", "0").header("content-type", "text/plain"), 415),
        (request().header("content-type", BYTES), 400),
        (request().header("content-type", BYTES).header("upload-offset", "x"), 400),
        (
            request()
                .header("content-type", BYTES)
                .header("upload-offset", "0")
                .header("upload-checksum", "md5 x"),
            400,
        ),
        (request().header("content-type", BYTES).header("upload-offset", "0").body("longer than ten"), 400),
    ] {
        assert_eq!(app.send(request).await.status, status);
    }
    let gap = patch(&app, &ann, &path, 3, b"hello").await.expect(409);
    assert_eq!(gap.header("upload-offset"), Some("0"));
    assert_eq!(head(&app, &ann, &path).await.header("upload-offset"), Some("0"), "nothing was kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_protocol_version_is_412() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    for version in [None, Some("0.2.2"), Some("")] {
        let mut request =
            app.request(Method::POST, "/upload/").bearer_auth(&ann.key).header("upload-length", 5);
        if let Some(version) = version {
            request = request.header(TUS.0, version);
        }
        let answer = app.send(request).await.expect(412);
        assert_eq!(answer.header("tus-version"), Some("1.0.0"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_can_be_named_in_a_header() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let path = begin(&app, &ann, 10).await;
    let named = |method: &str| tus(&app, &ann, Method::POST, &path).header("x-http-method-override", method);
    let patch = named("PATCH").header("upload-offset", 0).header("content-type", BYTES).body("hello");
    assert_eq!(app.send(patch).await.expect(204).header("upload-offset"), Some("5"));
    app.send(named("DELETE")).await.expect(204);
    head(&app, &ann, &path).await.expect(404);
    assert_eq!(part_files(&app).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_checksum_is_460_and_keeps_nothing() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let with = |checksum: String| {
        tus(&app, &ann, Method::PATCH, &path)
            .header("upload-offset", 0)
            .header("content-type", BYTES)
            .header("upload-checksum", checksum)
            .body(bytes.clone())
    };
    let right = BASE64.encode(blobs::content_hash(&bytes).as_bytes());
    app.send(with(format!("sha256 {}", BASE64.encode(&[0; 32])))).await.expect(460);
    app.send(with(format!("sha1 {}", BASE64.encode(&[0; 20])))).await.expect(460);
    for (algorithm, bytes) in [("md5", 16), ("crc32", 4), ("adler32", 4), ("sha512", 64), ("SHA1", 20)] {
        app.send(with(format!("{algorithm} {}", BASE64.encode(&vec![0; bytes])))).await.expect(460);
    }
    for unknown in ["xxhash AAAA", "crc32c AAAAAA==", "sha1", "sha1 %", ""] {
        app.send(with(unknown.to_owned())).await.expect(400);
        let first = beginning(&app, &ann, bytes.len(), "a.jpg").header("upload-checksum", unknown);
        app.send(first.header("content-type", BYTES).body(bytes.clone())).await.expect(400);
    }
    let first = beginning(&app, &ann, bytes.len(), "a.jpg").header("content-type", BYTES);
    let first = first.header("upload-checksum", format!("md5 {}", BASE64.encode(&[0; 16])));
    app.send(first.body(bytes.clone())).await.expect(460);
    // Only a wrong checksum in the header of tus gives status 460.
    let only = tus(&app, &ann, Method::PATCH, &path).header("upload-offset", 0).header("content-type", BYTES);
    let only = only.header("digest", format!("MD5={}", BASE64.encode(&[0; 16])));
    app.send(only.body(bytes.clone())).await.expect(400);
    assert_eq!(head(&app, &ann, &path).await.header("upload-offset"), Some("0"));
    assert_eq!(photos(&app).await, 0);
    let whole = app.send(with(format!("sha256 {right}"))).await.expect(204);
    assert_eq!(whole.header("photo-result"), Some("imported"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_bytes_decide_and_not_the_name() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let (movie, bytes) = (movie(), photo());
    let begun = app.send(beginning(&app, &ann, movie.len(), "photo.jpg")).await.expect(201);
    let path = begun.header("location").unwrap().to_owned();
    patch(&app, &ann, &path, 0, &movie[..2_000]).await.expect(204);
    let refused = patch(&app, &ann, &path, 2_000, &movie[2_000..]).await.expect(415);
    assert!(refused.json["error"].is_string(), "{refused:?}");
    head(&app, &ann, &path).await.expect(404);
    let begun = app.send(beginning(&app, &ann, bytes.len(), "movie.mp4")).await.expect(201);
    patch(&app, &ann, begun.header("location").unwrap(), 0, &bytes).await.expect(204);
    assert_eq!((photos(&app).await, part_files(&app).await), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_quota_is_507_before_the_bytes_are_received() {
    let bytes = photo();
    let quota = bytes.len() as u64;
    let app = TestApp::builder()
        .settings(|settings| settings.limits.account_quota_bytes = Some(quota))
        .start()
        .await;
    let ann = app.account("ann").await;
    app.send(beginning(&app, &ann, bytes.len() + 1, "a.jpg")).await.expect(507);
    let (one, two) = (begin(&app, &ann, bytes.len()).await, begin(&app, &ann, bytes.len()).await);
    patch(&app, &ann, &one, 0, &bytes[..1_000]).await.expect(204);
    patch(&app, &ann, &two, 0, &bytes).await.expect(507);
    assert_eq!(
        patch(&app, &ann, &one, 1_000, &bytes[1_000..]).await.expect(204).header("photo-result"),
        Some("imported")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn known_photos_need_not_be_sent() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    patch(&app, &ann, &path, 0, &bytes).await.expect(204);
    let hash = blobs::content_hash(&bytes).to_string();
    let ask = async |key: &str, hashes: serde_json::Value| {
        app.send(app.request(Method::POST, "/upload/known").bearer_auth(key).json(&hashes)).await
    };
    let question = serde_json::json!({ "sha256": [hash.to_uppercase(), "00".repeat(32)] });
    assert_eq!(ask(&ann.key, question.clone()).await.expect(200).json["known"], serde_json::json!([hash]));
    assert_eq!(ask(&ben.key, question).await.expect(200).json["known"], serde_json::json!([]));
    ask(&ann.key, serde_json::json!({ "sha256": ["x"] })).await.expect(400);
    ask(&ann.key, serde_json::json!({ "sha256": vec![hash; 1001] })).await.expect(400);
    app.send(app.request(Method::POST, "/upload/known").bearer_auth(&ann.key).body("{}")).await.expect(415);
    app.send(app.request(Method::GET, "/upload/known").bearer_auth(&ann.key)).await.expect(405);
    ask("photos_wrong", serde_json::json!({ "sha256": [] })).await.expect(401);
}
