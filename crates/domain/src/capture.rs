use std::fmt;

use jiff::civil;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The source of a capture time, most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureSource {
    /// A file beside the photo that describes it.
    Sidecar,
    /// EXIF `DateTimeOriginal`.
    ExifOriginal,
    /// EXIF `DateTimeDigitized`.
    ExifDigitized,
    /// XMP or IPTC creation date.
    Embedded,
    Gps,
    FileName,
    FileModified,
    /// The time the file was added to the library.
    Added,
}

impl CaptureSource {
    /// Every source, most reliable first.
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

    /// Whether the time is an estimate and not a recorded capture time.
    pub fn is_estimated(self) -> bool {
        matches!(self, Self::FileName | Self::FileModified | Self::Added)
    }
}

/// An offset from UTC in whole minutes, less than a day.
///
/// `Display` writes the form that the API uses: `+03:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcOffset(i32);

impl UtcOffset {
    /// No difference from UTC.
    pub const UTC: Self = Self(0);

    const LIMIT_MINUTES: i32 = 24 * 60;

    /// An offset of `minutes` east of UTC; `None` for a day or more.
    pub const fn from_minutes(minutes: i32) -> Option<Self> {
        if -Self::LIMIT_MINUTES < minutes && minutes < Self::LIMIT_MINUTES {
            Some(Self(minutes))
        } else {
            None
        }
    }

    /// Minutes east of UTC.
    pub const fn minutes(self) -> i32 {
        self.0
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// When a photo was taken, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureTime {
    /// The moment in UTC.
    pub at: Timestamp,
    /// The local time on the camera's clock, if recorded.
    pub wall: Option<civil::DateTime>,
    /// The UTC offset of that clock in minutes east, if known.
    pub offset_minutes: Option<i32>,
    pub source: CaptureSource,
}

impl CaptureTime {
    /// The time on a clock where the photo was taken: the recorded one, or that of the known offset, or UTC.
    pub fn wall_clock(&self) -> civil::DateTime {
        self.wall.unwrap_or_else(|| self.at.wall(self.offset_minutes.unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_display_sign_hours_and_minutes() {
        let check = |minutes, expect: Option<&str>| {
            let written = UtcOffset::from_minutes(minutes).map(|offset| offset.to_string());
            assert_eq!(written.as_deref(), expect, "{minutes}");
        };
        check(0, Some("+00:00"));
        check(180, Some("+03:00"));
        check(345, Some("+05:45"));
        check(-210, Some("-03:30"));
        // Local mean time of Paris and New York, rounded to the minute.
        check(9, Some("+00:09"));
        check(-296, Some("-04:56"));
        check(-30, Some("-00:30"));
        check(1439, Some("+23:59"));
        check(-1439, Some("-23:59"));
        for none in [1440, -1440, i32::MAX, i32::MIN] {
            check(none, None);
        }
    }
}
