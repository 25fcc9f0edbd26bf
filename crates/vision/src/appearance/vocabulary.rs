//! The meanings of words in all languages together.

use std::collections::HashMap;

use super::{
    concept::Concept,
    words::{self, Language},
};

/// The longest phrase, in tokens or, in scripts without spaces, in characters.
pub(super) const MAX_PHRASE_LENGTH: usize = 12;

/// How a word changes the colour next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shade {
    Dark,
    Light,
    /// The word does not change the colour ("bright red"), although the word alone may be a concept.
    Plain,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) concept: Option<Concept>,
    /// Whether the word often means something else.
    pub(super) ambiguous: bool,
    /// How the word changes the colour after it.
    pub(super) shades_next: Option<Shade>,
    /// How the word changes the colour before it.
    pub(super) shades_last: Option<Shade>,
    pub(super) negates: bool,
    pub(super) ignored: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A normalised word: lower case, without accents and apostrophes.
    Word(String),
    /// Characters of a script without spaces.
    Run(Vec<char>),
    /// A punctuation mark that ends a phrase.
    Break,
}

/// The phrases of all languages.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    /// The meaning of each phrase, by [`key`].
    meanings: HashMap<String, Meaning>,
}

impl Vocabulary {
    pub(super) fn of_all_languages() -> Self {
        let mut vocabulary = Self { meanings: HashMap::new() };
        for language in words::ALL {
            vocabulary.add(language);
        }
        vocabulary
    }

    fn add(&mut self, language: &Language) {
        for (concept, phrases) in language.concepts {
            self.update(language, phrases, |meaning, ambiguous| {
                if meaning.concept.is_none() {
                    meaning.concept = Some(*concept);
                    meaning.ambiguous = ambiguous;
                }
            });
        }
        for (phrases, shade) in
            [(language.dark, Shade::Dark), (language.light, Shade::Light), (language.plain, Shade::Plain)]
        {
            let follow = language.shades_follow;
            self.update(language, phrases, |meaning, _| {
                let slot = if follow { &mut meaning.shades_last } else { &mut meaning.shades_next };
                slot.get_or_insert(shade);
            });
        }
        self.update(language, language.negations, |meaning, _| meaning.negates = true);
        self.update(language, language.ignored, |meaning, _| meaning.ignored = true);
    }

    /// Updates the meanings of phrases in all their forms. `change` also receives whether the phrase is ambiguous.
    fn update(&mut self, language: &Language, phrases: &str, change: impl Fn(&mut Meaning, bool)) {
        for phrase in split_list(phrases) {
            let ambiguous = phrase.ends_with('?');
            let phrase = phrase.trim_end_matches('?');
            let no_ending = Some("").filter(|_| language.stems_are_words || !phrase.contains('~'));
            let endings =
                no_ending.into_iter().chain(split_list(language.endings).filter(|_| phrase.contains('~')));
            for ending in endings {
                let key = key(&phrase.replace('~', ending));
                if key.is_empty() {
                    continue;
                }
                change(self.meanings.entry(key).or_default(), ambiguous);
            }
        }
    }

    /// The meaning of a normalised phrase of words, or of characters in a script without spaces.
    pub(super) fn meaning(&self, phrase: &str) -> Option<Meaning> {
        self.meanings.get(phrase).copied()
    }
}

fn split_list(phrases: &str) -> impl Iterator<Item = &str> {
    phrases.split(',').map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// The key of a phrase: its normalised words, separated by single spaces.
fn key(phrase: &str) -> String {
    let parts: Vec<String> = tokens(phrase)
        .into_iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Run(characters) => Some(characters.into_iter().collect()),
            Token::Break => None,
        })
        .collect();
    parts.join(" ")
}

/// Splits a text into tokens. Removes case, accents, apostrophes and hyphens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut run = Vec::new();
    for character in text.chars() {
        let is_run = is_written_without_spaces(character);
        if !is_run && !run.is_empty() {
            tokens.push(Token::Run(std::mem::take(&mut run)));
        }
        let in_word =
            !is_run && (character.is_alphanumeric() || is_accent(character) || is_apostrophe(character));
        if !in_word && !word.is_empty() {
            tokens.push(Token::Word(std::mem::take(&mut word)));
        }
        match character {
            _ if is_run => run.push(character),
            _ if in_word => character.to_lowercase().for_each(|lower| fold(lower, &mut word)),
            '&' | '/' => tokens.push(Token::Word(character.to_string())),
            // Part of a ratio, such as 1:1.
            ':' => {}
            ',' | '.' | ';' | '!' | '?' | '(' | ')' | '|' | '、' | '。' | '\u{ff0c}' => {
                tokens.push(Token::Break);
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        tokens.push(Token::Word(word));
    }
    if !run.is_empty() {
        tokens.push(Token::Run(run));
    }
    tokens
}

fn is_accent(character: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&character)
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '’')
}

/// Chinese characters and the Japanese syllabaries.
fn is_written_without_spaces(character: char) -> bool {
    matches!(character, '々' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        && character != '・'
}

/// Whether a character is in the Japanese syllabary for foreign words.
pub(super) fn is_katakana(character: char) -> bool {
    ('\u{30a1}'..='\u{30ff}').contains(&character)
}

/// Appends a lower-case letter without its accents.
fn fold(letter: char, word: &mut String) {
    let plain = match letter {
        _ if is_accent(letter) || is_apostrophe(letter) => return,
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ğ' => 'g',
        'ì'..='ï' | 'ī' | 'ı' => 'i',
        'ł' | 'ľ' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' => 's',
        'ť' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ё' => 'е',
        'й' => 'и',
        'ß' => {
            word.push_str("ss");
            return;
        }
        'æ' => {
            word.push_str("ae");
            return;
        }
        'œ' => {
            word.push_str("oe");
            return;
        }
        other => other,
    };
    word.push(plain);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_into_tokens() {
        let word = |word: &str| Token::Word(word.to_owned());
        for (text, expect) in [
            ("Dark-red  CARS", vec![word("dark"), word("red"), word("cars")]),
            ("Weiß, żółty", vec![word("weiss"), Token::Break, word("zolty")]),
            ("l’été e\u{301}te\u{301}", vec![word("lete"), word("ete")]),
            ("b&w", vec![word("b"), word("&"), word("w")]),
            ("赤い 船x", vec![Token::Run(vec!['赤', 'い']), Token::Run(vec!['船']), word("x")]),
            ("", vec![]),
        ] {
            assert_eq!(tokens(text), expect, "{text}");
        }
    }

    #[test]
    fn every_phrase_can_be_found() {
        let vocabulary = Vocabulary::of_all_languages();
        assert!(vocabulary.meanings.len() > 3000, "{}", vocabulary.meanings.len());
        for phrase in vocabulary.meanings.keys() {
            let tokens = tokens(phrase);
            let length = tokens
                .iter()
                .map(|token| if let Token::Run(run) = token { run.len() } else { 1 })
                .sum::<usize>();
            assert!((1..=MAX_PHRASE_LENGTH).contains(&length), "{phrase}");
            assert_eq!(&key(phrase), phrase);
            let runs = tokens.iter().filter(|token| matches!(token, Token::Run(_))).count();
            assert!(runs == 0 || tokens.len() == 1, "{phrase} mixes scripts");
        }
    }

    #[test]
    fn every_concept_has_words_in_english() {
        for concept in Concept::ALL {
            let shade = format!("{concept:?}");
            let named = words::ALL[0].concepts.iter().any(|(named, _)| named == concept);
            // A shade may be named by two words.
            assert!(named || shade.starts_with("Dark") || shade.starts_with("Light"), "{concept:?}");
        }
    }

    #[test]
    fn words_are_written_in_one_alphabet() {
        for phrase in Vocabulary::of_all_languages().meanings.keys() {
            let latin = phrase.chars().any(|letter| letter.is_ascii_alphabetic());
            let cyrillic = phrase.chars().any(|letter| ('а'..='я').contains(&letter));
            assert!(!(latin && cyrillic), "{phrase}");
        }
    }
}
