use domain::{Filter, ImageId, Plan, QueryText, Timestamp};
use storage::{ImageKey, IndexedImage, TextColumns, TextMatch, TextTier, Viewer};

use crate::{
    NOW, Photo, Seed, indexed,
    queries::{circle, delete, matches, matches_in, matching, newest_first, second, seconds},
};

/// Checks which descriptions each query finds; the expected indexes are in order.
async fn finds(seed: &Seed, descriptions: &[&str], cases: &[(&str, &[usize])]) {
    let ann = seed.account(Plan::Paid).await;
    let photos = descriptions.iter().zip(1..).map(|(text, at)| Photo::at_second(at).description(text));
    let ids = seed.images(ann.account, photos.collect()).await;
    for (query, expected) in cases {
        let found = matching(seed, ann, &[query]).await;
        let mut found: Vec<usize> =
            found.iter().map(|id| ids.iter().position(|known| known == id).unwrap()).collect();
        found.sort_unstable();
        assert_eq!(&found, expected, "{query}");
    }
}

pub(crate) async fn inflections_are_found(seed: &Seed) {
    let descriptions = [
        "We were running past two churches and some boats",
        "Die Häuser am See und zwei Hunde",
        "Les chevaux et un bateau",
        "Las casas, tres gatos, mis fotografías",
        "I ragazzi in montagna",
        "Красные лодки у горы",
        "De fietsen op de bergen",
        "Praias e montanhas",
        "Båten och hundarna",
        "Η θάλασσα",
    ];
    let cases: [(&str, &[usize]); 18] = [
        ("run", &[0]),
        ("church", &[0]),
        ("boat", &[0]),
        ("Haus", &[1]),
        ("Hund", &[1, 8]),
        ("cheval", &[2]),
        ("bateaux", &[2]),
        ("casa", &[3]),
        ("gato", &[3]),
        ("fotografia", &[3]),
        ("ragazzo", &[4]),
        ("montagne", &[4]),
        ("лодка", &[5]),
        ("fiets", &[6]),
        ("praia", &[7]),
        ("hundar", &[1, 8]),
        ("θαλασσας", &[9]),
        ("горы", &[5]),
    ];
    finds(seed, &descriptions, &cases).await;
}

pub(crate) async fn similar_words_are_not_found(seed: &Seed) {
    let descriptions = ["care", "a rocket", "flowers", "market", "number 2019", "a plane"];
    let cases: [(&str, &[usize]); 7] = [
        // Only the last word of a query is a prefix.
        ("car !zz", &[]),
        ("rock zz", &[]),
        ("flow zz", &[]),
        ("mark zz", &[]),
        ("201 zz", &[]),
        ("2018", &[]),
        ("plan zz", &[]),
    ];
    finds(seed, &descriptions, &cases).await;
}

pub(crate) async fn the_last_word_may_be_a_prefix(seed: &Seed) {
    let descriptions = ["the harbour at night", "a harp", "red harbours", "金閣寺"];
    let cases: [(&str, &[usize]); 7] = [
        ("harb", &[0, 2]),
        ("ha", &[0, 1, 2]),
        ("h", &[]),
        ("red ha", &[0, 1, 2]),
        ("harb zz", &[]),
        ("金", &[3]),
        ("金閣", &[3]),
    ];
    finds(seed, &descriptions, &cases).await;
    let ann = seed.account(Plan::Paid).await;
    let ids = seed
        .images(
            ann.account,
            vec![Photo::at_second(1).description("car"), Photo::at_second(2).description("carpet")],
        )
        .await;
    assert_eq!(matching(seed, ann, &["car"]).await, ids, "exact words come before prefix matches");
}

pub(crate) async fn typos_are_corrected_when_nothing_else_matches(seed: &Seed) {
    let descriptions =
        ["the harbour", "a boat", "Lighthouses", "A photographer", "маяк и лодка", "house", "mouse"];
    let cases: [(&str, &[usize]); 12] = [
        ("harbor", &[0]),
        ("habrour", &[0]),
        ("harbuor at dusk", &[0]),
        ("baot", &[]),
        ("boot", &[]),
        ("lighthuose", &[2]),
        ("fotographer", &[]),
        ("photogaphre", &[3]),
        ("маякк", &[]),
        ("house", &[5]),
        ("housse", &[5]),
        ("12345", &[]),
    ];
    finds(seed, &descriptions, &cases).await;
}

pub(crate) async fn scripts_without_spaces_are_found_by_their_parts(seed: &Seed) {
    let descriptions = [
        "京都の金閣寺で撮った写真",
        "カフェラテ",
        "서울역 앞에서",
        "วัดพระแก้ว กรุงเทพ",
        "東京タワー",
        "I ❤️ 🍕",
    ];
    let cases: [(&str, &[usize]); 12] = [
        ("寺", &[0]),
        ("金閣", &[0]),
        ("金閣寺", &[0]),
        ("金閣寺の写真", &[0]),
        ("ｶﾌｪ", &[1]),
        ("서울", &[2]),
        ("พระแก้ว", &[3]),
        ("กรุงเทพ", &[3]),
        ("タワー", &[4]),
        ("京", &[0, 4]),
        ("❤", &[5]),
        ("🍕", &[5]),
    ];
    finds(seed, &descriptions, &cases).await;
}

pub(crate) async fn stop_words_are_optional(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = vec![
        Photo::at_second(1).text("HARDWARE STORE\nRECEIPT 12.50"),
        Photo::at_second(2).description("the cat from next door"),
        Photo::at_second(3).description("the store"),
    ];
    let ids = seed.images(ann.account, photos).await;
    let found = matches(seed, ann, &["receipt from the hardware store"]).await;
    let listed: Vec<_> = found.iter().map(|found| (found.tier, &found.id)).collect();
    assert_eq!(listed, [(TextTier::AllInContent, &ids[0]), (TextTier::SomeInContent, &ids[2])]);
    assert_eq!(
        matching(seed, ann, &["from the"]).await,
        [ids[1].clone(), ids[2].clone()],
        "they count if there are no other words"
    );
}

pub(crate) async fn better_matches_are_stronger(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let texts = ["harbour", "harbours", "harbourmaster", &format!("harbour {}", "and more ".repeat(99))];
    let photos = texts.iter().zip(1..).map(|(text, at)| Photo::at_second(at).description(text));
    let ids = seed.images(ann.account, photos.collect()).await;
    let found = matches(seed, ann, &["harbour"]).await;
    assert!(found.is_sorted_by(|a, b| a.strength > b.strength));
    assert_eq!(found.len(), 4);
    let rank = |at: usize| found.iter().position(|found| found.id == ids[at]);
    assert!(rank(0) == Some(0) && rank(1) < rank(2), "exact word, plural, prefix match");
    let near = [
        Photo::at_second(11).description("a lantern on a red boat"),
        Photo::at_second(12).description("a boat before a red lantern"),
    ];
    let ids = seed.images(ann.account, near.to_vec()).await;
    assert_eq!(matching(seed, ann, &["red boat"]).await, ids, "together and in order");
}

pub(crate) async fn the_passage_is_short_and_verbatim(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let long = format!("{}Café «Zürich», 12,50 € {}", "davor ".repeat(300), "danach ".repeat(300));
    let temple = format!("{}金閣寺{}", "あ".repeat(900), "い".repeat(900));
    let photos = vec![
        Photo::at_second(1).text(&long),
        Photo::at_second(2).text(&temple),
        Photo::at_second(3).description("Montañas y lagos").text("NADA"),
    ];
    seed.images(ann.account, photos).await;
    let listed = async |query| matches(seed, ann, &[query]).await.remove(0).matched_text.unwrap();
    for (query, text, part) in [
        ("cafe zurich", &long, "Café «Zürich»"),
        ("金閣寺", &temple, "金閣寺"),
        ("montana", &"Montañas y lagos".to_owned(), "Montañas"),
    ] {
        let passage = listed(query).await;
        assert!(passage.contains(part), "{passage}");
        assert!(text.contains(passage.trim_matches('…')), "{passage}");
        assert!(passage.chars().count() <= 202, "{passage}");
    }
}

pub(crate) async fn vocabularies_are_separate_by_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed
        .images(
            ann.account,
            vec![Photo::at_second(1).description("harbour"), Photo::at_second(2).description("a boat")],
        )
        .await;
    let queries = ["harbor", "harb", "harbours", "boats", "lantern", "a1", "c1", "x1", "boat harbour"];
    let mut before: Vec<Vec<TextMatch>> = Vec::new();
    for query in queries {
        before.push(matches(seed, ann, &[query]).await);
    }
    assert_eq!(matching(seed, ann, &["harbor"]).await, ids[..1]);
    // If these words were in the vocabulary of the first account, typos, prefixes and inflections would match others.
    let bens = ["harbor", "harb", "harbours", "boats", "lantern", "harboring", "a1 c1 x1"];
    seed.images(
        ben.account,
        bens.iter().zip(1..).map(|(text, at)| Photo::at_second(at).description(text)).collect(),
    )
    .await;
    for (query, before) in queries.iter().zip(before) {
        assert_eq!(matches(seed, ann, &[query]).await, before, "{query}");
    }
    assert_eq!(matching(seed, ben, &["harbour boat"]).await.len(), 2, "its own vocabulary");
}

pub(crate) async fn words_of_purged_images_are_removed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let kept = seed.image(ann.account, Photo::at_second(1).description("harbour")).await;
    let gone = seed.image(ann.account, Photo::at_second(2).description("harbor")).await;
    assert_eq!(matching(seed, ann, &["harbor"]).await, std::slice::from_ref(&gone));
    delete(seed, ann, &gone, second(9)).await;
    assert_eq!(seed.store().purge_images(second(10), 10).await.unwrap(), 1);
    assert_eq!(matching(seed, ann, &["harbor"]).await, [kept], "it is a typo again");
}

/// Indexes the image again with other texts.
async fn reindex_as(seed: &Seed, photo: &Photo) {
    assert_eq!(seed.store().requeue_outdated(99, NOW, 10).await.unwrap(), 1);
    let job = seed.lease("w", NOW).await.remove(0);
    let found = IndexedImage { renditions: Vec::new(), decoder_version: 99, ..indexed(photo) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
}

pub(crate) async fn old_words_of_a_reindexed_image_are_removed(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).description("harbour").file_name("sea.jpg")).await;
    reindex_as(seed, &Photo::at_second(1).description("lantern").place("Lisbon")).await;
    for (query, is_found) in
        [("harbour", false), ("harb", false), ("lantern", true), ("lisbon", true), ("sea", true)]
    {
        let found = matching(seed, ann, &[query]).await;
        assert_eq!(found, if is_found { vec![id.clone()] } else { vec![] }, "{query}");
    }
}

/// Photos of the sea, one per second.
async fn sea_photos(seed: &Seed, viewer: Viewer, seconds: std::ops::Range<i64>) -> Vec<ImageId> {
    let photos = seconds.map(|at| Photo::at_second(at).description("sea").position(10.0, 20.0));
    seed.images(viewer.account, photos.collect()).await
}

pub(crate) async fn a_common_word_is_found_at_any_time(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    // Not added in the order of capture times.
    let newer = sea_photos(seed, ann, 500..1000).await;
    let older = sea_photos(seed, ann, 0..500).await;
    let paid = Viewer { plan: Plan::Paid, ..ann };
    let found = async |viewer, range| {
        let filter = Filter { range, ..Filter::default() };
        let found = matches_in(seed, viewer, &["sea"], TextColumns::Content, filter).await;
        found.into_iter().map(|found| found.id).collect::<Vec<_>>()
    };
    assert_eq!(found(paid, seconds(0, 2000)).await, newest_first(&newer[400..]));
    assert_eq!(found(paid, seconds(10, 19)).await, newest_first(&older[10..20]));
    assert_eq!(found(paid, seconds(0, 499)).await, newest_first(&older[400..]));
    assert_eq!(found(ann, seconds(0, 2000)).await, newest_first(&newer[495..]), "only in the free window");
    let early = Timestamp::from_millis(-60_000_000_000_000).unwrap();
    let first = seed.image(ann.account, Photo::at(early).description("sea")).await;
    let range = domain::DateRange::new(None, Some(second(0))).unwrap();
    assert_eq!(found(paid, range).await, [older[0].clone(), first]);
}

pub(crate) async fn a_common_word_is_found_in_a_large_album(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = sea_photos(seed, ann, 0..2300).await;
    let album = seed.album(ann, "Sea", &ids[..100]).await;
    for hundred in ids[100..2200].chunks(100) {
        let add = hundred.iter().map(ToString::to_string).collect();
        let change = domain::AlbumChange { add, ..Default::default() };
        seed.store().change_album(ann, &album, change, NOW).await.unwrap();
    }
    let sun =
        seed.image(ann.account, Photo::at_second(-1).description("sun and sea").position(10.0, 20.0)).await;
    let change = domain::AlbumChange { add: vec![sun.to_string()], ..Default::default() };
    seed.store().change_album(ann, &album, change, NOW).await.unwrap();
    for circle in [None, Some(circle(10.0, 20.0, 100.0))] {
        let filter = Filter { album: Some(album.clone()), circle, ..Filter::default() };
        let found = async |query| {
            let found = matches_in(seed, ann, &[query], TextColumns::Content, &filter).await;
            found.into_iter().map(|found| found.id).collect::<Vec<_>>()
        };
        assert_eq!(found("sea").await, newest_first(&ids[2100..2200]));
        assert_eq!(found("sun").await, std::slice::from_ref(&sun));
        assert_eq!(found("sea sun").await[0], sun);
    }
}

pub(crate) async fn a_rare_word_is_found_beside_a_common_one(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let quay = seed.image(ann.account, Photo::at_second(-3).description("a quay")).await;
    let pier = seed.image(ann.account, Photo::at_second(-2).description("a pier and a quay")).await;
    let file = seed.image(ann.account, Photo::at_second(-1).file_name("zeppelin.jpg")).await;
    sea_photos(seed, ann, 0..900).await;
    assert_eq!(matching(seed, ann, &["sea quay"]).await[..2], [quay.clone(), pier.clone()]);
    assert_eq!(matching(seed, ann, &["sea quay pier"]).await[..2], [pier.clone(), quay]);
    assert_eq!(matching(seed, ann, &["unheard quay pier"]).await[0], pier);
    let text = QueryText::parse("sea zeppelin").unwrap();
    let columns = TextColumns::ContentAndContext;
    let found = seed.store().match_text(ann, &text, columns, &Filter::default(), 256).await.unwrap();
    assert_eq!(found.len(), 256);
    assert!(found.is_sorted_by_key(|found| found.tier));
    assert_eq!(found[255].id, file, "content matches come first");
}

pub(crate) async fn no_more_matches_than_requested_are_returned(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    sea_photos(seed, ann, 0..450).await;
    let text = QueryText::parse("sea").unwrap();
    for (max, expected) in [(0, 0), (1, 1), (50, 50), (256, 256), (u32::MAX, 256)] {
        let filter = Filter::default();
        let found = seed.store().match_text(ann, &text, TextColumns::Content, &filter, max).await.unwrap();
        assert_eq!(found.len(), expected);
    }
}

pub(crate) async fn an_exact_word_comes_before_many_prefix_matches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let sun = seed.image(ann.account, Photo::at_second(-2).description("the sun")).await;
    let suns = seed.image(ann.account, Photo::at_second(-1).description("two suns")).await;
    let photos = (0..300).map(|at| Photo::at_second(at).description("sunset"));
    let ids = seed.images(ann.account, photos.collect()).await;
    assert_eq!(matching(seed, ann, &["sun"]).await[..2], [sun.clone(), suns.clone()]);
    let album = seed.album(ann, "Sun", &[&[sun.clone(), suns.clone()], &ids[..98]].concat()).await;
    for hundred in ids[98..].chunks(100) {
        let add = hundred.iter().map(ToString::to_string).collect();
        let change = domain::AlbumChange { add, ..Default::default() };
        seed.store().change_album(ann, &album, change, NOW).await.unwrap();
    }
    let filter = Filter { album: Some(album.clone()), ..Filter::default() };
    let found = matches_in(seed, ann, &["sun"], TextColumns::Content, filter).await;
    assert_eq!([found[0].id.clone(), found[1].id.clone()], [sun, suns]);
}

pub(crate) async fn deleted_images_do_not_affect_matches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let older = seed.image(ann.account, Photo::at_second(-1).description("Harbour by the sea")).await;
    let newer = seed.image(ann.account, Photo::at_second(1).description("harbor sea")).await;
    assert_eq!(matching(seed, ann, &["harbor"]).await, std::slice::from_ref(&newer));
    delete(seed, ann, &newer, NOW).await;
    assert_eq!(matching(seed, ann, &["harbor"]).await, std::slice::from_ref(&older), "it is a typo again");
    assert_eq!(matching(seed, ann, &["sea"]).await, std::slice::from_ref(&older));
    seed.store().restore_image(ann.account, &newer).await.unwrap();
    assert_eq!(matching(seed, ann, &["harbor"]).await, std::slice::from_ref(&newer));
    assert_eq!(matching(seed, ann, &["sea"]).await.len(), 2);
}

pub(crate) async fn file_names_do_not_prevent_typo_correction(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let quay = seed.image(ann.account, Photo::at_second(1).description("Harbour at dawn")).await;
    let file = seed.image(ann.account, Photo::at_second(2).file_name("harbor.jpg")).await;
    let content = matches_in(seed, ann, &["harbor"], TextColumns::Content, Filter::default()).await;
    assert_eq!(content.into_iter().map(|found| found.id).collect::<Vec<_>>(), [quay]);
    assert_eq!(matching(seed, ann, &["harbor"]).await, [file], "with file names, it is a known word");
}

pub(crate) async fn an_image_keeps_its_key(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.images(ann.account, vec![Photo::at_second(1).description("sea"); 3]).await;
    seed.image(ben.account, Photo::at_second(1).description("sea")).await;
    let keys = async |viewer| -> Vec<ImageKey> {
        matches(seed, viewer, &["sea"]).await.iter().map(|found| found.image_key).collect()
    };
    let mut all = keys(ann).await;
    assert_eq!(keys(ann).await, all);
    all.extend(keys(ben).await);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4);
}

pub(crate) async fn new_images_need_no_reindexing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, vec![Photo::at_second(1).description("sea"); 3]).await;
    // A new store may not have recorded its version yet.
    while seed.store().reindex_words(2).await.unwrap() > 0 {}
    assert_eq!(seed.store().count_outdated_words().await.unwrap(), 0);
    assert_eq!(matching(seed, ann, &["sea"]).await.len(), 3);
    seed.image(ann.account, Photo::at_second(9).description("sea")).await;
    assert_eq!(seed.store().count_outdated_words().await.unwrap(), 0, "a new image is indexed at once");
    assert_eq!(seed.store().reindex_words(10).await.unwrap(), 0);
    assert!(!seed.store().word_index_is_newer().await.unwrap());
}

pub(crate) async fn the_place_or_file_name_that_matched_is_returned(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let lisbon = Photo::at_second(1).place("Gardens of Sintra, Portugal").file_name("IMG_1.jpg");
    let named = Photo::at_second(2).place("Oslo, Norway").file_name("garden-party.jpg");
    let described = Photo::at_second(3).description("our garden").place("Évora, Portugal");
    seed.images(ann.account, vec![lisbon, named, described]).await;
    let context = async |words: &str, columns| {
        let found = matches_in(seed, ann, &[words], columns, Filter::default()).await;
        let mut found: Vec<_> = found
            .into_iter()
            .map(|found| (found.captured_at, found.matched_text, found.matched_context))
            .collect();
        found.sort();
        let texts = found.into_iter().map(|(_, text, context)| (text.is_some(), context));
        texts.collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        context("gardening", TextColumns::ContentAndContext).await,
        [(false, some("Gardens of Sintra, Portugal")), (false, some("garden-party.jpg")), (true, None)],
        "also words with the same stem"
    );
    assert_eq!(
        context("evora", TextColumns::ContentAndContext).await,
        [(false, some("Évora, Portugal"))],
        "whatever the accents"
    );
    assert_eq!(context("garden", TextColumns::Content).await, [(true, None)]);
}
