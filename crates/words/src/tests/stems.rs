use crate::{can_have_typos, fold, is_typo_of, plural_keys, same_stem, single_edits, stem_keys, typo_prefix};

#[test]
fn forms_of_a_word_share_a_stem() {
    for (one, other) in [
        // English
        ("boat", "boats"),
        ("running", "run"),
        ("receipts", "receipt"),
        ("organisation", "organisations"),
        ("churches", "church"),
        ("berries", "berry"),
        ("car", "cars"),
        ("bus", "buses"),
        ("painted", "painting"),
        ("bicycle", "bicycles"),
        ("dog", "dogs"),
        // German
        ("Hund", "Hunde"),
        ("Häuser", "Haus"),
        ("Kinder", "Kind"),
        ("Berge", "Berg"),
        ("Rechnungen", "Rechnung"),
        // French
        ("bateau", "bateaux"),
        ("cheval", "chevaux"),
        ("montagne", "montagnes"),
        ("fleurs", "fleur"),
        // Spanish
        ("casa", "casas"),
        ("gato", "gatos"),
        ("fotografía", "fotografías"),
        ("flores", "flor"),
        // Italian
        ("ragazzo", "ragazzi"),
        ("montagna", "montagne"),
        // Portuguese
        ("praia", "praias"),
        ("montanhas", "montanha"),
        // Dutch
        ("fietsen", "fiets"),
        ("bergen", "berg"),
        // Swedish
        ("båten", "båtens"),
        ("hundar", "hundarna"),
        // Polish
        ("samochodu", "samochodem"),
        // Russian
        ("лодка", "лодки"),
        ("горы", "гора"),
        ("собаки", "собака"),
        // Greek
        ("θάλασσα", "θάλασσας"),
    ] {
        let (one, other) = (fold(one), fold(other));
        assert!(same_stem(&one, &other), "{one} and {other}");
        assert!(same_stem(&other, &one), "{other} and {one}");
        let is_found = |from: &str, to: &str| {
            let (keys, others) = (stem_keys(from), stem_keys(to));
            keys.iter().any(|key| others.contains(key) || key == to)
                || others.iter().any(|key| key == from)
                || plural_keys(from).iter().any(|key| key == to)
        };
        assert!(is_found(&one, &other) && is_found(&other, &one), "{one} and {other} by their keys");
    }
}

#[test]
fn similar_words_do_not_share_a_stem() {
    for (one, other) in [
        ("car", "care"),
        ("car", "cara"),
        ("car", "cart"),
        ("flower", "flow"),
        ("flowers", "flow"),
        ("rocks", "rockets"),
        ("rocket", "rock"),
        ("market", "mark"),
        ("shower", "show"),
        ("planet", "plan"),
        ("plane", "plan"),
        ("corner", "corn"),
        ("wallet", "wall"),
        ("pasta", "past"),
        ("sea", "see"),
        ("red", "reed"),
        ("2019", "2019s"),
        ("img1", "img1s"),
        ("as", "ass"),
        ("station", "state"),
        ("cat", "catalogue"),
        ("king", "kin"),
        ("garden", "gard"),
    ] {
        assert!(!same_stem(one, other), "{one} and {other}");
        assert!(!same_stem(other, one), "{other} and {one}");
    }
}

#[test]
fn words_with_digits_and_other_scripts_have_no_stems() {
    for word in ["2019", "img1234", "a", "an", "金閣", "🙂", ""] {
        assert!(stem_keys(word).is_empty(), "{word}");
    }
}

#[test]
fn typos_are_tolerated_in_long_words() {
    for (one, other) in [
        ("harbor", "harbour"),
        ("harbuor", "harbour"),
        ("lighhouse", "lighthouse"),
        ("recieptz", "receiptz"),
        ("reciept", "receipt"),
        ("москвв", "москва"),
        ("lighthoose", "lighthouse"),
        ("ligthouze", "lighthouze"),
        ("fotogrfiaa", "fotografia"),
    ] {
        assert!(is_typo_of(one, other) && is_typo_of(other, one), "{one} and {other}");
    }
    for (one, other) in [
        ("boat", "boot"),
        ("coat", "coats"),
        ("house", "house"),
        ("house", "hands"),
        ("20191", "20192"),
        ("img12345", "img12346"),
        ("harbour", "harvest"),
        ("mountains", "fountanis"),
    ] {
        assert!(!is_typo_of(one, other) && !is_typo_of(other, one), "{one} and {other}");
    }
}

#[test]
fn single_edits_are_complete() {
    for (word, other) in
        [("harbour", "harbor"), ("harbor", "harbour"), ("reciept", "receipt"), ("hause", "house")]
    {
        assert!(single_edits(word).iter().any(|edit| edit == other), "{word} and {other}");
    }
    for word in ["harbour", "москва", "θαλασσα", "שלוםם", "مدرسةة"] {
        let word = fold(word);
        let edits = single_edits(&word);
        assert!((50..1500).contains(&edits.len()), "{word}: {}", edits.len());
        assert!(edits.iter().all(|other| is_typo_of(&word, other) || *other == word), "{word}");
    }
    assert!(single_edits("boat").is_empty());
    assert!(!can_have_typos("2019a"));
    assert_eq!(typo_prefix("lighthouse"), Some("lig"));
    assert_eq!(typo_prefix("harbour"), None);
}
