//! The requests of Finder and Explorer.

use super::{Client, jpeg, locks::lock_body, step};

#[tokio::test(flavor = "multi_thread")]
async fn finder_copies_a_photo() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    client
        .replay([
            step("OPTIONS /dav/", 200).gives("dav", "1, 2"),
            step("PROPFIND /dav/", 207).with("Depth", "0"),
            step("PROPFIND /dav/._.", 404).with("Depth", "0"),
            step("PUT /dav/x.jpg", 201).body(""),
            step("LOCK /dav/x.jpg", 200)
                .with("Depth", "0")
                .with("Timeout", "Second-600")
                .body(lock_body("<D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner>"))
                .shows("<d:owner><d:href>http://www.apple.com/webdav_fs/</d:href></d:owner>"),
            step("PUT /dav/x.jpg", 204)
                .with("If", "({lock})")
                .with("X-Expected-Entity-Length", photo.len().to_string())
                .body(photo.clone()),
            step("PROPPATCH /dav/x.jpg", 207)
                .with("If", "({lock})")
                .body(
                    r#"<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>
<D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</D:getlastmodified></D:prop></D:set></D:propertyupdate>"#,
                )
                .shows("200 OK"),
            step("UNLOCK /dav/x.jpg", 204).with("Lock-Token", "{lock}"),
            step("PUT /dav/._x.jpg", 201).body("resource fork"),
            step("PROPFIND /dav/", 207)
                .with("Depth", "1")
                .shows("/dav/._x.jpg")
                .shows("Sun, 06 Nov 1994 08:49:37 GMT"),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn explorer_finds_the_folder_from_the_root_and_copies_a_photo() {
    let mut client = Client::start().await;
    client
        .replay([
            step("OPTIONS /", 200).gives("dav", "1, 2").gives("ms-author-via", "DAV"),
            step("PROPFIND /", 207)
                .with("Depth", "1")
                .shows("<d:href>/</d:href>")
                .shows("<d:href>/dav/</d:href>"),
            step("PROPFIND /dav", 207).with("Depth", "0"),
            step("PROPFIND /dav/desktop.ini", 404).with("Depth", "0"),
            step("PUT /dav/x.jpg", 201).body(""),
            step("LOCK /dav/x.jpg", 200)
                .with("Timeout", "Second-3600")
                .body(lock_body("<D:owner><D:href>ANN-PC\\ann</D:href></D:owner>")),
            step("PUT /dav/x.jpg", 204).with("If", "({lock})").body(jpeg(1)),
            step("PROPPATCH /dav/x.jpg", 207)
                .with("If", "({lock})")
                .body(
                    r#"<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>
<Z:Win32CreationTime>Sun, 06 Nov 1994 08:49:37 GMT</Z:Win32CreationTime>
<Z:Win32LastAccessTime>Sun, 06 Nov 1994 08:49:37 GMT</Z:Win32LastAccessTime>
<Z:Win32LastModifiedTime>Sun, 06 Nov 1994 08:49:37 GMT</Z:Win32LastModifiedTime>
<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"#,
                )
                .shows("200 OK")
                .lacks("403"),
            step("UNLOCK /dav/x.jpg", 204).with("Lock-Token", "{lock}"),
        ])
        .await;
}
