//! PROPFIND.

use super::{Client, android::ALL_PROPERTIES, jpeg, step};

fn pretty(body: &[u8]) -> String {
    String::from_utf8_lossy(body)
        .replace("><d:", ">\n<d:")
        .replace("><oc:", ">\n<oc:")
        .replace("><nc:", ">\n<nc:")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_has_the_same_form_under_each_root() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/Camera", 201),
            step("PUT /dav/Camera/a%20%26%20b.jpg", 201)
                .with("X-OC-Mtime", "1700000000")
                .with("X-OC-CTime", "1600000000")
                .body(jpeg(1)),
            step("PUT /dav/Camera/Thumbs.db", 201).body("junk"),
        ])
        .await;
    for (name, request) in [
        ("dav", "PROPFIND /dav/Camera"),
        ("files", "PROPFIND /remote.php/dav/files/{id}/Camera"),
        ("webdav", "PROPFIND /remote.php/webdav/Camera"),
    ] {
        let listed = client.run(step(request, 207).with("Depth", "1").body(ALL_PROPERTIES)).await;
        insta::assert_snapshot!(name, pretty(&listed.body));
    }
    let all = client.run(step("PROPFIND /dav/Camera", 207).with("Depth", "1")).await;
    insta::assert_snapshot!("allprop", pretty(&all.body));
}

#[tokio::test(flavor = "multi_thread")]
async fn depth_decides_what_is_listed() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/a", 201),
            step("PROPFIND /dav/", 207).with("Depth", "0").lacks("/dav/a/"),
            step("PROPFIND /dav/", 207).with("Depth", "1").shows("/dav/a/"),
            step("PROPFIND /dav/", 207).shows("/dav/a/"),
            step("MKCOL /dav/a/b", 201),
            step("PUT /dav/a/b/x.jpg", 201).body(jpeg(1)),
            step("PROPFIND /dav/a", 207)
                .with("Depth", "infinity")
                .shows("<d:href>/dav/a/</d:href>")
                .shows("<d:href>/dav/a/b/</d:href>")
                .shows("<d:href>/dav/a/b/x.jpg</d:href>"),
            step("PROPFIND /dav/b", 404).with("Depth", "infinity"),
            step("PROPFIND /dav/", 400).with("Depth", "2"),
            step("PROPFIND /dav/b", 404).with("Depth", "1"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn properties_are_listed_by_name_and_unknown_ones_are_missing() {
    let mut client = Client::start().await;
    let prop = |names: &str| format!(r#"<propfind xmlns="DAV:"><prop>{names}</prop></propfind>"#);
    client
        .replay([
            step("PUT /dav/x.jpg", 201).body(jpeg(1)),
            step("PROPFIND /dav/x.jpg", 207)
                .with("Depth", "0")
                .body(prop("<displayname/><x:y xmlns:x=\"urn:a&amp;b\"/>"))
                .shows("<d:displayname>x.jpg</d:displayname></d:prop><d:status>HTTP/1.1 200 OK</d:status>")
                .shows("<x:y xmlns:x=\"urn:a&amp;b\"/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status>"),
            step("PROPFIND /dav/x.jpg", 207)
                .with("Depth", "0")
                .body(r#"<propfind xmlns="DAV:"><propname/></propfind>"#)
                .shows("<d:getetag/>")
                .shows("<oc:fileid/>"),
            step("PROPFIND /dav/x.jpg", 400).with("Depth", "0").body("<propfind>"),
            step("PROPFIND /dav/x.jpg", 400)
                .with("Depth", "0")
                .body(r#"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><propfind xmlns="DAV:">&b;</propfind>"#),
            step("PROPFIND /dav/x.jpg", 413).with("Depth", "0").body(prop(&" ".repeat(70_000))),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tag_of_a_folder_changes_with_anything_below_it() {
    let mut client = Client::start().await;
    client.replay([step("MKCOL /dav/a", 201), step("MKCOL /dav/a/b", 201)]).await;
    let body = r#"<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>"#;
    let mut tags = Vec::new();
    for change in [
        step("PUT /dav/a/b/x.jpg", 201).body(jpeg(1)),
        step("PUT /dav/a/b/x.jpg", 204).body(jpeg(2)),
        step("MOVE /dav/a/b/x.jpg", 201).with("Destination", "/dav/a/b/y.jpg"),
        step("DELETE /dav/a/b/y.jpg", 204),
    ] {
        client.run(change).await;
        let listed = client.run(step("PROPFIND /dav/", 207).with("Depth", "0").body(body)).await;
        tags.push(listed.body);
    }
    let count = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), count, "each change has another tag");
}
