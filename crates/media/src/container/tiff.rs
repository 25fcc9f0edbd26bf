//! Reads TIFF headers: TIFF 6.0 with its technical notes, and BigTIFF. The first picture that is not a thumbnail counts.

mod chunks;
mod picture;

pub(crate) use self::chunks::Chunks;
pub(crate) use self::picture::{Alpha, ColourSpace, Compression, Fax3, JpegFields, Predictor, TiffImage};
use super::{Blocks, Colour, Header, photoshop};
use crate::MediaError;
use crate::tiff::{Ifd, Structure};

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    Ok(header_of(&TiffImage::read(bytes)?))
}

/// The header for decoding a picture.
pub(super) fn header_of(picture: &TiffImage<'_>) -> Header {
    let channels = u64::try_from(picture.layout().channels()).unwrap_or(u64::MAX);
    let header = Header::plain(picture.size, channels);
    let decode_bytes = header.decode_bytes.saturating_add(picture.working_bytes());
    Header { decode_bytes, ..header }
}

pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    const XMP: u16 = 700;
    const IPTC: u16 = 33_723;
    const PHOTOSHOP: u16 = 34_377;
    const ICC_PROFILE: u16 = 34_675;

    let Some(structure) = Structure::read(bytes) else { return Blocks::default() };
    let first = structure.first();
    let colour = || {
        let main = main_directory(&structure)?;
        // Lab is converted to sRGB when it is decoded, without the profile.
        let device_independent = picture::is_lab(&main);
        let profile = main.bytes(ICC_PROFILE).or_else(|| first.bytes(ICC_PROFILE));
        profile.filter(|_| !device_independent).map(|profile| Colour::Icc(profile.into()))
    };
    let resource = |id| photoshop::resource(first.bytes(PHOTOSHOP)?, id);
    Blocks {
        exif: Some(bytes.into()),
        more_exif: photoshop::EXIF.into_iter().filter_map(resource).map(Into::into).collect(),
        xmp: first.bytes(XMP).or_else(|| resource(photoshop::XMP)).map(Into::into),
        iptc: first.bytes(IPTC).or_else(|| resource(photoshop::IPTC)).map(Into::into),
        colour: colour(),
        ..Blocks::default()
    }
}

/// The directory of the picture that is decoded.
fn main_directory<'a>(structure: &Structure<'a>) -> Option<Ifd<'a>> {
    let first = structure.first();
    if picture::is_full(&first) {
        return Some(first);
    }
    // The picture may follow a thumbnail. Without one, the thumbnail is the picture.
    let full = structure.directories().into_iter().find(picture::is_full);
    full.or_else(|| picture::is_picture(&first).then_some(first))
}

#[cfg(test)]
mod tests;
