//! The query of the search page.

use domain::{Circle, DateRange, Keyword, QueryText, Timestamp};
use http_server::Query;
use library::{FoundCity, Library, MatchBy, Meaning, Named, ReadQuery};
use url::form_urlencoded;

use crate::{layout::format_date, paths};

/// Photos this far from a city's centre are near it.
const NEAR_M: f64 = 15_000.0;

/// What a search is for, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filters {
    pub(super) query: String,
    /// What the words are compared with.
    pub(super) by: MatchBy,
    /// A city, such as `Lisbon, Portugal`.
    pub(super) place: Option<String>,
    /// A camera, such as `Canon EOS R5`.
    pub(super) camera: Option<String>,
    /// The first day, as ISO 8601.
    pub(super) from: Option<String>,
    /// The last day.
    pub(super) to: Option<String>,
    pub(super) keyword: Option<String>,
    /// Only favourites.
    pub(super) is_favorite: bool,
    /// Only archived photos, or only others.
    pub(super) archived: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SearchPage {
    #[default]
    First,
    /// Of a search without words: the newest photos before this time.
    Before(Timestamp),
    /// Of a search with words: this page of the ranking; the first one is 0.
    Ranked(usize),
}

impl SearchPage {
    /// The first page, if the query names no other one.
    pub(super) fn parse(query: &Query<'_>) -> Self {
        let before =
            query.get("before").and_then(|before| before.parse().ok()).and_then(Timestamp::from_millis);
        let number = query.get("page").and_then(|page| page.parse::<usize>().ok()).filter(|page| *page > 1);
        match (before, number) {
            (Some(before), _) => Self::Before(before),
            (None, Some(number)) => Self::Ranked(number - 1),
            (None, None) => Self::First,
        }
    }
}

pub(super) const FAVORITE: &str = "favorite";
pub(super) const ARCHIVED: &str = "archived";
pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";

/// The names of the ways to match in addresses.
const BY: [(MatchBy, &str); 2] = [(MatchBy::Words, "words"), (MatchBy::Look, "look")];

/// The name of a way to match in addresses; `None` for the default.
pub(super) fn name_of(by: MatchBy) -> Option<&'static str> {
    BY.iter().find(|(other, _)| *other == by).map(|(_, name)| *name)
}

impl Filters {
    pub(super) fn parse(query: &Query<'_>) -> Self {
        let text = |name| query.get(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let by = query.get("by").and_then(|by| BY.iter().find(|(_, name)| *name == by));
        Self {
            query: text("q").unwrap_or_default(),
            by: by.map_or_else(MatchBy::default, |(by, _)| *by),
            place: text("place"),
            camera: text("camera"),
            from: text("from"),
            to: text("to"),
            keyword: text("keyword"),
            is_favorite: query.get(FAVORITE) == Some(YES),
            archived: match query.get(ARCHIVED) {
                Some(YES) => Some(true),
                Some(NO) => Some(false),
                _ => None,
            },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.query.is_empty() && !self.has_filter()
    }

    pub(super) fn has_filter(&self) -> bool {
        let texts = [&self.place, &self.camera, &self.from, &self.to, &self.keyword];
        texts.iter().any(|filter| filter.is_some()) || self.is_favorite || self.archived.is_some()
    }

    /// Whether it lists all favourites and nothing else.
    pub(super) fn are_favorites(&self) -> bool {
        *self == Self { is_favorite: true, ..Self::default() }
    }

    /// The address of the first page of this search.
    pub(super) fn path(&self) -> String {
        self.path_of(SearchPage::First)
    }

    /// The address of a page of this search.
    pub(super) fn path_of(&self, page: SearchPage) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.query.is_empty() {
            query.append_pair("q", &self.query);
        }
        let filters = [
            ("place", &self.place),
            ("camera", &self.camera),
            ("from", &self.from),
            ("to", &self.to),
            ("keyword", &self.keyword),
        ];
        for (name, value) in filters {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        if self.is_favorite {
            query.append_pair(FAVORITE, YES);
        }
        if let Some(archived) = self.archived {
            query.append_pair(ARCHIVED, if archived { YES } else { NO });
        }
        if let Some(by) = name_of(self.by) {
            query.append_pair("by", by);
        }
        match page {
            SearchPage::First | SearchPage::Ranked(0) => {}
            SearchPage::Before(before) => {
                query.append_pair("before", &before.millis().to_string());
            }
            SearchPage::Ranked(page) => {
                query.append_pair("page", &(page + 1).to_string());
            }
        }
        match query.finish() {
            query if query.is_empty() => paths::SEARCH.to_owned(),
            query => format!("{}?{query}", paths::SEARCH),
        }
    }

    /// Each filter in words, and the address of the search without it.
    pub(super) fn chips(&self) -> Vec<(String, String)> {
        let mut chips = Vec::new();
        if let Some(place) = &self.place {
            chips.push((format!("Near {place}"), Self { place: None, ..self.clone() }.path()));
        }
        if let Some(camera) = &self.camera {
            chips.push((format!("Taken with {camera}"), Self { camera: None, ..self.clone() }.path()));
        }
        let days = match (&self.from, &self.to) {
            (Some(from), Some(to)) => Some(days_text(from, to)),
            (Some(from), None) => Some(format!("From {}", format_date(from))),
            (None, Some(to)) => Some(format!("Until {}", format_date(to))),
            (None, None) => None,
        };
        chips.extend(days.map(|days| (days, Self { from: None, to: None, ..self.clone() }.path())));
        if let Some(keyword) = &self.keyword {
            chips.push((format!("Keyword {keyword}"), Self { keyword: None, ..self.clone() }.path()));
        }
        if self.is_favorite {
            chips.push(("Favourites".to_owned(), Self { is_favorite: false, ..self.clone() }.path()));
        }
        if let Some(archived) = self.archived {
            let label = if archived { "Archived" } else { "Not archived" };
            chips.push((label.to_owned(), Self { archived: None, ..self.clone() }.path()));
        }
        let by = match self.by {
            MatchBy::All => None,
            MatchBy::Words => Some("By words only"),
            MatchBy::Look => Some("By look only"),
        };
        chips.extend(by.map(|by| (by.to_owned(), Self { by: MatchBy::All, ..self.clone() }.path())));
        chips
    }

    /// The days, in UTC.
    ///
    /// # Errors
    /// A sentence for the person.
    pub(super) fn range(&self) -> Result<DateRange, String> {
        let to = self.to.as_ref().map(|to| format!("{to}T23:59:59.999Z"));
        DateRange::parse(self.from.as_deref(), to.as_deref()).map_err(|invalid| {
            match invalid.reason.as_str() {
                "must not lie after endDate" => "The first day lies after the last day.".to_owned(),
                _ => "A day is written as year, month and day, such as 2024-07-31.".to_owned(),
            }
        })
    }

    /// The keyword.
    ///
    /// # Errors
    /// A sentence for the person.
    pub(super) fn keyword(&self) -> Result<Option<Keyword>, String> {
        let parsed = self.keyword.as_deref().map(Keyword::parse).transpose();
        parsed.map_err(|invalid| format!("Each keyword {}.", invalid.reason))
    }

    /// The meanings of words for which there is no other filter. The words of the others are searched for.
    pub(super) fn understood(&self, mut read: ReadQuery) -> ReadQuery {
        let is_free = |meaning: &Meaning| match meaning.named {
            Named::Days(..) => self.from.is_none() && self.to.is_none(),
            Named::Places(_) => self.place.is_none(),
            Named::Cameras(..) => self.camera.is_none(),
            Named::Keyword(_) => self.keyword.is_none(),
            Named::Album(..) => true,
        };
        for meaning in read.meanings.iter().filter(|meaning| !is_free(meaning)) {
            read.rest = format!("{} {}", meaning.words, read.rest).trim().to_owned();
        }
        read.meanings.retain(is_free);
        read
    }
}

/// The days from one to another, such as `2024` or `1 June 2024 to 3 July 2024`.
fn days_text(from: &str, to: &str) -> String {
    match (from.strip_suffix("-01-01"), to.strip_suffix("-12-31")) {
        (Some(year), Some(last)) if year == last => year.to_owned(),
        _ if from == to => format_date(from),
        _ => format!("{} to {}", format_date(from), format_date(to)),
    }
}

/// Words to search for.
///
/// # Errors
/// A sentence for the person.
pub(super) fn text(words: &str) -> Result<Option<QueryText>, String> {
    if words.is_empty() {
        return Ok(None);
    }
    QueryText::parse(words).map(Some).map_err(|invalid| format!("The search {}.", invalid.reason))
}

/// The area of a city.
pub(super) async fn circle_of(library: &Library, place: &str) -> Option<Circle> {
    near(library.catalogue.find_cities(place).await.first()?)
}

/// The photos near a city.
pub(super) fn near(city: &FoundCity) -> Option<Circle> {
    Circle::new(city.position, NEAR_M).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(query: &str) -> Filters {
        Filters::parse(&Query::parse(Some(query)))
    }

    #[test]
    fn the_address_has_what_was_typed() {
        for path in [
            "/search",
            "/search?q=red+car",
            "/search?q=a%26b&place=Lisbon%2C+Portugal&camera=Canon+EOS+R5&from=2024-01-01&to=2024-12-31",
            "/search?q=red&by=look",
            "/search?q=red&keyword=red+sea&favorite=yes&archived=no&by=look",
            "/search?archived=yes",
            "/search?camera=Pixel+8&by=words",
        ] {
            assert_eq!(filters(path.strip_prefix("/search").unwrap().trim_start_matches('?')).path(), path);
        }
        assert!(filters("q=+&place=&camera=+&from=&to=&keyword=+&favorite=no&archived=&by=").is_empty());
        assert_eq!(filters("favorite=yes").path(), paths::FAVORITES);
        assert_eq!(filters("by=smell").by, MatchBy::All);
    }

    #[test]
    fn the_address_has_the_page() {
        let page = |query| SearchPage::parse(&Query::parse(Some(query)));
        for path in ["/search?q=sea&page=2", "/search?place=Lisbon&before=1700000000000", "/search?q=sea"] {
            let query = path.strip_prefix("/search?").unwrap();
            assert_eq!(filters(query).path_of(page(query)), path);
        }
        for first in ["page=1", "page=0", "page=-1", "page=x", "before=x", "before=99999999999999999", ""] {
            assert_eq!(page(first), SearchPage::First, "{first}");
        }
    }

    #[test]
    fn each_filter_can_be_removed() {
        let chips = filters("q=sea&place=Lisbon&camera=Pixel+8&from=2024-01-01&by=words").chips();
        let expected = [
            ("Near Lisbon", "/search?q=sea&camera=Pixel+8&from=2024-01-01&by=words"),
            ("Taken with Pixel 8", "/search?q=sea&place=Lisbon&from=2024-01-01&by=words"),
            ("From 1 January 2024", "/search?q=sea&place=Lisbon&camera=Pixel+8&by=words"),
            ("By words only", "/search?q=sea&place=Lisbon&camera=Pixel+8&from=2024-01-01"),
        ];
        let expected = expected.map(|(label, path)| (label.to_owned(), path.to_owned()));
        assert_eq!(chips, expected);
        let chips = filters("keyword=sea&favorite=yes&archived=no").chips();
        let expected = [
            ("Keyword sea", "/search?favorite=yes&archived=no"),
            ("Favourites", "/search?keyword=sea&archived=no"),
            ("Not archived", "/search?keyword=sea&favorite=yes"),
        ];
        let expected = expected.map(|(label, path)| (label.to_owned(), path.to_owned()));
        assert_eq!(chips, expected);
    }

    #[test]
    fn days_are_in_words() {
        for (from, to, expected) in [
            ("2024-01-01", "2024-12-31", "2024"),
            ("2024-06-01", "2024-06-01", "1 June 2024"),
            ("2024-06-01", "2024-07-03", "1 June 2024 to 3 July 2024"),
            ("soon", "later", "soon to later"),
        ] {
            assert_eq!(days_text(from, to), expected);
        }
    }

    #[test]
    fn days_are_checked() {
        assert!(filters("from=2024-01-01&to=2024-01-01").range().is_ok());
        assert!(filters("from=2024-01-02&to=2024-01-01").range().unwrap_err().contains("after the last day"));
        assert!(filters("to=yesterday").range().unwrap_err().contains("2024-07-31"));
        assert!(text(&"x".repeat(2001)).is_err());
        assert_eq!(text(""), Ok(None));
    }
}
