//! The part of a text that matched.

use crate::{score::Hit, tokens::each_token};

/// The longest passage in words.
const MAX_WORDS: u32 = 32;

/// The longest passage in characters, without the marks where it was cut.
const MAX_CHARS: usize = 200;

/// Stands where a text was cut.
const CUT: char = '…';

/// The part of a text around hits, which stand in the order of the text.
pub(crate) fn cut(text: &str, hits: &[Hit]) -> String {
    let trimmed = text.trim();
    if trimmed.chars().nth(MAX_CHARS).is_none() {
        return trimmed.to_owned();
    }
    let tokens = spans(text);
    let (first, last) = grown(text, &tokens, within(text, &tokens, hits));
    let start = if first == 0 { 0 } else { start_of(&tokens, first) };
    let at_end = last + 1 >= tokens.len();
    let end = end_of(&tokens, last);
    let start = if chars(text, start, end) > MAX_CHARS { start_of(&tokens, first) } else { start };
    let end = if at_end && chars(text, start, text.len()) <= MAX_CHARS { text.len() } else { end };
    let end = shortened(text, start, end);
    let part = text.get(start..end).unwrap_or_default().trim();
    let before = text.get(..start).unwrap_or_default().trim();
    let after = text.get(end..).unwrap_or_default().trim();
    let mut passage = String::with_capacity(part.len() + 2 * CUT.len_utf8());
    passage.extend((!before.is_empty()).then_some(CUT));
    passage.push_str(part);
    passage.extend((!after.is_empty()).then_some(CUT));
    passage
}

/// The end, or where so many characters end: a single word can have any number of marks.
fn shortened(text: &str, start: usize, end: usize) -> usize {
    let part = text.get(start..end).unwrap_or_default();
    part.char_indices().nth(MAX_CHARS).map_or(end, |(length, _)| start + length)
}

/// Where the words of a text begin and end; those of a script without spaces are its characters.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    each_token(text, |token| {
        // A pair begins where its first character does.
        if spans.last().is_none_or(|(start, _)| *start < token.start) {
            spans.push((token.start, token.end));
        }
    });
    spans
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

/// The words from the first hit to the last that is not too far from it.
fn within(text: &str, tokens: &[(usize, usize)], hits: &[Hit]) -> (usize, usize) {
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

/// Adds words on both sides in turn as long as the passage stays short.
fn grown(text: &str, tokens: &[(usize, usize)], (mut first, mut last): (usize, usize)) -> (usize, usize) {
    let fits = |first: usize, last: usize| {
        u32::try_from(last - first).is_ok_and(|words| words < MAX_WORDS)
            && chars(text, start_of(tokens, first), end_of(tokens, last)) <= MAX_CHARS
    };
    loop {
        let (mut back, mut forth) = (false, false);
        if last + 1 < tokens.len() && fits(first, last + 1) {
            last += 1;
            forth = true;
        }
        if first > 0 && fits(first - 1, last) {
            first -= 1;
            back = true;
        }
        if !back && !forth {
            return (first, last);
        }
    }
}
