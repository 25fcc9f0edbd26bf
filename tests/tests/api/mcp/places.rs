//! Filters by place: cities, regions and countries, as people write them.

use serde_json::{Value, json};
use tests::{TestAccount, TestApp};

use super::{call, failure, payload};

/// Imported photos, in the order of the files, which get these positions.
async fn placed<const N: usize>(
    app: &TestApp,
    ann: &TestAccount,
    photos: [(&str, f64, f64); N],
) -> [String; N] {
    let names = photos.map(|(file, ..)| file);
    let ids = app.import_fixtures(ann, &names).await;
    for (file, latitude, longitude) in photos {
        let id = &ids[file.rsplit('/').next().unwrap()];
        let position = json!({"latitude": latitude, "longitude": longitude});
        app.patch(&format!("/images/{id}"), &ann.key, &position).await.expect(200);
    }
    names.map(|file| ids[file.rsplit('/').next().unwrap()].clone())
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

const MUNICH: (f64, f64) = (48.1372, 11.5756);
const LISBON: (f64, f64) = (38.7223, -9.1393);

#[tokio::test(flavor = "multi_thread")]
async fn photos_are_found_by_city_region_and_country_in_any_language() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let files = ["samples/wisteria.jpg", "samples/autumn-leaf.jpg", "media/grey.jpg"];
    let [munich, lisbon, new_york] = placed(
        &app,
        &ann,
        [(files[0], MUNICH.0, MUNICH.1), (files[1], LISBON.0, LISBON.1), (files[2], 40.7128, -74.006)],
    )
    .await;
    let bens = placed(&app, &ben, [(files[0], 35.6586, 139.7454)]).await;
    let place = |city: &str| json!({"place": [city]});
    let (bavaria, germany) = ("Bavaria, Germany", "Munich, Germany");
    for (written, expected, interpreted) in [
        ("Munich", &munich, place(germany)),
        ("München", &munich, place(germany)),
        ("Munich, Bavaria", &munich, json!({"place": [germany], "region": [bavaria]})),
        ("münchen, bayern, deutschland", &munich, json!({"place": [germany], "region": [bavaria]})),
        ("Munich, Germany", &munich, place(germany)),
        ("Bavaria", &munich, json!({"region": [bavaria]})),
        ("Bayern", &munich, json!({"region": [bavaria]})),
        ("Бавария", &munich, json!({"region": [bavaria]})),
        ("Bayern, Allemagne", &munich, json!({"region": [bavaria]})),
        ("Germany", &munich, json!({"country": ["Germany"]})),
        ("Deutschland", &munich, json!({"country": ["Germany"]})),
        ("ドイツ", &munich, json!({"country": ["Germany"]})),
        ("Lisboa", &lisbon, place("Lisbon, Portugal")),
        ("Lisbon", &lisbon, place("Lisbon, Portugal")),
        ("New York", &new_york, place("New York City, United States")),
        ("USA", &new_york, json!({"country": ["United States"]})),
    ] {
        let query = encoded(written);
        for path in ["/images", "/search"] {
            let found = app.get(&format!("{path}?place={query}"), &ann.key).await.expect(200).ids();
            assert_eq!(found, std::slice::from_ref(expected), "{path} {written}");
        }
        for tool in ["list_images", "search_images", "show_images"] {
            let found = payload(&call(&app, "/api/mcp/v1", &ann.key, tool, &json!({"place": written})).await);
            let ids: Vec<&str> = found["results"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|image| image["id"].as_str())
                .collect();
            assert_eq!(
                (ids, &found["interpreted"]),
                (vec![expected.as_str()], &interpreted),
                "{tool} {written}"
            );
        }
    }
    // Photos of others are neither found nor offered.
    let query = encoded("東京");
    assert_eq!(app.get(&format!("/images?place={query}"), &ann.key).await.expect(200).ids(), [""; 0]);
    assert_eq!(app.get(&format!("/images?place={query}"), &ben.key).await.expect(200).ids(), bens);
    for (written, offered) in
        [("Bavria", "Bavaria, Germany"), ("Portugl", "Portugal"), ("Tokyo", "No name in it is similar")]
    {
        let text =
            failure(&call(&app, "/api/mcp/v1", &ann.key, "list_images", &json!({"place": written})).await)
                .to_owned();
        assert!(text.contains(offered), "{written}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_region_follows_the_position_of_a_photo() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let [id] = placed(&app, &ann, [("samples/wisteria.jpg", MUNICH.0, MUNICH.1)]).await;
    let check = async |expected: &[&str]| {
        for name in ["Bavaria", "Germany", "Lisbon,+Portugal", "Portugal"] {
            let found = app.get(&format!("/images?place={name}"), &ann.key).await.expect(200).ids();
            assert_eq!(found.len(), usize::from(expected.contains(&name)), "{name}");
        }
    };
    let path = format!("/images/{id}");
    check(&["Bavaria", "Germany"]).await;
    app.patch(&path, &ann.key, &json!({"latitude": LISBON.0, "longitude": LISBON.1})).await.expect(200);
    check(&["Lisbon,+Portugal", "Portugal"]).await;
    app.patch(&path, &ann.key, &json!({"latitude": Value::Null, "longitude": Value::Null})).await.expect(200);
    check(&[]).await;
    let moved = json!({"imageIds": [id], "latitude": MUNICH.0, "longitude": MUNICH.1});
    let made = payload(&call(&app, "/api/mcp/v1", &ann.key, "update_images", &moved).await);
    check(&["Bavaria", "Germany"]).await;
    let undo = json!({"changeId": made["result"]["changeId"]});
    payload(&call(&app, "/api/mcp/v1", &ann.key, "undo_changes", &undo).await);
    check(&[]).await;
    app.patch(&path, &ann.key, &json!({"latitude": MUNICH.0, "longitude": MUNICH.1})).await.expect(200);
    app.delete(&path, &ann.key).await.expect(204);
    check(&[]).await;
}
