/// An entity tag (RFC 9110 §8.8.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTag {
    pub is_weak: bool,
    /// What is between the quotes.
    pub opaque: String,
}

impl EntityTag {
    /// Parses a tag. A tag without quotes is accepted, because old clients send such tags.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (is_weak, text) = text.strip_prefix("W/").map_or((false, text), |text| (true, text));
        let opaque = match text.strip_prefix('"') {
            Some(text) => text.strip_suffix('"')?,
            None => text,
        };
        let is_valid = !opaque.is_empty() && !opaque.contains('"') && !opaque.chars().any(char::is_control);
        is_valid.then(|| Self { is_weak, opaque: opaque.to_owned() })
    }

    /// Strong comparison (RFC 9110 §8.8.3.2) with a strong tag.
    pub fn is_strong_match(&self, current: &str) -> bool {
        !self.is_weak && self.opaque == current
    }
}

/// `If-Match` or `If-None-Match` (RFC 9110 §13.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: anything that exists.
    Any,
    /// One of these. Malformed tags are dropped; they match nothing.
    Tags(Vec<EntityTag>),
}

impl EntityTags {
    /// Parses the header. A comma within quotes does not separate tags.
    pub fn parse(value: &str) -> Self {
        if value.trim() == "*" {
            return Self::Any;
        }
        let mut is_quoted = false;
        let parts = value.split(|c| {
            is_quoted ^= c == '"';
            c == ',' && !is_quoted
        });
        Self::Tags(parts.filter_map(EntityTag::parse).collect())
    }

    /// Whether `If-Match` is met by the current tag; `None` if nothing exists.
    pub fn is_match(&self, current: Option<&str>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::Tags(tags), Some(current)) => tags.iter().any(|tag| tag.is_strong_match(current)),
        }
    }

    /// Whether `If-None-Match` is met by the current tag. Weak tags match as well (RFC 9110 §13.1.2).
    pub fn is_none_match(&self, current: Option<&str>) -> bool {
        match (self, current) {
            (_, None) => true,
            (Self::Any, Some(_)) => false,
            (Self::Tags(tags), Some(current)) => tags.iter().all(|tag| tag.opaque != current),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_compares_strongly_and_if_none_match_weakly() {
        let check = |value: &str, current: Option<&str>, matches: bool, none_matches: bool| {
            let tags = EntityTags::parse(value);
            assert_eq!(tags.is_match(current), matches, "If-Match: {value} with {current:?}");
            assert_eq!(tags.is_none_match(current), none_matches, "If-None-Match: {value} with {current:?}");
        };
        check("*", Some("a"), true, false);
        check("*", None, false, true);
        check("\"a\"", Some("a"), true, false);
        check("\"b\", \"a\"", Some("a"), true, false);
        check("\"x,\",\"a\"", Some("x,"), true, false);
        check("a", Some("a"), true, false);
        check("W/\"a\"", Some("a"), false, false);
        check("\"b\"", Some("a"), false, true);
        check("\"a\"", None, false, true);
        check("\"a", Some("a"), false, true);
        check("", Some("a"), false, true);
    }
}
