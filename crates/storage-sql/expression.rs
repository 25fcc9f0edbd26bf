/// A word of the vocabulary. It matches images that have it in their content; with `in_context`, also images that have
/// it in their place or file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnyWord {
    pub(crate) id: i64,
    pub(crate) in_context: bool,
}

/// Images that have a word of each of these lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression(pub(crate) Vec<Vec<AnyWord>>);
