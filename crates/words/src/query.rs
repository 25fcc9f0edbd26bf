//! The words of a query.

use crate::{
    char_table::class,
    chars::{Class, has_hiragana, is_hiragana},
    stop::is_stop_word,
    tokens::{Token, TokenKind, each_token},
};

/// The maximum number of distinct words in a query; further ones are ignored.
const MAX_QUERY_WORDS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// The word, folded.
    pub word: String,
    /// Whether it is a word or a number, not an emoji or characters of a script without spaces. Only these have other forms
    /// and typos.
    pub is_word: bool,
    /// Whether an image also matches without this word, because it is a stop word. A query has at least one word that is
    /// not optional.
    pub optional: bool,
    /// Whether it also matches words that start with it. This is the last word, which may be incomplete.
    pub is_prefix: bool,
}

/// The distinct words of a query in order, at most 64.
///
/// ```
/// let words = words::query_words("receipt from the hardware store");
/// let needed: Vec<_> = words.iter().filter(|word| !word.optional).map(|word| &*word.word).collect();
/// assert_eq!(needed, ["receipt", "hardware", "store"]);
/// ```
pub fn query_words(query: &str) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = Vec::new();
    let mut last = None;
    each_token(query, |token| {
        if matches!(token.kind, TokenKind::Single { alone: false }) {
            return;
        }
        let known = words.iter().position(|word| word.word == token.folded);
        last = known;
        if known.is_none() && words.len() < MAX_QUERY_WORDS {
            last = Some(words.len());
            words.push(QueryWord {
                word: token.folded.to_owned(),
                is_word: token.kind == TokenKind::Word,
                optional: match token.kind {
                    TokenKind::Word | TokenKind::Single { .. } => is_stop_word(token.folded),
                    TokenKind::Pair => is_stop_word(token.folded) || is_grammar(query, &token),
                    TokenKind::Emoji => false,
                },
                is_prefix: false,
            });
        }
    });
    if words.iter().all(|word| word.optional) {
        words.iter_mut().for_each(|word| word.optional = false);
    }
    if let Some(word) = last.and_then(|last| words.get_mut(last)) {
        word.is_prefix = word.is_word && word.word.chars().nth(1).is_some();
    }
    words
}

/// Whether a pair of characters is probably grammar and not part of a word. A pair with Hiragana is grammar, unless the
/// whole run of characters around it is Hiragana. Such a run is a word, unless it is a stop word.
fn is_grammar(query: &str, pair: &Token<'_>) -> bool {
    if !has_hiragana(pair.folded) {
        return false;
    }
    let is_gram = |c: char| matches!(class(c), Class::Gram | Class::Extend);
    let (before, after) = (query.get(..pair.start), query.get(pair.end..));
    let start = before.unwrap_or_default().trim_end_matches(is_gram).len();
    let end = query.len() - after.unwrap_or_default().trim_start_matches(is_gram).len();
    let run = query.get(start..end).unwrap_or_default();
    !run.chars().all(is_hiragana) || is_stop_word(run)
}
