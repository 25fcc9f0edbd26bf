use reqwest::{Method, header};
use tests::{
    TestApp, TestResponse,
    oauth::{Browser, forms},
};

use super::{
    begin, movie, photo, photos,
    resume::{half_sent, is_written},
};

const PATH: &str = "/account/sync/photos";
const BOUNDARY: &str = "boundary-7f3a";

/// The token of the form on the page.
async fn token(browser: &Browser<'_>) -> String {
    let page = browser.open("/account/sync").await.expect(200).text();
    let form = forms(&page).into_iter().find(|form| form.action == PATH).unwrap();
    form.fields.get("csrf").unwrap().clone()
}

/// A multipart form with these fields; a field with a file name is a file.
fn multipart(fields: &[(&str, Option<&str>, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file_name, content) in fields {
        let file = file_name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend(head.as_bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

async fn send(app: &TestApp, browser: &Browser<'_>, body: Vec<u8>) -> TestResponse {
    let request = browser.request(Method::POST, PATH).header(header::ORIGIN, &app.base_url);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    browser.send(request.header(header::CONTENT_TYPE, kind).body(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_form_uploads_several_photos() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let (bytes, movie) = (photo(), movie());
    let other = std::fs::read(tests::fixture("media/progressive.jpg")).unwrap();
    let csrf = token(&browser).await;
    let fields: [(&str, Option<&str>, &[u8]); 6] = [
        ("csrf", None, csrf.as_bytes()),
        ("photos", Some("one.jpg"), &bytes),
        ("photos", Some("movie <1>.mp4"), &movie),
        ("photos", Some("Trip/two.jpg"), &other),
        ("photos", Some("again.jpg"), &bytes),
        ("photos", Some(""), b""),
    ];
    let page = send(&app, &browser, multipart(&fields)).await.expect(200).text();
    assert!(page.contains("2 photos added") && page.contains("1 photo already there"), "{page}");
    assert!(page.contains("1 not uploaded") && page.contains("movie &lt;1&gt;.mp4: "), "{page}");
    assert_eq!(photos(&app).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_beside_too_many_uploads_gets_a_page_that_says_so() {
    let app = TestApp::builder().limits(|limits| limits.uploads_per_owner = 1).start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let bytes = photo();
    let path = begin(&app, &ann, bytes.len()).await;
    let running = half_sent(&app, &ann, &path, &bytes[..10], bytes.len()).await;
    is_written(&app).await;
    let csrf = token(&browser).await;
    let form = multipart(&[("csrf", None, csrf.as_bytes()), ("photos", Some("one.jpg"), bytes.as_slice())]);
    let busy = send(&app, &browser, form).await.expect(503);
    assert_eq!(busy.header("retry-after"), Some("5"));
    assert!(busy.text().contains("Too many uploads at once"), "{}", busy.text());
    drop(running);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_whose_first_field_is_not_its_token_imports_nothing() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let (bytes, token) = (photo(), token(&browser).await);
    let file: (&str, Option<&str>, &[u8]) = ("photos", Some("one.jpg"), &bytes);
    for fields in [
        vec![file],
        vec![file, ("csrf", None, token.as_bytes())],
        vec![("csrf", None, b"wrong".as_slice()), file],
        vec![("csrf", None, bytes.as_slice()), file],
    ] {
        send(&app, &browser, multipart(&fields)).await.expect(403);
    }
    let whole = multipart(&[("csrf", None, token.as_bytes()), file]);
    for origin in ["https://evil.example", "null"] {
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = browser.request(Method::POST, PATH).header(header::ORIGIN, origin);
        browser.send(request.header(header::CONTENT_TYPE, kind).body(whole.clone())).await.expect(403);
    }
    send(&app, &app.browser(), whole.clone()).await.expect(403);
    let ben = app.person("ben").await;
    send(&app, &app.browser().signed_in(&ben).await, whole.clone()).await.expect(403);
    let plain = browser.request(Method::POST, PATH).form(&[("csrf", token.as_str())]);
    browser.send(plain).await.expect(403);
    assert_eq!(photos(&app).await, 0);
    send(&app, &browser, whole).await.expect(200);
    let page = browser.open(PATH).await.expect(302);
    assert_eq!(page.header("location"), Some("/account/sync"));
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_from_a_share_sheet_are_uploaded() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let signed_in = app.browser().signed_in(&ann).await;
    let body = multipart(&[("photos", Some("one.jpg"), photo().as_slice())]);
    let share = async |browser: &Browser<'_>, sites: &[&str]| {
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let mut request = browser.request(Method::POST, "/share").header(header::CONTENT_TYPE, kind);
        for site in sites {
            request = request.header("sec-fetch-site", *site);
        }
        browser.send(request.body(body.clone())).await
    };
    // Only the browser itself may send them, not a page.
    for sites in [&[][..], &["cross-site"], &["same-site"], &["same-origin"], &["none", "cross-site"]] {
        share(&signed_in, sites).await.expect(403);
    }
    let refused = share(&app.browser(), &["none"]).await.expect(401).text();
    assert!(refused.contains("Sign in, then share them again."), "{refused}");
    assert_eq!(photos(&app).await, 0);
    let page = share(&signed_in, &["none"]).await.expect(200).text();
    assert!(page.contains("1 photo added"), "{page}");
    assert_eq!(photos(&app).await, 1);
    assert_eq!(signed_in.open("/share").await.expect(302).header("location"), Some("/account/sync"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_off_form_keeps_the_photos_that_arrived() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let (bytes, token) = (photo(), token(&browser).await);
    let mut body = multipart(&[
        ("csrf", None, token.as_bytes()),
        ("photos", Some("one.jpg"), &bytes),
        ("photos", Some("two.jpg"), &bytes),
    ]);
    body.truncate(body.len() - 1_000);
    let page = send(&app, &browser, body).await.expect(200).text();
    assert!(page.contains("1 photo added") && page.contains("two.jpg: the upload was interrupted"), "{page}");
    assert_eq!(photos(&app).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_header_without_an_end_is_refused_and_the_photos_before_it_are_kept() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let (bytes, token) = (photo(), token(&browser).await);
    let mut body = multipart(&[("csrf", None, token.as_bytes()), ("photos", Some("one.jpg"), &bytes)]);
    body.truncate(body.len() - "--\r\n".len());
    body.extend(b"\r\nContent-Disposition: form-data; name=\"");
    body.resize(body.len() + 4_000_000, b'x');
    let page = send(&app, &browser, body).await.expect(200).text();
    assert!(page.contains("1 photo added") && page.contains("The rest of the form: "), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_refused_file_does_not_stop_the_photos_after_it() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let (bytes, mut movie, token) = (photo(), movie(), token(&browser).await);
    movie.resize(5_000_000, 0);
    let fields: [(&str, Option<&str>, &[u8]); 3] = [
        ("csrf", None, token.as_bytes()),
        ("photos", Some("movie.mp4"), &movie),
        ("photos", Some("one.jpg"), &bytes),
    ];
    let page = send(&app, &browser, multipart(&fields)).await.expect(200).text();
    assert!(page.contains("1 photo added") && page.contains("1 not uploaded"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_form_without_its_token_gets_the_page_that_explains_it() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let signed_in = app.browser().signed_in(&ann).await;
    let long = vec![b'x'; 40_000_000];
    let body = multipart(&[("csrf", None, b"wrong"), ("photos", Some("one.jpg"), &long)]);
    for browser in [signed_in, app.browser()] {
        let page = send(&app, &browser, body.clone()).await.expect(403).text();
        assert!(page.contains("Reload the page"), "{page}");
    }
}
