//! Favourites, ratings, keywords and the archive on the pages, without JavaScript.

use std::collections::BTreeMap;

use domain::{Keywords, Marks, Rating};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    SeedImage, TestAccount, TestApp, TestResponse,
    oauth::{Browser, forms},
};

/// The marks of a photo, as the API gives them: favourite, rating, keywords, archived.
async fn marks(app: &TestApp, account: &TestAccount, id: &str) -> Value {
    let image = app.get(&format!("/images/{id}"), &account.key).await.expect(200);
    let result = image.result();
    json!([result["favorite"], result["rating"], result["keywords"], result["archived"]])
}

/// The token of the first form of a page whose path ends so.
fn token(page: &TestResponse, action: &str) -> String {
    let text = page.text();
    let form = forms(&text).into_iter().find(|form| form.action.split('?').next().unwrap().ends_with(action));
    form.unwrap_or_else(|| panic!("no form {action} in {text}")).fields["csrf"].clone()
}

async fn post(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    browser.send(browser.request(Method::POST, path).form(fields)).await
}

/// Presses a button or sends a field on the page of a photo, and opens the page that follows.
async fn mark(browser: &Browser<'_>, id: &str, name: &str, value: &str) -> TestResponse {
    let page = browser.open(&format!("/photos/{id}")).await.expect(200);
    let csrf = token(&page, "/marks");
    let answer = post(browser, &format!("/photos/{id}/marks"), &[("csrf", &csrf), (name, value)]).await;
    browser.open(answer.expect(303).header("location").unwrap()).await.expect(200)
}

/// Presses the button that undoes what the page reports.
async fn undo(browser: &Browser<'_>, page: &TestResponse) -> TestResponse {
    let undoes =
        |fields: &BTreeMap<String, String>| fields.contains_key("edit") || fields.contains_key("undo");
    let form = forms(&page.text()).into_iter().find(|form| undoes(&form.fields)).unwrap();
    let answer = browser.submit("/", &form, &[]).await.expect(303);
    browser.open(answer.header("location").unwrap()).await.expect(200)
}

fn ids_on(page: &TestResponse) -> Vec<String> {
    let text = page.text();
    let ids = text.split("<li data-id=\"").skip(1);
    ids.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mark_is_set_cleared_and_undone_on_the_page_of_a_photo() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, SeedImage::series(1)).await.remove(0);
    let none = json!([false, null, [], false]);
    let page = mark(&browser, &id, "mark", "favorite").await;
    assert!(page.text().contains("Added to your favourites."), "{}", page.text());
    assert!(page.text().contains("aria-label=\"Favourite\" aria-pressed=\"true\""), "{}", page.text());
    assert!(!page.text().contains("In the file"), "the heart itself is the way back: {}", page.text());
    assert_eq!(marks(&app, &anna, &id).await, json!([true, null, [], false]));
    let page = undo(&browser, &page).await;
    assert!(page.text().contains("The change is undone."), "{}", page.text());
    assert_eq!(marks(&app, &anna, &id).await, none);

    let page = mark(&browser, &id, "rating", "4").await;
    assert!(page.text().contains("The rating is changed."), "{}", page.text());
    // The present rating is a button that clears it.
    assert!(page.text().contains("name=\"rating\" value=\"0\" aria-label=\"4 stars\" aria-pressed=\"true\""));
    assert_eq!(marks(&app, &anna, &id).await, json!([false, 4, [], false]));
    mark(&browser, &id, "rating", "0").await;
    assert_eq!(marks(&app, &anna, &id).await, none);

    mark(&browser, &id, "add", "Sea, sand & sun,, SEA").await;
    let page = mark(&browser, &id, "add", "Pier").await;
    assert_eq!(marks(&app, &anna, &id).await, json!([false, null, ["Sea", "sand & sun", "Pier"], false]));
    assert!(page.text().contains("href=\"/search?keyword=sand+%26+sun\""), "{}", page.text());
    assert!(page.text().contains("<option value=\"sand &amp; sun\">"), "{}", page.text());
    mark(&browser, &id, "remove", "sea").await;
    assert_eq!(marks(&app, &anna, &id).await, json!([false, null, ["sand & sun", "Pier"], false]));
    let same = mark(&browser, &id, "add", "pier").await;
    assert!(same.text().contains("Nothing changed"), "{}", same.text());

    let page = mark(&browser, &id, "mark", "archive").await;
    assert!(page.text().contains("Moved to the archive.") && page.text().contains(">Unarchive<"));
    assert_eq!(ids_on(&browser.open("/").await.expect(200)), [""; 0]);
    mark(&browser, &id, "mark", "unarchive").await;
    assert_eq!(ids_on(&browser.open("/").await.expect(200)), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_file_says_is_shown_and_restored() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let of_file = Marks {
        favorite: true,
        rating: Rating::new(2).ok(),
        keywords: Keywords::parse(["Sea", "Pier"]).unwrap(),
        archived: false,
    };
    let photo = SeedImage::at("2024-05-01T12:00:00Z").marks(of_file).description("a pier");
    let id = app.seed(&anna, vec![photo]).await.remove(0);
    let in_file = marks(&app, &anna, &id).await;
    for (name, value, said) in [
        ("mark", "unfavorite", "In the file: a favourite"),
        ("rating", "5", "In the file: 2 stars"),
        ("add", "Sun", "In the file: Sea, Pier"),
    ] {
        let page = mark(&browser, &id, name, value).await.text();
        assert!(page.contains(said) && !page.contains("Corrected."), "{said}: {page}");
    }
    let edit = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    let fields = [("csrf", &*token(&edit, "/edit")), ("description", "a harbour")];
    post(&browser, &format!("/photos/{id}/edit"), &fields).await.expect(303);
    let page = browser.open(&format!("/photos/{id}")).await.expect(200);
    assert!(!page.text().contains("Undo all"), "one field is corrected, and marks are no corrections");
    let undo = token(&page, "/undo");
    for field in ["favorite", "rating", "keywords"] {
        let fields = [("csrf", &*undo), ("field", field)];
        post(&browser, &format!("/photos/{id}/undo"), &fields).await.expect(303);
    }
    assert_eq!(marks(&app, &anna, &id).await, in_file);
    let page = browser.open(&format!("/photos/{id}")).await.expect(200).text();
    assert!(page.contains("a harbour") && page.contains("Corrected. In the file: a pier"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_marks_and_foreign_forms_change_nothing() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, others) = app.signed_in("bert").await;
    let id = app.seed(&anna, SeedImage::series(1)).await.remove(0);
    let path = format!("/photos/{id}/marks");
    let page = browser.open(&format!("/photos/{id}")).await.expect(200);
    let csrf = token(&page, "/marks");
    let many = (0..101).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    for (name, value, said) in [
        ("rating", "6", "Rating must be a whole number from 1 to 5."),
        ("rating", "many", "Rating must be a whole number from 0 to 5."),
        ("mark", "admired", "Mark is unknown."),
        ("add", &*"x".repeat(101), "Keywords must have 1 to 100 characters each."),
        ("add", &*many, "Keywords must be at most 100."),
        ("remove", "", "Keywords must have 1 to 100 characters each."),
    ] {
        let refused = post(&browser, &path, &[("csrf", &csrf), (name, value)]).await.expect(400).text();
        assert!(refused.contains("role=\"alert\"") && refused.contains(said), "{name} {value}: {refused}");
    }
    let favorite = |csrf: &str| [("csrf", csrf.to_owned()), ("mark", "favorite".to_owned())];
    for wrong in ["", &*token(&page, "/delete")] {
        browser.send(browser.request(Method::POST, &path).form(&favorite(wrong))).await.expect(403);
    }
    others.send(others.request(Method::POST, &path).form(&favorite(&csrf))).await.expect(403);
    let foreign = browser.request(Method::POST, &path).header("origin", "https://evil.example");
    browser.send(foreign.form(&favorite(&csrf))).await.expect(403);
    browser.send(browser.request(Method::PUT, &path)).await.expect(405);
    assert_eq!(browser.open(&path).await.expect(302).header("location").unwrap(), format!("/photos/{id}"));
    assert_eq!(marks(&app, &anna, &id).await, json!([false, null, [], false]));
}

/// The token of the selections on a page.
async fn selection_token(browser: &Browser<'_>, page: &str) -> String {
    token(&browser.open(page).await.expect(200), "/web/selection")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_photos_are_archived_and_undone() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (bert, _) = app.signed_in("bert").await;
    let mut ids = app.seed(&anna, SeedImage::series(2_000)).await;
    let foreign = app.seed(&bert, SeedImage::series(1)).await.remove(0);
    let csrf = selection_token(&browser, "/").await;
    let fields = [
        ("csrf", &*csrf),
        ("action", "archive"),
        ("range", "0:1714694399999"),
        ("except", &*ids[3]),
        ("image", &*foreign),
        ("return_to", "/?at=5"),
    ];
    let answer = post(&browser, "/web/selection", &fields).await.expect(303);
    let page = browser.open(answer.header("location").unwrap()).await.expect(200);
    assert!(page.text().contains("1999 photos moved to the archive."), "{}", page.text());
    assert!(page.text().contains("href=\"/?at=5\""), "{}", page.text());
    assert_eq!(ids_on(&browser.open("/").await.expect(200)), [ids[3].clone()]);
    assert_eq!(marks(&app, &bert, &foreign).await[3], false);

    let mut archive = browser.open("/archive").await.expect(200);
    let mut seen = ids_on(&archive);
    let older = |page: &TestResponse| {
        let text = page.text();
        let (_, rest) = text.split_once("rel=\"next\" href=\"")?;
        rest.split('"').next().map(str::to_owned)
    };
    while let Some(next) = older(&archive) {
        archive = browser.open(&next).await.expect(200);
        seen.extend(ids_on(&archive));
    }
    let kept = ids.remove(3);
    assert_eq!(seen, ids);

    let page = undo(&browser, &page).await;
    assert!(page.text().contains("The change of 1999 photos is undone."), "{}", page.text());
    assert!(browser.open("/archive").await.expect(200).text().contains("No photos are archived."));
    assert_eq!(marks(&app, &anna, &kept).await[3], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_marks_a_selection_and_undoes_it() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, SeedImage::series(3)).await;
    let token = selection_token(&browser, "/").await;
    let run = async |action: &str, edit: Value| {
        let body = json!({"token": token, "action": action, "ids": ids[..2], "edit": edit});
        browser.send(browser.request(Method::POST, "/web/selection").json(&body)).await
    };
    let done = run("favorite", Value::Null).await.expect(200).json;
    assert_eq!(done["count"], 2);
    for (id, expected) in ids.iter().zip([true, true, false]) {
        assert_eq!(marks(&app, &anna, id).await[0], expected);
    }
    let again = run("favorite", Value::Null).await.expect(200).json;
    assert_eq!(again["count"], 0, "they are favourites already");
    let undone = run("undo", done["edit"].clone()).await.expect(200).json;
    assert_eq!(undone, json!({"count": 2}));
    assert_eq!(marks(&app, &anna, &ids[0]).await[0], false);
    for edit in [Value::Null, json!("a b")] {
        run("undo", edit).await.expect(400);
    }
    assert_eq!(run("undo", json!("unknown")).await.expect(200).json["count"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_photos_get_marks_in_the_form_of_corrections() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let photos = SeedImage::series(2).into_iter().map(|photo| {
        photo.marks(Marks { keywords: Keywords::parse(["Snow", "Sea"]).unwrap(), ..Marks::default() })
    });
    let ids = app.seed(&anna, photos).await;
    let csrf = selection_token(&browser, "/").await;
    let selected = [("csrf", &*csrf), ("image", &*ids[0]), ("image", &*ids[1])];
    let form = post(&browser, "/photos/edit", &selected).await.expect(200).text();
    for name in ["favorite", "rating", "archived", "add_keywords", "remove_keywords"] {
        assert!(form.contains(&format!("name=\"{name}\"")), "{name}: {form}");
    }
    let send = async |fields: &[(&str, &str)]| {
        let mut all = selected.to_vec();
        all.push(("confirmed", "yes"));
        all.extend(fields);
        post(&browser, "/photos/edit", &all).await
    };
    for (name, value, said) in [
        ("rating", "9", "Rating must be a whole number"),
        ("favorite", "perhaps", "Favourite must be yes or no"),
        ("add_keywords", "a\u{7}b", "Add keywords must not contain"),
    ] {
        let refused = send(&[(name, value)]).await.expect(400).text();
        assert!(refused.contains(said), "{name}: {refused}");
    }
    let nothing = send(&[("rating", ""), ("add_keywords", " ")]).await.expect(400).text();
    assert!(nothing.contains("Choose what to change."), "{nothing}");

    let fields = [
        ("favorite", "yes"),
        ("rating", "5"),
        ("archived", "yes"),
        ("add_keywords", "Sun, Sand"),
        ("remove_keywords", "snow, rain"),
    ];
    let answer = send(&fields).await.expect(303);
    let page = browser.open(answer.header("location").unwrap()).await.expect(200);
    assert!(page.text().contains("2 photos are corrected."), "{}", page.text());
    for id in &ids {
        assert_eq!(marks(&app, &anna, id).await, json!([true, 5, ["Sea", "Sun", "Sand"], true]));
    }
    undo(&browser, &page).await;
    for id in &ids {
        assert_eq!(marks(&app, &anna, id).await, json!([false, null, ["Snow", "Sea"], false]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn favourites_keywords_and_the_archive_filter_searches() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let keywords = |list: &[&str]| Keywords::parse(list.iter().copied()).unwrap();
    let photos = [
        Marks { favorite: true, ..Marks::default() },
        Marks { favorite: true, archived: true, ..Marks::default() },
        Marks { keywords: keywords(&["Red sea"]), ..Marks::default() },
        Marks { keywords: keywords(&["red Sea"]), archived: true, ..Marks::default() },
    ];
    let photos = SeedImage::series(4).into_iter().zip(photos).map(|(photo, marks)| photo.marks(marks));
    let ids = app.seed(&anna, photos).await;
    for (query, expected) in [
        ("favorite=yes", vec![0, 1]),
        ("favorite=yes&archived=no", vec![0]),
        ("archived=yes", vec![1, 3]),
        ("keyword=RED+SEA", vec![2, 3]),
        ("keyword=red+sea&archived=yes", vec![3]),
        ("keyword=red", vec![]),
    ] {
        let page = browser.open(&format!("/search?{query}")).await.expect(200);
        let expected: Vec<String> = expected.into_iter().map(|index: usize| ids[index].clone()).collect();
        assert_eq!(ids_on(&page), expected, "{query}");
    }
    browser.open(&format!("/search?keyword={}", "x".repeat(101))).await.expect(400);
    let favourites = browser.open("/search?favorite=yes").await.expect(200).text();
    assert!(favourites.contains("href=\"/search?favorite=yes\" aria-current=\"page\""), "{favourites}");
    assert!(favourites.contains("value=\"unfavorite\"") && !favourites.contains("value=\"favorite\""));
    let page = browser.open("/search?archived=yes&keyword=red+sea").await.expect(200).text();
    assert!(page.contains("Archived ✕") && page.contains("Keyword red sea ✕"), "{page}");
    assert!(page.contains("value=\"unarchive\""), "{page}");
    // A photo that was opened in the archive leads back there.
    let archive = browser.open("/archive").await.expect(200).text();
    assert!(archive.contains(&format!("/photos/{}?back=%2Farchive", ids[1])), "{archive}");
    let photo = browser.open(&format!("/photos/{}?back=%2Farchive", ids[1])).await.expect(200).text();
    assert!(photo.contains("href=\"/archive\" aria-label=\"Back to the archive\""), "{photo}");
}
