//! The requests of Nextcloud's app for iOS.

use super::{Client, jpeg, step};

/// The properties that the app requests, without those that have no effect on it.
const PROPERTIES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:prop>
<d:displayname /><d:getlastmodified /><d:getetag /><d:getcontenttype /><d:resourcetype /><d:quota-available-bytes />
<d:quota-used-bytes /><permissions xmlns="http://owncloud.org/ns"/><id xmlns="http://owncloud.org/ns"/>
<fileid xmlns="http://owncloud.org/ns"/><size xmlns="http://owncloud.org/ns"/><favorite xmlns="http://owncloud.org/ns"/>
<share-types xmlns="http://owncloud.org/ns"/><checksums xmlns="http://owncloud.org/ns"/>
<creation_time xmlns="http://nextcloud.org/ns"/><upload_time xmlns="http://nextcloud.org/ns"/>
<is-encrypted xmlns="http://nextcloud.org/ns"/><has-preview xmlns="http://nextcloud.org/ns"/>
<metadata-files-live-photo xmlns="http://nextcloud.org/ns"/></d:prop></d:propfind>"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_ios_uploads_a_photo_into_folders_that_it_does_not_create() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PROPFIND /remote.php/dav/files/{id}", 207)
                .with("Depth", "0")
                .body(PROPERTIES)
                .shows("<d:href>/remote.php/dav/files/{id}/</d:href>"),
            step("PROPFIND /remote.php/dav/files/{id}/Photos/24/IMG_1.jpg", 404).with("Depth", "0").body(PROPERTIES),
            step("PUT /remote.php/dav/files/{id}/Photos/24/IMG_1.jpg", 201)
                .with("X-OC-CTime", "1600000000.25")
                .with("X-OC-MTime", "1700000000.75")
                .with("Overwrite", "true")
                .with("X-NC-WebDAV-Auto-Mkcol", "1")
                .body(jpeg(1))
                .gives("oc-fileid", "")
                .gives("oc-etag", "{tag}"),
            step("PROPFIND /remote.php/dav/files/{id}/Photos/24/IMG_1.jpg", 207)
                .with("Depth", "0")
                .body(PROPERTIES)
                .shows("<d:getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT</d:getlastmodified>")
                .shows("<nc:creation_time>1600000000</nc:creation_time>"),
            // The app marks the still and the movie of a live photo. The movie is missing, because its upload was refused.
            step("PROPPATCH /remote.php/dav/files/{id}/Photos/24/IMG_1.jpg", 207).body(live_photo()).shows("200 OK"),
            step("PROPPATCH /remote.php/dav/files/{id}/Photos/24/IMG_1.mov", 404).body(live_photo()),
            step("REPORT /remote.php/dav/files/{id}/", 207)
                .body(r#"<oc:filter-files xmlns:oc="http://owncloud.org/ns"><oc:filter-rules/></oc:filter-files>"#)
                .lacks("<d:response>"),
        ])
        .await;
}

fn live_photo() -> &'static str {
    r#"<d:propertyupdate xmlns:d="DAV:" xmlns:nc="http://nextcloud.org/ns"><d:set><d:prop>
<nc:metadata-files-live-photo>IMG_1.mov</nc:metadata-files-live-photo></d:prop></d:set></d:propertyupdate>"#
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_ios_uploads_in_more_than_nine_chunks() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    let total = photo.len().to_string();
    client
        .replay([
            step("PROPFIND /remote.php/dav/uploads/{id}/u", 404).with("Depth", "0").body(PROPERTIES),
            step("MKCOL /remote.php/dav/uploads/{id}/u", 201),
            step("PROPFIND /remote.php/dav/uploads/{id}/u", 207).with("Depth", "0").body(PROPERTIES),
        ])
        .await;
    for (index, chunk) in photo.chunks(photo.len().div_ceil(11)).enumerate() {
        let mut put = step("PUT /remote.php/dav/uploads/{id}/u/", 201).body(chunk);
        put = put.with("OC-Total-Length", total.clone());
        client.run(put.at(&(index + 1).to_string())).await;
    }
    client
        .replay([
            step("MOVE /remote.php/dav/uploads/{id}/u/.file", 400)
                .with("Destination", "/remote.php/dav/files/{id}/a/b.jpg")
                .with("OC-Total-Length", "1"),
            step("MOVE /remote.php/dav/uploads/{id}/u/.file", 201)
                .with("Destination", "/remote.php/dav/files/{id}/a/b.jpg")
                .with("OC-Total-Length", total.clone())
                .with("X-OC-MTime", "1700000000.0")
                .with("X-NC-WebDAV-AutoMkcol", "1")
                .with("Overwrite", "true"),
            step("HEAD /remote.php/dav/files/{id}/a/b.jpg", 200).gives("content-length", total),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}
