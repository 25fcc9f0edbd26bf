use std::fmt;

use crate::{ImageId, LocalTime, Marks, PhotoDetails, Timestamp, UtcOffset};

/// Maximum width and height of a WebP file.
pub const MAX_RENDITION_SIDE_PX: u32 = 16_383;

/// A width and a height in pixels, both at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelSize {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl PixelSize {
    /// The longer of the two sides.
    pub fn longest(self) -> u32 {
        self.width.max(self.height)
    }

    /// The number of pixels.
    pub fn area(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Width and height swapped, as after a rotation by 90°.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { width: self.height, height: self.width }
    }

    /// Scales the size down until its longest side is at most `side_px`; never enlarges, no side below 1.
    #[must_use]
    pub fn fit_within(self, side_px: u32) -> Self {
        let longest = self.longest();
        if longest <= side_px || longest == 0 {
            return self;
        }
        let scale = |side: u32| {
            let scaled = (u64::from(side) * u64::from(side_px) + u64::from(longest) / 2) / u64::from(longest);
            u32::try_from(scaled).unwrap_or(side_px).max(1)
        };
        Self { width: scale(self.width), height: scale(self.height) }
    }
}

crate::listed_enum! {
    /// A form in which clients get an image, largest first. They never get the original.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rendition {
        Full,
        /// Longest side 1200 pixels.
        Medium,
        /// Longest side 512 pixels.
        Thumb,
        /// Longest side 256 pixels. Only the pages of the library use it; clients get no URL of it.
        Preview,
    }
}

/// When a rendition is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Creation {
    /// Before an image becomes visible.
    AtImport,
    /// Before an image becomes visible. Images that an older version of the program read lack it until they are read again,
    /// or it is requested.
    AtLaterImport,
    /// In the background, or when it is requested.
    Later,
}

/// What sets a rendition apart.
struct RenditionFacts {
    /// The name in responses and URLs.
    name: &'static str,
    longest_side_px: u32,
    /// Whether clients get its URL.
    is_public: bool,
    creation: Creation,
}

impl Rendition {
    const fn facts(self) -> RenditionFacts {
        let (name, longest_side_px, is_public, creation) = match self {
            Self::Full => ("webp-full", MAX_RENDITION_SIDE_PX, true, Creation::Later),
            Self::Medium => ("webp-medium", 1200, true, Creation::AtImport),
            Self::Thumb => ("webp-thumb", 512, true, Creation::AtImport),
            Self::Preview => ("webp-preview", 256, false, Creation::AtLaterImport),
        };
        RenditionFacts { name, longest_side_px, is_public, creation }
    }

    /// Whether clients get its URL.
    pub const fn is_public(self) -> bool {
        self.facts().is_public
    }

    /// Whether it is made before an image becomes visible. Others may be made later.
    pub const fn is_displayable(self) -> bool {
        !matches!(self.facts().creation, Creation::Later)
    }

    /// The renditions that clients get, largest first.
    pub fn public() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|rendition| rendition.is_public())
    }

    /// The renditions that are made before an image becomes visible, largest first.
    pub fn displayable() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|rendition| rendition.is_displayable())
    }

    /// The renditions of every visible image, whichever version of the program read it.
    pub fn of_every_image() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|rendition| rendition.facts().creation == Creation::AtImport)
    }

    /// The name in responses and URLs.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rendition| rendition.name() == name)
    }

    /// The smallest rendition for a display of this length in pixels; the largest for a longer one.
    pub fn for_side(side_px: u32) -> Self {
        let mut smallest_first = Self::ALL.into_iter().rev();
        smallest_first.find(|rendition| rendition.longest_side_px() >= side_px).unwrap_or(Self::Full)
    }

    /// Maximum length of its longest side, in pixels.
    pub const fn longest_side_px(self) -> u32 {
        self.facts().longest_side_px
    }
}

impl fmt::Display for Rendition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A blurred picture in 5 to 25 bytes, in the format [ThumbHash](https://evanw.github.io/thumbhash/).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbhash(Vec<u8>);

impl Thumbhash {
    /// The longest one.
    pub const MAX_BYTES: usize = 25;

    /// A preview with these bytes; `None` if their number is impossible.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (5..=Self::MAX_BYTES).contains(&bytes.len()).then_some(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A visible image as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// The public id.
    pub id: ImageId,
    /// When it was taken; unique within the account.
    pub captured_at: Timestamp,
    /// The UTC offset of the local time where it was taken, if known.
    pub utc_offset: Option<UtcOffset>,
    /// When it was added to the library.
    pub added_at: Timestamp,
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// What its file and sidecars say about it, with corrections.
    pub details: PhotoDetails,
    pub marks: Marks,
    /// The nearest city and country.
    pub place: Option<String>,
    /// The words read in it by OCR.
    pub text: Option<String>,
    pub file_name: Option<String>,
    /// The length of its file.
    pub file_bytes: u64,
    /// The version of the decoders that made its renditions. Their bytes change only with it.
    pub picture_version: u32,
    /// A preview of a few bytes, to show while a rendition is loading; `None` for an image that was indexed before there were
    /// such previews.
    pub thumbhash: Option<Thumbhash>,
}

impl Image {
    /// Its place in the timeline.
    pub fn local_time(&self) -> LocalTime {
        LocalTime::of(self.captured_at, self.utc_offset)
    }

    /// The rendition that is best to display: medium, or full when the image is no larger than medium.
    pub fn display_rendition(&self) -> Rendition {
        if self.size.longest() <= Rendition::Medium.longest_side_px() {
            Rendition::Full
        } else {
            Rendition::Medium
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_rendition_that_is_large_enough_is_chosen() {
        for (side_px, expect) in [
            (0, Rendition::Preview),
            (256, Rendition::Preview),
            (257, Rendition::Thumb),
            (512, Rendition::Thumb),
            (513, Rendition::Medium),
            (1200, Rendition::Medium),
            (1201, Rendition::Full),
            (u32::MAX, Rendition::Full),
        ] {
            assert_eq!(Rendition::for_side(side_px), expect, "{side_px}");
        }
    }

    #[test]
    fn names_round_trip() {
        for rendition in Rendition::ALL {
            assert_eq!(Rendition::from_name(rendition.name()), Some(rendition));
        }
        assert_eq!(Rendition::from_name("original"), None);
    }

    proptest! {
        #[test]
        fn fit_within_keeps_the_aspect_ratio_and_never_enlarges(width in 1..40_000_u32, height in 1..40_000_u32, side in 1..20_000_u32) {
            let size = PixelSize { width, height };
            let fitted = size.fit_within(side);
            prop_assert!(fitted.width >= 1 && fitted.height >= 1);
            prop_assert!(fitted.width <= width && fitted.height <= height);
            prop_assert!(fitted.longest() == side.min(size.longest()));
            prop_assert_eq!(size.transposed().fit_within(side), fitted.transposed());
        }
    }
}
