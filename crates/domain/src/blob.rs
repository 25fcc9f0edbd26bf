#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKind {
    /// An imported file, unchanged.
    Original,
    /// A WebP image made from an original.
    Rendition,
}

impl BlobKind {
    /// The name under which it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Rendition => "rendition",
        }
    }

    /// The kind stored under that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Original, Self::Rendition].into_iter().find(|kind| kind.as_str() == name)
    }
}
