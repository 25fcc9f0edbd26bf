//! The search page: filters, suggestions, reasons and pages, without JavaScript.

use library::Clock as _;
use serde_json::json;
use tests::{
    SeedImage, TestAccount, TestApp,
    oauth::{Browser, forms},
};

/// The ids of the photos on a page, in their order.
fn ids_on(page: &str) -> Vec<String> {
    let ids = page.split("data-id=\"").skip(1);
    ids.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// The address of the link with this text.
fn link(page: &str, text: &str) -> Option<String> {
    let before = &page[..page.find(&format!(">{text}</a>"))?];
    let link = &before[before.rfind("<a ")?..];
    let href = link.split("href=\"").nth(1)?.split('"').next()?;
    Some(href.replace("&amp;", "&"))
}

async fn open(browser: &Browser<'_>, path: &str) -> String {
    browser.open(path).await.expect(200).text()
}

fn with_query(path: &str, query: &str) -> String {
    format!("{path}?q={}", url::form_urlencoded::byte_serialize(query.as_bytes()).collect::<String>())
}

async fn create_album(app: &TestApp, account: &TestAccount, title: &str, image: &str) {
    app.post("/albums", &account.key, &json!({"title": title, "imageIds": [image]})).await.expect(201);
}

/// Shows or hides the photos of this day, by the form of the page at `path`.
async fn switch(browser: &Browser<'_>, path: &str, page: &str, value: &str) {
    let form = forms(page).into_iter().find(|form| form.action == "/on-this-day").unwrap();
    browser.submit(path, &form, &[("show", value)]).await.expect(303);
}

fn r5(at: &str) -> SeedImage {
    SeedImage::at(at).camera("Canon", "Canon EOS R5").description("a harbour")
}

fn pixel(at: &str) -> SeedImage {
    SeedImage::at(at).camera("Google", "Pixel 8").description("a harbour")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_camera_is_a_filter_with_and_without_words() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (ben, _) = app.signed_in("ben").await;
    let photos = vec![
        r5("2024-01-01T10:00:00Z"),
        pixel("2024-02-01T10:00:00Z"),
        r5("2024-03-01T10:00:00Z").description("a pier"),
        SeedImage::at("2024-04-01T10:00:00Z").description("a harbour"),
    ];
    let ids = app.seed(&anna, photos).await;
    app.seed(&ben, vec![SeedImage::at("2024-01-01T10:00:00Z").camera("Leica", "Q3")]).await;

    let page = open(&browser, "/search?camera=Canon+EOS+R5").await;
    assert_eq!(ids_on(&page), [ids[2].clone(), ids[0].clone()], "the newest first");
    let page = open(&browser, "/search?q=harbour&camera=canon+eos+r5").await;
    assert_eq!(ids_on(&page), [ids[0].clone()]);
    assert_eq!(link(&page, "Taken with canon eos r5 ✕").as_deref(), Some("/search?q=harbour"));
    let page = open(&browser, "/search?camera=Google+Pixel+8&from=2024-02-02").await;
    assert_eq!(ids_on(&page), [""; 0]);

    let page = open(&browser, "/search").await;
    assert!(page.contains("<option value=\"Google Pixel 8\">") && !page.contains("Leica"), "{page}");
    let unknown = browser.open("/search?camera=pixel").await.expect(400).text();
    assert!(unknown.contains("no photos of a camera named “pixel”"), "{unknown}");
    let suggested = link(&unknown, "Taken with Google Pixel 8").unwrap();
    assert_eq!(ids_on(&open(&browser, &suggested).await), [ids[1].clone()]);
    let page = open(&browser, "/search?q=Harbour+with+PIXEL+8").await;
    assert_eq!(ids_on(&page), [ids[1].clone()]);
    assert_eq!(
        link(&page, "Taken with Google Pixel 8 ✕").as_deref(),
        Some("/search?q=Harbour+with+%22PIXEL+8%22"),
        "without the filter, the words are searched for"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_name_something_of_the_library_are_filters() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("ben").await;
    let lisbon = |at: &str| SeedImage::at(at).place("Lisbon, Portugal").position(38.72, -9.14);
    let photos = vec![
        lisbon("2024-07-01T03:30:00Z").offset_minutes(-240).camera("Google", "Pixel 8").description("a tram"),
        lisbon("2024-02-01T10:00:00Z").camera("Google", "Pixel 8 Pro"),
        SeedImage::at("2023-05-05T10:00:00Z")
            .camera("Apple", "iPhone 15")
            .place("Munich, Germany")
            .position(48.14, 11.58),
        SeedImage::at("2022-01-01T10:00:00Z").description("a sign that says Lisbon"),
    ];
    let ids = app.seed(&anna, photos).await;
    create_album(&app, &anna, "Summer by the sea", &ids[2]).await;
    let cases: [(&str, &[usize], &[&str]); 16] = [
        ("June 2024", &[0], &["June 2024 ✕"]),
        ("July 2024", &[], &[]),
        ("2024", &[0, 1], &["2024 ✕"]),
        ("30 June 2024", &[0], &["30 June 2024 ✕"]),
        ("2024-06-30", &[0], &["30 June 2024 ✕"]),
        ("iphone", &[2], &["Taken with Apple iPhone 15 ✕"]),
        ("pixel 8 in Lisbon", &[0, 1], &["Taken with pixel 8 ✕", "In Lisbon, Portugal ✕"]),
        ("photos of Lissabon from 2024", &[0, 1], &["In Lisbon, Portugal ✕", "2024 ✕"]),
        ("tram lisbon", &[0], &["In Lisbon, Portugal ✕"]),
        ("Lisbon, Portugal", &[0, 1], &["In Lisbon, Portugal ✕"]),
        ("Portugal", &[0, 1], &["In Portugal ✕"]),
        ("Bayern", &[2], &["In Bavaria, Germany ✕"]),
        ("summer by the SEA", &[2], &["In the album Summer by the sea ✕"]),
        ("\"Lisbon\" 2022", &[3], &["2022 ✕"]),
        ("2024 giraffe", &[0, 1], &["2024 ✕"]),
        ("giraffe", &[], &[]),
    ];
    for (query, expected, chips) in cases {
        let path = with_query("/search", query);
        let page = open(&browser, &path).await;
        let mut found = ids_on(&page);
        found.sort_by_key(|id| ids.iter().position(|known| known == id));
        let expected: Vec<String> = expected.iter().map(|index| ids[*index].clone()).collect();
        assert_eq!(found, expected, "{query}: {page}");
        for chip in chips {
            assert!(link(&page, chip).is_some(), "{query}: {chip}: {page}");
        }
        assert_eq!(page.matches(" ✕</a>").count(), chips.len(), "{query}: {page}");
        let of_others = open(&other, &path).await;
        assert!(ids_on(&of_others).is_empty() && !of_others.contains(" ✕</a>"), "{query}: {of_others}");
    }
    let page = open(&browser, "/search?q=2024+giraffe").await;
    assert!(page.contains("No photo with these filters matches “giraffe”"), "{page}");
    // A chip that is taken off is searched for as words, as here in a description.
    let page = open(&browser, "/search?q=lisbon+2022").await;
    assert_eq!(ids_on(&page), [""; 0], "no photo is from Lisbon in 2022: {page}");
    let off = link(&page, "In Lisbon, Portugal ✕").unwrap();
    assert_eq!(ids_on(&open(&browser, &off).await), [ids[3].clone()]);
    // A filter of the form comes before words.
    let page = open(&browser, "/search?q=2024&from=2023-01-01&to=2023-12-31").await;
    assert!(link(&page, "2024 ✕").is_none(), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_suggested_while_people_type() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("ben").await;
    let photos = vec![
        SeedImage::at("2024-06-30T10:00:00Z").place("Lisbon, Portugal").position(38.72, -9.14),
        SeedImage::at("2023-05-05T10:00:00Z").camera("Apple", "iPhone 15"),
        SeedImage::at("2022-05-05T10:00:00Z").place("Lima, Peru").position(-12.05, -77.04),
    ];
    let ids = app.seed(&anna, photos).await;
    create_album(&app, &anna, "Little things", &ids[1]).await;
    let suggest = async |browser: &Browser<'_>, typed: &str| -> Vec<(String, String, String)> {
        let reply = browser.open(&with_query("/web/suggest", typed)).await.expect(200).text();
        let list: serde_json::Value = serde_json::from_str(&reply).unwrap();
        let text = |entry: &serde_json::Value, name: &str| entry[name].as_str().unwrap().to_owned();
        list.as_array()
            .unwrap()
            .iter()
            .map(|entry| (text(entry, "q"), text(entry, "kind"), text(entry, "image")))
            .collect()
    };
    let queries = async |typed: &str| -> Vec<String> {
        suggest(&browser, typed).await.into_iter().map(|(query, ..)| query).collect()
    };
    let found = queries("li").await;
    for name in ["Lisbon, Portugal", "Lima, Peru", "Little things"] {
        assert!(found.contains(&name.to_owned()), "{found:?}");
    }
    assert_eq!(queries("snow in lisb").await[0], "snow in Lisbon, Portugal");
    assert_eq!(queries("ipho").await, ["Apple iPhone 15"]);
    assert_eq!(queries("202").await, ["2024", "2023", "2022"]);
    assert_eq!(queries("June 2").await, ["June 2024"]);
    for none in ["", "\"lis", "zzz", "%", "_"] {
        assert_eq!(queries(none).await, [""; 0], "{none}");
    }
    assert_eq!(suggest(&other, "li").await, []);
    let (_, kind, image) = suggest(&browser, "ipho").await.swap_remove(0);
    assert_eq!(kind, "Camera");
    browser.open(&image).await.expect(200);
    app.delete(&format!("/images/{}", ids[2]), &anna.key).await.expect(204);
    assert!(!queries("li").await.contains(&"Lima, Peru".to_owned()));
    app.browser().open("/web/suggest?q=li").await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn explore_and_this_day_lead_to_photos() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("ben").await;
    let now = app.clock.now();
    let years_ago = |years: i16| {
        let date = now.wall(0).date();
        format!("{}-{:02}-{:02}T12:00:00Z", date.year() - years, date.month(), date.day())
    };
    let photos = vec![
        SeedImage::at(&years_ago(1)).place("Lisbon, Portugal").position(38.72, -9.14),
        SeedImage::at(&years_ago(3)).camera("Apple", "iPhone 15"),
        SeedImage::at("2001-01-15T10:00:00Z"),
    ];
    let ids = app.seed(&anna, photos).await;
    let page = open(&browser, "/explore").await;
    for text in ["1 year ago", "3 years ago", "Lisbon, Portugal", "Apple iPhone 15", ">2001<"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let of_day = page.split("href=\"").find(|rest| rest.contains("3 years ago")).unwrap();
    let of_day = of_day.split('"').next().unwrap().to_owned();
    assert_eq!(ids_on(&open(&browser, &of_day).await), [ids[1].clone()]);
    assert!(open(&other, "/explore").await.contains("Search for what photos show"));

    let timeline = open(&browser, "/").await;
    assert!(timeline.contains("On this day") && timeline.contains("3 years ago"), "{timeline}");
    assert!(!open(&browser, "/?at=1000000000000").await.contains("On this day"));
    switch(&browser, "/", &timeline, "no").await;
    assert!(!open(&browser, "/").await.contains("On this day"));
    let explore = open(&browser, "/explore").await;
    switch(&browser, "/explore", &explore, "yes").await;
    assert!(open(&browser, "/").await.contains("On this day"));
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_name_what_matched() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let photos = vec![
        SeedImage::at("2024-01-01T10:00:00Z").place("Gardens of Sintra, Portugal"),
        SeedImage::at("2024-01-02T10:00:00Z").place("Évora, Portugal"),
        SeedImage::at("2024-01-03T10:00:00Z").file_name("lighthouse.jpg").place("Oslo, Norway"),
        SeedImage::at("2024-01-04T10:00:00Z").place("Oslo, Norway").description("running on the beach"),
    ];
    app.seed(&anna, photos).await;
    let cases = [
        ("gardening", "Gardens of Sintra, Portugal"),
        ("%22evora%22", "Évora, Portugal"),
        ("lighthouses", "lighthouse.jpg"),
        ("run", "“running on the beach”"),
        ("lighthouse+of+stone", "lighthouse.jpg"),
    ];
    for (query, reason) in cases {
        let page = open(&browser, &format!("/search?q={query}")).await;
        assert_eq!(ids_on(&page).len(), 1, "{query}");
        assert!(page.contains(reason), "{query}: {page}");
        assert!(!page.contains("Looks like it"), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_by_words_only_also_looks_at_places() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, vec![SeedImage::at("2024-01-01T10:00:00Z").place("Évora, Portugal")]).await;
    let page = open(&browser, "/search?q=%22evora%22&by=words").await;
    assert_eq!(ids_on(&page), ids);
    assert!(!page.contains("No vision model is installed, so"), "words need no model: {page}");
    assert_eq!(link(&page, "By words only ✕").as_deref(), Some("/search?q=%22evora%22"));
    let sentence = "Search by look only needs a vision model, and none is installed on this server.";
    assert!(page.contains(sentence) && page.contains("value=\"look\" disabled"), "{page}");
    let refused = browser.open("/search?q=evora&by=look").await.expect(400).text();
    assert!(refused.contains("role=\"alert\"") && ids_on(&refused).is_empty(), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_without_words_reach_every_photo() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let photos = SeedImage::series(130).into_iter().map(|photo| photo.camera("Canon", "EOS R5"));
    let ids = app.seed(&anna, photos).await;
    for search in ["/search?camera=Canon+EOS+R5", "/search?from=2024-04-30&to=2024-05-01"] {
        let mut page = open(&browser, search).await;
        assert!(page.contains("60 photos on this page"), "{page}");
        let mut seen = ids_on(&page);
        for _ in 0..2 {
            page = open(&browser, &link(&page, "Older photos").unwrap()).await;
            seen.extend(ids_on(&page));
        }
        assert_eq!(seen, ids, "{search}");
        assert_eq!(link(&page, "Older photos"), None);
        assert_eq!(link(&page, "Newest photos").as_deref(), Some(search));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_with_words_show_at_most_the_best_256_matches() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let photos = SeedImage::series(400).into_iter().map(|photo| photo.description("a harbour"));
    let ids = app.seed(&anna, photos).await;
    let mut page = open(&browser, "/search?q=harbour&by=words").await;
    assert!(page.contains("Photos 1 to 60 of 256"), "{page}");
    let mut seen = ids_on(&page);
    for _ in 0..4 {
        assert!(!page.contains("These are the best"));
        page = open(&browser, &link(&page, "More matches").unwrap()).await;
        seen.extend(ids_on(&page));
    }
    assert_eq!(seen, ids[..256]);
    assert!(page.contains("These are the best 256 matches."), "{page}");
    assert_eq!(link(&page, "More matches"), None);
    assert_eq!(link(&page, "Better matches").as_deref(), Some("/search?q=harbour&by=words&page=4"));
    let beyond = open(&browser, "/search?q=harbour&page=99999999999").await;
    assert!(beyond.contains("No more photos match"), "{beyond}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_filters_with_photos_are_suggested() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (ben, other) = app.signed_in("ben").await;
    let photos = vec![
        SeedImage::at("2024-07-01T10:00:00Z").position(38.72, -9.14),
        // Bergen near Celle. Several towns in Germany have this name.
        SeedImage::at("2023-02-01T10:00:00Z").position(52.81, 9.96),
    ];
    let ids = app.seed(&anna, photos).await;
    app.seed(&ben, vec![SeedImage::at("2022-01-01T10:00:00Z").camera("Leica", "Q3")]).await;
    for query in ["cat", "snow", "lisbon", "paris", "bergen"] {
        let page = open(&other, &format!("/search?q={query}")).await;
        assert!(!page.contains("Did you mean a filter?"), "{query}: {page}");
    }
    for query in ["cat", "snow", "paris", "May+2024", "2022", "2024-08", "leica"] {
        let page = open(&browser, &format!("/search?q={query}")).await;
        assert!(!page.contains("Did you mean a filter?"), "{query}: {page}");
    }
    let page = open(&browser, "/search?q=bergen").await;
    let suggested = link(&page, "Near Bergen, Germany, near Celle").unwrap();
    assert_eq!(ids_on(&open(&browser, &suggested).await), [ids[1].clone()]);
    app.delete(&format!("/images/{}", ids[0]), &anna.key).await.expect(204);
    let page = open(&browser, "/search?q=lisbon+July+2024").await;
    assert!(!page.contains("Did you mean a filter?"), "{page}");
}
