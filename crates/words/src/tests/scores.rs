use crate::{Alternative, EXACT, Fields, QueryTerm, SAME_STEM, Score, Scorer, TYPO, Tier, query_words};

/// A scorer in which each word matches itself, and some words match others.
fn scorer(query: &str, more: &[(&str, &str, f32)]) -> Scorer {
    let terms: Vec<QueryTerm> = query_words(query)
        .into_iter()
        .map(|word| {
            let mut alternatives = vec![Alternative { word: word.word.clone(), quality: EXACT }];
            for (_, other, quality) in more.iter().filter(|(from, ..)| *from == word.word) {
                alternatives.push(Alternative { word: (*other).to_owned(), quality: *quality });
            }
            QueryTerm { word, alternatives, document_frequency: 0.01 }
        })
        .collect();
    Scorer::new(&terms)
}

fn description(text: &str) -> Fields<'_> {
    Fields { description: Some(text), ..Fields::default() }
}

fn strength(query: &str, fields: &Fields<'_>) -> f64 {
    scorer(query, &[]).score(fields).map_or(0.0, |score| score.strength)
}

#[test]
fn tier_depends_on_the_fields_of_the_words() {
    let check = |query: &str, fields: Fields<'_>, expected: Option<Tier>| {
        let tier = scorer(query, &[]).score(&fields).map(|score| score.tier);
        assert_eq!(tier, expected, "{query} in {fields:?}");
    };
    let all = |description, ocr_text, place, file_name| Fields {
        description: Some(description),
        ocr_text: Some(ocr_text),
        place: Some(place),
        file_name: Some(file_name),
        keywords: None,
    };
    check("red car", all("a red car", "", "", ""), Some(Tier::AllInContent));
    check("red car", all("red", "CAR", "", ""), Some(Tier::AllInContent));
    check("red car", all("red", "", "Car, Nowhere", ""), Some(Tier::AllAnywhere));
    check("red car", all("a red apple", "", "", ""), Some(Tier::SomeInContent));
    check("red car", all("", "", "", "red.jpg"), Some(Tier::SomeAnywhere));
    check("red car", all("blue", "", "", ""), None);
    check("receipt from the store", all("store receipt", "", "", ""), Some(Tier::AllInContent));
    check("receipt from the store", all("the cat from next door", "", "", ""), None);
}

#[test]
fn better_matches_are_stronger() {
    let order = |query: &str, texts: &[&str]| {
        let strengths: Vec<f64> = texts.iter().map(|text| strength(query, &description(text))).collect();
        assert!(strengths.is_sorted_by(|a, b| a > b), "{query}: {strengths:?}");
        assert!(strengths.iter().all(|strength| (0.0..=1.0).contains(strength)));
    };
    order("red boat", &["red boat", "boat, red", "a red and white and rather old boat", "red"]);
    order("boat", &["boat", "a boat by the sea", &format!("boat {}", "word ".repeat(300)), "sea"]);
    order("old red boat", &["old red boat", "red boat", "boat"]);
    let in_fields = [
        description("boat"),
        Fields { ocr_text: Some("boat"), ..Fields::default() },
        Fields { place: Some("boat"), ..Fields::default() },
        Fields { file_name: Some("boat"), ..Fields::default() },
    ]
    .map(|fields| strength("boat", &fields));
    assert!(in_fields.is_sorted_by(|a, b| a > b), "{in_fields:?}");
    let scorer = scorer("boat", &[("boat", "boats", SAME_STEM), ("boat", "boaat", TYPO)]);
    let score = |text| scorer.score(&description(text)).unwrap().strength;
    assert!(score("boat") > score("boats") && score("boats") > score("boaat"));
}

#[test]
fn rare_words_weigh_more() {
    let words = query_words("sea zeppelin");
    let terms = words.into_iter().map(|word| {
        let document_frequency = if word.word == "sea" { 0.5 } else { 0.0001 };
        let alternatives = vec![Alternative { word: word.word.clone(), quality: EXACT }];
        QueryTerm { word, alternatives, document_frequency }
    });
    let scorer = Scorer::new(&terms.collect::<Vec<_>>());
    let score = |text| scorer.score(&description(text)).unwrap();
    assert!(score("a zeppelin").strength > 2.0 * score("a sea").strength);
    assert_eq!(score("a sea").tier, Tier::SomeInContent);
    let empty = Scorer::new(&[]);
    assert_eq!(empty.score(&description("a sea")), None::<Score>);
    assert_eq!(empty.passage(&description("a sea")), None);
}

#[test]
fn passage_is_cut_around_the_matching_words() {
    let passage = |query: &str, fields: Fields<'_>| scorer(query, &[]).passage(&fields);
    let fields = Fields {
        description: Some(" A quiet Canal in autumn "),
        ocr_text: Some("NO ENTRY\nCANAL STREET"),
        place: Some("Lisbon"),
        file_name: Some("lisbon.jpg"),
        keywords: None,
    };
    assert_eq!(
        passage("canal", fields).as_deref(),
        Some("A quiet Canal in autumn"),
        "the description wins a tie"
    );
    assert_eq!(passage("canal street", fields).as_deref(), Some("NO ENTRY\nCANAL STREET"));
    assert_eq!(passage("lisbon", fields), None, "only place and file name contain it");

    let cat = Fields { description: Some("A portrait of my cat"), ..fields };
    assert_eq!(passage("photos of lisbon", cat), None, "stop words do not match");
    let shop = Fields {
        description: Some("View from the top"),
        ocr_text: Some("RECEIPT No. 7"),
        ..Fields::default()
    };
    assert_eq!(passage("receipt from the hardware store", shop).as_deref(), Some("RECEIPT No. 7"));
    assert_eq!(passage("from the", shop).as_deref(), Some("View from the top"), "a query of stop words only");

    let late = format!("the {}lighthouse", "before ".repeat(300));
    let cut = passage("the lighthouse", description(&late)).unwrap();
    assert!(cut.ends_with("before lighthouse"), "{cut}");
    let long = format!("{}the old Lighthouse, at night {}", "before ".repeat(200), "after ".repeat(200));
    let cut = passage("lighthouse night", description(&long)).unwrap();
    assert!(cut.starts_with("…before") && cut.ends_with("after…"), "{cut}");
    assert!(cut.contains("the old Lighthouse, at night") && cut.chars().count() <= 202, "{cut}");
    let far = format!("lighthouse {} night", "between ".repeat(200));
    let cut = passage("lighthouse night", description(&far)).unwrap();
    assert!(cut.starts_with("lighthouse between") && cut.ends_with('…'), "{cut}");
    let end = format!("{}lighthouse.", "before ".repeat(200));
    let cut = passage("lighthouse", description(&end)).unwrap();
    assert!(cut.starts_with('…') && cut.ends_with("before lighthouse."), "{cut}");
    let temples = format!("{}金閣寺{}", "あ".repeat(500), "い".repeat(500));
    let cut = passage("金閣寺", description(&temples)).unwrap();
    assert!(cut.contains("金閣寺") && cut.chars().count() <= 202, "{cut}");
    let endless = "x".repeat(9000);
    let cut = passage(&endless, description(&endless)).unwrap();
    assert_eq!(cut, format!("{}…", "x".repeat(40)));
    let marked = format!("boat{}", "\u{301}".repeat(9000));
    let cut = passage("boat", description(&marked)).unwrap();
    assert!(cut.starts_with("boat") && cut.ends_with('…') && cut.chars().count() <= 202, "{}", cut.len());
}
