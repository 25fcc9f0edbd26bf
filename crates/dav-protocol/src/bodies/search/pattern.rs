/// The pattern of the operator `like` (RFC 5323 §5.12): `%` stands for any text, `_` for any character, and a backslash
/// makes the character after it literal. Case is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    AnyText,
    AnyChar,
    Char(char),
}

impl Pattern {
    /// Parses a pattern. Every text is a valid pattern.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                // Several `%` in a row mean the same as one, and would only cost time.
                '%' if parts.last() == Some(&Part::AnyText) => {}
                '%' => parts.push(Part::AnyText),
                '_' => parts.push(Part::AnyChar),
                '\\' => parts.extend(chars.next().unwrap_or('\\').to_lowercase().map(Part::Char)),
                c => parts.extend(c.to_lowercase().map(Part::Char)),
            }
        }
        Self { parts }
    }

    /// Whether a text matches as a whole.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let (mut at, mut part) = (0, 0);
        // After the last `%`: the part that follows it, and where that part is tried next.
        let mut retry: Option<(usize, usize)> = None;
        while let Some(&c) = text.get(at) {
            match self.parts.get(part) {
                Some(Part::AnyText) => {
                    part += 1;
                    retry = Some((part, at + 1));
                }
                Some(Part::AnyChar) => (at, part) = (at + 1, part + 1),
                Some(Part::Char(expected)) if *expected == c => (at, part) = (at + 1, part + 1),
                _ => {
                    let Some((after, from)) = retry else { return false };
                    (part, at) = (after, from);
                    retry = Some((after, from + 1));
                }
            }
        }
        self.parts.iter().skip(part).all(|part| *part == Part::AnyText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wildcards_stand_for_text() {
        for (pattern, text, expect) in [
            ("image/%", "image/jpeg", true),
            ("image/%", "image/", true),
            ("image/%", "xml/image/", false),
            ("%", "", true),
            ("", "", true),
            ("", "a", false),
            ("%IMG%", "my img_1.jpg", true),
            ("IMG__", "img_1", true),
            ("IMG__", "img_", false),
            ("%.jpg", "a.jpg.part.jpg", true),
            ("%.jpg", "a.jpg.part", false),
            (r"100\%", "100%", true),
            (r"100\%", "1000", false),
            (r"a\_b", "a_b", true),
            (r"a\_b", "axb", false),
            (r"\", r"\", true),
            ("%ab%ab%", "ab", false),
            ("ÄRGER%", "Ärger.jpg", true),
        ] {
            assert_eq!(Pattern::parse(pattern).matches(text), expect, "{pattern} {text}");
        }
    }

    /// A naive matcher, which takes exponential time.
    fn is_like(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|start| is_like(rest, &text[start..])),
            Some(('_', rest)) => text.split_first().is_some_and(|(_, text)| is_like(rest, text)),
            Some((c, rest)) => {
                text.split_first().is_some_and(|(found, text)| found == c && is_like(rest, text))
            }
        }
    }

    proptest! {
        #[test]
        fn matches_agree_with_a_naive_matcher(pattern in "[ab%_]{0,8}", text in "[ab]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Pattern::parse(&pattern).matches(&text), is_like(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn an_escaped_text_matches_itself(text in "\\PC{0,20}") {
            let escaped: String = text.chars().flat_map(|c| ['\\', c]).collect();
            prop_assert!(Pattern::parse(&escaped).matches(&text));
        }
    }
}
