//! What is written about an image.

use std::collections::BTreeMap;

use crate::tokens::each_token;

/// What is written about an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields<'a> {
    /// What its metadata say.
    pub description: Option<&'a str>,
    /// The words read in it.
    pub ocr_text: Option<&'a str>,
    /// The nearest city and country.
    pub place: Option<&'a str>,
    /// The name of its file.
    pub file_name: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// Without place and file name.
    #[must_use]
    pub fn content(self) -> Self {
        Self { place: None, file_name: None, ..self }
    }

    /// Description and OCR text, then place and file name.
    pub(crate) fn in_order(&self) -> [Option<&'a str>; 4] {
        [self.description, self.ocr_text, self.place, self.file_name]
    }
}

/// How many of the fields are content: description and OCR text.
pub(crate) const CONTENT_FIELDS: usize = 2;

/// Where a word stands among an image's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Occurrence {
    /// In the description or the OCR text.
    pub in_content: bool,
    /// In the place or the file name.
    pub in_context: bool,
}

/// The distinct words of an image.
pub fn words_of(fields: &Fields<'_>) -> BTreeMap<String, Occurrence> {
    let mut words: BTreeMap<String, Occurrence> = BTreeMap::new();
    for (number, text) in fields.in_order().into_iter().enumerate() {
        each_token(text.unwrap_or_default(), |token| {
            if !words.contains_key(token.folded) {
                words.insert(token.folded.to_owned(), Occurrence::default());
            }
            if let Some(stands) = words.get_mut(token.folded) {
                stands.in_content |= number < CONTENT_FIELDS;
                stands.in_context |= number >= CONTENT_FIELDS;
            }
        });
    }
    words
}
