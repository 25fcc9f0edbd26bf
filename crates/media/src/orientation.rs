use domain::PixelSize;

/// How to turn stored pixels upright; the values of the EXIF tag `Orientation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orientation {
    /// 1: as stored.
    #[default]
    Normal,
    /// 2: mirror left to right.
    FlipHorizontal,
    /// 3: rotate by 180°.
    Rotate180,
    /// 4: mirror top to bottom.
    FlipVertical,
    /// 5: mirror along the diagonal from top left.
    Transpose,
    /// 6: rotate by 90° clockwise.
    Rotate90,
    /// 7: mirror along the diagonal from top right.
    Transverse,
    /// 8: rotate by 90° counter-clockwise.
    Rotate270,
}

impl Orientation {
    /// The orientation with that EXIF value, 1 to 8.
    pub fn from_exif(value: u16) -> Option<Self> {
        Some(match value {
            1 => Self::Normal,
            2 => Self::FlipHorizontal,
            3 => Self::Rotate180,
            4 => Self::FlipVertical,
            5 => Self::Transpose,
            6 => Self::Rotate90,
            7 => Self::Transverse,
            8 => Self::Rotate270,
            _ => return None,
        })
    }

    /// Whether width and height are swapped, in either direction.
    pub const fn swaps_sides(self) -> bool {
        matches!(self, Self::Transpose | Self::Rotate90 | Self::Transverse | Self::Rotate270)
    }

    /// Converts a stored size to the upright size, or an upright size to the stored size.
    pub fn apply(self, size: PixelSize) -> PixelSize {
        if self.swaps_sides() { size.transposed() } else { size }
    }
}
