//! The search page: filters, suggestions, reasons and pages, without JavaScript.

use tests::{SeedImage, TestApp, oauth::Browser};

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
    let page = open(&browser, "/search?q=Harbour+PIXEL+8").await;
    let suggested = link(&page, "Taken with Google Pixel 8");
    assert_eq!(suggested.as_deref(), Some("/search?q=Harbour&camera=Google+Pixel+8"));
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
        ("evora", "Évora, Portugal"),
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
    let page = open(&browser, "/search?q=evora&by=words").await;
    assert_eq!(ids_on(&page), ids);
    assert!(!page.contains("No vision model is installed, so"), "words need no model: {page}");
    assert_eq!(link(&page, "By words only ✕").as_deref(), Some("/search?q=evora"));
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
    for query in ["cat", "snow", "lisbon", "paris", "bergen", "July+2024", "2024", "2024-07", "leica"] {
        let page = open(&other, &format!("/search?q={query}")).await;
        assert_eq!(page.contains("Did you mean a filter?"), query == "leica", "{query}: {page}");
    }
    for query in ["cat", "snow", "paris", "May+2024", "2022", "2024-08", "leica"] {
        let page = open(&browser, &format!("/search?q={query}")).await;
        assert!(!page.contains("Did you mean a filter?"), "{query}: {page}");
    }
    for (query, label, found) in [
        ("lisbon", "Near Lisbon, Portugal", &ids[0]),
        ("bergen", "Near Bergen, Germany, near Celle", &ids[1]),
        ("July+2024", "Taken in July 2024", &ids[0]),
        ("2023", "Taken in 2023", &ids[1]),
    ] {
        let page = open(&browser, &format!("/search?q={query}")).await;
        let suggested = link(&page, label).unwrap_or_else(|| panic!("{query}: {page}"));
        assert_eq!(ids_on(&open(&browser, &suggested).await), std::slice::from_ref(found), "{query}");
    }
    app.delete(&format!("/images/{}", ids[0]), &anna.key).await.expect(204);
    let page = open(&browser, "/search?q=lisbon+July+2024").await;
    assert!(!page.contains("Did you mean a filter?"), "{page}");
}
