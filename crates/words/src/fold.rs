//! Folding: removes differences of letter case, accents, width and vowel points.

use unicode_normalization::UnicodeNormalization as _;

use crate::{
    char_table::{char_info, class},
    chars::Class,
    letters::compute_fold,
};

/// Folds a text and removes separators. Texts that differ only in letter case, accents, width, vowel points or separators
/// are equal after folding. Folding is idempotent.
///
/// ```
/// assert_eq!(words::fold("Ångström"), "angstrom");
/// assert_eq!(words::fold("STRASSE"), words::fold("straße"));
/// ```
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let class = class(c);
        match class {
            Class::Gram => {
                length = cluster_length(rest);
                fold_cluster(rest.get(..length).unwrap_or_default(), &mut folded);
            }
            Class::Word => fold_char(c, &mut folded),
            // A mark without a letter is ignored, as in tokens.
            Class::Extend if in_word => fold_char(c, &mut folded),
            Class::Emoji => folded.push(c),
            Class::Extend | Class::Other => {}
        }
        in_word = class == Class::Word || class == Class::Extend && in_word;
        rest = rest.get(length..).unwrap_or_default();
    }
    folded
}

/// Folds each part of a name between commas, and joins the parts with tabs.
///
/// ```
/// assert_eq!(words::fold_parts("São Paulo, Brazil"), "saopaulo\tbrazil");
/// ```
pub fn fold_parts(name: &str) -> String {
    let parts: Vec<String> = name.split(',').map(fold).collect();
    parts.join("\t")
}

/// Appends a folded character of a script with spaces.
pub(crate) fn fold_char(c: char, folded: &mut String) {
    if c == '\u{306}' && folded.ends_with('и') {
        folded.pop();
        folded.push('й');
    } else if let Some(info) = char_info(c) {
        folded.push_str(info.folded());
    } else {
        compute_fold(c, folded);
    }
}

/// The length in bytes of the first character with its marks.
pub(crate) fn cluster_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    chars.next();
    chars.find(|(_, c)| class(*c) != Class::Extend).map_or(text.len(), |(at, _)| at)
}

/// The maximum number of characters in a cluster; further ones are ignored.
const MAX_CLUSTER: usize = 8;

/// Appends a folded character of a script without spaces, with its marks.
pub(crate) fn fold_cluster(cluster: &str, folded: &mut String) {
    let mut chars = cluster.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}')
    {
        folded.push(c);
        return;
    }
    let before = folded.len();
    for c in cluster.chars().take(MAX_CLUSTER) {
        fold_char(c, folded);
    }
    // Composes decomposed Hangul and marks of Kana.
    if folded
        .get(before..)
        .is_some_and(|added| added.starts_with(|c| c >= '\u{1100}') && added.chars().nth(1).is_some())
    {
        let parts = folded.split_off(before);
        folded.extend(parts.nfc());
    }
}
