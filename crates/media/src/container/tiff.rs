//! Reads TIFF headers: TIFF 6.0 with its technical notes, and BigTIFF. The first picture that is not a thumbnail counts.

mod chunks;
mod picture;

pub(crate) use self::chunks::Chunks;
pub(crate) use self::picture::{Alpha, ColourSpace, Compression, Fax3, JpegFields, Predictor, TiffImage};
use self::picture::{is_full, is_lab, is_picture};
use super::{Blocks, Coded, Colour, Container, Header, Picture, photoshop};
use crate::MediaError;
use crate::tiff::{Directories, Ifd};

/// Reads a file by its directories; `None` if it has none.
pub(crate) fn read<'a>(bytes: &'a [u8], directories: Option<&Directories<'a>>) -> Container<'a> {
    let Some(directories) = directories else {
        let picture = Err(MediaError::Corrupt("the TIFF header is malformed".into()));
        return Container { picture, blocks: Blocks::default() };
    };
    let main = main_directory(directories);
    let image = main.ok_or(MediaError::Truncated);
    let image = image.and_then(|main| TiffImage::describe(&directories.structure, main));
    Container { picture: image.map(|image| picture(bytes, image)), blocks: blocks(bytes, directories, main) }
}

pub(super) fn picture<'a>(bytes: &'a [u8], image: TiffImage<'a>) -> Picture<'a> {
    Picture { header: header_of(&image), coded: Coded::Tiff(bytes, image.into()) }
}

/// The header for decoding a picture.
fn header_of(picture: &TiffImage<'_>) -> Header {
    let channels = u64::try_from(picture.layout().channels()).unwrap_or(u64::MAX);
    let header = Header::plain(picture.size, channels);
    let decode_bytes = header.decode_bytes.saturating_add(picture.working_bytes());
    Header { decode_bytes, ..header }
}

fn blocks<'a>(bytes: &'a [u8], directories: &Directories<'a>, main: Option<&Ifd<'a>>) -> Blocks<'a> {
    const XMP: u16 = 700;
    const IPTC: u16 = 33_723;
    const PHOTOSHOP: u16 = 34_377;
    const ICC_PROFILE: u16 = 34_675;

    let first = &directories.first;
    let colour = || {
        let main = main?;
        // Lab is converted to sRGB when it is decoded, without the profile.
        let device_independent = is_lab(main);
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

/// The directory of the picture that is decoded. This is the first full picture, which may follow a thumbnail. If there is none,
/// the first directory is used, even for a thumbnail.
fn main_directory<'f, 'a>(directories: &'f Directories<'a>) -> Option<&'f Ifd<'a>> {
    directories
        .all()
        .find(|ifd| is_full(ifd))
        .or_else(|| Some(&directories.first).filter(|first| is_picture(first)))
}

#[cfg(test)]
mod tests;
