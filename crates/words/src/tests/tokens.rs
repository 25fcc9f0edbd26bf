use crate::{MAX_TOKENS, MAX_WORD_CHARS, each_token, fold, query_words};

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    each_token(text, |token| tokens.push(token.folded.to_owned()));
    tokens
}

#[test]
fn folding_removes_case_accents_width_and_points() {
    for (text, same) in [
        ("Café", "cafe"),
        ("cafe\u{301}", "café"),
        ("ÅNGSTRÖM", "angstrom"),
        ("straße", "STRASSE"),
        ("GROẞ", "gross"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΥΣ"),
        ("ＦＵＬＬ　１２", "full12"),
        ("İSTANBUL", "istanbul"),
        ("ısı", "ISI"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("ёлка", "елка"),
        ("ЙОД", "йод"),
        ("и\u{306}", "й"),
        ("smørrebrød", "SMORREBROD"),
        ("Łódź", "lodz"),
        ("ﬁnd", "FIND"),
        ("٣٤", "34"),
        ("ﾊﾞｽ", "バス"),
        ("서울", "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}"),
        ("co\u{ad}operate", "cooperate"),
        ("Tiếng Việt", "tiengviet"),
        ("ნინო", "ᲜᲘᲜᲝ"),
    ] {
        assert_eq!(fold(text), fold(same), "{text}");
    }
    for (text, other) in [("か", "が"), ("किताब", "कतब"), ("น้ำ", "นำ"), ("й", "и"), ("n", "m")]
    {
        assert_ne!(fold(text), fold(other), "{text}");
    }
}

#[test]
fn texts_are_split_into_tokens() {
    let check = |text: &str, expected: &[&str]| assert_eq!(tokens(text), expected, "{text}");
    check("", &[]);
    check(" \n!? -- ", &[]);
    check("Red boat, 2019!", &["red", "boat", "2019"]);
    check("IMG_1234.JPG", &["img", "1234", "jpg"]);
    check("l'été d’Artagnan", &["ete", "artagnan"]);
    check("dell'acqua all’aperto", &["acqua", "aperto"]);
    check("don't I'm we’ll", &["dont", "im", "well"]);
    check("the boat's name, boats'", &["the", "boat", "name", "boats"]);
    check("O'Brien rock'n'roll", &["obrien", "rock", "roll"]);
    check("'quoted' ''", &["quoted"]);
    check("I ❤️ NY 🇩🇪🇫🇷 👍🏽 👩‍🚀", &["i", "❤", "ny", "🇩🇪", "🇫🇷", "👍", "👩", "🚀"]);
    check("金閣寺", &["金", "金閣", "閣", "閣寺", "寺"]);
    check("東京2024年", &["東", "東京", "京", "2024", "年"]);
    check("서울역", &["서", "서울", "울", "울역", "역"]);
    check("ﾊﾞｽ", &["バ", "バス", "ス"]);
    check("น้ำ", &["น\u{e49}", "น\u{e49}\u{e33}", "\u{e33}"]);
    check("हिन्दी", &["हिन्दी"]);
    check("a\u{0}b", &["a", "b"]);
}

#[test]
fn tokens_have_ranges_and_positions() {
    let text = "Ein Café, 金閣 🙂";
    let mut parts = Vec::new();
    each_token(text, |token| parts.push((&text[token.start..token.end], token.position)));
    assert_eq!(parts, [("Ein", 0), ("Café", 1), ("金", 2), ("金閣", 2), ("閣", 3), ("🙂", 4)]);
}

#[test]
fn long_words_and_texts_are_cut() {
    let long = "x".repeat(5000);
    assert_eq!(tokens(&long), ["x".repeat(MAX_WORD_CHARS)]);
    assert_eq!(tokens(&format!("{long} b")), [&"x".repeat(MAX_WORD_CHARS), "b"]);
    assert_eq!(tokens(&"a ".repeat(9000)).len(), MAX_TOKENS);
    assert_eq!(
        tokens(&"寺".repeat(9000)).len(),
        2 * MAX_TOKENS - 1,
        "each character, and each with the next"
    );
    assert!(tokens(&format!("寺{}", "\u{3099}".repeat(9000))).concat().len() < 100);
}

#[test]
fn queries_are_split_into_words() {
    let words = |query: &str| {
        query_words(query)
            .into_iter()
            .map(|word| {
                format!(
                    "{}{}{}",
                    word.word,
                    if word.optional { "?" } else { "" },
                    if word.is_prefix { "*" } else { "" }
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(words("receipt from the hardware store"), ["receipt", "from?", "the?", "hardware", "store*"]);
    assert_eq!(words("to be or not"), ["to?", "be?", "or?", "not*"]);
    assert_eq!(words("The Who"), ["the", "who*"], "stop words count if there are no others");
    assert_eq!(words("red Red RED car"), ["red", "car*"]);
    assert_eq!(words("car red car"), ["car*", "red"]);
    assert_eq!(words("寺"), ["寺"]);
    assert_eq!(words("金閣寺の写真"), ["金閣", "閣寺", "寺の?", "の写?", "写真?"]);
    assert_eq!(words("ねこ 写真"), ["ねこ", "写真?"]);
    assert_eq!(words("さくら と らーめん"), ["さく", "くら", "と?", "らー", "ーめ", "めん"]);
    assert_eq!(words("海 から 空"), ["海", "から?", "空"]);
    assert_eq!(words("x"), ["x"]);
    assert_eq!(words("🙂 !!!"), ["🙂"]);
    assert_eq!(words("\u{301} \u{202e}"), [""; 0]);
    let many: String = (0..200).map(|number| format!("w{number} ")).collect();
    assert_eq!(query_words(&many).len(), 64);
}
