//! Favourites, as Nextcloud's apps read, set and list them.

use std::time::Duration;

use domain::{EditedField, Timestamp};
use library::{Caller, IndexingScope};

use super::{Client, jpeg, search_bodies::android, step};

const FAVORITE: &str = r#"<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><oc:favorite/></d:prop></d:propfind>"#;

/// The app for iOS sets the property to 1 or 0.
fn set(value: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:set><d:prop>
<oc:favorite>{value}</oc:favorite></d:prop></d:set></d:propertyupdate>"#
    )
}

/// The app for Android removes the property.
const REMOVE: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?><d:propertyupdate xmlns:d="DAV:"><d:remove><d:prop>
<oc:favorite xmlns:oc="http://owncloud.org/ns"/></d:prop></d:remove></d:propertyupdate>"#;

fn report(rules: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><oc:filter-files xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:getetag/><oc:favorite/></d:prop>
<oc:filter-rules>{rules}</oc:filter-rules></oc:filter-files>"#
    )
}

const ONLY: &str = "<oc:favorite>1</oc:favorite>";

/// An account with two indexed photos and a folder.
async fn client() -> Client {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/Camera", 201),
            step("PUT /dav/Camera/a.jpg", 201).body(jpeg(1)),
            step("PUT /dav/b.jpg", 201).body(jpeg(2)),
            step("PROPPATCH /dav/b.jpg", 409).body(set("1")).shows("not indexed yet"),
            step("PROPPATCH /dav/b.jpg", 207).body(set("0")).shows("200 OK"),
        ])
        .await;
    let indexing = client.app.library.indexer.start_indexing(IndexingScope::Images).unwrap();
    while client.images().await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    indexing.stop().await;
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_set_list_and_remove_favourites() {
    let mut client = client().await;
    client
        .replay([
            step("PROPFIND /dav/Camera/a.jpg", 207)
                .with("Depth", "0")
                .body(FAVORITE)
                .shows("<oc:favorite>0</oc:favorite>"),
            step("REPORT /remote.php/dav/files/{id}/", 207).body(report(ONLY)).lacks("<d:response>"),
            step("PROPPATCH /remote.php/dav/files/{id}/Camera/a.jpg", 207)
                .body(set("1"))
                .shows("<oc:favorite/></d:prop><d:status>HTTP/1.1 200 OK</d:status>"),
            step("PROPPATCH /remote.php/dav/files/{id}/Camera/a.jpg", 207).body(set("1")).shows("200 OK"),
            step("PROPFIND /dav/Camera", 207)
                .with("Depth", "1")
                .body(FAVORITE)
                .shows("<d:href>/dav/Camera/a.jpg</d:href><d:propstat><d:prop><oc:favorite>1</oc:favorite>"),
            step("REPORT /remote.php/dav/files/{id}/", 207)
                .body(report(ONLY))
                .shows("<d:href>/remote.php/dav/files/{id}/Camera/a.jpg</d:href>")
                .shows("<d:getetag>")
                .shows("<oc:favorite>1</oc:favorite>")
                .lacks("b.jpg"),
            step("REPORT /dav/Camera", 207).body(report(ONLY)).shows("<d:href>/dav/Camera/a.jpg</d:href>"),
            step("REPORT /dav/", 207).body(report("<oc:systemtag>1</oc:systemtag>")).lacks("<d:response>"),
            step("REPORT /dav/none", 404).body(report(ONLY)),
        ])
        .await;
    let search = android("eq", "oc:favorite", "yes").replace("{id}", &client.handle);
    client
        .replay([
            step("SEARCH /remote.php/dav", 207).body(search).shows("/Camera/a.jpg").lacks("b.jpg"),
            step("PROPPATCH /dav/Camera/a.jpg", 207).body(REMOVE).shows("200 OK"),
            step("PROPFIND /dav/Camera/a.jpg", 207)
                .with("Depth", "0")
                .body(FAVORITE)
                .shows("<oc:favorite>0</oc:favorite>"),
            step("REPORT /dav/", 207).body(report(ONLY)).lacks("<d:response>"),
        ])
        .await;
    // Each change is an edit of the device, which can be undone.
    let account = client.app.library.accounts.account(&client.account.email).await.unwrap();
    let edits =
        client.app.library.catalogue.edits(&Caller::operator(account), Timestamp::MAX, 10).await.unwrap();
    assert_eq!(edits.len(), 2, "{edits:?}");
    assert!(edits.iter().all(|edit| edit.fields == [EditedField::Favorite] && edit.edit.author.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_photos_are_favourites() {
    let mut client = client().await;
    let refused = "<oc:favorite/></d:prop><d:status>HTTP/1.1 403 Forbidden</d:status>";
    client
        .replay([
            step("PROPPATCH /dav/Camera/", 207).body(set("1")).shows(refused),
            step("PROPPATCH /dav/Camera/", 207).body(REMOVE).shows("200 OK"),
            step("PROPPATCH /dav/b.jpg", 207).body(set("maybe")).shows(refused),
            step("PROPFIND /dav/", 207)
                .with("Depth", "infinity")
                .body(FAVORITE)
                .lacks("<oc:favorite>1</oc:favorite>"),
        ])
        .await;
}
