//! What people say about a photo beside its description: favourite, rating, keywords, archived.

use serde::{Deserialize, Serialize};

use crate::{Invalid, composed, text::refuse_control};

/// Maximum number of keywords of a photo.
pub const MAX_KEYWORDS: usize = 100;

/// A rating in stars, 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Rating(u8);

impl Rating {
    /// # Errors
    /// [`Invalid`] naming `rating` outside 1 to 5.
    pub fn new(stars: u8) -> Result<Self, Invalid> {
        if (1..=5).contains(&stars) {
            Ok(Self(stars))
        } else {
            Err(Invalid::new("rating", "must be a whole number from 1 to 5"))
        }
    }

    pub const fn stars(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Rating {
    type Error = Invalid;

    fn try_from(stars: u8) -> Result<Self, Invalid> {
        Self::new(stars)
    }
}

impl From<Rating> for u8 {
    fn from(rating: Rating) -> Self {
        rating.0
    }
}

/// A keyword: 1 to 100 characters in composed form, without control characters and space around it. Two keywords that differ
/// only in letter case are the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Keyword(String);

impl Keyword {
    /// Maximum length in characters.
    pub const MAX_CHARS: usize = 100;

    /// Trims and checks a keyword.
    ///
    /// # Errors
    /// [`Invalid`] naming `keywords`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let keyword = composed(text.trim());
        refuse_control("keywords", &keyword)?;
        if keyword.is_empty() || keyword.chars().count() > Self::MAX_CHARS {
            return Err(Invalid::new("keywords", "must have 1 to 100 characters each"));
        }
        Ok(Self(keyword.into_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form in which keywords are compared.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl TryFrom<String> for Keyword {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl From<Keyword> for String {
    fn from(keyword: Keyword) -> Self {
        keyword.0
    }
}

/// The keywords of a photo in the order in which they were given, each once, at most [`MAX_KEYWORDS`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Keyword>", into = "Vec<Keyword>")]
pub struct Keywords(Vec<Keyword>);

impl From<Vec<Keyword>> for Keywords {
    /// Repeated keywords and those beyond [`MAX_KEYWORDS`] are left out.
    fn from(keywords: Vec<Keyword>) -> Self {
        let mut kept = Self::default();
        keywords.into_iter().for_each(|keyword| kept.push(keyword));
        kept.0.truncate(MAX_KEYWORDS);
        kept
    }
}

impl From<Keywords> for Vec<Keyword> {
    fn from(keywords: Keywords) -> Self {
        keywords.0
    }
}

impl Keywords {
    /// Checks a list of keywords. Repeated ones are left out.
    ///
    /// # Errors
    /// [`Invalid`] naming `keywords`.
    pub fn parse<'a>(keywords: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let mut parsed = Self::default();
        for keyword in keywords {
            parsed.push(Keyword::parse(keyword)?);
            if parsed.0.len() > MAX_KEYWORDS {
                return Err(Invalid::new("keywords", "must be at most 100"));
            }
        }
        Ok(parsed)
    }

    /// Keywords from a file. What is no keyword is left out, and what is too long is cut.
    pub fn of_file<'a>(keywords: impl IntoIterator<Item = &'a str>) -> Self {
        let mut read = Self::default();
        for text in keywords {
            let cleaned: String = text
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect::<String>()
                .trim()
                .chars()
                .take(Keyword::MAX_CHARS)
                .collect();
            if let Ok(keyword) = Keyword::parse(&cleaned) {
                read.push(keyword);
            }
            if read.0.len() == MAX_KEYWORDS {
                break;
            }
        }
        read
    }

    /// Adds a keyword, unless it is there or the list is full by one more than the maximum.
    fn push(&mut self, keyword: Keyword) {
        let key = keyword.key();
        if self.0.len() <= MAX_KEYWORDS && !self.0.iter().any(|other| other.key() == key) {
            self.0.push(keyword);
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Keyword> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keywords as texts.
    pub fn into_texts(self) -> Vec<String> {
        self.0.into_iter().map(String::from).collect()
    }

    /// These keywords, and those of `added` that are new. Those beyond [`MAX_KEYWORDS`] are left out.
    #[must_use]
    pub fn with(&self, added: &Self) -> Self {
        let mut all = self.clone();
        added.iter().for_each(|keyword| all.push(keyword.clone()));
        all.0.truncate(MAX_KEYWORDS);
        all
    }

    /// These keywords without those of `removed`.
    #[must_use]
    pub fn without(&self, removed: &Self) -> Self {
        let removed: Vec<String> = removed.iter().map(Keyword::key).collect();
        Self(self.iter().filter(|keyword| !removed.contains(&keyword.key())).cloned().collect())
    }
}

/// The marks of a photo. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Marks {
    #[serde(skip_serializing_if = "is_false")]
    pub favorite: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
    #[serde(skip_serializing_if = "Keywords::is_empty")]
    pub keywords: Keywords,
    /// Whether the timeline of the web pages hides it.
    #[serde(skip_serializing_if = "is_false")]
    pub archived: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(list: &[&str]) -> Keywords {
        Keywords::parse(list.iter().copied()).unwrap()
    }

    #[test]
    fn keywords_are_checked_and_kept_once() {
        let parsed = keywords(&[" Garden ", "garden", "Straße", "e\u{301}te\u{301}"]);
        let texts: Vec<&str> = parsed.iter().map(Keyword::as_str).collect();
        assert_eq!(texts, ["Garden", "Straße", "été"]);
        for bad in ["", " ", "a\nb", "a\0", &"x".repeat(101)] {
            assert_eq!(Keywords::parse([bad]).unwrap_err().field, "keywords", "{bad:?}");
        }
        let many: Vec<String> = (0..=MAX_KEYWORDS).map(|number| number.to_string()).collect();
        assert!(Keywords::parse(many.iter().take(MAX_KEYWORDS).map(String::as_str)).is_ok());
        assert!(Keywords::parse(many.iter().map(String::as_str)).is_err());
    }

    #[test]
    fn keywords_of_files_are_cleaned() {
        let long = "x".repeat(200);
        let read = Keywords::of_file(["a\nb", " ", "\0", "A B", &long]);
        let texts: Vec<&str> = read.iter().map(Keyword::as_str).collect();
        assert_eq!(texts, ["a b", &long[..100]]);
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(Keywords::of_file(many.iter().map(String::as_str)).iter().len(), MAX_KEYWORDS);
    }

    #[test]
    fn keywords_are_added_and_removed_in_any_case() {
        let present = keywords(&["Garden", "Lisbon"]);
        assert_eq!(present.with(&keywords(&["LISBON", "Sea"])), keywords(&["Garden", "Lisbon", "Sea"]));
        assert_eq!(present.without(&keywords(&["garden", "Sea"])), keywords(&["Lisbon"]));
    }

    #[test]
    fn absent_marks_take_no_space() {
        let json = |marks: &Marks| serde_json::to_string(marks).unwrap();
        assert_eq!(json(&Marks::default()), "{}");
        let marks = Marks {
            favorite: true,
            rating: Rating::new(3).ok(),
            keywords: keywords(&["Sea"]),
            archived: true,
        };
        let text = r#"{"favorite":true,"rating":3,"keywords":["Sea"],"archived":true}"#;
        assert_eq!(json(&marks), text);
        assert_eq!(serde_json::from_str::<Marks>(text).unwrap(), marks);
        assert!(serde_json::from_str::<Marks>(r#"{"rating":6}"#).is_err());
    }
}
