//! Encodes WebP, lossy or lossless, with libwebp, which is compiled into the program.
//!
//! [`encode`] takes the pixels of a picture or its planes in YCbCr 4:2:0, which are what lossy WebP stores (RFC 6386,
//! section 2). Planes are borrowed. The samples of a JPEG have a wider range, which the caller must compress first.
//!
//! # Unsafe code
//!
//! Calling C is unsafe. Before a call, the length of every slice is compared with the size of the picture. What libwebp
//! allocates is owned by types that free it. The public interface is safe.
//!
//! ```
//! use webp_encoder::{Picture, Samples, Settings, encode};
//!
//! let rgb = [200; 3 * 8 * 6];
//! let picture = Picture { width: 8, height: 6, samples: Samples::Rgb(&rgb) };
//! let file = encode(&picture, Settings { quality: 80.0, method: 2, lossless: false })?;
//! assert!(file.starts_with(b"RIFF"));
//! # Ok::<(), webp_encoder::EncodeError>(())
//! ```

mod memory;

use libwebp_sys::{
    WebPConfig, WebPEncode, WebPEncodingError, WebPPicture, WebPPictureImportRGB, WebPPictureImportRGBA,
};

use self::memory::{OwnedPicture, Writer};

/// How to encode a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Quality from 0 to 100. For a lossless file, a higher value means more effort.
    pub quality: f32,
    /// The effort, from 0 (fast) to 6 (slow).
    pub method: u8,
    /// Encodes without loss, except for the colours of fully transparent pixels. Requires pixels, not planes.
    pub lossless: bool,
}

/// A picture without gaps between its rows, which are ordered from top to bottom.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    pub samples: Samples<'a>,
}

/// The samples of a picture, 8 bits each.
#[derive(Debug, Clone, Copy)]
pub enum Samples<'a> {
    /// Three bytes a pixel, in sRGB.
    Rgb(&'a [u8]),
    /// Four bytes a pixel, in sRGB with alpha.
    Rgba(&'a [u8]),
    /// Planes of YCbCr as in ITU-R BT.601: luma from 16 to 235, chroma from 16 to 240.
    Ycbcr420 {
        /// One sample a pixel.
        y: &'a [u8],
        /// One sample for each square of four pixels; odd sides are rounded up.
        cb: &'a [u8],
        /// As many samples as `cb`.
        cr: &'a [u8],
    },
}

/// Why a picture is not encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A side is 0 or longer than 16,383 pixels.
    #[error("WebP cannot have this picture size")]
    Size,
    /// There are fewer or more samples than the size of the picture requires.
    #[error("the number of samples does not match the picture size")]
    Samples,
    /// libwebp does not accept the settings, or the samples cannot be encoded without loss.
    #[error("the settings of the WebP encoder are invalid")]
    Settings,
    /// libwebp's error code.
    #[error("libwebp: {0:?}")]
    Libwebp(WebPEncodingError),
}

/// Encodes a picture as WebP. The result depends on nothing but the arguments.
pub fn encode(picture: &Picture<'_>, settings: Settings) -> Result<Vec<u8>, EncodeError> {
    let mut config = WebPConfig::new().map_err(|()| EncodeError::Settings)?;
    config.quality = settings.quality;
    config.method = i32::from(settings.method);
    config.lossless = i32::from(settings.lossless);
    let mut target = import(picture, settings.lossless)?;
    match encode_once(&mut target.0, &config) {
        // The prediction modes of all blocks of 16 × 16 pixels must fit into 512 KiB. At 200 megapixels, this is 5 bits a block.
        // Segments take up to two of these bits. Without segments every picture fits, but files with varying contrast double in
        // size.
        Err(EncodeError::Libwebp(WebPEncodingError::VP8_ENC_ERROR_PARTITION0_OVERFLOW)) => {
            config.segments = 1;
            encode_once(&mut target.0, &config)
        }
        encoded => encoded,
    }
}

/// The picture as libwebp's type. It borrows planes, and copies or converts pixels.
fn import<'a>(picture: &Picture<'a>, lossless: bool) -> Result<OwnedPicture<'a>, EncodeError> {
    let side = |pixels: u32| {
        let pixels = i32::try_from(pixels).ok().filter(|pixels| (1..=16_383).contains(pixels));
        pixels.ok_or(EncodeError::Size)
    };
    let (width, height) = (side(picture.width)?, side(picture.height)?);
    let chroma_width = (width + 1) / 2;
    let check = |samples: &[u8], columns: i32, rows: i32| {
        // The product is at most 4 × 16,383 × 16,383, which does not overflow.
        let expected = usize::try_from(i64::from(columns) * i64::from(rows));
        if expected == Ok(samples.len()) { Ok(()) } else { Err(EncodeError::Samples) }
    };

    let mut target = WebPPicture::new().map_err(|()| EncodeError::Settings)?;
    target.width = width;
    target.height = height;
    // The lossy encoder takes planes, so no copy with four bytes a pixel is needed.
    target.use_argb = i32::from(lossless);
    let mut target = OwnedPicture::new(target);
    let imported = match picture.samples {
        Samples::Rgb(rgb) => {
            check(rgb, 3 * width, height)?;
            // SAFETY: the slice has `height` rows of `3 * width` bytes, which are copied.
            unsafe { WebPPictureImportRGB(&raw mut target.0, rgb.as_ptr(), 3 * width) }
        }
        Samples::Rgba(rgba) => {
            check(rgba, 4 * width, height)?;
            // SAFETY: the slice has `height` rows of `4 * width` bytes, which are copied.
            unsafe { WebPPictureImportRGBA(&raw mut target.0, rgba.as_ptr(), 4 * width) }
        }
        Samples::Ycbcr420 { .. } if lossless => return Err(EncodeError::Settings),
        Samples::Ycbcr420 { y, cb, cr } => {
            check(y, width, height)?;
            check(cb, chroma_width, (height + 1) / 2)?;
            check(cr, chroma_width, (height + 1) / 2)?;
            // libwebp's type has no constant pointers, but the encoder only reads these planes. It would write to planes only to
            // change the colours of transparent pixels, which do not exist here, or to store the result, which needs
            // `show_compressed`.
            target.0.y = y.as_ptr().cast_mut();
            target.0.u = cb.as_ptr().cast_mut();
            target.0.v = cr.as_ptr().cast_mut();
            target.0.y_stride = width;
            target.0.uv_stride = chroma_width;
            1
        }
    };
    if imported == 0 { Err(EncodeError::Libwebp(target.0.error_code)) } else { Ok(target) }
}

fn encode_once(picture: &mut WebPPicture, config: &WebPConfig) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer::new();
    writer.attach(picture);
    // SAFETY: the picture has planes or pixels of its size, which live as long as its `OwnedPicture`, and a writer, which lives until
    // the end of this function.
    let encoded = unsafe { WebPEncode(config, picture) };
    if encoded == 0 { Err(EncodeError::Libwebp(picture.error_code)) } else { Ok(writer.bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings { quality: 90.0, method: 2, lossless: false };

    fn decoded(file: &[u8]) -> image::RgbaImage {
        image::load_from_memory_with_format(file, image::ImageFormat::WebP).unwrap().to_rgba8()
    }

    #[test]
    fn every_kind_of_samples_is_encoded() {
        let check = |samples: Samples<'_>, expect: [u8; 4]| {
            let made = decoded(&encode(&Picture { width: 31, height: 17, samples }, SETTINGS).unwrap());
            assert_eq!(made.dimensions(), (31, 17));
            for (x, y) in [(0, 0), (30, 0), (15, 8), (0, 16), (30, 16)] {
                let pixel = made.get_pixel(x, y).0;
                assert!(
                    pixel.iter().zip(expect).all(|(made, expect)| made.abs_diff(expect) < 4),
                    "{pixel:?}"
                );
            }
        };
        check(Samples::Rgb(&[30, 160, 220].repeat(31 * 17)), [30, 160, 220, 255]);
        check(Samples::Rgba(&[30, 160, 220, 90].repeat(31 * 17)), [30, 160, 220, 90]);
        // ITU-R BT.601: white, black and red.
        for (y, cb, cr, expect) in
            [(235, 128, 128, [255; 4]), (16, 128, 128, [0, 0, 0, 255]), (81, 90, 240, [255, 0, 0, 255])]
        {
            let (y, cb, cr) = (&[y; 31 * 17], &[cb; 16 * 9], &[cr; 16 * 9]);
            check(Samples::Ycbcr420 { y, cb, cr }, expect);
        }
    }

    #[test]
    fn lossless_files_keep_every_pixel() {
        let rgba: Vec<u8> = (0..31_u8 * 7).flat_map(|at| [at, at ^ 0x55, 255 - at, at | 1]).collect();
        let rgb: Vec<u8> = rgba.chunks(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        let settings = Settings { lossless: true, ..SETTINGS };
        let file = |samples| encode(&Picture { width: 31, height: 7, samples }, settings);
        assert_eq!(decoded(&file(Samples::Rgba(&rgba)).unwrap()).into_raw(), rgba);
        let opaque = decoded(&file(Samples::Rgb(&rgb)).unwrap());
        assert_eq!(image::DynamicImage::from(opaque).into_rgb8().into_raw(), rgb);
        let planes = Samples::Ycbcr420 { y: &[16; 217], cb: &[128; 64], cr: &[128; 64] };
        assert_eq!(file(planes), Err(EncodeError::Settings));
    }

    #[test]
    fn invalid_sizes_and_settings_are_refused() {
        let check = |width, height, samples, expect| {
            assert_eq!(encode(&Picture { width, height, samples }, SETTINGS), Err(expect));
        };
        check(0, 1, Samples::Rgb(&[]), EncodeError::Size);
        check(1, 16_384, Samples::Rgb(&[0; 3 * 16_384]), EncodeError::Size);
        check(2, 2, Samples::Rgb(&[0; 11]), EncodeError::Samples);
        check(2, 2, Samples::Rgb(&[0; 13]), EncodeError::Samples);
        check(2, 2, Samples::Rgba(&[0; 12]), EncodeError::Samples);
        check(3, 3, Samples::Ycbcr420 { y: &[0; 9], cb: &[0; 4], cr: &[0; 1] }, EncodeError::Samples);
        check(3, 3, Samples::Ycbcr420 { y: &[0; 9], cb: &[0; 1], cr: &[0; 4] }, EncodeError::Samples);
        check(3, 3, Samples::Ycbcr420 { y: &[0; 8], cb: &[0; 4], cr: &[0; 4] }, EncodeError::Samples);
        let samples = Samples::Rgb(&[0; 3]);
        let settings = Settings { quality: 101.0, ..SETTINGS };
        assert_eq!(
            encode(&Picture { width: 1, height: 1, samples }, settings),
            Err(EncodeError::Libwebp(WebPEncodingError::VP8_ENC_ERROR_INVALID_CONFIGURATION))
        );
    }
}
