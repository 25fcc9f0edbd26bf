use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};

use crate::MediaError;
use crate::pixels::Pixels;

/// Encodes RGB pixels as baseline JPEG with halved chroma.
pub(super) struct Encoder(Compressor);

impl Encoder {
    pub(super) fn new() -> Result<Self, MediaError> {
        let mut compressor = Compressor::new().map_err(failed)?;
        compressor.set_subsamp(Subsamp::Sub2x2).map_err(failed)?;
        compressor.set_optimize(true).map_err(failed)?;
        Ok(Self(compressor))
    }

    /// The quality is from 1 to 100.
    pub(super) fn encode(&mut self, pixels: &Pixels, quality: i32) -> Result<Vec<u8>, MediaError> {
        let side = |side: u32| usize::try_from(side).map_err(|_| MediaError::out_of_memory());
        let (width, height) = (side(pixels.size.width)?, side(pixels.size.height)?);
        let pitch = width * pixels.layout.channels();
        self.0.set_quality(quality).map_err(failed)?;
        let image = Image { pixels: &*pixels.bytes, width, pitch, height, format: PixelFormat::RGB };
        self.0.compress_to_vec(image).map_err(failed)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: turbojpeg::Error) -> MediaError {
    MediaError::Conversion(error.to_string())
}
