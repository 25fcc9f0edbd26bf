/// A word of the vocabulary, in the content of an image or, if it is in any place or file name and these count, in any
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnyWord {
    pub(crate) id: i64,
    pub(crate) in_context: bool,
}

/// Images that have a word of each of these lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression(pub(crate) Vec<Vec<AnyWord>>);
