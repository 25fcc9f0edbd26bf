//! The part of a text that matched.

use crate::{hits::Hit, tokens::each_token};

/// The maximum length of a passage in words.
const MAX_WORDS: u32 = 32;

/// The maximum length of a passage in characters, without ellipses.
const MAX_CHARS: usize = 200;

const ELLIPSIS: char = '…';

/// The part of a text around hits, which are sorted by their positions.
pub(crate) fn cut(text: &str, hits: &[Hit]) -> String {
    let trimmed = text.trim();
    if trimmed.chars().nth(MAX_CHARS).is_none() {
        return trimmed.to_owned();
    }
    let tokens = word_spans(text);
    let (first, last) = extend(text, &tokens, hit_range(text, &tokens, hits));
    let start = if first == 0 { 0 } else { start_of(&tokens, first) };
    let at_end = last + 1 >= tokens.len();
    let end = end_of(&tokens, last);
    let start = if chars(text, start, end) > MAX_CHARS { start_of(&tokens, first) } else { start };
    let end = if at_end && chars(text, start, text.len()) <= MAX_CHARS { text.len() } else { end };
    let end = limit_end(text, start, end);
    let part = text.get(start..end).unwrap_or_default().trim();
    let before = text.get(..start).unwrap_or_default().trim();
    let after = text.get(end..).unwrap_or_default().trim();
    let mut passage = String::with_capacity(part.len() + 2 * ELLIPSIS.len_utf8());
    passage.extend((!before.is_empty()).then_some(ELLIPSIS));
    passage.push_str(part);
    passage.extend((!after.is_empty()).then_some(ELLIPSIS));
    passage
}

/// `end`, or an earlier end if the part has more than [`MAX_CHARS`] characters: a word can have any number of marks.
fn limit_end(text: &str, start: usize, end: usize) -> usize {
    let part = text.get(start..end).unwrap_or_default();
    part.char_indices().nth(MAX_CHARS).map_or(end, |(length, _)| start + length)
}

/// The byte ranges of the words of a text. In scripts without spaces, these are the characters.
fn word_spans(text: &str) -> Vec<(usize, usize)> {
    let mut word_spans: Vec<(usize, usize)> = Vec::new();
    each_token(text, |token| {
        // Skips pairs, which start with their first character.
        if word_spans.last().is_none_or(|(start, _)| *start < token.start) {
            word_spans.push((token.start, token.end));
        }
    });
    word_spans
}

fn start_of(tokens: &[(usize, usize)], at: usize) -> usize {
    tokens.get(at).map_or(0, |(start, _)| *start)
}

fn end_of(tokens: &[(usize, usize)], at: usize) -> usize {
    tokens.get(at).map_or(0, |(_, end)| *end)
}

fn chars(text: &str, start: usize, end: usize) -> usize {
    text.get(start..end).map_or(0, |part| part.chars().count())
}

/// The words from the first hit to the last one that fits into the passage.
fn hit_range(text: &str, tokens: &[(usize, usize)], hits: &[Hit]) -> (usize, usize) {
    let Some(begin) = hits.first() else { return (0, 0) };
    let at = |start: usize| tokens.partition_point(|(other, _)| *other <= start).saturating_sub(1);
    let first = at(begin.start);
    let fits = |hit: &&Hit| {
        hit.position.saturating_sub(begin.position) < MAX_WORDS
            && chars(text, begin.start, hit.end) <= MAX_CHARS
    };
    let last = hits.iter().rev().find(fits).map_or(first, |hit| at(hit.start));
    (first, last.max(first))
}

/// Extends the range by words after and before it in turn, up to the maximum length.
fn extend(text: &str, tokens: &[(usize, usize)], (mut first, mut last): (usize, usize)) -> (usize, usize) {
    let fits = |first: usize, last: usize| {
        u32::try_from(last - first).is_ok_and(|words| words < MAX_WORDS)
            && chars(text, start_of(tokens, first), end_of(tokens, last)) <= MAX_CHARS
    };
    loop {
        let before = (first, last);
        if last + 1 < tokens.len() && fits(first, last + 1) {
            last += 1;
        }
        if first > 0 && fits(first - 1, last) {
            first -= 1;
        }
        if (first, last) == before {
            return before;
        }
    }
}
