use std::fmt::Write as _;

use serde_json::Value;

/// A JSON object as an XML document, as PHP servers of the API write it: `true` is `1`, `false` and null are empty, and the
/// items of a list are elements named `element`. The names of members must be valid names of elements.
pub(super) fn document(value: &Value) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n".to_owned();
    write_content(&mut text, value);
    text.push('\n');
    text
}

fn write_content(text: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => text.push('1'),
        Value::Number(number) => {
            // Writing to a string does not fail.
            let _ = write!(text, "{number}");
        }
        Value::String(content) => write_escaped(text, content),
        Value::Array(items) => items.iter().for_each(|item| write_element(text, "element", item)),
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| write_element(text, name, member));
        }
    }
}

fn write_element(text: &mut String, name: &str, value: &Value) {
    let start = text.len();
    let _ = write!(text, "<{name}>");
    let content = text.len();
    write_content(text, value);
    if text.len() == content {
        text.truncate(start);
        let _ = write!(text, "<{name}/>");
    } else {
        let _ = write!(text, "</{name}>");
    }
}

/// Escapes markup, and drops the control characters that XML cannot contain.
fn write_escaped(text: &mut String, content: &str) {
    for c in content.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '\t' | '\n' | '\r' => text.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_ascii_control() => {}
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_php_servers_do() {
        let value =
            json!({"a": {"yes": true, "no": false, "none": null, "n": -3, "list": ["x", "y"], "empty": []}});
        assert_eq!(
            document(&value),
            "<?xml version=\"1.0\"?>\n<a><yes>1</yes><no/><none/><n>-3</n>\
             <list><element>x</element><element>y</element></list><empty/></a>\n"
        );
    }

    #[test]
    fn text_is_escaped() {
        let value = json!({"a": "<b>&amp;]]>\u{0}\u{7}\n\u{ffff}ä"});
        assert_eq!(document(&value), "<?xml version=\"1.0\"?>\n<a>&lt;b&gt;&amp;amp;]]&gt;\nä</a>\n");
    }
}
