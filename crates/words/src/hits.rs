//! The matches of a query in a text.

/// An occurrence of a word of the query in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) word: usize,
    pub(crate) quality: f32,
    pub(crate) position: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The matches of a query in one field.
#[derive(Default)]
pub(crate) struct Hits {
    pub(crate) hits: Vec<Hit>,
    /// The number of words in the field.
    pub(crate) length: u32,
    /// The query's words that occur in the field, as a bit set.
    pub(crate) words: u64,
}
