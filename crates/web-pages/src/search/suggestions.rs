//! What a query could mean besides its words: a month, a year or a city that can become a filter.

use domain::Month;

/// A query without some of its words, and what these words could mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// The other words.
    pub(super) rest: String,
    pub(super) meaning: Meaning,
}

/// The meaning of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Days from the first to the last, as ISO 8601.
    Days { label: String, from: String, to: String },
    /// Perhaps a city of this name.
    City(String),
}

/// Words of a query that are looked at.
const MAX_WORDS: usize = 8;

/// A city's name has at most this many words.
const MAX_CITY_WORDS: usize = 3;

/// A shorter word is not looked up as a city.
const MIN_CITY_CHARS: usize = 3;

/// The number of a month: `july`, `jul`.
fn month_named(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let found = Month::NAMES.iter().position(|month| {
        let month = month.to_ascii_lowercase();
        month == word || (word.len() == 3 && month.starts_with(&*word))
    });
    found.and_then(|index| u32::try_from(index + 1).ok())
}

fn year(word: &str) -> Option<u32> {
    let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| is_year && (1900..=2100).contains(year))
}

/// Days that these words name: `2023`, `july 2024`, `2024 july`, `2024-07`.
fn days(words: &[&str]) -> Option<Meaning> {
    let of_month = |year: u32, month: u32| {
        let month = Month::from_number(year * 100 + month)?;
        let (from, to) = (month.range().start().to_string(), month.range().end().to_string());
        let (from, to) = (from.get(..10)?.to_owned(), to.get(..10)?.to_owned());
        Some(Meaning::Days { label: month.to_string(), from, to })
    };
    match words {
        [word] => match (year(word), word.split_once('-')) {
            (Some(year), _) => Some(Meaning::Days {
                label: year.to_string(),
                from: format!("{year}-01-01"),
                to: format!("{year}-12-31"),
            }),
            (None, Some((first, second))) if second.len() == 2 => {
                of_month(year(first)?, second.parse().ok()?)
            }
            _ => None,
        },
        [first, second] => match (month_named(first), year(second), year(first), month_named(second)) {
            (Some(month), Some(year), ..) | (.., Some(year), Some(month)) => of_month(year, month),
            _ => None,
        },
        _ => None,
    }
}

/// What words of a query could mean. Of overlapping days only the longest is suggested.
pub(super) fn suggestions(query: &str) -> Vec<Suggestion> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let without = |first: usize, count: usize| {
        let others = words.iter().enumerate().filter(|(at, _)| *at < first || *at >= first + count);
        others.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    };
    let mut found = Vec::new();
    let mut dated: Vec<usize> = Vec::new();
    for count in [2, 1] {
        for (first, phrase) in words.windows(count).take(MAX_WORDS).enumerate() {
            let is_free = (first..first + count).all(|at| !dated.contains(&at));
            if let Some(meaning) = days(phrase).filter(|_| is_free) {
                dated.extend(first..first + count);
                found.push(Suggestion { rest: without(first, count), meaning });
            }
        }
    }
    for count in (1..=MAX_CITY_WORDS).rev() {
        for (first, phrase) in words.windows(count).take(MAX_WORDS).enumerate() {
            let name = phrase.join(" ");
            let is_free = (first..first + count).all(|at| !dated.contains(&at));
            if is_free && name.chars().count() >= MIN_CITY_CHARS && name.chars().any(char::is_alphabetic) {
                found.push(Suggestion { rest: without(first, count), meaning: Meaning::City(name) });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days_in(query: &str) -> Vec<(String, String, String, String)> {
        let days = |suggestion: Suggestion| match suggestion.meaning {
            Meaning::Days { label, from, to } => Some((suggestion.rest, label, from, to)),
            Meaning::City(_) => None,
        };
        suggestions(query).into_iter().filter_map(days).collect()
    }

    fn cities_in(query: &str) -> Vec<(String, String)> {
        let city = |suggestion: Suggestion| match suggestion.meaning {
            Meaning::City(name) => Some((name, suggestion.rest)),
            Meaning::Days { .. } => None,
        };
        suggestions(query).into_iter().filter_map(city).collect()
    }

    #[test]
    fn months_and_years_are_recognised() {
        let day = |rest: &str, label: &str, from: &str, to: &str| {
            vec![(rest.to_owned(), label.to_owned(), from.to_owned(), to.to_owned())]
        };
        assert_eq!(days_in("beach July 2024"), day("beach", "July 2024", "2024-07-01", "2024-07-31"));
        assert_eq!(days_in("2024 feb beach"), day("beach", "February 2024", "2024-02-01", "2024-02-29"));
        assert_eq!(days_in("2024-12"), day("", "December 2024", "2024-12-01", "2024-12-31"));
        assert_eq!(days_in("party 2023"), day("party", "2023", "2023-01-01", "2023-12-31"));
        for none in ["beach", "july", "1899", "20245", "2024-13", "٢٠٢٤", "1080p", ""] {
            assert_eq!(days_in(none), [], "{none}");
        }
    }

    #[test]
    fn cities_are_looked_up_by_one_to_three_words() {
        let pair = |name: &str, rest: &str| (name.to_owned(), rest.to_owned());
        assert_eq!(cities_in("lisbon 2023"), [pair("lisbon", "2023")]);
        assert_eq!(
            cities_in("in New York"),
            [
                pair("in New York", ""),
                pair("in New", "York"),
                pair("New York", "in"),
                pair("New", "in York"),
                pair("York", "in New")
            ]
        );
        assert!(suggestions(&"word ".repeat(500)).len() <= 3 * MAX_WORDS);
    }
}
