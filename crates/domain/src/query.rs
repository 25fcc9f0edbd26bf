use crate::{AlbumId, Circle, Invalid, Keyword, Timestamp, parse_digits};

/// With a circle, List images looks at this many of the newest images that pass the rest of its filter.
pub const MAX_CIRCLE_CANDIDATES: u32 = 1000;

/// More than the largest offset of a clock from UTC.
const MAX_OFFSET_MS: i64 = 24 * 3_600_000;

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
    /// Only images of one of the cameras of these names, as [`PhotoDetails::camera`](crate::PhotoDetails::camera) gives them.
    pub cameras: Option<Vec<String>>,
    /// Only images of one of these places, as [`Image::place`](crate::Image::place) has them.
    pub places: Option<Vec<String>>,
    /// Only images in one of these countries or regions: `Germany`, or `Bavaria, Germany`. None of them is in another one.
    pub regions: Option<Vec<String>>,
    /// Only images that are favourites, or only those that are not.
    pub favorite: Option<bool>,
    /// Only archived images, or only those that are not.
    pub archived: Option<bool>,
    /// Only images with this keyword.
    pub keyword: Option<Keyword>,
    /// Only images of these people. No person has a name yet, so no image is of any.
    pub people: Option<String>,
    /// Only photos or only videos; `None` is the same as photos.
    pub media: Option<Media>,
    /// Only images whose clock showed a time in this range, which is compared with the time on the clock as if it were UTC.
    pub wall: Option<DateRange>,
    /// Only these capture times.
    pub range: DateRange,
}

impl Filter {
    /// The moments that the range and the range of the clock leave; `None` if they leave none.
    pub fn moments(&self) -> Option<DateRange> {
        let Some(wall) = self.wall else { return Some(self.range) };
        let start = self.range.start.max(wall.start.plus_millis(-MAX_OFFSET_MS));
        let end = self.range.end.min(wall.end.plus_millis(MAX_OFFSET_MS));
        DateRange::new(Some(start), Some(end)).ok()
    }

    /// Whether it restricts nothing but capture times.
    pub fn is_range_only(&self) -> bool {
        *self == Self { range: self.range, ..Self::default() }
    }
}

/// The kind of images in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Photo,
    Video,
    All,
}

impl Media {
    /// # Errors
    /// [`Invalid`] naming `media`.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        match name.trim() {
            "photo" => Ok(Self::Photo),
            "video" => Ok(Self::Video),
            "all" => Ok(Self::All),
            _ => Err(Invalid::new("media", "must be photo, video or all")),
        }
    }
}

/// Filters by names as people write them, which the catalogue compares with the names that the library has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterNames {
    /// Words of the make and the model of a camera.
    pub camera: Option<String>,
    /// A city, region or country.
    pub place: Option<String>,
}

impl FilterNames {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The parameters of List images.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListQuery {
    pub limit: Limit,
    pub names: FilterNames,
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

/// The parameters of Search images. Without words, a filter is set.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    /// Images that match words, or all images.
    pub target: SearchTarget,
    /// Only images of this album. The id is unchecked: a malformed one is treated as unknown.
    pub album: Option<String>,
    /// All further restrictions; its album is that of the checked id.
    pub filter: Filter,
    pub names: FilterNames,
    /// Maximum number of results.
    pub limit: Limit,
}

impl SearchQuery {
    /// Checks the parameters of a search.
    ///
    /// # Errors
    /// [`Invalid`] naming `query` when words and filters are all absent; naming `channels` when they are present without
    /// words, or with a circle or an album.
    pub fn new(
        text: Option<QueryText>,
        channels: Option<Channels>,
        album: Option<String>,
        filter: Filter,
        names: FilterNames,
        limit: Limit,
    ) -> Result<Self, Invalid> {
        let is_narrowed = album.is_some() || filter.album.is_some() || filter.circle.is_some();
        if channels.is_some() && (text.is_none() || is_narrowed) {
            return Err(Invalid::new(
                "channels",
                "needs a query and cannot be combined with a circle or an album",
            ));
        }
        let target = match text {
            Some(text) => SearchTarget::Words { text, channels },
            None if album.is_some() || !filter.is_range_only() || !names.is_empty() => {
                SearchTarget::Everything
            }
            None => {
                return Err(Invalid::new("query", "is missing; give it, or albumId, or a full circle"));
            }
        };
        Ok(Self { target, album, filter, names, limit })
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
            let names = FilterNames::default();
            SearchQuery::new(text, channels, album.map(str::to_owned), filter, names, Limit::default())
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
