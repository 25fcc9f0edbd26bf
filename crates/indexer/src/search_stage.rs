/// The stage of OCR.
const TEXT: &str = "text";
/// The stage of the built-in encoder.
const APPEARANCE: &str = "appearance";
/// The stage of the active vision model.
const MODEL: &str = "model";

/// A stage that makes visible images searchable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchStage {
    /// OCR reads the text in photos.
    Text,
    /// The built-in encoder computes embeddings of photos.
    Appearance,
    /// A vision model computes embeddings of photos.
    Model,
}

impl SearchStage {
    /// The stage with this name in the store.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            TEXT => Some(Self::Text),
            APPEARANCE => Some(Self::Appearance),
            MODEL => Some(Self::Model),
            _ => None,
        }
    }

    /// Whether it takes only milliseconds for each image, and so is part of an import.
    pub(crate) fn is_quick(self) -> bool {
        match self {
            Self::Appearance => true,
            Self::Text | Self::Model => false,
        }
    }

    /// The name of the stage in the store.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => TEXT,
            Self::Appearance => APPEARANCE,
            Self::Model => MODEL,
        }
    }

    /// This program's revision of the stage. Models carry their own version in their names.
    pub fn revision(self) -> u32 {
        match self {
            Self::Text => sandbox::OCR_VERSION,
            Self::Appearance => vision::BuiltInEncoder::VERSION,
            Self::Model => 1,
        }
    }
}
