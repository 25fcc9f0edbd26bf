use jiff::civil;

use crate::Timestamp;

/// What a capture time was taken from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaptureSource {
    /// A file beside the photo that describes it.
    Sidecar,
    /// EXIF `DateTimeOriginal`.
    ExifOriginal,
    /// EXIF `DateTimeDigitized`.
    ExifDigitized,
    /// XMP or IPTC creation date.
    Embedded,
    /// The time of the GPS fix.
    Gps,
    /// The file's name.
    FileName,
    /// The file's modification time.
    FileModified,
    /// The moment the file arrived.
    Added,
}

impl CaptureSource {
    /// Every source, best first.
    pub const ALL: [Self; 8] = [
        Self::Sidecar,
        Self::ExifOriginal,
        Self::ExifDigitized,
        Self::Embedded,
        Self::Gps,
        Self::FileName,
        Self::FileModified,
        Self::Added,
    ];

    /// The name under which it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sidecar => "sidecar",
            Self::ExifOriginal => "exif-original",
            Self::ExifDigitized => "exif-digitized",
            Self::Embedded => "embedded",
            Self::Gps => "gps",
            Self::FileName => "file-name",
            Self::FileModified => "file-modified",
            Self::Added => "added",
        }
    }

    /// The source stored under that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == name)
    }

    /// Whether the time is a guess rather than a record.
    pub fn is_estimated(self) -> bool {
        matches!(self, Self::FileName | Self::FileModified | Self::Added)
    }
}

/// When a photo was taken, with what is known about how we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureTime {
    /// The moment in UTC.
    pub at: Timestamp,
    /// What the camera's clock showed, when it showed a local time.
    pub wall: Option<civil::DateTime>,
    /// Minutes east of UTC of that clock, when known.
    pub offset_minutes: Option<i32>,
    /// Where the time was found.
    pub source: CaptureSource,
}
