//! Stop words.

/// Whether a word is a stop word: an article, preposition or similar word of the most common languages, or a word such
/// as "photo" or "show" that only introduces a search for photos.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    // English
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "had", "has", "have", "he", "her", "his", "i",
    "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "she", "some", "that", "the", "their",
    "them", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "where", "which", "who",
    "with", "you", "your",
    // Introductions to a search
    "find", "image", "images", "photo", "photograph", "photographs", "photos", "pic", "pics", "picture", "pictures",
    "search", "show",
    // German
    "am", "auf", "aus", "bei", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem", "einen", "einer",
    "fur", "im", "mit", "oder", "und", "vom", "von", "vor", "zu", "zum", "zur",
    // French
    "au", "aux", "avec", "dans", "du", "en", "et", "la", "le", "les", "ou", "par", "pour", "sur", "un", "une",
    // Spanish, Portuguese, Italian
    "con", "da", "das", "de", "del", "della", "dei", "di", "do", "dos", "e", "el", "gli", "il", "las", "lo", "los",
    "na", "nel", "nella", "no", "o", "os", "para", "per", "por", "um", "uma", "una", "uno", "y",
    // Dutch, Swedish, Danish, Norwegian
    "av", "een", "ett", "for", "het", "med", "och", "og", "op", "paa", "pa", "til", "till", "van", "voor",
    // Russian
    "в", "во", "для", "за", "и", "из", "к", "на", "от", "по", "с", "со", "у",
    // Japanese, and "photo" in Japanese, Chinese and Korean
    "から", "が", "この", "した", "して", "する", "その", "だけ", "で", "です", "では", "と", "とか", "との", "な", "など",
    "に", "には", "の", "は", "へ", "まで", "ます", "も", "や", "より", "を", "写真", "画像", "照片", "图片", "圖片", "相片",
    "사진",
    // Greek
    "και", "με", "ο", "οι", "η", "σε", "στη", "στην", "στο", "το", "του", "τησ", "των",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::each_token;

    #[test]
    fn every_stop_word_is_a_folded_token() {
        for word in STOP_WORDS {
            let mut found = false;
            each_token(word, |token| found |= token.folded == *word);
            assert!(found, "{word}");
        }
    }
}
