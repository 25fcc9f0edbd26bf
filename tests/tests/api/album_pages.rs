//! The list of albums, and the page that adds photos to one.

use reqwest::Method;
use serde_json::json;
use tests::{
    SeedImage, TestAccount, TestApp,
    oauth::{HtmlForm, forms},
};

async fn album(app: &TestApp, account: &TestAccount, title: &str, ids: &[String]) -> String {
    let body = json!({"title": title, "imageIds": ids});
    app.post("/albums", &account.key, &body).await.expect(201).result()["id"].as_str().unwrap().to_owned()
}

/// The items of the list of albums, each up to its end.
fn items(page: &str) -> Vec<&str> {
    let list = page.split("<ul class=\"albums covers\">").nth(1).unwrap().split("</ul>").next().unwrap();
    list.split("<li").skip(1).collect()
}

/// The titles of the albums that the page shows.
fn titles(page: &str) -> Vec<String> {
    let shown = items(page).into_iter().filter(|item| !item.starts_with(" hidden"));
    let title =
        |item: &str| item.split("class=\"name\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    shown.map(title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn albums_are_found_and_ordered() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(&anna, vec![SeedImage::at("2024-03-01T10:00:00Z"), SeedImage::at("2024-07-14T10:00:00Z")])
        .await;
    let names = ["Zoo", "São Paulo", "Straße", "Lisbon", "a1", "a2", "a3", "a4", "a5"];
    let mut albums = Vec::new();
    for name in names {
        albums.push(album(&app, &anna, name, if name == "Zoo" { &ids } else { &[] }).await);
        app.clock.advance_ms(1_000);
    }
    let open = async |query: &str| browser.open(&format!("/albums{query}")).await.expect(200).text();
    let newest: Vec<&str> = names.into_iter().rev().collect();
    let page = open("").await;
    assert_eq!(titles(&page), newest);
    let zoo = items(&page)[8];
    assert!(zoo.contains("2 photos") && zoo.contains("March – July 2024"), "{zoo}");
    assert!(zoo.contains("srcset") || zoo.contains("<img"), "{zoo}");
    assert!(items(&page)[0].contains("No photos yet"), "{page}");

    let rename = json!({"title": "Zurich"});
    app.patch(&format!("/albums/{}", albums[0]), &anna.key, &rename).await.expect(200);
    assert_eq!(titles(&open("").await)[0], "Zurich", "it changed last");
    assert_eq!(titles(&open("?sort=created").await).last().unwrap(), "Zurich");
    let by_title = ["a1", "a2", "a3", "a4", "a5", "Lisbon", "São Paulo", "Straße", "Zurich"];
    assert_eq!(titles(&open("?sort=title").await), by_title);
    for (text, expected) in [("sao+p", vec!["São Paulo"]), ("STRASSE", vec!["Straße"]), ("nothing", vec![])]
    {
        let page = open(&format!("?q={text}")).await;
        assert_eq!(titles(&page), expected);
        let is_shown = page.contains("<p class=\"unfound\">");
        assert_eq!(is_shown, expected.is_empty(), "{page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_of_several_pages_are_picked_for_an_album() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    // Newest first.
    let ids = app.seed(&anna, SeedImage::series(130)).await;
    let id = album(&app, &anna, "Sea & sand", &ids[3..4]).await;
    let path = format!("/albums/{id}/add");
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("Add to “Sea &amp; sand”") && page.contains("In the album"), "{page}");
    assert!(!page.contains(&format!("value=\"{}\"", ids[3])), "it is in the album already");
    let form = forms(&page).into_iter().find(|form| form.action == "/web/selection").unwrap();
    let csrf = form.fields["csrf"].clone();
    let older = page.split("name=\"to\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();

    let fields =
        [("csrf", &*csrf), ("image", &*ids[0]), ("image", &*ids[129]), ("image", "../x"), ("to", &*older)];
    let turned = browser.send(browser.request(Method::POST, &path).form(&fields)).await.expect(200).text();
    assert!(turned.contains("1 photo picked on other pages"), "{turned}");
    assert!(turned.contains(&format!("type=\"hidden\" name=\"image\" value=\"{}\"", ids[0])), "{turned}");
    let box_of = |id: &str| {
        let begin = format!("<input type=\"checkbox\" name=\"image\" value=\"{id}\"");
        turned.split(&begin).nth(1).unwrap().split('>').next().unwrap().to_owned()
    };
    assert!(box_of(&ids[129]).contains("checked") && !box_of(&ids[128]).contains("checked"));
    browser.send(browser.request(Method::POST, &path).form(&fields[1..])).await.expect(403);

    let back = format!("/albums/{id}");
    let fields = [
        ("csrf", &*csrf),
        ("action", "add_to_album"),
        ("album", &*id),
        ("return_to", &*back),
        ("image", &*ids[0]),
        ("image", &*ids[129]),
    ];
    let done = browser.send(browser.request(Method::POST, "/web/selection").form(&fields)).await.expect(303);
    assert_eq!(done.header("location"), Some(&*back));
    let page = browser.open(&back).await.expect(200).text();
    assert!(page.contains("3 photos") && page.contains(&format!("href=\"{path}\"")), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_becomes_the_cover_on_its_page() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(&anna, vec![SeedImage::at("2024-03-01T10:00:00Z"), SeedImage::at("2024-07-14T10:00:00Z")])
        .await;
    let [older, newest] = [&ids[0], &ids[1]];
    let album = album(&app, &anna, "Walks", &ids).await;
    let cover = async || {
        app.get(&format!("/albums/{album}"), &anna.key).await.expect(200).result()["coverUrl"].to_string()
    };
    let button = |page: &str| {
        let is_cover = |form: &HtmlForm| form.action.starts_with("/albums/");
        forms(page).into_iter().find(is_cover)
    };
    let path = format!("/photos/{older}?in={album}");
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("aria-pressed=\"false\" title=\"Use as the cover\""), "{page}");
    let chosen = browser.submit("/", &button(&page).unwrap(), &[]).await.expect(303);
    assert_eq!(chosen.header("location").unwrap(), format!("{path}&done=cover"));
    assert!(cover().await.contains(older.as_str()));
    let page = browser.open(&format!("{path}&done=cover")).await.expect(200).text();
    assert!(page.contains("This photo is the cover of the album now."), "{page}");
    assert!(page.contains("aria-pressed=\"true\" title=\"Use as the cover\""), "{page}");
    let undone = browser.submit("/", &button(&page).unwrap(), &[]).await.expect(303);
    assert_eq!(undone.header("location").unwrap(), format!("{path}&done=newest-cover"));
    assert!(cover().await.contains(newest.as_str()));
    // Only a photo of the album can be its cover, and only in the album.
    let removal = json!({"removeImageIds": [older]});
    app.patch(&format!("/albums/{album}"), &anna.key, &removal).await.expect(200);
    for path in [path, format!("/photos/{newest}")] {
        let page = browser.open(&path).await.expect(200).text();
        assert!(button(&page).is_none(), "{page}");
    }
}
