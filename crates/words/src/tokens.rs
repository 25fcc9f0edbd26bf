//! The tokens of a text.

use crate::{
    chars::{Class, class, is_apostrophe, is_half_flag},
    fold::{cluster_length, fold_char, fold_cluster},
};

/// The longest word in folded characters; what follows in a longer one is left out.
pub const MAX_WORD_CHARS: usize = 40;

/// The most words of a text, or characters of a script without spaces; what follows is left out.
pub const MAX_TOKENS: usize = 4096;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word or a number.
    Word,
    /// One character of a script without spaces, with its marks.
    Single {
        /// Whether no other character of such a script stands beside it.
        alone: bool,
    },
    /// Two neighbouring characters of a script without spaces.
    Pair,
    /// A picture among the characters.
    Emoji,
}

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What of it counts; never empty, without white space and ASCII punctuation.
    pub folded: &'a str,
    /// Where it begins, in bytes of the text.
    pub start: usize,
    /// Where it ends, in bytes of the text.
    pub end: usize,
    /// Its number among the words; a pair has that of its first character.
    pub position: u32,
    /// What it is.
    pub kind: TokenKind,
}

/// What is left out before an apostrophe: articles and pronouns of French, Italian and Catalan.
const ELIDED: [&str; 17] = [
    "c", "d", "j", "l", "m", "n", "s", "t", "qu", "all", "dell", "nell", "dall", "sull", "lorsqu", "jusqu",
    "puisqu",
];

/// What belongs to the word before its apostrophe.
const JOINED: [&str; 6] = ["t", "ll", "re", "ve", "d", "m"];

/// Calls `take` with each token of a text in the order in which they begin.
///
/// ```
/// let mut words = Vec::new();
/// words::each_token("L'été à Zürich", |token| words.push(token.folded.to_owned()));
/// assert_eq!(words, ["ete", "a", "zurich"]);
/// ```
pub fn each_token(text: &str, take: impl FnMut(Token<'_>)) {
    let mut scan = Scan { text, at: 0, position: 0, left: MAX_TOKENS, take };
    let mut word = String::with_capacity(64);
    let mut tail = String::new();
    while scan.left > 0 {
        let Some((start, class)) = scan.next_start() else { break };
        match class {
            Class::Word => scan.words(start, &mut word, &mut tail),
            Class::Gram => scan.grams(&mut word, &mut tail),
            _ => scan.emoji(start, &mut word),
        }
    }
}

struct Scan<'t, F> {
    text: &'t str,
    at: usize,
    position: u32,
    left: usize,
    take: F,
}

impl<F: FnMut(Token<'_>)> Scan<'_, F> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves to where the next token begins.
    fn next_start(&mut self) -> Option<(usize, Class)> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if byte.is_ascii_alphanumeric() {
                return Some((self.at, Class::Word));
            }
            if byte.is_ascii() {
                self.at += 1;
                continue;
            }
            let c = self.rest().chars().next()?;
            match class(c) {
                Class::Extend | Class::Other => self.at += c.len_utf8(),
                // An apostrophe by another name.
                Class::Word if is_apostrophe(c) => self.at += c.len_utf8(),
                class => return Some((self.at, class)),
            }
        }
    }

    fn emit(&mut self, folded: &str, start: usize, end: usize, kind: TokenKind) {
        if self.left > 0 && !folded.is_empty() {
            // A pair is no character more.
            self.left -= usize::from(kind != TokenKind::Pair);
            (self.take)(Token { folded, start, end, position: self.position, kind });
        }
    }

    /// Folds letters up to the end of a word. Gives where that stands which counts.
    fn word(&mut self, folded: &mut String) -> usize {
        folded.clear();
        let bytes = self.text.as_bytes();
        let mut chars = 0;
        let mut end = self.at;
        while let Some(byte) = bytes.get(self.at) {
            if byte.is_ascii_alphanumeric() {
                self.at += 1;
                if chars < MAX_WORD_CHARS {
                    chars += 1;
                    folded.push(char::from(byte.to_ascii_lowercase()));
                    end = self.at;
                }
                continue;
            }
            if byte.is_ascii() {
                break;
            }
            let Some(c) = self.rest().chars().next() else { break };
            if !matches!(class(c), Class::Word | Class::Extend) || is_apostrophe(c) {
                break;
            }
            self.at += c.len_utf8();
            if chars < MAX_WORD_CHARS {
                let before = folded.len();
                fold_char(c, folded);
                chars += folded.get(before..).map_or(1, |added| added.chars().count());
                end = self.at;
            }
        }
        end
    }

    /// Whether an apostrophe comes and then a word, which is moved to.
    fn passes_apostrophe(&mut self) -> bool {
        let mut chars = self.rest().chars();
        let Some(apostrophe) = chars.next().filter(|c| is_apostrophe(*c)) else { return false };
        let goes_on = chars.next().is_some_and(|c| class(c) == Class::Word && !is_apostrophe(c));
        if goes_on {
            self.at += apostrophe.len_utf8();
        }
        goes_on
    }

    /// A word, or some that apostrophes join.
    fn words(&mut self, mut start: usize, word: &mut String, tail: &mut String) {
        let mut end = self.word(word);
        while self.passes_apostrophe() {
            let tail_start = self.at;
            let tail_end = self.word(tail);
            if ELIDED.contains(&word.as_str()) {
                std::mem::swap(word, tail);
                (start, end) = (tail_start, tail_end);
            } else if JOINED.contains(&tail.as_str()) || word == "o" {
                word.push_str(tail);
                end = tail_end;
            } else if tail != "s" {
                self.emit(word, start, end, TokenKind::Word);
                self.position = self.position.saturating_add(1);
                std::mem::swap(word, tail);
                (start, end) = (tail_start, tail_end);
            }
        }
        self.emit(word, start, end, TokenKind::Word);
        self.position = self.position.saturating_add(1);
    }

    /// A run of characters of scripts without spaces. `before` holds the character before and is then followed by the
    /// next, so that it is the pair.
    fn grams(&mut self, before: &mut String, next: &mut String) {
        before.clear();
        let (mut start, mut end) = (self.at, self.at);
        let mut alone = true;
        while self.left > 0 {
            let follows = self.rest().chars().next().is_some_and(|c| class(c) == Class::Gram);
            next.clear();
            let next_start = self.at;
            if follows {
                let length = cluster_length(self.rest());
                fold_cluster(self.text.get(self.at..self.at + length).unwrap_or_default(), next);
                self.at += length;
            }
            if !before.is_empty() {
                alone &= !follows;
                self.emit(before, start, end, TokenKind::Single { alone });
                if follows && !next.is_empty() {
                    before.push_str(next);
                    self.emit(before, start, self.at, TokenKind::Pair);
                }
                self.position = self.position.saturating_add(1);
            }
            if !follows {
                break;
            }
            std::mem::swap(before, next);
            (start, end) = (next_start, self.at);
        }
    }

    fn emoji(&mut self, start: usize, folded: &mut String) {
        folded.clear();
        let mut chars = self.rest().chars();
        let first = chars.next();
        let second = chars.next().filter(|c| is_half_flag(*c) && first.is_some_and(is_half_flag));
        folded.extend(first);
        folded.extend(second);
        self.at += folded.len();
        self.emit(folded, start, self.at, TokenKind::Emoji);
        self.position = self.position.saturating_add(1);
    }
}
