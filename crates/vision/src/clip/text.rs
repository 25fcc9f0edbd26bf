//! Tokenization of texts.

use std::path::Path;

use tokenizers::{PaddingDirection, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use super::{
    LoadError, catch_panic,
    config::{read, read_json},
};

/// Longer texts are truncated. This is more than any model's context length.
const MAX_BYTES: usize = 16 << 10;
/// Tokenizers with 250,000 tokens have 17 to 35 MB.
const MAX_TOKENIZER_BYTES: u64 = 256 << 20;

/// How a text is cleaned before tokenization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleaning {
    /// White space is collapsed into single spaces.
    Whitespace,
    /// As `Whitespace`, and the text is converted to lower case.
    Lower,
    /// As `Lower`, and ASCII punctuation is removed, as in the training of SigLIP.
    Canonical,
}

impl Cleaning {
    pub(super) fn clean(self, text: &str) -> String {
        let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
        // Python also treats the separators of files, groups, records and units as white space.
        let collapse = |text: &str| {
            let space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
            text.split(space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Whitespace => collapse(text),
            Self::Lower => collapse(&text.to_lowercase()),
            Self::Canonical => {
                let text = text.replace('_', " ").replace(|c: char| c.is_ascii_punctuation(), "");
                collapse(&text.to_lowercase())
            }
        }
    }
}

/// Splits texts into tokens.
pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    length: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    /// The ids of the tokens, as many as the context length.
    pub(super) ids: Vec<u32>,
    /// The attention mask: 1 for a token, 0 for padding.
    pub(super) mask: Vec<u32>,
}

impl TextTokenizer {
    /// Loads the tokenizer in a model's folder. Texts are truncated or padded to `length` tokens.
    pub(super) fn load(folder: &Path, length: usize) -> Result<Self, LoadError> {
        let folder = folder.join("textual");
        let path = folder.join("tokenizer.json");
        let failed = |error: String| LoadError(format!("{}: {error}", path.display()));
        let bytes = read(&path, MAX_TOKENIZER_BYTES)?;
        let mut tokenizer = catch_panic(|| Tokenizer::from_bytes(&bytes).map_err(|error| error.to_string()))
            .map_err(failed)?;
        drop(bytes);
        let pad_token = pad_token(&folder)?;
        let pad_id = tokenizer
            .token_to_id(&pad_token)
            .ok_or_else(|| failed(format!("the padding token {pad_token} is not in the vocabulary")))?;
        let padding = PaddingParams {
            strategy: PaddingStrategy::Fixed(length),
            // All models of this family were trained with padding on the right, whatever the file says.
            direction: PaddingDirection::Right,
            pad_to_multiple_of: None,
            pad_id,
            pad_type_id: 0,
            pad_token,
        };
        tokenizer.with_padding(Some(padding));
        let truncation = TruncationParams { max_length: length, ..TruncationParams::default() };
        catch_panic(|| {
            tokenizer.with_truncation(Some(truncation)).map(|_| ()).map_err(|error| error.to_string())
        })
        .map_err(failed)?;
        Ok(Self { tokenizer, length })
    }

    /// Tokenizes a cleaned text.
    pub(super) fn tokenize(&self, text: &str) -> Result<Tokens, String> {
        let encoding =
            catch_panic(|| self.tokenizer.encode_fast(text, true).map_err(|error| error.to_string()))?;
        let (ids, mask) = (encoding.get_ids().to_vec(), encoding.get_attention_mask().to_vec());
        if ids.len() != self.length || mask.len() != self.length {
            return Err(format!("the tokenizer returned {} tokens instead of {}", ids.len(), self.length));
        }
        Ok(Tokens { ids, mask })
    }
}

/// The padding token, from `tokenizer_config.json` or, in older folders, `special_tokens_map.json`. It is a string, or
/// an object with the string as `content`.
fn pad_token(folder: &Path) -> Result<String, LoadError> {
    let path = folder.join("tokenizer_config.json");
    let mut settings: serde_json::Value = read_json(&path)?;
    let older = folder.join("special_tokens_map.json");
    if settings.get("pad_token").is_none_or(serde_json::Value::is_null) && older.exists() {
        settings = read_json(&older)?;
    }
    let token = settings.get("pad_token");
    let text = token.and_then(|token| token.get("content").unwrap_or(token).as_str());
    text.map(str::to_owned).ok_or_else(|| LoadError(format!("{}: pad_token is missing", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_as_in_training() {
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
    fn long_texts_are_truncated() {
        let book = "ä".repeat(MAX_BYTES);
        assert_eq!(Cleaning::Whitespace.clean(&book).len(), MAX_BYTES);
        assert!(Cleaning::Lower.clean(&format!("x{book}")).len() < MAX_BYTES);
    }
}
