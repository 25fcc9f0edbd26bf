//! The map and its data, without JavaScript.

use domain::Plan;
use serde_json::Value;
use tests::{SeedImage, TestApp};

/// Photos at these places, the first the oldest.
fn at_places(places: &[(f64, f64)]) -> Vec<SeedImage> {
    let minutes = 0..places.len();
    let at = |minute| SeedImage::at(&format!("2024-07-14T10:{minute:02}:00Z"));
    minutes.zip(places).map(|(minute, (lat, lon))| at(minute).position(*lat, *lon)).collect()
}

/// The addresses of all links whose text or label contains these words.
fn links(html: &str, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in html.split("<a ").skip(1) {
        let link = part.split("</a>").next().unwrap_or(part);
        let head = link.split('>').next().unwrap_or(link);
        let text = link.split('>').nth(1).unwrap_or_default();
        if head.contains(words) || text.contains(words) {
            let href = head.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            found.push(href.replace("&amp;", "&"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_first_shows_all_photos_and_links_to_each() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let lisbon = (38.7223, -9.1393);
    let ids = app.seed(&anna, at_places(&[lisbon, lisbon, (41.15, -8.61), (48.8566, 2.3522)])).await;
    let world = browser.open("/map").await.expect(200).text();
    assert!(world.contains("id=\"world\"") && world.contains("class=\"land\""), "{world}");
    assert!(world.contains("href=\"/map\" aria-current=\"page\""));
    let in_lisbon = links(&world, "2 photos near Lisbon");
    assert_eq!(in_lisbon.len(), 2, "on the map and in the list: {world}");
    assert_eq!(links(&world, "1 photo near Paris").len(), 2);
    for id in &ids {
        assert!(world.contains(&format!("href=\"/photos/{id}?back=%2Fmap%3F")), "{id}");
    }

    // The page shows the photos at this spot and no others.
    let spot = browser.open(&in_lisbon[0]).await.expect(200).text();
    for (id, is_there) in ids.iter().zip([true, true, false, false]) {
        assert_eq!(spot.contains(&format!("href=\"/photos/{id}?back=%2Fmap%3F")), is_there, "{id} in {spot}");
    }
    assert!(spot.contains("Photos of this place"));

    let closer = links(&world, "Zoom in").remove(0);
    let closer = browser.open(&closer).await.expect(200).text();
    for label in ["Zoom in", "Zoom out", "Move north", "Move west", "Move east", "Move south"] {
        let href = links(&closer, label).remove(0);
        browser.open(&href).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_without_places_says_how_to_add_them() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    app.seed(&anna, vec![SeedImage::at("2024-07-14T10:00:00Z")]).await;
    let page = browser.open("/map").await.expect(200).text();
    assert!(page.contains("No photo has a place yet") && page.contains("Edit"), "{page}");
    let elsewhere = browser.open("/map?z=6&lat=10&lon=10").await.expect(200).text();
    assert!(elsewhere.contains("There are no photos here"), "{elsewhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_are_served_as_json_for_the_script() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app.seed(&anna, at_places(&[(38.7223, -9.1393), (38.7224, -9.1393), (-17.0, 179.9)])).await;
    let data = browser.open("/web/map?z=3&bbox=-30,20,30,60").await.expect(200);
    assert!(data.header("content-type").unwrap().starts_with("application/json"));
    let data: Value = serde_json::from_str(&data.text()).unwrap();
    let clusters = data["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 1, "{data}");
    let cluster = &clusters[0];
    assert_eq!((cluster["count"].as_u64(), cluster["label"].as_str()), (Some(2), Some("Lisbon")));
    assert_eq!(cluster["id"].as_str(), Some(ids[1].as_str()));
    assert!((cluster["lat"].as_f64().unwrap() - 38.72).abs() < 0.01, "{data}");
    // The script shows the same link as the page. The link leads to the photos, not to a closer map, because they are at one spot.
    let link = cluster["link"].as_str().unwrap();
    assert!(link.starts_with("<a ") && link.contains("aria-label=\"2 photos near Lisbon\""), "{link}");
    let spot = browser.open(&links(link, "Lisbon")[0]).await.expect(200).text();
    assert!(spot.contains("Photos of this place") && spot.contains(&format!("/photos/{}", ids[0])), "{spot}");
    let sized = browser.open("/web/map?z=3&lat=38.7&lon=-9.1&w=800&h=600").await.expect(200).text();
    assert!(sized.contains("2 photos near Lisbon") && !sized.contains(ids[2].as_str()), "{sized}");
    let corner = |index: usize| cluster["bbox"][index].as_f64().unwrap();
    assert!(corner(0) <= -9.1393 && corner(2) >= -9.1393 && corner(1) <= 38.7223 && corner(3) >= 38.7224);
    let fiji = browser.open("/web/map?z=4&bbox=170,-30,-170,0").await.expect(200).text();
    assert!(fiji.contains(&format!("\"id\":\"{}\"", ids[2])), "{fiji}");

    for (query, parameter) in [
        ("bbox=-30,20,30,60", "z"),
        ("z=3", "bbox"),
        ("z=99&bbox=-30,20,30,60", "z"),
        ("z=3&bbox=-30,20,30", "bbox"),
        ("z=3&bbox=-30,60,30,20", "bbox"),
        ("z=3&bbox=-190,20,30,60", "bbox"),
    ] {
        let refused = browser.open(&format!("/web/map?{query}")).await.expect(400).text();
        assert!(refused.contains(&format!("\"error\":\"{parameter}")), "{query}: {refused}");
    }
    for query in ["z=99", "lat=1", "z=3&lat=91&lon=0", "bbox=1,2,3", "before=x"] {
        let page = browser.open(&format!("/map?{query}")).await.expect(400).text();
        assert!(page.contains("Show the map of all photos"), "{query}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_of_a_pin_is_drawn_around_a_place_and_names_it() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let data = |query: &str| {
        let path = format!("/web/map/pin?{query}");
        let browser = &browser;
        async move { serde_json::from_str::<Value>(&browser.open(&path).await.expect(200).text()).unwrap() }
    };
    let porto = data("at=41.15,-8.61").await;
    assert_eq!(porto["place"], "Porto, Portugal");
    assert!(porto["ground"].is_null());
    let view = data("z=9&lat=41.15&lon=-8.61&at=0,-150").await;
    assert!(view["place"].is_null());
    let ground = &view["ground"];
    assert!(
        ground["svg"].as_str().is_some_and(|svg| svg.contains("pin-shape") && svg.contains("Porto")),
        "{view}"
    );
    assert_eq!(ground["zoom"].as_f64(), Some(9.0));
    assert!((ground["x"].as_f64().unwrap() - 0.47608).abs() < 1e-4, "{view}");
    let pole = data("z=3&lat=90&lon=180").await;
    assert!(pole["ground"]["y"].as_f64().is_some_and(|y| y > 0.0 && y < 0.1), "{pole}");
    for query in ["", "at=41", "at=91,0", "at=x,y", "z=3", "z=99&lat=1&lon=1"] {
        browser.open(&format!("/web/map/pin?{query}")).await.expect(400);
    }
    app.browser().open("/web/map/pin?at=41.15,-8.61").await.expect(401);

    // The form of a photo without a place begins at its neighbour, without any place at the world.
    let seeds = at_places(&[(41.15, -8.61)]).into_iter().chain([SeedImage::at("2024-07-14T11:00:00Z")]);
    let ids = app.seed(&anna, seeds.collect::<Vec<_>>()).await;
    let form = browser.open(&format!("/photos/{}/edit", ids[1])).await.expect(200).text();
    assert!(form.contains("data-map=\"z=9&amp;lat=41.15"), "{form}");
    let (ben, other) = app.signed_in("ben").await;
    let ids = app.seed(&ben, vec![SeedImage::at("2024-07-14T11:00:00Z")]).await;
    let form = other.open(&format!("/photos/{}/edit", ids[0])).await.expect(200).text();
    assert!(form.contains("data-map=\"z=0.6&amp;lat=15&amp;lon=0"), "{form}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_sees_the_photos_of_a_map() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("ben").await;
    let visitor = app.browser();
    app.seed(&anna, at_places(&[(38.7223, -9.1393)])).await;
    let everywhere = "/web/map?z=2&bbox=-180,-85,180,85";
    assert!(browser.open(everywhere).await.expect(200).text().contains("Lisbon"));
    assert!(!other.open(everywhere).await.expect(200).text().contains("Lisbon"));
    visitor.open(everywhere).await.expect(401);
    let redirect = visitor.open("/map?z=3&lat=1&lon=2").await.expect(302);
    assert_eq!(redirect.header("location"), Some("/sign-in?return_to=/map%3Fz%3D3%26lat%3D1%26lon%3D2"));
    app.set_plan(&anna, Plan::Free).await;
    assert!(browser.open(everywhere).await.expect(200).text().contains("Lisbon"));
}
