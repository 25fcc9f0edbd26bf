//! PROPPATCH.

use super::{Client, jpeg, step};

fn set(properties: &str) -> String {
    format!(
        r#"<D:propertyupdate xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:set><D:prop>{properties}</D:prop></D:set>
</D:propertyupdate>"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proppatch_changes_all_properties_or_none() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg", 201).with("X-OC-Mtime", "1700000000").body(jpeg(1)),
            step("PROPPATCH /dav/x.jpg", 207)
                .body(set("<D:lastmodified>1600000000</D:lastmodified><oc:size>1</oc:size>"))
                .shows("<d:lastmodified/></d:prop><d:status>HTTP/1.1 424 Failed Dependency</d:status>")
                .shows("<oc:size/></d:prop><d:status>HTTP/1.1 403 Forbidden</d:status>"),
            step("HEAD /dav/x.jpg", 200).gives("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT"),
            step("PROPPATCH /dav/x.jpg", 207)
                .body(set("<D:lastmodified>1600000000</D:lastmodified>"))
                .shows("200 OK"),
            step("HEAD /dav/x.jpg", 200).gives("last-modified", "Sun, 13 Sep 2020 12:26:40 GMT"),
            step("PROPPATCH /dav/x.jpg", 400).body("<a/>"),
            step("PROPPATCH /dav/none.jpg", 404).body(set("<D:lastmodified>1</D:lastmodified>")),
        ])
        .await;
}
