//! Stemming: finds different forms of one word.

use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::english::is_english;

/// A stemmer, and the minimum length of its stems. The language of a word is unknown, so every word is stemmed in all
/// languages of its script. Short stems would match unrelated words.
type Language = (Algorithm, usize);

/// Languages in Latin script, English first.
const LATIN: [Language; 16] = [
    (Algorithm::English, 3),
    (Algorithm::German, 4),
    (Algorithm::French, 4),
    (Algorithm::Spanish, 4),
    (Algorithm::Italian, 4),
    (Algorithm::Portuguese, 4),
    (Algorithm::Dutch, 4),
    (Algorithm::Swedish, 4),
    (Algorithm::Norwegian, 4),
    (Algorithm::Danish, 4),
    (Algorithm::Polish, 5),
    (Algorithm::Czech, 5),
    (Algorithm::Finnish, 5),
    (Algorithm::Hungarian, 5),
    (Algorithm::Romanian, 5),
    (Algorithm::Turkish, 5),
];
const CYRILLIC: [Language; 2] = [(Algorithm::Russian, 3), (Algorithm::Ukrainian, 4)];
const GREEK: [Language; 1] = [(Algorithm::Greek, 3)];
const ARMENIAN: [Language; 1] = [(Algorithm::Armenian, 3)];
const ARABIC: [Language; 2] = [(Algorithm::Arabic, 3), (Algorithm::Persian, 3)];
const DEVANAGARI: [Language; 1] = [(Algorithm::Hindi, 3)];
const TAMIL: [Language; 1] = [(Algorithm::Tamil, 3)];

fn languages(word: &str) -> &'static [Language] {
    match word.chars().next() {
        Some('a'..='z') => &LATIN,
        Some('\u{370}'..='\u{3FF}') => &GREEK,
        Some('\u{400}'..='\u{52F}') => &CYRILLIC,
        Some('\u{530}'..='\u{58F}') => &ARMENIAN,
        Some('\u{600}'..='\u{6FF}') => &ARABIC,
        Some('\u{900}'..='\u{97F}') => &DEVANAGARI,
        Some('\u{B80}'..='\u{BFF}') => &TAMIL,
        _ => &[],
    }
}

/// The stems of a word in each language; none if the word has a digit or less than three letters.
fn stems(word: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let is_word = word.chars().all(char::is_alphanumeric)
        && !word.chars().any(char::is_numeric)
        && word.chars().count() >= 3;
    let languages = if is_word { languages(word) } else { &[] };
    let only_english = is_english(word);
    languages.iter().enumerate().filter_map(move |(number, &(language, shortest))| {
        if number > 0 && only_english {
            return None;
        }
        let stem = Stemmer::create(language).stem(word);
        (stem.chars().count() >= shortest).then(|| (number, stem.into_owned()))
    })
}

/// The stems of a folded word in each language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stems {
    word: String,
    stems: Vec<(usize, String)>,
}

impl Stems {
    /// Stems a folded word.
    pub fn new(word: &str) -> Self {
        Self { word: word.to_owned(), stems: stems(word).collect() }
    }

    /// The distinct stems other than the word itself: see [`stem_keys`].
    pub fn keys(&self) -> Vec<String> {
        let other = self.stems.iter().map(|(_, stem)| stem).filter(|stem| **stem != self.word);
        let mut keys: Vec<String> = other.cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Whether another folded word has the same stem in some language: see [`same_stem`].
    pub fn matches(&self, other: &str) -> bool {
        // If one of the words is English, only its English stem is compared.
        self.word == other
            || is_plural(&self.word, other)
            || is_plural(other, &self.word)
            || stems(other).any(|stem| self.stems.contains(&stem))
    }
}

/// The distinct stems of a folded word, other than the word itself.
///
/// Two words can only be forms of one word ([`same_stem`]) if they share a key, one is a key of the other, or one is among
/// the [`plural_keys`] of the other.
pub fn stem_keys(word: &str) -> Vec<String> {
    Stems::new(word).keys()
}

/// The words that differ from a folded word only by "s" or "es" at the end.
pub fn plural_keys(word: &str) -> Vec<String> {
    if !can_have_plural(word) {
        return Vec::new();
    }
    let singulars = ["s", "es"].into_iter().filter_map(|end| word.strip_suffix(end));
    let singulars = singulars.filter(|singular| can_have_plural(singular)).map(str::to_owned);
    singulars.chain([format!("{word}s"), format!("{word}es")]).collect()
}

fn can_have_plural(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_plural(plural: &str, singular: &str) -> bool {
    can_have_plural(singular)
        && can_have_plural(plural)
        && plural.strip_prefix(singular).is_some_and(|end| end == "s" || end == "es")
}

/// Whether two folded words are forms of one word in some language.
///
/// ```
/// assert!(words::same_stem("running", "run"));
/// assert!(words::same_stem("hunde", "hund"));
/// assert!(!words::same_stem("rocket", "rock"));
/// ```
pub fn same_stem(word: &str, other: &str) -> bool {
    Stems::new(word).matches(other)
}
