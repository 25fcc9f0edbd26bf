use std::collections::BTreeMap;

/// A form on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlForm {
    /// Its `action`; empty if it has none.
    pub action: String,
    /// Whether it is sent with POST.
    pub is_post: bool,
    /// Its input fields and their values, without buttons.
    pub fields: BTreeMap<String, String>,
}

/// The forms of a page. Only for HTML that this service writes.
pub fn forms(page: &str) -> Vec<HtmlForm> {
    page.split("<form")
        .skip(1)
        .map(|rest| {
            let whole = rest.split("</form>").next().unwrap_or_default();
            let head = whole.split('>').next().unwrap_or_default();
            let fields = whole.split("<input").skip(1).filter_map(|input| {
                let tag = input.split('>').next()?;
                Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()))
            });
            HtmlForm {
                action: attribute(head, "action").unwrap_or_default(),
                is_post: attribute(head, "method").is_some_and(|method| method == "post"),
                fields: fields.collect(),
            }
        })
        .collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let page = r#"<p><form method="post" action="/a?b=c&amp;d"><input type="hidden" name="csrf" value="x">
            <input type="email" name="email" required></form><form><button name="b"></form>"#;
        let forms = forms(page);
        assert_eq!(forms.len(), 2);
        assert_eq!(forms[0].action, "/a?b=c&d");
        assert!(forms[0].is_post && !forms[1].is_post);
        assert_eq!(forms[0].fields["csrf"], "x");
        assert_eq!(forms[0].fields["email"], "");
        assert_eq!(forms[1].action, "");
    }
}
