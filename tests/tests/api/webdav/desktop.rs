//! The requests of Nextcloud's client for computers, and of `nextcloudcmd`.

use super::{Client, jpeg, sha1, step};

const PROPERTIES: &str = r#"<?xml version="1.0" ?><d:propfind xmlns:d="DAV:"><d:prop>
<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getetag/><d:quota-available-bytes/>
<size xmlns="http://owncloud.org/ns"/><id xmlns="http://owncloud.org/ns"/><fileid xmlns="http://owncloud.org/ns"/>
<downloadURL xmlns="http://owncloud.org/ns"/><dDC xmlns="http://owncloud.org/ns"/>
<permissions xmlns="http://owncloud.org/ns"/><checksums xmlns="http://owncloud.org/ns"/>
<is-encrypted xmlns="http://nextcloud.org/ns"/></d:prop></d:propfind>"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_client_uploads_changes_and_deletes() {
    let mut client = Client::start().await;
    let (first, second) = (jpeg(1), jpeg(2));
    client
        .replay([
            step("PROPFIND /remote.php/dav/files/{id}/", 207).with("Depth", "1").body(PROPERTIES),
            step("MKCOL /remote.php/dav/files/{id}/a%20b", 201).gives("oc-fileid", "").gives("oc-etag", ""),
            step("PUT /remote.php/dav/files/{id}/a%20b/x.jpg", 201)
                .with("OC-Checksum", sha1(&first))
                .with("OC-Total-Length", first.len().to_string())
                .with("X-OC-Mtime", "1700000000")
                .body(first.clone())
                .gives("oc-fileid", ""),
            step("PROPFIND /remote.php/dav/files/{id}/a%20b", 207)
                .with("Depth", "1")
                .body(PROPERTIES)
                .shows("<d:href>/remote.php/dav/files/{id}/a%20b/x.jpg</d:href>")
                .shows(format!("<oc:checksum>{}", sha1(&first)))
                .shows("<oc:downloadURL/>"),
            step("HEAD /remote.php/dav/files/{id}/a%20b/x.jpg", 200),
            step("PUT /remote.php/dav/files/{id}/a%20b/x.jpg", 204)
                .with("If-Match", "{tag}")
                .body(second.clone()),
            step("PUT /remote.php/dav/files/{id}/a%20b/x.jpg", 412)
                .with("If-Match", "\"other\"")
                .body(second.clone()),
            step("PUT /remote.php/dav/files/{id}/a%20b/y.jpg", 400)
                .with("OC-Checksum", sha1(b"other"))
                .body(second),
            step("MOVE /remote.php/dav/files/{id}/a%20b/x.jpg", 201)
                .with("Destination", "http://other.example.org:99/remote.php/dav/files/{id}/z.jpg")
                .with("Overwrite", "F"),
            step("DELETE /remote.php/dav/files/{id}/z.jpg", 204),
            step("DELETE /remote.php/dav/files/{id}/z.jpg", 404),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_client_replaces_a_file_by_chunks() {
    let mut client = Client::start().await;
    let photo = jpeg(3);
    let (first, second) = photo.split_at(300);
    client
        .replay([
            step("PUT /remote.php/dav/files/{id}/x.jpg", 201).body(jpeg(1)),
            step("MKCOL /remote.php/dav/uploads/{id}/77", 201)
                .with("OC-Total-Length", photo.len().to_string()),
            step("PUT /remote.php/dav/uploads/{id}/77/00002", 201).body(second),
            step("PUT /remote.php/dav/uploads/{id}/77/00001", 201).body(first),
            step("PUT /remote.php/dav/uploads/{id}/77/00003", 201).body(first),
            step("DELETE /remote.php/dav/uploads/{id}/77/00003", 204),
            step("DELETE /remote.php/dav/uploads/{id}/77/00003", 404),
            step("PUT /remote.php/dav/uploads/{id}/77/00001", 201).body(first),
            step("MOVE /remote.php/dav/uploads/{id}/77/.file", 412)
                .with("Destination", "/remote.php/dav/files/{id}/x.jpg")
                .with("If", "</remote.php/dav/files/{id}/x.jpg> ([\"other\"])"),
            step("MOVE /remote.php/dav/uploads/{id}/77/.file", 400)
                .with("Destination", "/remote.php/dav/files/{id}/x.jpg")
                .with("OC-Checksum", sha1(b"other")),
            step("HEAD /remote.php/dav/files/{id}/x.jpg", 200),
            step("MOVE /remote.php/dav/uploads/{id}/77/.file", 204)
                .with("Destination", "/remote.php/dav/files/{id}/x.jpg")
                .with("OC-Total-Length", photo.len().to_string())
                .with("OC-Checksum", sha1(&photo))
                .with("If", "</remote.php/dav/files/{id}/x.jpg> ([{tag}])"),
            // If the response is lost, the client sends the request again.
            step("MOVE /remote.php/dav/uploads/{id}/77/.file", 204)
                .with("Destination", "/remote.php/dav/files/{id}/x.jpg")
                .gives("oc-fileid", ""),
        ])
        .await;
}
