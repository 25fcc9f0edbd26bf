//! Conditional requests.

use super::{Client, jpeg, locks::lock_body, step};

#[tokio::test(flavor = "multi_thread")]
async fn preconditions_decide_whether_a_file_is_written() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg", 412).with("If-Match", "*").body(jpeg(1)),
            step("PUT /dav/x.jpg", 201).with("If-None-Match", "*").body(jpeg(1)),
            step("PUT /dav/x.jpg", 412).with("If-None-Match", "*").body(jpeg(2)),
            step("PUT /dav/x.jpg", 412).with("If-None-Match", "{tag}").body(jpeg(2)),
            step("PUT /dav/x.jpg", 204).with("If-Match", "\"other\", {tag}").body(jpeg(2)),
            step("HEAD /dav/x.jpg", 304).with("If-None-Match", "{tag}"),
            step("DELETE /dav/x.jpg", 412).with("If-Match", "\"other\""),
            step("DELETE /dav/x.jpg", 204).with("If-Match", "{tag}"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_if_header_combines_tags_and_locks() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg", 201).body(jpeg(1)),
            step("PUT /dav/y.jpg", 412).with("If", "([\"none\"])").body(jpeg(2)),
            step("PUT /dav/x.jpg", 204).with("If", "([{tag}])").body(jpeg(2)),
            step("LOCK /dav/x.jpg", 200).body(lock_body("")),
            step("PUT /dav/x.jpg", 412).with("If", "({lock} [\"other\"])").body(jpeg(3)),
            step("PUT /dav/x.jpg", 412).with("If", "(<urn:uuid:other>)").body(jpeg(3)),
            step("PUT /dav/x.jpg", 423).with("If", "(Not <DAV:no-lock>)").body(jpeg(3)),
            step("PUT /dav/x.jpg", 204).with("If", "({lock}) (Not <DAV:no-lock>)").body(jpeg(3)),
            step("PUT /dav/x.jpg", 400).with("If", "{lock}").body(jpeg(3)),
            step("MOVE /dav/x.jpg", 201).with("If", "({lock})").with("Destination", "/dav/z.jpg"),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overwrite_decides_whether_a_destination_is_replaced() {
    let mut client = Client::start().await;
    client
        .replay([
            step("PUT /dav/x.jpg", 201).body(jpeg(1)),
            step("PUT /dav/y.jpg", 201).body(jpeg(2)),
            step("MOVE /dav/x.jpg", 412).with("Destination", "/dav/y.jpg").with("Overwrite", "F"),
            step("COPY /dav/x.jpg", 412).with("Destination", "/dav/y.jpg").with("Overwrite", "F"),
            step("COPY /dav/x.jpg", 204).with("Destination", "/dav/y.jpg"),
            step("MOVE /dav/x.jpg", 204).with("Destination", "/dav/y.jpg").with("Overwrite", "T"),
            step("MOVE /dav/y.jpg", 403).with("Destination", "/dav/y.jpg"),
            step("MOVE /dav/y.jpg", 409).with("Destination", "/dav/none/y.jpg"),
            step("MOVE /dav/y.jpg", 400),
            step("MOVE /dav/y.jpg", 403).with("Destination", "/other/y.jpg"),
            step("MOVE /dav/y.jpg", 403).with("Destination", "/remote.php/dav/files/somebody/y.jpg"),
            step("MOVE /dav/none.jpg", 404).with("Destination", "/dav/a.jpg"),
            step("MOVE /dav/y.jpg", 201).with("Destination", "/remote.php/webdav/z.jpg"),
        ])
        .await;
}
