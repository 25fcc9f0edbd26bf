//! Words as they are written: few of them often, most of them seldom.

use super::dice::Dice;

/// How many words there are.
const WORDS: usize = 20_000;
const CITIES: usize = 300;

const BEGINNINGS: [&str; 20] =
    ["b", "br", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "v", "w"];
const MIDDLES: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "ee", "oa"];
const ENDS: [&str; 12] = ["", "l", "n", "r", "t", "k", "m", "nd", "rt", "ck", "st", "ll"];

/// The words of a language that nobody speaks, the commonest first.
pub(super) struct Vocabulary {
    words: Vec<String>,
    /// Up to each word, how often one of them is said.
    up_to: Vec<f64>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let mut total = 0.0;
        let up_to = (1..=WORDS)
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Self { words: (0..WORDS).map(word).collect(), up_to }
    }

    /// The word of a rank, from 0.
    pub(super) fn word(&self, rank: usize) -> &str {
        self.words.get(rank).map_or("", String::as_str)
    }

    /// A word as often as it is said (Zipf's law).
    pub(super) fn say(&self, dice: &mut Dice) -> &str {
        let total = self.up_to.last().copied().unwrap_or(1.0);
        let at = dice.share() * total;
        self.word(self.up_to.partition_point(|up_to| *up_to <= at))
    }

    /// So many words.
    pub(super) fn text(&self, words: usize, dice: &mut Dice) -> String {
        let said: Vec<&str> = (0..words).map(|_| self.say(dice)).collect();
        said.join(" ")
    }

    /// The name of a city and its country.
    pub(super) fn city(&self, number: usize) -> String {
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

/// Syllables: two of them make more than enough different words, and a third tells the rest apart.
fn word(rank: usize) -> String {
    let mut mixed = Dice::new(rank as u64);
    let mut syllable = |number: usize| {
        let from =
            |list: &[&'static str], number: usize| list.get(number % list.len()).copied().unwrap_or("");
        let (beginning, rest) = (number % 20, number / 20);
        format!("{}{}{}", from(&BEGINNINGS, beginning), from(&MIDDLES, rest), from(&ENDS, mixed.place(12)))
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
    fn words_differ_and_the_first_are_said_most() {
        let vocabulary = Vocabulary::new();
        let different: HashSet<&str> = vocabulary.words.iter().map(String::as_str).collect();
        assert!(different.len() > WORDS * 9 / 10, "{}", different.len());
        let mut dice = Dice::new(1);
        let mut said: HashMap<&str, u32> = HashMap::new();
        for _ in 0..20_000 {
            *said.entry(vocabulary.say(&mut dice)).or_default() += 1;
        }
        let often = said.get(vocabulary.word(0)).copied().unwrap_or(0);
        assert!((1500..2500).contains(&often), "{often}");
        assert_eq!(vocabulary.text(3, &mut dice).split(' ').count(), 3);
        assert!(vocabulary.city(7).contains(", "));
    }
}
