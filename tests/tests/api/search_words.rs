//! The text channel of search.

use serde_json::Value;
use tests::{SeedImage, TestAccount, TestApp, TestResponse};

async fn search(app: &TestApp, account: &TestAccount, query: &str) -> TestResponse {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    app.get(&format!("/search?query={query}"), &account.key).await
}

async fn search_text(app: &TestApp, account: &TestAccount, query: &str) -> TestResponse {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    app.get(&format!("/search?channels=text&query={query}"), &account.key).await
}

fn scores(answer: &TestResponse) -> Vec<f64> {
    answer.column("score").into_iter().map(|score| score.as_f64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_channel_matches_description_and_ocr_words_only() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-04").description("A lantern by the gate"),
        SeedImage::at("2024-01-03").text("LANTERN FESTIVAL"),
        SeedImage::at("2024-01-02").place("Lantern, Ohio"),
        SeedImage::at("2024-01-01").file_name("lantern.jpg"),
        SeedImage::at("2024-01-05").camera("Lantern", "Lantern 5"),
    ];
    let ids = app.seed(&ann, images).await;
    let mut found = search_text(&app, &ann, "lantern").await.ids();
    found.sort_unstable();
    let mut expect = ids[..2].to_vec();
    expect.sort_unstable();
    assert_eq!(found, expect);
}

#[tokio::test(flavor = "multi_thread")]
async fn matched_text_is_the_description_or_ocr_text_that_contains_the_words() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-04").description("A quiet Canal in autumn").text("NO ENTRY"),
        SeedImage::at("2024-01-03").description("Someone waving").text("CANAL STREET 12"),
        SeedImage::at("2024-01-02").place("Canal Winchester, United States"),
    ];
    let ids = app.seed(&ann, images).await;
    let found = search(&app, &ann, "canal").await;
    let text = |id: &String| {
        let record = found.results().iter().find(|record| record["id"] == **id).unwrap();
        record["matchedText"].clone()
    };
    assert_eq!(text(&ids[0]), "A quiet Canal in autumn");
    assert_eq!(text(&ids[1]), "CANAL STREET 12");
    assert_eq!(text(&ids[2]), Value::Null, "the place is not part of matchedText");
    for record in search_text(&app, &ann, "canal").await.results() {
        assert!(record["matchedText"].as_str().unwrap().to_lowercase().contains("canal"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_channels_place_and_file_name_match_too_and_rank_lower() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-04").place("Harlow, United Kingdom"),
        SeedImage::at("2024-01-03").file_name("harlow-harlow-harlow.jpg"),
        SeedImage::at("2024-01-02")
            .description("a long walk with many other words before Harlow was reached at last"),
        SeedImage::at("2024-01-01").text("HARLOW"),
    ];
    let ids = app.seed(&ann, images).await;
    let found = search(&app, &ann, "harlow").await;
    assert_eq!(found.ids().len(), 4);
    let (mut first, mut second) = (found.ids()[..2].to_vec(), found.ids()[2..].to_vec());
    first.sort_unstable();
    second.sort_unstable();
    let sorted = |mut ids: Vec<String>| {
        ids.sort_unstable();
        ids
    };
    assert_eq!(first, sorted(ids[2..].to_vec()));
    assert_eq!(second, sorted(ids[..2].to_vec()));
    let scores = scores(&found);
    assert!(scores[1] > scores[2], "{scores:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_are_above_0_up_to_1_and_descending() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    // A word in every image, one in a few, and one in a single image.
    let images = SeedImage::series(60).into_iter().zip(0..).map(|(image, number)| {
        let rare = if number % 17 == 0 { " zeppelin" } else { "" };
        let single = if number == 40 { " zeppelin zeppelin quay" } else { "" };
        let image = if number % 2 == 0 { image.place("Zeppelin, Holiday") } else { image };
        image.description(&format!("holiday{rare}{single}"))
    });
    let ids = app.seed(&ann, images).await;
    for query in
        ["holiday", "zeppelin", "quay", "holiday zeppelin quay", "nothing holiday", "zeppelin nothing"]
    {
        let found = search(&app, &ann, query).await;
        assert!(!found.ids().is_empty(), "{query}");
        let scores = scores(&found);
        assert!(scores.iter().all(|score| 0.0 < *score && *score <= 1.0), "{query}: {scores:?}");
        assert!(scores.is_sorted_by(|a, b| a >= b), "{query}: {scores:?}");
        let distinct: std::collections::HashSet<_> = found.ids().into_iter().collect();
        assert_eq!(distinct.len(), found.ids().len(), "{query}");
        let pagination = &found.json["pagination"];
        assert_eq!((&pagination["total"], &pagination["offset"]), (&found.ids().len().into(), &0.into()));
    }
    assert_eq!(search(&app, &ann, "holiday zeppelin quay").await.ids()[0], ids[40], "best first");
    assert!(search(&app, &ann, "nothing").await.ids().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn images_with_all_words_come_before_those_with_some() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-04").description("red red red red boat"),
        SeedImage::at("2024-01-03")
            .description("a red thing beside a long and winding road with a wooden barn")
            .text("x"),
        SeedImage::at("2024-01-02").description("barn barn barn"),
    ];
    let ids = app.seed(&ann, images).await;
    let found = search(&app, &ann, "red barn").await.ids();
    assert_eq!(found[0], ids[1]);
    assert_eq!(found.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn letter_case_and_accents_are_ignored() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = [
        SeedImage::at("2024-01-01").description("Café crème à l'ÉTÉ"),
        SeedImage::at("2024-01-02").description("Ångström straße ÜBER"),
        SeedImage::at("2024-01-03").text("МОСКВА Αθήνα"),
    ];
    let ids = app.seed(&ann, images).await;
    for (query, expect) in [
        ("cafe", &ids[0]),
        ("CAFÉ", &ids[0]),
        ("Creme", &ids[0]),
        ("ete", &ids[0]),
        ("angstrom", &ids[1]),
        ("uber", &ids[1]),
        ("москва", &ids[2]),
        ("ΑΘΉΝΑ", &ids[2]),
    ] {
        assert_eq!(search_text(&app, &ann, query).await.ids(), std::slice::from_ref(expect), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn query_syntax_is_treated_as_plain_words() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let id = app.seed_one(&ann, SeedImage::at("2024-01-01").description("rock and roll, near \"it\"")).await;
    for query in [
        "\"",
        "'; DROP TABLE images; --",
        "rock AND",
        "NOT",
        "NEAR(rock roll)",
        "description:rock",
        "rock*",
        "(rock",
        "^rock",
        "-rock",
        "a{b}c",
        "%",
        "_",
        "😀",
        "!!!",
        "owner:a1",
        &"é".repeat(2000),
        &"a ".repeat(1000),
        &format!("{}rock", " ".repeat(3000)),
    ] {
        let found = search(&app, &ann, query).await;
        assert_eq!(found.status, 200, "{query}");
        search_text(&app, &ann, query).await.expect(200);
    }
    for query in ["rock*", "(rock", "-rock", "rock AND"] {
        assert_eq!(search(&app, &ann, query).await.ids(), std::slice::from_ref(&id), "{query}");
    }
    app.get(&format!("/search?query={}", "é".repeat(2001)), &ann.key).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_other_accounts_are_never_found() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    app.seed(&ann, [SeedImage::at("2024-01-01").description("secret garden").place("Secret, Garden")]).await;
    for query in ["secret", "garden secret", "a1", "owner"] {
        assert!(search(&app, &ben, query).await.ids().is_empty());
        assert!(search_text(&app, &ben, query).await.ids().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ranked_search_returns_at_most_limit_results() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed(&ann, SeedImage::series(110).into_iter().map(|image| image.description("sea"))).await;
    for (limit, length) in [("", 50), ("&limit=1", 1), ("&limit=100", 100)] {
        assert_eq!(app.get(&format!("/search?query=sea{limit}"), &ann.key).await.ids().len(), length);
    }
}
