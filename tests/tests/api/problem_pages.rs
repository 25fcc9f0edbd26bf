//! The page of photos that could not be read.

use std::time::Duration;

use library::IndexingScope;
use reqwest::Method;
use tests::{
    TestApp,
    oauth::{Browser, forms},
};

async fn send(browser: &Browser<'_>, fields: &[(&str, &str)], status: u16) {
    browser.send(browser.request(Method::POST, "/problems").form(fields)).await.expect(status);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_says_what_helps_and_its_file_is_deleted() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let handle = app.library.accounts.account(&anna.email).await.unwrap().sync_handle.to_string();
    let send_file = async |method: &str, path: &str, content: &[u8]| {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = app.request(method, path).basic_auth(&handle, Some(&anna.key));
        app.send(request.body(content.to_vec())).await.expect(201);
    };
    send_file("MKCOL", "/dav/Camera", b"").await;
    send_file("MKCOL", "/dav/Camera/2024", b"").await;
    let broken = [&[0xff, 0xd8, 0xff, 0xe0][..], &[0; 100]].concat();
    send_file("PUT", "/dav/Camera/2024/boat.jpg", &broken).await;
    let indexing = app.library.indexer.start_indexing(IndexingScope::Images).unwrap();
    let page = loop {
        let page = browser.open("/problems").await.expect(200).text();
        if page.contains("1 photo could not be read") {
            break page;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    indexing.stop().await;

    assert!(page.contains("boat.jpg") && page.contains("In the folder /Camera/2024 "), "{page}");
    let (words, details) = page.split_once("Technical details").unwrap();
    assert!(
        words.contains("The file is damaged. ") || words.contains("Part of the file is missing. "),
        "{page}"
    );
    assert!(details.contains("<code>"), "{page}");
    assert!(!page.contains(app.dir().to_str().unwrap()), "no path of the server: {page}");

    let form = forms(&page).into_iter().find(|form| form.fields.contains_key("image")).unwrap();
    let (csrf, image) = (&*form.fields["csrf"], &*form.fields["image"]);
    send(&browser, &[("csrf", "wrong"), ("action", "delete"), ("image", image)], 403).await;
    for _ in 0..2 {
        send(&browser, &[("csrf", csrf), ("action", "delete"), ("image", image)], 303).await;
    }
    assert!(browser.open("/problems").await.expect(200).text().contains("There are no problems."));
    assert!(browser.open("/trash").await.expect(200).text().contains("boat.jpg"));
    // It stays listed, so that phones do not send it again.
    let listed = app.request(Method::from_bytes(b"PROPFIND").unwrap(), "/dav/Camera/2024/boat.jpg");
    app.send(listed.basic_auth(&handle, Some(&anna.key)).header("Depth", "0")).await.expect(207);
}
