//! A table of the classes and foldings of common characters.

use std::sync::LazyLock;

use crate::{
    chars::{Class, compute_class},
    letters::compute_fold,
};

/// The cached class and folding of a character below [`TABLE_END`].
#[derive(Clone, Copy)]
pub(crate) struct CharInfo {
    pub(crate) class: Class,
    length: u8,
    bytes: [u8; 9],
}

impl CharInfo {
    /// The folded character, which can be empty.
    pub(crate) fn folded(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// The end of the table. It covers the alphabets of Europe, the Near East and India, and those from Thai to Georgian.
const TABLE_END: u32 = 0x1100;

static TABLE: LazyLock<Vec<CharInfo>> = LazyLock::new(|| {
    (0..TABLE_END)
        .map(|code| {
            let c = char::from_u32(code).unwrap_or(' ');
            let mut folded = String::new();
            compute_fold(c, &mut folded);
            let mut info = CharInfo { class: compute_class(c), length: 0, bytes: [0; 9] };
            if let Some(bytes) = info.bytes.get_mut(..folded.len()) {
                bytes.copy_from_slice(folded.as_bytes());
                info.length = u8::try_from(folded.len()).unwrap_or(0);
            }
            info
        })
        .collect()
});

/// The table's entry for a character, if there is one.
pub(crate) fn char_info(c: char) -> Option<&'static CharInfo> {
    TABLE.get(usize::try_from(u32::from(c)).ok()?)
}

pub(crate) fn class(c: char) -> Class {
    match c {
        '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' => Class::Gram,
        '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' => Class::Gram,
        _ => char_info(c).map_or_else(|| compute_class(c), |info| info.class),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_agrees_with_the_computed_values() {
        for c in (0..TABLE_END).filter_map(char::from_u32) {
            let mut folded = String::new();
            compute_fold(c, &mut folded);
            assert_eq!(char_info(c).map(CharInfo::folded), Some(&*folded), "{c:?}");
            assert_eq!(class(c), compute_class(c), "{c:?}");
        }
        for c in ['か', 'ぁ', 'ゖ', 'ァ', 'ヺ', '一', '가', '\u{9fff}', '\u{d7a3}'] {
            assert_eq!(class(c), compute_class(c), "{c:?}");
        }
    }
}
