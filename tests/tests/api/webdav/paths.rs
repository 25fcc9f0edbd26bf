//! Paths, methods and who may use them.

use reqwest::Method;
use tests::TestApp;

use super::{Client, jpeg, step};

#[tokio::test(flavor = "multi_thread")]
async fn malformed_paths_are_400() {
    let client = Client::start().await;
    let credentials =
        data_encoding::BASE64.encode(format!("{}:{}", client.handle, client.account.key).as_bytes());
    for path in ["/dav/a/../b", "/dav/./b", "/dav/a%2Fb", "/dav/a%00b", "/dav/%ff", "/dav/%zz", "/dav/%2e%2e"]
    {
        let head = format!(
            "PROPFIND {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {credentials}\r\nDepth: 0\r\nConnection: close\r\n\r\n",
            client.app.address
        );
        let response = client.app.send_raw(head).await;
        assert!(response.starts_with("HTTP/1.1 400 "), "{path}: {response}");
        assert!(response.contains("<s:message>the path is not valid"), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_slashes_count_as_one() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav//a", 201),
            step("PUT /remote.php/dav/files/{id}//a//x.jpg", 201).body(jpeg(1)),
            step("MOVE /dav/a/x.jpg", 201).with("Destination", "http://h//dav//y.jpg"),
            step("PROPFIND //dav//", 207)
                .with("Depth", "1")
                .shows("<d:href>/dav/a/</d:href>")
                .shows("<d:href>/dav/y.jpg</d:href>"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_normalised_so_that_macos_finds_them() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/a%CC%88", 201),
            step("MKCOL /dav/%C3%A4", 405),
            step("PROPFIND /dav/", 207).with("Depth", "1").shows("<d:href>/dav/%C3%A4/</d:href>"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_401_and_another_account_is_404() {
    let mut client = Client::start().await;
    let other = client.app.account("bob").await;
    let other_handle = client.app.library.accounts.account(&other.email).await.unwrap().sync_handle;
    for (method, path) in [
        ("HEAD", "/remote.php/dav"),
        ("PROPFIND", "/remote.php/dav/files/x/"),
        ("PUT", "/dav/x"),
        ("PROPFIND", "/"),
    ] {
        let request = client.app.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
        let response = client.app.send(request).await.expect(401);
        assert!(response.header("www-authenticate").unwrap().starts_with("Basic "), "{method} {path}");
    }
    let request = client.app.request(Method::PUT, "/dav/x.jpg").basic_auth(&client.handle, Some("wrong"));
    client.app.send(request).await.expect(401);
    client.run(step("PROPFIND /remote.php/dav/files/", 404).at(&format!("{other_handle}/"))).await;
    client.run(step("MKCOL /remote.php/dav/uploads/", 404).at(&format!("{other_handle}/a"))).await;
    // The email works as user name and in the path.
    let email = client.account.email.to_string();
    let path = format!("/remote.php/dav/files/{}/", email.replace('@', "%40"));
    let request = client.app.request(Method::from_bytes(b"PROPFIND").unwrap(), &path).header("Depth", "0");
    let response = client.app.send(request.basic_auth(email, Some(&client.account.key))).await.expect(207);
    assert!(String::from_utf8_lossy(&response.body).contains(&format!("<d:href>{path}</d:href>")));
}

#[tokio::test(flavor = "multi_thread")]
async fn methods_that_are_not_offered_are_405_and_unknown_ones_501() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PATCH /dav/x", 405).gives("allow", ""),
            step("POST /remote.php/dav/files/{id}/x", 405),
            step("SEARCH /remote.php/dav/files/{id}/", 405),
            step("PUT /remote.php/dav/", 405),
            step("MKCOL /dav/", 405),
            step("DELETE /dav/", 403),
            step("PUT /dav/", 405).body(jpeg(1)),
            step("GLARE /dav/x", 501).gives("allow", ""),
            step("GET /dav/", 200).shows("<a href=\"/\">"),
            step("GET /remote.php/dav/trashbin/{id}/", 404),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn collections_above_the_files_can_be_listed() {
    let mut client = Client::start().await;
    let principal = r#"<d:propfind xmlns:d="DAV:"><d:prop><d:current-user-principal/></d:prop></d:propfind>"#;
    client
        .replay([
            step("PROPFIND /remote.php/dav/", 207)
                .with("Depth", "0")
                .body(principal)
                .shows("<d:href>/remote.php/dav/principals/users/{id}/</d:href>"),
            step("PROPFIND /remote.php/dav/files/", 207)
                .with("Depth", "1")
                .shows("<d:href>/remote.php/dav/files/{id}/</d:href>"),
            step("PROPFIND /remote.php/dav/principals/users/{id}/", 207).with("Depth", "0"),
            step("PROPFIND /remote.php/dav/principals/users/other/", 404).with("Depth", "0"),
            step("PROPFIND /remote.php/webdav/", 207)
                .with("Depth", "0")
                .shows("<d:href>/remote.php/webdav/</d:href>"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_have_no_cors_headers() {
    let app = TestApp::start().await;
    let request = app.request(Method::OPTIONS, "/dav/").header("Origin", app.base_url.clone());
    let response = app.send(request).await.expect(200);
    assert!(response.headers.keys().all(|name| !name.as_str().starts_with("access-control-")));
}
