use domain::{Filter, Plan, QueryText};
use storage::{TextColumns, TextTier, Viewer};

use crate::{
    NOW, Photo, Seed,
    queries::{circle, delete, matches, matches_in, matching, newest_first, second, seconds},
    random_photos,
};

pub(crate) async fn better_tiers_come_first(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = vec![
        Photo::at_second(1).description("a red car").text("STOP"),
        Photo::at_second(9).description("a red house").file_name("car.jpg"),
        Photo::at_second(3).description("a red apple"),
        Photo::at_second(4).place("Red Car City, Nowhere"),
        Photo::at_second(5).file_name("red.jpg"),
        Photo::at_second(6).description("nothing"),
    ];
    let ids = seed.images(ann.account, photos).await;
    let found = matches(seed, ann, &["red", "car"]).await;
    let mut listed: Vec<_> = found.iter().map(|found| (found.tier, &found.id)).collect();
    // The order within a tier depends on the strengths.
    listed[1..3].sort_by_key(|(_, id)| ids.iter().position(|known| known == *id));
    let expected = [
        (TextTier::AllInContent, &ids[0]),
        (TextTier::AllAnywhere, &ids[1]),
        (TextTier::AllAnywhere, &ids[3]),
        (TextTier::SomeInContent, &ids[2]),
        (TextTier::SomeAnywhere, &ids[4]),
    ];
    assert_eq!(listed, expected);
}

pub(crate) async fn content_only_ignores_place_and_file_name(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = vec![
        Photo::at_second(1).description("Lisbon"),
        Photo::at_second(2).text("LISBON 5 km"),
        Photo::at_second(3).place("Lisbon, Portugal"),
        Photo::at_second(4).file_name("lisbon.jpg"),
    ];
    let ids = seed.images(ann.account, photos).await;
    let mut found: Vec<_> =
        matches_in(seed, ann, &["lisbon", "snow"], TextColumns::Content, Filter::default())
            .await
            .into_iter()
            .map(|found| found.id)
            .collect();
    found.sort();
    assert_eq!(found, ids[..2]);
    assert_eq!(matching(seed, ann, &["lisbon"]).await.len(), 4);
}

/// Whether the words find an image with that description.
async fn finds(seed: &Seed, viewer: Viewer, description: &str, words: &[&str]) -> bool {
    let id = seed.image(viewer.account, Photo::at_second(1).description(description)).await;
    let found = matching(seed, viewer, words).await.contains(&id);
    delete(seed, viewer, &id, second(9)).await;
    found
}

pub(crate) async fn case_and_accents_are_ignored(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let cases = [
        ("Café in Zürich", "cafe"),
        ("Café in Zürich", "CAFÉ"),
        ("Café in Zürich", "zurich"),
        ("cafe", "café"),
        ("ÉGLISE SAINT-MAUR", "eglise"),
        ("Łódź Åland", "aland"),
        ("smørrebrød", "SMØRREBRØD"),
        ("ΔΕΛΦΟΙ", "δελφοι"),
        ("москва", "МОСКВА"),
        ("Tiếng Việt", "tieng"),
    ];
    for (description, word) in cases {
        assert!(finds(seed, ann, description, &[word]).await, "{word} in {description}");
    }
    assert!(!finds(seed, ann, "Café in Zürich", &["tea"]).await);
}

pub(crate) async fn plural_and_singular_find_each_other(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    for (description, word) in [("two dogs", "dog"), ("a dog", "dogs"), ("churches", "church")] {
        assert!(finds(seed, ann, description, &[word]).await, "{word} in {description}");
    }
}

pub(crate) async fn words_are_never_query_syntax(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).description("plain words AND more")).await;
    let words = [
        "\"",
        "\"\"",
        "a\"b",
        "'",
        "''; DROP TABLE images; --",
        "NEAR(",
        "plain*",
        "^plain",
        "(plain",
        "plain)",
        "description:plain",
        "{description}:plain",
        "owner:a1",
        "-plain",
        "+plain",
        "AND",
        "OR",
        "NOT",
        "%",
        "_",
        "plain OR",
        "\\",
        "a:b:c",
        "🙂",
        "\u{0301}",
        "-",
        "&",
        "|",
        "!",
        "<->",
        ":*",
        "\u{202e}plain",
        "ﬁ",
        "٣",
        "日本語",
        "\u{0e34}",
    ];
    for word in words {
        for query in [&[word][..], &["plain", word], &[word, "zebra"]] {
            for columns in [TextColumns::Content, TextColumns::ContentAndContext] {
                let found = matches_in(seed, ann, query, columns, Filter::default()).await;
                assert!(found.len() <= 1, "{query:?}");
            }
        }
    }
    assert_eq!(matching(seed, ann, &["and"]).await, [id], "operators of the engine are plain words");
}

pub(crate) async fn a_long_query_works(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).description("word40 is here")).await;
    let text: Vec<String> = (0..64).map(|number| format!("word{number}")).collect();
    assert_eq!(matching(seed, ann, &[&text.join(" ")]).await, std::slice::from_ref(&id));
    let long = "x".repeat(1900);
    assert_eq!(matching(seed, ann, &[&long, "word40"]).await, [id]);
}

pub(crate) async fn no_words_find_nothing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1).description("a")).await;
    for words in ["!!!", "…", "\u{301}", "\u{202e}"] {
        assert_eq!(matches(seed, ann, &[words]).await, []);
    }
}

pub(crate) async fn words_find_own_images_only(seed: &Seed) {
    let mut accounts = Vec::new();
    for _ in 0..12 {
        let viewer = seed.account(Plan::Paid).await;
        accounts.push((viewer, seed.image(viewer.account, Photo::at_second(1).description("sea")).await));
    }
    for (viewer, id) in accounts {
        assert_eq!(matching(seed, viewer, &["sea"]).await, [id]);
        for owner in [viewer.account.0, viewer.account.0 % 10, viewer.account.0 + 10] {
            assert_eq!(
                matching(seed, viewer, &[&format!("a{owner}")]).await,
                [],
                "account ids are not words"
            );
        }
    }
}

pub(crate) async fn deleted_images_are_not_found_and_restored_ones_are(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).description("sea")).await;
    delete(seed, ann, &id, second(2)).await;
    assert_eq!(matches(seed, ann, &["sea"]).await, []);
    seed.store().restore_image(ann.account, &id).await.unwrap();
    assert_eq!(matching(seed, ann, &["sea"]).await, [id]);
}

pub(crate) async fn filters_narrow_searches_by_words(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photos = (0..6).map(|at| {
        let latitude = if at % 2 == 0 { 10.0 } else { 50.0 };
        Photo::at_second(at).description("sea").position(latitude, 20.0)
    });
    let ids = seed.images(ann.account, photos.collect()).await;
    let album = seed.album(ann, "Some", &ids[..3]).await;
    let bens = seed.album(ben, "Bens", &[]).await;
    let near = Some(circle(10.0, 20.0, 100.0));
    let cases = [
        (Filter { album: Some(album.clone()), ..Filter::default() }, vec![2, 1, 0]),
        (Filter { circle: near, ..Filter::default() }, vec![4, 2, 0]),
        (Filter { range: seconds(1, 3), ..Filter::default() }, vec![3, 2, 1]),
        (
            Filter { album: Some(album.clone()), circle: near, range: seconds(1, 9), ..Filter::default() },
            vec![2],
        ),
        (Filter { album: Some(bens.clone()), ..Filter::default() }, vec![]),
    ];
    for (filter, expected) in cases {
        let found = matches_in(seed, ann, &["sea"], TextColumns::Content, &filter).await;
        let expected: Vec<_> = expected.into_iter().map(|at: usize| ids[at].clone()).collect();
        assert_eq!(found.iter().map(|found| found.id.clone()).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

pub(crate) async fn the_limit_counts_images_that_pass_the_filter(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let near = (0..10).map(|at| Photo::at_second(at).description("sea sand").position(10.0, 20.0));
    let far = (10..60).map(|at| Photo::at_second(at).description("sea").position(50.0, 20.0));
    let ids = seed.images(ann.account, near.chain(far).collect()).await;
    let filter = Filter { circle: Some(circle(10.0, 20.0, 100.0)), ..Default::default() };
    let text = QueryText::parse("sea").unwrap();
    let found = seed.store().match_text(ann, &text, TextColumns::Content, &filter, 5).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|found| found.id).collect();
    assert_eq!(found, newest_first(&ids[5..10]));
}

pub(crate) async fn matches_are_ordered_by_tier_strength_and_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(300, NOW, 9)).await;
    let found = matches(seed, ann, &["harbour", "dog", "cafe"]).await;
    assert!(found.len() > 20);
    assert!(found.iter().all(|found| 0.0 < found.strength && found.strength <= 1.0));
    assert!(found.is_sorted_by(|a, b| {
        (a.tier, -a.strength, -a.captured_at.millis()) <= (b.tier, -b.strength, -b.captured_at.millis())
    }));
    let mut ids: Vec<_> = found.iter().map(|found| &found.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), found.len(), "no image is returned twice");
}

pub(crate) async fn words_of_every_image_are_found(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at_second(1).description("sea"); 3]).await;
    let found = matches(seed, ann, &["sea"]).await;
    assert!(found.iter().all(|found| 0.0 < found.strength && found.strength <= 1.0));
    assert_eq!(found.into_iter().map(|found| found.id).collect::<Vec<_>>(), newest_first(&ids));
}

pub(crate) async fn the_matching_text_is_returned(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let long = format!("{} lighthouse {}", "before ".repeat(200), "after ".repeat(200));
    let photos = vec![
        Photo::at_second(1).description("A harbour at night").text("NO SMOKING"),
        Photo::at_second(2).description(&long),
        Photo::at_second(3).description("A dog").place("Lisbon, Portugal"),
    ];
    seed.images(ann.account, photos).await;
    let listed = async |word| matches(seed, ann, &[word]).await.remove(0).matched_text;
    assert_eq!(listed("harbour").await.as_deref(), Some("A harbour at night"));
    assert_eq!(listed("smoking").await.as_deref(), Some("NO SMOKING"));
    assert_eq!(listed("lisbon").await, None, "only the place matched");
    let cut = listed("lighthouse").await.unwrap();
    assert!(cut.contains("lighthouse") && cut.chars().count() < 400, "{cut}");
}

pub(crate) async fn words_may_match_in_different_columns(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1).description("red").text("CAR")).await;
    seed.image(ann.account, Photo::at_second(2).description("red").place("Car, Nowhere")).await;
    let tiers: Vec<_> = matches(seed, ann, &["red", "car"]).await.iter().map(|found| found.tier).collect();
    assert_eq!(tiers, [TextTier::AllInContent, TextTier::AllAnywhere]);
}
