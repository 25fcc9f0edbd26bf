//! OCR text in searches.

use tests::TestApp;

#[tokio::test(flavor = "multi_thread")]
async fn text_in_photos_is_read_and_found() {
    let app = TestApp::builder().ocr("eng").start().await;
    let ann = app.account("ann").await;
    let names = ["samples/lorem-ipsum.png", "samples/restaurant-bill.jpg", "samples/wisteria.jpg"];
    let ids = app.import_fixtures(&ann, &names).await;
    let record = |name: &str| format!("/images/{}", ids[name]);
    let lorem = app.get(&record("lorem-ipsum.png"), &ann.key).await;
    let text = lorem.result()["text"].as_str().unwrap().to_owned();
    assert!(text.to_lowercase().starts_with("lorem ipsum dolor sit amet"), "{text}");
    assert!(app.get(&record("wisteria.jpg"), &ann.key).await.result()["text"].is_null());

    for (query, name, expected) in [
        ("consectetur", "lorem-ipsum.png", "consectetur"),
        ("CONSECTETUR ipsum", "lorem-ipsum.png", "consectetur"),
        ("consectetru", "lorem-ipsum.png", "consectetur"),
        ("tavolo", "restaurant-bill.jpg", "Tavolo"),
    ] {
        for channels in ["", "&channels=text"] {
            let query = query.replace(' ', "%20");
            let found = app.get(&format!("/search?query={query}{channels}"), &ann.key).await.expect(200);
            assert_eq!(found.column("fileName"), [name], "{query}{channels}");
            let passage = found.results()[0]["matchedText"].as_str().unwrap();
            assert!(passage.contains(expected), "{query}: {passage}");
            assert!(passage.chars().count() < 300, "a passage and not the whole text: {passage}");
        }
    }
    let by_appearance = app.get("/search?query=consectetur&channels=image", &ann.key).await.expect(200);
    assert!(by_appearance.ids().is_empty());
}
