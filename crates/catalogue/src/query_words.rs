//! What the words of a query mean in a library: a day, month or year, a camera, a place, an album or a keyword.

use accounts::Caller;
use domain::{AlbumId, DateRange, Filter, Image, Keyword, Limit, Month};
use storage::{AlbumName, NameKind, StorageError};

use crate::{
    Catalogue,
    names::{MAX_KNOWN_NAMES, MAX_MATCHING},
    place_names::{FoundPlaces, PLACE_KINDS, PlaceSearch},
};

/// A query, and the meanings of some of its words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadQuery {
    /// The words without a meaning, which are searched for.
    pub rest: String,
    pub meanings: Vec<Meaning>,
}

/// Words of a query that name something of the library.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    /// The words, as typed.
    pub words: String,
    /// The query with these words in quotes: then they have no meaning.
    pub unread: String,
    pub named: Named,
    /// The newest photo of this meaning.
    pub image: Image,
}

/// What words name.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    /// Days on the clock, and how people write them.
    Days(DateRange, String),
    Places(FoundPlaces),
    /// The cameras that have the words in their names, and the words.
    Cameras(Vec<String>, String),
    Album(AlbumId, String),
    Keyword(Keyword),
}

/// Maximum number of words of a query that may have a meaning.
const MAX_WORDS: usize = 12;

/// Words that lead to a name (`in Lisbon`) or to what is searched (`photos from Lisbon`). Beside a meaning nobody looks for them.
const CONNECTING: [&str; 34] = [
    "a", "an", "and", "at", "by", "during", "from", "in", "made", "my", "near", "of", "on", "our", "photo",
    "photos", "picture", "pictures", "shot", "taken", "the", "with", "am", "aus", "bei", "fotos", "im",
    "mit", "und", "vom", "von", "en", "de", "avec",
];

/// A word of a query.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Whether it is within quotes.
    is_quoted: bool,
}

/// The words of a query. Words in quotes are never read as names.
fn words_of(query: &str) -> Vec<Word<'_>> {
    let parts = query.split(['"', '“', '”', '„']).enumerate();
    let words = parts.flat_map(|(number, part)| {
        let is_quoted = number % 2 == 1;
        part.split_whitespace().map(move |text| Word { text, is_quoted })
    });
    words.collect()
}

/// Consecutive words, by the numbers of the first and of the word after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phrase {
    first: usize,
    end: usize,
}

impl Phrase {
    fn overlaps(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }

    fn text(self, words: &[Word<'_>]) -> String {
        let words: Vec<&str> =
            words.get(self.first..self.end).unwrap_or_default().iter().map(|word| word.text).collect();
        words.join(" ").trim_matches([',', '.', ';', '!', '?']).to_owned()
    }
}

/// The phrases without quoted words, the longest first.
fn phrases(words: &[Word<'_>]) -> Vec<Phrase> {
    let count = words.len().min(MAX_WORDS);
    let of_length = |length: usize| (0..(count + 1).saturating_sub(length)).map(move |first| (first, length));
    let all =
        (1..=count).rev().flat_map(of_length).map(|(first, length)| Phrase { first, end: first + length });
    all.filter(|phrase| words[phrase.first..phrase.end].iter().all(|word| !word.is_quoted)).collect()
}

fn month_named(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let word = word.trim_end_matches('.');
    let is_named = |month: &&str| {
        let month = month.to_ascii_lowercase();
        month == word || (word == "sept" || word.len() == 3) && month.starts_with(word)
    };
    let found = Month::NAMES.iter().position(is_named);
    found.and_then(|index| u32::try_from(index + 1).ok())
}

fn number_of(word: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let is_number = digits.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}

fn year_of(word: &str) -> Option<u32> {
    number_of(word, 4..=4).filter(|year| (1826..=2100).contains(year))
}

/// The number of a day: `12`, `12.`, `12th`.
fn day_number(word: &str) -> Option<i8> {
    let lower = word.to_lowercase();
    let digits =
        ["st", "nd", "rd", "th", "."].iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(&lower);
    number_of(digits, 1..=2).and_then(|day| i8::try_from(day).ok())
}

/// The days that words name: `2023`, `july 2024`, `2024-07`, `12 June 2026`, `June 12, 2026`, `2026-06-12`, `12.6.2026`.
fn days_named(phrase: &str) -> Option<(DateRange, String)> {
    let month_of = |year: u32, month: u32| Month::from_number(year * 100 + month);
    let whole = |month: Month| Some((month.range(), month.to_string()));
    let day_of = |year: u32, month: u32, day: i8| {
        let month = month_of(year, month)?;
        Some((month.day(day)?, format!("{day} {month}")))
    };
    let words: Vec<&str> = phrase.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [word] => {
            if let Some(year) = year_of(word) {
                let (first, last) = (month_of(year, 1)?.range(), month_of(year, 12)?.range());
                return Some((DateRange::new(Some(first.start()), Some(last.end())).ok()?, year.to_string()));
            }
            let dashed: Vec<&str> = word.split('-').collect();
            let dotted: Vec<&str> = word.split('.').collect();
            match (dashed.as_slice(), dotted.as_slice()) {
                ([year, month], _) => whole(month_of(year_of(year)?, number_of(month, 2..=2)?)?),
                ([year, month, day], _) => day_of(year_of(year)?, number_of(month, 2..=2)?, day_number(day)?),
                (_, [day, month, year]) => day_of(year_of(year)?, number_of(month, 1..=2)?, day_number(day)?),
                _ => None,
            }
        }
        [first, second] => match (month_named(first), year_of(second), year_of(first), month_named(second)) {
            (Some(month), Some(year), ..) | (.., Some(year), Some(month)) => whole(month_of(year, month)?),
            _ => None,
        },
        [first, second, year] => {
            let year = year_of(year)?;
            match (day_number(first), month_named(second), month_named(first), day_number(second)) {
                (Some(day), Some(month), ..) | (.., Some(month), Some(day)) => day_of(year, month, day),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The words of a text, folded.
fn folded_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(words::fold).filter(|word| !word.is_empty()).collect()
}

/// The cameras that have these words in their names, one after the other.
fn cameras_named(phrase: &str, cameras: &[(String, Vec<String>)]) -> Vec<String> {
    let folded = folded_words(phrase);
    let is_name = |word: &String| {
        let has_digits = word.chars().any(|char| char.is_ascii_digit());
        word.chars().any(char::is_alphabetic) && word.chars().count() >= if has_digits { 2 } else { 3 }
    };
    if !folded.iter().any(is_name) {
        return Vec::new();
    }
    let is_named = |name: &[String]| name.windows(folded.len()).any(|part| part == folded);
    let named = cameras.iter().filter(|(_, words)| is_named(words)).map(|(name, _)| name.clone());
    named.take(MAX_MATCHING).collect()
}

impl Named {
    /// The photos of this meaning.
    pub fn add_to(&self, filter: &mut Filter) {
        match self {
            Self::Days(range, _) => filter.wall = Some(*range),
            Self::Places(places) => places.clone().restrict(filter),
            Self::Cameras(cameras, _) => filter.cameras = Some(cameras.clone()),
            Self::Album(id, _) => filter.album = Some(id.clone()),
            Self::Keyword(keyword) => filter.keyword = Some(keyword.clone()),
        }
    }

    /// Two meanings of one kind exclude each other.
    fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Catalogue {
    /// Finds the words of a query that name something of the caller's library, with photos that the caller sees. Of overlapping
    /// words the longest have a meaning, and of each kind of meanings only one is found.
    pub async fn read_query(&self, caller: &Caller, query: &str) -> Result<ReadQuery, StorageError> {
        let words = words_of(query);
        let phrases = phrases(&words);
        let candidates = self.meanings_of(caller, &words, &phrases).await?;
        let mut found: Vec<(Phrase, Named, Image)> = Vec::new();
        let mut absent_days: Vec<Phrase> = Vec::new();
        for (phrase, named, image) in candidates {
            let is_free = |(other, known, _): &(Phrase, Named, Image)| {
                !phrase.overlaps(*other) && !named.is_same_kind(known)
            };
            let is_day = matches!(named, Named::Days(..));
            match image {
                // The year of a month without photos is not meant.
                _ if is_day && absent_days.iter().any(|absent| absent.overlaps(phrase)) => {}
                Some(image) if found.iter().all(is_free) => found.push((phrase, named, image)),
                None if is_day => absent_days.push(phrase),
                _ => {}
            }
        }
        found.sort_by_key(|(phrase, ..)| phrase.first);
        let is_read = |at: usize| found.iter().any(|(phrase, ..)| (phrase.first..phrase.end).contains(&at));
        let is_connecting = |word: &Word<'_>| {
            !found.is_empty() && !word.is_quoted && CONNECTING.contains(&word.text.to_lowercase().as_str())
        };
        let rest = words.iter().enumerate().filter(|(at, word)| !is_read(*at) && !is_connecting(word));
        let rest: Vec<&str> = rest.map(|(_, word)| word.text).collect();
        let meanings = found.iter().map(|(phrase, named, image)| Meaning {
            words: phrase.text(&words),
            unread: unread(&words, *phrase),
            named: named.clone(),
            image: image.clone(),
        });
        Ok(ReadQuery { rest: rest.join(" "), meanings: meanings.collect() })
    }

    /// What the phrases could mean, the longest phrases first, with the newest photo of each meaning.
    async fn meanings_of(
        &self,
        caller: &Caller,
        words: &[Word<'_>],
        phrases: &[Phrase],
    ) -> Result<Vec<(Phrase, Named, Option<Image>)>, StorageError> {
        if phrases.is_empty() {
            return Ok(Vec::new());
        }
        let (store, account) = (&self.parts.store, caller.account.id);
        let texts: Vec<String> = phrases.iter().map(|phrase| phrase.text(words)).collect();
        let searches: Vec<PlaceSearch> = texts.iter().map(|text| PlaceSearch::new(text)).collect();
        let sought: Vec<String> = searches.iter().flat_map(PlaceSearch::sought).collect();
        let folded: Vec<String> = texts.iter().map(|text| words::fold(text)).collect();
        let (places, keywords, cameras, albums) = tokio::try_join!(
            store.names_like(account, &PLACE_KINDS, &sought, MAX_KNOWN_NAMES),
            store.names_like(account, &[NameKind::Keyword], &folded, MAX_KNOWN_NAMES),
            store.known_names(account, NameKind::Camera, MAX_KNOWN_NAMES),
            self.album_names(caller),
        )?;
        let albums: Vec<(String, AlbumName)> =
            albums.into_iter().map(|album| (words::fold(&album.title), album)).collect();
        let cameras: Vec<(String, Vec<String>)> = cameras
            .into_iter()
            .map(|name| {
                let words = folded_words(&name);
                (name, words)
            })
            .collect();
        let mut candidates: Vec<(Phrase, Named)> = Vec::new();
        for (((phrase, text), search), folded) in phrases.iter().zip(&texts).zip(&searches).zip(&folded) {
            let mut add = |named| candidates.push((*phrase, named));
            if let Some((range, label)) = days_named(text) {
                add(Named::Days(range, label));
            }
            let is_word = folded.chars().any(char::is_alphabetic) && !CONNECTING.contains(&folded.as_str());
            if !is_word {
                continue;
            }
            match search.among(&places) {
                FoundPlaces::Nothing => {}
                found => add(Named::Places(found)),
            }
            let of_words = cameras_named(text, &cameras);
            if !of_words.is_empty() {
                add(Named::Cameras(of_words, text.clone()));
            }
            if let Some((_, album)) = albums.iter().find(|(title, _)| title == folded) {
                add(Named::Album(album.id.clone(), album.title.clone()));
            }
            let is_keyword = |(_, name): &&(NameKind, String)| words::fold(name) == *folded;
            let keyword = keywords.iter().find(is_keyword).and_then(|(_, name)| Keyword::parse(name).ok());
            if let Some(keyword) = keyword {
                add(Named::Keyword(keyword));
            }
        }
        let filters: Vec<Filter> = candidates.iter().map(|(_, named)| filter_of(named)).collect();
        let newest =
            store.newest_of_each(self.viewer(caller), &filters, Limit::new(1).unwrap_or_default()).await?;
        let with_image = candidates.into_iter().zip(newest);
        Ok(with_image.map(|((phrase, named), images)| (phrase, named, images.into_iter().next())).collect())
    }
}

/// A name with which a query could go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The query with the name in place of its last words.
    pub query: String,
    pub name: String,
    pub named: Named,
    /// The newest photo of it.
    pub image: Image,
}

/// Maximum number of names of each kind that the same words begin, of names that are looked up for completions, and of completions.
const MAX_OF_KIND: usize = 6;
const MAX_LOOKED_UP: usize = 36;
const MAX_COMPLETIONS: usize = 8;
/// The last words of a query that may begin a name.
const MAX_LAST_WORDS: usize = 3;

impl Catalogue {
    /// The names of the caller's library that the last words of a query begin, with photos that the caller sees.
    pub async fn complete_query(
        &self,
        caller: &Caller,
        query: &str,
    ) -> Result<Vec<Completion>, StorageError> {
        let words = words_of(query);
        if words.last().is_none_or(|word| word.is_quoted) {
            return Ok(Vec::new());
        }
        let (store, account) = (&self.parts.store, caller.account.id);
        // The most words first.
        let mut begun: Vec<(usize, String)> = Vec::new();
        for first in words.len().saturating_sub(MAX_LAST_WORDS)..words.len() {
            let text = Phrase { first, end: words.len() }.text(&words);
            begun.push((first, words::fold(&text)));
        }
        begun.retain(|(_, folded)| !folded.is_empty());
        let folded: Vec<String> = begun.iter().map(|(_, folded)| folded.clone()).collect();
        let max = u32::try_from(MAX_OF_KIND * MAX_LAST_WORDS).unwrap_or(u32::MAX);
        let begun_by = async |kind| store.names_from(account, &[kind], &folded, max).await;
        let (places, regions, keywords, cameras, albums, months) = tokio::try_join!(
            begun_by(NameKind::Place),
            begun_by(NameKind::Region),
            begun_by(NameKind::Keyword),
            store.known_names(account, NameKind::Camera, MAX_KNOWN_NAMES),
            self.album_names(caller),
            self.timeline_months(caller),
        )?;
        let mut candidates: Vec<(usize, String, Named)> = Vec::new();
        for (first, begin) in &begun {
            let mut add = |name: String, named| candidates.push((*first, name, named));
            let begins = |name: &str| {
                let words = folded_words(name);
                (0..words.len()).any(|first| words[first..].concat().starts_with(begin.as_str()))
            };
            let mut years: Vec<i16> = months.iter().map(|total| total.month.year()).collect();
            years.dedup();
            let texts =
                years.iter().map(i16::to_string).chain(months.iter().map(|total| total.month.to_string()));
            let texts = texts.filter(|text| begin.len() > 1 && words::fold(text).starts_with(begin.as_str()));
            for text in texts.take(MAX_OF_KIND) {
                if let Some((range, label)) = days_named(&text) {
                    add(text, Named::Days(range, label));
                }
            }
            let begun = |names: &[(NameKind, String)]| {
                let begun = names.iter().filter(|(_, name)| words::fold(name).starts_with(begin.as_str()));
                begun.take(MAX_OF_KIND).cloned().collect::<Vec<_>>()
            };
            for (kind, name) in [&places, &regions, &keywords].into_iter().flat_map(|names| begun(names)) {
                let one = vec![name.clone()];
                let named = match kind {
                    NameKind::Place => {
                        Named::Places(FoundPlaces::Cities { cities: one, regions: Vec::new() })
                    }
                    NameKind::Region if name.contains(", ") => Named::Places(FoundPlaces::Regions(one)),
                    NameKind::Region => Named::Places(FoundPlaces::Countries(one)),
                    NameKind::Keyword | NameKind::Camera => match Keyword::parse(&name) {
                        Ok(keyword) => Named::Keyword(keyword),
                        Err(_) => continue,
                    },
                };
                add(name, named);
            }
            for album in albums.iter().filter(|album| begins(&album.title)).take(MAX_OF_KIND) {
                add(album.title.clone(), Named::Album(album.id.clone(), album.title.clone()));
            }
            for camera in cameras.iter().filter(|camera| begins(camera)).take(MAX_OF_KIND) {
                add(camera.clone(), Named::Cameras(vec![camera.clone()], camera.clone()));
            }
        }
        candidates.truncate(MAX_LOOKED_UP);
        let filters: Vec<Filter> = candidates.iter().map(|(_, _, named)| filter_of(named)).collect();
        let newest =
            store.newest_of_each(self.viewer(caller), &filters, Limit::new(1).unwrap_or_default()).await?;
        let mut completions: Vec<Completion> = Vec::new();
        for ((first, name, named), images) in candidates.into_iter().zip(newest) {
            let Some(image) = images.into_iter().next() else { continue };
            // What was in quotes stays in quotes.
            let before = unread(words.get(..first).unwrap_or_default(), Phrase { first: 0, end: 0 });
            let query = format!("{before} {name}").trim().to_owned();
            if completions.len() < MAX_COMPLETIONS && completions.iter().all(|known| known.query != query) {
                completions.push(Completion { query, name, named, image });
            }
        }
        Ok(completions)
    }
}

fn filter_of(named: &Named) -> Filter {
    let mut filter = Filter::default();
    named.add_to(&mut filter);
    filter
}

/// The query with a phrase in quotes.
fn unread(words: &[Word<'_>], phrase: Phrase) -> String {
    let mut text = String::new();
    let mut is_open = false;
    for (at, word) in words.iter().enumerate() {
        let is_quoted = word.is_quoted || (phrase.first..phrase.end).contains(&at);
        if is_open && !is_quoted {
            text.push('"');
        }
        if at > 0 {
            text.push(' ');
        }
        if is_quoted && !is_open {
            text.push('"');
        }
        is_open = is_quoted;
        text.push_str(word.text);
    }
    if is_open {
        text.push('"');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_as_people_write_them() {
        let check = |text: &str, label: &str, first: &str, last: &str| {
            let (range, found) = days_named(text).unwrap();
            let days = [range.start(), range.end()].map(|at| at.wall(0).date().to_string());
            assert_eq!((found.as_str(), days), (label, [first.to_owned(), last.to_owned()]), "{text}");
        };
        check("2023", "2023", "2023-01-01", "2023-12-31");
        for text in ["July 2024", "jul 2024", "2024 JULY", "2024-07"] {
            check(text, "July 2024", "2024-07-01", "2024-07-31");
        }
        check("Sept 2024", "September 2024", "2024-09-01", "2024-09-30");
        for text in
            ["12 June 2026", "12. june 2026", "June 12, 2026", "jun 12th 2026", "2026-06-12", "12.6.2026"]
        {
            check(text, "12 June 2026", "2026-06-12", "2026-06-12");
        }
        for none in [
            "july",
            "1825",
            "2101",
            "20245",
            "2024-13",
            "2024-1",
            "31 June 2026",
            "٢٠٢٤",
            "1080p",
            "",
            "32.1.2024",
        ] {
            assert_eq!(days_named(none), None, "{none}");
        }
    }

    #[test]
    fn quoted_words_have_no_meaning() {
        let query = "pixel 8 in \"New York\" 2024";
        let words = words_of(query);
        let phrases = phrases(&words);
        assert!(phrases.iter().all(|phrase| !phrase.text(&words).contains("York")), "{phrases:?}");
        let of = |first, end| unread(&words, Phrase { first, end });
        assert_eq!(of(0, 2), "\"pixel 8\" in \"New York\" 2024");
        assert_eq!(of(5, 6), "pixel 8 in \"New York 2024\"");
        assert_eq!(of(2, 3), "pixel 8 \"in New York\" 2024");
    }

    #[test]
    fn cameras_are_named_by_their_words() {
        let cameras = ["Apple iPhone 13 Pro", "Canon EOS R5", "Google Pixel 8", "Google Pixel 8 Pro"];
        let cameras = cameras.map(|name| (name.to_owned(), folded_words(name)));
        let named = |text: &str| cameras_named(text, &cameras);
        assert_eq!(named("iphone"), ["Apple iPhone 13 Pro"]);
        assert_eq!(named("PIXEL 8"), ["Google Pixel 8", "Google Pixel 8 Pro"]);
        assert_eq!(named("r5"), ["Canon EOS R5"]);
        for none in ["13", "8", "can", "iphone13", "phone", ""] {
            assert_eq!(named(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn many_words_make_few_phrases() {
        let query = "word ".repeat(500);
        assert!(phrases(&words_of(&query)).len() <= MAX_WORDS * (MAX_WORDS + 1) / 2);
    }
}
