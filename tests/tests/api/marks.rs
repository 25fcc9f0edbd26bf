//! Marks: favourite, rating, keywords, archived, and changes of a photo by the image API.

use domain::{Keywords, Marks, Rating};
use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp};

fn marked(stars: u8, keywords: &[&str]) -> Marks {
    Marks {
        rating: Rating::new(stars).ok(),
        keywords: Keywords::parse(keywords.iter().copied()).unwrap(),
        ..Marks::default()
    }
}

/// An image of this second of a minute.
fn at(second: i64) -> SeedImage {
    SeedImage::at(&format!("2024-05-01T12:00:{second:02}Z"))
}

async fn one(app: &TestApp, account: &TestAccount, image: SeedImage) -> (String, String) {
    let id = app.seed(account, vec![image]).await.remove(0);
    let path = format!("/images/{id}");
    (id, path)
}

async fn record(app: &TestApp, account: &TestAccount, path: &str) -> Value {
    app.get(path, &account.key).await.expect(200).result().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_has_every_mark() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let (_, path) = one(&app, &ann, at(1)).await;
    let plain = record(&app, &ann, &path).await;
    for (name, value) in [
        ("favorite", json!(false)),
        ("rating", json!(null)),
        ("keywords", json!([])),
        ("archived", json!(false)),
        ("mediaType", json!("image")),
        ("durationMs", json!(null)),
        ("videoUrl", json!(null)),
        ("labels", json!([])),
        ("people", json!([])),
    ] {
        assert_eq!(plain[name], value, "{name}");
    }
    let (_, path) = one(&app, &ann, at(2).marks(marked(4, &["Sea", "Boat"]))).await;
    let of_file = record(&app, &ann, &path).await;
    assert_eq!((&of_file["rating"], &of_file["keywords"]), (&json!(4), &json!(["Sea", "Boat"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_made_and_null_takes_it_back() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let image = at(1).marks(marked(2, &["Sea"])).description("a harbour").position(10.0, 20.0);
    let (_, path) = one(&app, &ann, image).await;
    let before = record(&app, &ann, &path).await;
    let body = json!({
        "favorite": true, "rating": 5, "keywords": ["Boat", "boat", " Pier "], "archived": true,
        "description": "a lighthouse", "capturedAt": "2020-01-02T03:04:05Z", "utcOffset": "+02:00",
        "latitude": 38.7167, "longitude": -9.1333,
    });
    let changed = app.patch(&path, &ann.key, &body).await.expect(200).result().clone();
    for (name, value) in [
        ("favorite", json!(true)),
        ("rating", json!(5)),
        ("keywords", json!(["Boat", "Pier"])),
        ("archived", json!(true)),
        ("description", json!("a lighthouse")),
        ("capturedAt", json!("2020-01-02T03:04:05.000Z")),
        ("utcOffset", json!("+02:00")),
        ("latitude", json!(38.7167)),
        ("place", json!("Lisbon, Portugal")),
    ] {
        assert_eq!(changed[name], value, "{name}");
    }
    assert_eq!(changed["renditions"].as_object().unwrap().len(), 3);
    assert_eq!(record(&app, &ann, &path).await["favorite"], true);
    let nulls: Value = body.as_object().unwrap().keys().map(|name| (name.clone(), Value::Null)).collect();
    let reverted = app.patch(&path, &ann.key, &nulls).await.expect(200).result().clone();
    for name in
        ["favorite", "rating", "keywords", "archived", "description", "capturedAt", "utcOffset", "latitude"]
    {
        assert_eq!(reverted[name], before[name], "{name}");
    }
    // One member changes only that.
    app.patch(&path, &ann.key, &json!({"rating": 1})).await.expect(200);
    let rated = record(&app, &ann, &path).await;
    assert_eq!((&rated["rating"], &rated["keywords"]), (&json!(1), &json!(["Sea"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_change_is_refused_and_changes_nothing() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let (id, path) = one(&app, &ann, at(1)).await;
    for (body, named) in [
        (json!({}), "body"),
        (json!({"unknown": 1}), "body"),
        (json!({"rating": 0}), "rating"),
        (json!({"rating": 6, "favorite": true}), "rating"),
        (json!({"favorite": "true"}), "favorite"),
        (json!({"keywords": [7]}), "keywords"),
        (json!({"archived": 1}), "archived"),
        (json!({"capturedAt": "2024-13-01"}), "capturedAt"),
        (json!({"utcOffset": "3"}), "utcOffset"),
        (json!({"latitude": 1.0}), "longitude"),
        (json!({"latitude": 1.0, "longitude": 181.0}), "longitude"),
    ] {
        let error = app.patch(&path, &ann.key, &body).await.expect(400).error().to_owned();
        assert!(error.contains(named), "{body}: {error}");
    }
    assert_eq!(record(&app, &ann, &path).await["favorite"], false);
    let favorite = json!({"favorite": true});
    app.patch(&path, &ben.key, &favorite).await.expect(403);
    app.patch("/images/unknown", &ann.key, &favorite).await.expect(404);
    app.patch("/images/unknown", &ann.key, &json!({"rating": 9})).await.expect(400);
    app.patch(&path, "wrong", &favorite).await.expect(401);
    app.delete(&path, &ann.key).await.expect(204);
    app.patch(&path, &ann.key, &favorite).await.expect(404);
    assert!(!id.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_searches_are_filtered_by_marks_and_names() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let photo = |second: i64, place: &str| at(second).place(place).position(1.0, 2.0).description("sea");
    let of = vec![
        photo(1, "Lisbon, Portugal").marks(Marks { favorite: true, ..marked(0, &["Garden"]) }),
        photo(2, "Porto, Portugal").marks(Marks { archived: true, ..marked(0, &["garden", "Rose"]) }),
        photo(3, "Oslo, Norway").camera("Canon", "Canon EOS R5"),
    ];
    let ids = app.seed(&ann, of).await;
    for (filter, expected) in [
        ("favorite=true", vec![0]),
        ("favorite=false", vec![2, 1]),
        ("archived=true", vec![1]),
        ("archived=false", vec![2, 0]),
        ("keyword=GARDEN", vec![1, 0]),
        ("keyword=absent", vec![]),
        ("camera=r5+canon", vec![2]),
        ("camera=nikon", vec![]),
        ("place=portugal", vec![1, 0]),
        ("place=lisbon", vec![0]),
        ("place=Oslo,+Norway", vec![2]),
        ("place=Berlin", vec![]),
        ("media=photo", vec![2, 1, 0]),
        ("media=all", vec![2, 1, 0]),
        ("media=video", vec![]),
        ("people=Anna", vec![]),
        ("place=portugal&archived=false&keyword=garden&favorite=true&media=photo", vec![0]),
        ("favorite=&archived=+&keyword=&camera=&place=&media=", vec![2, 1, 0]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(|at: usize| ids[at].clone()).collect();
        assert_eq!(app.get(&format!("/images?{filter}"), &ann.key).await.ids(), expected, "{filter}");
        let found = app.get(&format!("/search?query=sea&{filter}"), &ann.key).await.ids();
        assert_eq!(found.len(), expected.len(), "{filter}");
        if !filter.starts_with("favorite=&") {
            assert_eq!(app.get(&format!("/search?{filter}"), &ann.key).await.ids(), expected, "{filter}");
        }
    }
    for (filter, named) in [
        ("favorite=yes", "favorite"),
        ("archived=1", "archived"),
        ("media=movie", "media"),
        ("media=Photo", "media"),
    ] {
        let error = app.get(&format!("/images?{filter}"), &ann.key).await.expect(400).error().to_owned();
        assert!(error.contains(named), "{filter}: {error}");
    }
}
