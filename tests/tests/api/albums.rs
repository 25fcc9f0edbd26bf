//! Albums: creating, reading, renaming, deleting.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tests::{SeedImage, TestAccount, TestApp, TestResponse};

async fn create(app: &TestApp, account: &TestAccount, body: &Value) -> TestResponse {
    app.post("/albums", &account.key, body).await
}

fn path(answer: &TestResponse) -> String {
    format!("/albums/{}", answer.result()["id"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_is_created_read_listed_and_deleted_and_its_images_stay() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(3)).await;
    let empty = create(&app, &ann, &json!({"title": "Empty"})).await.expect(201);
    assert_eq!(empty.result()["imageCount"], 0);
    app.advance(Duration::from_secs(1));
    let full = create(&app, &ann, &json!({"title": "Full", "imageIds": [ids[2], ids[0]]})).await.expect(201);
    assert_eq!(full.result()["title"], "Full");
    assert_eq!(full.result()["imageCount"], 2);

    assert_eq!(app.get(&path(&full), &ann.key).await.expect(200).json, full.json);
    let listed = app.get("/albums", &ann.key).await;
    assert_eq!(listed.results(), [full.result().clone(), empty.result().clone()]);

    assert!(app.delete(&path(&full), &ann.key).await.expect(204).body.is_empty());
    app.get(&path(&full), &ann.key).await.expect(404).error();
    app.delete(&path(&full), &ann.key).await.expect(404).error();
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 1);
    assert_eq!(app.get("/images", &ann.key).await.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn titles_have_1_to_100_characters_after_trimming() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let album = create(&app, &ann, &json!({"title": "t"})).await;
    for (title, expect) in [
        ("  Sommer 2024\n", "Sommer 2024"),
        ("x", "x"),
        (&"é".repeat(100), &"é".repeat(100)),
        (&"🏔".repeat(100), &"🏔".repeat(100)),
        (&format!("\u{3000}{} ", "x".repeat(100)), &"x".repeat(100)),
        ("<b>\"'&", "<b>\"'&"),
    ] {
        assert_eq!(create(&app, &ann, &json!({"title": title})).await.expect(201).result()["title"], expect);
        let changed = app.patch(&path(&album), &ann.key, &json!({"title": title})).await.expect(200);
        assert_eq!(changed.result()["title"], expect);
    }
    let before = app.get("/albums", &ann.key).await.json;
    for title in ["", "   ", "\u{3000}\n", &"x".repeat(101), &"🏔".repeat(101), "a\0b"] {
        let body = json!({"title": title});
        assert!(create(&app, &ann, &body).await.expect(400).error().contains("title"), "{title:?}");
        let changed = app.patch(&path(&album), &ann.key, &body).await.expect(400);
        assert!(changed.error().contains("title"), "{title:?}");
    }
    assert_eq!(app.get("/albums", &ann.key).await.json, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_body_is_400_and_the_message_names_the_field() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let album = path(&create(&app, &ann, &json!({"title": "t"})).await);
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    for (body, field) in [
        (json!({}), "title"),
        (json!({"imageIds": []}), "title"),
        (json!({"title": null}), "title"),
        (json!({"title": 1}), "title"),
        (json!({"title": ["t"]}), "title"),
        (json!({"title": "t", "imageIds": "x"}), "imageIds"),
        (json!({"title": "t", "imageIds": [1]}), "imageIds"),
        (json!({"title": "t", "imageIds": {"a": "b"}}), "imageIds"),
        (json!({"title": "t", "imageIds": many}), "imageIds"),
        (json!([]), "body"),
        (json!("title"), "body"),
        (json!(null), "body"),
    ] {
        let answer = create(&app, &ann, &body).await.expect(400);
        assert!(answer.error().contains(field), "{body}: {}", answer.error());
    }
    for (body, field) in [
        (json!({}), "title"),
        (json!({"unknown": 1}), "title"),
        (json!({"title": 1}), "title"),
        (json!({"addImageIds": "x"}), "addImageIds"),
        (json!({"addImageIds": [null]}), "addImageIds"),
        (json!({"removeImageIds": 5}), "removeImageIds"),
        (json!({"removeImageIds": many}), "removeImageIds"),
        (json!({"addImageIds": ["a", "b"], "removeImageIds": ["b"]}), "addImageIds"),
        (json!([{"title": "t"}]), "body"),
    ] {
        let answer = app.patch(&album, &ann.key, &body).await.expect(400);
        assert!(answer.error().contains(field), "{body}: {}", answer.error());
    }
    for text in ["", "{", "{\"title\": \"t\"", "title=t", "{\"title\": \"\u{0}\"}", "nonsense"] {
        for (method, target) in [(Method::POST, "/albums"), (Method::PATCH, album.as_str())] {
            let request = app.call(method, target, &ann.key).header("content-type", "application/json");
            let answer = app.send(request.body(text)).await.expect(400);
            assert!(answer.error().contains("body"), "{text}: {}", answer.error());
        }
    }
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_of_a_body_are_ignored_and_null_is_absent() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let body = json!({"title": "t", "imageIds": null, "colour": "red", "id": "mine"});
    let album = create(&app, &ann, &body).await.expect(201);
    assert_ne!(album.result()["id"], "mine");
    let body = json!({"title": "u", "addImageIds": null, "removeImageIds": null, "imageCount": 9});
    assert_eq!(app.patch(&path(&album), &ann.key, &body).await.expect(200).result()["title"], "u");
    app.patch(&path(&album), &ann.key, &json!({"title": null, "addImageIds": null})).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_at_most_500_albums() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let mut first = None;
    for _ in 0..500 {
        let album = create(&app, &ann, &json!({"title": "t"})).await.expect(201);
        first.get_or_insert(path(&album));
    }
    assert!(create(&app, &ann, &json!({"title": "t"})).await.expect(409).error().contains("500"));
    // The body is checked first, then the account, then the ids.
    create(&app, &ann, &json!({"title": ""})).await.expect(400);
    create(&app, &ann, &json!({"title": "t", "imageIds": ["unknown"]})).await.expect(409);
    create(&app, &ben, &json!({"title": "t"})).await.expect(201);
    let last = app.get("/albums?offset=499", &ann.key).await;
    assert_eq!((last.ids().len(), &last.json["pagination"]["total"]), (1, &json!(500)));
    app.delete(&first.unwrap(), &ann.key).await.expect(204);
    create(&app, &ann, &json!({"title": "t"})).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn updated_at_changes_with_title_and_images_and_created_at_stays() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-05-01")).await;
    let album = path(&create(&app, &ann, &json!({"title": "t"})).await);
    let mut expect = tests::START_TIME.to_owned();
    for (minute, body, moves) in [
        (1, json!({"title": "u"}), true),
        (2, json!({"title": "u"}), false),
        (3, json!({"addImageIds": [id]}), true),
        (4, json!({"addImageIds": [id]}), false),
        (5, json!({"removeImageIds": [id]}), true),
        (6, json!({"removeImageIds": [id]}), false),
        (7, json!({"addImageIds": []}), false),
    ] {
        app.advance(Duration::from_secs(60));
        if moves {
            expect = format!("2024-06-01T12:{minute:02}:00.000Z");
        }
        let changed = app.patch(&album, &ann.key, &body).await.expect(200);
        assert_eq!(changed.result()["updatedAt"], expect, "{body}");
        assert_eq!(changed.result()["createdAt"], tests::START_TIME);
    }
}
