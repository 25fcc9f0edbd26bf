//! An invented language whose word frequencies follow Zipf's law.

use fastrand::Rng;

/// Number of words.
const WORDS: usize = 20_000;
const CITIES: usize = 300;

const BEGINNINGS: [&str; 20] =
    ["b", "br", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "v", "w"];
const MIDDLES: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "ee", "oa"];
const ENDS: [&str; 12] = ["", "l", "n", "r", "t", "k", "m", "nd", "rt", "ck", "st", "ll"];

/// The words, the most frequent first.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// The cumulative frequency up to each word.
    cumulative: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut total = 0.0;
        let cumulative = (1..=WORDS)
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Self { words: (0..WORDS).map(word).collect(), cumulative }
    }

    /// The word of a rank, from 0.
    pub(crate) fn word(&self, rank: usize) -> &str {
        self.words.get(rank).map_or("", String::as_str)
    }

    /// A random word, chosen by frequency.
    pub(crate) fn random_word(&self, rng: &mut Rng) -> &str {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let at = rng.f64() * total;
        self.word(self.cumulative.partition_point(|cumulative| *cumulative <= at))
    }

    /// A text of random words.
    pub(crate) fn text(&self, length: usize, rng: &mut Rng) -> String {
        let words: Vec<&str> = (0..length).map(|_| self.random_word(rng)).collect();
        words.join(" ")
    }

    /// The name of a city and its country.
    pub(crate) fn city(&self, number: usize) -> String {
        let name = |rank: usize| {
            let mut letters = self.word(rank).chars();
            letters
                .next()
                .map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
        };
        let city = number % CITIES;
        format!("{}, {}", name(15_000 + city), name(18_000 + city % 40))
    }
}

/// A word of two syllables; rare words have a third one, which keeps them distinct.
fn word(rank: usize) -> String {
    let mut rng = Rng::with_seed(rank as u64);
    let mut syllable = |number: usize| {
        let from =
            |list: &[&'static str], number: usize| list.get(number % list.len()).copied().unwrap_or("");
        let (beginning, rest) = (number % 20, number / 20);
        format!(
            "{}{}{}",
            from(&BEGINNINGS, beginning),
            from(&MIDDLES, rest),
            from(&ENDS, rng.usize(..ENDS.len()))
        )
    };
    format!(
        "{}{}{}",
        syllable(rank),
        syllable(rank / 200),
        if rank < 1000 { String::new() } else { syllable(rank / 3) }
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn words_differ_and_the_first_is_the_most_frequent() {
        let vocabulary = Vocabulary::new();
        let different: HashSet<&str> = vocabulary.words.iter().map(String::as_str).collect();
        assert!(different.len() > WORDS * 9 / 10, "{}", different.len());
        let mut rng = Rng::with_seed(1);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for _ in 0..20_000 {
            *counts.entry(vocabulary.random_word(&mut rng)).or_default() += 1;
        }
        let first = counts.get(vocabulary.word(0)).copied().unwrap_or(0);
        assert!((1500..2500).contains(&first), "{first}");
        assert_eq!(vocabulary.text(3, &mut rng).split(' ').count(), 3);
        assert!(vocabulary.city(7).contains(", "));
    }
}
