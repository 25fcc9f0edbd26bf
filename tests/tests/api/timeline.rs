//! The timeline: its months, their photos as data, its pages and its pictures, for the session of their owner.

use std::time::Duration;

use domain::Plan;
use reqwest::{Method, header};
use serde_json::{Value, json};
use tests::{
    SeedImage, TestApp,
    oauth::{Browser, forms},
};

/// A photo a minute, the oldest first.
fn minutes(day: &str, count: usize) -> Vec<SeedImage> {
    (0..count)
        .map(|minute| SeedImage::at(&format!("{day}T{:02}:{:02}:00Z", 8 + minute / 60, minute % 60)))
        .collect()
}

async fn data(browser: &Browser<'_>, path: &str) -> Value {
    browser.open(path).await.expect(200).json
}

/// The photos of a reply: id and place in the timeline.
fn photos(data: &Value) -> Vec<(String, f64)> {
    let ids = data["id"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned());
    let mut at = 0.0;
    let times = data["t"].as_array().unwrap().iter().enumerate().map(|(index, step)| {
        let step = step.as_f64().unwrap();
        at = if index == 0 { step } else { at - step };
        at
    });
    ids.zip(times.collect::<Vec<_>>()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn months_have_counts_and_sums_of_ratios() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (bert, _) = app.signed_in("bert").await;
    assert_eq!(data(&browser, "/web/months").await["m"], json!([]));
    let sized = |at: &str, width, height| SeedImage::at(at).size(width, height);
    let images = [
        sized("2023-12-31T23:59:59.999Z", 4000, 3000),
        sized("2024-01-01T00:00:00Z", 3000, 4000),
        // The ratios of these photos are outside the limits for rows.
        sized("2024-01-02T00:00:00Z", 9000, 1000),
        sized("2024-01-03T00:00:00Z", 1000, 9000),
    ];
    let ids = app.seed(&anna, images).await;
    app.seed(&bert, SeedImage::series(3)).await;
    let first = browser.open("/web/months").await.expect(200);
    assert_eq!(first.json["m"], json!([[202_401, 3, 3.75], [202_312, 1, 1.333]]));
    assert_eq!(first.json["total"], 4);
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));

    // A browser caches the response, and asks whether it has changed.
    let tag = first.header("etag").unwrap().to_owned();
    let ask = || browser.request(Method::GET, "/web/months").header(header::IF_NONE_MATCH, &tag);
    browser.send(ask()).await.expect(304);
    app.delete(&format!("/images/{}", ids[1]), &anna.key).await.expect(204);
    let changed = browser.send(ask()).await.expect(200).json;
    assert_eq!(changed["m"], json!([[202_401, 2, 3.0], [202_312, 1, 1.333]]));
    assert_ne!(changed["gen"], first.json["gen"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_detects_new_photos_by_a_small_response() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let empty = browser.open("/").await.expect(200).text();
    let first = browser.open("/web/timeline").await.expect(200);
    let generation = |answer: &Value| answer["gen"].as_str().unwrap().to_owned();
    assert_eq!(first.json["reading"], 0);
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    assert!(empty.contains("There are no photos yet"), "{empty}");
    assert!(empty.contains(&format!("data-gen=\"{}\"", generation(&first.json))), "{empty}");
    let tag = first.header("etag").unwrap().to_owned();
    let ask = || browser.request(Method::GET, "/web/timeline").header(header::IF_NONE_MATCH, &tag);
    browser.send(ask()).await.expect(304);

    app.seed(&anna, minutes("2024-03-10", 2)).await;
    let changed = browser.send(ask()).await.expect(200).json;
    assert_ne!(generation(&changed), generation(&first.json));
    assert_eq!(generation(&changed), generation(&data(&browser, "/web/months").await));
    let page = browser.open("/").await.expect(200).text();
    assert!(page.contains(&format!("data-gen=\"{}\"", generation(&changed))), "{page}");
    let (_, others) = app.signed_in("bert").await;
    assert_eq!(data(&others, "/web/timeline").await["gen"], first.json["gen"]);
    app.browser().open("/web/timeline").await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_does_not_extend_its_session() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    for _ in 0..2 {
        app.advance(14 * DAY);
        browser.open("/web/timeline").await.expect(200);
    }
    app.advance(3 * DAY);
    browser.open("/web/timeline").await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_of_more_than_500_photos_has_pages_in_both_directions() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let mut oldest_first = app.seed(&anna, minutes("2024-03-10", 620)).await;
    app.seed(&anna, minutes("2024-04-01", 2)).await;
    oldest_first.reverse();
    let newest_first = oldest_first;

    let page = data(&browser, "/web/month/202403").await;
    let found = photos(&page);
    assert_eq!(
        found.iter().map(|(id, _)| id).collect::<Vec<_>>(),
        newest_first.iter().take(500).collect::<Vec<_>>()
    );
    assert_eq!(page["next"].as_f64(), found.last().map(|(_, at)| *at));
    assert_eq!(page["prev"], Value::Null);

    let rest = data(&browser, &format!("/web/month/202403?before={}", page["next"])).await;
    let older = photos(&rest);
    assert_eq!(
        older.iter().map(|(id, _)| id).collect::<Vec<_>>(),
        newest_first.iter().skip(500).collect::<Vec<_>>()
    );
    assert_eq!(rest["next"], Value::Null);
    assert_eq!(rest["prev"].as_f64(), older.first().map(|(_, at)| *at));

    let back = data(&browser, &format!("/web/month/202403?after={}", rest["prev"])).await;
    assert_eq!(photos(&back), found);
    let last = data(&browser, &format!("/web/month/202403?after={}", older[10].1)).await;
    let ids: Vec<String> = photos(&last).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, newest_first[10..510], "the 500 that follow, still the newest first");
    assert_eq!(last["prev"].as_f64(), Some(photos(&last)[0].1), "newer ones follow");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_photos_of_a_month_are_sent_as_columns() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let images = [
        SeedImage::at("2024-05-01T10:00:00Z").size(9000, 1000).place("Lisbon, Portugal").offset_minutes(60),
        SeedImage::at("2024-05-02T10:00:00Z").place("Lisbon, Portugal").description("A tram, \"28\" <b>"),
        SeedImage::at("2024-05-03T10:00:00Z"),
    ];
    app.seed(&anna, images).await;
    let page = data(&browser, "/web/month/202405").await;
    assert_eq!(page["r"], json!([1.333, 1.333, 2.6]));
    // Milliseconds of the clock; the fraction tells offsets apart.
    let last: f64 = photos(&page)[2].1;
    assert_eq!(last, 1_714_561_200_000.0 + 60.0 / 4096.0);
    assert_eq!(page["t"][0], json!(1_714_730_400_000_i64));
    assert_eq!((&page["places"], &page["p"]), (&json!(["Lisbon, Portugal"]), &json!([-1, 0, 0])));
    assert_eq!(page["d"], json!({"1": "A tram, \"28\" <b>"}));
    for column in ["id", "t", "r", "v", "h", "p"] {
        assert_eq!(page[column].as_array().unwrap().len(), 3, "{column}");
    }
    let empty = data(&browser, "/web/month/202406").await;
    assert_eq!((&empty["id"], &empty["next"]), (&json!([]), &Value::Null));
}

/// Evenings at the edges of July, and photos at the same time of different clocks.
fn july() -> [SeedImage; 9] {
    let at = |moment: &str, offset| SeedImage::at(moment).offset_minutes(offset);
    [
        at("2024-07-01T11:59:00Z", -720),
        at("2024-06-30T10:00:00Z", 840),
        at("2024-07-15T10:00:00Z", 120),
        SeedImage::at("2024-07-15T12:00:00Z"),
        at("2024-07-15T16:00:00Z", -240),
        // Ten in the evening of 31 July in New York.
        at("2024-08-01T02:00:00Z", -240),
        SeedImage::at("2024-07-31T23:59:59.999Z"),
        SeedImage::at("2024-08-01T00:00:00Z"),
        at("2024-07-31T23:00:00Z", 120),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evening_belongs_to_the_day_and_month_of_its_clock() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, july()).await;
    let months = data(&browser, "/web/months").await;
    let counts: Vec<_> = months["m"].as_array().unwrap().iter().map(|month| (&month[0], &month[1])).collect();
    assert_eq!(json!(counts), json!([[202_408, 2], [202_407, 6], [202_406, 1]]),);
    let in_july = photos(&data(&browser, "/web/month/202407").await);
    let expected: Vec<&String> = [6, 5, 3, 2, 4, 1].map(|at| &ids[at]).into();
    let mut found: Vec<&String> = in_july.iter().map(|(id, _)| id).collect();
    let ties: Vec<&String> = found.drain(2..5).collect();
    assert_eq!(found, [expected[0], expected[1], expected[5]]);
    assert_eq!(ties, [&ids[2], &ids[3], &ids[4]], "the most eastern first");
    // Each neighbour of a page is in another one, also of a photo at the same time.
    for (at, (_, place)) in in_july.iter().enumerate() {
        let before = photos(&data(&browser, &format!("/web/month/202407?before={place}")).await);
        let after = photos(&data(&browser, &format!("/web/month/202407?after={place}")).await);
        assert_eq!((before.as_slice(), after.as_slice()), (&in_july[at + 1..], &in_july[..at]));
        let around = data(&browser, &format!("/web/months/around?at={place}")).await;
        assert_eq!((&around["newer"], around["id"].as_array().unwrap().len()), (&json!(at + 2), 9));
    }

    let page = browser.open("/").await.expect(200);
    let mut selection = forms(&page.text()).into_iter().find(|form| form.action == "/web/selection").unwrap();
    // The test library would also send a photo.
    selection.fields.remove("image");
    let page = page.text();
    // The texts after a text, each up to another one.
    let all_after = |page: &str, text: &str, end: &str| -> Vec<String> {
        page.split(text).skip(1).filter_map(|rest| Some(rest.split(end).next()?.to_owned())).collect()
    };
    assert_eq!(all_after(&page, "Select all of ", "<"), ["August 2024", "July 2024", "June 2024"]);
    let days = all_after(&page, "<h3 class=\"day\">", "<");
    assert_eq!(days, ["Thu 1 August", "Wed 31 July", "Mon 15 July", "Mon 1 July", "Sun 30 June"]);
    // The link to a month leads to its first photo, and the way back from a photo to that photo.
    let first = async |address: &str| {
        let page = browser.open(&format!("/?at={address}")).await.expect(200).text();
        all_after(&page, "<li data-id=\"", "\"").swap_remove(0)
    };
    let links = all_after(&page, "<a href=\"/?at=", "</a>");
    let july = links.iter().find_map(|link| link.strip_suffix("\">July")).unwrap();
    assert_eq!(first(july).await, ids[6]);
    for at in [2, 3, 4, 5] {
        let photo = browser.open(&format!("/photos/{}", ids[at])).await.expect(200).text();
        assert_eq!(first(&all_after(&photo, "href=\"/?at=", "\"")[0]).await, ids[at]);
    }
    // The page of a photo leads to the same neighbours.
    let photo = browser.open(&format!("/photos/{}", ids[3])).await.expect(200).text();
    let link = |rel: &str| all_after(&photo, &format!("rel=\"{rel}\" href=\"/photos/"), "\"").swap_remove(0);
    assert_eq!((link("prev"), link("next")), (ids[2].clone(), ids[4].clone()));

    // Selecting the month takes exactly its photos.
    let range = &all_after(&page, "name=\"range\" value=\"", "\"")[1];
    let filled = [("action", "delete"), ("range", range.as_str()), ("confirmed", "yes"), ("return_to", "/")];
    browser.submit("/", &selection, &filled).await.expect(303);
    let left = data(&browser, "/web/months").await;
    assert_eq!(left["total"], 3);
    assert_eq!((&left["m"][0][0], &left["m"][1][0]), (&json!(202_408), &json!(202_406)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_photos_around_one_are_sent_for_the_filmstrip() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let mut ids = app.seed(&anna, minutes("2024-03-10", 70)).await;
    ids.reverse();
    let times: Vec<f64> =
        photos(&data(&browser, "/web/month/202403").await).iter().map(|(_, at)| *at).collect();
    for (place, first, last) in [(0, 0, 30), (35, 5, 65), (69, 39, 69)] {
        let around = data(&browser, &format!("/web/months/around?at={}", times[place])).await;
        assert_eq!(around["id"], json!(ids[first..=last]));
        assert_eq!(around["v"].as_array().unwrap().len(), last - first + 1);
        let of_first = format!("Photo, 10 March 2024, {:02}:{:02}", 8 + (69 - first) / 60, (69 - first) % 60);
        assert_eq!(around["alt"][0], json!(of_first));
    }
    for wrong in ["", "?at=x", "?at=99999999999999999999"] {
        browser.open(&format!("/web/months/around{wrong}")).await.expect(400);
    }
    app.browser().open("/web/months/around?at=0").await.expect(401);
    let (_, others) = app.signed_in("bert").await;
    assert_eq!(data(&others, &format!("/web/months/around?at={}", times[9])).await["id"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_months_and_times_are_refused() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    for missing in ["202413", "202400", "20241", "2024123", "2o2401", "202401/", ""] {
        browser.open(&format!("/web/month/{missing}")).await.expect(404);
    }
    for wrong in ["before=x", "after=nan", "before=1&after=2", "before=99999999999999999999"] {
        let refused = browser.open(&format!("/web/month/202401?{wrong}")).await.expect(400);
        assert!(!refused.error().is_empty(), "{wrong}");
    }
    for path in ["/web/months", "/web/month/202401", "/p/x/1/256.webp"] {
        app.browser().open(path).await.expect(401);
        browser.send(browser.request(Method::POST, path)).await.expect(405);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_shows_only_photos_in_the_free_window() {
    let app = TestApp::builder().free_window(3).start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, SeedImage::series(5)).await;
    app.set_plan(&anna, Plan::Free).await;
    let visible = data(&browser, "/web/months").await;
    assert_eq!((&visible["total"], &visible["m"][0][1]), (&json!(3), &json!(3)));
    let month = visible["m"][0][0].as_u64().unwrap();
    let shown = photos(&data(&browser, &format!("/web/month/{month}")).await);
    assert_eq!(shown.iter().map(|(id, _)| id).collect::<Vec<_>>(), ids.iter().take(3).collect::<Vec<_>>());
    let page = browser.open("/").await.expect(200).text();
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(page.contains(&format!("/photos/{id}\"")), index < 3, "{id}");
        let status = if index < 3 { 200 } else { 404 };
        browser.open(&format!("/p/{id}/1/512.webp")).await.expect(status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_a_script_lead_through_all_photos() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let mut expected = app.seed(&anna, minutes("2024-03-10", 130)).await;
    expected.reverse();
    let ids_of = |page: &str| -> Vec<String> {
        let links = page.split("href=\"/photos/").skip(1).filter_map(|rest| rest.split(['"', '?']).next());
        links.map(str::to_owned).collect()
    };
    let link = |page: &str, rel: &str| {
        let rest = page.split(&format!("rel=\"{rel}\" href=\"")).nth(1)?;
        Some(rest.split('"').next()?.to_owned())
    };
    let (mut path, mut seen, mut pages) = ("/".to_owned(), Vec::new(), Vec::new());
    loop {
        let page = browser.open(&path).await.expect(200).text();
        seen.extend(ids_of(&page));
        pages.push(page.clone());
        match link(&page, "next") {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!(seen, expected);
    assert_eq!(pages.len(), 3);
    let newer = link(&pages[1], "prev").unwrap();
    assert_eq!(ids_of(&browser.open(&newer).await.expect(200).text()), ids_of(&pages[0]));
    assert!(pages[0].contains(">March</a> <span>130</span>"), "{}", pages[0]);
    for odd in ["/?at=x", "/?at=", "/?at=-99999999999999999999"] {
        assert_eq!(ids_of(&browser.open(odd).await.expect(200).text()), ids_of(&pages[0]), "{odd}");
    }
    let before_all = browser.open("/?at=0").await.expect(200).text();
    assert!(before_all.contains("There are no photos from before this time."), "{before_all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_private_and_cached_by_version() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, berts) = app.signed_in("bert").await;
    let id = app.seed(&anna, SeedImage::series(1)).await.remove(0);
    let month = data(&browser, "/web/months").await["m"][0][0].as_u64().unwrap();
    let version = data(&browser, &format!("/web/month/{month}")).await["v"][0].as_u64().unwrap();
    let current = format!("/p/{id}/{version}/512.webp");
    let picture = browser.open(&current).await.expect(200);
    assert_eq!(picture.header("content-type"), Some("image/webp"));
    assert_eq!(picture.header("cache-control"), Some("private, max-age=31536000, immutable"));
    assert_eq!(picture.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(picture.header("x-content-type-options"), Some("nosniff"));
    let other = browser.open(&format!("/p/{id}/{}/512.webp", version + 1)).await.expect(200);
    assert_eq!(other.header("cache-control"), Some("private, no-cache"), "its bytes may change");
    for path in [format!("/p/{id}/{version}/513.webp"), format!("/p/{id}/0{version}/512.webp"), "/p/".into()]
    {
        browser.open(&path).await.expect(404);
    }
    berts.open(&current).await.expect(404);

    // The owner still sees the picture of a photo in the trash.
    app.delete(&format!("/images/{id}"), &anna.key).await.expect(204);
    browser.open(&current).await.expect(200);
    berts.open(&current).await.expect(404);
}
