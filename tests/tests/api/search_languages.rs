//! The text channel of search: other languages, typos, prefixes and arbitrary input.

use std::collections::HashSet;

use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use tests::{SeedImage, TestAccount, TestApp, TestResponse};

async fn search(app: &TestApp, account: &TestAccount, query: &str) -> TestResponse {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    app.get(&format!("/search?channels=text&query={query}"), &account.key).await
}

/// Seeds descriptions and checks which of them each query finds.
async fn finds(descriptions: &[&str], cases: &[(&str, &[usize])]) {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let images = SeedImage::series(i64::try_from(descriptions.len()).unwrap()).into_iter().zip(descriptions);
    let ids = app.seed(&ann, images.map(|(image, text)| image.description(text))).await;
    for (query, expected) in cases {
        let found = search(&app, &ann, query).await;
        let expected: HashSet<&String> = expected.iter().map(|at| &ids[*at]).collect();
        assert_eq!(found.ids().iter().collect::<HashSet<_>>(), expected, "{query}");
        assert!(found.results().iter().all(|record| record["matchedText"].is_string()), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_forms_of_a_word_are_found_in_many_languages() {
    let descriptions = [
        "Receipts from the hardware store",
        "Zwei Hunde vor alten Häusern",
        "Des bateaux et des chevaux",
        "Fotografías de la playa",
        "Montagne e ragazzi",
        "Praias de Portugal",
        "Лодки на озере",
        "Fietsen in de regen",
        "Running along the river",
    ];
    let cases: [(&str, &[usize]); 12] = [
        ("receipt", &[0]),
        ("receipt of a hardware store", &[0]),
        ("Hund", &[1]),
        ("bateau", &[2]),
        ("cheval", &[2]),
        ("fotografia", &[3]),
        ("montagna", &[4]),
        ("praia", &[5]),
        ("лодка", &[6]),
        ("fiets", &[7]),
        ("run", &[8]),
        ("rivers", &[8]),
    ];
    finds(&descriptions, &cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_typed_and_misspelt_words_are_found() {
    let descriptions = ["The harbour at night", "A lighthouse", "A boat", "A carpet"];
    let cases: [(&str, &[usize]); 8] = [
        ("harb", &[0]),
        ("night harb", &[0]),
        ("harb night", &[0]),
        ("harbor", &[0]),
        ("lihgthouse", &[1]),
        ("ligthhosue", &[1]),
        ("baot", &[]),
        ("ca", &[3]),
    ];
    finds(&descriptions, &cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_without_spaces_and_emoji_are_found() {
    let descriptions = ["京都の金閣寺", "서울역에서", "วัดพระแก้ว", "Pizza 🍕 und ☕", "日本橋"];
    let cases: [(&str, &[usize]); 8] = [
        ("寺", &[0]),
        ("金閣", &[0]),
        ("金閣寺", &[0]),
        ("서울", &[1]),
        ("พระ", &[2]),
        ("🍕", &[3]),
        ("☕", &[3]),
        ("日本", &[4]),
    ];
    finds(&descriptions, &cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_text_is_returned_in_part() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let receipt = format!("{}TOTAL 12,50 €\nMERCI {}", "ARTICLE 1,00\n".repeat(90), "TEL 0123 ".repeat(90));
    app.seed_one(&ann, SeedImage::at("2024-01-01").text(&receipt)).await;
    let found = search(&app, &ann, "merci total").await;
    let passage = found.results()[0]["matchedText"].as_str().unwrap().to_owned();
    assert!(passage.contains("TOTAL 12,50 €\nMERCI"), "{passage}");
    assert!(
        passage.starts_with('…') && passage.ends_with('…') && passage.chars().count() <= 202,
        "{passage}"
    );
    assert!(receipt.contains(passage.trim_matches('…')));
}

/// Arbitrary queries: words, operators of query languages, every script, marks without letters.
fn any_query() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        "[\"'()*:^{}+|&!~<>%_\\\\/-]{1,6}",
        Just(" AND ".to_owned()),
        Just(" OR ".to_owned()),
        Just(" NOT ".to_owned()),
        Just("NEAR(secret garden, 2)".to_owned()),
        Just("words:secret*".to_owned()),
        Just("secret".to_owned()),
        Just("secert gardne".to_owned()),
        Just("gard".to_owned()),
        Just("'; DROP TABLE words; --".to_owned()),
        Just("\0".to_owned()),
        "[cx][0-9a-z]{1,3}",
        "[а-яё ]{0,9}|[α-ω ]{0,9}|[\u{5d0}-\u{5ea}\u{600}-\u{6ff} ]{0,9}",
        "[\u{900}-\u{dff}\u{e00}-\u{eff}]{0,9}|[\u{3040}-\u{30ff}\u{4e00}-\u{9fff}\u{ac00}-\u{d7a3}]{0,9}",
        "[\u{300}-\u{36f}\u{200b}-\u{202e}\u{fe0f}\u{1f300}-\u{1faff}]{0,6}",
    ];
    let pieces = proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat());
    prop_oneof![9 => pieces.clone(), 1 => (pieces, 2..600_usize).prop_map(|(piece, times)| piece.repeat(times))]
}

#[tokio::test(flavor = "multi_thread")]
async fn any_query_finds_only_own_images() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let texts =
        ["secret garden", "金閣寺 сад 🌷", "AND OR NOT NEAR", "c1 x1 a1 owner", "garden \"wall\" (old)"];
    let images = |from: i64| {
        let series = SeedImage::series(from + 5).into_iter().skip(usize::try_from(from).unwrap()).zip(texts);
        series
            .map(|(image, text)| image.description(text).text(text).place(text).file_name(text))
            .collect::<Vec<_>>()
    };
    let anns: HashSet<String> = app.seed(&ann, images(0)).await.into_iter().collect();
    let bens: HashSet<String> = app.seed(&ben, images(3)).await.into_iter().collect();
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut found_some = 0;
    for round in 0..400 {
        let query = any_query().new_tree(&mut runner).unwrap().current();
        let query: String = query.chars().take(if round % 9 == 0 { 2100 } else { 2000 }).collect();
        let trimmed = query.trim();
        let is_refused = trimmed.is_empty() || trimmed.contains('\0') || trimmed.chars().count() > 2000;
        for (account, own) in [(&ann, &anns), (&ben, &bens)] {
            let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
            let channels = if round % 2 == 0 { "" } else { "&channels=text" };
            let found = app.get(&format!("/search?query={encoded}{channels}"), &account.key).await;
            assert_eq!(found.status, if is_refused { 400 } else { 200 }, "{query:?}");
            if !is_refused {
                let ids = found.ids();
                assert!(ids.iter().all(|id| own.contains(id)), "{query:?}");
                found_some += usize::from(!ids.is_empty());
            }
        }
    }
    assert!(found_some > 100, "{found_some}");
}
