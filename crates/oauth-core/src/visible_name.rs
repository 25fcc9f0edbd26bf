/// Removes invisible characters and those that affect the surrounding text from an untrusted name: control and
/// direction characters, zero-width characters, and characters that look like a space. It does not escape HTML. A
/// service whose templates do not escape HTML calls [`escape_html`].
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

/// A text as content of an HTML element, or as the value of an attribute in quotes.
///
/// ```
/// assert_eq!(oauth_core::escape_html("<b>\"R&D\""), "&lt;b&gt;&quot;R&amp;D&quot;");
/// ```
pub fn escape_html(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
        escaped
    })
}

/// Whether a name has no visible character.
pub(crate) fn is_blank(name: &str) -> bool {
    visible_name(name).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        let check = |name: &str, expect: &str| assert_eq!(visible_name(name), expect, "{name:?}");
        check("Claude", "Claude");
        check("<script>", "<script>");
        check("a\u{202e}b\u{2066}c\u{200d}d\ne", "abcde");
        check("Pay\u{ad}pal\u{fe0f}", "Paypal");
        check("Фото 写真", "Фото 写真");
        check("\u{3164}\u{2800}\u{115f}\u{e0041}\u{1d173}", "");
    }

    #[test]
    fn html_is_escaped() {
        let check = |text: &str, expect: &str| assert_eq!(escape_html(text), expect);
        check("", "");
        check("Größe 写真", "Größe 写真");
        check("'><script a=\"&amp;\">", "&#39;&gt;&lt;script a=&quot;&amp;amp;&quot;&gt;");
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
