use domain::PixelSize;

/// How the stored pixels have to be turned to stand upright; the values of the EXIF tag `Orientation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orientation {
    /// 1: as stored.
    #[default]
    Upright,
    /// 2: mirrored left to right.
    Mirrored,
    /// 3: turned by a half.
    Half,
    /// 4: mirrored top to bottom.
    Flipped,
    /// 5: mirrored along the diagonal from top left.
    Transposed,
    /// 6: to be turned a quarter clockwise.
    QuarterRight,
    /// 7: mirrored along the diagonal from top right.
    Transversed,
    /// 8: to be turned a quarter counter-clockwise.
    QuarterLeft,
}

impl Orientation {
    /// The orientation with that EXIF value; anything but 1 to 8 says nothing and counts as upright.
    pub fn from_exif(value: u16) -> Self {
        match value {
            2 => Self::Mirrored,
            3 => Self::Half,
            4 => Self::Flipped,
            5 => Self::Transposed,
            6 => Self::QuarterRight,
            7 => Self::Transversed,
            8 => Self::QuarterLeft,
            _ => Self::Upright,
        }
    }

    /// Whether width and height change places. The same holds for the way back.
    pub const fn swaps_sides(self) -> bool {
        matches!(self, Self::Transposed | Self::QuarterRight | Self::Transversed | Self::QuarterLeft)
    }

    /// The upright size of a stored size, and the stored size of an upright one.
    pub fn apply(self, size: PixelSize) -> PixelSize {
        if self.swaps_sides() { size.transposed() } else { size }
    }
}
