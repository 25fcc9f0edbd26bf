//! An RGB picture.

/// An upright picture in sRGB, 8 bits a channel, without transparency.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Picture {
    /// Creates a picture from pixels: row by row from the top, each red, green, blue. `None` if it is empty, or if the
    /// number of pixels does not match the size.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Option<Self> {
        let bytes = u64::from(width).checked_mul(u64::from(height))?.checked_mul(3)?;
        (bytes > 0 && rgb.len() as u64 == bytes).then_some(Self { width, height, rgb })
    }

    /// Columns, at least 1.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows, at least 1.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels: row by row from the top, each red, green, blue.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} x {})", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_pixels_must_match_the_size() {
        assert!(Picture::new(2, 3, vec![0; 18]).is_some());
        for (width, height, bytes) in [(2, 3, 17), (2, 3, 19), (0, 3, 0), (u32::MAX, u32::MAX, 3)] {
            assert!(Picture::new(width, height, vec![0; bytes]).is_none(), "{width} {height} {bytes}");
        }
    }
}
