//! The images of albums.

use serde_json::json;
use tests::{SeedImage, TestAccount, TestApp};

async fn album(app: &TestApp, account: &TestAccount, ids: &[String]) -> String {
    let album = app.post("/albums", &account.key, &json!({"title": "t", "imageIds": ids})).await.expect(201);
    album.result()["id"].as_str().unwrap().to_owned()
}

async fn contents(app: &TestApp, account: &TestAccount, album: &str) -> Vec<String> {
    app.get(&format!("/search?albumId={album}&limit=100"), &account.key).await.ids()
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_added_and_removed_in_one_call() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(4)).await;
    let album = album(&app, &ann, &ids[..2]).await;
    let body = json!({"title": "u", "addImageIds": [ids[3], ids[2]], "removeImageIds": [ids[0]]});
    let changed = app.patch(&format!("/albums/{album}"), &ann.key, &body).await.expect(200);
    assert_eq!((&changed.result()["title"], &changed.result()["imageCount"]), (&json!("u"), &json!(3)));
    assert_eq!(contents(&app, &ann, &album).await, ids[1..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn adding_twice_and_removing_an_absent_image_succeed() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let album = album(&app, &ann, &[ids[0].clone(), ids[0].clone()]).await;
    let path = format!("/albums/{album}");
    for body in [
        json!({"addImageIds": [ids[0], ids[0]]}),
        json!({"removeImageIds": [ids[1], ids[1]]}),
        json!({"addImageIds": [ids[0]], "removeImageIds": [ids[1]]}),
        json!({"addImageIds": [], "removeImageIds": []}),
    ] {
        let changed = app.patch(&path, &ann.key, &body).await.expect(200);
        assert_eq!(changed.result()["imageCount"], 1, "{body}");
    }
    assert_eq!(contents(&app, &ann, &album).await, ids[..1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_has_at_most_100_ids_added_and_removed_together() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(120)).await;
    let created =
        app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": ids[..100]})).await.expect(201);
    assert_eq!(created.result()["imageCount"], 100);
    let path = format!("/albums/{}", created.result()["id"].as_str().unwrap());
    let repeated = |count: usize| vec![&ids[0]; count];
    for (body, status) in [
        (json!({"addImageIds": ids[20..], "removeImageIds": []}), 200),
        (json!({"addImageIds": ids[..60], "removeImageIds": ids[60..100]}), 200),
        (json!({"addImageIds": repeated(100)}), 200),
        (json!({"addImageIds": ids[..60], "removeImageIds": ids[60..101]}), 400),
        (json!({"addImageIds": ids[..101]}), 400),
        (json!({"removeImageIds": ids[..101]}), 400),
        (json!({"addImageIds": repeated(101)}), 400),
        (json!({"addImageIds": repeated(60), "removeImageIds": vec![&ids[1]; 41]}), 400),
    ] {
        app.patch(&path, &ann.key, &body).await.expect(status);
    }
    for too_many in [json!(ids[..101]), json!(repeated(101))] {
        let answer = app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": too_many})).await;
        assert!(answer.expect(400).error().contains("imageIds"));
    }
    app.post("/albums", &ann.key, &json!({"title": "t", "imageIds": repeated(100)})).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_in_both_lists_is_400_and_nothing_changes() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(2)).await;
    let album = album(&app, &ann, &ids[..1]).await;
    let body = json!({"addImageIds": ids, "removeImageIds": [ids[0]], "title": "u"});
    app.patch(&format!("/albums/{album}"), &ann.key, &body).await.expect(400).error();
    assert_eq!(contents(&app, &ann, &album).await, ids[..1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_id_is_403_before_an_unknown_one_is_404_and_nothing_changes() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let ids = app.seed(&ann, SeedImage::series(3)).await;
    let foreign = app.seed(&ben, SeedImage::series(2)).await;
    app.delete(&format!("/images/{}", foreign[1]), &ben.key).await.expect(204);
    let (unknown, theirs, deleted) = (json!("unknown"), json!(foreign[0]), json!(foreign[1]));
    let album = album(&app, &ann, &ids[..1]).await;
    let path = format!("/albums/{album}");
    let before = app.get(&path, &ann.key).await.json;
    let mine = json!(ids[1]);
    for (status, list) in [
        (403, vec![&mine, &theirs]),
        (403, vec![&unknown, &theirs]),
        (403, vec![&theirs, &unknown]),
        (404, vec![&mine, &unknown]),
        (404, vec![&deleted, &mine]),
        (404, vec![&json!("not an id"), &mine]),
        (404, vec![&json!(""), &mine]),
    ] {
        let created = app.post("/albums", &ann.key, &json!({"title": "new", "imageIds": list})).await;
        created.expect(status).error();
        for body in [
            json!({"title": "u", "addImageIds": list}),
            json!({"title": "u", "removeImageIds": list}),
            json!({"title": "u", "addImageIds": [ids[2]], "removeImageIds": list}),
        ] {
            app.patch(&path, &ann.key, &body).await.expect(status).error();
        }
    }
    // A foreign id in one list is reported before an unknown id in the other.
    let split = json!({"addImageIds": ["unknown"], "removeImageIds": [foreign[0]]});
    app.patch(&path, &ann.key, &split).await.expect(403).error();
    assert_eq!(app.get(&path, &ann.key).await.json, before);
    assert_eq!(app.get("/albums", &ann.key).await.json["pagination"]["total"], 1);
    assert_eq!(contents(&app, &ann, &album).await, ids[..1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cover_is_the_signed_thumb_of_the_newest_image() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(3)).await;
    let album = album(&app, &ann, &ids[1..]).await;
    let path = format!("/albums/{album}");
    for (change, newest) in [
        (json!({"title": "t"}), &ids[1]),
        (json!({"addImageIds": [ids[0]]}), &ids[0]),
        (json!({"removeImageIds": [ids[0], ids[1]]}), &ids[2]),
    ] {
        let changed = app.patch(&path, &ann.key, &change).await.expect(200);
        let cover = changed.result()["coverUrl"].as_str().unwrap();
        assert!(cover.starts_with(&format!("{}/i/{newest}/webp-thumb.webp?exp=", app.base_url)), "{cover}");
        let image = app.fetch(cover).await.expect(200);
        assert_eq!(image.header("content-type"), Some("image/webp"));
    }
    let emptied = app.patch(&path, &ann.key, &json!({"removeImageIds": [ids[2]]})).await;
    assert!(emptied.result()["coverUrl"].is_null());
}
