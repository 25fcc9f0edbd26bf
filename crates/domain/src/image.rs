use std::fmt;

use crate::{ImageId, PhotoDetails, Timestamp, UtcOffset};

/// The longest side that a WebP file can have.
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

    /// The same picture turned by a quarter.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { width: self.height, height: self.width }
    }

    /// The size of the same picture whose longest side is at most `side_px`; never larger, no side below 1.
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

/// The forms in which an image leaves the service. The original never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rendition {
    /// The full size.
    Full,
    /// Longest side 1200 pixels.
    Medium,
    /// Longest side 512 pixels.
    Thumb,
}

impl Rendition {
    /// Every rendition, largest first.
    pub const ALL: [Self; 3] = [Self::Full, Self::Medium, Self::Thumb];

    /// The name in answers and URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "webp-full",
            Self::Medium => "webp-medium",
            Self::Thumb => "webp-thumb",
        }
    }

    /// The rendition of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rendition| rendition.name() == name)
    }

    /// The longest side it may have, in pixels.
    pub const fn longest_side_px(self) -> u32 {
        match self {
            Self::Full => MAX_RENDITION_SIDE_PX,
            Self::Medium => 1200,
            Self::Thumb => 512,
        }
    }
}

impl fmt::Display for Rendition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A visible image as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Its public id.
    pub id: ImageId,
    /// When it was taken; unlike that of any other image of the account.
    pub captured_at: Timestamp,
    /// How far the wall clock was ahead of UTC where and when it was taken, when that is known.
    pub utc_offset: Option<UtcOffset>,
    /// When it came into the library.
    pub added_at: Timestamp,
    /// The size of the upright full rendition.
    pub size: PixelSize,
    /// What its file and sidecars say about it.
    pub details: PhotoDetails,
    /// The nearest city and country.
    pub place: Option<String>,
    /// The words read in it by OCR.
    pub text: Option<String>,
    /// The name of the file that brought it.
    pub file_name: Option<String>,
}

impl Image {
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
    fn names_are_read_back() {
        for rendition in Rendition::ALL {
            assert_eq!(Rendition::from_name(rendition.name()), Some(rendition));
        }
        assert_eq!(Rendition::from_name("original"), None);
    }

    proptest! {
        #[test]
        fn fitting_keeps_the_shape_and_never_enlarges(width in 1..40_000_u32, height in 1..40_000_u32, side in 1..20_000_u32) {
            let size = PixelSize { width, height };
            let fitted = size.fit_within(side);
            prop_assert!(fitted.width >= 1 && fitted.height >= 1);
            prop_assert!(fitted.width <= width && fitted.height <= height);
            prop_assert!(fitted.longest() == side.min(size.longest()));
            prop_assert_eq!(size.transposed().fit_within(side), fitted.transposed());
        }
    }
}
