//! Which of the words that were read are any.

use tesseract::{Line, Word};

/// Words that Tesseract is less sure of are never any, 0 to 100.
pub(super) const LEAST_CONFIDENCE: f32 = 55.0;

/// The words worth keeping, line by line.
pub(super) fn of<'a>(lines: impl Iterator<Item = &'a Line>) -> String {
    let mut text = String::new();
    for line in lines {
        let words = line.words.iter().filter(|word| is_word(word)).map(|word| word.text.as_str());
        let words = words.collect::<Vec<_>>().join(" ");
        if !words.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&words);
        }
    }
    text
}

/// Whether Tesseract is sure enough of a word. The shorter it is, the more often it is leaves and gravel; digits are
/// rarely.
pub(super) fn is_word(word: &Word) -> bool {
    let counted = word.text.chars().filter(|c| c.is_alphanumeric()).count();
    let all = word.text.chars().count();
    let has_digit = word.text.chars().any(char::is_numeric);
    let least = match (counted, has_digit) {
        (0, _) => return false,
        (1 | 2, false) => 92.0,
        (1 | 2, true) | (3, false) => 85.0,
        (3, true) => 70.0,
        (4, _) => 75.0,
        _ => LEAST_CONFIDENCE,
    };
    // Mostly signs: a pattern, not a word.
    counted * 5 >= all * 3 && word.confidence >= least
}

#[cfg(test)]
mod tests {
    use tesseract::Bounds;

    use super::*;

    fn word(text: &str, confidence: f32) -> Word {
        Word { text: text.into(), confidence, bounds: Bounds::default() }
    }

    #[test]
    fn short_words_must_be_sure() {
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

    #[test]
    fn lines_stay_lines() {
        let line = |words: &[(&str, f32)]| Line {
            words: words.iter().map(|(text, confidence)| word(text, *confidence)).collect(),
            begins_paragraph: false,
        };
        let lines = [
            line(&[("TOTAL", 90.0), ("~", 90.0), ("12.99", 90.0)]),
            line(&[("wey", 60.0)]),
            line(&[("Thank", 90.0), ("you", 95.0)]),
        ];
        assert_eq!(of(lines.iter()), "TOTAL 12.99\nThank you");
        assert_eq!(of([].iter()), "");
    }
}
