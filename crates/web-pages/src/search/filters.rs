//! The query of the search page.

use domain::{Circle, DateRange, QueryText};
use http_server::Query;
use library::Library;
use url::form_urlencoded;

use super::PATH;

/// Photos this far from a city's centre are near it.
const NEAR_M: f64 = 15_000.0;

/// What a search is for, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filters {
    pub(super) query: String,
    /// A city, such as `Lisbon, Portugal`.
    pub(super) place: Option<String>,
    /// The first day, as ISO 8601.
    pub(super) from: Option<String>,
    /// The last day.
    pub(super) to: Option<String>,
}

impl Filters {
    pub(super) fn parse(query: &Query<'_>) -> Self {
        let text = |name| query.get(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            query: text("q").unwrap_or_default(),
            place: text("place"),
            from: text("from"),
            to: text("to"),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.query.is_empty() && !self.has_filter()
    }

    pub(super) fn has_filter(&self) -> bool {
        self.place.is_some() || self.from.is_some() || self.to.is_some()
    }

    /// The address of this search.
    pub(super) fn path(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.query.is_empty() {
            query.append_pair("q", &self.query);
        }
        for (name, value) in [("place", &self.place), ("from", &self.from), ("to", &self.to)] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => PATH.to_owned(),
            query => format!("{PATH}?{query}"),
        }
    }

    /// Each filter in words, and the address of the search without it.
    pub(super) fn chips(&self) -> Vec<(String, String)> {
        let mut chips = Vec::new();
        if let Some(place) = &self.place {
            chips.push((format!("Near {place}"), Self { place: None, ..self.clone() }.path()));
        }
        let days = match (&self.from, &self.to) {
            (Some(from), Some(to)) => Some(format!("{from} to {to}")),
            (Some(from), None) => Some(format!("From {from}")),
            (None, Some(to)) => Some(format!("Until {to}")),
            (None, None) => None,
        };
        chips.extend(days.map(|days| (days, Self { from: None, to: None, ..self.clone() }.path())));
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

    /// The words.
    ///
    /// # Errors
    /// A sentence for the person.
    pub(super) fn text(&self) -> Result<Option<QueryText>, String> {
        if self.query.is_empty() {
            return Ok(None);
        }
        QueryText::parse(&self.query).map(Some).map_err(|invalid| format!("The search {}.", invalid.reason))
    }
}

/// The area of a city.
pub(super) async fn circle_of(library: &Library, place: &str) -> Option<Circle> {
    let city = library.find_cities(place).await.into_iter().next()?;
    Circle::new(city.position, NEAR_M).ok()
}

/// The most populous city of exactly this name, with its country.
pub(super) async fn city_named(library: &Library, name: &str) -> Option<String> {
    let city = library.find_cities(name).await.into_iter().next()?;
    // The names begin with the text, apart from letter case and accents.
    let is_whole = city.name.chars().count() == name.chars().count();
    is_whole.then(|| format!("{}, {}", city.name, city.country))
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
            "/search?q=a%26b&place=Lisbon%2C+Portugal&from=2024-01-01&to=2024-12-31",
        ] {
            assert_eq!(filters(path.strip_prefix("/search").unwrap().trim_start_matches('?')).path(), path);
        }
        assert!(filters("q=+&place=&from=&to=").is_empty());
    }

    #[test]
    fn each_filter_can_be_removed() {
        let chips = filters("q=sea&place=Lisbon&from=2024-01-01").chips();
        let expected = [
            ("Near Lisbon".to_owned(), "/search?q=sea&from=2024-01-01".to_owned()),
            ("From 2024-01-01".to_owned(), "/search?q=sea&place=Lisbon".to_owned()),
        ];
        assert_eq!(chips, expected);
    }

    #[test]
    fn days_are_checked() {
        assert!(filters("from=2024-01-01&to=2024-01-01").range().is_ok());
        assert!(filters("from=2024-01-02&to=2024-01-01").range().unwrap_err().contains("after the last day"));
        assert!(filters("to=yesterday").range().unwrap_err().contains("2024-07-31"));
        assert!(filters(&format!("q={}", "x".repeat(2001))).text().is_err());
    }
}
