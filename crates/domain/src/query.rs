use crate::{AlbumId, Circle, Invalid, Timestamp, parse_digits};

/// With a circle, List images looks at this many of the newest images that pass the rest of its filter.
pub const MAX_CIRCLE_CANDIDATES: u32 = 1000;

/// Maximum length of a search query, in characters.
pub const MAX_QUERY_CHARS: usize = 2000;

/// Maximum number of results on a page: 1 to 100, by default 50.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(u32);

impl Default for Limit {
    fn default() -> Self {
        Self(50)
    }
}

impl Limit {
    /// The largest page.
    pub const MAX: Self = Self(100);

    /// Checks a number of results.
    ///
    /// # Errors
    /// [`Invalid`] naming `limit` outside 1 to 100.
    pub fn new(limit: u32) -> Result<Self, Invalid> {
        if (1..=100).contains(&limit) {
            Ok(Self(limit))
        } else {
            Err(Invalid::new("limit", "must lie between 1 and 100"))
        }
    }

    /// Parses a number of results from plain digits.
    ///
    /// # Errors
    /// [`Invalid`] naming `limit`.
    pub fn parse(digits: &str) -> Result<Self, Invalid> {
        Self::new(parse_digits("limit", digits)?)
    }

    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The number of albums to skip: 0 to 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offset(u32);

impl Offset {
    /// Checks a number of albums.
    ///
    /// # Errors
    /// [`Invalid`] naming `offset` above 500.
    pub fn new(offset: u32) -> Result<Self, Invalid> {
        if offset <= 500 {
            Ok(Self(offset))
        } else {
            Err(Invalid::new("offset", "must lie between 0 and 500"))
        }
    }

    /// Parses a number of albums from plain digits.
    ///
    /// # Errors
    /// [`Invalid`] naming `offset`.
    pub fn parse(digits: &str) -> Result<Self, Invalid> {
        Self::new(parse_digits("offset", digits)?)
    }

    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Capture times from `start` to `end`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    start: Timestamp,
    end: Timestamp,
}

impl Default for DateRange {
    fn default() -> Self {
        Self { start: Timestamp::MIN, end: Timestamp::MAX }
    }
}

impl DateRange {
    /// A range between two moments; open on the side of an absent one.
    ///
    /// # Errors
    /// [`Invalid`] naming `startDate` when it lies after the end.
    pub fn new(start: Option<Timestamp>, end: Option<Timestamp>) -> Result<Self, Invalid> {
        let range = Self { start: start.unwrap_or(Timestamp::MIN), end: end.unwrap_or(Timestamp::MAX) };
        if range.start > range.end {
            return Err(Invalid::new("startDate", "must not lie after endDate"));
        }
        Ok(range)
    }

    /// Parses two ISO 8601 times.
    ///
    /// # Errors
    /// [`Invalid`] naming `startDate` or `endDate`.
    pub fn parse(start: Option<&str>, end: Option<&str>) -> Result<Self, Invalid> {
        let moment = |field, text: Option<&str>| {
            text.map(|text| Timestamp::parse_iso(text).map_err(|reason| Invalid::new(field, reason)))
                .transpose()
        };
        Self::new(moment("startDate", start)?, moment("endDate", end)?)
    }

    /// The first moment of the range.
    pub const fn start(self) -> Timestamp {
        self.start
    }

    /// The last moment of the range.
    pub const fn end(self) -> Timestamp {
        self.end
    }
}

/// Which images a list or a search considers, besides the words of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Only images of this album of the searching account.
    pub album: Option<AlbumId>,
    /// Only these places.
    pub circle: Option<Circle>,
    /// Only images of the camera of this name, as [`PhotoDetails::camera`](crate::PhotoDetails::camera) gives it.
    pub camera: Option<String>,
    /// Only these capture times.
    pub range: DateRange,
}

impl Filter {
    /// Whether it restricts nothing but capture times.
    pub fn is_range_only(&self) -> bool {
        *self == Self { range: self.range, ..Self::default() }
    }
}

/// The parameters of List images.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListQuery {
    pub limit: Limit,
    /// Its circle applies to the newest [`MAX_CIRCLE_CANDIDATES`] images that pass the rest of it.
    pub filter: Filter,
}

/// A way in which a query can match an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Description and words read by OCR.
    Text,
    /// Visual appearance.
    Image,
}

/// The channels that a search is limited to; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// Whether description and OCR words are matched.
    pub text: bool,
    /// Whether visual appearance is matched.
    pub image: bool,
}

impl Channels {
    /// Builds the set from a list.
    ///
    /// # Errors
    /// [`Invalid`] naming `channels` when the list is empty.
    pub fn new(channels: &[Channel]) -> Result<Self, Invalid> {
        if channels.is_empty() {
            return Err(Invalid::new("channels", "must be a list of text and image"));
        }
        Ok(Self { text: channels.contains(&Channel::Text), image: channels.contains(&Channel::Image) })
    }

    /// Parses a comma-separated list of `text` and `image`.
    ///
    /// # Errors
    /// [`Invalid`] naming `channels`.
    pub fn parse(list: &str) -> Result<Self, Invalid> {
        let channel = |name: &str| match name.trim() {
            "text" => Ok(Channel::Text),
            "image" => Ok(Channel::Image),
            _ => Err(Invalid::new("channels", "must be a comma-separated list of text and image")),
        };
        Self::new(&list.split(',').map(channel).collect::<Result<Vec<_>, _>>()?)
    }
}

/// The words of a search: 1 to 2,000 characters after trimming, no NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryText(String);

/// Maximum number of distinct words in a query; further words are ignored.
const MAX_WORDS: usize = 64;

impl QueryText {
    /// Trims and checks a query.
    ///
    /// # Errors
    /// [`Invalid`] naming `query`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.contains('\0') {
            return Err(Invalid::new("query", "must not contain the NUL character"));
        }
        if text.is_empty() || text.chars().count() > MAX_QUERY_CHARS {
            return Err(Invalid::new("query", "must have 1 to 2000 characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The trimmed query.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The distinct words that contain a letter or a digit, at most 64, in the order typed.
    pub fn words(&self) -> Vec<&str> {
        let words = self.0.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
        words.fold(Vec::new(), |mut kept, word| {
            if kept.len() < MAX_WORDS && !kept.contains(&word) {
                kept.push(word);
            }
            kept
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum SearchTarget {
    /// Images that match words, best match first.
    Words {
        text: QueryText,
        /// The channels it is limited to; with `None` the service chooses.
        channels: Option<Channels>,
    },
    /// All images of the album and the circle, newest first.
    Everything,
}

/// The parameters of Search images. Without words, an album or a circle is set.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    /// Images that match words, or all images.
    pub target: SearchTarget,
    /// Only images of this album. The id is unchecked: a malformed one is treated as unknown.
    pub album: Option<String>,
    /// All further restrictions; its album is that of the checked id.
    pub filter: Filter,
    /// Maximum number of results.
    pub limit: Limit,
}

impl SearchQuery {
    /// Checks the parameters of a search.
    ///
    /// # Errors
    /// [`Invalid`] naming `query` when words, album and circle are all absent; naming `channels` when they are
    /// present without words, or with a circle or an album.
    pub fn new(
        text: Option<QueryText>,
        channels: Option<Channels>,
        album: Option<String>,
        filter: Filter,
        limit: Limit,
    ) -> Result<Self, Invalid> {
        let filtered = album.is_some() || filter.circle.is_some();
        if channels.is_some() && (text.is_none() || filtered) {
            return Err(Invalid::new(
                "channels",
                "needs a query and cannot be combined with a circle or an album",
            ));
        }
        let target = match text {
            Some(text) => SearchTarget::Words { text, channels },
            None if filtered => SearchTarget::Everything,
            None => return Err(Invalid::new("query", "is missing; give it, or albumId, or a full circle")),
        };
        Ok(Self { target, album, filter, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    #[test]
    fn limits_and_offsets_are_checked() {
        assert_eq!(Limit::default().get(), 50);
        assert_eq!(Limit::parse("100"), Ok(Limit(100)));
        for bad in ["0", "101", "-1", "1.0", "", "1e1"] {
            assert_eq!(Limit::parse(bad).unwrap_err().field, "limit", "{bad}");
        }
        assert_eq!(Offset::parse("500"), Ok(Offset(500)));
        assert_eq!(Offset::parse("501").unwrap_err().field, "offset");
    }

    #[test]
    fn date_ranges_are_checked() {
        assert!(DateRange::parse(Some("2024-01-01"), Some("2024-01-01")).is_ok());
        let field = |start, end| DateRange::parse(start, end).unwrap_err().field;
        assert_eq!(field(Some("2024-01-02"), Some("2024-01-01")), "startDate");
        assert_eq!(field(Some("x"), None), "startDate");
        assert_eq!(field(None, Some("x")), "endDate");
    }

    #[test]
    fn a_search_needs_words_or_a_filter() {
        let circle = Some(Circle::new(Position::new(1.0, 2.0).unwrap(), 3.0).unwrap());
        let text = || Some(QueryText::parse("beach").unwrap());
        let both = Channels::parse("text, image").unwrap();
        let search = |text, channels, album: Option<&str>, circle| {
            let filter = Filter { circle, ..Filter::default() };
            SearchQuery::new(text, channels, album.map(str::to_owned), filter, Limit::default())
                .map_err(|invalid| invalid.field)
        };
        assert_eq!(search(None, None, None, None).unwrap_err(), "query");
        assert_eq!(search(None, Some(both), None, None).unwrap_err(), "channels");
        assert_eq!(search(text(), Some(both), Some("a"), None).unwrap_err(), "channels");
        assert_eq!(search(text(), Some(both), None, circle).unwrap_err(), "channels");
        assert!(search(text(), Some(both), None, None).is_ok());
        assert!(search(text(), None, Some("a"), circle).is_ok());
        assert!(search(None, None, Some("a"), None).is_ok());
    }

    #[test]
    fn channels_and_queries_are_checked() {
        for bad in ["", "text,", "video", "text;image", "TEXT"] {
            assert_eq!(Channels::parse(bad).unwrap_err().field, "channels", "{bad}");
        }
        assert_eq!(QueryText::parse(" red  car red !!! ").unwrap().words(), ["red", "car"]);
        assert!(QueryText::parse(&"é".repeat(2000)).is_ok());
        for bad in ["", "  ", &"é".repeat(2001), "a\0"] {
            assert_eq!(QueryText::parse(bad).unwrap_err().field, "query");
        }
    }
}
