//! Selected photos, albums, search, the trash and problems, as pages and for scripts.

use reqwest::{Method, header};
use serde_json::{Value, json};
use tests::{
    SeedImage, TestAccount, TestApp, TestResponse,
    oauth::{Browser, forms},
};

/// The CSRF token of the form with this action on a page.
async fn token(browser: &Browser<'_>, page: &str, action: &str) -> String {
    let page = browser.open(page).await.expect(200).text();
    let form = forms(&page).into_iter().find(|form| form.action == action);
    let form = form.unwrap_or_else(|| panic!("no form {action} in {page}"));
    form.fields["csrf"].clone()
}

async fn send_json(browser: &Browser<'_>, path: &str, body: &Value) -> TestResponse {
    browser.send(browser.request(Method::POST, path).json(body)).await
}

/// Sends the fields of a form. A field may occur several times.
async fn send_form(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    browser.send(browser.request(Method::POST, path).form(fields)).await
}

/// The ids of the caller's photos, newest first.
async fn timeline(app: &TestApp, account: &TestAccount) -> Vec<String> {
    app.get("/images?limit=100", &account.key).await.expect(200).ids()
}

/// Seeds photos, and returns their ids from the oldest to the newest.
async fn series(app: &TestApp, account: &TestAccount, count: i64) -> Vec<String> {
    let mut ids = app.seed(account, SeedImage::series(count)).await;
    ids.reverse();
    ids
}

fn newest_first(ids: &[String]) -> Vec<String> {
    ids.iter().rev().cloned().collect()
}

/// The capture time of an image in milliseconds.
async fn captured_ms(app: &TestApp, account: &TestAccount, id: &str) -> i64 {
    let image = app.get(&format!("/images/{id}"), &account.key).await.expect(200);
    domain::Timestamp::parse_iso(image.result()["capturedAt"].as_str().unwrap()).unwrap().millis()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_deletes_a_range_and_undoes_exactly_that() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (bert, _) = app.signed_in("bert").await;
    let ids = series(&app, &anna, 6).await;
    let foreign = app.seed(&bert, SeedImage::series(1)).await.remove(0);
    let token = token(&browser, "/", "/web/selection").await;
    let (from, to) = (captured_ms(&app, &anna, &ids[1]).await, captured_ms(&app, &anna, &ids[4]).await);
    let alone = json!({"token": token, "action": "delete", "ids": [ids[2]]});
    send_json(&browser, "/web/selection", &alone).await.expect(200);
    app.clock.advance_ms(1_000);

    let mut chosen =
        json!({"token": token, "ids": [ids[5], foreign, "../x"], "ranges": [[from, to]], "except": [ids[3]]});
    let counted = send_json(&browser, "/web/selection/count", &chosen).await.expect(200).json;
    assert_eq!((&counted["count"], &counted["oldest"]), (&json!(3), &json!(from)));
    chosen["action"] = json!("delete");
    let deleted = send_json(&browser, "/web/selection", &chosen).await.expect(200).json;
    assert_eq!(deleted["count"], 3);
    assert_eq!(timeline(&app, &anna).await, [ids[3].clone(), ids[0].clone()]);
    assert_eq!(timeline(&app, &bert).await, [foreign]);

    chosen["action"] = json!("restore");
    chosen["at"] = deleted["at"].clone();
    let restored = send_json(&browser, "/web/selection", &chosen).await.expect(200).json;
    assert_eq!(restored["count"], 3);
    let mut left = newest_first(&ids);
    left.retain(|id| *id != ids[2]);
    assert_eq!(timeline(&app, &anna).await, left, "the other deletion stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_puts_photos_into_albums() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = series(&app, &anna, 3).await;
    let token = token(&browser, "/", "/web/selection").await;
    let all = json!([[i64::from(i32::MIN), 4_102_444_800_000_i64]]);
    let new = json!({"token": token, "action": "add_to_album", "ranges": all, "title": "Summer"});
    let made = send_json(&browser, "/web/selection", &new).await.expect(200).json;
    assert_eq!((&made["count"], &made["album"]["title"]), (&json!(3), &json!("Summer")));
    let album = &made["album"]["id"];
    let removed = json!({"token": token, "action": "remove_from_album", "ids": [ids[0]], "album": album});
    assert_eq!(send_json(&browser, "/web/selection", &removed).await.expect(200).json["count"], 1);
    let menu = browser.open("/web/albums").await.expect(200).json;
    assert_eq!(menu, json!({"albums": [{"id": album, "title": "Summer", "count": 2}]}));
    let unknown = json!({"token": token, "action": "add_to_album", "ids": [ids[0]], "album": "nothing"});
    send_json(&browser, "/web/selection", &unknown).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_session_token_or_selection_change_nothing() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = series(&app, &anna, 2).await;
    let token = token(&browser, "/", "/web/selection").await;
    let delete = |token: &str| json!({"token": token, "action": "delete", "ids": ids});
    for path in ["/web/selection", "/web/selection/count"] {
        send_json(&app.browser(), path, &delete(&token)).await.expect(401);
        send_json(&browser, path, &delete("")).await.expect(403);
        let empty = json!({"token": token, "action": "delete"});
        let error = send_json(&browser, path, &empty).await.expect(400).json;
        assert!(error["error"].as_str().unwrap().contains("ids"), "{error}");
        let backwards = json!({"token": token, "action": "delete", "ranges": [[2, 1]]});
        send_json(&browser, path, &backwards).await.expect(400);
        let foreign = browser.request(Method::POST, path).header(header::ORIGIN, "https://evil.example");
        browser.send(foreign.json(&delete(&token))).await.expect(403);
        browser.open(path).await.expect(405);
    }
    send_json(&browser, "/web/selection", &json!({"token": token, "action": "sing", "ids": ids}))
        .await
        .expect(400);
    send_form(&browser, "/web/selection", &[("action", "delete"), ("image", &ids[0])]).await.expect(403);
    app.browser().open("/web/albums").await.expect(401);
    assert_eq!(timeline(&app, &anna).await, newest_first(&ids));
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_are_deleted_restored_and_purged_without_a_script() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = series(&app, &anna, 4).await;
    let token = token(&browser, "/", "/web/selection").await;
    let mut fields = vec![
        ("csrf", &*token),
        ("action", "delete"),
        ("image", &*ids[1]),
        ("image", &*ids[2]),
        ("return_to", "/?at=5"),
    ];
    let question = send_form(&browser, "/web/selection", &fields).await.expect(200).text();
    assert!(question.contains("2 photos"), "{question}");
    assert_eq!(timeline(&app, &anna).await.len(), 4, "it asks first");
    fields.push(("confirmed", "yes"));
    let done = send_form(&browser, "/web/selection", &fields).await.expect(303);
    assert_eq!(done.header("location"), Some("/?at=5"));
    assert_eq!(timeline(&app, &anna).await, [ids[3].clone(), ids[0].clone()]);

    let trash = browser.open("/trash").await.expect(200).text();
    assert!(trash.contains(&format!("data-id=\"{}\"", ids[1])) && trash.contains("2 photos"), "{trash}");
    let restore = [("csrf", &*token), ("action", "restore"), ("image", &*ids[1]), ("return_to", "/trash")];
    send_form(&browser, "/web/selection", &restore).await.expect(303);
    assert_eq!(timeline(&app, &anna).await.len(), 3);
    let empty = forms(&browser.open("/trash/empty").await.expect(200).text());
    let empty = empty.iter().find(|form| form.action == "/trash/empty").unwrap();
    browser.submit("/trash/empty", empty, &[]).await.expect(303);
    assert!(browser.open("/trash").await.expect(200).text().contains("The trash is empty"));
    let none = [("csrf", &*token), ("action", "restore"), ("image", &*ids[2])];
    send_form(&browser, "/web/selection", &none).await.expect(303);
    assert_eq!(timeline(&app, &anna).await.len(), 3, "it is deleted for good");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_is_made_changed_and_deleted_without_a_script() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("bert").await;
    let ids = series(&app, &anna, 3).await;
    let csrf = token(&browser, "/albums", "/albums").await;
    send_form(&browser, "/albums", &[("csrf", &csrf), ("title", "  ")]).await.expect(400);
    let made = send_form(&browser, "/albums", &[("csrf", &csrf), ("title", "Sea & sand")]).await.expect(303);
    let path = made.header("location").unwrap().to_owned();
    let album = path.strip_prefix("/albums/").unwrap().to_owned();
    other.open(&path).await.expect(404);

    let selected = token(&browser, "/", "/web/selection").await;
    let add = |id: &str| {
        [("csrf", selected.clone()), ("action", "add_to_album".to_owned()), ("image", id.to_owned())]
    };
    let choice = browser.request(Method::POST, "/web/selection").form(&add(&ids[0]));
    assert!(browser.send(choice).await.expect(200).text().contains("Sea &amp; sand"));
    for id in &ids {
        let mut fields = add(id).to_vec();
        fields.push(("album", album.clone()));
        browser.send(browser.request(Method::POST, "/web/selection").form(&fields)).await.expect(303);
    }
    let place = |page: &str, id: &str| page.find(&format!("data-id=\"{id}\"")).unwrap();
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("3 photos") && place(&page, &ids[2]) < place(&page, &ids[0]), "{page}");

    let csrf = token(&browser, &path, &path).await;
    send_form(&browser, &path, &[("csrf", &csrf), ("order", "oldest")]).await.expect(303);
    send_form(&browser, &path, &[("csrf", &csrf), ("title", "Dunes")]).await.expect(303);
    send_form(&browser, &path, &[("csrf", &csrf), ("order", "sideways")]).await.expect(400);
    let cover = [("csrf", &*selected), ("image", &*ids[0])];
    send_form(&browser, &format!("{path}/cover"), &cover).await.expect(303);
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("Dunes") && place(&page, &ids[0]) < place(&page, &ids[2]), "{page}");
    let record = app.get(&format!("/albums/{album}"), &anna.key).await.expect(200);
    let cover = record.result()["coverUrl"].as_str().unwrap();
    assert!(cover.contains(&ids[0]), "{cover}");

    let confirm = browser.open(&format!("{path}/delete")).await.expect(200).text();
    let form = forms(&confirm).into_iter().find(|form| form.action.ends_with("/delete")).unwrap();
    browser.submit(&path, &form, &[]).await.expect(303);
    browser.open(&path).await.expect(404);
    assert_eq!(timeline(&app, &anna).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_filters_by_words_place_and_time() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(
            &anna,
            vec![
                SeedImage::at("2023-03-01T10:00:00Z").description("a red harbour"),
                SeedImage::at("2024-07-14T10:00:00Z").description("a blue harbour").position(38.72, -9.14),
            ],
        )
        .await;
    let found = async |query: &str| {
        let page = browser.open(&format!("/search?{query}")).await.expect(200).text();
        ids.iter().map(|id| page.contains(&format!("data-id=\"{id}\""))).collect::<Vec<_>>()
    };
    assert_eq!(found("").await, [false, false]);
    assert_eq!(found("q=harbour&from=2024-01-01").await, [false, true]);
    assert_eq!(found("from=2023-01-01&to=2023-12-31").await, [true, false]);
    assert_eq!(found("place=Lisbon").await, [false, true]);
    let page = browser.open("/search?q=harbour+lisbon+july+2024").await.expect(200).text();
    assert!(page.contains("In Lisbon, Portugal ✕") && page.contains("July 2024 ✕"), "{page}");
    assert!(page.contains("No vision model is installed"), "{page}");
    let page = browser.open("/search?q=harbour&from=2024-01-01").await.expect(200).text();
    assert!(page.contains("“a blue harbour”") && page.contains("Remove the filter"), "{page}");
    browser.open("/search?from=yesterday").await.expect(400);
    browser.open("/search?place=Nowhereville+Nine").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_are_listed() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let page = browser.open("/problems").await.expect(200).text();
    assert!(page.contains("There are no problems."), "{page}");
    send_form(&browser, "/problems", &[("all", "yes")]).await.expect(403);
    assert!(
        app.browser().open("/problems").await.expect(302).header("location").unwrap().starts_with("/sign-in")
    );
}
