use proptest::prelude::*;

use crate::{
    Alternative, EXACT, Fields, MAX_TOKENS, QueryTerm, Scorer, can_have_typos, each_token, fold, is_typo_of,
    plural_keys, query_words, same_stem, single_edits, stem_keys, words_of,
};

/// Random text of many scripts, marks and symbols.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        "[a-zA-Z' ]{0,20}",
        "[а-яА-ЯёЁіїє ]{0,12}",
        "[α-ωΑ-Ωάέήίς ]{0,12}",
        "[\u{e00}-\u{e7f}]{0,10}",
        "[\u{3040}-\u{30ff}\u{4e00}-\u{4fff}]{0,10}",
        "[\u{1100}-\u{11ff}\u{ac00}-\u{b000}]{0,10}",
        "[\u{5d0}-\u{5ea}\u{5b0}-\u{5bc}\u{600}-\u{6ff}]{0,10}",
        "[\u{900}-\u{dff}]{0,10}",
        "[\u{300}-\u{36f}\u{3099}\u{ff66}-\u{ff9f}\u{ad}\u{200b}-\u{200f}’']{0,6}",
        "[\u{1f1e6}-\u{1f1ff}\u{1f300}-\u{1f64f}\u{fe0f}\u{200d}❤☀]{0,6}",
    ];
    proptest::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

fn exact(query: &str) -> Scorer {
    let terms = query_words(query).into_iter().map(|word| {
        let alternatives = vec![Alternative { word: word.word.clone(), quality: EXACT }];
        QueryTerm { word, alternatives, document_frequency: 0.1 }
    });
    Scorer::new(&terms.collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn tokens_are_ordered_parts_of_the_text(text in any_text()) {
        let mut count = 0;
        let mut position = 0;
        let mut start = 0;
        each_token(&text, |token| {
            count += 1;
            assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
            assert!(token.start < token.end && start <= token.start);
            assert!(!token.folded.is_empty() && token.position >= position);
            assert!(!token.folded.chars().any(|c| c.is_whitespace() || c.is_control()));
            assert!(!token.folded.bytes().any(|byte| byte.is_ascii() && !byte.is_ascii_digit() && !byte.is_ascii_lowercase()));
            start = token.start;
            position = token.position;
        });
        prop_assert!(count <= MAX_TOKENS);
    }

    #[test]
    fn folding_is_idempotent(text in any_text()) {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), folded.clone());
    }

    #[test]
    fn text_is_found_by_each_of_its_words(text in any_text()) {
        let fields = Fields { description: Some(&text), ..Fields::default() };
        let mut parts = Vec::new();
        each_token(&text, |token| parts.push((token.folded.to_owned(), text[token.start..token.end].to_owned())));
        for (folded, _) in parts.iter().take(20) {
            prop_assert!(words_of(&fields)[folded].in_content);
        }
        // The text contains all words of a query with the same text.
        for word in query_words(&text) {
            prop_assert!(words_of(&fields).contains_key(&word.word), "{}", word.word);
        }
        let search = exact(&text);
        prop_assert_eq!(search.score(&fields).is_some(), !parts.is_empty());
    }

    #[test]
    fn passage_is_a_short_part_of_the_text(before in any_text(), word in "[a-z]{3,9}", after in any_text()) {
        let text = format!("{} {word} {}", before.repeat(9), after.repeat(9));
        let fields = Fields { ocr_text: Some(&text), ..Fields::default() };
        let mut first = Vec::new();
        each_token(&text, |token| first.push(token.folded.to_owned()));
        if first.contains(&word) {
            let passage = exact(&word).passage(&fields).unwrap();
            let part = passage.strip_prefix('…').unwrap_or(&passage);
            let part = part.strip_suffix('…').unwrap_or(part);
            prop_assert!(text.contains(part), "{part}");
            prop_assert!(fold(part).contains(&word), "{part}");
            prop_assert!(passage.chars().count() <= 202);
        }
    }

    #[test]
    fn strength_is_between_0_and_1(text in any_text(), other in any_text(), query in any_text()) {
        let fields = Fields { description: Some(&text), ocr_text: Some(&other), place: Some(&query), ..Fields::default() };
        if let Some(score) = exact(&query).score(&fields) {
            prop_assert!(0.0 < score.strength && score.strength <= 1.0);
        }
    }

    #[test]
    fn same_stem_and_typo_are_symmetric(text in any_text(), other in any_text()) {
        let (word, other) = (fold(&text), fold(&other));
        prop_assert!(!stem_keys(&word).contains(&word));
        plural_keys(&word);
        prop_assert!(same_stem(&word, &word));
        prop_assert_eq!(same_stem(&word, &other), same_stem(&other, &word));
        prop_assert_eq!(is_typo_of(&word, &other), is_typo_of(&other, &word));
    }

    #[test]
    fn single_edits_are_symmetric(word in "[a-z]{4,12}|[а-я]{4,9}", at in any::<prop::sample::Index>()) {
        let edits = single_edits(&word);
        prop_assert_eq!(edits.is_empty(), !can_have_typos(&word));
        if !edits.is_empty() {
            let edit = at.get(&edits);
            prop_assert!(edit == &word || is_typo_of(edit, &word));
            prop_assert!(edit == &word || single_edits(edit).contains(&word));
        }
    }
}
