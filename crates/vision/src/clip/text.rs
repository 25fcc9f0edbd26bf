//! From words to the numbers that a model takes.

use std::path::Path;

use tokenizers::{PaddingDirection, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use super::{
    LoadError,
    config::{read, read_json},
    guard,
};

/// Of longer words only the beginning is looked at: more than a model's tokens ever hold.
const MOST_BYTES: usize = 16 << 10;
/// The tokenizers of 250,000 tokens have 17 to 35 MB.
const MOST_TOKENIZER_BYTES: u64 = 256 << 20;

/// How words are cleaned before they are cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleaning {
    /// White space becomes single spaces.
    Whitespace,
    /// That, in lower case.
    Lower,
    /// That, without punctuation (of ASCII), as SigLIP was trained.
    Canonical,
}

impl Cleaning {
    /// The words as a model was trained on.
    pub(super) fn clean(self, words: &str) -> String {
        let words = words.get(..words.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
        // Python takes the separators of files, groups, records and units for white space, too.
        let spaced = |words: &str| {
            let space = |sign: char| sign.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&sign);
            words.split(space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Whitespace => spaced(words),
            Self::Lower => spaced(&words.to_lowercase()),
            Self::Canonical => {
                let words = words.replace('_', " ").replace(|sign: char| sign.is_ascii_punctuation(), "");
                spaced(&words.to_lowercase())
            }
        }
    }
}

/// Cuts words into tokens.
pub(super) struct Words {
    tokenizer: Tokenizer,
    length: usize,
}

/// Words as a model takes them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    /// As many numbers as the model wants.
    pub(super) ids: Vec<u32>,
    /// 1 where a token is, 0 where it is only filled up.
    pub(super) mask: Vec<u32>,
}

impl Words {
    /// Reads the tokenizer in a model's folder. Everything is cut or filled up to `length` tokens.
    pub(super) fn read(folder: &Path, length: usize) -> Result<Self, LoadError> {
        let folder = folder.join("textual");
        let path = folder.join("tokenizer.json");
        let wrong = |why: String| LoadError(format!("{}: {why}", path.display()));
        let bytes = read(&path, MOST_TOKENIZER_BYTES)?;
        let mut tokenizer =
            guard(|| Tokenizer::from_bytes(&bytes).map_err(|why| why.to_string())).map_err(wrong)?;
        drop(bytes);
        let pad_token = pad_token(&folder)?;
        let pad_id = tokenizer
            .token_to_id(&pad_token)
            .ok_or_else(|| wrong(format!("{pad_token}, which fills texts up, is no token of it")))?;
        let padding = PaddingParams {
            strategy: PaddingStrategy::Fixed(length),
            // Whatever the file says: all models of this kind were trained with it.
            direction: PaddingDirection::Right,
            pad_to_multiple_of: None,
            pad_id,
            pad_type_id: 0,
            pad_token,
        };
        tokenizer.with_padding(Some(padding));
        let truncation = TruncationParams { max_length: length, ..TruncationParams::default() };
        guard(|| tokenizer.with_truncation(Some(truncation)).map(|_| ()).map_err(|why| why.to_string()))
            .map_err(wrong)?;
        Ok(Self { tokenizer, length })
    }

    /// The tokens of cleaned words.
    pub(super) fn tokens(&self, words: &str) -> Result<Tokens, String> {
        let encoding = guard(|| self.tokenizer.encode_fast(words, true).map_err(|why| why.to_string()))?;
        let (ids, mask) = (encoding.get_ids().to_vec(), encoding.get_attention_mask().to_vec());
        if ids.len() != self.length || mask.len() != self.length {
            return Err(format!("{} tokens came of words that {} should come of", ids.len(), self.length));
        }
        Ok(Tokens { ids, mask })
    }
}

/// The token that texts are filled up with, by `tokenizer_config.json` or, in older folders, by
/// `special_tokens_map.json`. It is text, or an object with it as `content`.
fn pad_token(folder: &Path) -> Result<String, LoadError> {
    let path = folder.join("tokenizer_config.json");
    let mut settings: serde_json::Value = read_json(&path)?;
    let older = folder.join("special_tokens_map.json");
    if settings.get("pad_token").is_none_or(serde_json::Value::is_null) && older.exists() {
        settings = read_json(&older)?;
    }
    let token = settings.get("pad_token");
    let text = token.and_then(|token| token.get("content").unwrap_or(token).as_str());
    text.map(str::to_owned)
        .ok_or_else(|| LoadError(format!("{}: there is no pad_token, which fills texts up", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cleaned_as_in_training() {
        let check = |words: &str, [whitespace, lower, canonical]: [&str; 3]| {
            assert_eq!(Cleaning::Whitespace.clean(words), whitespace, "{words:?}");
            assert_eq!(Cleaning::Lower.clean(words), lower, "{words:?}");
            assert_eq!(Cleaning::Canonical.clean(words), canonical, "{words:?}");
        };
        check("  A\tred\n boat ", ["A red boat", "a red boat", "a red boat"]);
        check("snow_roof - new!", ["snow_roof - new!", "snow_roof - new!", "snow roof new"]);
        check("don't", ["don't", "don't", "dont"]);
        check("\u{a0}\u{3000}ΟΔΟΣ\u{1c}x", ["ΟΔΟΣ x", "οδος x", "οδος x"]);
        check("“curly” — dash", ["“curly” — dash"; 3]);
        check("!?!", ["!?!", "!?!", ""]);
    }

    #[test]
    fn only_the_beginning_of_a_book_is_looked_at() {
        let book = "ä".repeat(MOST_BYTES);
        assert_eq!(Cleaning::Whitespace.clean(&book).len(), MOST_BYTES);
        assert!(Cleaning::Lower.clean(&format!("x{book}")).len() < MOST_BYTES);
    }
}
