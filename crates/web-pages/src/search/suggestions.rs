//! Cities and cameras that a person could mean.

/// Words of a query that may be a city.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MaybeCity {
    pub(super) name: String,
    /// The other words.
    pub(super) rest: String,
}

/// Maximum number of words of a query that are considered.
const MAX_WORDS: usize = 8;

/// A city's name has at most this many words.
const MAX_CITY_WORDS: usize = 3;

/// Maximum number of suggested cameras.
const MAX_CAMERAS: usize = 3;

/// A shorter word is not looked up as a city.
const MIN_CITY_CHARS: usize = 3;

/// A query without `count` of its words from the one at `first` on.
fn without(words: &[&str], first: usize, count: usize) -> String {
    let others = words.iter().enumerate().filter(|(at, _)| *at < first || *at >= first + count);
    others.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
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

/// The words of a query that may be a city, the longest first.
pub(super) fn maybe_cities(query: &str) -> Vec<MaybeCity> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found = Vec::new();
    for count in (1..=MAX_CITY_WORDS).rev() {
        for (first, phrase) in words.windows(count).take(MAX_WORDS).enumerate() {
            let name = phrase.join(" ");
            if name.chars().count() >= MIN_CITY_CHARS && name.chars().any(char::is_alphabetic) {
                found.push(MaybeCity { rest: without(&words, first, count), name });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_looked_up_by_one_to_three_words() {
        let cities_in = |query: &str| -> Vec<(String, String)> {
            maybe_cities(query).into_iter().map(|city| (city.name, city.rest)).collect()
        };
        let pair = |name: &str, rest: &str| (name.to_owned(), rest.to_owned());
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
        assert_eq!(cities_in("2023 ab"), [pair("2023 ab", "")]);
        assert!(maybe_cities(&"word ".repeat(500)).len() <= 3 * MAX_WORDS);
    }

    #[test]
    fn cameras_are_found_by_their_names() {
        let cameras = ["Apple iPhone 13 Pro", "Canon EOS R5"].map(str::to_owned);
        assert_eq!(camera_of("canon eos r5", &cameras), Some(&cameras[1]));
        assert_eq!(camera_of("canon eos", &cameras), None);
        assert_eq!(cameras_with("phone", &cameras).collect::<Vec<_>>(), [&cameras[0]]);
    }
}
