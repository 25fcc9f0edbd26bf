//! The tools `update_images` and `undo_changes`, the permission for them, and filters by name.

use std::{collections::BTreeSet, time::Duration};

use domain::{Keywords, Marks};
use serde_json::{Value, json};
use tests::{
    SeedImage, TestApp,
    oauth::{Authorize, Tokens, forms},
};

use super::{call, failure, payload};

const V1: &str = "/api/mcp/v1";
const V2: &str = "/api/mcp/v2";

/// An image of this second of a minute.
fn at(second: i64) -> SeedImage {
    SeedImage::at(&format!("2024-05-01T12:00:{second:02}Z"))
}

async fn records(app: &TestApp, key: &str) -> Vec<Value> {
    let mut records = app.get("/images?limit=100", key).await.expect(200).json["results"].clone();
    for record in records.as_array_mut().unwrap() {
        record["url"] = Value::Null;
    }
    records.as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_previewed_made_and_undone_as_a_whole() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(100)).await;
    let before = records(&app, &ann.key).await;
    let mut arguments = json!({"imageIds": ids, "favorite": true, "keywords": ["Trip"], "description": "at sea", "dryRun": true});
    let tried = payload(&call(&app, V1, &ann.key, "update_images", &arguments).await);
    assert_eq!((&tried["result"]["changed"], &tried["result"]["dryRun"]), (&json!(100), &json!(true)));
    assert_eq!(tried["result"]["changeId"], Value::Null);
    let first = &tried["result"]["changes"][0];
    assert_eq!(first["before"], json!({"favorite": false, "keywords": [], "description": null}));
    assert_eq!(first["after"], json!({"favorite": true, "keywords": ["Trip"], "description": "at sea"}));
    assert_eq!(records(&app, &ann.key).await, before);
    arguments["dryRun"] = json!(false);
    let made = payload(&call(&app, V2, &ann.key, "update_images", &arguments).await);
    let change = made["result"]["changeId"].clone();
    assert_eq!((&made["result"]["changed"], &made["result"]["unchanged"]), (&json!(100), &json!(0)));
    assert!(records(&app, &ann.key).await.iter().all(|record| record["favorite"] == true));
    let again = payload(&call(&app, V1, &ann.key, "update_images", &arguments).await);
    assert_eq!((&again["result"]["changed"], &again["result"]["unchanged"]), (&json!(0), &json!(100)));
    let undone = payload(&call(&app, V1, &ann.key, "undo_changes", &json!({"changeId": change})).await);
    assert_eq!(undone["result"]["undone"], 100);
    assert_eq!(records(&app, &ann.key).await, before);
    let text =
        failure(&call(&app, V1, &ann.key, "undo_changes", &json!({"changeId": change})).await).to_owned();
    assert!(text.contains("nothing to undo"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_images_are_changed_and_undone_in_any_order() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(1000)).await;
    // Marks of their own, which the undo has to give back.
    for (part, rating) in ids.chunks(100).zip(1..) {
        let own = json!({"imageIds": part, "rating": rating % 5 + 1, "keywords": [format!("Own {rating}")], "latitude": rating, "longitude": 8});
        payload(&call(&app, V1, &ann.key, "update_images", &own).await);
    }
    let all = async || {
        let mut whole = Vec::new();
        for id in &ids {
            let mut image =
                app.get(&format!("/images/{id}"), &ann.key).await.expect(200).json["result"].clone();
            for url in ["url", "renditions"] {
                image.as_object_mut().unwrap().remove(url);
            }
            whole.push(image);
        }
        whole
    };
    let before = all().await;
    let mut changes = Vec::new();
    for part in ids.chunks(100) {
        let arguments = json!({
            "imageIds": part, "favorite": true, "rating": 4, "keywords": ["Tidy", "Own 3"], "archived": true,
            "description": "tidied", "utcOffset": "+02:00", "latitude": 38.7223, "longitude": -9.1393,
        });
        let made = payload(&call(&app, V1, &ann.key, "update_images", &arguments).await);
        assert_eq!(made["result"]["changed"], 100);
        changes.push(made["result"]["changeId"].clone());
    }
    let tidied =
        app.get("/images?limit=100&keyword=tidy&favorite=true&archived=true", &ann.key).await.expect(200);
    assert_eq!(tidied.json["results"].as_array().unwrap().len(), 100);
    // Every second one first, then the others.
    let (odd, even): (Vec<_>, Vec<_>) = changes.iter().enumerate().partition(|(place, _)| place % 2 == 1);
    for (_, change) in odd.into_iter().chain(even) {
        let undone = call(&app, V1, &ann.key, "undo_changes", &json!({"changeId": change})).await;
        assert_eq!(payload(&undone)["result"]["undone"], 100);
    }
    assert_eq!(all().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_changes_change_nothing() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let foreign = app.seed(&ben, SeedImage::series(1)).await;
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    for (arguments, named) in [
        (json!({"favorite": true}), "imageIds"),
        (json!({"imageIds": [], "favorite": true}), "imageIds"),
        (json!({"imageIds": many, "favorite": true}), "imageIds"),
        (json!({"imageIds": ids}), "imageIds"),
        (json!({"imageIds": ids, "rating": 9}), "rating"),
        (json!({"imageIds": ids, "latitude": 1}), "longitude"),
        (json!({"imageIds": ids, "favorite": true, "dryRun": "yes"}), "dryRun"),
        (json!({"imageIds": [ids[0], "unknown"], "favorite": true}), "nothing was changed"),
        (json!({"imageIds": [ids[0], "../x"], "favorite": true}), "nothing was changed"),
        (json!({"imageIds": [ids[0], foreign[0]], "favorite": true}), "another account"),
    ] {
        let text = failure(&call(&app, V1, &ann.key, "update_images", &arguments).await).to_owned();
        assert!(text.contains(named), "{arguments}: {text}");
    }
    assert!(records(&app, &ann.key).await.iter().all(|record| record["favorite"] == false));
    // Another account's change cannot be undone.
    let made = call(&app, V1, &ben.key, "update_images", &json!({"imageIds": foreign, "rating": 3})).await;
    let change = payload(&made)["result"]["changeId"].clone();
    failure(&call(&app, V1, &ann.key, "undo_changes", &json!({"changeId": change})).await);
    assert_eq!(records(&app, &ben.key).await[0]["rating"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_edits_only_with_the_permission_of_its_grant() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let ids = app.seed(&ann, SeedImage::series(1)).await;
    let client = app.public_client().await;
    let browser = app.browser().signed_in(&ann).await;
    let arguments = json!({"imageIds": ids, "favorite": true});

    let plain = app.tokens(&client, &ann).await;
    let text = failure(&call(&app, V1, &plain.access, "update_images", &arguments).await).to_owned();
    assert!(text.contains("/account/apps"), "{text}");
    failure(&call(&app, V1, &plain.access, "undo_changes", &json!({"changeId": "x"})).await);
    // The result tells the photo app whether it may edit.
    let may_edit = async |token: &str| {
        let shown = call(&app, V1, token, "show_images", &json!({"imageIds": ids})).await;
        shown["_meta"]["photo-library/mayEdit"] == true
    };
    assert!(!may_edit(&plain.access).await && may_edit(&ann.key).await);

    let path = Authorize::of(&app, &client).path();
    let page = browser.open(&path).await.expect(200);
    assert!(page.text().contains("edit details"));
    let form = forms(&page.text()).remove(0);
    assert!(!form.fields.contains_key("edit_details"), "it is not set by default");
    let fields = [("decision", "allow"), ("edit_details", "yes")];
    let code = browser.submit(&path, &form, &fields).await.expect(303).code();
    let tokens = Tokens::read(&app.redeem(&client, &code).await);
    let made = payload(&call(&app, V1, &tokens.access, "update_images", &arguments).await);
    assert_eq!(made["result"]["changed"], 1);
    assert!(may_edit(&tokens.access).await);

    // The change is listed with the app's name and can be undone there.
    let page = browser.open("/account/changes").await.expect(200).text();
    assert!(page.contains("Test app"), "{page}");
    let undo = forms(&page).into_iter().find(|form| form.action == "/account/changes/undo").unwrap();
    browser.submit("/account/changes", &undo, &[]).await.expect(303);
    assert_eq!(records(&app, &ann.key).await[0]["favorite"], false);

    // The permission is taken away between two calls.
    let page = browser.open("/account/apps").await.expect(200).text();
    let forbid = forms(&page).into_iter().find(|form| form.action == "/account/apps/forbid-edits").unwrap();
    browser.submit("/account/apps", &forbid, &[]).await.expect(303);
    failure(&call(&app, V1, &tokens.access, "update_images", &arguments).await);
    let page = browser.open("/account/apps").await.expect(200).text();
    let allow: Vec<_> =
        forms(&page).into_iter().filter(|form| form.action == "/account/apps/allow-edits").collect();
    assert_eq!(allow.len(), 2);
    for form in allow {
        browser.submit("/account/apps", &form, &[]).await.expect(303);
    }
    for tokens in [plain, tokens] {
        call(&app, V1, &tokens.access, "list_images", &json!({})).await;
        payload(&call(&app, V1, &tokens.access, "update_images", &arguments).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn older_changes_are_on_further_pages() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let ids = app.seed(&ann, SeedImage::series(1)).await;
    for number in 0..205 {
        let arguments = json!({"imageIds": ids, "description": format!("{number}")});
        payload(&call(&app, V1, &ann.key, "update_images", &arguments).await);
        app.advance(Duration::from_millis(1));
    }
    let browser = app.browser().signed_in(&ann).await;
    let mut path = "/account/changes".to_owned();
    let mut counts = Vec::new();
    let mut changes = BTreeSet::new();
    loop {
        let page = browser.open(&path).await.expect(200).text();
        let listed = forms(&page).into_iter().filter(|form| form.action == "/account/changes/undo");
        let listed: Vec<_> = listed.map(|form| form.fields["change"].clone()).collect();
        counts.push(listed.len());
        changes.extend(listed);
        let Some((before, _)) = page.split_once(">Older changes<") else { break };
        path = before.rsplit_once("href=\"").unwrap().1.trim_end_matches('"').to_owned();
    }
    assert_eq!((counts, changes.len()), (vec![100, 100, 5], 205));
    for bad in ["x", "-1", "99999999999999999999"] {
        browser.open(&format!("/account/changes?before={bad}")).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_understood_or_the_nearest_are_offered() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let of = vec![
        at(0).place("Lisbon, Portugal").marks(Marks {
            favorite: true,
            keywords: Keywords::parse(["Garden"]).unwrap(),
            ..Marks::default()
        }),
        at(1).place("Porto, Portugal").camera("Canon", "Canon EOS R5"),
        at(2).place("Oslo, Norway"),
    ];
    let ids = app.seed(&ann, of).await;
    for title in ["Garden", "Twice", "twice"] {
        app.post("/albums", &ann.key, &json!({"title": title, "imageIds": ids[..2]})).await.expect(201);
    }
    for (arguments, expected, interpreted) in [
        (json!({"place": "lisbon"}), vec![0], json!({"place": ["Lisbon, Portugal"]})),
        (json!({"place": "Portugal"}), vec![1, 0], json!({"country": ["Portugal"]})),
        (json!({"camera": "r5"}), vec![1], json!({"camera": ["Canon EOS R5"]})),
        (json!({"keyword": "garden"}), vec![0], json!({"keyword": "Garden"})),
        (json!({"favorite": true}), vec![0], Value::Null),
        (json!({"archived": false, "favorite": false}), vec![2, 1], Value::Null),
        (
            json!({"place": "portugal", "keyword": "garden"}),
            vec![0],
            json!({"keyword": "Garden", "country": ["Portugal"]}),
        ),
    ] {
        for tool in ["list_images", "search_images", "show_images"] {
            let found = payload(&call(&app, V1, &ann.key, tool, &arguments).await);
            let found_ids: Vec<&str> = found["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|image| image["id"].as_str().unwrap())
                .collect();
            let expected: Vec<&str> = expected.iter().map(|at: &usize| ids[*at].as_str()).collect();
            assert_eq!((found_ids, &found["interpreted"]), (expected, &interpreted), "{tool} {arguments}");
        }
    }
    let album = payload(&call(&app, V1, &ann.key, "list_images", &json!({"album": "GARDEN"})).await);
    assert_eq!(album["interpreted"]["album"]["title"], "Garden");
    assert_eq!(album["results"].as_array().unwrap().len(), 2);
    for (arguments, named) in [
        (json!({"place": "Lisbonn"}), "Lisbon, Portugal"),
        (json!({"place": "Nairobi"}), "No name in it is similar"),
        (json!({"camera": "cannon"}), "Canon EOS R5"),
        (json!({"keyword": "gardem"}), "Garden"),
        (json!({"album": "Gardn"}), "Garden"),
        (json!({"album": "Twice"}), "Several albums"),
        (json!({"month": "June"}), "month"),
        (json!({"media": "movie"}), "media"),
    ] {
        let text = failure(&call(&app, V1, &ann.key, "search_images", &arguments).await).to_owned();
        assert!(text.contains(named), "{arguments}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_is_that_of_the_clock() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(1)).await;
    // 30 June, 22:30 by the clock.
    let evening = json!({"capturedAt": "2024-07-01T02:30:00Z", "utcOffset": "-04:00"});
    app.patch(&format!("/images/{}", ids[0]), &ann.key, &evening).await.expect(200);
    for (month, finds) in [("2024-06", 1), ("2024-07", 0), ("2024", 1), ("2023", 0)] {
        let found = payload(&call(&app, V1, &ann.key, "list_images", &json!({"month": month})).await);
        assert_eq!(found["results"].as_array().unwrap().len(), finds, "{month}");
    }
}
