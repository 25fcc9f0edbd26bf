//! Typo tolerance by edit distance: a letter is left out, inserted, replaced, or swapped with its neighbour.

/// The minimum length in characters of a word that may have a typo.
pub const MIN_TYPO_CHARS: usize = 5;

/// The minimum length in characters of a word that may have two typos.
pub const MIN_TWO_TYPOS_CHARS: usize = 9;

/// Words with edit distance 2 count as typos of each other only if they share a prefix of this many characters.
const TWO_TYPOS_PREFIX: usize = 3;

/// Whether a word may have a typo: it is long enough and has no digit.
pub fn can_have_typos(word: &str) -> bool {
    word.chars().count() >= MIN_TYPO_CHARS && word.chars().all(char::is_alphabetic)
}

/// Whether one folded word may be a typo of another. Their edit distance is 1, or 2 if both have at least nine letters and
/// start with the same three. Both have at least five letters.
pub fn is_typo_of(word: &str, other: &str) -> bool {
    if word == other || !can_have_typos(word) || !can_have_typos(other) {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    let long =
        a.len().min(b.len()) >= MIN_TWO_TYPOS_CHARS && a.get(..TWO_TYPOS_PREFIX) == b.get(..TWO_TYPOS_PREFIX);
    let max = if long { 2 } else { 1 };
    a.len().abs_diff(b.len()) <= max && edit_distance(&a, &b) <= max
}

/// The prefix of all words within edit distance 2 that count as typos of this one; `None` if it may not have two typos.
pub fn typo_prefix(word: &str) -> Option<&str> {
    if !can_have_typos(word) || word.chars().count() < MIN_TWO_TYPOS_CHARS {
        return None;
    }
    let (end, _) = word.char_indices().nth(TWO_TYPOS_PREFIX)?;
    word.get(..end)
}

/// The restricted Damerau-Levenshtein distance (optimal string alignment).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, &left) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, &right) in b.iter().enumerate() {
            let at = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&above, column) + usize::from(left != right))
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped =
                column > 0 && row > 0 && a.get(row - 1) == Some(&right) && b.get(column - 1) == Some(&left);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

/// The folded letters of a word's script.
fn alphabet(word: &str) -> Vec<char> {
    let of = |first: char, last: char| (first..=last).filter(|c| c.is_alphabetic()).collect();
    match word.chars().next() {
        Some('a'..='z') => of('a', 'z'),
        Some('\u{3B1}'..='\u{3C9}') => of('\u{3B1}', '\u{3C9}'),
        Some('\u{430}'..='\u{45F}' | '\u{490}'..='\u{4FF}') => of('\u{430}', '\u{45F}'),
        Some('\u{561}'..='\u{586}') => of('\u{561}', '\u{586}'),
        Some('\u{5D0}'..='\u{5EA}') => of('\u{5D0}', '\u{5EA}'),
        Some('\u{621}'..='\u{64A}') => of('\u{621}', '\u{64A}'),
        Some('\u{10D0}'..='\u{10FA}') => of('\u{10D0}', '\u{10FA}'),
        _ => {
            let mut own: Vec<char> = word.chars().collect();
            own.sort_unstable();
            own.dedup();
            own
        }
    }
}

/// All words within edit distance 1 in the letters of the same script, with some duplicates; none if the word may not have
/// typos. There are at most about 70 for each letter, few enough for one query of the vocabulary.
pub fn single_edits(word: &str) -> Vec<String> {
    if !can_have_typos(word) {
        return Vec::new();
    }
    let alphabet = alphabet(word);
    let letters: Vec<char> = word.chars().collect();
    let mut words = Vec::new();
    for at in 0..=letters.len() {
        let (head, tail) = letters.split_at(at);
        let join = |middle: &[char], tail: &[char]| head.iter().chain(middle).chain(tail).collect::<String>();
        for &letter in &alphabet {
            words.push(join(&[letter], tail));
        }
        let Some((&first, rest)) = tail.split_first() else { continue };
        if letters.len() > MIN_TYPO_CHARS {
            words.push(join(&[], rest));
        }
        words.extend(alphabet.iter().filter(|letter| **letter != first).map(|letter| join(&[*letter], rest)));
        if let Some((&second, rest)) = rest.split_first()
            && first != second
        {
            words.push(join(&[second, first], rest));
        }
    }
    words
}
