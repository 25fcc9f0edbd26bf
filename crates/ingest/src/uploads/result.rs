use domain::ImageId;

use crate::ImportOutcome;

/// The outcome of an uploaded photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// It is new.
    Imported,
    /// The account has it.
    Duplicate,
    /// The account had deleted it, and it is restored.
    Restored,
}

impl UploadOutcome {
    const ALL: [Self; 3] = [Self::Imported, Self::Duplicate, Self::Restored];

    /// The name, as clients see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Duplicate => "duplicate",
            Self::Restored => "restored",
        }
    }
}

/// The result of a finished upload of one photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadResult {
    /// The outcome of the upload.
    pub outcome: UploadOutcome,
    pub image: ImageId,
}

impl UploadResult {
    /// Reads what [`Display`](std::fmt::Display) writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (outcome, image) = text.split_once(' ')?;
        let outcome = UploadOutcome::ALL.into_iter().find(|known| known.as_str() == outcome)?;
        Some(Self { outcome, image: ImageId::parse(image)? })
    }
}

impl std::fmt::Display for UploadResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.outcome.as_str(), self.image)
    }
}

impl From<ImportOutcome> for UploadResult {
    fn from(outcome: ImportOutcome) -> Self {
        match outcome {
            ImportOutcome::Queued(image) => Self { outcome: UploadOutcome::Imported, image },
            ImportOutcome::Duplicate(image, _) | ImportOutcome::Reindexed(image) => {
                Self { outcome: UploadOutcome::Duplicate, image }
            }
            ImportOutcome::Restored(image, _) => Self { outcome: UploadOutcome::Restored, image },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_back() {
        let image = ImageId::parse("abc").unwrap();
        for outcome in UploadOutcome::ALL {
            let result = UploadResult { outcome, image: image.clone() };
            assert_eq!(UploadResult::parse(&result.to_string()), Some(result));
        }
        for other in ["", "imported", "lost abc", "imported "] {
            assert_eq!(UploadResult::parse(other), None, "{other}");
        }
    }
}
