//! SEARCH.

use reqwest::Method;

use super::{
    Client, jpeg,
    search_bodies::{
        NC_PY_API_PROPERTIES, android, android_media, ios_file, ios_media, ios_name, is, nc_py_api,
    },
    step,
};

/// A time in seconds: 2023-11-14 22:13:20.
const NOON: i64 = 1_700_000_000;

/// An account with photos at NOON + 1 to 5, and with files that are no photos.
async fn client() -> Client {
    let mut client = Client::start().await;
    let put = |path, number: u8| {
        let mtime = (NOON + i64::from(number)).to_string();
        step(path, 201).with("X-OC-Mtime", mtime).body(jpeg(number))
    };
    client
        .replay([
            step("MKCOL /dav/Camera", 201),
            step("MKCOL /dav/Camera/a%20b", 201),
            step("MKCOL /dav/Camera/100%25", 201),
            put("PUT /dav/IMG_3.jpg", 3),
            put("PUT /dav/Camera/IMG_1.jpg", 1),
            put("PUT /dav/Camera/a%20b/IMG_5.jpg", 5),
            put("PUT /dav/Camera/a%20b/IMG_2.jpg", 2),
            put("PUT /dav/Camera/100%25/%C3%84_4.jpg", 4),
            put("PUT /dav/Camera/._IMG_1.jpg", 1),
            put("PUT /dav/Camera/empty.jpg", 1).body(""),
            put("PUT /dav/Camera/IMG_1.xmp", 1).body(
                r#"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>"#,
            ),
        ])
        .await;
    client
}

/// The paths below the user's folder that a search finds, in order.
async fn found(client: &mut Client, body: impl Into<String>) -> Vec<String> {
    let body = body.into().replace("{id}", &client.handle);
    let search = step("SEARCH /remote.php/dav", 207)
        .with("Content-Type", "text/xml")
        .body(body)
        .gives("content-type", "application/xml; charset=utf-8");
    let text = String::from_utf8(client.run(search).await.body.to_vec()).unwrap();
    let root = format!("/remote.php/dav/files/{}/", client.handle);
    let hrefs = text.split("<d:href>").skip(1).map(|rest| rest.split_once("</d:href>").unwrap().0);
    hrefs.map(|href| href.strip_prefix(&root).unwrap().to_owned()).collect()
}

const ALL_PHOTOS: [&str; 5] = [
    "Camera/a%20b/IMG_5.jpg",
    "Camera/100%25/%C3%84_4.jpg",
    "IMG_3.jpg",
    "Camera/a%20b/IMG_2.jpg",
    "Camera/IMG_1.jpg",
];

#[tokio::test(flavor = "multi_thread")]
async fn options_and_propfind_announce_search_only_where_it_works() {
    let mut client = Client::start().await;
    let grammars =
        r#"<d:propfind xmlns:d="DAV:"><d:prop><d:supported-query-grammar-set/></d:prop></d:propfind>"#;
    let methods =
        "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, REPORT";
    for path in ["/remote.php/dav", "/remote.php/dav/"] {
        client
            .replay([
                step("OPTIONS ", 200)
                    .at(path)
                    .gives("allow", format!("{methods}, SEARCH"))
                    .gives("dasl", "<DAV:basicsearch>"),
                step("PROPFIND ", 207)
                    .at(path)
                    .with("Depth", "1")
                    .body(grammars)
                    .shows("<d:grammar><d:basicsearch/></d:grammar>")
                    .shows("<d:supported-query-grammar-set/></d:prop><d:status>HTTP/1.1 404 Not Found"),
            ])
            .await;
    }
    let elsewhere = client.run(step("OPTIONS /dav/", 200).gives("allow", methods)).await;
    assert_eq!(elsewhere.header("dasl"), None);
    client
        .replay([
            step("SEARCH /dav/", 405).gives("allow", methods),
            step("SEARCH /remote.php/dav/files/{id}/", 405),
            step("SEARCH /remote.php/dav/files/", 405),
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_media_tab_of_the_app_for_android_pages_through_the_photos() {
    let mut client = client().await;
    let first = found(&mut client, android_media(NOON + 100, 2)).await;
    assert_eq!(first, ALL_PHOTOS[..2]);
    let second = found(&mut client, android_media(NOON + 4, 2)).await;
    assert_eq!(second, ALL_PHOTOS[2..4]);
    let third = found(&mut client, android_media(NOON + 2, 2)).await;
    assert_eq!(third, ALL_PHOTOS[4..]);
    assert_eq!(found(&mut client, android_media(NOON, 2)).await, [""; 0]);
    let body = android_media(NOON + 2, 2).replace("{id}", &client.handle);
    client
        .run(
            step("SEARCH /remote.php/dav", 207)
                .body(body)
                .shows("<d:getcontenttype>image/jpeg</d:getcontenttype>")
                .shows("<d:getlastmodified>Tue, 14 Nov 2023 22:13:21 GMT</d:getlastmodified>")
                .shows("<oc:has-preview/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status>"),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_android_searches_names_types_and_recent_files() {
    let mut client = client().await;
    let mut names = found(&mut client, android("like", "d:displayname", "%img_%")).await;
    names.sort();
    let expected = [
        "Camera/._IMG_1.jpg",
        "Camera/IMG_1.jpg",
        "Camera/IMG_1.xmp",
        "Camera/a%20b/IMG_2.jpg",
        "Camera/a%20b/IMG_5.jpg",
        "IMG_3.jpg",
    ];
    assert_eq!(names, expected);
    assert_eq!(found(&mut client, android("like", "d:displayname", "%camera%")).await, ["Camera/"]);
    assert_eq!(found(&mut client, android("like", "d:getcontenttype", "image/%")).await, ALL_PHOTOS);
    let recent = found(&mut client, android("gt", "d:getlastmodified", "2023-11-14T22:13:23Z")).await;
    // Folders have the time of their creation.
    assert_eq!(
        recent.iter().filter(|path| path.ends_with(".jpg")).collect::<Vec<_>>(),
        ALL_PHOTOS[..2].iter().collect::<Vec<_>>()
    );
    assert_eq!(found(&mut client, android("eq", "oc:favorite", "yes")).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_media_tab_of_the_app_for_ios_shows_the_photos_of_a_folder() {
    let mut client = client().await;
    let (future, past) = ("4001-01-01T00:00:00Z", "0001-01-01T00:53:28+00:53:28");
    assert_eq!(found(&mut client, ios_media("", future, past, 300)).await, ALL_PHOTOS);
    let in_camera: Vec<&str> = ALL_PHOTOS.into_iter().filter(|path| path.starts_with("Camera/")).collect();
    assert_eq!(found(&mut client, ios_media("/Camera", future, past, 1_000_000)).await, in_camera);
    assert_eq!(
        found(&mut client, ios_media("/Camera/a b", future, past, 300)).await,
        [ALL_PHOTOS[0], ALL_PHOTOS[3]]
    );
    assert_eq!(found(&mut client, ios_media("/Camera/100%", future, past, 300)).await, [ALL_PHOTOS[1]]);
    // Both ends of the period are inclusive: seconds 2 to 4.
    let between = ios_media("", "2023-11-14T23:13:24+01:00", "2023-11-14T22:13:22Z", 300);
    assert_eq!(found(&mut client, between).await, ALL_PHOTOS[1..4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_of_the_same_second_are_ordered_by_the_next_sort_key() {
    let mut client = Client::start().await;
    for (path, fraction, number) in
        [("PUT /dav/a.jpg", "9", 1), ("PUT /dav/c.jpg", "1", 2), ("PUT /dav/b.jpg", "5", 3)]
    {
        let mtime = format!("{NOON}.{fraction}");
        client.run(step(path, 201).with("X-OC-Mtime", mtime).body(jpeg(number))).await;
    }
    let search = |limit| ios_media("", "4001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", limit);
    assert_eq!(found(&mut client, search(300)).await, ["c.jpg", "b.jpg", "a.jpg"]);
    assert_eq!(found(&mut client, search(2)).await, ["c.jpg", "b.jpg"]);
    // Android begins its next page at the second of the last photo.
    assert_eq!(found(&mut client, android_media(NOON, 10)).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_for_ios_finds_files_by_id_and_by_name() {
    let mut client = client().await;
    let head = client.run(step("HEAD /dav/Camera/a%20b/IMG_2.jpg", 200)).await;
    let id = head.header("oc-fileid").unwrap().split_once("oc").unwrap().0.trim_start_matches('0').to_owned();
    assert_eq!(found(&mut client, ios_file(&id)).await, ["Camera/a%20b/IMG_2.jpg"]);
    assert_eq!(found(&mut client, ios_file("999999")).await, [""; 0]);
    assert_eq!(found(&mut client, ios_file("x")).await, [""; 0]);
    assert_eq!(found(&mut client, ios_name("infinity", "ä_4")).await, ["Camera/100%25/%C3%84_4.jpg"]);
    assert_eq!(found(&mut client, ios_name("1", "IMG")).await, ["IMG_3.jpg"]);
    assert_eq!(found(&mut client, ios_name("0", "IMG")).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_response_has_the_form_of_a_listing() {
    let mut client = client().await;
    let properties = format!(
        r#"<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">{NC_PY_API_PROPERTIES}</d:propfind>"#
    );
    for path in ["Camera/a%20b/IMG_2.jpg", "Camera/"] {
        let listing = step("PROPFIND /remote.php/dav/files/{id}/", 207).at(path).with("Depth", "0");
        let listed = client.run(listing.body(properties.clone())).await;
        let text = String::from_utf8(listed.body.to_vec()).unwrap();
        // The package looks up a moved file by its `oc:id`.
        let id = text.split_once("<oc:id>").unwrap().1.split_once("</oc:id>").unwrap().0;
        let body = nc_py_api("", &is("eq", "oc:fileid", id)).replace("{id}", &client.handle);
        let searched = client.run(step("SEARCH /remote.php/dav/", 207).body(body)).await;
        assert_eq!(searched.body, listed.body);
    }
    let nothing = nc_py_api("", &is("eq", "oc:fileid", "0")).replace("{id}", &client.handle);
    let nothing = client.run(step("SEARCH /remote.php/dav", 207).body(nothing)).await;
    let text = String::from_utf8(nothing.body.to_vec()).unwrap();
    assert!(text.contains("<d:multistatus ") && text.ends_with("></d:multistatus>"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nc_py_api_finds_moved_files_and_files_that_meet_conditions() {
    let mut client = client().await;
    let moved = client
        .run(
            step("MOVE /remote.php/dav/files/{id}/IMG_3.jpg", 201)
                .with("Destination", "/remote.php/dav/files/{id}/Camera/a%20b/moved.jpg")
                .with("Overwrite", "F"),
        )
        .await;
    let id = moved.header("oc-fileid").unwrap().to_owned();
    let by_id = is("eq", "oc:fileid", &id);
    assert_eq!(found(&mut client, nc_py_api("", &by_id)).await, ["Camera/a%20b/moved.jpg"]);
    assert_eq!(found(&mut client, nc_py_api("Camera/a b", &by_id)).await, ["Camera/a%20b/moved.jpg"]);
    assert_eq!(found(&mut client, nc_py_api("Camera/100%", &by_id)).await, [""; 0]);
    let image = is("like", "d:getcontenttype", "image/%");
    for (condition, expect) in [
        (
            format!("<d:and>{image}{}</d:and>", is("gt", "d:getlastmodified", "2023-11-14T22:13:23Z")),
            &ALL_PHOTOS[..2],
        ),
        (format!("<d:and>{image}{}</d:and>", is("eq", "d:displayname", "IMG_1.jpg")), &ALL_PHOTOS[4..]),
        (format!("<d:and>{image}{}</d:and>", is("gt", "oc:size", "100000000")), &[]),
        (format!("<d:and>{image}{}</d:and>", is("eq", "oc:favorite", "1")), &[]),
        (is("eq", "d:getcontenttype", "application/rdf+xml"), &["Camera/IMG_1.xmp"]),
    ] {
        assert_eq!(found(&mut client, nc_py_api("", &condition)).await, expect, "{condition}");
    }
    let folders = "<d:and><d:is-collection/><d:not><d:like><d:prop><d:displayname/></d:prop>\
        <d:literal>Cam%</d:literal></d:like></d:not></d:and>";
    let mut folders = found(&mut client, nc_py_api("", folders)).await;
    folders.sort();
    assert_eq!(folders, ["Camera/100%25/", "Camera/a%20b/"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_named_by_url_or_by_path() {
    let mut client = client().await;
    let origin = client.app.base_url.clone();
    for (scope, expect) in [
        ("/files/{id}/Camera/a b/", true),
        ("/remote.php/dav/files/{id}/Camera/a%20b", true),
        ("files/{id}/Camera/a b", true),
        (&format!("{}/remote.php/dav/files/{{id}}/Camera/a%20b/", origin.trim_end_matches('/')), true),
        ("/remote.php/webdav/Camera/a%20b", true),
        ("/files/{id}/Camera/a%20b", false),
        ("/files/{id}/none", false),
        ("/files/other", false),
        ("/files/{id}/../other", false),
        ("/files", false),
        ("/", false),
        ("", false),
    ] {
        let body = ios_file("1").replace("/files/{id}", scope).replace("{id}", &client.handle);
        let search = step("SEARCH /remote.php/dav", if expect { 207 } else { 400 }).body(body);
        let search = if expect { search } else { search.shows("<d:search-scope-valid/>") };
        client.run(search).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_and_first_result_apply_to_the_ordered_results() {
    let mut client = client().await;
    let mut search = async |order: &str, limit: &str| {
        let body = nc_py_api("", &is("like", "d:getcontenttype", "image/%"));
        let tail = format!("</d:where>{order}<d:limit>{limit}</d:limit>");
        found(&mut client, body.replace("</d:where>", &tail)).await
    };
    let skip = |number| {
        format!(
            r#"<s:firstresult xmlns:s="https://github.com/icewind1991/SearchDAV/ns">{number}</s:firstresult>"#
        )
    };
    assert_eq!(search("", "<d:nresults>2</d:nresults>").await, ALL_PHOTOS[..2]);
    assert_eq!(search("", &format!("<d:nresults>2</d:nresults>{}", skip(1))).await, ALL_PHOTOS[1..3]);
    assert_eq!(search("", &skip(3)).await, ALL_PHOTOS[3..]);
    assert_eq!(search("", &skip(99)).await, [""; 0]);
    assert_eq!(search("", "<d:nresults>0</d:nresults>").await, [""; 0]);
    let by_name = "<d:orderby><d:order><d:prop><d:displayname/></d:prop></d:order></d:orderby>";
    let first = search(by_name, "<d:nresults>2</d:nresults>").await;
    assert_eq!(first, ["Camera/IMG_1.jpg", "Camera/a%20b/IMG_2.jpg"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_that_was_deleted_in_the_library_is_only_found_by_its_id() {
    let mut client = Client::start().await;
    let id = client.app.import_fixtures(&client.account, &["media/date-and-position.jpg"]).await;
    let id = id.into_values().next().unwrap();
    let photo = std::fs::read(tests::fixture("media/date-and-position.jpg")).unwrap();
    let put = client.run(step("PUT /dav/x.jpg", 201).with("X-OC-Mtime", NOON.to_string()).body(photo)).await;
    let file = put.header("oc-fileid").unwrap().to_owned();
    assert_eq!(found(&mut client, android_media(NOON + 1, 10)).await, ["x.jpg"]);
    client.app.delete(&format!("/images/{id}"), &client.account.key).await.expect(204);
    assert_eq!(found(&mut client, android_media(NOON + 1, 10)).await, [""; 0]);
    assert_eq!(found(&mut client, nc_py_api("", &is("eq", "oc:fileid", &file))).await, ["x.jpg"]);
    client.run(step("HEAD /dav/x.jpg", 200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_of_a_search_has_its_status() {
    let mut client = Client::start().await;
    let search = Method::from_bytes(b"SEARCH").unwrap();
    client.app.send(client.app.request(search, "/remote.php/dav")).await.expect(401);
    let query = |condition: &str| nc_py_api("", condition).replace("{id}", &client.handle);
    let contains = query("<d:contains>sea</d:contains>");
    let two = query("<d:is-collection/><d:is-collection/>");
    let scopes =
        query("<d:is-collection/>").replace("<d:from>", "<d:from><d:scope><d:href>/</d:href></d:scope>");
    client
        .replay([
            step("SEARCH /remote.php/dav", 400).body("").shows("<s:message>the request body is not valid"),
            step("SEARCH /remote.php/dav", 400).body("<a/>").shows("<d:error "),
            step("SEARCH /remote.php/dav", 400).body(two),
            step("SEARCH /remote.php/dav", 422)
                .body(contains)
                .shows("<s:message>the operator contains is not supported</s:message>"),
            step("SEARCH /remote.php/dav", 422).body(scopes).shows("<d:search-multiple-scope-supported/>"),
            step("SEARCH /remote.php/dav", 422)
                .body(r#"<d:searchrequest xmlns:d="DAV:"><d:sql/></d:searchrequest>"#)
                .shows("<d:search-grammar-supported/>"),
            step("SEARCH /remote.php/dav", 413).body(" ".repeat(70_000)),
        ])
        .await;
}
