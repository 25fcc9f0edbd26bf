//! Filters OCR noise.

use tesseract::{TextLine, TextWord};

/// Minimum confidence of every word, 0 to 100. Short words need a higher one.
pub(crate) const MIN_CONFIDENCE: f32 = 55.0;

/// The text of the accepted words, line by line.
pub(crate) fn keep_words(lines: &[TextLine]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut words: Vec<&TextWord> = line.words.iter().filter(|word| is_word(word)).collect();
        if !has_text(&words) {
            words.retain(|word| !matches!(single_character(word), Some(c) if !is_word_character(c)));
        }
        let words = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        if !words.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&words);
        }
    }
    text
}

/// Whether a line has a word of several characters, or several characters of a script without spaces. Texture often
/// looks like a single character.
fn has_text(words: &[&TextWord]) -> bool {
    let singles = words.iter().filter_map(|word| single_character(word));
    words.iter().any(|word| single_character(word).is_none()) || singles.filter(|c| is_cjk(*c)).count() > 1
}

/// The only letter or digit of a word; `None` if the word has several or none.
fn single_character(word: &TextWord) -> Option<char> {
    let mut counted = word.text.chars().filter(|c| c.is_alphanumeric());
    counted.next().filter(|_| counted.next().is_none())
}

/// Whether a character can be a word: ideographs and Korean syllables.
fn is_word_character(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a character is Chinese, Japanese or Korean. Tesseract splits lines in these scripts into single characters.
fn is_cjk(c: char) -> bool {
    is_word_character(c) || matches!(c, '\u{3040}'..='\u{30FF}')
}

/// Whether Tesseract's confidence in a word is high enough. The shorter a word, the more often it is texture such as leaves
/// or gravel; digits rarely are.
pub(crate) fn is_word(word: &TextWord) -> bool {
    let counted = word.text.chars().filter(|c| c.is_alphanumeric()).count();
    let all = word.text.chars().count();
    let has_digit = word.text.chars().any(char::is_numeric);
    let min_confidence = match (counted, has_digit) {
        (0, _) => return false,
        (1 | 2, false) => 92.0,
        (1 | 2, true) | (3, false) => 85.0,
        (3, true) => 70.0,
        (4, _) => 75.0,
        _ => MIN_CONFIDENCE,
    };
    // Text that is mostly punctuation is a pattern, not a word.
    counted * 5 >= all * 3 && word.confidence >= min_confidence
}

#[cfg(test)]
mod tests {
    use tesseract::BoundingBox;

    use super::*;

    fn word(text: &str, confidence: f32) -> TextWord {
        TextWord { text: text.into(), confidence, bounds: BoundingBox::default() }
    }

    #[test]
    fn short_words_need_high_confidence() {
        let check = |text: &str, confidence: f32, expect| {
            assert_eq!(is_word(&word(text, confidence)), expect, "{text} {confidence}");
        };
        check("Hammer", 56.0, true);
        check("Hammer", 54.0, false);
        check("wey", 80.0, false);
        check("the", 96.0, true);
        check("a", 91.0, false);
        check("a", 95.0, true);
        check("12", 86.0, true);
        check("1.5", 86.0, true);
        check("12.99", 80.0, true);
        check("||\u{2014}", 99.0, false);
        check("a=|;", 99.0, false);
        check("", 99.0, false);
        check("\u{65e5}\u{672c}\u{8a9e}", 86.0, true);
    }

    fn line(words: &[(&str, f32)]) -> TextLine {
        TextLine {
            words: words.iter().map(|(text, confidence)| word(text, *confidence)).collect(),
            begins_paragraph: false,
        }
    }

    #[test]
    fn single_characters_are_dropped() {
        let check = |words: &[&str], expect: &str| {
            let words: Vec<_> = words.iter().map(|word| (*word, 96.0)).collect();
            assert_eq!(keep_words(&[line(&words)]), expect, "{words:?}");
        };
        for single in ["a", "I", "7", "(7)", "e", "\u{e9}", "\u{416}", "\u{30ce}", "\u{3078}"] {
            check(&[single], "");
        }
        check(&["i", "1"], "");
        check(&["Platform", "9"], "Platform 9");
        check(&["9", "Platform"], "9 Platform");
        check(&["I", "have", "a", "dog"], "I have a dog");
        check(&["12", "x", "4"], "12 x 4");
        check(&["\u{51fa}"], "\u{51fa}");
        check(&["\u{bb38}"], "\u{bb38}");
        check(&["\u{65e5}", "\u{306e}", "\u{51fa}"], "\u{65e5} \u{306e} \u{51fa}");
        check(&["\u{306e}", "\u{308a}"], "\u{306e} \u{308a}");
        // Words of low confidence do not make a line count as text.
        let uncertain = line(&[("wey", 60.0), ("a", 96.0)]);
        assert_eq!(keep_words(&[uncertain]), "");
        // Each line is filtered separately.
        let lines = [line(&[("Platform", 90.0)]), line(&[("9", 96.0)])];
        assert_eq!(keep_words(&lines), "Platform");
    }

    #[test]
    fn lines_are_kept_apart() {
        let lines = [
            line(&[("TOTAL", 90.0), ("~", 90.0), ("12.99", 90.0)]),
            line(&[("wey", 60.0)]),
            line(&[("Thank", 90.0), ("you", 95.0)]),
        ];
        assert_eq!(keep_words(&lines), "TOTAL 12.99\nThank you");
        assert_eq!(keep_words(&[]), "");
    }
}
