//! The pages that show and correct photos, without JavaScript.

use reqwest::Method;
use tests::{
    SeedImage, TestAccount, TestApp, TestResponse,
    oauth::{Browser, HtmlForm, forms},
};

/// The first form of a page whose action, with or without its query, ends with `action`, and which has a field with this value, if
/// given.
fn form(page: &TestResponse, action: &str, value: Option<&str>) -> HtmlForm {
    let holds = |form: &HtmlForm| value.is_none_or(|value| form.fields.values().any(|field| field == value));
    let ends = |form: &HtmlForm| {
        form.action.ends_with(action) || form.action.split('?').next().unwrap().ends_with(action)
    };
    let found = forms(&page.text()).into_iter().find(|form| ends(form) && holds(form));
    found.unwrap_or_else(|| panic!("no form {action} {value:?} in {}", page.text()))
}

/// Fields that keep time and place. Without them, the test library would send the last radio button of each group.
const UNCHANGED: [(&str, &str); 2] = [("time_action", "keep"), ("place", "keep")];

fn with<'a>(description: &'a str, fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("description", description)];
    all.extend(UNCHANGED);
    all.extend(fields);
    all
}

fn harbour() -> SeedImage {
    SeedImage::at("2024-07-14T13:04:30Z")
        .offset_minutes(120)
        .position(48.8566, 2.3522)
        .place("Paris, France")
        .description("a harbour")
        .text("STOP")
        .camera("Canon", "Canon EOS R5")
        .file_name("a.jpg")
}

/// Sends a form that redirects, and opens the page that it leads to.
async fn followed(browser: &Browser<'_>, form: &HtmlForm, fields: &[(&str, &str)]) -> TestResponse {
    let answer = browser.submit("/", form, fields).await.expect(303);
    browser.open(answer.header("location").unwrap()).await.expect(200)
}

async fn corrected(browser: &Browser<'_>, id: &str, fields: &[(&str, &str)]) -> TestResponse {
    let page = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    followed(browser, &form(&page, "/edit", None), fields).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_is_shown_with_its_time_place_and_neighbours() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(
            &anna,
            vec![SeedImage::at("2024-07-13T10:00:00Z"), harbour(), SeedImage::at("2024-07-15T10:00:00Z")],
        )
        .await;
    let path = format!("/photos/{}", ids[1]);
    let text = browser.open(&path).await.expect(200).text();
    for words in [
        "14 July 2024, 15:04",
        "UTC+02:00",
        "Paris, France",
        "a harbour",
        "STOP",
        "Canon EOS R5",
        "4000 × 3000",
        &format!("<a rel=\"prev\" href=\"/photos/{}\">", ids[2]),
        &format!("<a rel=\"next\" href=\"/photos/{}\">", ids[0]),
        &format!("data-id=\"{}\"", ids[1]),
        "alt=\"a harbour\"",
        "width=\"1200\" height=\"900\"",
        "download=\"a.webp\"",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (_, picture) = text.split_once("src=\"/p/").unwrap();
    browser.open(&format!("/p/{}", picture.split('"').next().unwrap())).await.expect(200);
    let (_, others) = app.signed_in("bert").await;
    for missing in [&path, "/photos/unknown", &format!("{path}/edit")] {
        others.open(missing).await.expect(404);
    }
    assert!(app.browser().open(&path).await.expect(302).header("location").unwrap().starts_with("/sign-in"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_with_an_id_of_another_account_is_not_found() {
    let app = TestApp::start().await;
    let (anna, _) = app.signed_in("anna").await;
    let (bert, browser) = app.signed_in("bert").await;
    let theirs = app.seed(&anna, vec![harbour()]).await.remove(0);
    let own = app.seed(&bert, vec![harbour()]).await.remove(0);
    let album = album(&app, &anna, "Sea", &[&theirs]).await;
    let edited = corrected(&browser, &own, &with("mine", &[])).await;
    let token = |path: &str| form(&edited, path, None).fields["csrf"].clone();
    let last = forms(&edited.text()).into_iter().find(|form| form.fields.contains_key("edit")).unwrap();
    let edit_page = browser.open(&format!("/photos/{own}/edit")).await.expect(200);
    let edit = form(&edit_page, "/edit", None).fields["csrf"].clone();
    let (selection, delete, marks) = (token("/web/selection"), token("/delete"), token("/marks"));
    for (photo, album) in [(&*theirs, &*album), ("unknown", "unknown")] {
        for path in ["", "/edit", "/marks", "/undo", "/delete", "/delete?in=x&back=%2F"] {
            browser.open(&format!("/photos/{photo}{path}")).await.expect(404);
        }
        for path in ["", "/add", "/delete", "/cover"] {
            browser.open(&format!("/albums/{album}{path}")).await.expect(404);
        }
        let posts = [
            (format!("/photos/{photo}/edit"), vec![("csrf", &*edit), ("description", "x")]),
            (format!("/photos/{photo}/delete"), vec![("csrf", &*delete)]),
            (format!("/photos/{photo}/marks"), vec![("csrf", &*marks), ("mark", "favorite")]),
            (format!("/photos/{photo}/undo"), vec![("csrf", &*last.fields["csrf"]), ("field", "all")]),
            (
                format!("/photos/{photo}/undo"),
                vec![("csrf", &*last.fields["csrf"]), ("edit", &*last.fields["edit"])],
            ),
            (format!("/albums/{album}/cover"), vec![("csrf", &*selection), ("image", &*own)]),
            (format!("/albums/{album}/cover"), vec![("csrf", &*selection)]),
            (format!("/albums/{album}/add"), vec![("csrf", &*selection), ("image", &*own)]),
            (
                "/web/selection".to_owned(),
                vec![("csrf", &*selection), ("action", "add_to_album"), ("image", &*own), ("album", album)],
            ),
            (
                "/web/selection".to_owned(),
                vec![
                    ("csrf", &*selection),
                    ("action", "remove_from_album"),
                    ("image", &*own),
                    ("album", album),
                ],
            ),
        ];
        for (path, mut fields) in posts {
            browser.send(browser.request(Method::POST, &path).form(&fields)).await.expect(404);
            fields[0].1 = "wrong";
            browser.send(browser.request(Method::POST, &path).form(&fields)).await.expect(403);
        }
        // The token of an album's own forms is bound to the album.
        for path in ["", "/delete"] {
            let fields = [("csrf", &*selection), ("title", "x")];
            browser
                .send(browser.request(Method::POST, &format!("/albums/{album}{path}")).form(&fields))
                .await
                .expect(403);
        }
    }
    assert!(browser.open(&format!("/photos/{own}")).await.expect(200).text().contains("mine"));
    app.get(&format!("/images/{theirs}"), &anna.key).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_of_a_photo_can_be_those_in_an_album() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, SeedImage::series(4)).await;
    let album = album(&app, &anna, "Odd", &[&ids[0], &ids[2]]).await;
    let text = browser.open(&format!("/photos/{}?in={album}", ids[2])).await.expect(200).text();
    assert!(text.contains(&format!("<a rel=\"prev\" href=\"/photos/{}?in={album}\">", ids[0])), "{text}");
    assert!(!text.contains("rel=\"next\""), "{text}");
    assert!(text.contains(&format!("href=\"/albums/{album}\"")), "{text}");
}

/// An album with these photos.
async fn album(app: &TestApp, owner: &TestAccount, title: &str, ids: &[&String]) -> String {
    let body = serde_json::json!({"title": title, "imageIds": ids});
    let created = app.post("/albums", &owner.key, &body).await.expect(201);
    created.json["result"]["id"].as_str().unwrap().to_owned()
}

/// The addresses of the links to the previous and the next photo.
fn neighbours(page: &TestResponse) -> [Option<String>; 2] {
    let text = page.text();
    ["prev", "next"].map(|rel| {
        let (_, rest) = text.split_once(&format!("rel=\"{rel}\" href=\""))?;
        Some(rest.split('"').next().unwrap().replace("&amp;", "&"))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_leads_back_to_the_album() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, SeedImage::series(6)).await;
    let odd = album(&app, &anna, "Odd", &[&ids[1], &ids[3], &ids[5]]).await;
    let other = album(&app, &anna, "Other", &[&ids[0]]).await;
    let address = |index: usize| format!("/photos/{}?in={odd}", ids[index]);
    let opened = browser.open(&format!("/albums/{odd}")).await.expect(200);
    assert!(opened.text().contains(&format!("href=\"{}\"", address(3))), "{}", opened.text());

    let is_in_album = |page: &TestResponse| {
        let links = neighbours(page);
        assert_eq!(links.map(Option::unwrap), [address(1), address(5)], "{}", page.text());
        assert!(page.text().contains(&format!("href=\"/albums/{odd}\" aria-label=\"Back to the album\"")));
    };
    let shown = browser.open(&address(3)).await.expect(200);
    is_in_album(&shown);

    // A correction, an invalid correction, the search for a city, and both ways to undo.
    let edit_path = format!("/photos/{}/edit?in={odd}", ids[3]);
    assert!(shown.text().contains(&format!("href=\"{edit_path}\"")), "{}", shown.text());
    let page = browser.open(&edit_path).await.expect(200);
    assert!(page.text().contains(&format!("href=\"{}\">Cancel", address(3))), "{}", page.text());
    let in_album = format!("?in={odd}");
    let wrong = [("time_action", "set"), ("time", "yesterday")];
    let page = browser.submit("/", &form(&page, &in_album, None), &with("x", &wrong)).await.expect(400);
    let find = [("city", "lisb"), ("find", "cities")];
    let page = browser.submit("/", &form(&page, "/edit", None), &with("x", &find)).await.expect(200);
    let page = followed(&browser, &form(&page, "/edit", None), &with("a lighthouse", &[])).await;
    assert!(page.text().contains("The photo is corrected."), "{}", page.text());
    is_in_album(&page);
    let last = forms(&page.text()).into_iter().find(|form| form.fields.contains_key("edit")).unwrap();
    is_in_album(&followed(&browser, &last, &[]).await);
    let page = browser.open(&edit_path).await.expect(200);
    let page = followed(&browser, &form(&page, "/edit", None), &with("a lighthouse", &[])).await;
    is_in_album(&followed(&browser, &form(&page, "/undo", Some("description")), &[]).await);

    // The page of a refused form leads back to the album, too.
    let undo = form(&page, "/undo", Some("description"));
    let refused = browser.submit("/", &undo, &[("csrf", "wrong")]).await.expect(403);
    assert!(refused.text().contains(&format!("href=\"{}\"", address(3))), "{}", refused.text());
    let redirected = browser.open(&format!("/photos/{}/undo?in={odd}", ids[3])).await.expect(302);
    assert_eq!(redirected.header("location"), Some(&*address(3)));

    // Adding the photo to another album, and removing it there.
    let page = browser.open(&address(3)).await.expect(200);
    let add = form(&page, "/web/selection", Some("add_to_album"));
    is_in_album(&followed(&browser, &add, &[("album", &other)]).await);
    let page = browser.open(&address(3)).await.expect(200);
    is_in_album(&followed(&browser, &form(&page, "/web/selection", Some(&other)), &[]).await);

    // Deleting the photo.
    let page = browser.open(&address(3)).await.expect(200);
    let deleted = browser.submit("/", &form(&page, "/delete", None), &[]).await.expect(303);
    assert_eq!(deleted.header("location"), Some(&*format!("/albums/{odd}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_with_the_oldest_first_is_browsed_in_this_order() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    // These ids are sorted newest first.
    let ids = app.seed(&anna, SeedImage::series(3)).await;
    let all = album(&app, &anna, "All", &[&ids[0], &ids[1], &ids[2]]).await;
    let page = browser.open(&format!("/albums/{all}")).await.expect(200);
    let order = form(&page, &format!("/albums/{all}"), None);
    browser.submit("/", &order, &[("order", "oldest")]).await.expect(303);
    let page = browser.open(&format!("/photos/{}?in={all}", ids[1])).await.expect(200);
    let expected = [&ids[2], &ids[0]].map(|id| Some(format!("/photos/{id}?in={all}")));
    assert_eq!(neighbours(&page), expected, "{}", page.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_leads_back_to_the_search_that_found_it() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let results = browser.open("/search?q=harbour&from=2024-01-01").await.expect(200);
    let path = format!("/photos/{id}?back=%2Fsearch%3Fq%3Dharbour%26from%3D2024-01-01");
    assert!(results.text().contains(&format!("href=\"{path}\"")), "{}", results.text());
    let leads_back = |page: &TestResponse| {
        let link = "href=\"/search?q=harbour&amp;from=2024-01-01\" aria-label=\"Back to the search\"";
        assert!(page.text().contains(link), "{}", page.text());
    };
    let page = browser.open(&path).await.expect(200);
    leads_back(&page);
    let page = browser.open(&path.replace('?', "/edit?")).await.expect(200);
    leads_back(&followed(&browser, &form(&page, "/edit", None), &with("a lighthouse", &[])).await);

    let map = browser.open("/map?z=5&lat=48&lon=2").await.expect(200);
    let path = format!("/photos/{id}?back=%2Fmap%3Fz%3D5%26lat%3D48.00000%26lon%3D2.00000");
    assert!(map.text().contains(&format!("href=\"{path}\"")), "{}", map.text());
    let page = browser.open(&path).await.expect(200);
    assert!(page.text().contains("Back to the map"), "{}", page.text());
    assert!(page.text().contains("href=\"/map?z=9&amp;lat=48.85660&amp;lon=2.35220\">Show on the map"));
    let deleted = browser.submit("/", &form(&page, "/delete", None), &[]).await.expect(303);
    assert_eq!(deleted.header("location"), Some("/map?z=5&lat=48.00000&lon=2.00000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_way_back_is_ignored() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (bert, _) = app.signed_in("bert").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let of_bert = app.seed(&bert, vec![harbour()]).await;
    let foreign = album(&app, &bert, "Bert", &[&of_bert[0]]).await;
    for origin in [
        "in=..%2F..%2Faccount",
        &format!("in={foreign}"),
        "back=https%3A%2F%2Fevil.example%2Fsearch",
        "back=%2F%2Fevil.example",
        "back=%2Fsearch%0D%0ALocation%3A+x",
        "back=%2Fsign-out",
    ] {
        let page = browser.open(&format!("/photos/{id}?{origin}")).await.expect(200);
        assert!(page.text().contains("Back to the timeline"), "{origin}: {}", page.text());
        assert!(!page.text().contains("evil.example") && !page.text().contains(&foreign), "{origin}");
        // The form, sent to an address with this origin.
        let mut delete = form(&page, "/delete", None);
        delete.action = format!("{}?{origin}", delete.action.split('?').next().unwrap());
        let wrong = browser.submit("/", &delete, &[("csrf", "wrong")]).await.expect(403);
        assert!(!wrong.text().contains("evil.example"), "{origin}: {}", wrong.text());
    }
    let page = browser.open(&format!("/photos/{id}")).await.expect(200);
    let mut delete = form(&page, "/delete", None);
    delete.action = format!("{}?back=%2F%2Fevil.example%2Fsearch", delete.action);
    let deleted = browser.submit("/", &delete, &[]).await.expect(303);
    assert!(deleted.header("location").unwrap().starts_with("/?at="), "{deleted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_field_is_corrected_and_undone() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let record =
        async || app.get(&format!("/images/{id}"), &anna.key).await.expect(200).json["result"].clone();
    let before = record().await;

    let page = corrected(&browser, &id, &with("a lighthouse", &[])).await;
    assert!(page.text().contains("The photo is corrected."), "{}", page.text());
    assert_eq!(record().await["description"], "a lighthouse");
    let found = app.get("/search?query=lighthouse&channels=text", &anna.key).await.expect(200);
    assert_eq!(found.ids(), std::slice::from_ref(&id));

    // The three ways to correct a time.
    let set = [("time_action", "set"), ("time", "2024-01-15T12:00"), ("time_zone", "")];
    corrected(&browser, &id, &with("a lighthouse", &set)).await;
    // Winter time in Paris.
    assert_eq!(record().await["capturedAt"], "2024-01-15T11:00:00.000Z");
    assert_eq!(record().await["utcOffset"], "+01:00");
    let shift = [
        ("time_action", "shift"),
        ("direction", "earlier"),
        ("days", "1"),
        ("hours", "2"),
        ("minutes", "30"),
    ];
    corrected(&browser, &id, &with("a lighthouse", &shift)).await;
    assert_eq!(record().await["capturedAt"], "2024-01-14T08:30:00.000Z");
    let zone = [("time_action", "zone"), ("zone", "America/New_York")];
    let page = corrected(&browser, &id, &with("a lighthouse", &zone)).await;
    assert_eq!(record().await["capturedAt"], "2024-01-14T14:30:00.000Z");
    assert!(page.text().contains("14 January 2024, 09:30"), "{}", page.text());

    // A city from the list.
    let page = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    let edit = form(&page, "/edit", None);
    let find = with("a lighthouse", &[("city", "lisb"), ("find", "cities")]);
    let page = browser.submit("/", &edit, &find).await.expect(200);
    assert!(page.text().contains("Lisbon, Portugal"), "{}", page.text());
    let (_, rest) = page
        .text()
        .split_once("name=\"place\" value=\"38.")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let city = format!("38.{}", rest.split('"').next().unwrap());
    followed(&browser, &form(&page, "/edit", None), &with("a lighthouse", &[("place", &city)])).await;
    assert_eq!(record().await["place"], "Lisbon, Portugal");
    let page = corrected(&browser, &id, &with("a lighthouse", &[("place", "clear")])).await;
    assert!(record().await["place"].is_null() && record().await["latitude"].is_null());
    assert!(page.text().contains("Corrected. In the file: Paris, France"), "{}", page.text());

    let page = followed(&browser, &form(&page, "/undo", Some("time")), &[]).await;
    assert_eq!(record().await["capturedAt"], before["capturedAt"]);
    let page = followed(&browser, &form(&page, "/undo", Some("description")), &[]).await;
    assert_eq!(record().await["description"], "a harbour");
    followed(&browser, &form(&page, "/undo", Some("place")), &[]).await;
    let mut after = record().await;
    after["url"] = before["url"].clone();
    after["renditions"] = before["renditions"].clone();
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_is_sent_twice_counts_once_and_can_be_undone() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let captured = async || {
        app.get(&format!("/images/{id}"), &anna.key).await.expect(200).json["result"]["capturedAt"].clone()
    };
    let page = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    let edit = form(&page, "/edit", None);
    let shift = with("a harbour", &[("time_action", "shift"), ("direction", "later"), ("hours", "1")]);
    let page = followed(&browser, &edit, &shift).await;
    followed(&browser, &edit, &shift).await;
    assert_eq!(captured().await, "2024-07-14T14:04:30.000Z");
    let undo = forms(&page.text()).into_iter().find(|form| form.fields.contains_key("edit")).unwrap();
    followed(&browser, &undo, &[]).await;
    assert_eq!(captured().await, "2024-07-14T13:04:30.000Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_values_are_shown_again_with_a_reason() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let page = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    let edit = form(&page, "/edit", None);
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[("time_action", "set"), ("time", "yesterday")], "Time on the clock must be a date and a time"),
        (&[("time_action", "set"), ("time", "2024-02-30T10:00")], "is not a day of the calendar"),
        (
            &[("time_action", "set"), ("time", "2024-02-28T10:00"), ("time_zone", "Mars/Olympus")],
            "Time zone is not the name of a time zone",
        ),
        (&[("time_action", "shift"), ("hours", "x")], "Hours must be a whole number"),
        (&[("time_action", "shift"), ("days", "3660000")], "would lie outside the years 0001 to 9999"),
        (&[("time_action", "zone"), ("zone", "+25:00")], "Time zone of the clock must be an offset"),
        (
            &[("place", "coordinates"), ("latitude", "91"), ("longitude", "0")],
            "Latitude must lie between -90 and 90",
        ),
        (&[("place", "coordinates"), ("latitude", "1"), ("longitude", "")], "Longitude must be filled in"),
    ];
    for (fields, reason) in cases {
        let text = browser.submit("/", &edit, &with("a <new> text", fields)).await.expect(400).text();
        assert!(text.contains(reason), "{reason}: {text}");
        assert!(text.contains("a &lt;new&gt; text") && text.contains("aria-invalid=\"true\""), "{text}");
        for (name, value) in fields
            .iter()
            .filter(|(name, value)| !name.ends_with("action") && *name != "place" && !value.is_empty())
        {
            assert!(text.contains(&format!("value=\"{value}\"")), "{name} {value}: {text}");
        }
    }
    let after = app.get(&format!("/images/{id}"), &anna.key).await.expect(200);
    assert_eq!(after.json["result"]["description"], "a harbour");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_needs_its_token() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let (_, others) = app.signed_in("bert").await;
    let page = browser.open(&format!("/photos/{id}/edit")).await.expect(200);
    let edit = form(&page, "/edit", None);
    browser.submit("/", &edit, &with("x", &[("csrf", "wrong")])).await.expect(403);
    others.submit("/", &edit, &with("x", &[])).await.expect(403);
    let page = browser.open(&format!("/photos/{id}")).await.expect(200);
    let delete = form(&page, "/delete", None);
    browser.submit("/", &delete, &[("csrf", &edit.fields["csrf"])]).await.expect(403);
    app.get(&format!("/images/{id}"), &anna.key).await.expect(200);
    browser.submit("/", &delete, &[]).await.expect(303);
    app.get(&format!("/images/{id}"), &anna.key).await.expect(404);
    browser.open(&format!("/photos/{id}")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_photos_are_corrected_and_undone() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, SeedImage::series(250)).await;
    let captured = async |id: &str| {
        app.get(&format!("/images/{id}"), &anna.key).await.expect(200).json["result"]["capturedAt"].clone()
    };
    let first = captured(&ids[0]).await;
    let timeline = browser.open("/").await.expect(200);
    let selection = form(&timeline, "/web/selection", None);
    let all = HtmlForm {
        is_post: true,
        action: "/photos/edit".to_owned(),
        fields: [("csrf".to_owned(), selection.fields["csrf"].clone())].into(),
    };
    let none = browser.submit("/", &all, &[]).await.expect(200);
    assert!(none.text().contains("No photos are selected"), "{}", none.text());
    let range = "1714521600000:1714694399999";
    let page = browser
        .submit("/", &all, &[("range", range), ("except", &ids[7]), ("return_to", "/?at=5")])
        .await
        .expect(200);
    assert!(page.text().contains("You selected 249 photos, taken on 1 May 2024"), "{}", page.text());
    let mut edit = form(&page, "/photos/edit", None);
    // The test library sends every field, even this check box that is not checked.
    edit.fields.remove("change_description");
    let nothing = browser.submit("/", &edit, &UNCHANGED).await.expect(400);
    assert!(nothing.text().contains("Choose what to change."), "{}", nothing.text());

    let mut shift = UNCHANGED.to_vec();
    shift.extend([("time_action", "shift"), ("direction", "earlier"), ("hours", "1")]);
    let page = followed(&browser, &edit, &shift).await;
    assert!(page.text().contains("249 photos are corrected."), "{}", page.text());
    assert!(page.text().contains("href=\"/?at=5\""), "{}", page.text());
    assert_eq!(captured(&ids[0]).await, "2024-05-01T11:00:00.000Z");
    assert_eq!(captured(&ids[7]).await, "2024-05-01T11:53:00.000Z", "an exception");
    let page = followed(&browser, &form(&page, "/photos/edit", None), &[]).await;
    assert!(page.text().contains("The change of 249 photos is undone."), "{}", page.text());
    assert_eq!(captured(&ids[0]).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_city_is_saved_at_once_unless_several_cities_match() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    let place =
        async || app.get(&format!("/images/{id}"), &anna.key).await.expect(200).result()["place"].clone();
    let path = format!("/photos/{id}/edit");
    let chosen = |city| with("a harbour", &[("time_action", "keep"), ("place", "city"), ("city", city)]);
    for city in ["xqzzy", "bergen, germany"] {
        let edit = form(&browser.open(&path).await.expect(200), "/edit", None);
        let page = browser.submit("/", &edit, &chosen(city)).await.expect(200).text();
        assert!(page.contains("role=\"alert\">Nothing was saved yet."), "{page}");
        assert_eq!(place().await, "Paris, France");
        let labels: Vec<&str> = page.match_indices(">Bergen, Germany").map(|(at, _)| &page[at..]).collect();
        let labels: Vec<&str> = labels.into_iter().filter_map(|label| label.split("</").next()).collect();
        assert_eq!(labels.len() > 1, city != "xqzzy", "{page}");
        assert!(
            labels.iter().all(|label| labels.iter().filter(|other| other == &label).count() == 1),
            "{labels:?}"
        );
    }
    let page = corrected(&browser, &id, &chosen("lisbon")).await.text();
    assert!(page.contains("The photo is corrected."), "{page}");
    assert_eq!(place().await, "Lisbon, Portugal");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_album_can_be_chosen_for_a_photo() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let id = app.seed(&anna, vec![harbour()]).await.remove(0);
    for number in 0..103 {
        album(&app, &anna, &format!("Album {number}"), &[]).await;
    }
    let albums = browser.open("/web/albums").await.expect(200).json;
    assert_eq!(albums["albums"].as_array().unwrap().len(), 103);
    let photo = browser.open(&format!("/photos/{id}")).await.expect(200);
    let choose = [("action", "choose_album"), ("album", ""), ("title", "")];
    let step = browser.submit("/", &form(&photo, "/web/selection", None), &choose).await.expect(200);
    for page in [photo.text(), step.text()] {
        for oldest in ["Album 0", "Album 102"] {
            assert!(page.contains(&format!(">{oldest}</option>")), "{oldest}: {page}");
        }
    }
}
