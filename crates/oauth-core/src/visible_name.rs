/// Removes characters from an untrusted name that cannot be seen or that change the text around it: control characters,
/// and characters that change the direction of text, have no width or look like a space.
///
/// ```
/// assert_eq!(oauth_core::visible_name("Photo\u{202e} app\u{200b}"), "Photo app");
/// ```
pub fn visible_name(name: &str) -> String {
    let is_visible = |c: &char| {
        !c.is_control()
            && !matches!(
                c,
                '\u{ad}'
                    | '\u{34f}'
                    | '\u{61c}'
                    | '\u{115f}'..='\u{1160}'
                    | '\u{17b4}'..='\u{17b5}'
                    | '\u{180b}'..='\u{180f}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{2800}'
                    | '\u{3164}'
                    | '\u{fe00}'..='\u{fe0f}'
                    | '\u{feff}'
                    | '\u{ffa0}'
                    | '\u{fff0}'..='\u{fffb}'
                    | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}'
                    | '\u{e0000}'..='\u{e0fff}'
            )
    };
    name.chars().filter(is_visible).collect()
}

/// Whether nothing of a name can be seen.
pub(crate) fn is_blank(name: &str) -> bool {
    visible_name(name).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_left() {
        let check = |name: &str, expect: &str| assert_eq!(visible_name(name), expect, "{name:?}");
        check("Claude", "Claude");
        check("<script>", "<script>");
        check("a\u{202e}b\u{2066}c\u{200d}d\ne", "abcde");
        check("Pay\u{ad}pal\u{fe0f}", "Paypal");
        check("Фото 写真", "Фото 写真");
        check("\u{3164}\u{2800}\u{115f}\u{e0041}\u{1d173}", "");
    }

    #[test]
    fn a_name_of_white_space_and_invisible_characters_is_blank() {
        for blank in ["", " ", "\t\r\n\u{a0}\u{3000}\u{2003}", "\u{200b} \u{feff}", "\u{3164}\u{2800}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for name in ["a", "\u{202e}.", " 写 "] {
            assert!(!is_blank(name), "{name:?}");
        }
    }
}
