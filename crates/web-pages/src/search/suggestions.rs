//! What a query could mean besides its words: a month, a year, a city or a camera that can become a filter.

use domain::{Month, Timestamp};

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
    Days {
        label: String,
        first: Month,
        last: Month,
    },
    /// Perhaps a city of this name.
    City(String),
    Camera(String),
}

/// Maximum number of words of a query that are considered.
const MAX_WORDS: usize = 8;

/// A city's name has at most this many words.
const MAX_CITY_WORDS: usize = 3;

/// Maximum number of words of a camera's name that are considered.
const MAX_CAMERA_WORDS: usize = 6;

/// Maximum number of suggested cameras.
const MAX_CAMERAS: usize = 3;

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
        Some(Meaning::Days { label: month.to_string(), first: month, last: month })
    };
    match words {
        [word] => match (year(word), word.split_once('-')) {
            (Some(year), _) => Some(Meaning::Days {
                label: year.to_string(),
                first: Month::from_number(year * 100 + 1)?,
                last: Month::from_number(year * 100 + 12)?,
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

/// The day of a time in UTC, as ISO 8601.
pub(super) fn day_of(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// A query without `count` of its words from the one at `first` on.
fn without(words: &[&str], first: usize, count: usize) -> String {
    let others = words.iter().enumerate().filter(|(at, _)| *at < first || *at >= first + count);
    others.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

/// The cameras that words of a query name, those with the most words first.
fn cameras_named(query: &str, cameras: &[String]) -> Vec<Suggestion> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let names: Vec<String> = cameras.iter().map(|camera| camera.to_lowercase()).collect();
    let names: Vec<Vec<&str>> = names.iter().map(|name| name.split_whitespace().collect()).collect();
    let mut found: Vec<(&String, Suggestion)> = Vec::new();
    for count in (1..=MAX_CAMERA_WORDS).rev() {
        for (first, phrase) in lower.windows(count).take(MAX_WORDS).enumerate() {
            if phrase.iter().all(|word| word.chars().count() < 2 || !word.chars().any(char::is_alphabetic)) {
                continue;
            }
            for (camera, name) in cameras.iter().zip(&names) {
                let is_named = name.windows(count).any(|part| part == phrase);
                if is_named && found.len() < MAX_CAMERAS && found.iter().all(|(known, _)| *known != camera) {
                    let meaning = Meaning::Camera(camera.clone());
                    found.push((camera, Suggestion { rest: without(&words, first, count), meaning }));
                }
            }
        }
    }
    found.into_iter().map(|(_, suggestion)| suggestion).collect()
}

/// The camera of a typed name, whatever the case of its letters.
pub(super) fn camera_of<'a>(typed: &str, cameras: &'a [String]) -> Option<&'a String> {
    let typed = typed.to_lowercase();
    cameras.iter().find(|camera| camera.to_lowercase() == typed)
}

/// The cameras whose name contains what was typed.
pub(super) fn cameras_with<'a>(typed: &str, cameras: &'a [String]) -> impl Iterator<Item = &'a String> {
    let typed = typed.to_lowercase();
    cameras.iter().filter(move |camera| camera.to_lowercase().contains(&typed)).take(MAX_CAMERAS)
}

/// What words of a query could mean. Of overlapping days only the longest is suggested.
pub(super) fn suggestions(query: &str, cameras: &[String]) -> Vec<Suggestion> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found = Vec::new();
    let mut dated: Vec<usize> = Vec::new();
    for count in [2, 1] {
        for (first, phrase) in words.windows(count).take(MAX_WORDS).enumerate() {
            let is_free = (first..first + count).all(|at| !dated.contains(&at));
            if let Some(meaning) = days(phrase).filter(|_| is_free) {
                dated.extend(first..first + count);
                found.push(Suggestion { rest: without(&words, first, count), meaning });
            }
        }
    }
    found.extend(cameras_named(query, cameras));
    for count in (1..=MAX_CITY_WORDS).rev() {
        for (first, phrase) in words.windows(count).take(MAX_WORDS).enumerate() {
            let name = phrase.join(" ");
            let is_free = (first..first + count).all(|at| !dated.contains(&at));
            if is_free && name.chars().count() >= MIN_CITY_CHARS && name.chars().any(char::is_alphabetic) {
                found.push(Suggestion { rest: without(&words, first, count), meaning: Meaning::City(name) });
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
            Meaning::Days { label, first, last } => {
                Some((suggestion.rest, label, day_of(first.range().start()), day_of(last.range().end())))
            }
            Meaning::City(_) | Meaning::Camera(_) => None,
        };
        suggestions(query, &[]).into_iter().filter_map(days).collect()
    }

    fn cities_in(query: &str) -> Vec<(String, String)> {
        let city = |suggestion: Suggestion| match suggestion.meaning {
            Meaning::City(name) => Some((name, suggestion.rest)),
            Meaning::Days { .. } | Meaning::Camera(_) => None,
        };
        suggestions(query, &[]).into_iter().filter_map(city).collect()
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
        assert!(suggestions(&"word ".repeat(500), &[]).len() <= 3 * MAX_WORDS);
    }

    #[test]
    fn cameras_are_recognised_by_whole_words() {
        let cameras = ["Apple iPhone 13 Pro", "Canon EOS R5", "Canon EOS R6", "Canon EOS R7", "Canon EOS R8"]
            .map(str::to_owned);
        let named = |query: &str| -> Vec<(String, String)> {
            let camera = |suggestion: Suggestion| match suggestion.meaning {
                Meaning::Camera(camera) => Some((camera, suggestion.rest)),
                Meaning::Days { .. } | Meaning::City(_) => None,
            };
            suggestions(query, &cameras).into_iter().filter_map(camera).collect()
        };
        let pair = |camera: &str, rest: &str| (camera.to_owned(), rest.to_owned());
        assert_eq!(named("boats IPHONE 13"), [pair("Apple iPhone 13 Pro", "boats")]);
        assert_eq!(named("r6 snow"), [pair("Canon EOS R6", "snow")]);
        let of_canon = named("canon eos r7");
        assert_eq!(of_canon[0], pair("Canon EOS R7", ""), "the whole name comes first");
        assert_eq!(of_canon.len(), MAX_CAMERAS);
        for none in ["13", "can", "iphone13", "5", ""] {
            assert_eq!(named(none), [], "{none}");
        }
        assert_eq!(camera_of("canon eos r5", &cameras), Some(&cameras[1]));
        assert_eq!(camera_of("canon eos", &cameras), None);
        assert_eq!(cameras_with("phone", &cameras).collect::<Vec<_>>(), [&cameras[0]]);
    }
}
