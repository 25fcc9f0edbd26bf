//! The requests of Nextcloud's app for Android.

use super::{Client, jpeg, step};

/// The properties that the app asks for (`WebdavUtils.getAllPropSet`).
pub(super) const ALL_PROPERTIES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:displayname/><D:getcontenttype/><D:resourcetype/><D:getcontentlength/>
<D:getlastmodified/><D:creationdate/><D:getetag/><D:quota-used-bytes/><D:quota-available-bytes/>
<X1:permissions xmlns:X1="http://owncloud.org/ns"/><X2:id xmlns:X2="http://owncloud.org/ns"/>
<X3:size xmlns:X3="http://owncloud.org/ns"/><X4:favorite xmlns:X4="http://owncloud.org/ns"/>
<X5:is-encrypted xmlns:X5="http://nextcloud.org/ns"/><X6:mount-type xmlns:X6="http://nextcloud.org/ns"/>
<X7:owner-id xmlns:X7="http://owncloud.org/ns"/><X8:owner-display-name xmlns:X8="http://owncloud.org/ns"/>
<X9:unread-comments xmlns:X9="http://owncloud.org/ns"/><X10:has-preview xmlns:X10="http://nextcloud.org/ns"/>
<X11:note xmlns:X11="http://nextcloud.org/ns"/><X12:sharees xmlns:X12="http://nextcloud.org/ns"/>
<X13:rich-workspace xmlns:X13="http://nextcloud.org/ns"/><X14:creation_time xmlns:X14="http://nextcloud.org/ns"/>
<X15:upload_time xmlns:X15="http://nextcloud.org/ns"/></D:prop></D:propfind>"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_android_uploads_a_photo() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    client
        .replay([
            step("PROPFIND /remote.php/dav/files/{id}/", 207)
                .with("Depth", "1")
                .body(ALL_PROPERTIES)
                .gives("content-type", "application/xml; charset=utf-8")
                .shows("<d:href>/remote.php/dav/files/{id}/</d:href>")
                .shows("<oc:permissions>RGDNVCK</oc:permissions>")
                .shows("<d:quota-available-bytes>-3</d:quota-available-bytes>"),
            step("HEAD /remote.php/dav/files/{id}/Camera", 404),
            step("MKCOL /remote.php/dav/files/{id}/Camera/2024", 409),
            step("MKCOL /remote.php/dav/files/{id}/Camera", 201),
            step("MKCOL /remote.php/dav/files/{id}/Camera", 405),
            step("HEAD /remote.php/dav/files/{id}/Camera", 200),
            step("HEAD /remote.php/dav/files/{id}/Camera/IMG_1.jpg", 404),
            step("PUT /remote.php/dav/files/{id}/Camera/IMG_1.jpg", 201)
                .with("X-OC-Mtime", "1700000000")
                .with("X-OC-Ctime", "1600000000")
                .with("OC-Total-Length", photo.len().to_string())
                .body(photo.clone())
                .gives("oc-fileid", "")
                .gives("oc-etag", "{tag}")
                .gives("etag", "{tag}")
                .gives("date", "")
                .gives("x-oc-mtime", "accepted"),
            // The app compares these values with its own to recognise a file that it has uploaded.
            step("PROPFIND /remote.php/dav/files/{id}/Camera/IMG_1.jpg", 207)
                .with("Depth", "0")
                .body(ALL_PROPERTIES)
                .shows("<d:getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT</d:getlastmodified>")
                .shows("<nc:creation_time>1600000000</nc:creation_time>")
                .shows(format!("<oc:size>{}</oc:size>", photo.len()))
                .shows("<oc:permissions>RGDNVW</oc:permissions>")
                .shows("<nc:has-preview>false</nc:has-preview>"),
            step("PUT /remote.php/dav/files/{id}/Camera/IMG_1.jpg", 204).body(photo),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_android_resumes_a_chunked_upload() {
    let mut client = Client::start().await;
    let photo = jpeg(1);
    let (first, second) = photo.split_at(400);
    let properties =
        r#"<d:propfind xmlns:d="DAV:"><d:prop><d:resourcetype/><d:getcontentlength/></d:prop></d:propfind>"#;
    client
        .replay([
            step("PROPFIND /remote.php/dav/uploads/{id}/abc", 404).with("Depth", "1").body(properties),
            step("MKCOL /remote.php/dav/uploads/{id}/abc", 201),
            step("MKCOL /remote.php/dav/uploads/{id}/abc", 405),
            step("PUT /remote.php/dav/uploads/{id}/abc/000001", 201).body(first),
            step("PROPFIND /remote.php/dav/uploads/{id}/abc", 207)
                .with("Depth", "1")
                .body(properties)
                .shows("<d:href>/remote.php/dav/uploads/{id}/abc/</d:href>")
                .shows("<d:href>/remote.php/dav/uploads/{id}/abc/000001</d:href>")
                .shows("<d:getcontentlength>400</d:getcontentlength>")
                .lacks("displayname"),
            step("PUT /remote.php/dav/uploads/{id}/abc/000002", 201).body(second),
            step("MOVE /remote.php/dav/uploads/{id}/abc/.file", 201)
                .with("Destination", "http://photos.example.org/remote.php/dav/files/{id}/IMG_1.jpg")
                .with("X-OC-Mtime", "1700000000")
                .gives("oc-fileid", "")
                .gives("x-oc-mtime", "accepted"),
            step("HEAD /remote.php/dav/files/{id}/IMG_1.jpg", 200)
                .gives("content-length", photo.len().to_string())
                .gives("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT"),
            step("PROPFIND /remote.php/dav/uploads/{id}/abc", 404).with("Depth", "0"),
        ])
        .await;
    assert_eq!(client.images().await, 1);
}
