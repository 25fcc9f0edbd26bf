//! The tokenizer.

use crate::{
    char_table::class,
    chars::{Class, is_apostrophe, is_regional_indicator},
    fold::{cluster_length, fold_char, fold_cluster},
};

/// The maximum length of a word in folded characters; the rest of a longer word is ignored.
pub const MAX_WORD_CHARS: usize = 40;

/// The maximum number of words (or of characters of a script without spaces) in a text; the rest is ignored.
pub const MAX_TOKENS: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word or a number.
    Word,
    /// One character of a script without spaces, with its marks.
    Single {
        /// Whether it has no neighbour of such a script.
        alone: bool,
    },
    /// Two neighbouring characters of a script without spaces.
    Pair,
    Emoji,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The folded token; never empty, without white space and ASCII punctuation.
    pub folded: &'a str,
    /// The start in the text, in bytes.
    pub start: usize,
    /// The end in the text, in bytes.
    pub end: usize,
    /// The number of the word in the text. A pair has the number of its first character.
    pub position: u32,
    pub kind: TokenKind,
}

/// Words that are dropped before an apostrophe: articles and pronouns of French, Italian and Catalan.
const ELIDED: [&str; 17] = [
    "c", "d", "j", "l", "m", "n", "s", "t", "qu", "all", "dell", "nell", "dall", "sull", "lorsqu", "jusqu",
    "puisqu",
];

/// Word parts after an apostrophe that are joined to the word before it.
const JOINED: [&str; 6] = ["t", "ll", "re", "ve", "d", "m"];

/// Calls `take` with each token of a text, sorted by start.
///
/// ```
/// let mut words = Vec::new();
/// words::each_token("L'été à Zürich", |token| words.push(token.folded.to_owned()));
/// assert_eq!(words, ["ete", "a", "zurich"]);
/// ```
pub fn each_token(text: &str, take: impl FnMut(Token<'_>)) {
    let mut tokenizer = Tokenizer { text, at: 0, position: 0, left: MAX_TOKENS, take };
    let mut word = String::with_capacity(64);
    let mut tail = String::new();
    while tokenizer.left > 0 {
        let Some((start, class)) = tokenizer.next_start() else { break };
        match class {
            Class::Word => tokenizer.words(start, &mut word, &mut tail),
            Class::Gram => tokenizer.grams(&mut word, &mut tail),
            _ => tokenizer.emoji(start, &mut word),
        }
    }
}

struct Tokenizer<'t, F> {
    text: &'t str,
    at: usize,
    position: u32,
    left: usize,
    take: F,
}

impl<F: FnMut(Token<'_>)> Tokenizer<'_, F> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves to the start of the next token.
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
                // A letter that is used as an apostrophe.
                Class::Word if is_apostrophe(c) => self.at += c.len_utf8(),
                class => return Some((self.at, class)),
            }
        }
    }

    fn emit(&mut self, folded: &str, start: usize, end: usize, kind: TokenKind) {
        if self.left > 0 && !folded.is_empty() {
            // A pair does not count, because its characters do.
            self.left -= usize::from(kind != TokenKind::Pair);
            (self.take)(Token { folded, start, end, position: self.position, kind });
        }
    }

    /// Folds letters up to the end of a word. Returns the end of the part that was not cut off.
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

    /// Skips an apostrophe if a word follows it; `true` if so.
    fn skip_apostrophe(&mut self) -> bool {
        let mut chars = self.rest().chars();
        let Some(apostrophe) = chars.next().filter(|c| is_apostrophe(*c)) else { return false };
        let word_follows = chars.next().is_some_and(|c| class(c) == Class::Word && !is_apostrophe(c));
        if word_follows {
            self.at += apostrophe.len_utf8();
        }
        word_follows
    }

    /// Emits a word, or several words with apostrophes between them.
    fn words(&mut self, mut start: usize, word: &mut String, tail: &mut String) {
        let mut end = self.word(word);
        while self.skip_apostrophe() {
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

    /// Emits a run of characters of scripts without spaces. `before` is the previous character; the next one is appended to
    /// it to form the pair.
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
        let second =
            chars.next().filter(|c| is_regional_indicator(*c) && first.is_some_and(is_regional_indicator));
        folded.extend(first);
        folded.extend(second);
        self.at += folded.len();
        self.emit(folded, start, self.at, TokenKind::Emoji);
        self.position = self.position.saturating_add(1);
    }
}
