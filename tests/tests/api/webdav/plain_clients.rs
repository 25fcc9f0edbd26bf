//! The requests of rclone, FolderSync, PhotoSync and davfs2.

use super::{Client, jpeg, sha1, step};

const RCLONE_PROPERTIES: &str = r#"<?xml version="1.0"?><d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"
 xmlns:nc="http://nextcloud.org/ns"><d:prop><d:displayname /><d:getlastmodified /><d:getcontentlength /><d:resourcetype />
<d:getcontenttype /><oc:checksums /><oc:permissions /></d:prop></d:propfind>"#;

#[tokio::test(flavor = "multi_thread")]
async fn rclone_copies_junk_and_photos_and_finds_their_sizes() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    client
        .replay([
            step("PROPFIND /dav/", 207).with("Depth", "1").shows("<d:href>/dav/</d:href>"),
            step("MKCOL /dav/a/", 201),
            step("MKCOL /dav/a/", 405),
            step("PUT /dav/a/x.jpg", 201).body(photo.clone()),
            step("PUT /dav/a/.DS_Store", 201).body("junk"),
            step("PROPFIND /dav/a/.DS_Store", 207)
                .with("Depth", "0")
                .shows("<d:getcontentlength>4</d:getcontentlength>"),
            step("PROPFIND /dav/a/", 207)
                .with("Depth", "1")
                .shows(format!("<d:getcontentlength>{}</d:getcontentlength>", photo.len()))
                .shows("<d:href>/dav/a/.DS_Store</d:href>"),
            // After a failed PUT, rclone deletes the path.
            step("PUT /dav/a/movie.mp4", 415).body("this is not a photo"),
            step("DELETE /dav/a/movie.mp4", 404),
            step("MOVE /dav/a/", 201).with("Destination", "/dav/b/"),
            step("DELETE /dav/b/", 204),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rclone_with_vendor_nextcloud_keeps_times_and_hashes() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    client
        .replay([
            step("PUT /remote.php/dav/files/{id}/x.jpg", 201)
                .with("X-OC-Mtime", "1700000000")
                .with("OC-Checksum", sha1(&photo))
                .body(photo.clone()),
            step("PROPFIND /remote.php/dav/files/{id}/x.jpg", 207)
                .with("Depth", "0")
                .body(RCLONE_PROPERTIES)
                .shows(format!("<oc:checksums><oc:checksum>{} SHA256:", sha1(&photo)))
                .shows("Tue, 14 Nov 2023 22:13:20 GMT"),
            step("PROPPATCH /remote.php/dav/files/{id}/x.jpg", 207)
                .body(
                    r#"<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><lastmodified xmlns="DAV:">1600000000</lastmodified>
</D:prop></D:set></D:propertyupdate>"#,
                )
                .shows("200 OK"),
            step("HEAD /remote.php/dav/files/{id}/x.jpg", 200)
                .gives("last-modified", "Sun, 13 Sep 2020 12:26:40 GMT"),
            step("MKCOL /remote.php/dav/uploads/{id}/rclone-chunked-upload-1", 201),
        ])
        .await;
    for (name, chunk) in [("000000000000500", &photo[500..]), ("000000000000000", &photo[..500])] {
        let put = step("PUT /remote.php/dav/uploads/{id}/rclone-chunked-upload-1/", 201).body(chunk);
        client.run(put.at(&format!("{name}-000000000001000"))).await;
    }
    client
        .run(
            step("MOVE /remote.php/dav/uploads/{id}/rclone-chunked-upload-1/.file", 201)
                .with("Destination", "http://localhost/remote.php/dav/files/{id}/y.jpg")
                .with("X-OC-Mtime", "1700000000"),
        )
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn foldersync_uploads_under_a_temporary_name() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PROPFIND /dav/", 207).with("Depth", "1"),
            step("PUT /dav/x.jpg.tacitpart", 201).with("X-OC-Mtime", "1700000000").body(jpeg(1)),
        ])
        .await;
    assert_eq!(client.images().await, 0, "a partial file is no image");
    client
        .replay([
            step("MOVE /dav/x.jpg.tacitpart", 201)
                .with("Destination", "https://photos.example.org/dav/x.jpg"),
            step("HEAD /dav/x.jpg", 200).gives("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT"),
            step("HEAD /dav/x.jpg.tacitpart", 404),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_file_can_be_copied_to_its_name_and_junk_cannot() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg.part", 201).body(jpeg(1)),
            step("COPY /dav/x.jpg.part", 201).with("Destination", "/dav/x.jpg"),
            step("DELETE /dav/x.jpg.part", 204),
            step("PUT /dav/._x.jpg", 201).body(jpeg(2)),
            step("MOVE /dav/._x.jpg", 201).with("Destination", "/dav/._y.jpg"),
            step("MOVE /dav/._y.jpg", 415).with("Destination", "/dav/y.jpg"),
            step("COPY /dav/._y.jpg", 415).with("Destination", "/dav/y.jpg"),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn photosync_creates_folders_level_by_level() {
    let mut client = Client::start().await;
    client
        .replay([
            step("OPTIONS /dav/", 200).gives("dav", "1, 2").gives("ms-author-via", "DAV").gives("allow", ""),
            step("MKCOL /dav/Phone", 201),
            step("MKCOL /dav/Phone/2024", 201),
            step("MKCOL /dav/Phone/2024", 405),
            step("PUT /dav/Phone/2024/IMG_1.JPG", 201).body(jpeg(1)),
            step("PROPFIND /dav/Phone/2024", 207).with("Depth", "1").shows("IMG_1.JPG"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn davfs2_writes_under_a_lock() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PROPFIND /dav/", 207).with("Depth", "0").body(
                r#"<propfind xmlns="DAV:"><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>"#,
            ),
            step("LOCK /dav/x.jpg", 201)
                .with("Timeout", "Second-1800")
                .with("Depth", "0")
                .body(super::locks::lock_body("<D:owner>ann</D:owner>"))
                .shows("<d:timeout>Second-600</d:timeout>"),
            step("HEAD /dav/x.jpg", 200).gives("content-length", "0"),
            step("PUT /dav/x.jpg", 423).body(jpeg(1)),
            step("PUT /dav/x.jpg", 204).with("If", "</dav/x.jpg> ({lock})").body(jpeg(1)),
            step("LOCK /dav/x.jpg", 200).with("If", "({lock})").with("Timeout", "Second-300"),
            step("UNLOCK /dav/x.jpg", 204).with("Lock-Token", "{lock}"),
            step("UNLOCK /dav/x.jpg", 409).with("Lock-Token", "{lock}"),
        ])
        .await;
}
