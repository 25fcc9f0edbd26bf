/// How a file is written that describes the photo beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SidecarKind {
    /// An XMP packet, as editors and photo managers write it (`x.jpg.xmp`, `x.xmp`).
    Xmp,
    /// JSON of a Google Takeout export (`x.jpg.supplemental-metadata.json`, `x.jpg.json`).
    Takeout,
}

impl SidecarKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Xmp, Self::Takeout];

    /// The name under which it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xmp => "xmp",
            Self::Takeout => "takeout",
        }
    }

    /// The kind stored under that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
