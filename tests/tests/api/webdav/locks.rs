//! Locks.

use std::time::Duration;

use super::{Client, jpeg, step};

/// The body of a LOCK for an exclusive lock.
pub(super) fn lock_body(owner: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>
<D:locktype><D:write/></D:locktype>{owner}</D:lockinfo>"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_folder_protects_what_is_in_it() {
    let mut client = Client::start().await;
    client
        .replay([
            step("MKCOL /dav/a", 201),
            step("LOCK /dav/a", 200).with("Depth", "infinity").body(lock_body("")),
            step("PUT /dav/a/x.jpg", 423).body(jpeg(1)).shows("<d:lock-token-submitted"),
            step("MKCOL /dav/a/b", 423),
            step("DELETE /dav/a", 423),
            step("MOVE /dav/a", 423).with("Destination", "/dav/c"),
            step("LOCK /dav/a/x.jpg", 423).body(lock_body("")).shows("<d:no-conflicting-lock"),
            step("PROPFIND /dav/a", 207).with("Depth", "0").shows("<d:depth>infinity</d:depth>"),
            step("PUT /dav/a/x.jpg", 201).with("If", "</dav/a> ({lock})").body(jpeg(1)),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_expires() {
    let mut client = Client::start().await;
    client.run(step("PUT /dav/x.jpg", 201).body(jpeg(1))).await;
    client.run(step("LOCK /dav/x.jpg", 200).with("Timeout", "Second-60").body(lock_body(""))).await;
    client.run(step("DELETE /dav/x.jpg", 423)).await;
    client.app.advance(Duration::from_secs(61));
    client
        .run(step("LOCK /dav/x.jpg", 412).with("If", "({lock})").shows("lock-token-matches-request-uri"))
        .await;
    client.run(step("DELETE /dav/x.jpg", 204)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_and_shared_locks_are_refused() {
    let mut client = Client::start().await;
    client
        .replay([
            step("LOCK /dav/x.jpg", 403).body(lock_body("").replace("exclusive", "shared")),
            step("LOCK /dav/x.jpg", 400).with("Depth", "1").body(lock_body("")),
            step("LOCK /dav/x.jpg", 400).body("<a/>"),
            step("LOCK /dav/x.jpg", 400),
            step("LOCK /dav/a/x.jpg", 409).body(lock_body("")),
            step("UNLOCK /dav/x.jpg", 400),
            step("HEAD /dav/x.jpg", 404),
            step("LOCK /dav/", 200).body(lock_body("")).shows("<d:lockroot><d:href>/dav</d:href>"),
            step("MKCOL /dav/a", 423),
        ])
        .await;
}
