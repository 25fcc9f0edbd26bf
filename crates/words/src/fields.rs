//! The searchable texts of an image.

use std::collections::BTreeMap;

use crate::tokens::each_token;

/// The searchable texts of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields<'a> {
    pub description: Option<&'a str>,
    /// The text that OCR read in it.
    pub ocr_text: Option<&'a str>,
    /// The nearest city and country.
    pub place: Option<&'a str>,
    pub file_name: Option<&'a str>,
    /// The keywords, separated by commas.
    pub keywords: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// The content fields only: without place, file name and keywords.
    #[must_use]
    pub fn content(self) -> Self {
        Self { place: None, file_name: None, keywords: None, ..self }
    }

    /// Description and OCR text, then place, file name and keywords.
    pub(crate) fn in_order(&self) -> [Option<&'a str>; 5] {
        [self.description, self.ocr_text, self.place, self.file_name, self.keywords]
    }
}

/// The number of content fields, which come first: description and OCR text.
pub(crate) const CONTENT_FIELDS: usize = 2;

/// The fields in which a word occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Occurrence {
    /// The description or the OCR text.
    pub in_content: bool,
    /// The place, the file name or a keyword.
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
            if let Some(occurrence) = words.get_mut(token.folded) {
                occurrence.in_content |= number < CONTENT_FIELDS;
                occurrence.in_context |= number >= CONTENT_FIELDS;
            }
        });
    }
    words
}
