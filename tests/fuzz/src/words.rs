//! Short texts: file names, query parameters and searches.

use ::words::{
    Alternative, EXACT, Fields, QueryTerm, Scorer, each_token, fold, is_typo_of, query_words, same_stem,
    single_edits, stem_keys,
};
use domain::{Circle, FileInfo, MAX_TEXT_CHARS, Timestamp, clean_text, parse_decimal, parse_digits};

/// File names, one per line: reads the time in each, detects junk files and matches sidecars to photos.
pub(crate) fn file_names(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let names: Vec<&str> = text.lines().collect();
    let (sidecars, pictures): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| media::sidecar_kind(name).is_some());
    let matches = media::match_sidecars(&pictures, &sidecars);
    assert_eq!(matches.by_photo.len(), pictures.len());
    assert!(matches.unmatched.iter().all(|place| *place < sidecars.len()));
    for name in &names {
        let _ = media::is_junk_file_name(name);
        let info = FileInfo { name: Some((*name).to_owned()), ..FileInfo::added_at(Timestamp::MAX) };
        let _ = media::metadata(b"", &info);
    }
}

/// Dates, numbers and circles in query parameters.
pub(crate) fn query(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(time) = Timestamp::parse_iso(text) {
        assert_eq!(
            Timestamp::parse_iso(&time.to_string()),
            Ok(time),
            "a written time parses to the same time"
        );
    }
    let _ = parse_digits("limit", text);
    let _ = parse_decimal("latitude", text);
    let mut parts = text.split(',').map(|part| parse_decimal("latitude", part).ok());
    let mut part = || parts.next().flatten();
    let _ = Circle::from_parts(part(), part(), part());
    if let Some(clean) = clean_text(text).filter(|clean| clean.chars().count() < MAX_TEXT_CHARS) {
        assert_eq!(clean_text(&clean).as_deref(), Some(clean.as_str()), "clean text stays clean");
    }
}

/// The first line is a query, the rest the text to search.
pub(crate) fn texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (query, text) = text.split_once('\n').unwrap_or((&text, &text));
    each_token(text, |token| {
        assert!(
            text.get(token.start..token.end).is_some_and(|part| !part.is_empty()),
            "a token is part of the text"
        );
        assert_eq!(fold(token.folded), token.folded, "folding is idempotent");
    });
    let words = query_words(query);
    for pair in words.windows(2) {
        let [one, other] = pair else { continue };
        assert_eq!(
            same_stem(&one.word, &other.word),
            same_stem(&other.word, &one.word),
            "the relation is symmetric"
        );
        assert_eq!(
            is_typo_of(&one.word, &other.word),
            is_typo_of(&other.word, &one.word),
            "the relation is symmetric"
        );
        assert!(!stem_keys(&one.word).contains(&one.word), "a word is not among its stems");
        let _ = single_edits(&one.word);
    }
    let wanted = words.into_iter().map(|word| {
        let alternatives = vec![Alternative { word: word.word.clone(), quality: EXACT }];
        QueryTerm { word, alternatives, document_frequency: 0.1 }
    });
    let search = Scorer::new(&wanted.collect::<Vec<_>>());
    let fields = Fields { description: Some(query), ocr_text: Some(text), ..Fields::default() };
    if let Some(score) = search.score(&fields) {
        assert!(0.0 < score.strength && score.strength <= 1.0, "strengths are in (0, 1]");
        let passage = search.passage(&fields).unwrap_or_default();
        let part = passage.strip_prefix('…').unwrap_or(&passage);
        let part = part.strip_suffix('…').unwrap_or(part);
        assert!(query.contains(part) || text.contains(part), "a passage is part of its text");
        assert!(passage.chars().count() <= 202, "a passage is short: {passage}");
    }
}
