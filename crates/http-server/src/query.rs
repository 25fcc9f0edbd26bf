use std::{borrow::Cow, collections::HashMap};

use url::form_urlencoded;

/// The parameters of a query string. If a key is repeated, its first value counts. A blank value counts as absent.
#[derive(Debug, Default)]
pub struct Query<'a> {
    values: HashMap<Cow<'a, str>, Cow<'a, str>>,
}

impl<'a> Query<'a> {
    pub fn parse(query: Option<&'a str>) -> Self {
        let mut values = HashMap::new();
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            values.entry(key).or_insert(value);
        }
        Self { values }
    }

    /// The value of a key, trimmed.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_value_counts_and_blank_is_absent() {
        let query = Query::parse(Some("a=1&a=2&b=&b=3&c=%20+&d=x%20y&e&f=%FF"));
        let got = |key| query.get(key);
        assert_eq!(got("a"), Some("1"));
        assert_eq!(got("b"), None);
        assert_eq!(got("c"), None);
        assert_eq!(got("d"), Some("x y"));
        assert_eq!(got("e"), None);
        assert_eq!(got("f"), Some("\u{fffd}"));
        assert_eq!(Query::parse(None).get("a"), None);
    }
}
