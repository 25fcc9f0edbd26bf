//! Decoders that are not built in: HEIC and AVIF need the system's libheif, which may be missing or lack a codec.

use heif::{Codec, Libheif};

use crate::{Format, MediaError};

/// What can be decoded here of the formats for which that is not certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoders {
    /// What decodes HEIC, for example `libheif 1.15.1`, or the [`MediaError::NoDecoder`] that such files end with.
    pub heic: Result<String, MediaError>,
    /// The same for AVIF.
    pub avif: Result<String, MediaError>,
    /// Why libheif cannot be used at all, in the words of the system, for example
    /// `libheif cannot be loaded: libheif.so.1: cannot open shared object file: No such file or directory`.
    pub load_error: Option<String>,
}

/// Finds out which decoders there are. The first call loads them, so that call comes before a sandbox closes the file
/// system.
pub fn decoders() -> Decoders {
    let name = |codec| library(codec).map(|library| format!("libheif {}", library.version()));
    Decoders {
        heic: name(Codec::Hevc),
        avif: name(Codec::Av1),
        load_error: Libheif::load().err().map(ToString::to_string),
    }
}

/// Loads what may be needed later, when files can no longer be opened. What is missing is told by those who need it.
pub fn load_decoders() {
    let _found = Libheif::load();
}

/// Whether files of a format can be decoded here.
///
/// # Errors
/// [`MediaError::NoDecoder`], which says what to install.
pub fn check_decoder(format: Format) -> Result<(), MediaError> {
    match format {
        Format::Heif => library(Codec::Hevc).map(|_| ()),
        Format::Avif => library(Codec::Av1).map(|_| ()),
        Format::Jpeg | Format::Png | Format::WebP | Format::Gif | Format::Tiff | Format::Raw => Ok(()),
    }
}

/// The library, if it has a decoder for that.
pub(crate) fn library(codec: Codec) -> Result<&'static Libheif, MediaError> {
    let found = Libheif::load().ok().filter(|library| library.can_decode(codec));
    found.ok_or_else(|| missing(codec))
}

fn missing(codec: Codec) -> MediaError {
    match codec {
        Codec::Hevc => MediaError::NoDecoder {
            format: "HEIC",
            missing: "libheif with an HEVC decoder",
            install: "libheif1 (with libheif-plugin-libde265 where that is a package of its own)",
        },
        Codec::Av1 => MediaError::NoDecoder {
            format: "AVIF",
            missing: "libheif with an AV1 decoder",
            install: "libheif1 (with libheif-plugin-dav1d where that is a package of its own)",
        },
    }
}

/// The library, whatever it decodes.
pub(crate) fn any_library() -> Result<&'static Libheif, MediaError> {
    Libheif::load().map_err(|_| MediaError::NoDecoder {
        format: "such HEIF",
        missing: "libheif",
        install: "libheif1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_package() {
        assert_eq!(
            missing(Codec::Av1).to_string(),
            "AVIF pictures need libheif with an AV1 decoder; install libheif1 (with libheif-plugin-dav1d where that \
             is a package of its own), restart the service if it runs, and add the file again"
        );
    }

    /// The suite needs libheif: pictures are decoded with it elsewhere.
    #[test]
    fn the_decoders_are_found() {
        load_decoders();
        let found = decoders();
        assert_eq!(found.load_error, None);
        for decoder in [found.heic, found.avif] {
            assert!(decoder.unwrap().starts_with("libheif 1."));
        }
        for format in [Format::Jpeg, Format::Heif, Format::Avif, Format::Raw] {
            assert_eq!(check_decoder(format), Ok(()));
        }
    }
}
